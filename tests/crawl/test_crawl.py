"""A crawl as a user runs it: ``scrapy crawl treasure`` over a small web in a WARC file."""

import contextlib
import os
import pty
import re
import sqlite3
import subprocess
import sys
import termios

import pytest

from tests.crawl.crawling import ROOT, command, crawl, summary, write_web
from tests.crawl.sites import Site

STARS = (
    "The telescope shows stars, planets and galaxies. Astronomers measure the orbit of a comet "
    "around the sun, and the light of a distant supernova in the constellation of Orion. "
)
COOKING = (
    "Chop the onions, melt the butter and fry the mushrooms. Bake the bread in the oven, then "
    "serve the soup with pepper, cheese and a glass of wine. "
)


def page(title, text, *links):
    anchors = " ".join(f'<p>{text}<a href="{url}">{anchor}</a></p>' for url, anchor in links)
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text * 3}</p>{anchors}"
    )


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    pages = {
        "http://a.test/": page(
            "Start", "A portal of many things. ", ("/stars", "Stars"), ("/food", "Food"),
            ("/old", "Old page"), ("/gone", "Gone"), ("http://b.test/moon", "The moon"),
        ),
        "http://a.test/stars": page("Stars", STARS, ("/planets", "Planets and moons")),
        "http://a.test/planets": page("Planets", STARS, ("/comets", "Comets")),
        "http://a.test/comets": page("Comets", STARS),
        "http://a.test/food": page("Food", COOKING, ("/soup", "Soup"), ("/bread", "Bread")),
        "http://a.test/soup": page("Soup", COOKING),
        "http://a.test/bread": page("Bread", COOKING),
        "http://a.test/old": ("301 Moved", "Location: /new"),
        "http://a.test/new": page("New stars", STARS),
        "http://b.test/moon": page("Moon", STARS),
    }  # fmt: skip
    return write_web(tmp_path_factory.mktemp("web") / "web.warc.gz", pages)


def rows(runs, query):
    with sqlite3.connect(runs / "treasure.db") as database:
        return database.execute(query).fetchall()


def run(web, runs, *more, **settings):
    arguments = ("topic=astronomy", "seeds=http://a.test/", f"web={web}", "job=t", *more)
    return crawl(runs, *arguments, **settings)


def test_a_crawl_ends_when_everything_is_fetched(web, tmp_path):
    told = summary(run(web, tmp_path))
    assert told["stopped"] == "finished"
    assert told["on_topic"] == 5
    assert told["failed"] == 1
    stored = dict(rows(tmp_path, "select url, status from pages"))
    assert stored["http://a.test/gone"] == 404
    assert stored["http://a.test/old"] == 301
    assert len(stored) == 11
    kept = {url for (url,) in rows(tmp_path, "select url from pages where on_topic")}
    assert kept == {
        "http://a.test/stars", "http://a.test/planets", "http://a.test/comets",
        "http://a.test/new", "http://b.test/moon",
    }  # fmt: skip


def test_two_crawls_fetch_the_same_pages_in_the_same_order(web, tmp_path):
    orders = []
    for name in ("one", "two"):
        run(web, tmp_path / name)
        orders.append(rows(tmp_path / name, "select url, score from pages order by id"))
    assert orders[0] == orders[1]


def test_a_canonical_address_is_fetched_unless_it_is_the_same_spelt_otherwise(tmp_path):
    def named(url):
        return f'<head><link rel="canonical" href="{url}">'

    start = page("Start", STARS, ("/a/", "Stars"), ("/a/index.html", "Stars"), ("/b", "Comets"))
    web = write_web(
        tmp_path / "web.warc.gz",
        {
            "http://a.test/": start,
            "http://a.test/a/": page("A", STARS).replace("<head>", named("/a/index.html")),
            "http://a.test/a/index.html": page("A", STARS),
            "http://a.test/b": page("B", STARS, ("/c", "Moons")).replace("<head>", named("/c")),
            "http://a.test/c": page("C", STARS),
        },
    )
    run(web, tmp_path, "max_pages=2")
    again = run(web, tmp_path)
    assert "Job t goes on: 2 pages done" in again.stderr
    assert [url for (url,) in rows(tmp_path, "select url from pages order by id")] == [
        "http://a.test/", "http://a.test/a/", "http://a.test/b", "http://a.test/c",
    ]  # fmt: skip


