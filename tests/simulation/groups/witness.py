"""The supervisor of groups: sees every write for a group reach the store, and what members were told.

only the newest owner writes     committed offsets never go back     what was acknowledged is there
"""

from collections.abc import Awaitable, Callable
from typing import Any

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import NotCoordinator
from lakestream.model.group import CommittedOffset, GroupClaim, TopicPartition
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

WRITES = ("save_group", "commit_offsets", "delete_offsets")


class GroupWitness:
    def __init__(self, store: MetadataStore, verdict: Verdict, trace: Trace) -> None:
        self._store = store
        self._verdict = verdict
        self._trace = trace
        self._epochs: dict[str, int] = {}
        """The newest of each group."""
        self._owners: dict[str, str] = {}

    async def watched(
        self, who: str, verb: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if verb == "claim_group":
            return await self._claim(who, act, args, kwargs)
        if verb in WRITES:
            return await self._write(who, verb, act, args, kwargs)
        return await act(*args, **kwargs)

    async def deleting(self, keys: Any) -> None:
        """Objects are not what this is about."""

    async def acked(self, group: str, offsets: dict[TopicPartition, CommittedOffset]) -> None:
        """A member was told that these are committed."""
        stored = await self._store.groups.fetch_offsets(group, list(offsets))
        for partition, offset in offsets.items():
            there = partition in stored and stored[partition].offset >= offset.offset
            self._verdict.holds(there, "an acknowledged commit is there", partition, offset, stored.get(partition))

    async def _claim(self, who: str, act: Callable[..., Awaitable[Any]], args: Any, kwargs: Any) -> GroupClaim | None:
        claim: GroupClaim | None = await act(*args, **kwargs)
        if claim is not None:
            newest = self._epochs.get(args[0], 0)
            self._verdict.holds(claim.epoch > newest, "epochs rise with every claim", args[0], newest, claim.epoch)
            self._epochs[args[0]] = max(newest, claim.epoch)
            if self._owners.get(args[0], who) != who:
                self._trace.events["group was taken over"] += 1
            self._owners[args[0]] = who
        return claim

    async def _write(self, who: str, verb: str, act: Callable[..., Awaitable[Any]], args: Any, kwargs: Any) -> Any:
        group, epoch = args[0], args[1]
        newest = self._epochs.get(group, 0)
        before = await self._store.groups.fetch_offsets(group, None)
        try:
            answer = await act(*args, **kwargs)
        except NotCoordinator:
            self._trace.events["old coordinator was refused"] += 1
            raise
        self._verdict.holds(epoch >= newest, "an old coordinator changes nothing", who, verb, group, epoch, newest)
        after = await self._store.groups.fetch_offsets(group, None)
        back = [
            (partition, offset.offset, after.get(partition))
            for partition, offset in before.items()
            if partition not in after or after[partition].offset < offset.offset
        ]
        self._verdict.holds(not back, "committed offsets never go back", who, verb, group, epoch, back[:3])
        return answer
