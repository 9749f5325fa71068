"""The registry over every kind of store, with two gateways at once: versions in order, one id for one schema."""

import asyncio
import json

import pytest

from lakestream.contract.registry.administration import SubjectAdministration
from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.metadata.store import MetadataStore
from lakestream.model.registry import Compatibility, Mode, SchemaFormat, SchemaReference
from lakestream.model.registry_errors import IncompatibleSchema, NotPermitted, UnknownSchema, UnknownSubject
from lakestream.world.threads import InlineThreads
from tests.behaviour.metadata.stage import Stage


def record(*fields: str, default: int | None = 0) -> Submitted:
    more = {} if default is None else {"default": default}
    schema = {"type": "record", "name": "R", "fields": [{"name": name, "type": "int", **more} for name in fields]}
    return Submitted(format=SchemaFormat.AVRO, text=json.dumps(schema))


def registry(store: MetadataStore) -> Registry:
    return Registry(store=store.registry, threads=InlineThreads())


async def gateways(stage: Stage, store: MetadataStore) -> list[Registry]:
    """Two that share a store, where it can be shared."""
    return [registry(store), registry(await stage.open() if stage.shared else store)]


def test_different_schemas_at_once_become_versions_one_after_another(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        both = await gateways(stage, store)
        schemas = [record(*(f"f{n}" for n in range(count))) for count in range(1, 11)]
        made = await asyncio.gather(*(both[n % 2].register("s", schema) for n, schema in enumerate(schemas)))
        assert sorted(one.version for one in made) == list(range(1, 11))
        assert sorted(one.schema.id for one in made) == list(range(1, 11))

    stage.run(scenario)


def test_the_same_schema_at_once_becomes_one_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        both = await gateways(stage, store)
        made = await asyncio.gather(*(both[n % 2].register("s", record("a")) for n in range(10)))
        assert {(one.version, one.schema.id) for one in made} == {(1, 1)}

    stage.run(scenario)


def test_of_two_that_exclude_each_other_one_is_refused(stage: Stage) -> None:
    """Each would be accepted alone; together, whichever comes second breaks the first."""

    async def scenario(store: MetadataStore) -> None:
        await SubjectAdministration(store.registry).set_compatibility("s", Compatibility.FULL_TRANSITIVE, None)
        both = await gateways(stage, store)
        rivals = [record("a", default=None), record("b", default=None)]
        outcomes = await asyncio.gather(
            *(gateway.register("s", schema) for gateway, schema in zip(both, rivals, strict=True)),
            return_exceptions=True,
        )
        assert sum(isinstance(one, IncompatibleSchema) for one in outcomes) == 1, outcomes
        assert len((await store.registry.subject_view("s")).versions) == 1

    stage.run(scenario)


def test_what_was_registered_is_found_by_its_schema(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        here = registry(store)
        with pytest.raises(UnknownSubject):
            await here.lookup("s", record("a"))
        made = await here.register("s", record("a"))
        assert await here.lookup("s", record("a")) == made
        assert await here.version("s", None) == made
        with pytest.raises(UnknownSchema):
            await here.lookup("s", record("b"))

    stage.run(scenario)


def test_a_reference_to_the_latest_is_pinned(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        here = registry(store)
        for fields in ("a", "ab"):
            await here.register("r", record(*fields))
        text = json.dumps({"type": "array", "items": "R"})
        asked = Submitted(format=SchemaFormat.AVRO, text=text, references=(SchemaReference("R", "r", -1),))
        made = await here.register("s", asked)
        assert made.schema.body.references == (SchemaReference("R", "r", 2),)

    stage.run(scenario)


def test_a_mode_binds_every_gateway(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        one, other = await gateways(stage, store)
        await one.register("s", record("a"))
        await SubjectAdministration(store.registry).set_mode("s", Mode.READONLY, force=False)
        for gateway in (one, other):
            assert (await gateway.register("s", record("a"))).version == 1
            with pytest.raises(NotPermitted):
                await gateway.register("s", record("a", "b"))

    stage.run(scenario)