def test_a_page_given_as_an_example_is_read_from_its_copy_and_not_counted(web, tmp_path):
    given = "examples=http://a.test/stars,http://a.test/planets"
    run(web, tmp_path, given, "max_pages=3")
    # The two examples follow as soon as they are met, and cost nothing.
    urls = [url for (url,) in rows(tmp_path, "select url from pages order by id")]
    assert urls[:3] == ["http://a.test/", "http://a.test/stars", "http://a.test/planets"]
    assert len(urls) == 5
    again = run(web, tmp_path, given, "max_pages=4")
    assert "Job t goes on: 3 pages done" in again.stderr
    assert len(rows(tmp_path, "select url from pages where status = 200")) == 6


def test_max_pages_is_the_total_of_a_job_that_goes_on(web, tmp_path):
    assert summary(run(web, tmp_path, "max_pages=4"))["stopped"] == "max_pages"
    assert len(rows(tmp_path, "select url from pages")) == 4
    again = run(web, tmp_path, "max_pages=4")
    assert "Job t goes on: 4 pages done" in again.stderr
    assert len(rows(tmp_path, "select url from pages")) == 4
    assert summary(run(web, tmp_path))["stopped"] == "finished"
    assert len(rows(tmp_path, "select url from pages")) == 11


def on_a_terminal(line, columns=120):
    """Run a crawl on a terminal of so many columns; return what it showed."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    with subprocess.Popen(line, cwd=ROOT, stderr=theirs) as crawling:
        os.close(theirs)
        shown = b""
        # The end of a terminal whose other side is closed is an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65_536):
                shown += part
    os.close(ours)
    assert crawling.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def test_on_a_terminal_a_line_lives_and_people_are_told_the_end(web, tmp_path):
    arguments = ("topic=astronomy", f"web={web}", "seeds=http://a.test/", "job=seen")
    text = on_a_terminal(command(tmp_path, *arguments))
    end = text[text.index("Spider closed") :]
    assert "astronomy: " in end
    assert "stopped because the frontier is empty" in end
    assert f"treasure search WORDS --job seen --runs-dir {tmp_path}" in end
    # No line of the log begins behind the live one.
    assert not re.search(r"waiting.*20\d\d-\d\d-\d\d", text.replace("\r", "\n"))


def test_the_live_line_fits_a_narrow_terminal(tmp_path):
    links = [(f"/{number}", "Stars") for number in range(4)]
    pages = {path: page("Stars", STARS) for path, _ in links}
    with Site({"/": page("Stars", STARS, *links), **pages}) as site:
        line = command(
            tmp_path, "topic=astronomy", f"seeds={site.url}/", "job=narrow",
            "allowed_networks=127.0.0.0/8", "host_delay_seconds=0.3",
            f"repository=sqlite:///{tmp_path}/elsewhere.db",
        )  # fmt: skip
        text = on_a_terminal(line, columns=30)
    live = [part for part in re.split(r"[\r\n]", text) if "narrow: " in part]
    assert live
    assert all(len(part.removeprefix("\x1b[K")) < 30 for part in live)
    where = f"--repository sqlite:///{tmp_path}/elsewhere.db --runs-dir {tmp_path}"
    assert f"treasure ui {where}\n" in text


def test_items_of_a_feed_are_the_pages_on_topic(web, tmp_path):
    feed = tmp_path / "items.jsonl"
    run(web, tmp_path, FEEDS=f'{{"{feed}": {{"format": "jsonlines"}}}}')
    lines = feed.read_text().splitlines()
    assert len(lines) == 5
    assert '"draft"' not in lines[0]
    assert '"relevance"' in lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["topic=astronomy"], "A crawl needs seeds"),
        (["seeds=http://a.test/"], "A crawl needs a topic"),
        (["topic=astronomy", "seeds=http://a.test/", "max_page=3"], "Did you mean 'max_pages'?"),
        (["topic=astronomy", "seeds=http://a.test/", "job=../up"], "The job name '../up' must be"),
        (["topic=astronomy", "seeds=http://a.test/", "strategy=bestfirst"], "'best-first'?"),
        (["topic=astronomy", "seeds=http://a.test/", "web=/dev/null"], "cannot be read"),
        (["topic=astronomy", "seeds=http://a.test/", "order=scrapy"], "-a strategy=breadth-first"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(tmp_path, arguments, message):
    done = crawl(tmp_path, *arguments, check=False)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_crawl_whose_seeds_do_not_answer_says_so_and_exits_with_1(web, tmp_path):
    done = crawl(
        tmp_path, "topic=astronomy", "seeds=http://a.test/no", f"web={web}", check=False
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == "treasure: the crawl stopped: none of the seeds could be fetched."


def test_a_job_that_goes_on_and_reads_no_page_more_has_had_its_seeds(web, tmp_path):
    run(web, tmp_path, "max_pages=1")
    empty = write_web(tmp_path / "empty.warc.gz", {"http://c.test/": page("Else", COOKING)})
    done = run(empty, tmp_path)
    assert summary(done)["failed"] == summary(done)["pages"] == 5
    assert summary(done)["stopped"] == "finished"


def test_a_chain_of_pages_is_followed_to_its_end(tmp_path):
    """One download at a time: whenever the engine looks, this one is still to bring a link."""
    with contextlib.ExitStack() as stack:
        sites = [stack.enter_context(Site({"/robots.txt": (404, {}, b"")})) for _ in range(12)]
        for n in range(300):
            there = f"{sites[(n + 1) % 12].url}/{n + 1}"
            words = " ".join(f"star{n}x{k}" for k in range(40))
            sites[n % 12].pages[f"/{n}"] = page(f"Stars {n}", f"{STARS}{words}. ", (there, "stars"))
        done = crawl(
            tmp_path, "topic=astronomy", f"seeds={sites[0].url}/0", "host_delay_seconds=0",
            "allowed_networks=127.0.0.0/8", "repository_batch_seconds=0.01", "main_text=later",
        )  # fmt: skip
    assert summary(done)["pages"] == 301  # the last link leads nowhere


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("repository=postgresql://u:s3cret@127.0.0.1:1/x", "Connection refused"),
        ("frontier=redis://:s3cret@127.0.0.1:1/0", "Redis does not take our call"),
    ],
)
def test_a_server_that_does_not_answer_yet_is_no_mistake(web, tmp_path, server, message):
    arguments = ("topic=astronomy", "seeds=http://a.test/", f"web={web}", server)
    done = crawl(tmp_path, *arguments, check=False)
    assert done.returncode == 1, done.stderr
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stderr


def test_a_job_keeps_its_topic(web, tmp_path):
    run(web, tmp_path, "max_pages=2")
    done = crawl(
        tmp_path, "topic=birds", "seeds=http://a.test/", f"web={web}", "job=t", check=False
    )
    assert done.returncode == 2, done.stderr
    assert "The job t is about 'astronomy', this crawl about 'birds'" in done.stderr


def test_a_misspelt_spider_is_no_traceback():
    line = [sys.executable, "-m", "scrapy", "crawl", "tresure"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "Did you mean 'treasure'? Known: refresh, treasure." in done.stderr
    assert "Traceback" not in done.stderr


def test_seeds_that_give_no_page_are_named(web, tmp_path):
    seeds = "seeds=http://a.test/,http://a.test/no,http://b.test/moon"
    done = run(web, tmp_path, seeds, "blocked=b.test")
    assert "The seed http://a.test/no gave no page: HTTP status 404." in done.stderr
    assert "The seed http://b.test/moon is not fetched: b.test is blocked." in done.stderr
    assert not rows(tmp_path, "select 1 from pages where host = 'b.test'")


def test_a_host_budget_holds_for_links_that_wait_and_after_a_restart(web, tmp_path):
    run(web, tmp_path, "max_pages_per_host=3", "max_pages=3")
    run(web, tmp_path, "max_pages_per_host=3")
    hosts = dict(
        rows(tmp_path, "select host, count(*) from pages where status = 200 group by host")
    )
    assert hosts == {"a.test": 3, "b.test": 1}
