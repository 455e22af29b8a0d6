"""What a crawl leaves behind for people: status, explanations, report, metrics."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import crawl, write_web
from tests.crawl.test_politeness import page
from treasure.cli import main

FOOD = "<p>Chop the onions, melt the butter and fry the mushrooms with pepper and cheese. " * 5


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of two jobs over the same small web: best links first, and in order."""
    folder = tmp_path_factory.mktemp("runs")
    pages: dict[str, Any] = {
        "http://a.test/": page("/stars", "/food", "/login", "/sold")
        + '<p>Sponsored <a rel="nofollow" href="/ads">advert</a></p>',
        "http://a.test/stars": page(*(f"/stars/{i}" for i in range(12)), "/stars"),
        "http://a.test/food": FOOD + "".join(f'<a href="/food/{i}">soup</a>' for i in range(12)),
    }
    pages |= {f"http://a.test/stars/{i}": page() for i in range(12)}
    pages |= {f"http://a.test/food/{i}": FOOD for i in range(12)}
    web = write_web(folder / "web.warc.gz", pages)
    common = ("topic=astronomy", "seeds=http://a.test/", f"web={web}", "blocked=*/login*")
    common += ("obey_nofollow=true",)  # an archive asks for nothing
    crawl(folder, *common, "job=best")
    crawl(folder, *common, "job=order", "strategy=breadth-first")
    return folder


def treasure(runs: Path, *words: str, code: int = 0) -> str:
    output, errors = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        assert main([*words, "--runs-dir", str(runs)]) == code, errors.getvalue()
    return output.getvalue() + errors.getvalue()


def test_status_of_a_job_that_ended(runs: Path) -> None:
    told = json.loads(treasure(runs, "status", "best", "--json"))
    assert told["state"] == "ended"
    assert told["stop_reason"] == "finished"
    assert told["stored"] == 28
    (worker,) = told["workers"].values()
    assert worker["on_topic"] == told["stored_on_topic"] == 14
    assert worker["refused"] == {"blocked: */login*": 1, "nofollow": 1}
    text = treasure(runs, "status", "best")
    assert "every link that was found" in text
    assert len(treasure(runs, "status").splitlines()) == 2
    assert "There is no job 'bset'. Did you mean 'best'?" in treasure(
        runs, "status", "bset", code=2
    )


def test_explain_tells_every_score(runs: Path) -> None:
    told = json.loads(treasure(runs, "explain", "http://a.test/stars/3", "--job", "best", "--json"))
    kinds = [event["kind"] for event in told["events"]]
    assert kinds[0] == "scored"
    assert kinds[-2:] == ["taken", "explained"]
    scored, explained = told["events"][0], told["events"][-1]
    assert scored["page"] == "http://a.test/stars"
    assert scored["anchor"] == "stars and planets"
    assert "anchor" in scored["features"]
    assert 0 < scored["score"] <= 1
    assert explained["explanation"]["features"]
    assert told["page"]["on_topic"]
    assert told["page"]["explanation"] == explained["explanation"]
    text = treasure(runs, "explain", "http://a.test/stars/3", "--job", "best")
    assert "scored" in text
    assert "fetched: on topic" in text


def test_explain_names_the_rule_that_refused(runs: Path) -> None:
    text = treasure(runs, "explain", "http://a.test/login", "--job", "best")
    assert "refused by the rule 'blocked: */login*'" in text
    text = treasure(runs, "explain", "http://a.test/ads", "--job", "best")
    assert "refused on http://a.test/: nofollow" in text


def test_explain_of_what_is_not_there(runs: Path) -> None:
    assert "No page of this job" in treasure(runs, "explain", "http://a.test/nowhere", code=1)
    assert "no http or https URL" in treasure(runs, "explain", "nonsense", code=2)
    assert "There is no job" in treasure(runs, "explain", "http://a.test/", "--job", "x", code=2)


def test_the_report_is_one_whole_page(runs: Path) -> None:
    html = (runs / "best" / "report.html").read_text()
    assert html.count("<svg") == 4
    assert "every link that was found" in html
    assert "14 of 28 pages" in html  # the dead link counts
    assert "blocked: */login*" in html
    for loaded in ("<script", "<link", 'src="', "http://www", "@import"):
        assert loaded not in html


def test_compare_draws_both_curves(runs: Path, tmp_path: Path) -> None:
    drawing = tmp_path / "curves.svg"
    text = treasure(runs, "compare", "order", "best", "--out", str(drawing))
    assert "times the harvest of order" in text
    assert drawing.read_text().count("<polyline") == 2
    told = json.loads(treasure(runs, "compare", "order", "best", "--json"))
    order, best = told["jobs"]
    assert order["harvest_rate"] == best["harvest_rate"] == 14 / 28
    assert "must end in" in treasure(runs, "compare", "best", "--out", "x.png", code=2)
    assert "There is no job" in treasure(runs, "compare", "best", "no", code=2)


def test_rehearse_shows_what_would_change(runs: Path) -> None:
    same = json.loads(treasure(runs, "rehearse", "best", "--threshold", "0.5", "--json"))
    assert same["pages"] == 27
    assert (same["gained"], same["lost"]) == ([], [])
    other = json.loads(treasure(runs, "rehearse", "best", "--topic", "cooking", "--json"))
    assert "http://a.test/food/3" in other["gained"]
    assert "http://a.test/stars/3" in other["lost"]
    assert "lost)" in treasure(runs, "rehearse", "best", "--threshold", "1")
    assert "Say what shall change" in treasure(runs, "rehearse", "best", code=2)
    assert "must be between 0 and 1" in treasure(
        runs, "rehearse", "best", "--threshold", "3", code=2
    )
    assert "There is no setting" in treasure(runs, "rehearse", "best", "-s", "TREASURE_X=1", code=2)
