"""Logins over HTTP: Basic, tokens, client credentials and sessions; what is forged, old or of somebody who left."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from urllib.parse import quote_plus

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lakestream.access import scram
from lakestream.access.authorizer import AccessPolicy, Authorizer
from lakestream.access.logins import Logins
from lakestream.access.remembered import REMEMBERED_SECONDS
from lakestream.access.scram import credential_of
from lakestream.access.tokens import TOKEN_SECONDS, LoginTokens
from lakestream.cli.client.kafka_login import ScramClient
from lakestream.metadata.open import open_store
from lakestream.model.access import ANYONE, Need, Operation, ResourceType
from lakestream.model.acl import Acl, Pattern, Permission
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.model.credential import Mechanism
from lakestream.protocol.rest.access.callers import LoginGate, WithCaller
from lakestream.protocol.rest.access.logins import SESSION_COOKIE, HttpLogins
from lakestream.protocol.rest.catalog.oauth import CLIENT_CREDENTIALS, TOKEN_EXCHANGE
from lakestream.protocol.rest.catalog.oauth import oauth_routes as catalogs_oauth_routes
from lakestream.protocol.rest.paths import CATALOG_PATH, TOKENS_PATH
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

SECRET = "the cluster's"
ALICE = "alice, of: sales"
PASSWORD = "a: pässword"
BY = Caller(principal=ANONYMOUS, listener="", host="", port=0)
OK, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN = 200, 400, 401, 403


class SteppedClock(SystemClock):
    """Sleeping takes no time, and is counted."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wall_ms(self) -> int:
        return int(self.now * 1000)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


class Door:
    """A server with one page for whoever may describe the cluster, and one for anyone."""

    def __init__(
        self, http: httpx.AsyncClient, authorizer: Authorizer, tokens: LoginTokens, clock: SteppedClock
    ) -> None:
        self.http = http
        self.authorizer = authorizer
        self.tokens = tokens
        self.clock = clock

    async def set_password(self, user: str, password: str) -> None:
        for mechanism in Mechanism:
            await self.authorizer.put_credential(credential_of(user, password, mechanism, b"salt"), by=BY)

    async def asked(self, **headers: str) -> httpx.Response:
        return await self.http.get("/page", headers=headers)

    async def token(self, **form: str) -> httpx.Response:
        body = "&".join(f"{name}={quote_plus(value)}" for name, value in form.items())
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self.http.post(TOKENS_PATH, content=body, headers=kind)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@asynccontextmanager
async def opened(*, must_log_in: bool = True, anonymous_may: bool = False) -> AsyncIterator[Door]:
    clock = SteppedClock()
    ids = Ids(clock, SystemChance())
    store = await open_store("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())
    tasks = Tasks(on_failure=lambda task, error: None)
    authorizer = Authorizer(AccessPolicy(authorize=True), store, clock, tasks)
    for user, password in (("alice", "right"), ("bob", "other")):
        for mechanism in Mechanism:
            made = credential_of(user, password, mechanism, b"salt")
            await authorizer.put_credential(made, by=BY)
    await authorizer.add_acls([described_by("User:alice")], by=BY)
    if anonymous_may:
        await authorizer.add_acls([described_by("User:ANONYMOUS")], by=BY)
    logins = Logins(authorizer, SECRET, clock=clock, ids=ids, threads=InlineThreads())
    tokens = LoginTokens(authorizer, SECRET, clock)
    faces = HttpLogins(logins, tokens)

    async def page(request: Request) -> Response:
        return PlainTextResponse(str(request.state.caller.principal))

    oauth = [
        AccessRoute(CATALOG_PATH + route.path, route.endpoint, needs=ANYONE, methods=["POST"])
        for route in catalogs_oauth_routes(faces)
    ]
    routes = [
        AccessRoute("/page", page, needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),)),
        AccessRoute("/open", page, needs=ANYONE),
        *oauth,
    ]
    gate = LoginGate(faces, authorizer.access_of, must_log_in=must_log_in)
    transport = httpx.ASGITransport(WithCaller(Starlette(routes=routes), gate))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
        yield Door(http, authorizer, tokens, clock)
    await store.close()


