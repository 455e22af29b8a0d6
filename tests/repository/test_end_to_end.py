"""From a crawl to search, export, and a crawl of what was exported."""

from __future__ import annotations

from pathlib import Path

from tests.crawl.crawling import crawl, summary, write_web
from treasure.cli import main
from treasure.repository.export import Selection, read
from treasure.repository.search import search
from treasure.repository.store import Store

STARS = (
    "The telescope shows stars, planets and galaxies. Astronomers measure the orbit of a comet "
    "around the sun, and the light of a distant supernova in the constellation of Orion. "
)
SUBJECTS = ("Comets", "Planets", "Moons", "Nebulae")


def page(subject: str, *links: str) -> str:
    anchors = "".join(f'<p>{STARS}<a href="{url}">{url[1:]}</a></p>' for url in links)
    own = f"{subject} are the subject here, and {subject.lower()} alone, on a page of its own. "
    return (
        f"<html lang=en><head><title>{subject}</title></head>"
        f"<body><h1>{subject}</h1><p>{(own + STARS) * 3}</p>{anchors}</body></html>"
    )


def test_crawl_search_export_and_crawl_again(tmp_path: Path) -> None:
    pages: dict[str, str | tuple[str, str]] = {
        f"http://a.test/{subject}": page(subject) for subject in SUBJECTS
    }
    pages["http://a.test/copy"] = str(pages["http://a.test/Comets"])
    pages["http://a.test/"] = page("Astronomy", "/copy", *(f"/{subject}" for subject in SUBJECTS))
    web = write_web(tmp_path / "web.warc.gz", pages)
    first, again = tmp_path / "first", tmp_path / "again"
    asked = ("topic=astronomy", "seeds=http://a.test/", "job=stars")
    told = summary(crawl(first, *asked, f"web={web}"))
    assert told["on_topic"] == 6

    store = Store.open(f"sqlite:///{first / 'treasure.db'}")
    answer = search(store, "title:comets")
    assert answer.unfinished == 0, "the helper did not finish what the crawl stored"
    assert answer.total == 1
    assert answer.hits[0].duplicates == 1
    (link,) = store.backlinks("http://a.test/Moons")
    assert (link.url, link.anchor) == ("http://a.test/", "Moons")

    archive = str(tmp_path / "export.warc.gz")
    assert main(["export", "--repository", str(first / "treasure.db"), archive]) == 0
    retold = summary(crawl(again, *asked, f"web={archive}"))
    assert retold["on_topic"] == 6
    other = Store.open(f"sqlite:///{again / 'treasure.db'}")

    def known(one: Store) -> list[tuple[str, float, str]]:
        rows = read(one, Selection(everything=True))
        return sorted((row["url"], row["relevance"], row["text"]) for row in rows)

    assert known(other) == known(store)
    store.close()
    other.close()
