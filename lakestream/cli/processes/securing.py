"""`lakestream up --secure`: certificates, an administrator and settings, kept in the data folder from start to start.

    <data>/secure/ca.pem  ca.key         an authority of this installation's own
                  ca.p12                 the same for Java (password: lakestream)
                  server.pem server.key  the certificate of brokers and gateway, renewed before it ends
                  admin.password         of User:admin, who may do everything
                  client.toml            settings for commands: lakestream --config client.toml ...

Keys and the password can be read by this user alone.
"""

import asyncio
import base64
import os
import socket
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from lakestream.access.scram import credential_of, proves
from lakestream.cli.java_trust import trust_store
from lakestream.cli.processes.authority import PemPair, is_good, new_authority, new_certificate
from lakestream.metadata.open import open_store
from lakestream.model.credential import Mechanism
from lakestream.settings.model import Settings
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

ADMIN = "admin"
_PASSWORD_BYTES, _SALT_BYTES = 18, 16
_SECRET_MODE, _OPEN_MODE, _FOLDER_MODE = 0o600, 0o644, 0o700
_ALWAYS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class SecureFiles:
    folder: Path

    def __getitem__(self, name: str) -> Path:
        return self.folder / name

    def settings(self, given: Settings) -> dict[str, str]:
        """By dotted name, what makes an installation secure; certificates that the settings name are used instead."""
        users = dict.fromkeys([*given.access.super_users, f"User:{ADMIN}"])
        found = {
            "kafka.protocol": "SASL_SSL",
            "http.login": "true",
            "access.authorize": "true",
            "access.super_users": ";".join(users),
        }
        for group, has_own in (("kafka", given.kafka.certificate), ("http", given.http.certificate)):
            if has_own is None:
                found |= {f"{group}.certificate": str(self["server.pem"]), f"{group}.key": str(self["server.key"])}
        return found


def files_of(settings: Settings) -> SecureFiles:
    return SecureFiles(settings.data_folder / "secure")


async def secure(files: SecureFiles, settings: Settings, *, kafka: str, http: str) -> str:
    """Make what is not there yet. Returns the text of client.toml. `kafka` and `http`: where clients connect."""
    files.folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER_MODE)
    await asyncio.to_thread(_certify, files, _hosts(settings))
    password = _password(files)
    await _add_admin(settings, password)
    text = _client_settings(files, settings, kafka, http)
    _write(files["client.toml"], text.encode(), _OPEN_MODE)
    return text


def _certify(files: SecureFiles, hosts: Collection[str]) -> None:
    now_ms = SystemClock().wall_ms()
    if not files["ca.pem"].exists():
        made = new_authority(now_ms)
        _write(files["ca.key"], made.key, _SECRET_MODE)
        _write(files["ca.p12"], trust_store(made.certificate), _OPEN_MODE)
        _write(files["ca.pem"], made.certificate, _OPEN_MODE)
    if files["server.pem"].exists() and is_good(files["server.pem"].read_bytes(), hosts, now_ms):
        return
    authority = PemPair(certificate=files["ca.pem"].read_bytes(), key=files["ca.key"].read_bytes())
    made = new_certificate(authority, hosts, now_ms)
    _write(files["server.key"], made.key, _SECRET_MODE)
    _write(files["server.pem"], made.certificate, _OPEN_MODE)


def _password(files: SecureFiles) -> str:
    if not files["admin.password"].exists():
        made = base64.urlsafe_b64encode(SystemChance().bytes(_PASSWORD_BYTES))
        _write(files["admin.password"], made + b"\n", _SECRET_MODE)
    return files["admin.password"].read_text().splitlines()[0]


async def _add_admin(settings: Settings, password: str) -> None:
    """The file is right about the password, also after somebody has deleted or changed it."""
    clock, chance = SystemClock(), SystemChance()
    store = await open_store(settings.metadata_url, clock=clock, ids=Ids(clock, chance))
    try:
        known = [each for each in (await store.access.view()).credentials if each.user == ADMIN]
        right = {each.mechanism for each in known if proves(each, password.encode())}
        for mechanism in Mechanism:
            if mechanism not in right:
                made = credential_of(ADMIN, password, mechanism, chance.bytes(_SALT_BYTES))
                await store.access.put_credential(made)
    finally:
        await store.close()


def _hosts(settings: Settings) -> set[str]:
    addresses = [*settings.kafka.listeners, settings.http.listen]
    addresses += [] if settings.kafka.advertised is None else [settings.kafka.advertised]
    named = {address.host for address in addresses if not address.is_wildcard}
    return {*_ALWAYS, *named, socket.gethostname()}


def _client_settings(files: SecureFiles, settings: Settings, kafka: str, http: str) -> str:
    own = [f'data = "{settings.data_folder}"']
    own += [f'{name} = "{text}"' for name in ("metadata", "objects") if (text := _shareable(getattr(settings, name)))]
    return "\n".join(
        [
            *own,
            "",
            "[client]",
            f'user = "{ADMIN}"',
            f'password_file = "{files["admin.password"]}"',
            f'ca = "{files["ca.pem"]}"',
            'protocol = "SASL_SSL"',
            "",
            "[kafka]",
            f'listeners = "{kafka}"',
            "",
            "[http]",
            f'listen = "{http}"',
            "",
        ]
    )


def _shareable(url: str) -> str:
    """A URL without a password; otherwise nothing."""
    return "" if "@" in url else url


def _write(file: Path, content: bytes, mode: int) -> None:
    """Whole or not at all, and never readable by others for a moment."""
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
    new.replace(file)