def described_by(principal: str) -> Acl:
    return Acl(
        resource=ResourceType.CLUSTER,
        pattern=Pattern.LITERAL,
        name="kafka-cluster",
        principal=principal,
        host="*",
        operation=Operation.DESCRIBE,
        permission=Permission.ALLOW,
    )


def run(scenario: Callable[[Door], Awaitable[None]], **options: bool) -> None:
    async def inside() -> None:
        async with opened(**options) as door:
            await scenario(door)

    asyncio.run(inside())


def test_a_user_logs_in_by_its_password() -> None:
    async def scenario(door: Door) -> None:
        await door.set_password(ALICE, PASSWORD)
        assert (await door.asked(authorization=basic("alice", "right"))).text == "User:alice"
        assert (await door.asked(authorization=basic("bob", "other"))).status_code == FORBIDDEN
        assert (await door.http.get("/open", headers={"Authorization": basic("bob", "other")})).text == "User:bob"

    run(scenario)


def test_a_password_may_have_any_characters() -> None:
    async def scenario(door: Door) -> None:
        await door.set_password("carol", PASSWORD)
        asked = await door.http.get("/open", headers={"Authorization": basic("carol", PASSWORD)})
        assert asked.text == "User:carol"

    run(scenario)


@pytest.mark.parametrize(
    "claim",
    [
        basic("alice", "wrong"),
        basic("nobody", "right"),
        basic("", "right"),
        basic("alice", ""),
        basic("x" * 300, "right"),
        "Basic",
        "Basic !",
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + base64.b64encode(b"alice").decode(),
        "Bearer",
        "Bearer x",
        "Bearer a.b.c",
        "Bearer " + "x" * 20_000,
        "Negotiate abc",
        "",
    ],
)
def test_a_wrong_claim_is_refused_everywhere_with_one_message_and_a_delay(claim: str) -> None:
    async def scenario(door: Door) -> None:
        for path in ("/page", "/open"):
            answer = await door.http.get(path, headers={"Authorization": claim})
            assert answer.status_code == UNAUTHORIZED
            assert answer.json()["error"].startswith("the login failed")
            assert [one.partition(" ")[0] for one in answer.headers.get_list("www-authenticate")] == ["Basic", "Bearer"]
        assert door.clock.slept == [0.1, 0.2]

    run(scenario, must_log_in=False, anonymous_may=True)


def test_whoever_does_not_log_in_gets_401_where_somebody_else_may() -> None:
    async def scenario(door: Door) -> None:
        assert (await door.asked()).status_code == UNAUTHORIZED
        assert (await door.http.get("/open")).text == "User:ANONYMOUS"

    run(scenario)
    run(scenario, must_log_in=False)


def test_anonymous_callers_have_the_rights_that_they_were_given_unless_everybody_must_log_in() -> None:
    async def served(door: Door) -> None:
        assert (await door.asked()).text == "User:ANONYMOUS"

    async def refused(door: Door) -> None:
        assert (await door.asked()).status_code == UNAUTHORIZED

    run(served, must_log_in=False, anonymous_may=True)
    run(refused, must_log_in=True, anonymous_may=True)


