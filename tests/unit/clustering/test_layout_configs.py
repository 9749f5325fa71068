"""The configs of a table's layout: what they may say, and what they mean."""

import pytest

from lakestream.model.configs.layout import (
    CLUSTER_AFTER,
    PARTITION_BY,
    SORT_BY,
    ClusterAfter,
    SortTerm,
    Term,
    parsed_cluster_after,
    parsed_order,
    parsed_partition,
)
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.errors import InvalidTopicConfig


def test_partitions_are_columns_or_transforms_of_them() -> None:
    text = " day(ts), bucket(16, user_id),truncate(sku, 4), days(`at`) , identity(a.b), country"
    assert parsed_partition(text) == (
        Term("day", "ts"),
        Term("bucket[16]", "user_id"),
        Term("truncate[4]", "sku"),
        Term("day", "at"),
        Term("identity", "a.b"),
        Term("identity", "country"),
    )
    assert parsed_partition("none") == ()


def test_an_order_has_iceberg_s_defaults_for_nulls() -> None:
    assert parsed_order("a, b DESC, c nulls last, bucket(4, d) desc nulls first") == (
        SortTerm(Term("identity", "a"), "asc", "nulls-first"),
        SortTerm(Term("identity", "b"), "desc", "nulls-last"),
        SortTerm(Term("identity", "c"), "asc", "nulls-last"),
        SortTerm(Term("bucket[4]", "d"), "desc", "nulls-first"),
    )


def test_rows_wait_for_an_age_or_a_size() -> None:
    assert parsed_cluster_after("15m") == ClusterAfter(ms=900_000)
    assert parsed_cluster_after("1d, 512MiB") == ClusterAfter(ms=86_400_000, bytes=512 * 1024 * 1024)
    assert parsed_cluster_after("1GB") == ClusterAfter(bytes=1_000_000_000)
    assert parsed_cluster_after("never").is_never


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (PARTITION_BY, "bucket(user_id)"),
        (PARTITION_BY, "bucket(0, user_id)"),
        (PARTITION_BY, "bucket(1, 2)"),
        (PARTITION_BY, "week(ts)"),
        (PARTITION_BY, "day(ts"),
        (PARTITION_BY, "a,,b"),
        (PARTITION_BY, "a, a"),
        (PARTITION_BY, "two words"),
        (PARTITION_BY, "a desc"),
        (PARTITION_BY, ",".join(f"c{number}" for number in range(17))),
        (SORT_BY, "a upwards"),
        (SORT_BY, "a nulls first desc"),
        (SORT_BY, "zorder(a, b)"),
        (CLUSTER_AFTER, ""),
        (CLUSTER_AFTER, "soon"),
        (CLUSTER_AFTER, "1h, 2h"),
        (CLUSTER_AFTER, "0MB"),
        (CLUSTER_AFTER, "-1h"),
        (CLUSTER_AFTER, "999999999999d, 999999999999TiB"),
    ],
)
def test_other_words_are_refused_with_the_name_of_the_config(name: str, value: str) -> None:
    with pytest.raises(InvalidTopicConfig, match=name):
        check_topic_config({name: value})


def test_empty_leaves_the_table_as_it_is() -> None:
    check_topic_config({PARTITION_BY: "", SORT_BY: ""})
