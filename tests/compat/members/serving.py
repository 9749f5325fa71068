"""The loop of a member written in Python: commands when there are some, polls otherwise."""

import json
import queue
import sys
import threading
from typing import Any, Protocol

POLL_SECONDS = 0.1


class Member(Protocol):
    def poll(self) -> None: ...
    def state(self) -> dict[str, Any]: ...
    def commit(self) -> None: ...
    def commit_async(self) -> None: ...
    def committed(self) -> dict[int, int]: ...
    def seek(self, partition: int, offset: int) -> None: ...
    def pause(self, partitions: list[int]) -> None: ...
    def resume(self, partitions: list[int]) -> None: ...
    def lag(self) -> dict[int, int]: ...
    def close(self) -> None: ...


def serve(member: Member) -> None:
    commands: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=(commands,), daemon=True).start()
    verb = ""
    while verb != "close":
        try:
            line = commands.get_nowait()
        except queue.Empty:
            member.poll()
            continue
        if not line:
            return
        command = json.loads(line)
        verb = command.pop("verb")
        sys.stdout.write(json.dumps(_answer(member, verb, command)) + "\n")
        sys.stdout.flush()


def _answer(member: Member, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": getattr(member, verb)(**arguments)}
    except Exception as error:  # whatever a library raises is what the test asks about
        return {"failed": f"{type(error).__name__}: {error}"}


def _listen(commands: "queue.Queue[bytes]") -> None:
    for line in sys.stdin.buffer:
        commands.put(line)
    commands.put(b"")
