"""What a broker counts, and how the gateway joins the pages of many."""

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from lakestream.administration.lags import lags_of
from lakestream.broker.metrics import Metrics
from lakestream.model.configs.profile import Profile
from lakestream.model.freshness import Freshness
from lakestream.model.group import PartitionLag
from lakestream.model.job import Debt
from lakestream.model.place import Tail
from lakestream.protocol.rest.collectors.table_lags import TOPICS_MAX, LagCollector
from lakestream.protocol.rest.merge import merged_metrics
from lakestream.table.metrics import PipelineMetrics


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def busy_metrics() -> Metrics:
    metrics = Metrics()
    metrics.connection_opened()
    metrics.connection_opened()
    metrics.connection_closed()
    metrics.request_received("Produce", 100)
    metrics.request_received("Produce", 50)
    metrics.request_failed("Produce", 10)
    metrics.responses_sent(7)
    metrics.reading_paused("bytes")
    metrics.flushed(profile=Profile.DISKLESS, bytes=2000, batches=2, records=30, put_seconds=0.02, commit_seconds=0.004)
    metrics.flushed(profile=Profile.FAST, bytes=48, batches=1, records=10, put_seconds=None, commit_seconds=0.001)
    metrics.inline_refused("at rest")
    metrics.inline_moved(bytes=60, segments=2)
    metrics.flush_failed()
    metrics.fetched(bytes=70, records=5)
    metrics.cache_hit()
    metrics.cache_miss()
    metrics.cache_bytes(4096)
    metrics.segment_read(bytes=9)
    metrics.garbage(spans_dropped=1, segments_deleted=2, objects_abandoned=3)
    return metrics


def test_the_lag_of_groups_is_shown_as_of_the_last_look() -> None:
    metrics = Metrics()
    metrics.group_lags([PartitionLag("readers", "orders", 0, 7), PartitionLag("gone", "orders", 0, 9)])
    metrics.group_lags([PartitionLag("readers", "orders", 0, 5), PartitionLag("readers", "orders", 1, 0)])
    shown = samples(generate_latest(metrics.registry).decode())
    lags = {labels: value for (name, labels), value in shown.items() if name == "lakestream_group_lag_records"}
    assert lags == {
        (("group", "readers"), ("partition", "0"), ("topic", "orders")): 5,
        (("group", "readers"), ("partition", "1"), ("topic", "orders")): 0,
    }


def test_everything_that_was_counted_is_shown_with_its_unit() -> None:
    shown = samples(generate_latest(busy_metrics().registry).decode())
    expected = {
        ("lakestream_connections", ()): 1,
        ("lakestream_connections_opened_total", ()): 2,
        ("lakestream_requests_total", (("api", "Produce"),)): 2,
        ("lakestream_request_bytes_total", (("api", "Produce"),)): 150,
        ("lakestream_request_errors_total", (("api", "Produce"), ("code", "10"))): 1,
        ("lakestream_response_bytes_total", ()): 7,
        ("lakestream_backpressure_pauses_total", (("why", "bytes"),)): 1,
        ("lakestream_flush_batches_total", ()): 3,
        ("lakestream_produced_bytes_total", ()): 2048,
        ("lakestream_produced_records_total", ()): 40,
        ("lakestream_fetched_bytes_total", ()): 70,
        ("lakestream_fetched_records_total", ()): 5,
        ("lakestream_flush_failures_total", ()): 1,
        ("lakestream_flush_bytes_sum", ()): 2048,
        ("lakestream_put_seconds_count", ()): 1,
        ("lakestream_commit_seconds_sum", ()): 0.005,
        ("lakestream_flushes_total", (("place", "object"), ("profile", "diskless"))): 1,
        ("lakestream_flushed_bytes_total", (("place", "object"), ("profile", "diskless"))): 2000,
        ("lakestream_flushes_total", (("place", "inline"), ("profile", "fast"))): 1,
        ("lakestream_flushed_bytes_total", (("place", "inline"), ("profile", "fast"))): 48,
        ("lakestream_inline_refusals_total", (("why", "at rest"),)): 1,
        ("lakestream_inline_moves_total", ()): 1,
        ("lakestream_inline_moved_segments_total", ()): 2,
        ("lakestream_inline_moved_bytes_total", ()): 60,
        ("lakestream_cache_hits_total", ()): 1,
        ("lakestream_cache_misses_total", ()): 1,
        ("lakestream_cache_bytes", ()): 4096,
        ("lakestream_segment_read_bytes_total", ()): 9,
        ("lakestream_garbage_spans_total", ()): 1,
        ("lakestream_garbage_segments_total", ()): 2,
        ("lakestream_garbage_objects_total", ()): 3,
    }
    assert {name: shown[name] for name in expected} == expected


