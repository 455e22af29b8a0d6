from __future__ import annotations

from treasure import alerts
from treasure.alerts import Lookout


def kinds(lookout: Lookout) -> set[str]:
    return set(lookout.active)


def test_the_harvest_collapses_and_recovers() -> None:
    lookout = Lookout()
    pages = on_topic = 0
    for _ in range(300):
        pages, on_topic = pages + 2, on_topic + 1
        assert lookout.look(pages, on_topic, 1_000) == []
    raised = []
    for _ in range(250):
        pages += 1
        raised += lookout.look(pages, on_topic, 1_000)
    assert [alert.kind for alert in raised] == ["harvest"]
    assert "collapsed" in raised[0].text
    assert "block" in raised[0].advice
    for _ in range(250):
        pages, on_topic = pages + 1, on_topic + 1
        lookout.look(pages, on_topic, 1_000)
    assert not kinds(lookout)


def test_a_topic_that_was_always_rare_is_no_collapse() -> None:
    lookout = Lookout()
    for pages in range(0, 5_000, 10):
        assert lookout.look(pages, pages // 100, 1_000) == []


def test_a_host_turns_hostile() -> None:
    lookout = Lookout()
    for _ in range(alerts.HOSTILE_FAILURES - 1):
        lookout.landed("a.org", "HTTP status 403")
        lookout.landed("b.org", "timeout")
        lookout.landed("b.org", "")
    assert lookout.look(10, 5, 100) == []
    lookout.landed("a.org", "HTTP status 403")
    (alert,) = lookout.look(10, 5, 100)
    assert alert.kind == "host:a.org"
    assert "403" in alert.text
    assert lookout.look(11, 5, 100) == []
    assert kinds(lookout) == {"host:a.org"}
    lookout.landed("a.org", "")
    lookout.look(12, 5, 100)
    assert not kinds(lookout)


def test_the_frontier_runs_dry() -> None:
    lookout = Lookout()
    assert lookout.look(10, 5, 0) == []
    (alert,) = lookout.look(60, 5, 3)
    assert alert.kind == "frontier"
    assert "seeds" in alert.advice
    assert lookout.look(61, 5, 500) == []
    assert not kinds(lookout)
    assert lookout.look(62, 5, 2, paused=True) == []


def test_the_number_of_hosts_is_bounded() -> None:
    lookout = Lookout()
    for number in range(alerts.HOSTS + 50):
        lookout.landed(f"h{number}.org", "timeout")
    assert len(lookout._failures) == alerts.HOSTS
