"""Kafka Streams: WordCount.java on jars from Maven Central, compiled on first use, a process for as long as needed."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from benchmarks.peers import kafka, maven

SOURCE = Path(__file__).resolve().parent.parent / "java" / "WordCount.java"
CACHE = kafka.CACHE.with_name(f"streams-{kafka.VERSION}")
COORDINATES = [
    f"org.apache.kafka:kafka-streams:{kafka.VERSION}",
    f"org.apache.logging.log4j:log4j-slf4j-impl:{kafka.LOG4J}",
]
COMPILE_S_MAX = 120
END_S_MAX = 60


@cache
def prepared() -> str:
    """The class path. Raises Unavailable."""
    libs, classes = maven.fetch(CACHE, COORDINATES), CACHE / "classes"
    classes.mkdir(exist_ok=True)
    compile_it = [kafka.program("javac"), "-d", str(classes), "-cp", f"{libs}/*", str(SOURCE)]
    subprocess.run(compile_it, check=True, timeout=COMPILE_S_MAX, capture_output=True)
    return f"{classes}:{libs}/*"


class WordCount:
    def __init__(self, process: "subprocess.Popen[bytes]", said: Path, problems: Path) -> None:
        self.was_killed = False
        self._process = process
        self._said = said
        self._problems = problems

    def kill(self) -> None:
        """As by `kill -9`: nothing is committed, given up or closed."""
        self.was_killed = True
        self._process.kill()

    @property
    def restored(self) -> int:
        """Records that came back from changelogs."""
        return sum(int(line.split()[1]) for line in self._said.read_text().splitlines())

    def last_words(self) -> str:
        return self._problems.read_text()[-3_000:]


@contextmanager
def word_count(
    bootstrap: str, application: str, lines: str, counts: str, folder: Path, *, guarantee: str | None = None
) -> Iterator[WordCount]:
    """The application runs, with its state under `folder`; in the end it is closed properly, unless it was killed."""
    folder.mkdir()
    said, problems = folder / "said.txt", folder / "problems.txt"
    java = [*kafka.java(loglevel="warn")[:-1], prepared(), "WordCount"]
    command = [*java, bootstrap, application, lines, counts, str(folder / "state")]
    command += [] if guarantee is None else [guarantee]
    with said.open("wb") as out, problems.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=errors)
    running = WordCount(process, said, problems)
    try:
        yield running
        assert process.stdin is not None
        process.stdin.close()
        code = process.wait(END_S_MAX)
        assert code == 0 or running.was_killed, running.last_words()
    finally:
        process.kill()
        process.wait()
