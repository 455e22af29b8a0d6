"""The demo web is the same every time, and as hard as it says."""

from __future__ import annotations

import hashlib
from collections import Counter, deque

import pytest
from warcio.archiveiterator import ArchiveIterator

from treasure.evaluation.demo_sentences import Prose, read_subjects, titles
from treasure.evaluation.demo_web import FARMS, SEEDS, DemoWeb, ensure_demo_web
from treasure.evaluation.web_writer import WEB, http_bytes
from treasure.urls import canonical, host_of

# Changes whenever a sentence or a link of the demo web does; then say so in the change log.
DIGEST = "4f96428b07e8ecb8e6d493fb3d7b8dd2e1b24e839e43070981e86b44d119e427"


@pytest.fixture(scope="module")
def pages(demo_web):
    """Every page with its links, read once."""
    found = {}
    for url in demo_web.urls():
        response = demo_web.get(url)
        if response.status == 200 and response.header("content-type").startswith("text/html"):
            found[url] = demo_web.page(url)
    return found


def reached(web, pages, starts, through=None):
    """Return the pages that can be reached from *starts* over pages in *through*."""
    seen, queue, found = set(starts), deque(starts), set()
    while queue:
        response = web.follow(queue.popleft())
        if response is None or response.url not in pages:
            continue
        found.add(response.url)
        if through is not None and response.url not in through:
            continue
        for link in pages[response.url].links:
            if link.url not in seen:
                seen.add(link.url)
                queue.append(link.url)
    return found


def test_it_is_the_same_everywhere():
    digest = hashlib.sha256()
    for response in DemoWeb().responses():
        digest.update(http_bytes(response))
    assert digest.hexdigest() == DIGEST


def test_it_is_written_again_only_when_it_is_not_current(demo_folder, tmp_path):
    assert not ensure_demo_web(demo_folder)
    for name in (WEB, "topics.json", "web.fingerprint"):
        (tmp_path / name).write_text("of another version")
    assert ensure_demo_web(tmp_path)
    for name in (WEB, "topics.json", "web.fingerprint"):
        assert (tmp_path / name).read_bytes() == (demo_folder / name).read_bytes()


def test_other_tools_can_read_the_archive(demo_folder, demo_web):
    with (demo_folder / WEB).open("rb") as file:
        kinds = Counter(record.rec_type for record in ArchiveIterator(file, check_digests="raise"))
    assert kinds == {"warcinfo": 1, "response": len(demo_web)}


def test_it_is_as_large_as_announced(demo_web, pages, demo_topics):
    assert 2_600 < len(pages) < 3_200
    assert 38 <= len({host_of(url) for url in pages}) <= 44
    assert len(demo_topics) == 12
    assert all(host.endswith(".example") for host in {host_of(url) for url in demo_web.urls()})
    assert all(canonical(url) == url for url in demo_web.urls())


def test_labels_are_pages_and_topics_do_not_share_them(pages, demo_topics):
    labelled = [url for topic in demo_topics.values() for url in topic.targets]
    assert len(labelled) == len(set(labelled))
    assert set(labelled) <= set(pages)
    for topic in demo_topics.values():
        assert 100 < len(topic.targets) < 250
        assert set(topic.on_topic_seeds) <= topic.targets
        assert topic.targets.isdisjoint(topic.seeds)


def test_pages_have_text_enough_to_be_judged(pages, demo_topics):
    lengths = [len(pages[url].words) for topic in demo_topics.values() for url in topic.targets]
    articles = sorted(length for length in lengths if length > 150)
    assert len(articles) > 0.8 * len(lengths)
    assert articles[-1] < 700


def test_every_target_can_be_reached_but_islands_only_over_other_pages(
    demo_web, pages, demo_topics
):
    everything = reached(demo_web, pages, SEEDS)
    subjects = {subject.name.lower(): subject for subject in read_subjects().values()}
    for topic in demo_topics.values():
        assert topic.targets <= everything
        island = {url for url in topic.targets if url.startswith(subjects[topic.name].hosts[1])}
        outside = topic.targets - island
        assert len(island) > 30
        over_targets = reached(demo_web, pages, sorted(outside), through=topic.targets)
        assert island.isdisjoint(over_targets)
        nearer = {host_of(link.url) for url in outside for link in pages[url].links}
        assert host_of(subjects[topic.name].hosts[1]) not in nearer


def test_it_has_what_makes_crawling_hard(demo_web, pages):
    statuses = Counter(demo_web.get(url).status for url in demo_web.urls())
    assert statuses[301] > 100
    assert statuses[500] > 20
    dead = {link.url for page in pages.values() for link in page.links if link.url not in demo_web}
    assert len(dead) > 50
    assert sum("/events/" in url for url in pages) == 360
    assert sum(url.startswith(FARMS) for url in pages) > 80
    assert {page.language for page in pages.values()} >= {"en", "de", "fr"}
    for host in {url[: url.index("/", 8)] for url in pages}:
        robots = demo_web.get(f"{host}/robots.txt").body.decode()
        assert "Disallow: /private/" in robots
        assert demo_web.get(f"{host}/sitemap.xml").header("content-type") == "application/xml"
    assert demo_web.follow("http://nightsky.example/").url == "http://www.nightsky.example/"
    assert demo_web.follow("http://www.nightsky.example/loop") is None


def test_latin_1_pages_are_read(pages):
    umlauts = [page for url, page in pages.items() if "sternwarte" in url and "ü" in page.main_text]
    assert umlauts


def test_titles_do_not_repeat_and_sentences_vary():
    from random import Random

    for subject in read_subjects().values():
        found = [title for title, _ in titles(subject, Random(1))]
        assert len(found) == len(set(found))
    prose = Prose(read_subjects()["astronomy"], "Saturn", Random(1))
    sentences = [prose.sentence() for _ in range(60)]
    assert len(set(sentences)) == 60
    assert not any("{" in sentence for sentence in sentences)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences)
