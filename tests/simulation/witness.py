"""The witness: sees every verb that reaches the metadata store, and every object that is deleted.

It checks what can be judged at that moment: a segment has one fate, a commit without a lease changes
nothing, what is committed lies in the object store, and nothing goes that is still needed.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import BrokerFenced, ObjectMissing, SegmentAbandoned
from lakestream.model.inline import InlineMove
from lakestream.model.job import CompactionLease, JobCommit
from lakestream.model.place import SegmentId
from lakestream.model.segment import Abandoned, BatchStatus, Committed, SegmentCommit, SegmentFate
from lakestream.model.table import PointerMove
from lakestream.storage.wal.segment import WAL_PREFIX, Receipt, decode_footer, segment_key, segment_of_key
from lakestream.world.clock import Clock
from lakestream.world.objects.memory import MemoryObjects

from .audit import referenced_segments
from .trace import Trace
from .verdict import Verdict


class Watching(Protocol):
    """Whoever sees the verbs that reach the metadata store, and the objects that are deleted."""

    async def watched(
        self, who: str, verb: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any: ...

    async def deleting(self, keys: Sequence[str]) -> None: ...


class TableWitness(Protocol):
    """What is seen of tables: tables/examiner.py."""

    def claimed(self, lease: CompactionLease | None) -> None: ...

    def left(self, lease: CompactionLease) -> None: ...

    async def commit(self, act: Callable[[JobCommit], Any], commit: JobCommit) -> str: ...

    async def moved(self, moves: Sequence[PointerMove]) -> None: ...

    async def deleting(self, keys: Sequence[str]) -> None: ...


class Witness:
    def __init__(
        self, store: MetadataStore, objects: MemoryObjects, clock: Clock, verdict: Verdict, trace: Trace
    ) -> None:
        self._store = store
        self._objects = objects
        self._clock = clock
        self._verdict = verdict
        self._trace = trace
        self._held: dict[int, tuple[int, int]] = {}
        self.fates: dict[SegmentId, SegmentFate] = {}
        self.committed_by: dict[SegmentId, str] = {}
        self._forgotten: set[SegmentId] = set()
        self.deletions_asked: dict[int, int] = {}
        """By partition: the greatest offset below which someone asked to delete."""
        self.tables: TableWitness | None = None

    async def watched(
        self, who: str, verb: str, act: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        match verb:
            case "commit_segment":
                self.committed_by[args[0].segment] = who
                return await self._commit(act, args[0])
            case "commit_job" if self.tables is not None:
                return await self.tables.commit(act, args[0])
            case "move":
                return await self._move(act, args[0], who)
            case "delete_records":
                self.deletions_asked[args[0]] = max(args[1], self.deletions_asked.get(args[0], 0))
        answer = await act(*args, **kwargs)
        match verb:
            case "abandon_segment":
                self._decided(args[0], answer)
            case "register_broker":
                self._granted(answer)
            case "renew_broker":
                self._granted(args[0])
            case "leave_broker":
                self._left(args[0])
            case "forget_segments":
                self._forgotten.update(await self._store.unknown_segments(args[0]))
        if self.tables is not None:
            await self._tell_tables(self.tables, verb, args, answer)
        return answer

    async def _tell_tables(self, tables: TableWitness, verb: str, args: tuple[Any, ...], answer: Any) -> None:
        match verb:
            case "claim_compaction":
                tables.claimed(answer)
            case "leave_compaction":
                tables.left(args[0])
            case "move_tables":
                await tables.moved(args[0])

    # --- leases ----------------------------------------------------------------------------------

    def _granted(self, lease: BrokerLease) -> None:
        granted = (lease.incarnation, self._clock.wall_ms() + lease.ttl_ms)
        self._held[lease.broker_id] = max(granted, self._held.get(lease.broker_id, (0, 0)), key=lambda held: held[0])
        if self._held[lease.broker_id][0] == lease.incarnation:
            self._held[lease.broker_id] = granted

    def _left(self, lease: BrokerLease) -> None:
        if self._held[lease.broker_id][0] == lease.incarnation:
            self._held[lease.broker_id] = (lease.incarnation, 0)

    def _is_zombie(self, commit: SegmentCommit) -> bool:
        incarnation, until_ms = self._held.get(commit.broker_id, (0, 0))
        return commit.incarnation < incarnation or self._clock.wall_ms() > until_ms

    # --- fates -----------------------------------------------------------------------------------

    async def _commit(self, act: Callable[..., Awaitable[SegmentFate]], commit: SegmentCommit) -> SegmentFate:
        is_zombie = self._is_zombie(commit)
        is_open = bool(await self._store.unknown_segments([commit.segment]))
        try:
            fate = await act(commit)
        except BrokerFenced:
            self._trace.events["commit was fenced"] += 1
            raise
        self._count(fate)
        if isinstance(fate, Committed) and is_open:
            self._verdict.holds(
                not is_zombie, "a zombie changes nothing", commit.segment, "was committed without lease"
            )
            await self._check_object(commit, fate)
        self._decided(commit.segment, fate)
        return fate

    async def _move(self, act: Callable[..., Awaitable[None]], move: InlineMove, who: str) -> None:
        """The object is there before any span lies in it."""
        self.committed_by[move.segment] = who
        is_open = bool(await self._store.unknown_segments([move.segment]))
        try:
            await act(move)
        except SegmentAbandoned:
            self._trace.events["move found it abandoned"] += 1
            raise
        self._decided(move.segment, Committed(results=()))
        if is_open and move.segment in await referenced_segments(self._store):
            await self._check_size(move.segment, move.bytes)

    def _count(self, fate: SegmentFate) -> None:
        if isinstance(fate, Committed):
            self._trace.events.update(result.status.name for result in fate.results)
        else:
            self._trace.events["commit found it abandoned"] += 1

    def _decided(self, segment: SegmentId, fate: SegmentFate) -> None:
        if segment in self._forgotten and isinstance(fate, Abandoned):
            self.fates[segment] = fate  # dead and gone; a put that came late left its object behind once more
        known = self.fates.setdefault(segment, fate)
        same = known == fate or (isinstance(known, Committed) and isinstance(fate, Committed) and not fate.results)
        self._verdict.holds(same, "a segment has one fate", segment, known, "then", fate)

    async def _check_object(self, commit: SegmentCommit, fate: Committed) -> None:
        if not any(result.status is BatchStatus.STORED for result in fate.results):
            return
        if commit.inline is not None:
            held = await self._store.inline.read([commit.segment])
            self._verdict.holds(held == {commit.segment: commit.inline}, "a segment is whole", commit.segment)
        else:
            await self._check_size(commit.segment, commit.bytes)

    async def _check_size(self, segment: SegmentId, size: int) -> None:
        try:
            content = await self._objects.get(segment_key(segment))
        except ObjectMissing:
            self._verdict.breaks("every referenced object exists", segment, "was committed without object")
            return
        self._verdict.holds(len(content) == size, "a segment is whole", segment)

    # --- deletions -------------------------------------------------------------------------------

    async def deleting(self, keys: Sequence[str]) -> None:
        if self.tables is not None:
            await self.tables.deleting(keys)
        segments = {segment for key in keys if (segment := segment_of_key(key)) is not None}
        referenced = await referenced_segments(self._store)
        self._verdict.holds(not segments & referenced, "no deleted object is referenced", sorted(segments & referenced))
        lost = await self.receipted(segments) & referenced
        if lost:
            everything = {segment_of_key(info.key) or "" async for info in self._objects.list(WAL_PREFIX)}
            lost -= await self.receipted(everything - segments)
        self._verdict.holds(
            not lost, "receipts outlive what they are for", sorted(lost), "had theirs in", sorted(segments)
        )

    async def receipted(self, carriers: set[SegmentId]) -> set[SegmentId]:
        """Segments whose receipts lie in the committed ones of `carriers`."""
        return {receipt.segment for receipt in await self.receipts(carriers)}

    async def receipts(self, carriers: set[SegmentId]) -> set[Receipt]:
        """Those that lie in the committed ones of `carriers`."""
        found: set[Receipt] = set()
        for carrier in carriers:
            if isinstance(self.fates.get(carrier), Committed):
                found.update(await self._receipts_in(carrier))
        return found

    async def _receipts_in(self, carrier: SegmentId) -> Sequence[Receipt]:
        try:
            return decode_footer(await self._objects.get(segment_key(carrier))).receipts
        except ObjectMissing:
            return ()
