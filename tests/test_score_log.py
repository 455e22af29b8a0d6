from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

from treasure.crawl import Decision
from treasure.frontier.base import Entry, Lease
from treasure.pages import Verdict
from treasure.score_log import FILE, ScoreLog, history
from treasure.sitemaps import listing
from treasure.strategies.base import Measured
from treasure.urls import url_key

A, B, C = "http://x.org/mars", "http://x.org/soup", "http://x.org/login"


def record(log: ScoreLog, page_url: str, scores: dict[str, float], now: float, **changed: float):
    page = listing(page_url, [*scores, C])
    links = [link for link in page.links if link.url in scores]
    rescored = {url_key(A): changed["a"]} if changed else {}
    keys = np.array([url_key(url) for url in scores])
    values = np.array([[1.0, score] for score in scores.values()])
    nodes = np.arange(len(scores)) + 7
    measured = Measured(["bias", "anchor"], np.array([-2.0, 0.5]), keys, values, nodes)
    decision = Decision(Verdict(0.7, True), links, list(scores.values()), rescored)
    log.scored(page, page.links, decision, measured, now)


def fill(path: Path) -> None:
    log = ScoreLog(path)
    record(log, "http://x.org/1", {A: 0.25, B: 0.5}, 1.0)
    record(log, "http://x.org/2", {B: 0.125}, 2.0, a=0.75)
    lease = Lease(url_key(A), Entry(A, 0.75), 0.75, 0.01, True, 3)
    log.taken(lease, 3.0)
    log.explained(lease.key, {"in_links": 2}, 4.0)
    log.close()


def test_a_link_has_a_history(tmp_path: Path) -> None:
    fill(tmp_path / FILE)
    scored, changed, taken, explained = history(tmp_path / FILE, A)
    assert (scored.kind, scored.page, scored.score, scored.relevance) == (
        "scored",
        "http://x.org/1",
        0.25,
        0.7,
    )
    assert scored.anchor == "mars"
    assert scored.node == 7
    assert scored.features == {"bias": (1.0, -2.0), "anchor": (0.25, 0.5)}
    assert (changed.kind, changed.page, changed.score) == ("changed", "http://x.org/2", 0.75)
    assert taken.kind == "taken"
    assert taken.details == {
        "ageing": 0.01,
        "explored": True,
        "passed_over": 3,
    }
    assert explained.details == {"explanation": {"in_links": 2}}
    assert [given.score for given in history(tmp_path / FILE, B)] == [0.5, 0.125]
    assert history(tmp_path / FILE, "http://x.org/unknown") == []


def test_refusals_are_recorded(tmp_path: Path) -> None:
    fill(tmp_path / FILE)
    refused = history(tmp_path / FILE, C)
    assert [(given.kind, given.page) for given in refused] == [
        ("refused", "http://x.org/1"),
        ("refused", "http://x.org/2"),
    ]


def test_a_log_goes_on(tmp_path: Path) -> None:
    fill(tmp_path / FILE)
    fill(tmp_path / FILE)
    assert len(history(tmp_path / FILE, A)) == 8


@pytest.mark.parametrize("cut", [1, 7, 8, 9, 50])
def test_a_block_that_was_cut_off_harms_no_other(tmp_path: Path, cut: int) -> None:
    path = tmp_path / FILE
    fill(path)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:cut])
    assert len(history(path, A)) == 4
    fill(path)
    assert len(history(path, A)) == 8


def test_a_full_disk_leaves_no_half_block(tmp_path: Path) -> None:
    path = tmp_path / FILE
    fill(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            fill(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.stat().st_size == size
    fill(path)
    assert len(history(path, A)) == 8


def test_nothing_is_written_when_nothing_happened(tmp_path: Path) -> None:
    ScoreLog(tmp_path / FILE).close()
    assert not (tmp_path / FILE).exists()
    assert history(tmp_path / FILE, A) == []


def test_pages_without_links_and_strange_anchors(tmp_path: Path) -> None:
    log = ScoreLog(tmp_path / FILE)
    page = listing("http://x.org/", [])
    log.scored(page, (), Decision(Verdict(0.0, False), [], []), None, 1.0)
    link = listing("http://x.org/", [A]).links[0]._replace(anchor_text="a\x1fb \ud800")
    page = listing("http://x.org/2", [A, B])
    decision = Decision(Verdict(0.0, False), [link, page.links[1]], [0.1, 0.2])
    log.scored(page, page.links, decision, None, 2.0)
    log.close()
    assert history(tmp_path / FILE, A)[0].anchor == "a b ?"
    assert history(tmp_path / FILE, B)[0].anchor == "soup"
