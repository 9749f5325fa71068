"""Let a Java that this process starts trust authorities from a PEM file: a trust store, named in JAVA_TOOL_OPTIONS."""

import atexit
import os
import tempfile
from pathlib import Path

from lakestream.cli.failures import CommandFailed

TRUST_PASSWORD = "lakestream"
"""No secret: a trust store holds certificates alone, and Java wants a password for its checksum."""


def trust_store(authorities: bytes) -> bytes:
    """PEM -> a PKCS #12 trust store. Raises ValueError."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    found = x509.load_pem_x509_certificates(authorities)
    entries = [pkcs12.PKCS12Certificate(one, f"authority-{number}".encode()) for number, one in enumerate(found)]
    return pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(TRUST_PASSWORD.encode()))


def trust_options(store: Path) -> str:
    return f"-Djavax.net.ssl.trustStore={store} -Djavax.net.ssl.trustStorePassword={TRUST_PASSWORD}"


def trust_in_java(ca: Path) -> None:
    """Raises CommandFailed."""
    try:
        content = trust_store(ca.expanduser().read_bytes())
    except (OSError, ValueError) as error:
        raise CommandFailed(f"client.ca {ca} cannot be used: {error}") from None
    handle, name = tempfile.mkstemp(prefix="lakestream-trust-", suffix=".p12")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    atexit.register(Path(name).unlink, missing_ok=True)
    kept = os.environ.get("JAVA_TOOL_OPTIONS", "")
    os.environ["JAVA_TOOL_OPTIONS"] = f"{kept} {trust_options(Path(name))}".strip()
