r"""Log lines that say what they mean, whatever was logged.

Pages, headers and servers choose parts of our log messages. A control character could move a
terminal's cursor, a line break could forge a line, and an error of a database driver may quote the
password it was given. All records are cleaned where they are made, ours and those of libraries:

- control characters and marks that turn the direction of text are written as ``\x1b``;
- further lines of a message are indented, so that a line that starts with a time is ours;
- the password of ``scheme://user:password@host`` is written as ``***``.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import Any

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_PASSWORD = re.compile(r"(?<=://)([^\s/:@]*):[^\s/]+@")
_QUERY = re.compile(r"([?&](?:ssl)?password=)[^\s&]+", re.IGNORECASE)


def clean(message: str) -> str:
    """Return *message* without what could mislead a reader."""
    message = hide_passwords(message)
    if message.isprintable():
        return message
    return _UNSAFE.sub(_written, message).replace("\n", "\n    ")


def hide_passwords(text: str) -> str:
    """Return *text* without the passwords of the addresses in it."""
    if "://" not in text:
        return text
    return _QUERY.sub(r"\1***", _PASSWORD.sub(r"\1:***@", text))


def install() -> None:
    """Clean all records of this process from now on."""
    logging.setLogRecordFactory(_CleanRecord)


class _CleanRecord(logging.LogRecord):
    """A record whose message and traceback are clean."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.exc_info and self.exc_info[0] is not None:
            # Formatters take what is there already.
            self.exc_text = clean("".join(traceback.format_exception(*self.exc_info)).rstrip())

    def getMessage(self) -> str:  # noqa: N802, logging's name
        return clean(super().getMessage())


def _written(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
