"""Traits of an Avro schema's records that its columns depend on: which contain themselves, and which take no bytes.

Records refer to each other freely, so a small text may describe a deep graph. The code here does not recurse along it.
"""

from collections.abc import Iterator

from lakestream.contract.registry.avro.types import Array, AvroRecord, AvroType, Fixed, Map, Primitive, Union


class Traits:
    def __init__(self, root: AvroType) -> None:
        self._recursive: set[int] = set()
        self._empty: set[int] = set()
        for group in _inside_out(root):
            first = group[0]
            if len(group) > 1 or any(one is first for one in _next_records(first)):
                self._recursive |= {id(record) for record in group}
            elif all(self.is_empty(field.type) for field in first.fields):
                self._empty.add(id(first))

    def is_recursive(self, record: AvroRecord) -> bool:
        """Whether it contains itself, directly or through others."""
        return id(record) in self._recursive

    def is_empty(self, type: AvroType) -> bool:
        """Whether its values take no bytes, so that no column needs to store them."""
        match type:
            case Primitive():
                return type.kind == "null"
            case Fixed():
                return type.size == 0
            case AvroRecord():
                return id(type) in self._empty
        return False


def _inside_out(root: AvroType) -> Iterator[list[AvroRecord]]:
    """All records in groups that contain each other, each group after all records that it contains (Tarjan's
    algorithm)."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_records: list[AvroRecord] = []
    is_open: set[int] = set()
    path: list[tuple[AvroRecord, Iterator[AvroRecord]]] = []

    def enter(record: AvroRecord) -> None:
        order[id(record)] = lowest[id(record)] = len(order)
        open_records.append(record)
        is_open.add(id(record))
        path.append((record, _next_records(record)))

    for start in _nearest_records(root):
        if id(start) not in order:
            enter(start)
        while path:
            record, following = path[-1]
            other = next(following, None)
            if other is not None:
                if id(other) not in order:
                    enter(other)
                elif id(other) in is_open:
                    lowest[id(record)] = min(lowest[id(record)], order[id(other)])
                continue
            path.pop()
            if path:
                parent = id(path[-1][0])
                lowest[parent] = min(lowest[parent], lowest[id(record)])
            if lowest[id(record)] == order[id(record)]:
                group: list[AvroRecord] = []
                while not group or group[-1] is not record:
                    group.append(open_records.pop())
                    is_open.discard(id(group[-1]))
                yield group


def _next_records(record: AvroRecord) -> Iterator[AvroRecord]:
    for field in record.fields:
        yield from _nearest_records(field.type)


def _nearest_records(type: AvroType) -> Iterator[AvroRecord]:
    """The records that a type contains, down to the first one on each path."""
    match type:
        case AvroRecord():
            yield type
        case Array():
            yield from _nearest_records(type.items)
        case Map():
            yield from _nearest_records(type.values)
        case Union():
            for branch in type.branches:
                yield from _nearest_records(branch)
