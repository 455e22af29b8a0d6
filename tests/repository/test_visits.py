"""The database checker on a served site whose pages change."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, select, update

from tests.repository.conftest import links, record
from tests.repository.served import Site, html, served
from treasure.pages import Page, Verdict
from treasure.repository.finishing import finish_all
from treasure.repository.freshness import DAY_SECONDS, Policy
from treasure.repository.models import bodies, revisits, versions, visits
from treasure.repository.packing import decompress
from treasure.repository.search import search
from treasure.repository.store import Store
from treasure.repository.visits import Visit, Visits

STARS = "Red giants are stars that have left the main sequence. " * 4


@pytest.fixture
def site() -> Iterator[Site]:
    with served() as running:
        yield running


def no_judge(_: str) -> None:
    return None


def rows(store: Store, table: Table, page_id: int) -> list[Any]:
    """Return what *table* has of a page, oldest first."""
    query = select(table).where(table.c.page_id == page_id).order_by(table.c.id)
    with store.reading() as connection:
        return list(connection.execute(query))


def store_page(store: Store, site: Site, path: str, **values: object) -> int:
    """Store a page of the site as a crawl would."""
    _, headers, body = site.answer(path, None)
    page = record(site.base + path, html=body, headers=headers, text=STARS, **values)
    store.write([page])
    finish_all(store, method="blocks")
    return store.find(page.url)[0]


def look(
    store: Store, site: Site, now: float, judges: Callable[[str], object] = no_judge
) -> Counter[str]:
    """Look at every page, due or not."""
    with store.writing() as connection:
        connection.execute(update(revisits).values(due=0.0))
    visits = Visits(store, judges)  # type: ignore[arg-type]
    found = Counter(visits.looked(v, site.fetch(v, now)) for v in visits.due(now, 100))
    finish_all(store, method="blocks")
    return found


def test_an_unchanged_page_costs_a_line(store: Store, site: Site) -> None:
    site.pages["/"] = html(STARS)
    page_id = store_page(store, site, "/")
    assert look(store, site, 10.0) == {"unchanged": 1}
    assert site.asked == [("/", 304)]
    assert store.html(page_id) == html(STARS)


def test_a_changed_page_is_stored_and_its_old_version_kept(store: Store, site: Site) -> None:
    site.pages["/"] = html(STARS)
    page_id = store_page(store, site, "/", depth=3, links=links("https://a.example/"))
    site.pages["/"] = html("Now it is about white dwarfs. " * 5)
    now = time.time() + 10
    assert look(store, site, now) == {"changed": 1}
    page = store.page(page_id)
    assert page is not None
    assert (page["depth"], page["fetched_at"]) == (3, now)
    assert store.html(page_id) == site.pages["/"]
    assert search(store, "giants").total == 0
    assert search(store, "dwarf").total == 1
    (version,) = rows(store, versions, page_id)
    with store.reading() as connection:
        packed = connection.execute(select(bodies.c.html).where(bodies.c.id == version.body_id))
        assert decompress(packed.scalar_one()) == html(STARS)
    assert version.fetched_at < now
    assert store.backlinks("https://a.example/") == []


def test_markup_alone_is_no_change(store: Store, site: Site) -> None:
    site.pages["/"] = html(STARS, extra="visitor 1")
    page_id = store_page(store, site, "/")
    site.pages["/"] = html(STARS, extra="visitor 2")
    assert look(store, site, 10.0) == {"cosmetic": 1}
    assert look(store, site, 20.0) == {"unchanged": 1}, "the new ETag was not remembered"
    assert rows(store, versions, page_id) == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_dead_page_leaves_search_and_may_come_back(store: Store, site: Site, status: int) -> None:
    site.pages["/"] = html(STARS)
    page_id = store_page(store, site, "/")
    site.pages["/"] = (status, {}, b"gone")
    assert look(store, site, 10.0) == {"gone": 1}
    assert search(store, "giants").total == 0
    site.pages["/"] = html(STARS)
    assert look(store, site, 20.0) == {"changed": 1}
    assert search(store, "giants").total == 1
    assert [(v.time, v.status, v.outcome) for v in rows(store, visits, page_id)] == [
        (10.0, status, "gone"),
        (20.0, 200, "changed"),
    ]


def test_a_server_in_trouble_gets_three_chances(store: Store, site: Site) -> None:
    site.pages["/"] = html(STARS)
    store_page(store, site, "/")
    site.pages["/"] = (503, {}, b"later")
    assert look(store, site, 10.0) == look(store, site, 20.0) == {"failed": 1}
    assert search(store, "giants").total == 1
    assert look(store, site, 30.0) == {"gone": 1}
    assert search(store, "giants").total == 0


def test_a_copy_takes_the_place_of_the_dead(store: Store, site: Site) -> None:
    site.pages |= {"/1": html(STARS), "/2": html(STARS)}
    first = store_page(store, site, "/1")
    second = store_page(store, site, "/2")
    assert [hit.page_id for hit in search(store, "giants").hits] == [first]
    site.pages["/1"] = (404, {}, b"")
    assert look(store, site, 10.0) == {"gone": 1}
    assert [hit.page_id for hit in search(store, "giants").hits] == [second]
    with store.reading() as connection:
        assert len(connection.execute(select(revisits.c.page_id)).all()) == 2


def test_a_page_that_changed_its_topic_leaves_search(store: Store, site: Site) -> None:
    def judge(page: Page) -> Verdict:
        return Verdict(0.9 if "stars" in page.main_text else 0.1, "stars" in page.main_text)

    site.pages["/"] = html(STARS)
    page_id = store_page(store, site, "/")
    site.pages["/"] = html("This domain is for sale. " * 9)
    assert look(store, site, 10.0, lambda _: judge) == {"changed": 1}
    assert search(store, "sale").total == search(store, "giants").total == 0
    assert store.page(page_id)["on_topic"] is False  # type: ignore[index]


def test_what_promises_most_comes_first(lite: Store) -> None:
    urls = [f"https://a.example/{i}" for i in range(6)]
    lite.write(
        [
            record(u, relevance=i / 6, text=f"page {i} {u}", fetched_at=0.0)
            for i, u in enumerate(urls)
        ]
    )
    finish_all(lite, method="blocks")
    visits = Visits(lite, no_judge)
    assert visits.due(0.0, 10) == []
    soon = visits.due(30 * DAY_SECONDS, 3)
    assert [visit.url for visit in soon] == urls[:2:-1]
    assert visits.due(30 * DAY_SECONDS, 10, job="other") == []


# -- more changes per request than a uniform revisit

HOUR = 3_600.0
DAYS = 40
STEP = 6 * HOUR
REQUESTS_A_STEP = 4


class Clock:
    now = 0.0


def changing(site: Site, clock: Clock) -> list[str]:
    """Pages of three kinds: a few that change often, some that do seldom, many that never do."""
    paths = []
    for number in range(40):
        period = {0: 12 * HOUR, 1: 5 * DAY_SECONDS}.get(number % 4, 1e12)

        def body(number: int = number, period: float = period) -> bytes:
            edition = int((clock.now + 977 * number) // period)
            return html(f"Page {number}, edition {edition}, about giants and their stars. " * 3)

        paths.append(f"/{number}")
        site.pages[paths[-1]] = body
    return paths


def changes_per_request(
    folder: Path, site: Site, choose: Callable[[Visits, float], list[Visit]]
) -> tuple[int, int]:
    """Return changes found and requests made in DAYS, with *choose* picking the pages."""
    clock = Clock()
    paths = changing(site, clock)
    store = Store.open(f"sqlite:///{folder / choose.__name__}.db")
    for path in paths:
        _, headers, body = site.answer(path, None)
        store.write(
            [record(site.base + path, html=body, headers=headers, fetched_at=0.0, text=path)]
        )
    finish_all(store, method="blocks")
    with store.writing() as connection:
        connection.execute(update(revisits).values(due=DAY_SECONDS, interval=DAY_SECONDS))
    visits = Visits(store, no_judge, Policy(least_seconds=6 * HOUR))
    found: Counter[str] = Counter()
    while clock.now < DAYS * DAY_SECONDS:
        clock.now += STEP
        for visit in choose(visits, clock.now):
            found[visits.looked(visit, site.fetch(visit, clock.now))] += 1
    store.close()
    return found["changed"], found.total()


def adaptive(visits: Visits, now: float) -> list[Visit]:
    return visits.due(now, REQUESTS_A_STEP)


def uniform(visits: Visits, now: float) -> list[Visit]:
    with visits.store.writing() as connection:
        connection.execute(update(revisits).values(due=0.0))
    waiting = visits.due(now, 1_000)
    return sorted(waiting, key=lambda v: v.history.checked_at)[:REQUESTS_A_STEP]


def test_more_changes_per_request_than_a_uniform_revisit(
    tmp_path: Path, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, asked = changes_per_request(tmp_path, site, adaptive)
    theirs, uniformly = changes_per_request(tmp_path, site, uniform)
    with capsys.disabled():
        print(
            f"\nchanges found per request over {DAYS} days: adaptive {ours}/{asked} ="
            f" {ours / asked:.3f}, uniform {theirs}/{uniformly} = {theirs / uniformly:.3f}"
        )
    assert asked <= uniformly
    assert ours > theirs
    assert ours / asked > 1.3 * theirs / uniformly
