"""The segment cache: extents come back whole, the least recently used go first."""

from lakestream.storage.cache.segment_cache import CachedExtent, SegmentCache


class Counts:
    def __init__(self) -> None:
        self.hits = self.misses = self.bytes = 0

    def cache_hit(self) -> None:
        self.hits += 1

    def cache_miss(self) -> None:
        self.misses += 1

    def cache_bytes(self, held: int) -> None:
        self.bytes = held


def joined(pieces: list[memoryview] | None) -> bytes | None:
    return None if pieces is None else b"".join(pieces)


def test_any_stretch_of_an_extent_is_found_without_copying() -> None:
    extent = CachedExtent(4, [b"abc", b"defgh", b"i"])
    whole = b"abcdefghi"
    for at in range(9):
        for length in range(1, 10 - at):
            assert extent.covers(4 + at, length)
            assert b"".join(extent.slice(4 + at, length)) == whole[at : at + length]
    assert not extent.covers(3, 1)
    assert not extent.covers(12, 2)


def test_the_least_recently_used_goes_first_and_memory_is_bounded() -> None:
    counts = Counts()
    cache = SegmentCache(10, counts)
    cache.put("A", CachedExtent(0, [b"aaaa"]))
    cache.put("B", CachedExtent(0, [b"bbbb"]))
    assert joined(cache.get("A", 1, 2)) == b"aa"
    cache.put("C", CachedExtent(0, [b"cccc"]))
    assert cache.get("B", 0, 1) is None
    assert joined(cache.get("A", 0, 4)) == b"aaaa"
    assert joined(cache.get("C", 0, 4)) == b"cccc"
    assert (counts.hits, counts.misses, counts.bytes) == (3, 1, 8)


def test_a_longer_extent_replaces_a_shorter_one_and_not_the_other_way() -> None:
    cache = SegmentCache(100, Counts())
    cache.put("A", CachedExtent(0, [b"ab"]))
    cache.put("A", CachedExtent(0, [b"abcd"]))
    cache.put("A", CachedExtent(0, [b"a"]))
    assert joined(cache.get("A", 0, 4)) == b"abcd"


def test_something_larger_than_the_cache_is_not_kept() -> None:
    cache = SegmentCache(3, Counts())
    cache.put("A", CachedExtent(0, [b"abcd"]))
    assert cache.get("A", 0, 1) is None


def test_a_reader_from_far_behind_does_not_push_out_the_tail() -> None:
    cache = SegmentCache(16, Counts())
    for name in "ABC":
        cache.put(name, CachedExtent(0, [b"aaaa"]))
    for name in "KLMN":
        cache.put(name, CachedExtent(0, [b"bbbb"]), fetched=True)
    assert [name for name in "ABCKLMN" if cache.get(name, 0, 4)] == list("ABCN")


def test_what_is_fetched_may_use_all_that_the_tail_leaves_free_and_gives_it_back() -> None:
    counts = Counts()
    cache = SegmentCache(16, counts)
    for name in "KLMN":
        cache.put(name, CachedExtent(0, [b"bbbb"]), fetched=True)
    assert counts.bytes == 16
    for name in "ABCD":
        cache.put(name, CachedExtent(0, [b"aaaa"]))
    assert [name for name in "ABCDKLMN" if cache.get(name, 0, 4)] == list("BCDN")
    assert counts.bytes == 16
