"""Whether a pipeline runs, and why none does."""

from dataclasses import dataclass

from lakestream.metadata.store import MetadataStore

START_ONE = "start one with `lakestream pipeline`, or `lakestream up`, on a machine that has Java 17 or later"


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineState:
    name: str | None
    """The pipeline that holds the lease; None where none runs."""
    ruled_out: str | None = None
    """Why none will come by itself: a sentence with advice. None where one runs, or may be starting."""

    @property
    def problem(self) -> str | None:
        """Why topics do not reach their tables. None: a pipeline runs."""
        if self.name is not None:
            return None
        return (
            self.ruled_out or f"no pipeline is running: one may be starting, within half a minute. If not, {START_ONE}"
        )


class Pipelines:
    def __init__(self, store: MetadataStore, *, ruled_out: str | None = None) -> None:
        """`ruled_out`: why the machine of this gateway runs none."""
        self._store = store
        self._ruled_out = ruled_out

    async def state(self) -> PipelineState:
        name = await self._store.jobs.compaction_holder()
        return PipelineState(name=name, ruled_out=self._ruled_out if name is None else None)
