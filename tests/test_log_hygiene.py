"""What a page says cannot forge a log line, and passwords are not written down."""

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure import log_hygiene
from treasure.log_hygiene import clean


@pytest.fixture
def log():
    factory = logging.getLogRecordFactory()
    log_hygiene.install()
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logger = logging.getLogger("tests.log_hygiene")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, written
    logger.removeHandler(handler)
    logging.setLogRecordFactory(factory)


def test_control_characters_are_written_out(log):
    logger, written = log
    logger.error("title: %s", "\x1b[31mred\r\x00")
    assert written.getvalue() == "title: \\x1b[31mred\\x0d\\x00\n"


def test_a_forged_line_is_indented(log):
    logger, written = log
    logger.error("title: %s", "x\n2026-01-01 [treasure] INFO: all is well")
    assert written.getvalue().splitlines()[1].startswith("    2026")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://crawler:s3cret@db/x",
        "redis://:s3cret@cache:6379/0",
        "redis://:p@s3cret@cache:6379/0",
        "https://name:s3cret@example.org/",
    ],
)
def test_passwords_are_hidden(log, url):
    logger, written = log
    logger.error("Cannot connect to %s", url)
    assert "s3cret" not in written.getvalue()
    assert ":***@" in written.getvalue()


def test_a_password_in_a_query_is_hidden():
    url = "postgresql://db/x?user=crawler&password=s3cret&sslmode=require"
    assert clean(url) == "postgresql://db/x?user=crawler&password=***&sslmode=require"


def test_tracebacks_are_clean_too(log):
    logger, written = log
    try:
        raise ValueError("\x1b]0;title\x07 redis://:s3cret@cache/0")
    except ValueError:
        logger.exception("it failed")
    said = written.getvalue()
    assert "Traceback" in said
    assert "\x1b" not in said
    assert "s3cret" not in said


@given(st.text())
def test_any_message_becomes_lines_that_only_show_text(message):
    first, *rest = clean(message).split("\n")
    for line in [first, *rest]:
        assert all(character.isprintable() or ord(character) > 0x9F or character == "\t"
                   for character in line)  # fmt: skip
    assert all(line.startswith("    ") for line in rest)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P"]), max_size=50))
def test_plain_messages_stay_as_they_are(message):
    if "://" not in message:
        assert clean(message) == message