def test_client_credentials_become_a_token_which_becomes_another() -> None:
    async def scenario(door: Door) -> None:
        first = await door.token(
            grant_type=CLIENT_CREDENTIALS, client_id="alice", client_secret="right", scope="catalog"
        )
        told = first.json()
        assert (told["token_type"], told["expires_in"]) == ("bearer", TOKEN_SECONDS)
        assert first.headers["cache-control"] == "no-store"
        assert (await door.asked(authorization=f"Bearer {told['access_token']}")).text == "User:alice"
        door.clock.now += TOKEN_SECONDS - 1
        second = await door.token(grant_type=TOKEN_EXCHANGE, subject_token=told["access_token"])
        door.clock.now += 2
        assert (await door.asked(authorization=f"Bearer {told['access_token']}")).status_code == UNAUTHORIZED
        assert (await door.asked(authorization=f"Bearer {second.json()['access_token']}")).text == "User:alice"
        late = await door.token(grant_type=TOKEN_EXCHANGE, subject_token=told["access_token"])
        assert (late.status_code, late.json()["error"]) == (UNAUTHORIZED, "invalid_client")

    run(scenario)


def test_basic_is_enough_for_a_token_also_in_place_of_one_that_has_expired() -> None:
    async def scenario(door: Door) -> None:
        for grant in (CLIENT_CREDENTIALS, TOKEN_EXCHANGE):
            answer = await door.http.post(
                TOKENS_PATH,
                data={"grant_type": grant, "subject_token": "old"},
                headers={"Authorization": basic("alice", "right")},
            )
            token = answer.json()["access_token"]
            assert (await door.asked(authorization=f"Bearer {token}")).text == "User:alice"

    run(scenario)


def test_requests_for_tokens_are_refused_in_the_words_of_oauth() -> None:
    async def scenario(door: Door) -> None:
        for form, status, error in (
            ({"grant_type": CLIENT_CREDENTIALS, "client_id": "alice", "client_secret": "no"}, 401, "invalid_client"),
            ({"grant_type": CLIENT_CREDENTIALS}, BAD_REQUEST, "invalid_request"),
            ({"grant_type": "password", "username": "alice"}, BAD_REQUEST, "unsupported_grant_type"),
            ({}, BAD_REQUEST, "unsupported_grant_type"),
            ({"grant_type": "x" * 70_000}, BAD_REQUEST, "invalid_request"),
            ({f"f{number}": "" for number in range(40)}, BAD_REQUEST, "invalid_request"),
        ):
            answer = await door.token(**form)
            assert (answer.status_code, answer.json()["error"]) == (status, error)
        by_basic = {"Authorization": basic("alice", "no")}
        answer = await door.http.post(TOKENS_PATH, data={"grant_type": CLIENT_CREDENTIALS}, headers=by_basic)
        assert (answer.status_code, answer.json()["error"]) == (UNAUTHORIZED, "invalid_client")

    run(scenario)


def test_tokens_and_remembered_passwords_end_with_the_password_and_with_the_user() -> None:
    async def scenario(door: Door) -> None:
        token = f"Bearer {door.tokens.issue('alice')}"
        assert (await door.asked(authorization=token)).status_code == OK
        assert (await door.asked(authorization=basic("alice", "right"))).status_code == OK
        await door.set_password("alice", "another")
        assert (await door.asked(authorization=token)).status_code == UNAUTHORIZED
        assert (await door.asked(authorization=basic("alice", "right"))).status_code == UNAUTHORIZED
        assert (await door.asked(authorization=basic("alice", "another"))).status_code == OK
        fresh = f"Bearer {door.tokens.issue('alice')}"
        for mechanism in Mechanism:
            await door.authorizer.remove_credential("alice", mechanism, by=BY)
        assert (await door.asked(authorization=fresh)).status_code == UNAUTHORIZED
        assert (await door.asked(authorization=basic("alice", "another"))).status_code == UNAUTHORIZED

    run(scenario)


