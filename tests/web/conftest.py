"""A repository that a real crawl filled, and the application on top of it."""

import json

import pytest
from fastapi.testclient import TestClient

from tests.crawl.crawling import crawl, write_web
from tests.crawl.test_crawl import COOKING, STARS, page
from tests.web.chromium import browser, tab  # noqa: F401
from tests.web.serving import serving
from treasure.repository.store import Store
from treasure.web.app import make_app

TOKEN = "the-token-of-the-tests"
TARGETS = ("stars", "comets", "unreachable", "lost")
EVIL = (
    "<script>document.title = 'pwned'; fetch('/api/jobs')</script>"
    "<img src=x onerror=\"document.title='pwned'\"><svg onload=\"document.title='pwned'\">"
    "<a href=\"javascript:document.title='pwned'\">telescope</a>"
)


COMETS = (
    "A comet of ice and dust grows a tail near perihelion. Halley's comet returns every 76 years; "
    "astronomers compute its orbit around the Sun and watch meteor showers with telescopes. "
)


@pytest.fixture(scope="session")
def crawled(tmp_path_factory):
    """Crawl a small web with a hostile page in it; return the runs folder."""
    folder = tmp_path_factory.mktemp("ui")
    portal = (("/stars", "Stars"), ("/food", "Food"))
    stars = (("/comets", "Comets"), ("/evil", "Meteors"))
    evil = f"<title>Evil {EVIL}</title><body><h1>Meteors</h1><p>{STARS * 3}{EVIL}</p>"
    pages = {
        "http://a.test/": page("Portal", "All kinds of things. ", *portal),
        "http://a.test/stars": page("Stars & <b>planets</b>", STARS, *stars),
        "http://a.test/comets": page("Comets", COMETS),
        "http://a.test/food": page("Food", COOKING),
        "http://a.test/evil": evil,
    }
    web = write_web(folder / "web.warc.gz", pages)
    truth = {"name": "astronomy", "seeds": [], "targets": [f"http://a.test/{p}" for p in TARGETS]}
    (folder / "topics.json").write_text(json.dumps([truth]))
    runs = folder / "runs"
    crawl(runs, "topic=astronomy", "seeds=http://a.test/", f"web={web}", "job=small")
    return runs


@pytest.fixture
def store(crawled):
    store = Store.open(f"sqlite:///{crawled / 'treasure.db'}")
    yield store
    store.close()


@pytest.fixture
def client(store, crawled):
    app = make_app(store, runs_dir=str(crawled), token=TOKEN, hosts=["testserver"])
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def served(store, crawled):
    """Serve the application on a free port; return its address."""
    app = make_app(store, runs_dir=str(crawled), token=TOKEN)
    with serving(app) as address:
        yield address
