"""/iceberg/v1/oauth/tokens: OAuth2 client credentials, as Iceberg's clients ask for them by the option `credential`.

POST grant_type=client_credentials&client_id=USER&client_secret=PASSWORD     or both by Basic
POST grant_type=urn:ietf:params:oauth:grant-type:token-exchange&subject_token=TOKEN       a fresh token for a valid one
  -> {"access_token", "token_type": "bearer", "expires_in", "issued_token_type"}

A `scope` is accepted and means nothing: a user's ACLs are its scope.
"""

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.access.tokens import TOKEN_SECONDS
from lakestream.model.access import ANYONE
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.rest.access.denials import CHALLENGES, UNAUTHORIZED
from lakestream.protocol.rest.access.logins import HttpLogins, LoginFailed
from lakestream.protocol.rest.paths import CATALOG_PATH, TOKENS_PATH
from lakestream.protocol.rest.routing import AccessRoute

PATH = TOKENS_PATH.removeprefix(CATALOG_PATH)
"""Below the catalog's."""
CLIENT_CREDENTIALS = "client_credentials"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
FORM_BYTES_MAX = 64 * 1024
_FIELDS_MAX = 32
_BAD_REQUEST = 400
_NOT_KEPT = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class _Refused(Exception):
    """With the error's name in OAuth2."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


def oauth_routes(logins: HttpLogins) -> list[AccessRoute]:
    async def answer(request: Request) -> Response:
        try:
            token = await _token(logins, request)
        except _Refused as refused:
            return _error(refused.name, str(refused), _BAD_REQUEST)
        except LoginFailed as failed:
            response = _error("invalid_client", str(failed), UNAUTHORIZED)
            response.headers["WWW-Authenticate"] = CHALLENGES[0]
            return response
        body = {
            "access_token": token,
            "token_type": "bearer",
            "expires_in": TOKEN_SECONDS,
            "issued_token_type": ACCESS_TOKEN,
        }
        return JSONResponse(body, headers=_NOT_KEPT)

    return [AccessRoute(PATH, answer, needs=ANYONE, methods=["POST"])]


async def _token(logins: HttpLogins, request: Request) -> str:
    form, caller = await _form(request), _caller(request)
    grant = form.get("grant_type")
    is_logged_in = caller.principal != ANONYMOUS
    if grant == TOKEN_EXCHANGE:
        # Iceberg's Java client comes with Basic and a token that has expired. The password is enough.
        if is_logged_in:
            return await logins.fresh_token(caller.principal.name, caller)
        return await logins.exchanged(form.get("subject_token", ""), caller)
    if grant != CLIENT_CREDENTIALS:
        raise _Refused("unsupported_grant_type", f"'grant_type' is {CLIENT_CREDENTIALS} or {TOKEN_EXCHANGE}")
    if "client_id" in form or "client_secret" in form:
        return await logins.token_for(form.get("client_id", ""), form.get("client_secret", "").encode(), caller)
    if is_logged_in:
        return await logins.fresh_token(caller.principal.name, caller)
    raise _Refused("invalid_request", "send client_id and client_secret, the user and its password")


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


async def _form(request: Request) -> dict[str, str]:
    body = await _body(request)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS_MAX))
    except ValueError:
        raise _Refused("invalid_request", "the body is no form") from None


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > FORM_BYTES_MAX:
            raise _Refused("invalid_request", f"the form has more than {FORM_BYTES_MAX} bytes")
    return bytes(content)


def _error(name: str, why: str, status: int) -> Response:
    return JSONResponse({"error": name, "error_description": why}, status_code=status, headers=_NOT_KEPT)
