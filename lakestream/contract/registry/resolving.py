"""Resolves references, also indirect ones: all schemas that a schema needs, in order of dependency, within bounds."""

from lakestream.contract.registry.limits import REFERENCE_DEPTH_MAX, REFERRED_BYTES_MAX, REFERRED_SCHEMAS_MAX
from lakestream.contract.registry.parsed import Referred
from lakestream.contract.registry.submitted import LATEST
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.registry import SchemaFormat, SchemaReference, SubjectVersion, VersionKey
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge


class References:
    def __init__(self, store: RegistryStore) -> None:
        self._store = store

    async def pinned(self, references: tuple[SchemaReference, ...]) -> tuple[SchemaReference, ...]:
        """The references, with the current version in place of 'latest'."""
        return tuple([await self._pinned(reference) for reference in references])

    async def referred(self, references: tuple[SchemaReference, ...], format: SchemaFormat) -> list[Referred]:
        """All schemas that the references lead to. Raises InvalidSchema, SchemaTooLarge."""
        closure = _Closure(format)
        await self._follow(references, closure, 1)
        return list(closure.found.values())

    async def _pinned(self, reference: SchemaReference) -> SchemaReference:
        if reference.version != LATEST:
            return reference
        live = (await self._store.subject_view(reference.subject)).live
        if not live:
            raise InvalidSchema(
                f"the reference '{reference.name}' leads to '{reference.subject}', which has no versions"
            )
        return reference._replace(version=live[-1].version)

    async def _follow(self, references: tuple[SchemaReference, ...], closure: "_Closure", depth: int) -> None:
        if references and depth > REFERENCE_DEPTH_MAX:
            raise SchemaTooLarge(f"references lead through more than {REFERENCE_DEPTH_MAX} schemas one after another")
        for reference in references:
            if closure.is_new(reference):
                version = await self._store.version(VersionKey(reference.subject, reference.version))
                if version is None:
                    raise InvalidSchema(
                        f"the reference '{reference.name}' leads to version {reference.version} of "
                        f"'{reference.subject}', which does not exist: register it first"
                    )
                await self._follow(version.schema.body.references, closure, depth + 1)
                closure.add(reference, version)


class _Closure:
    """The schemas found so far, by name."""

    def __init__(self, format: SchemaFormat) -> None:
        self.found: dict[str, Referred] = {}
        self._format = format
        self._targets: dict[str, VersionKey] = {}
        self._bytes = 0

    def is_new(self, reference: SchemaReference) -> bool:
        target = VersionKey(reference.subject, reference.version)
        if self._targets.setdefault(reference.name, target) != target:
            raise InvalidSchema(
                f"the reference '{reference.name}' leads to two versions, {_shown(self._targets[reference.name])} and "
                f"{_shown(target)}: refer to one of them only"
            )
        return reference.name not in self.found

    def add(self, reference: SchemaReference, version: SubjectVersion) -> None:
        body = version.schema.body
        if body.format is not self._format:
            raise InvalidSchema(
                f"the reference '{reference.name}' leads to a schema in {body.format.value}, and this one is in "
                f"{self._format.value}: refer to schemas of the same format"
            )
        self._bytes += len(body.text)
        self.found[reference.name] = Referred(reference.name, body.text)
        if len(self.found) > REFERRED_SCHEMAS_MAX or self._bytes > REFERRED_BYTES_MAX:
            raise SchemaTooLarge(
                f"the schema needs more than {REFERRED_SCHEMAS_MAX} others, or {REFERRED_BYTES_MAX} bytes of them"
            )


def _shown(key: VersionKey) -> str:
    return f"{key.version} of '{key.subject}'"
