"""A labelled web with habits of its own, as others make them.

Addresses with unsorted queries and letters beyond ASCII, packed bodies, encodings that only a
header names or nobody, PDF files, a seed that redirects, dead links, German text, few words.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from treasure.evaluation.archived import Response
from treasure.evaluation.virtual_web import WebTopic
from treasure.evaluation.web_writer import TOPICS, WEB, write_web

CHESS = "Schach Dame König Läufer Springer Turm Eröffnung Matt Partie Rochade Großmeister".split()
WINE = "Wein Traube Winzer Keller Riesling Fass Jahrgang Weinberg Rebe Gärung Verkostung".split()
COMMON = "der die und ist mit auf im Jahr viele heute Stadt Verein neue über für schön groß".split()
SEED = "http://start.test"
COUNT = 90


def _address(n: int) -> str:
    host = f"h{n % 5}.test"
    return (
        f"http://{host}/index.php?title=Seite_{n}&id={n}",
        f"https://{host}/Über/{n}/",
        f"http://{host}/a/b/2007/{n}/unten.html",
    )[n % 3]


def _words(n: int) -> list[str]:
    return CHESS if n // 5 % 2 else WINE


def _page(n: int, draw: random.Random) -> Response:
    def text(about: list[str], length: int) -> str:
        drawn = (about if draw.random() < 0.4 else COMMON for _ in range(length))
        return " ".join(map(draw.choice, drawn))

    alike = [m for m in range(COUNT) if _words(m) is _words(n)]
    html = f"<title>Seite {n}</title><h1>Willkommen</h1><p>{text(_words(n), 30)}</p>"
    for m in [*(draw.choice(alike) for _ in range(3)), draw.randrange(COUNT)]:
        href, anchor = _address(m).replace("&", "&amp;"), text(_words(m), 2)
        html += f'<p>{text(_words(m), 5)} <a href="{href}">{anchor}</a></p>'
    html += f'<a href="/nichts{n}">tot</a> <a href="http://h0.test/{n % 3}.pdf">Heft</a>'
    kind, encoding, packed = (
        ("text/html; charset=iso-8859-1", "iso-8859-1", False),
        ("text/html", "cp1252", False),
        ("text/html", "utf-8", True),
        ("text/html; charset=utf-16", "utf-16", False),
    )[n % 4]
    headers, body = (("Content-Type", kind),), html.encode(encoding)
    if packed:
        headers, body = (*headers, ("Content-Encoding", "gzip")), gzip.compress(body, mtime=0)
    return Response(_address(n), 200, headers, body)


def write(folder: Path) -> tuple[Path, Path]:
    """Write the web and its topics into *folder*; return both files."""
    draw = random.Random(3)
    links = "".join(f'<li><a href="{_address(n)}">Verein {n}</a></li>' for n in (2, 11, 17))
    portal = f"<h1>Portal</h1><ul>{links}</ul>".encode()
    pdf = (("Content-Type", "application/pdf"),)
    responses = [
        *(_page(n, draw) for n in range(COUNT)),
        *(Response(f"http://h0.test/{n}.pdf", 200, pdf, b"%PDF") for n in range(3)),
        Response(f"{SEED}/", 302, (("Location", "/portal?z=1&a=2"),), b""),
        Response(f"{SEED}/portal?z=1&a=2", 200, (), portal),
    ]
    targets = frozenset(_address(n) for n in range(COUNT) if _words(n) is CHESS)
    write_web(folder, responses, [WebTopic("schach", "794.1", "", (SEED,), (), targets)])
    return folder / WEB, folder / TOPICS
