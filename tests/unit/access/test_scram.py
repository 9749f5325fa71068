"""SCRAM as the RFCs show it, and everything that a client could send instead."""

import base64

import pytest

from lakestream.access.scram import BadLogin, ClientFirst, ScramExchange, credential_of, proves
from lakestream.model.credential import Credential, InvalidCredential, Mechanism

# RFC 7677, section 3.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SIGNATURE = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def credential(password: str = "pencil") -> Credential:
    return credential_of("user", password, Mechanism.SCRAM_SHA_256, SALT)


def exchange(nonce: str = NONCE, password: str = "pencil") -> ScramExchange:
    return ScramExchange(ClientFirst(FIRST), credential(password), nonce)


def test_the_exchange_of_the_rfc() -> None:
    assert exchange().challenge == CHALLENGE
    assert exchange().verify(FINAL) == SIGNATURE


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,",
        b"n,,n=user",
        b"n,,r=nonce",
        b"n,,n=,r=nonce",
        b"n,,n=user,r=",
        b"p=tls-unique,,n=user,r=nonce",
        b"n,a=root,n=user,r=nonce",
        b"n,,m=x,n=user,r=nonce",
        b"n,,n=user,n=root,r=nonce",
        b"n,,n=us=er,r=nonce",
        b"n,,n=user\xff,r=nonce",
        b"n,,n=user,r=" + b"x" * 20_000,
    ],
)
def test_a_damaged_first_message_is_refused(message: bytes) -> None:
    with pytest.raises(BadLogin):
        ClientFirst(message)


@pytest.mark.parametrize("cut", range(len(FINAL)))
def test_a_truncated_proof_is_refused(cut: int) -> None:
    with pytest.raises(BadLogin):
        exchange().verify(FINAL[:cut])


@pytest.mark.parametrize(
    "message",
    [
        FINAL.replace(b"biws", b"eSws"),
        FINAL.replace(b"r=r", b"r=R"),
        FINAL.replace(b"p=dHz", b"p=dHy"),
        FINAL.replace(b",p=", b",m=1,p="),
        FINAL + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        b"c=biws," + FINAL,
        b"\xff" + FINAL,
    ],
)
def test_a_forged_proof_is_refused(message: bytes) -> None:
    with pytest.raises(BadLogin):
        exchange().verify(message)


def test_a_replayed_proof_and_one_of_another_password_are_refused() -> None:
    with pytest.raises(BadLogin):
        exchange(nonce="another").verify(FINAL)
    with pytest.raises(BadLogin):
        exchange(password="pencils").verify(FINAL)


def test_names_are_unescaped() -> None:
    assert ClientFirst(b"n,,n=a=2Cb=3Dc,r=x").user == "a,b=c"
    assert ClientFirst(b"y,a=user,n=user,r=x").user == "user"


@pytest.mark.parametrize("mechanism", Mechanism)
def test_a_password_is_proved_by_what_is_stored_and_is_not_in_it(mechanism: Mechanism) -> None:
    stored = credential_of("user", "pencil", mechanism, SALT)
    assert proves(stored, b"pencil")
    assert not proves(stored, b"Pencil")
    assert not proves(stored, b"")
    assert "pencil" not in repr(stored)
    assert repr(stored.stored_key) not in repr(stored)


@pytest.mark.parametrize(("user", "password"), [("", "x"), ("x" * 10_000, "x"), ("a\0b", "x"), ("*", "x"), ("a", "")])
def test_a_user_that_cannot_be_is_refused(user: str, password: str) -> None:
    with pytest.raises(InvalidCredential):
        credential_of(user, password, Mechanism.SCRAM_SHA_256, SALT)
