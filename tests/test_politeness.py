from __future__ import annotations

from pathlib import Path

import pytest

from treasure.host_clock import HostClock
from treasure.politeness import Manners, seconds_of

NOW = 1_800_000_000.0


class Hosts:
    def __init__(self) -> None:
        self.delays: dict[str, float] = {}
        self.holds: dict[str, float] = {}

    def set_delay(self, host: str, seconds: float) -> None:
        self.delays[host] = seconds

    def hold(self, host: str, seconds: float) -> None:
        self.holds[host] = seconds


def manners(hosts: Hosts, clock: HostClock | None = None) -> Manners:
    return Manners(hosts, delay=1.0, alone=True, max_hold=600, time=lambda: NOW, clock=clock)


def test_the_longest_wish_counts() -> None:
    hosts = Hosts()
    ours = manners(hosts)
    ours.wish("a.org", "crawl-delay", 5)
    ours.wish("a.org", "throttle", 3)
    assert hosts.delays == {"a.org": 5}
    ours.wish("a.org", "crawl-delay", 0)
    assert hosts.delays == {"a.org": 3}
    ours.wish("a.org", "throttle", 0.1)
    assert hosts.delays == {"a.org": 1}
    assert ours.delay("b.org") == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("", None),
        ("Fri, 99 Jan 2027", None),
        ("٣", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    assert seconds_of(value, NOW) == seconds


def test_too_many_requests_holds_the_host_longer_each_time() -> None:
    hosts = Hosts()
    ours = manners(hosts)
    assert [ours.answered("a.org", 429, "") for _ in range(3)] == [30, 60, 120]
    assert hosts.holds["a.org"] == 120
    ours.answered("a.org", 200, "")
    assert ours.answered("a.org", 429, "") == 30


def test_retry_after_is_followed_up_to_a_limit(tmp_path: Path) -> None:
    hosts, clock = Hosts(), HostClock(tmp_path / "hosts")
    ours = manners(hosts, clock)
    assert ours.answered("a.org", 503, "77") == 77
    assert clock.enter("a.org", 1, NOW) == 77
    assert ours.answered("b.org", 429, "999999") == 600
    assert ours.answered("c.org", 503, "") == 0
    assert ours.answered("d.org", 200, "50") == 0
    assert set(hosts.holds) == {"a.org", "b.org"}


def test_other_jobs_are_waited_for(tmp_path: Path) -> None:
    one = manners(Hosts(), HostClock(tmp_path / "hosts"))
    two = manners(Hosts(), HostClock(tmp_path / "hosts"))
    assert one.enter("a.org") == 0
    assert two.enter("a.org") > 0
    one.leave("a.org")
    assert two.enter("a.org") == 1
