import pymarc
import pytest

from treasure.ddc.importing import heading_terms, read_edition
from treasure.errors import LexiconError


def record(*fields, kind="w"):
    made = pymarc.Record(leader=f"00000n{kind}  a2200000n  4500")
    for tag, subfields in fields:
        made.add_field(
            pymarc.Field(
                tag=tag,
                indicators=pymarc.Indicators(" ", " "),
                subfields=[pymarc.Subfield(code, value) for code, value in subfields],
            )
        )
    return made


RECORDS = [
    record(
        ("153", [("a", "595.789"), ("h", "Animals"), ("j", "Butterflies and skippers")]),
        ("753", [("a", "Rhopalocera")]),
        ("750", [("a", "Lepidoptera"), ("x", "habitat")]),
    ),
    record(("153", [("a", "595.7891234567"), ("j", "A very long number")])),
    record(("153", [("a", "1"), ("z", "1"), ("j", "A table number")])),
    record(("153", [("a", "595.1"), ("c", "595.4"), ("j", "A span")])),
]


@pytest.mark.parametrize("kind", ["binary", "xml"])
def test_marc_classification_records(tmp_path, kind):
    path = tmp_path / "edition"
    if kind == "binary":
        path.write_bytes(b"".join(r.as_marc() for r in RECORDS))
    else:
        writer = pymarc.XMLWriter(path.open("wb"))
        for r in RECORDS:
            writer.write(r)
        writer.close()
    first, second = read_edition(path)
    assert (first.number, first.name) == ("595.789", "Butterflies and skippers")
    assert set(first.terms) >= {"butterflies", "skippers", "Rhopalocera", "Lepidoptera", "habitat"}
    assert second.number == "595.7891234567"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_a_header(tmp_path, separator):
    terms = '"moth; skipper"'
    rows = [
        separator.join(["Number", "Caption", "Terms"]),
        separator.join(["595.789", "Butterflies", terms]),
        "",
        separator.join(["520", "Astronomy", ""]),
    ]
    (tmp_path / "e.csv").write_text("\ufeff" + "\n".join(rows))
    butterflies, astronomy = read_edition(tmp_path / "e.csv")
    assert butterflies.terms == ("butterflies", "moth", "skipper")
    assert astronomy.number == "52"


def test_headings_are_split():
    assert heading_terms("Butterflies, skippers and moths (Lepidoptera).") == (
        "butterflies, skippers and moths",
        "butterflies",
        "skippers",
        "moths",
    )
    assert heading_terms("Sandwich makers") == ("sandwich makers",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty. Expected CSV or MARC 21"),
        (b"hello world\n", "has no column 'number' in its first line"),
        (b"number,caption\n52x,Stars\n", r":2: '52x' is no Dewey number"),
        (b"number,caption\n520\n", r":2: expected 2 columns. Got 1"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "neither UTF-8 text nor MARC"),
        (b"<html><body>no</body></html>", "holds no class"),
        (b"<collection><record>", "is no MARCXML"),
        (b"00026nw  2200000n  45 \x1e\x1d garbage", "record 1 is no MARC"),
        (record(("245", [("a", "A book")]), kind="a").as_marc(), "not of type w"),
        (record(("153", [("z", "2")])).as_marc(), "holds no class"),
    ],
)
def test_what_is_no_edition_is_named(tmp_path, content, message):
    path = tmp_path / "edition"
    path.write_bytes(content)
    with pytest.raises(LexiconError, match=message):
        read_edition(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(LexiconError, match="cannot be read: No such file"):
        read_edition(tmp_path / "none.csv")
