"""Records that look like something: orders, clicks and sensor readings, as JSON values with keys."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

from lakestream.world.chance import Chance

_SKUS = tuple(f"SKU-{number}" for number in range(100, 120))
_PAGES = ("/", "/search", "/cart", "/checkout", "/help")
_COUNTRIES = ("DE", "FR", "IN", "JP", "US")

GeneratedRecord = tuple[bytes, bytes]
"""Key and value."""


def _order(number: int, time: str, chance: Chance) -> tuple[str, dict[str, object]]:
    return f"customer-{int(chance.uniform(0, 1000))}", {
        "order_id": number,
        "time": time,
        "sku": chance.pick(_SKUS),
        "quantity": 1 + int(chance.uniform(0, 5)),
        "price": round(chance.uniform(1, 200), 2),
        "country": chance.pick(_COUNTRIES),
    }


def _click(number: int, time: str, chance: Chance) -> tuple[str, dict[str, object]]:
    session = f"session-{int(chance.uniform(0, 500))}"
    return session, {"session": session, "time": time, "page": chance.pick(_PAGES), "ms": int(chance.uniform(5, 900))}


def _reading(number: int, time: str, chance: Chance) -> tuple[str, dict[str, object]]:
    sensor = f"sensor-{number % 50}"
    return sensor, {
        "sensor": sensor,
        "time": time,
        "temperature": round(chance.uniform(15, 30), 2),
        "humidity": round(chance.uniform(20, 80), 1),
    }


_MAKERS: dict[str, Callable[[int, str, Chance], tuple[str, dict[str, object]]]] = {
    "orders": _order,
    "clicks": _click,
    "sensors": _reading,
}


def generated_record(kind: str, number: int, *, now_ms: int, chance: Chance) -> GeneratedRecord:
    """The record of this number. `kind` is orders, clicks or sensors."""
    time = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
    key, value = _MAKERS[kind](number, time, chance)
    return key.encode(), json.dumps(value).encode()
