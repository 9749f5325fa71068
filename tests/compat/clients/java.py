"""The Java client and Java's command-line tools: one JVM running Driver.java on Apache Kafka's jars."""

from pathlib import Path
from typing import Any

from benchmarks.peers import kafka

from .remote import Remote

SOURCE = Path(__file__).resolve().parent.parent / "java" / "Driver.java"


class Java(Remote):
    def tool(self, main: str, *arguments: str) -> dict[str, Any]:
        """Runs a tool's main method: its exit code, standard output and standard error."""
        return dict(self.ask("tool", main=main, arguments=arguments))

    def write_across_recreation(self, topic: str) -> list[int]:
        """Offsets that one producer is told: of a record, and of two more after the topic was deleted and made anew."""
        return list(self.ask("write_across_recreation", topic=topic))


def open_java(bootstrap: str) -> Java:
    kafka.program("javac")  # a JRE alone cannot run a source file
    command = [*kafka.java(), str(SOURCE), bootstrap]
    return Java("java", command, cwd=SOURCE.parent, null_header_values=True)
