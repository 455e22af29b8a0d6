"""A licensed edition of Dewey, imported: CSV or MARC 21 classification records -> classes.

CSV has a header line: ``number`` and ``name``, and ``terms`` separated by semicolons if there are
any. Of MARC records (binary, or MARCXML) we read 153 (number $a, caption $j) and the index
terms in 700 to 754; numbers of tables ($z) and spans ($c) are no classes. Captions
such as "Butterflies and moths" become terms, whole and split.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from treasure.ddc.classes import DeweyClass
from treasure.ddc.numbers import NumberError, normal
from treasure.errors import LexiconError

_SPLIT = re.compile(r"\s*(?:;|,|/|\band\b|&|—|--)\s*")
_ASIDE = re.compile(r"\(.*?\)|\[.*?\]")
_INDEX_FIELDS = ("700", "710", "711", "730", "748", "750", "751", "753", "754")
_NUMBER_COLUMNS = ("number", "ddc", "class", "notation")
_NAME_COLUMNS = ("name", "caption", "heading", "label")
_TERM_COLUMNS = ("terms", "index terms", "keywords")


def read_edition(path: Path) -> list[DeweyClass]:
    """Return the classes of a CSV or MARC file, told apart by what it holds."""
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise LexiconError(f"{path} cannot be read: {error.strerror}.") from None
    if not start.strip():
        raise LexiconError(f"{path} is empty. Expected CSV or MARC 21 classification records.")
    if re.match(rb"\d{5}[a-z]w", start):
        classes = list(_from_marc(_binary_records(path), path))
    elif start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        classes = list(_from_marc(_xml_records(path), path))
    elif re.match(rb"\d{5}[a-z][a-z]", start) and b"\x1e" in start:
        raise LexiconError(
            f"{path} holds MARC records, but not of type w (classification)."
            " Expected MARC 21 Format for Classification Data."
        )
    else:
        classes = list(_from_csv(path))
    if not classes:
        raise LexiconError(f"{path} holds no class: no record has a number and a name.")
    return classes


def heading_terms(heading: str) -> tuple[str, ...]:
    """Return a heading as terms: whole, and split at commas and "and"."""
    plain = " ".join(_ASIDE.sub(" ", heading).split()).strip(" .").lower()
    parts = [part.strip() for part in _SPLIT.split(plain)]
    return tuple(dict.fromkeys(part for part in [plain, *parts] if part))


def _from_csv(path: Path) -> Iterator[DeweyClass]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sample = file.read(8192)
            file.seek(0)
            separator = max(",;\t", key=sample.partition("\n")[0].count)
            rows = csv.reader(file, delimiter=separator)
            header = [column.strip().lower() for column in next(rows, [])]
            number_at = _column(header, _NUMBER_COLUMNS, path)
            name_at = _column(header, _NAME_COLUMNS, path)
            term_at = next((header.index(c) for c in _TERM_COLUMNS if c in header), None)
            for row in rows:
                if not any(cell.strip() for cell in row):
                    continue
                origin = f"{path}:{rows.line_num}"
                if len(row) <= max(number_at, name_at):
                    raise LexiconError(
                        f"{origin}: expected {len(header)} columns. Got {len(row)} instead."
                    )
                own = row[term_at].split(";") if term_at is not None and term_at < len(row) else []
                yield _entry(row[number_at], row[name_at], own, origin)
    except UnicodeDecodeError:
        raise LexiconError(
            f"{path} is neither UTF-8 text nor MARC. Expected CSV or MARC 21 classification."
        ) from None
    except csv.Error as error:
        raise LexiconError(f"{path} is no CSV: {error}.") from None


def _column(header: list[str], names: tuple[str, ...], path: Path) -> int:
    for name in names:
        if name in header:
            return header.index(name)
    raise LexiconError(
        f"{path} has no column {names[0]!r} in its first line. Expected CSV with"
        " 'number,name,terms' or MARC 21 classification records."
    )


def _entry(number: str, name: str, terms: Iterable[str], origin: str) -> DeweyClass:
    try:
        found = normal(number.replace("/", "").replace("'", ""))
    except NumberError as error:
        raise LexiconError(f"{origin}: {error}") from None
    own = [" ".join(term.split()) for term in terms]
    every = dict.fromkeys([*heading_terms(name), *(term for term in own if term)])
    return DeweyClass(found, " ".join(name.split()), tuple(every), origin)


def _from_marc(records: Iterable[Any], path: Path) -> Iterator[DeweyClass]:
    for count, record in enumerate(records, 1):
        origin = f"{path}, record {count}"
        for field in record.get_fields("153"):
            number, caption = field.get("a"), field.get("j")
            if not number or not caption or field.get("z") or field.get("c"):
                continue
            terms = [
                value
                for index in record.get_fields(*_INDEX_FIELDS)
                for value in index.get_subfields("a", "x", "b")
            ]
            yield _entry(number, caption, terms, origin)


def _binary_records(path: Path) -> Iterator[Any]:
    pymarc = _pymarc()
    with path.open("rb") as file:
        reader = pymarc.MARCReader(file, to_unicode=True, force_utf8=False)
        for count, record in enumerate(reader, 1):
            if record is None:
                problem = reader.current_exception
                raise LexiconError(f"{path}, record {count} is no MARC: {problem}.")
            yield record


def _xml_records(path: Path) -> list[Any]:
    pymarc = _pymarc()
    from xml.sax import SAXException

    try:
        return [record for record in pymarc.parse_xml_to_array(str(path)) if record is not None]
    except SAXException as error:
        raise LexiconError(f"{path} is no MARCXML: {error}.") from None


def _pymarc() -> Any:
    try:
        import pymarc
    except ImportError:
        raise LexiconError(
            "Reading MARC needs pymarc: pip install 'treasure-crawler[marc]'."
        ) from None
    return pymarc
