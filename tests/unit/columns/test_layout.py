"""The layout only grows, and gives no id and no name twice."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.layout import NODES_MAX, CannotFollow, Layout
from lakestream.contract.columns.wanted import Wanted

few = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])

KEYS = ["a", "A", "b", "c", "a.b", "__offset", "_file", "é", "a_2", ""]
SCALARS = ["int", "long", "float", "double", "string", "decimal(5,2)", "decimal(9,2)", "decimal(9,3)", "fixed[3]"]


def wanteds(depth: int) -> st.SearchStrategy[tuple[Wanted, ...]]:
    return st.lists(fields(depth), max_size=5, unique_by=lambda one: one.key).map(tuple)


def fields(depth: int) -> st.SearchStrategy[Wanted]:
    keys = st.sampled_from(KEYS)
    aliases = st.lists(st.sampled_from(KEYS), max_size=2).map(tuple)
    scalar = st.builds(Wanted, key=keys, kind=st.sampled_from(SCALARS), aliases=aliases, doc=st.sampled_from(["", "x"]))
    if depth == 0:
        return scalar
    struct = st.builds(Wanted, key=keys, kind=st.just("struct"), children=wanteds(depth - 1), aliases=aliases)
    part = fields(depth - 1)
    return st.one_of(
        scalar,
        struct,
        st.builds(Wanted, key=keys, kind=st.just("list"), children=part.map(_element)),
        st.builds(Wanted, key=keys, kind=st.just("map"), children=part.map(_entries)),
    )


def _element(one: Wanted) -> tuple[Wanted, ...]:
    return (replace(one, key="element", aliases=()),)


def _entries(one: Wanted) -> tuple[Wanted, ...]:
    return (Wanted(key="key", kind="string"), replace(one, key="value", aliases=()))


def merged_as_far_as_possible(layout: Layout, versions: Sequence[tuple[Wanted, ...]]) -> Layout:
    for wanted in versions:
        with suppress(CannotFollow):
            layout = layout.merged(wanted)
    return layout


def families(columns: Sequence[Column]) -> Iterator[Sequence[Column]]:
    """Every group of siblings."""
    yield columns
    for column in columns:
        yield from families(column.children)


def kinds_by_id(layout: Layout) -> dict[int, tuple[str, tuple[str, ...]]]:
    return {one.id: (one.kind, one.keys) for column in layout.columns for one in column.walk()}


VERSIONS = st.lists(wanteds(2), max_size=6)


@few
@given(VERSIONS, wanteds(2))
def test_what_was_merged_is_there_and_merging_it_again_changes_nothing(
    versions: list[tuple[Wanted, ...]], wanted: tuple[Wanted, ...]
) -> None:
    layout = merged_as_far_as_possible(Layout(), versions)
    try:
        grown = layout.merged(wanted)
    except CannotFollow as refusal:
        assert "column" in str(refusal) or "keys" in str(refusal)
        return
    assert grown.merged(wanted) is grown
    assert len({id(grown.column(one.key)) for one in wanted}) == len(wanted)


@few
@given(VERSIONS, wanteds(2))
def test_ids_stay_and_are_never_given_twice(versions: list[tuple[Wanted, ...]], wanted: tuple[Wanted, ...]) -> None:
    before = merged_as_far_as_possible(Layout(), versions)
    after = merged_as_far_as_possible(before, [wanted])
    old, new = kinds_by_id(before), kinds_by_id(after)
    assert old.keys() <= new.keys()
    assert all(set(keys) <= set(new[id][1]) for id, (_, keys) in old.items()), "a column keeps the keys it had"
    assert all(before.next_id <= id < after.next_id for id in new.keys() - old.keys())
    ids = [one.id for column in after.columns for one in column.walk()]
    assert len(ids) == len(set(ids))


@few
@given(VERSIONS)
def test_siblings_have_names_that_differ_in_more_than_case(versions: list[tuple[Wanted, ...]]) -> None:
    layout = merged_as_far_as_possible(Layout(), versions)
    for family in families(layout.columns):
        names = [column.name.lower() for column in family]
        assert len(names) == len(set(names))
        assert all(name and not name.startswith("__") and "." not in name for name in names)


@few
@given(VERSIONS)
def test_a_layout_survives_as_text(versions: list[tuple[Wanted, ...]]) -> None:
    layout = merged_as_far_as_possible(Layout(), versions)
    assert Layout.from_text(layout.to_text()) == layout


@few
@given(VERSIONS)
def test_arrow_and_iceberg_take_every_layout_with_its_ids(versions: list[tuple[Wanted, ...]]) -> None:
    layout = merged_as_far_as_possible(Layout(), versions)
    schema = arrow_schema(layout.columns)
    assert [field.metadata[b"PARQUET:field_id"].decode() for field in schema] == [str(one.id) for one in layout.columns]
    assert [iceberg_field(one)["id"] for one in layout.columns] == [one.id for one in layout.columns]


def test_a_field_renamed_by_an_alias_keeps_its_column() -> None:
    first = Layout().merged([Wanted(key="price", kind="int"), Wanted(key="note", kind="string")])
    renamed = first.merged([Wanted(key="amount", kind="long", aliases=("price",)), Wanted(key="note", kind="string")])
    column, note = renamed.columns
    assert (column.id, column.name, column.keys, column.kind) == (1, "amount", ("amount", "price"), "long")
    assert note == first.columns[1]


def test_an_older_version_takes_no_name_back() -> None:
    old = (Wanted(key="price", kind="int"),)
    layout = Layout().merged(old).merged([Wanted(key="amount", kind="int", aliases=("price",))])
    assert layout.merged(old) is layout


def test_a_former_key_that_comes_back_beside_the_present_one_is_a_column_of_its_own() -> None:
    layout = Layout().merged([Wanted(key="a", kind="int")]).merged([Wanted(key="b", kind="int", aliases=("a",))])
    both = layout.merged([Wanted(key="b", kind="int"), Wanted(key="a", kind="string")])
    assert [(column.id, column.keys, column.kind) for column in both.columns] == [
        (1, ("b", "a"), "int"),
        (2, ("a",), "string"),
    ]


def test_a_dropped_field_leaves_its_column_and_finds_it_again() -> None:
    layout = Layout().merged([Wanted(key="a", kind="int"), Wanted(key="b", kind="int")])
    assert layout.merged([Wanted(key="b", kind="int")]) is layout
    assert layout.merged([Wanted(key="a", kind="long")]).columns[0].id == 1


@few
@given(st.lists(st.tuples(st.booleans(), wanteds(1)), max_size=6))
def test_columns_of_keys_and_of_values_share_no_id_and_no_name(turns: list[tuple[bool, tuple[Wanted, ...]]]) -> None:
    layout = Layout()
    for of_keys, wanted in turns:
        with suppress(CannotFollow):
            grown = layout.merged_keys(wanted) if of_keys else layout.merged(wanted)
            untouched = (layout.columns, grown.columns) if of_keys else (layout.key_columns, grown.key_columns)
            assert untouched[0] == untouched[1]
            layout = grown
    ids = [one.id for column in layout.all_columns for one in column.walk()]
    names = [column.name.lower() for column in layout.all_columns]
    assert len(ids) == len(set(ids))
    assert len(names) == len(set(names))
    assert Layout.from_text(layout.to_text()) == layout


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (Wanted(key="a", kind="string"), "column 'a' is int and cannot become string"),
        (Wanted(key="a", kind="struct"), "column 'a' is int and cannot become struct"),
        (Wanted(key="s", kind="list", children=(Wanted(key="element", kind="int"),)), "column 's' is a struct"),
        (Wanted(key="s", kind="struct", children=(Wanted(key="x", kind="long"),)), "column 's.x' is string"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_column(wanted: Wanted, reason: str) -> None:
    inner = Wanted(key="s", kind="struct", children=(Wanted(key="x", kind="string"),))
    layout = Layout().merged([Wanted(key="a", kind="int"), inner])
    with pytest.raises(CannotFollow, match=reason):
        layout.merged([Wanted(key="new", kind="int"), wanted])


def test_there_is_an_end_to_columns() -> None:
    with pytest.raises(CannotFollow, match="2,000 columns"):
        Layout().merged([Wanted(key=f"c{n}", kind="int") for n in range(NODES_MAX + 1)])


def test_a_layout_of_a_newer_version_is_refused() -> None:
    with pytest.raises(ValueError, match="a newer Lakestream reads it"):
        Layout.from_text('{"version":3,"next-id":1,"columns":[]}')


def test_a_layout_of_version_1_is_read_and_written_as_it_was() -> None:
    text = (Path(__file__).parents[2] / "golden" / "columns" / "layout-v1.json").read_text().strip()
    layout = Layout.from_text(text)
    assert layout.to_text() == text
    assert [(column.id, column.name, column.kind) for column in layout.columns] == [
        (1, "id", "long"),
        (2, "amount", "decimal(12,2)"),
        (3, "where", "struct"),
        (9, "user__key", "binary"),
        (10, "ID_2", "string"),
    ]


def test_a_layout_with_columns_of_keys_is_of_version_2_and_read_and_written_as_it_was() -> None:
    text = (Path(__file__).parents[2] / "golden" / "columns" / "layout-v2.json").read_text().strip()
    layout = Layout.from_text(text)
    assert layout.to_text() == text
    assert [(column.id, column.name, column.kind) for column in layout.columns] == [(1, "key", "long")]
    assert [(column.id, column.name, column.kind) for column in layout.key_columns] == [
        (2, "key_2", "string"),
        (3, "key_3", "struct"),
    ]
