"""Checks a schema against earlier versions: loads them one by one, and parses and compares them in a thread."""

from collections.abc import Sequence
from functools import partial

from lakestream.contract.registry.comparing import Comparison
from lakestream.contract.registry.levels import reasons_against
from lakestream.contract.registry.limits import CHECKED_BYTES_MAX, REASONS_MAX
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.registry.resolving import References
from lakestream.contract.registry.submitted import Understood, parsed_body
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.registry import Compatibility, SchemaBody, VersionEntry
from lakestream.model.registry_errors import SchemaTooLarge
from lakestream.world.threads import Threads


class RegistrationChecks:
    def __init__(self, *, store: RegistryStore, references: References, threads: Threads) -> None:
        self._store = store
        self._references = references
        self._threads = threads

    async def reasons(self, new: Understood, level: Compatibility, versions: Sequence[VersionEntry]) -> list[str]:
        """Why the schema breaks one of the versions, and which one; empty if it breaks none. At most REASONS_MAX."""
        comparison, found, size = Comparison(), list[str](), 0
        for entry in versions:
            old = (await self._store.schemas([entry.schema_id])).get(entry.schema_id)
            if old is None or level is Compatibility.NONE:
                continue  # deleted since it was listed: the registration itself will notice
            size += len(old.body.text)
            if size > CHECKED_BYTES_MAX:
                raise SchemaTooLarge(
                    f"the subject's versions have more than {CHECKED_BYTES_MAX} bytes together: remove old ones, or "
                    "choose a level that is not transitive"
                )
            found += await self._against(new, level, old.body, entry.version, comparison)
            if len(found) >= REASONS_MAX:
                break
        return found[:REASONS_MAX]

    async def _against(
        self, new: Understood, level: Compatibility, old: SchemaBody, version: int, comparison: Comparison
    ) -> list[str]:
        if old.format is not new.body.format:
            was, now = old.format.value, new.body.format.value
            return [
                f"SCHEMA_TYPE_CHANGED at /: version {version} is in {was}, the new schema in {now}: keep the format"
            ]
        referred = await self._references.referred(old.references, old.format)
        return await self._threads.run(partial(_compared, new, level, old, referred, version, comparison))


def _compared(
    new: Understood,
    level: Compatibility,
    old: SchemaBody,
    referred: list[Referred],
    version: int,
    comparison: Comparison,
) -> list[str]:
    try:
        parsed = parsed_body(old, referred)
        return reasons_against(level, old.format, parsed, new.parsed, version, comparison)
    except RecursionError:
        raise SchemaTooLarge("the schemas are nested too deeply to be compared: give inner types names") from None
