"""A network that is gone pauses the crawl; dead hosts do not."""

from treasure.network import FAILURES, PATIENCE_SECONDS, PROBE_SECONDS, NetworkWatch


def lose(watch, hosts, now=100.0):
    """Let all *hosts* fail until a pause begins; return whether one did."""
    return any(watch.failed(host, now) for _ in range(FAILURES) for host in hosts)


def test_hosts_that_answered_before_and_fail_together_are_a_lost_network():
    watch = NetworkWatch()
    for host in "abc":
        watch.answered(host)
    assert lose(watch, "abc")
    assert watch.excuses(100.0)
    assert watch.opens_at(100.0) == 100.0 + PROBE_SECONDS


def test_one_dead_host_among_others_is_none():
    watch = NetworkWatch()
    for host in "abc":
        watch.answered(host)
    assert not lose(watch, "a")
    assert watch.opens_at(100.0) == 100.0


def test_hosts_that_never_answered_prove_nothing():
    watch = NetworkWatch()
    assert not lose(watch, "xyz")
    watch.answered("a")
    assert not lose(watch, "xyz")


def test_a_crawl_of_one_site_waits_for_it():
    watch = NetworkWatch()
    watch.answered("a")
    assert lose(watch, "a")


def test_an_answer_in_between_begins_the_count_anew():
    watch = NetworkWatch()
    for host in "abc":
        watch.answered(host)
    for _ in range(10):
        assert not watch.failed("a", 1.0)
        assert not watch.failed("b", 1.0)
        assert not watch.answered("c")


def test_one_link_is_tried_at_a_time_until_one_answers():
    watch = NetworkWatch()
    watch.answered("a")
    assert watch.in_a_row(99.0)
    assert lose(watch, "a", 100.0)
    assert not watch.in_a_row(106.0)
    watch.taken(106.0)
    assert watch.opens_at(106.0) == 106.0 + PROBE_SECONDS
    assert watch.answered("a")
    assert watch.opens_at(107.0) == 107.0
    assert not watch.excuses(107.0)


def test_patience_ends():
    watch = NetworkWatch()
    watch.answered("a")
    assert lose(watch, "a", 100.0)
    later = 100.0 + PATIENCE_SECONDS
    assert not watch.excuses(later)
    assert watch.opens_at(later) == later
