"""Generate docs/reference/kafka.md from the code: the APIs served, their behaviour, differences from Apache Kafka.

python -m lakestream.protocol.kafka.reference > docs/reference/kafka.md
"""

import sys
from collections.abc import Iterator

from lakestream.model.configs.topic_config import TOPIC_CONFIGS
from lakestream.protocol.kafka.api import Api
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.differences import DIFFERENCES
from lakestream.protocol.kafka.not_served import NOT_SERVED
from lakestream.protocol.kafka.wire import describe

_HEAD = """\
# Kafka

What Lakestream speaks. This page is made from the code: `python -m lakestream.protocol.kafka.reference`.

## APIs

Clients ask for this list (ApiVersions) and choose the highest version that both sides know. A request of another API or
version closes the connection, as in Apache Kafka.

| key | API | versions | what it does |
|---|---|---|---|
"""

_CONFIGS = """
## Topic configs

| config | type | default | meaning |
|---|---|---|---|
"""

_DIFFERENCES = """
## Differences from Apache Kafka

| | here | because |
|---|---|---|
"""

_MISSING = """
## APIs of Apache Kafka that are not served

Not in the list that clients ask for, so they do without or say so. Those that Kafka's brokers use among themselves are
here too.

| APIs | why not |
|---|---|
"""

_BEHAVIOUR = """
## How each API behaves
"""


def reference_page() -> str:
    """The whole page."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    yield _HEAD
    yield from (f"| {api.key} | {api.name} | {_versions(api)} | {_purpose(api)} |\n" for api in APIS)
    yield _CONFIGS
    yield from (
        f"| `{config.name}` | {config.type} | `{config.default}` | {config.meaning} |\n"
        for config in TOPIC_CONFIGS.values()
    )
    yield _DIFFERENCES
    yield from (f"| {each.area} | {each.here} | {each.reason} |\n" for each in DIFFERENCES)
    yield _MISSING
    yield from (f"| {', '.join(names)} | {reason} |\n" for reason, names in _missing_names().items())
    yield _BEHAVIOUR
    yield from (f"\n### {api.name}\n\n{_behaviour(api)}\n" for api in APIS)


def _versions(api: Api) -> str:
    lowest, highest = api.versions
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


def _purpose(api: Api) -> str:
    """The text after the first colon of the file's first sentence: 'Fetch (1), versions 4-18: batches from ...'."""
    first, _, _ = _documentation(api).partition("\n\n")
    return " ".join(first.partition(": ")[2].split())


def _behaviour(api: Api) -> str:
    """The file's docstring after its first sentence, which is Markdown."""
    return _documentation(api).partition("\n\n")[2].strip("\n").rstrip()


def _documentation(api: Api) -> str:
    entry = api.handle or api.start
    assert entry is not None
    text = sys.modules[entry.__module__].__doc__
    assert text is not None, f"{entry.__module__} does not introduce itself"
    return text


def _missing_names() -> dict[str, list[str]]:
    """By the reason."""
    served = {api.key for api in APIS}
    missing: dict[str, list[str]] = {}
    for key in describe.api_keys():
        if key not in served:
            missing.setdefault(NOT_SERVED[key], []).append(_kafka_name(key))
    return missing


def _kafka_name(key: int) -> str:
    return describe.request(key, describe.versions(key)[-1]).name.removesuffix("Request")


if __name__ == "__main__":
    print(reference_page(), end="")
