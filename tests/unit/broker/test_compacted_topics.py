"""cleanup.policy: what it means for keys and for retention."""

import pytest

from lakestream.broker.gate import Gate
from lakestream.model.configs.topic_config import check_topic_config, typed_topic_config
from lakestream.model.errors import InvalidTopicConfig
from lakestream.storage.records.errors import InvalidRecord
from lakestream.world.clock import SystemClock
from lakestream.world.threads import InlineThreads
from tests.integration.kafka.batches import GZIP, batch

RETENTION = {"retention.ms": "1000", "retention.bytes": "2000"}


@pytest.mark.parametrize(
    ("policy", "keys_required", "deletes"),
    [
        ("delete", False, True),
        ("compact", True, False),
        ("compact,delete", True, True),
        ("delete, compact", True, True),
    ],
)
def test_compaction_needs_keys_and_only_delete_deletes(policy: str, keys_required: bool, deletes: bool) -> None:
    config = {"cleanup.policy": policy, **RETENTION}
    check_topic_config(config)
    typed = typed_topic_config(config)
    assert typed.keys_required is keys_required
    assert (typed.retention_ms, typed.retention_bytes) == ((1000, 2000) if deletes else (None, None))


@pytest.mark.parametrize("policy", ["", "compact,", "shred", "delete,shred"])
def test_other_policies_are_refused(policy: str) -> None:
    with pytest.raises(InvalidTopicConfig):
        check_topic_config({"cleanup.policy": policy})


@pytest.mark.parametrize("codec", [0, GZIP])
def test_keys_are_looked_for_also_where_records_are_not_validated(codec: int) -> None:
    gate = Gate(clock=SystemClock(), threads=InlineThreads(), inner=False, decompressed_bytes_max=1 << 20)
    compacted, plain = typed_topic_config({"cleanup.policy": "compact"}), typed_topic_config({})
    keyless = batch([b"a", b"b"], codec=codec)
    gate.check(keyless, plain, zstd_allowed=True)
    with pytest.raises(InvalidRecord) as refused:
        gate.check(keyless, compacted, zstd_allowed=True)
    assert [error.batch_index for error in refused.value.record_errors] == [0, 1]
    gate.check(batch([b"a"], key=b"k", codec=codec), compacted, zstd_allowed=True)
