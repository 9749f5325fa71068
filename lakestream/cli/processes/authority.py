"""A certificate authority of one's own, and certificates by it: for `lakestream up --secure`.

Keys are on P-256. A certificate names every host under which clients may come.
"""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_DAYS = 3_650
CERTIFICATE_DAYS = 397
"""The most that browsers accept."""
RENEWED_BEFORE_DAYS = 30
_SLACK = timedelta(hours=1)
"""For clients whose clocks are behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PemPair:
    certificate: bytes
    key: bytes = field(repr=False)


def new_authority(now_ms: int) -> PemPair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Lakestream's own authority")
    made = (
        _begun(name, name, key.public_key(), now_ms, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return _pair(made, key)


def new_certificate(authority: PemPair, hosts: Collection[str], now_ms: int) -> PemPair:
    by = x509.load_pem_x509_certificate(authority.certificate)
    by_key = load_pem_private_key(authority.key, password=None)
    assert isinstance(by_key, ec.EllipticCurvePrivateKey), "made by new_authority"
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        _begun(_name("lakestream"), by.subject, key.public_key(), now_ms, CERTIFICATE_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in sorted(hosts)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by_key.public_key()), critical=False)
        .sign(by_key, hashes.SHA256())
    )
    return _pair(made, key)


def is_good(certificate: bytes, hosts: Collection[str], now_ms: int) -> bool:
    """Whether the certificate names all of the hosts and does not end soon."""
    found = x509.load_pem_x509_certificate(certificate)
    names = set(found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    left = found.not_valid_after_utc - _time(now_ms)
    return names >= {_general_name(host) for host in hosts} and left > timedelta(days=RENEWED_BEFORE_DAYS)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now_ms: int, days: int
) -> x509.CertificateBuilder:
    now = _time(now_ms)
    return x509.CertificateBuilder(
        subject_name=subject,
        issuer_name=issuer,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _SLACK,
        not_valid_after=now + timedelta(days=days),
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> PemPair:
    return PemPair(
        certificate=certificate.public_bytes(Encoding.PEM),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _time(wall_ms: int) -> datetime:
    return datetime.fromtimestamp(wall_ms / 1000, UTC).replace(microsecond=0)
