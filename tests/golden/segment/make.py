"""Write the golden segment of the current format version. Never overwrites one that is there."""

import json
from pathlib import Path

from lakestream.storage.wal.batch import Pending
from lakestream.storage.wal.buffer import seal
from lakestream.storage.wal.segment import Receipt, decode_footer
from tests.unit.storage.batches import TOPIC, wal_batch

HERE = Path(__file__).parent


def main() -> None:
    image, facts = HERE / "v1.lsg", HERE / "v1.json"
    if image.exists():
        raise SystemExit(f"{image} is there already; a golden file is never rewritten")
    batches = [wal_batch(1, 3), wal_batch(1, 2, timestamp_ms=5_000), wal_batch(2, 1, log_append_time=True)]
    sealed = seal(
        [Pending(batch=batch, answer=None, buffered_at=0.0) for batch in batches],  # type: ignore[arg-type]
        [Receipt("01J8ZQ4T5V6W7X8Y9Z0ABCDEFF", TOPIC, 0, 4, 70, 41, 1, -1)],
        segment="01J8ZQ4T5V6W7X8Y9Z0ABCDEFG",
        cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
        broker_id=7,
        created_ms=1_763_000_000_000,
    )
    image.write_bytes(b"".join(sealed.parts))
    footer = decode_footer(image.read_bytes())
    facts.write_text(
        json.dumps(
            {
                "cluster_id": footer.cluster_id,
                "segment": footer.segment,
                "entries": [[e.topic_id.hex(), *e[1:]] for e in footer.entries],
                "receipts": [[r.segment, r.topic_id.hex(), *r[2:]] for r in footer.receipts],
            },
            indent=1,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
