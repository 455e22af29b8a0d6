"""No way in: private addresses are refused where names are resolved and where we connect."""

import asyncio
import os
import sqlite3
import subprocess

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.resolver import dnscache
from scrapy.utils.test import get_crawler

from tests.crawl.crawling import ROOT, command
from tests.crawl.sites import Site
from treasure.addresses import ForbiddenAddressError
from treasure.middlewares import address_guard
from treasure.middlewares.address_guard import AddressGuardMiddleware

PUBLIC, PRIVATE = "93.184.216.34", "192.168.1.1"


@pytest.fixture
def names(monkeypatch):
    """What the name service says, by host; each list is one answer."""
    answers: dict[str, list[str]] = {}

    def look_up(host):
        if host not in answers:
            raise OSError("no such name")
        return answers[host]

    monkeypatch.setattr(address_guard, "addresses_of", look_up)
    monkeypatch.setattr(address_guard, "getproxies", dict)
    dnscache.limit = 100
    yield answers
    dnscache.clear()


def guard(**settings):
    return AddressGuardMiddleware.from_crawler(get_crawler(settings_dict=settings))


def ask(middleware, url):
    asyncio.run(middleware.process_request(Request(url)))


def test_a_public_host_passes_and_its_address_is_kept(names):
    names["a.test"] = [PUBLIC]
    ask(guard(), "http://a.test/")
    assert dnscache["a.test"] == PUBLIC


def test_all_addresses_are_kept_ipv4_first(names):
    names["a.test"] = ["2606:2800:220:1::1", PUBLIC, "93.184.216.35", PUBLIC]
    assert asyncio.run(guard().addresses("a.test")) == [
        PUBLIC, "93.184.216.35", "2606:2800:220:1::1",
    ]  # fmt: skip
    assert dnscache["a.test"] == PUBLIC


@pytest.mark.parametrize("answer", [[PRIVATE], [PUBLIC, PRIVATE], ["::1"], ["169.254.169.254"]])
def test_one_private_address_is_enough_to_refuse(names, answer):
    names["a.test"] = answer
    middleware = guard()
    with pytest.raises(IgnoreRequest, match="no public address"):
        ask(middleware, "http://a.test/")
    assert "a.test" not in dnscache
    assert middleware.crawler.stats.get_value("treasure/refused/address") == 1


def test_an_allowed_network_is_let_through(names):
    names["a.test"] = [PRIVATE]
    ask(guard(TREASURE_ALLOWED_NETWORKS="192.168.0.0/16"), "http://a.test/")
    assert dnscache["a.test"] == PRIVATE


def test_a_name_without_address_is_a_failure(names):
    with pytest.raises(CannotResolveHostError):
        ask(guard(), "http://nowhere.test/")


def test_behind_a_proxy_names_are_the_proxys_business(names, monkeypatch):
    names["proxy.local"] = [PRIVATE]
    monkeypatch.setattr(address_guard, "getproxies", lambda: {"https": "http://proxy.local:3128"})
    middleware, reactor = guard(), FakeReactor()
    monkeypatch.setattr(address_guard, "_reactor", lambda: reactor)
    middleware._guard_connections()
    ask(middleware, "http://only-the-proxy-knows.test/")
    reactor.connectTCP("proxy.local", 3128)
    reactor.connectTCP(PRIVATE, 3128)
    with pytest.raises(ForbiddenAddressError):
        reactor.connectTCP("10.0.0.1", 80)


def test_the_host_of_a_proxy_is_as_private_as_any(names, monkeypatch):
    names["proxy.local"] = [PRIVATE]
    monkeypatch.setattr(address_guard, "getproxies", lambda: {"http": "http://proxy.local:3128"})
    middleware = guard()
    monkeypatch.setattr(address_guard, "_reactor", FakeReactor)
    middleware._guard_connections()
    with pytest.raises(IgnoreRequest, match="no public address"):
        ask(middleware, "http://proxy.local/internal")
    with pytest.raises(ForbiddenAddressError):
        asyncio.run(middleware.addresses("proxy.local"))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.test/", "data:,x", "s3://a/b"])
def test_other_schemes_are_not_fetched(names, url):
    with pytest.raises(IgnoreRequest, match="is not fetched"):
        ask(guard(), url)


class FakeReactor:
    """Remembers what was connected to."""

    def __init__(self):
        self.connected = []

    def connectTCP(self, host, port, *rest):  # noqa: N802, Twisted's name
        self.connected.append((host, port))


def test_every_connection_is_checked_by_its_address(names, monkeypatch):
    middleware, reactor = guard(), FakeReactor()
    monkeypatch.setattr(address_guard, "_reactor", lambda: reactor)
    middleware._guard_connections()
    reactor.connectTCP(PUBLIC, 80)
    for address in (PRIVATE, "127.0.0.1", "::1", "a.name"):
        with pytest.raises(ForbiddenAddressError):
            reactor.connectTCP(address, 80)
    assert reactor.connected == [(PUBLIC, 80)]
    middleware._unguard_connections()
    reactor.connectTCP(PRIVATE, 80)


REBINDING = """
import socket
_real, _asked = socket.getaddrinfo, []
def _flips(host, *args, **kwargs):
    if host == "rebind.test":
        _asked.append(host)
        host = "127.0.0.2" if len(_asked) == 1 else "127.0.0.1"
    return _real(host, *args, **kwargs)
socket.getaddrinfo = _flips
socket.gethostbyname = lambda host: _flips(host, None)[0][4][0]
"""


@pytest.mark.parametrize("kept", [True, False], ids=["Scrapy keeps addresses", "it does not"])
def test_a_name_that_changes_its_mind_gains_nothing(tmp_path, kept):
    """A real crawl: the first answer is an allowed address, all later ones are not."""
    (tmp_path / "sitecustomize.py").write_text(REBINDING)
    with Site({"/": "<p>secret", "/robots.txt": (404, {}, b"")}) as inside:
        port = inside.url.rpartition(":")[2]
        line = command(
            tmp_path / "runs", "topic=astronomy", f"seeds=http://rebind.test:{port}/", "job=r",
            "allowed_networks=127.0.0.2", "retry_times=0", "contact=test@example.org",
            ROBOTSTXT_OBEY=False, DNSCACHE_ENABLED=kept,
        )  # fmt: skip
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            line, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, timeout=200, check=False,
            capture_output=True,
        )  # fmt: skip
        assert inside.visits == []
    with sqlite3.connect(tmp_path / "runs" / "treasure.db") as database:
        ((failure,),) = database.execute("select failure from pages").fetchall()
    assert "refused" in failure  # nobody listens at the address that was kept
