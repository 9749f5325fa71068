"""Values to send: order-like JSON of an exact size, all different, made once. lz4 makes them about half as long.

json_values   a few fields and a long note
order_values  ten fields of every simple type and a short note, for tables with a column for each
"""

import json
import random

WORDS = [
    stem + ending
    for stem in ("alpha", "bravo", "carbon", "delta", "ember", "falcon", "gamma", "harbor", "iris", "lemon")
    for ending in ("ton", "ing", "er", "al", "ic", "ous", "ly", "ment")
]


def json_values(count: int, size_bytes: int, *, seed: int = 7) -> list[bytes]:
    chance = random.Random(seed)
    return [_order(chance, at, size_bytes) for at in range(count)]


def _order(chance: random.Random, at: int, size_bytes: int) -> bytes:
    order = {"order_id": 1_000_000 + at, "customer": chance.randrange(100_000), "price": chance.randrange(90_000) / 100}
    bare = json.dumps(order | {"note": ""}, separators=(",", ":"))
    note = ""
    while len(note) < size_bytes - len(bare):
        note += f"{chance.choice(WORDS)}{chance.randrange(1000)} "
    whole = json.dumps(order | {"note": note[: size_bytes - len(bare)]}, separators=(",", ":")).encode()
    assert len(whole) == size_bytes
    return whole


CITIES = ("Lisbon", "Oslo", "Accra", "Lima", "Kyoto", "Quito", "Turin", "Perth")
CURRENCIES = ("EUR", "USD", "GBP")


def order_values(count: int, size_bytes: int, *, seed: int = 7) -> list[bytes]:
    chance = random.Random(seed)
    return [_ten_fields(chance, at, size_bytes) for at in range(count)]


def _ten_fields(chance: random.Random, at: int, size_bytes: int) -> bytes:
    order = {
        "order_id": 1_000_000 + at,
        "customer_id": chance.randrange(100_000),
        "sku": f"SKU-{chance.randrange(50_000):06d}",
        "quantity": chance.randrange(1, 20),
        "price": chance.randrange(100, 90_000) / 100,
        "currency": chance.choice(CURRENCIES),
        "city": chance.choice(CITIES),
        "paid": chance.random() < 0.7,
        "ts": 1_763_000_000_000 + 3 * at,
    }
    bare = json.dumps(order | {"note": ""}, separators=(",", ":"))
    note = ""
    while len(note) < size_bytes - len(bare):
        note += f"{chance.choice(WORDS)} "
    whole = json.dumps(order | {"note": note[: size_bytes - len(bare)]}, separators=(",", ":")).encode()
    assert len(whole) == size_bytes
    return whole
