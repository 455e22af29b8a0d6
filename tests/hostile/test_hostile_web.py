"""A crawl of the hostile web ends, within bounds, with every healthy page fetched."""

import re
import sqlite3
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.crawl.crawling import ROOT, command, summary
from tests.hostile.server import HANDLERS, HEALTHY, HostileServer

pytestmark = pytest.mark.slow

PAGE = "a page"
SHORT = "body shorter than announced"
LARGE = "larger than allowed"
LOST = "connection lost"
NO_ADDRESS = "redirect without a usable address"
EXPECTED = {
    "/truncated": SHORT,
    "/length-too-small": PAGE,
    "/length-rubbish": LOST,
    "/chunks-broken": SHORT,
    "/chunks-unfinished": SHORT,
    "/charset-lies": PAGE,
    "/charset-unknown": PAGE,
    "/charset-punycode": PAGE,
    "/invalid-utf8": PAGE,
    "/nul-bytes": PAGE,
    "/binary-as-html": PAGE,  # read, judged by its words, of which there are none
    "/huge": LARGE,
    "/endless": (LARGE, "timeout"),  # whichever limit is met first
    "/slow-loris": "timeout",
    "/slow-head": "timeout",
    "/silent": "timeout",
    "/bomb-gzip": LARGE,
    "/bomb-deflate": LARGE,
    "/bomb-brotli": LARGE,
    "/bomb-zstd": LARGE,
    "/gzip-rubbish": "damaged compressed body",
    "/deep": PAGE,
    "/closes-in-vain": PAGE,
    "/many-attributes": PAGE,
    "/many-options": PAGE,
    "/unended-formatting": PAGE,
    "/many-links": PAGE,
    "/long-anchor": PAGE,
    "/huge-header": LOST,
    "/many-headers": PAGE,
    "/redirect-loop": "",
    "/redirect-chain/0": "",
    "/redirect-chain/5": "more than 5 redirects in a row",
    "/redirect-file": NO_ADDRESS,
    "/redirect-ftp": NO_ADDRESS,
    "/redirect-script": NO_ADDRESS,
    "/redirect-private": "",
    "/redirect-nowhere": NO_ADDRESS,
    "/redirect-rubbish": NO_ADDRESS,
    "/trap/0": PAGE,
    "/calendar?month=0": PAGE,
    "/grow/a": PAGE,
    "/changing": PAGE,
    "/reset-at-once": LOST,
    "/reset-in-head": LOST,
    "/reset-in-body": SHORT,
    "/no-http": LOST,
    "/status-rubbish": LOST,
    "/status-999": "HTTP status 999",
    "/status-500": "HTTP status 500",
    "/flaky": PAGE,
    "/image": "content type image/png",
    "/formula": PAGE,
    "/empty": PAGE,
    "/robots-endless": PAGE,
    "/robots-bomb": "robots.txt does not answer",
    "/robots-redirect-loop": PAGE,
    "/robots-redirect-private": "robots.txt does not answer",
    "/robots-rubbish": PAGE,
    "/robots-forbids": "robots.txt forbids it",
    "/healthy/tls": PAGE,  # as Scrapy does: public pages are read whatever the certificate says
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """The finished crawl: its log, what it recorded by path, the server, its peak memory."""
    runs = tmp_path_factory.mktemp("hostile")
    with HostileServer() as server:
        line = command(
            runs, "topic=astronomy", f"seeds={server.url()}", "job=hostile", "max_pages=1500",
            "strategy=breadth-first",  # traps are endless: the order must not depend on scores
            "host_delay_seconds=0", "host_concurrency=16",
            "allowed_networks=127.0.0.0/8,::1", "retry_seconds=0.1", "retry_times=1",
            "max_page_bytes=3000000", "contact=test@example.org",
            DOWNLOAD_TIMEOUT=5, LOG_LEVEL="DEBUG",
        )  # fmt: skip
        log = runs / "log.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(line, cwd=ROOT, stdout=output, stderr=output)
        code, peak = _wait(process, 240)
        with sqlite3.connect(runs / "treasure.db") as database:
            rows = database.execute("select url, status, failure, title from pages").fetchall()
        yield SimpleNamespace(
            stderr=log.read_bytes().decode(),
            code=code,
            peak_bytes=peak,
            rows={
                "/" + url.split("/", 3)[3]: (status, failure) for url, status, failure, _ in rows
            },
            urls={url: failure for url, _, failure, _ in rows},
            server=server,
        )


def _wait(process, seconds):
    """Wait for *process*; return its exit code and its peak memory.

    The system's own account of a child (``wait4``) begins with the memory of the tests.
    """
    deadline = time.monotonic() + seconds
    peak = 0
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise AssertionError(f"the crawl did not end within {seconds} s")
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = max([peak, *map(int, re.findall(r"VmHWM:\s+(\d+) kB", status))])
        time.sleep(0.05)
    return process.returncode, peak * 1024


def test_the_crawl_ends_by_itself(crawled):
    assert crawled.code == 0, crawled.stderr[-3000:]
    assert summary(crawled)["stopped"] == "finished", "calendars and growing paths never ended"


def test_every_healthy_page_is_fetched(crawled):
    assert {path for path in HEALTHY if crawled.rows.get(path, [0])[0] == 200} == set(HEALTHY)


def test_every_case_has_an_expectation():
    assert set(HANDLERS) - {"/", "/robots.txt"} <= set(EXPECTED)


@pytest.mark.parametrize("path", sorted(EXPECTED))
def test_each_case_is_recorded(crawled, path):
    assert path in crawled.rows, f"{path} was neither fetched nor recorded"
    status, failure = crawled.rows[path]
    expected = EXPECTED[path]
    if expected == PAGE:
        assert (status, failure) == (200, "")
    elif isinstance(expected, tuple):
        assert failure in expected
    else:
        assert failure == expected


def test_an_ipv6_host_is_fetched(crawled):
    if not any("[::1]" in url for url in crawled.server.elsewhere):
        pytest.skip("this machine has no IPv6")
    assert crawled.rows["/healthy/ipv6"] == (200, "")


@pytest.mark.parametrize("host", ["xn--nxasmq6b.invalid", "xn--bcher-kva.invalid"])
def test_a_name_that_does_not_resolve_is_recorded(crawled, host):
    assert crawled.urls[f"http://{host}/"] == "the host name cannot be resolved"


def test_private_addresses_are_refused(crawled):
    """Of links and redirects; of robots.txt see the case above."""
    for url in ("http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/"):
        assert "is no public address" in crawled.urls[url]


def test_only_http_addresses_are_ever_asked(crawled):
    assert {url.partition(":")[0] for url in crawled.urls} == {"http", "https"}


def test_traps_are_left(crawled):
    asked = crawled.server.hits
    assert sum(path.startswith("/calendar?") for path in asked) <= 210
    assert sum(path.startswith("/grow/") for path in asked) <= 20


def test_what_pages_say_reaches_no_log_line_raw(crawled):
    assert "forged" not in "".join(re.findall(r"^forged.*", crawled.stderr, re.MULTILINE))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", crawled.stderr)


def test_nothing_unexpected_happened(crawled):
    assert "Traceback" not in crawled.stderr, _around(crawled.stderr, "Traceback")
    assert "internal error" not in " ".join(crawled.urls.values())


def test_memory_is_bounded(crawled):
    assert crawled.peak_bytes < 600_000_000


def _around(text, word):
    place = text.find(word)
    return text[max(0, place - 500) : place + 3000]
