"""The certificates of `lakestream up --secure`: trusted by their own authority alone, renewed in time."""

from cryptography import x509

from lakestream.cli.java_trust import TRUST_PASSWORD, trust_store
from lakestream.cli.processes.authority import (
    CERTIFICATE_DAYS,
    RENEWED_BEFORE_DAYS,
    is_good,
    new_authority,
    new_certificate,
)

NOW_MS = 1_800_000_000_000
DAY_MS = 24 * 3_600_000
HOSTS = {"localhost", "127.0.0.1", "::1", "broker.example"}


def test_a_certificate_is_of_its_authority_and_names_its_hosts() -> None:
    authority, other = new_authority(NOW_MS), new_authority(NOW_MS)
    made = x509.load_pem_x509_certificate(new_certificate(authority, HOSTS, NOW_MS).certificate)
    made.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate))
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(name.value) for name in names} == HOSTS
    try:
        made.verify_directly_issued_by(x509.load_pem_x509_certificate(other.certificate))
    except Exception:
        return
    raise AssertionError("another authority of the same name is trusted")


def test_a_certificate_is_renewed_before_it_ends_and_for_another_host() -> None:
    made = new_certificate(new_authority(NOW_MS), HOSTS, NOW_MS).certificate
    last = NOW_MS + (CERTIFICATE_DAYS - RENEWED_BEFORE_DAYS) * DAY_MS
    assert is_good(made, HOSTS, last - 1_000)
    assert is_good(made, {"localhost"}, last - 1_000)
    assert not is_good(made, HOSTS, last)
    assert not is_good(made, {*HOSTS, "other.example"}, NOW_MS)


def test_java_gets_the_same_authority() -> None:
    from cryptography.hazmat.primitives.serialization import pkcs12

    authority = new_authority(NOW_MS).certificate
    found = pkcs12.load_pkcs12(trust_store(authority), TRUST_PASSWORD.encode())
    assert [one.certificate for one in found.additional_certs] == [x509.load_pem_x509_certificate(authority)]
