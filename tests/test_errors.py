"""What messages say, and what they keep to themselves."""

import pytest

from halfseen.errors import (
    InvalidInput,
    StorageError,
    compiler_complaint,
    no_password,
    sentence,
    shorten,
)

SECRETS = ("hunter2", "hunter2%", "a@hunter2", "hunter2@b", "hunter2 x", "x hunter2", "hun/hunter2")
ADDRESSES = (
    "postgresql://bob:{}@host:5432/base",
    "POSTGRESQL://bob:{}@host/base",
    "mysql+driver://bob:{}@host/base",
    "postgresql:/bob:{}@host/base",
    "foo://:{}@127.0.0.1:1",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_password_is_left_in_any_message(address, secret):
    given = address.format(secret)
    long = address.format(secret + "z" * 300)
    for told in (
        sentence(f"Got unexpected extra argument ({given}). Try: halfseen audit --help."),
        sentence(f"Cannot read {long}: no such file."),
        str(InvalidInput("log", "must be a file", given, "Give one.")),
        str(InvalidInput("log", "must be a file", long, "Give one.")),
        str(StorageError(f"Cannot read {given}: no such file.")),
        shorten({"engine": given}),
    ):
        assert "hunter2" not in told
        assert "://" in told or ":/" in told


def test_passwords_in_settings_bare_and_cut_addresses_are_hidden():
    for told in (
        "host=h password=hunter2",
        "x?pwd=hunter2&a=b",
        "bob:hunter2@host",
        "a://b:hunter2",
    ):
        assert "hunter2" not in no_password(told)
    assert no_password("x?pwd=hunter2&a=b") == "x?pwd=…&a=b"


@pytest.mark.parametrize(
    "plain",
    [
        "tcp://127.0.0.1:8786",
        "tcp://127.0.0.1:8786/status.",
        "tls://[::1]:8786",
        "postgresql://bob@host:5432/base",
        "write it as mysql://user:password@host:port/base, with % as %25",
        "See https://example.org/ab and write to me@example.org.",
        "`a` must be 1; got 2. Use 3:4.",
    ],
)
def test_what_holds_no_password_is_left_alone(plain):
    assert no_password(plain) == plain


@pytest.mark.parametrize("piece", ["x", "a:", "x@y:", "a://b", "pwd="])
def test_a_value_of_a_million_characters_gets_its_message(piece):
    assert len(shorten(piece * (1_000_000 // len(piece)))) <= 80


def test_the_password_of_an_address_after_many_letters_is_hidden():
    for told in ("x" * 5000 + "postgresql://bob:hunter2@host", "7https://bob:hunter2@host"):
        assert "hunter2" not in no_password(told)


LOOP = """Failed in nopython mode pipeline (step: nopython frontend)
No implementation of function Function(<function play_once at 0x7f>) found for signature:

 >>> play_once(int64, int64, ArmWorld(array(float64, 2d, C)))

There are 2 candidate implementations:
  - Of which 2 did not match due to:
"""


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (
            "TypingError: Failed in nopython mode pipeline (step: features)\n"
            "The use of a reflected list type, assigned to variable 'SEEN' in globals, is not"
            " supported.\nDuring: Pass",
            "The use of a reflected list type, assigned to variable 'SEEN' in globals, is not"
            " supported",
        ),
        (
            "No implementation of function Function(<built-in function setitem>)\n"
            ">>> setitem(float64, Literal[str](a), int64)\nThere are 16 candidate",
            "it knows no setitem(float64, Literal[str](a), int64)",
        ),
    ],
)
def test_of_a_kernel_that_does_not_compile_the_innermost_reason_is_told(inside, said):
    wrong = type("TypingError", (Exception,), {"__module__": "numba.core.errors"})(LOOP + inside)
    assert compiler_complaint(wrong) == said