def test_pages_of_two_brokers_are_one_page_with_labels() -> None:
    page = generate_latest(busy_metrics().registry).decode()
    merged = merged_metrics({"0": page, "1": page}).decode()
    shown = samples(merged)
    for broker in ("0", "1"):
        assert shown["lakestream_requests_total", (("api", "Produce"), ("broker", broker))] == 2
        assert shown["lakestream_flush_bytes_count", (("broker", broker),)] == 2
    assert merged.count("# TYPE lakestream_requests_total counter") == 1


def test_the_page_of_the_pipeline_joins_those_of_brokers_under_its_own_label() -> None:
    metrics = PipelineMetrics()
    metrics.round_done(plan_seconds=0.25, rewrite_seconds=2.0, commit_seconds=0.5)
    metrics.round_failed()
    metrics.job_committed(rows=10, quarantined_rows=1, unread_keys=2, wal_bytes=900, written_bytes=300)
    metrics.job_dropped()
    metrics.files_trimmed(3)
    metrics.table_dropped()
    page = generate_latest(metrics.registry).decode()
    shown = samples(merged_metrics({"0": generate_latest(busy_metrics().registry).decode()}, page).decode())
    own = (("process", "pipeline"),)
    assert {
        name: shown[f"lakestream_table_{name}_total", own]
        for name in ("rounds", "round_failures", "jobs", "dropped_jobs", "trimmed_files", "dropped_tables")
    } == {"rounds": 1, "round_failures": 1, "jobs": 1, "dropped_jobs": 1, "trimmed_files": 3, "dropped_tables": 1}
    assert shown["lakestream_table_compacted_rows_total", own] == 10
    assert shown["lakestream_table_phase_seconds_total", (("phase", "rewrite"), *own)] == 2.0
    assert shown["lakestream_connections", (("broker", "0"),)] == 1


def test_the_page_of_table_lags_names_the_topics_that_lag_most_and_no_more() -> None:
    debts = [
        Debt(bytes([0, at]), "table", at, 0, Tail(2, 12, 4), 3, 100, 1_000 * at, Freshness.ONE_MINUTE)
        for at in range(TOPICS_MAX + 20)
    ]
    names = {debt.topic: f"topic-{debt.partition}" for debt in debts}
    lags = lags_of(debts, names, now_ms=200_000)
    assert (lags[0].topic, lags[0].records, lags[0].bytes, lags[0].seconds) == ("topic-0", 8, 100, 200.0)
    families = {family.name: family for family in LagCollector(lags).collect()}
    assert families["lakestream_table_lagging_topics"].samples[0].value == TOPICS_MAX + 20
    assert len(families["lakestream_table_lag_seconds"].samples) == TOPICS_MAX
    assert {each.value for each in families["lakestream_table_promised_seconds"].samples} == {60}
    late = [lag for lag in lags if lag.seconds > 90]
    assert families["lakestream_table_late_topics"].samples[0].value == len(late) == 110
    assert families["lakestream_table_lag_seconds"].samples[-1].labels == {"topic": f"topic-{TOPICS_MAX - 1}"}


def test_no_brokers_are_an_empty_page() -> None:
    assert merged_metrics({}) == b""
