"""Logins: find out whether callers are who they say they are, by the credentials in the store.

An unknown user looks like a known one with a wrong password, to the end: it gets a salt, which is always the same for
its name, and the same amount of work is done.
"""

import hmac

import structlog

from lakestream.access.authorizer import Authorizer
from lakestream.access.brake import LoginBrake
from lakestream.access.remembered import RememberedPasswords
from lakestream.access.scram import ITERATIONS, BadLogin, ClientFirst, ScramExchange, proves
from lakestream.model.caller import Caller
from lakestream.model.credential import Credential, Mechanism
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.threads import Threads

audit = structlog.get_logger("lakestream.audit")

_SALT_BYTES = 16


class Logins:
    def __init__(self, authorizer: Authorizer, secret: str, *, clock: Clock, ids: Ids, threads: Threads) -> None:
        """`secret`: of the cluster. The salts of unknown users are made from it."""
        self._authorizer = authorizer
        self._secret = secret.encode()
        self._ids = ids
        self._threads = threads
        self._brake = LoginBrake(clock)
        self._remembered = RememberedPasswords(hmac.digest(self._secret, b"remembered passwords", "sha256"), clock)

    def begin_scram(self, first: ClientFirst, mechanism: Mechanism) -> ScramExchange:
        credential = self._authorizer.credential(first.user, mechanism) or self._unknown(first.user, mechanism)
        return ScramExchange(first, credential, self._ids.uuid())

    async def check_password(self, user: str, password: bytes) -> None:
        """Raises BadLogin."""
        known = [self._authorizer.credential(user, mechanism) for mechanism in Mechanism]
        credential = next((each for each in known if each is not None), None)
        if credential is not None and self._remembered.knows(credential, password):
            return
        right = await self._threads.run(proves, credential or self._unknown(user, Mechanism.SCRAM_SHA_256), password)
        if credential is None or not right:
            raise BadLogin("wrong password or unknown user")
        self._remembered.remember(credential, password)

    async def failed(self, caller: Caller, mechanism: str, problem: str) -> None:
        """Tell the audit log, and make the caller's address wait."""
        audit.warning("login failed", host=caller.host, listener=caller.listener, mechanism=mechanism, reason=problem)
        await self._brake.failed(caller.host)

    def _unknown(self, user: str, mechanism: Mechanism) -> Credential:
        """Nobody knows a password for these keys: they do not come from one."""
        name = mechanism.hash_name
        made = [hmac.digest(self._secret, what + user.encode(), name) for what in (b"salt ", b"stored ", b"server ")]
        return Credential(
            user=user,
            mechanism=mechanism,
            iterations=ITERATIONS,
            salt=made[0][:_SALT_BYTES],
            stored_key=made[1],
            server_key=made[2],
        )