def test_a_busy_client_pays_for_the_hashes_of_its_password_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[bytes] = []
    real = scram.salted_password

    def counted(password: bytes, mechanism: Mechanism, salt: bytes, iterations: int) -> bytes:
        hashed.append(password)
        return real(password, mechanism, salt, iterations)

    async def scenario(door: Door) -> None:
        hashed.clear()
        for _ in range(20):
            assert (await door.asked(authorization=basic("alice", "right"))).status_code == OK
        assert hashed == [b"right"]
        assert (await door.asked(authorization=basic("alice", "wrong"))).status_code == UNAUTHORIZED
        assert (await door.asked(authorization=basic("bob", "right"))).status_code == UNAUTHORIZED
        door.clock.now += REMEMBERED_SECONDS + 1
        assert (await door.asked(authorization=basic("alice", "right"))).status_code == OK
        assert hashed.count(b"right") == 3

    monkeypatch.setattr(scram, "salted_password", counted)
    run(scenario)


def forged(door: Door) -> Sequence[str]:
    right = door.tokens.issue("alice")
    head, body, signature = right.split(".")
    claims = jwt.decode(right, door.tokens._key, algorithms=["HS256"]).claims

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    other = OctKey.import_key(b"another key of thirty-two bytes!")
    public = ECKey.generate_key("P-256")
    return [
        f"{part({'alg': 'none'})}.{body}.",
        f"{part({'alg': 'None'})}.{body}.{signature}",
        f"{head}.{part({**claims, 'sub': 'bob'})}.{signature}",
        f"{head}.{part({**claims, 'exp': 10**12})}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        jwt.encode({"alg": "HS256"}, claims, other),
        jwt.encode({"alg": "ES256"}, claims, public),
        jwt.encode({"alg": "HS384"}, claims, door.tokens._key, algorithms=["HS384"]),
        jwt.encode({"alg": "HS256"}, {**claims, "iss": "elsewhere"}, door.tokens._key),
        jwt.encode({"alg": "HS256"}, {**claims, "sub": "bob"}, door.tokens._key),
        jwt.encode({"alg": "HS256"}, {"sub": "alice"}, door.tokens._key),
        jwt.encode({"alg": "HS256"}, {**claims, "exp": "later"}, door.tokens._key),
        jwt.encode({"alg": "HS256"}, {**claims, "sub": ["alice"]}, door.tokens._key),
    ]


def test_a_forged_token_is_worth_nothing() -> None:
    async def scenario(door: Door) -> None:
        for token in forged(door):
            assert (await door.asked(authorization=f"Bearer {token}")).status_code == UNAUTHORIZED, token
            exchanged = await door.token(grant_type=TOKEN_EXCHANGE, subject_token=token)
            assert exchanged.status_code == UNAUTHORIZED, token

    run(scenario)


def test_a_session_is_a_cookie_and_an_old_one_counts_as_none() -> None:
    async def scenario(door: Door) -> None:
        token = door.tokens.issue("alice", 100)
        assert (await door.asked(cookie=f"a=b; {SESSION_COOKIE}={token}")).text == "User:alice"
        for cookie in (f"{SESSION_COOKIE}=x", SESSION_COOKIE, f"{SESSION_COOKIE}=", "=;;=", "a" * 20_000):
            assert (await door.http.get("/open", headers={"Cookie": cookie})).text == "User:ANONYMOUS"
        door.clock.now += 101
        assert (await door.asked(cookie=f"{SESSION_COOKIE}={token}")).status_code == UNAUTHORIZED
        assert door.clock.slept == [], "a browser sends an old cookie without being asked"

    run(scenario)


def test_commands_prove_their_password_by_scram_and_the_broker_proves_that_it_knows_it() -> None:
    credential = credential_of(ALICE, PASSWORD, Mechanism.SCRAM_SHA_512, b"salt of the user")

    def exchange(password: str) -> bytes:
        client = ScramClient(ALICE, password, "abc")
        first = scram.ClientFirst(client.first)
        assert first.user == ALICE
        server = scram.ScramExchange(first, credential, "def")
        last = server.verify(client.answer(server.challenge))
        client.check(last)
        return last

    assert exchange(PASSWORD).startswith(b"v=")
    with pytest.raises(scram.BadLogin):
        exchange("wrong")
