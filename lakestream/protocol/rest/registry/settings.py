"""/config and /mode, of all subjects and of one. /compatibility: whether a schema would be accepted."""

from typing import Any

from starlette.requests import Request

from lakestream.contract.registry.administration import SubjectAdministration
from lakestream.contract.registry.registry import Registry
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.registry import GLOBAL_SUBJECT, Compatibility, Mode, SubjectSettings
from lakestream.model.registry_errors import InvalidCompatibility, InvalidMode
from lakestream.protocol.rest.registry.answering import Handler, endpoint
from lakestream.protocol.rest.registry.asking import body_of, flag, subject_of, submitted_of, version_of
from lakestream.protocol.rest.registry.errors import RefusedRequest
from lakestream.protocol.rest.routing import AccessRoute

_LEVELS = ", ".join(level.value for level in Compatibility)
_MODES = ", ".join(mode.value for mode in Mode)
_CONFIG_KEYS = {"compatibility", "compatibilityLevel", "normalize"}
_CONTRACT_KEYS = {
    "alias",
    "compatibilityGroup",
    "compatibilityPolicy",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
    "validateFields",
    "validateNames",
    "validateRules",
}

_CHECK = (
    Need(Operation.READ, ResourceType.SUBJECT),
    Need(Operation.READ, ResourceType.SUBJECT, scope="each that the schema refers to"),
)


class SettingRoutes:
    def __init__(self, registry: Registry, administration: SubjectAdministration) -> None:
        self._registry = registry
        self._administration = administration

    def routes(self) -> list[AccessRoute]:
        versions = "/compatibility/subjects/{subject}/versions"
        return [
            *_of_all_and_one("/config", self._config, self._set_config, self._unset_config),
            *_of_all_and_one("/mode", self._mode, self._set_mode, self._unset_mode),
            endpoint(versions, self._check_all, _CHECK, "POST"),
            endpoint(versions + "/{version}", self._check, _CHECK, "POST"),
        ]

    # --- config --------------------------------------------------------------------------------

    async def _config(self, request: Request) -> dict[str, Any]:
        settings = await self._administration.compatibility(
            _subject_or_all(request), or_general=flag(request, "defaultToGlobal")
        )
        return _shown(settings, "compatibilityLevel")

    async def _set_config(self, request: Request) -> dict[str, Any]:
        subject = _subject_or_all(request)
        body = await body_of(request, _CONFIG_KEYS | _CONTRACT_KEYS)
        unsupported = sorted(key for key in _CONTRACT_KEYS if body.get(key))
        if unsupported:
            raise RefusedRequest(422, f"'{unsupported[0]}' is not supported by this registry: leave it out")
        settings = SubjectSettings(compatibility=_level(body), normalize=_normalize(body))
        if settings == SubjectSettings():
            raise InvalidCompatibility(f"Invalid compatibility level. Valid values are {_LEVELS}")
        await self._administration.set_compatibility(subject, settings.compatibility, settings.normalize)
        return _shown(settings, "compatibility")

    async def _unset_config(self, request: Request) -> dict[str, Any]:
        return _shown(await self._administration.unset_compatibility(_subject_or_all(request)), "compatibilityLevel")

    # --- mode ----------------------------------------------------------------------------------

    async def _mode(self, request: Request) -> dict[str, Any]:
        mode = await self._administration.mode(_subject_or_all(request), or_general=flag(request, "defaultToGlobal"))
        return {"mode": mode.value}

    async def _set_mode(self, request: Request) -> dict[str, Any]:
        subject = _subject_or_all(request)
        said = (await body_of(request, {"mode"})).get("mode")
        try:
            mode = Mode(said.upper() if isinstance(said, str) else said)
        except ValueError:
            raise InvalidMode(f"Invalid mode. Valid values are {_MODES}") from None
        await self._administration.set_mode(subject, mode, force=flag(request, "force"))
        return {"mode": mode.value}

    async def _unset_mode(self, request: Request) -> dict[str, Any]:
        return {"mode": (await self._administration.unset_mode(_subject_or_all(request))).value}

    # --- compatibility -------------------------------------------------------------------------

    async def _check(self, request: Request) -> dict[str, Any]:
        reasons = await self._registry.reasons(
            subject_of(request),
            await submitted_of(request),
            version=version_of(request),
            normalize=flag(request, "normalize"),
        )
        return _verdict(request, reasons)

    async def _check_all(self, request: Request) -> dict[str, Any]:
        reasons = await self._registry.reasons(
            subject_of(request),
            await submitted_of(request),
            version=None,
            all=True,
            normalize=flag(request, "normalize"),
        )
        return _verdict(request, reasons)


def _of_all_and_one(path: str, show: Handler, set: Handler, unset: Handler) -> list[AccessRoute]:
    """A setting of all subjects belongs to the cluster."""
    routes = []
    for each, owner in ((path, ResourceType.CLUSTER), (path + "/{subject}", ResourceType.SUBJECT)):
        alter = (Need(Operation.ALTER_CONFIGS, owner),)
        routes += [
            endpoint(each, show, (Need(Operation.DESCRIBE_CONFIGS, owner),)),
            endpoint(each, set, alter, "PUT"),
            endpoint(each, unset, alter, "DELETE"),
        ]
    return routes


def _subject_or_all(request: Request) -> str:
    return subject_of(request) if "subject" in request.path_params else GLOBAL_SUBJECT


def _level(body: dict[str, Any]) -> Compatibility | None:
    said = body.get("compatibility") or body.get("compatibilityLevel")
    if said is None:
        return None
    try:
        return Compatibility(said.upper() if isinstance(said, str) else said)
    except ValueError:
        raise InvalidCompatibility(f"Invalid compatibility level. Valid values are {_LEVELS}") from None


def _normalize(body: dict[str, Any]) -> bool | None:
    said = body.get("normalize")
    if not isinstance(said, bool | None):
        raise RefusedRequest(422, "'normalize' must be true or false")
    return said


def _shown(settings: SubjectSettings, key: str) -> dict[str, Any]:
    level = {} if settings.compatibility is None else {key: settings.compatibility.value}
    return {**level, **({} if settings.normalize is None else {"normalize": settings.normalize})}


def _verdict(request: Request, reasons: list[str]) -> dict[str, Any]:
    return {"is_compatible": not reasons, **({"messages": reasons} if flag(request, "verbose") else {})}
