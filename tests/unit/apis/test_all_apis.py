"""What every API file has in common."""

import importlib
import pkgutil
from types import ModuleType
from typing import get_type_hints

import pytest

from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.kafka import apis
from lakestream.protocol.kafka.api import Api, ApiTable, RequestContext
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import messages

CODE, MESSAGE = 56, "the disk is full"


def _modules() -> dict[str, ModuleType]:
    names = [each.name for each in pkgutil.iter_modules(apis.__path__) if each.name.startswith("api_")]
    return {name: importlib.import_module(f"{apis.__name__}.{name}") for name in names}


def test_every_file_is_listed_in_the_order_of_keys() -> None:
    assert [module.API for _, module in sorted(_modules().items())] == list(APIS)
    assert sorted(api.key for api in APIS) == [api.key for api in APIS]


@pytest.mark.parametrize("name", _modules())
def test_a_file_is_named_and_introduced_by_its_api(name: str) -> None:
    module = _modules()[name]
    api: Api = module.API
    lowest, highest = api.versions
    versions = f"version {lowest}" if lowest == highest else f"versions {lowest}-{highest}"
    title = "".join(word.capitalize() for word in name.split("_")[2:])
    assert name.startswith(f"api_{api.key:02}_")
    assert title == api.name
    assert (module.__doc__ or "").startswith(f"{api.name} ({api.key}), {versions}")


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_handler_is_typed_by_the_messages_of_its_own_api(api: Api) -> None:
    own = messages.api(api.key)
    assert get_type_hints(api.handle or api.start)["request"] is own.Request
    told = get_type_hints(api.error_response)
    assert told["request"] is own.Request
    assert told["return"] in (own.Response, own.Response | None)


@pytest.mark.parametrize(
    ("api", "version"), [(api, v) for api in APIS for v in range(api.versions[0], api.versions[1] + 1)]
)
def test_an_error_can_be_told_in_every_version(api: Api, version: int) -> None:
    """Also for a request that names nothing: it encodes, and says the error wherever there is a place for it."""
    assert api.error_response is not None
    context = RequestContext(
        api_version=version,
        client_id=None,
        caller=Caller(principal=ANONYMOUS, listener="", host="", port=0),
        broker=None,
        apis=ApiTable(APIS),
    )
    request = messages.api(api.key).Request()
    if api.key == 0:
        assert api.error_response(request, context, CODE, MESSAGE) is None, "acks=0 has no answer"
        request.acks = -1
    out: list[bytes | bytearray | memoryview] = []
    messages.response(api.key, version).encode(api.error_response(request, context, CODE, MESSAGE), out)
    assert out
