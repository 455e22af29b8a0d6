"""Pages that a script builds, rendered by a real Chromium; the same manners as everywhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import crawl, summary
from tests.crawl.sites import Site, gap
from tests.crawl.test_politeness import STARS, page, rows
from tests.servers import missing

SHELL = """<html><head><title>App</title><style>@import "/style.css";</style></head>
<body><div id="root"></div><img src="/picture.png">
<script src="http://127.0.0.2:9/private.js"></script>
<script>
fetch("/data.json").then(r => r.json()).then(data => {
  document.title = "Stars";
  document.getElementById("root").innerHTML =
    "<h1>Stars</h1>" + data.map(text => "<p>" + text + "</p>").join("") +
    '<p>More about <a href="/behind">planets and comets</a></p>';
});
</script></body></html>"""


@pytest.fixture
def site() -> Iterator[Site]:
    pytest.importorskip("scrapy_playwright")
    if shutil.which("chromium") is None:
        missing("chromium")
    data = "[" + ",".join(f'"{STARS.strip()}"' for _ in range(5)) + "]"
    robots = b"User-agent: *\nDisallow: /forbidden\n"
    with Site(
        {
            "/robots.txt": (200, {}, robots),
            "/": page("/app", "/plain", "/forbidden"),
            "/app": SHELL,
            "/forbidden": SHELL,
            "/data.json": (200, {"Content-Type": "application/json"}, data.encode()),
            "/plain": page(),
            "/behind": page(),
        }
    ) as opened:
        yield opened


def test_an_empty_shell_is_rendered(site: Site, tmp_path: Path) -> None:
    done = crawl(
        tmp_path, "topic=astronomy", f"seeds={site.url}/", "job=j", "browser=shells",
        "allowed_networks=127.0.0.1/32", "host_delay_seconds=0.3", "strategy=best-first",
    )  # fmt: skip
    told = summary(done)
    assert told["stopped"] == "finished"
    assert "Traceback" not in done.stderr
    assert rows(tmp_path, "select title, on_topic from pages where url like '%/app'") == [
        ("Stars", 1)
    ]
    assert "/behind" in site.paths
    assert "/forbidden" not in site.paths
    # Once plain and once in the browser; the other pages only plain.
    assert site.paths.count("/app") == 2
    assert site.paths.count("/plain") == 1
    assert "/picture.png" not in site.paths
    assert "/style.css" not in site.paths
    agents = {visit.agent.partition("/")[0] for visit in site.visits}
    assert agents == {"treasure"}
    links = [visit for visit in site.visits if visit.path != "/data.json"]
    site.visits = links
    assert gap(site) >= 0.29
    assert "'treasure/browser/pages': 1" in done.stderr


def test_without_the_setting_no_browser_runs(site: Site, tmp_path: Path) -> None:
    crawl(
        tmp_path, "topic=astronomy", f"seeds={site.url}/app", "job=j", "strategy=best-first",
        "allowed_networks=127.0.0.1/32", "host_delay_seconds=0.1", check=False,
    )  # fmt: skip
    assert site.paths == ["/robots.txt", "/app"]
