"""A small labelled web: a bird site with a far island of bird pages, and much else.

City pages link each other; one leads to the birds' home page. A second cluster of bird pages can
only be reached through three pages that have nothing of birds.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.crawl.crawling import write_web

BIRD = "owl heron finch sparrow eagle plumage nest eggs wings feather song migration beak".split()
CITY = "street tram council market harbour bridge mayor tax museum factory station square".split()
HOST = "http://small.test"


def _page(title: str, words: list[str], links: list[tuple[str, str]], seed: int) -> str:
    draw = random.Random(seed)
    text = " ".join(f"the {draw.choice(words)} and the {draw.choice(words)}." for _ in range(25))
    items = "".join(f'<li><a href="{url}">{name}</a></li>' for url, name in links)
    return (
        f"<html lang=en><title>{title}</title><body><h1>{title}</h1><p>{text}</p>"
        f"<ul>{items}</ul></body></html>"
    )


def _bird(n: int) -> tuple[str, str]:
    return f"{HOST}/bird/{n}.html", f"{BIRD[n % len(BIRD)]} species {n}"


def _city(n: int) -> tuple[str, str]:
    return f"{HOST}/city/{n}.html", f"{CITY[n % len(CITY)]} of town {n}"


def _dead(n: int) -> tuple[str, str]:
    return f"{HOST}/pictures/{n}.jpg.html", f"picture of an {BIRD[n % len(BIRD)]}"


def pages(birds: int = 30, cities: int = 60, island: int = 12) -> dict[str, str | tuple[str, str]]:
    """Return the pages by URL; bird numbers from *birds* on are the island."""
    draw = random.Random(7)
    web: dict[str, str | tuple[str, str]] = {}
    for n in range(cities):
        links = [_city(draw.randrange(cities)) for _ in range(6)]
        if n == 3:
            links.append(_bird(0))
        if n == 40:
            links.append((f"{HOST}/bridge/1.html", "ferry timetable"))
        web[_city(n)[0]] = _page(_city(n)[1], CITY, links, n)
    for n in range(birds):
        links = [_bird(draw.randrange(birds)) for _ in range(5)] + [_city(draw.randrange(cities))]
        links.append(_dead(n))
        web[_bird(n)[0]] = _page(_bird(n)[1], BIRD, links, 1000 + n)
    for n in range(1, 4):
        ahead = (f"{HOST}/bridge/{n + 1}.html", f"ferry part {n + 1}") if n < 3 else _bird(birds)
        web[f"{HOST}/bridge/{n}.html"] = _page(f"ferry {n}", CITY, [ahead], 2000 + n)
    for n in range(birds, birds + island):
        links = [_bird(birds + draw.randrange(island)) for _ in range(4)]
        links.append(_bird(birds + (n + 1 - birds) % island))
        web[_bird(n)[0]] = _page(_bird(n)[1], BIRD, links, 3000 + n)
    web[f"{HOST}/old-home.html"] = ("301 Moved", f"Location: {_city(0)[0]}")
    return web


def write(folder: Path) -> tuple[Path, Path]:
    """Write the web and its topics into *folder*; return both files."""
    everything = pages()
    targets = [url for url in everything if "/bird/" in url]
    topics = [
        {
            "name": "birds",
            "ddc": "598",
            "description": "Birds: their plumage, nests, eggs and song.",
            "seeds": [f"{HOST}/old-home.html", _city(1)[0]],
            "on_topic_seeds": [_bird(0)[0]],
            "targets": targets,
        },
        {"name": "nothing", "ddc": "", "description": "", "seeds": [_city(0)[0]], "targets": []},
        {"name": "lost", "seeds": ["http://elsewhere.test/"], "targets": targets},
    ]
    file = folder / "topics.json"
    file.write_text(json.dumps(topics))
    return write_web(folder / "web.warc.gz", everything), file
