"""Generate the type stubs of the served APIs' messages from Kafka's message descriptions.

python -m lakestream.protocol.kafka.stubs      writes lakestream/protocol/kafka/wire/generated/*.pyi
"""

from pathlib import Path

from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import describe, generated
from lakestream.protocol.kafka.wire.stub import stub

FOLDER = Path(generated.__path__[0])


def stubs() -> dict[Path, str]:
    """The text of each file, by its path."""
    return {FOLDER / f"{describe.api_name(api.key)}.pyi": stub(api.key) for api in APIS}


def write() -> None:
    for old in FOLDER.glob("*.pyi"):
        old.unlink()
    for path, text in stubs().items():
        path.write_text(text)


if __name__ == "__main__":
    write()
