"""One page from the live web, before any crawl runs."""

import pytest

from tests.crawl.sites import Site
from treasure.fetch import FetchError, fetch_page


def test_a_page_is_asked_of_the_proxy_of_the_environment(monkeypatch):
    monkeypatch.setenv("no_proxy", "near.invalid")
    with Site({"http://far.invalid/page?q=1": "<title>Stars</title>"}) as proxy:
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, proxy.url.replace("://", "://me:secret@"))
        assert fetch_page("http://far.invalid/page?q=1").title == "Stars"
        with pytest.raises(FetchError, match="Tunnel connection failed"):
            fetch_page("https://far.invalid/")
        with pytest.raises(FetchError, match="no public address"):
            fetch_page("http://127.0.0.1/")
        with pytest.raises(FetchError, match="Name or service not known"):
            fetch_page("http://near.invalid/")
        assert proxy.paths == ["http://far.invalid/page?q=1"]
