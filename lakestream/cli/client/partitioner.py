"""Chooses a record's partition by its key as the Java client does, so that all clients agree.

Kafka's default partitioner is murmur2 of the key, made positive, modulo the number of partitions.
"""

_SEED = 0x9747B28C
_MIX = 0x5BD1E995
_MASK = 0xFFFFFFFF


def partition_of_key(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """The 32-bit hash, unsigned."""
    length = len(data)
    hashed = (_SEED ^ length) & _MASK
    for at in range(0, length - length % 4, 4):
        word = (int.from_bytes(data[at : at + 4], "little") * _MIX) & _MASK
        word = ((word ^ (word >> 24)) * _MIX) & _MASK
        hashed = ((hashed * _MIX) & _MASK) ^ word
    if rest := data[length - length % 4 :]:
        hashed = ((hashed ^ int.from_bytes(rest, "little")) * _MIX) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * _MIX) & _MASK
    return hashed ^ (hashed >> 15)
