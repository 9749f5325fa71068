"""The stubs of Kafka's messages are made from their descriptions; this says when they are not current."""

from lakestream.protocol.kafka.stubs import FOLDER, stubs


def test_the_stubs_are_current() -> None:
    written = {path: path.read_text() for path in FOLDER.glob("*.pyi")}
    assert written == stubs(), "run: python -m lakestream.protocol.kafka.stubs"
