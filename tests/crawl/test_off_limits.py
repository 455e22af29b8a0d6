"""Redirects do not lead out of the domains that a crawl stays within, nor into what is blocked."""

import sqlite3

from tests.crawl.crawling import crawl, write_web
from tests.crawl.test_crawl import STARS, page


def test_a_redirect_stays_within_the_domains(tmp_path):
    pages = {
        "http://a.test/": page("Start", STARS, ("/out", "Out"), ("/in", "In"), ("/shut", "Shut")),
        "http://a.test/out": ("301 Moved", "Location: http://b.test/"),
        "http://a.test/in": ("301 Moved", "Location: http://www.a.test/stars"),
        "http://a.test/shut": ("301 Moved", "Location: /login"),
        "http://www.a.test/stars": page("Stars", STARS),
        "http://a.test/login": page("Log in", STARS),
        "http://b.test/": page("Elsewhere", STARS),
    }
    web = write_web(tmp_path / "web.warc.gz", pages)
    crawl(
        tmp_path / "runs", "topic=astronomy", "seeds=http://a.test/", f"web={web}", "job=t",
        "allowed_domains=a.test", "blocked=*/login*",
    )  # fmt: skip
    with sqlite3.connect(tmp_path / "runs" / "treasure.db") as database:
        failures = dict(database.execute("select url, failure from pages").fetchall())
    assert failures == {
        "http://a.test/": "",
        "http://a.test/in": "",
        "http://www.a.test/stars": "",
        "http://a.test/out": "redirect to where we do not go (domain)",
        "http://a.test/shut": "redirect to where we do not go (blocked: */login*)",
    }
