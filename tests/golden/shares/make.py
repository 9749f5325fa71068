"""Write the golden state of a share-partition in the current format version. Never overwrites one that is there."""

from pathlib import Path

from lakestream.broker.shares.state import Portion, RecordState, ShareState
from lakestream.broker.shares.state_codec import VERSION, encode_share

HERE = Path(__file__).parent
STATE = ShareState(
    100,
    120,
    (
        Portion(100, 104, RecordState.ACQUIRED, 1, "reader-1", 1_763_000_030_000),
        Portion(105, 105, RecordState.AVAILABLE, 2),
        Portion(106, 111, RecordState.DONE),
        Portion(112, 119, RecordState.ACQUIRED, 3, "reader-2", 1_763_000_031_000),
    ),
)


def main() -> None:
    path = HERE / f"v{VERSION}.bin"
    if path.exists():
        raise SystemExit(f"{path} is there already; a golden file is never rewritten")
    path.write_bytes(encode_share(STATE))


if __name__ == "__main__":
    main()
