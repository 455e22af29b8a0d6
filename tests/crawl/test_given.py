"""Example pages on a live server are asked for once, before the crawl."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.crawl.crawling import crawl
from tests.crawl.sites import Site

STARS = (
    "The telescope shows stars, planets and galaxies. Astronomers measure the orbit of a comet "
    "around the sun, and the light of a distant supernova in the constellation of Orion. "
)


def page(title: str, *links: str) -> str:
    anchors = "".join(f'<p>{STARS}<a href="{link}">stars</a></p>' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{STARS * 3}</p>{anchors}"


def test_an_example_is_downloaded_once_and_its_links_are_followed(tmp_path: Path) -> None:
    site = Site({"/": page("Start", "/étoile"), "/%C3%A9toile": page("Étoile", "/behind")})
    site.pages["/behind"] = page("Behind")
    with site:
        example = f"examples={site.url}/%C3%A9toile"
        networks = "allowed_networks=127.0.0.0/8"
        seeds = f"seeds={site.url}/"
        arguments = ("topic=astronomy", seeds, example, networks, "contact=us@example.org", "job=j")
        crawl(tmp_path, *arguments, "host_delay_seconds=0.1")
    assert site.paths.count("/%C3%A9toile") == 1
    assert "us@example.org" in site.visits[0].agent
    assert "/behind" in site.paths
    with sqlite3.connect(tmp_path / "treasure.db") as database:
        rows = database.execute("select title, status, on_topic from pages order by id").fetchall()
    assert rows == [("Start", 200, 1), ("Étoile", 200, 1), ("Behind", 200, 1)]
