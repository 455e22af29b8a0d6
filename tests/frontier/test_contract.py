"""One contract, three homes: whatever is called, each home answers as the model does."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.frontier.model import Model
from treasure.frontier import embedded
from treasure.frontier.base import Entry, Frontier, Policy
from treasure.frontier.embedded import EmbeddedFrontier
from treasure.frontier.memory import MemoryFrontier
from treasure.frontier.redis import RedisFrontier
from treasure.urls import url_key

# A failure is found again quickly with its seed; shrinking it on a disk takes minutes.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
HOMES = ["memory", "embedded", "redis"]
Opener = Callable[[], Frontier]
HASTY = Policy(delay=0.0, concurrency=1_000, ageing_fetches=0)


@contextmanager
def home(kind: str, policy: Policy, redis_url: str) -> Iterator[Opener]:
    """Give a function that opens the same frontier each time it is called."""
    if kind == "memory":
        yield lambda: MemoryFrontier(policy)
        return
    if kind == "embedded":
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # opening waits for disks
        folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=memory))
        with mock.patch.object(embedded, "BEHIND_ARRIVALS", 4):
            yield lambda: EmbeddedFrontier(folder, policy)
        shutil.rmtree(folder, ignore_errors=True)
        return
    job = f"contract-{uuid.uuid4().hex}"
    yield lambda: RedisFrontier(redis_url, job, policy)


@pytest.fixture(params=HOMES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_with(kind: str, redis_url: str) -> Iterator[Callable[[Policy], Frontier]]:
    """Give a function that opens a frontier with a policy; it is closed after the test."""
    contexts, opened = [], []

    def opener(policy: Policy) -> Frontier:
        context = home(kind, policy, redis_url)
        opened.append(context.__enter__()())
        contexts.append(context)
        return opened[-1]

    yield opener
    for frontier, context in zip(opened, contexts, strict=True):
        frontier.close()
        context.__exit__(None, None, None)


def link(name: str, score: float = 0.5, host: str = "a.org", **more: Any) -> Entry:
    return Entry(f"http://{host}/{name}", score, **more)


def drain(frontier: Frontier, now: float = 0.0) -> list[str]:
    """Take and finish everything; return the URLs in order."""
    urls = []
    while (at := frontier.next_time(now)) is not None:
        now = max(now, at)
        lease = frontier.take(now)
        assert lease is not None
        urls.append(lease.entry.url)
        frontier.landed(lease.key, now)
        frontier.acknowledge([lease.key])
    return urls


def test_a_link_comes_back_as_it_went_in(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    entry = link(
        "é",
        0.1 + 0.2,
        depth=3,
        referrer="http://b.org/",
        anchor="a \x00 link",
        context="ünicode",
        meta={"lastmod": "2026-01-01", "n": [1, 2.5, None, {"deep": True}]},
    )
    assert frontier.push([entry]) == [True]
    lease = frontier.take(0.0)
    assert lease is not None
    assert lease.entry == entry
    assert lease.key == url_key(entry.url)
    assert (lease.score, lease.ageing, lease.explored, lease.attempts) == (0.1 + 0.2, 0, False, 0)


def test_best_first_and_ties_by_arrival(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    frontier.push([link("a", 0.2), link("b", 0.9, "b.org"), link("c", 0.2, "c.org")])
    frontier.push([link("d", 0.9), link("e", 0.0), link("f", 0.2)])
    order = [f"http://{u}" for u in "b.org/b a.org/d a.org/a c.org/c a.org/f a.org/e".split()]
    assert [entry.url for entry in frontier.peek(10)] == order
    assert [entry.url for entry in frontier.peek(2)] == order[:2]
    assert drain(frontier) == order


def test_rubbish_scores_wait_at_the_end(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    frontier.push([link("nan", float("nan")), link("inf", float("inf")), link("low", 0.01)])
    assert drain(frontier)[0] == "http://a.org/low"


def test_a_slow_host_does_not_block_the_others(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(Policy(delay=10.0))
    frontier.push([link(f"{n}", 0.9, "slow.org") for n in range(50)])
    frontier.push([link("x", 0.1, f"{n}.org") for n in range(5)])
    first = frontier.take(0.0)
    assert first is not None
    assert first.passed_over == 0
    leases = [frontier.take(0.0) for _ in range(5)]
    assert {lease.entry.score for lease in leases if lease} == {0.1}
    assert [lease.passed_over for lease in leases if lease] == [1] * 5
    assert frontier.take(0.0) is None
    assert frontier.next_time(0.0) == float("inf")
    frontier.landed(first.key, 2.0)
    assert frontier.next_time(2.0) == 12.0
    assert frontier.take(11.9) is None
    assert frontier.take(12.0) is not None


def test_concurrency_and_delays(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(Policy(delay=1.0, concurrency=2))
    frontier.push([link(str(n)) for n in range(5)])
    one, none, two = frontier.take(0.0), frontier.take(0.5), frontier.take(1.0)
    assert none is None
    assert one is not None
    assert two is not None
    assert frontier.take(2.0) is None  # two are under way
    frontier.set_delay("a.org", 5.0)
    frontier.landed(one.key, 2.0)
    assert frontier.next_time(2.0) == 7.0
    frontier.hold("a.org", 100.0)
    assert frontier.next_time(7.0) == 100.0
    assert frontier.take(99.0) is None
    assert frontier.take(100.0) is not None


def test_low_scores_are_kept_until_a_budget_says_so(
    open_with: Callable[[Policy], Frontier],
) -> None:
    frontier = open_with(Policy(delay=0.0, concurrency=1_000, ageing_fetches=0, max_links=100))
    entries = [link(f"{n}", n / 1000, f"{n % 7}.org") for n in range(1_000)]
    for start in range(0, 1_000, 10):
        frontier.push(entries[start : start + 10])
        assert frontier.counts().queued <= 100
    assert frontier.counts().queued >= 80
    best = [entry.score for entry in frontier.peek(1_000)]
    assert best[:60] == [n / 1000 for n in range(999, 939, -1)]
    assert not frontier.seen(entries[0].url)


@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=30), steady=st.floats(0.5, 1))
@settings(max_examples=20)
@pytest.mark.parametrize("kind", ["memory", "embedded"])
def test_nobody_waits_for_ever(kind: str, scores: list[float], steady: float) -> None:
    """However good the links that keep coming: what waited for *ageing_fetches* goes first."""
    ageing = 50
    policy = Policy(delay=0.0, concurrency=1_000, ageing_fetches=ageing)
    with home(kind, policy, "") as opener:
        frontier = opener()
        frontier.push([link(str(n), score) for n, score in enumerate(scores)])
        taken = set()
        for step in range(ageing + len(scores) + 1):
            frontier.push([link("x", steady, f"{step}.org")])
            lease = frontier.take(0.0)
            assert lease is not None
            taken.add(lease.entry.url)
            frontier.acknowledge([lease.key])
        assert {f"http://a.org/{n}" for n in range(len(scores))} <= taken
        frontier.close()


def test_exploration_is_seeded_and_keeps_its_share(
    open_with: Callable[[Policy], Frontier],
) -> None:
    policy = Policy(delay=0.0, concurrency=10, ageing_fetches=0, exploration=0.3, random_seed=7)
    runs = []
    for _ in range(2):
        frontier = open_with(policy)
        frontier.push([link(str(n), (n % 89) / 89, f"{n % 10}.org") for n in range(400)])
        leases = []
        for _ in range(200):
            lease = frontier.take(0.0)
            assert lease is not None
            frontier.landed(lease.key, 0.0)
            frontier.acknowledge([lease.key])
            leases.append(lease)
        runs.append([lease.entry.url for lease in leases])
        drawn = [lease.score for lease in leases if lease.explored]
        assert 35 < len(drawn) < 85
        assert min(drawn) < 0.3 < 0.6 < max(drawn)
        greedy = [lease.score for lease in leases if not lease.explored]
        assert greedy == sorted(greedy, reverse=True)
    assert runs[0] == runs[1]


def test_discarded_links_are_forgotten(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    frontier.push([link(str(n), n / 10, f"{n % 3}.org") for n in range(9)])
    leased = frontier.take(0.0)
    assert leased is not None
    assert frontier.discard(lambda url: "2.org" in url) == 2  # 8 is leased
    assert frontier.counts().queued == 6
    assert not frontier.seen("http://2.org/2")
    assert frontier.push([link("2", 0.2, "2.org")]) == [True]


def test_requests_to_one_address_with_keys_of_their_own(
    open_with: Callable[[Policy], Frontier],
) -> None:
    frontier = open_with(HASTY)
    assert frontier.push([link("form"), link("form"), link("form")], [1, 2, 1]) == [
        True,
        True,
        False,
    ]
    assert drain(frontier) == ["http://a.org/form"] * 2
    assert frontier.push([link("form")]) == [True]
    assert frontier.push([link("form")], [2]) == [False]


def test_done_without_being_fetched(open_with: Callable[[Policy], Frontier]) -> None:
    """The target of a redirect, queued or not, is done with the page that led there."""
    frontier = open_with(HASTY)
    frontier.push([link("queued"), link("other", 0.1)])
    frontier.acknowledge([url_key("http://a.org/queued"), url_key("http://a.org/unheard-of")])
    assert frontier.push([link("queued"), link("unheard-of")]) == [False, False]
    assert drain(frontier) == ["http://a.org/other"]
    assert frontier.counts().done == 3


def test_no_more_links_than_pages_are_wanted(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(dataclasses.replace(HASTY, max_pages=5))
    frontier.push([link(str(n), n / 10) for n in range(9)])
    frontier.count_from(2)
    leases = [lease for n in range(5) if (lease := frontier.take(0.0, 5 - n))]
    assert (len(leases), frontier.pages) == (3, 5)
    frontier.release(leases[0].key)  # comes again
    frontier.uncount()  # and one was a redirect
    frontier.acknowledge([lease.key for lease in leases[1:]])
    again = [lease for n in range(5) if (lease := frontier.take(0.0, 5 - n))]
    assert (len(again), again[0].key, frontier.pages) == (2, leases[0].key, 5)
    assert frontier.counts().leased == 2


def test_hosts_by_size(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    frontier.push([link(str(n), 0.5, f"{'aab'[n % 3]}.org") for n in range(9)])
    assert frontier.hosts(5) == [("a.org", 6), ("b.org", 3)]
    assert frontier.hosts(1) == [("a.org", 6)]


def test_a_sample_is_of_the_links_that_wait(open_with: Callable[[Policy], Frontier]) -> None:
    frontier = open_with(HASTY)
    assert frontier.sample(5) == []
    frontier.push([link(str(n), n / 64) for n in range(64)])
    assert sorted(frontier.sample(100)) == [n / 64 for n in range(64)]
    frontier.acknowledge([url_key(f"http://a.org/{n}") for n in range(32)])
    few = frontier.sample(10)
    assert len(few) == len(set(few)) == 10
    assert min(few) >= 0.5
    frontier.rescore({url_key("http://a.org/40"): 2.0})
    assert max(frontier.sample(100)) == 2.0


URLS = [f"http://{host}.org/{name}" for host in "abc" for name in "12345"]
urls = st.sampled_from(URLS)
keys = urls.map(url_key)
# Few distinct scores, so that ties are common; binary fractions, so that sums are exact.
scores = st.sampled_from([0.0, 0.0625, 0.25, 0.5, 0.75, 1.0])


class FrontierMachine(RuleBasedStateMachine):
    """Calls a home and the model alike and compares what they answer."""

    kind = "memory"
    redis_url = ""
    policy = Policy(delay=1.0, concurrency=1, ageing_fetches=8)

    def __init__(self) -> None:
        super().__init__()
        self.context = home(self.kind, self.policy, self.redis_url)
        self.opener = self.context.__enter__()
        self.frontier = self.opener()
        self.model = Model(self.policy)
        self.now = 0.0
        self.leased: list[int] = []

    def teardown(self) -> None:
        self.frontier.close()
        self.context.__exit__(None, None, None)

    @rule(entries=st.lists(st.builds(Entry, urls, scores), max_size=6))
    def push(self, entries: list[Entry]) -> None:
        assert self.frontier.push(entries) == self.model.push(entries)

    @rule()
    def take(self) -> None:
        lease, expected = self.frontier.take(self.now), self.model.take(self.now)
        found = (lease.key, lease.score, lease.ageing, lease.attempts) if lease else None
        assert found == expected
        if lease:
            self.leased.append(lease.key)
            assert not lease.explored

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0, 3.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def wait_for_the_next(self) -> None:
        at, expected = self.frontier.next_time(self.now), self.model.next_time(self.now)
        assert at == expected
        if at is not None and at != float("inf"):
            self.now = max(self.now, at)

    @precondition(lambda self: self.leased)
    @rule(data=st.data())
    def land(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.leased))
        self.frontier.landed(key, self.now)
        self.model.landed(key, self.now)

    @precondition(lambda self: self.leased)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        done = data.draw(st.lists(st.sampled_from(self.leased), unique=True, min_size=1))
        self.frontier.acknowledge(done)
        self.model.acknowledge(done)
        self.leased = [key for key in self.leased if key not in done]

    @rule(done=st.lists(keys, max_size=2))
    def acknowledge_anything(self, done: list[int]) -> None:
        self.frontier.acknowledge(done)
        self.model.acknowledge(done)
        self.leased = [key for key in self.leased if key not in done]

    @precondition(lambda self: self.leased)
    @rule(data=st.data(), later=st.sampled_from([0.0, 0.5, 2.0]), tried=st.booleans())
    def release(self, data: st.DataObject, later: float, tried: bool) -> None:
        key = data.draw(st.sampled_from(self.leased))
        not_before = self.now + later if later else 0.0
        self.frontier.release(key, not_before=not_before, tried=tried)
        self.model.release(key, not_before, tried=tried)
        self.leased.remove(key)

    @rule(changes=st.dictionaries(keys, scores, max_size=5))
    def rescore(self, changes: dict[int, float]) -> None:
        self.frontier.rescore(changes)
        self.model.rescore(changes)

    @rule(host=st.sampled_from(["a.org", "b.org"]), seconds=st.sampled_from([0.5, 4.0]))
    def hold(self, host: str, seconds: float) -> None:
        self.frontier.hold(host, self.now + seconds)
        self.model.hold(host, self.now + seconds)

    @rule(host=st.sampled_from(["a.org", "c.org"]), seconds=st.sampled_from([0.0, 2.0]))
    def set_delay(self, host: str, seconds: float) -> None:
        self.frontier.set_delay(host, seconds)
        self.model.set_delay(host, seconds)

    @rule(host=st.sampled_from("ab"))
    def discard(self, host: str) -> None:
        def unwanted(url: str) -> bool:
            return url.startswith(f"http://{host}.org/1")

        assert self.frontier.discard(unwanted) == self.model.discard(unwanted)

    @rule()
    def peek(self) -> None:
        expected = [
            Entry(self.model.links[key].entry.url, self.model.links[key].score)
            for key in self.model.waiting()
        ]
        assert self.frontier.peek(4) == expected[:4]
        assert self.frontier.peek(100) == expected

    @rule()
    def sizes(self) -> None:
        assert dict(self.frontier.hosts(100)) == self.model.sizes()

    @precondition(lambda self: self.kind != "memory")
    @rule()
    def reopen(self) -> None:
        self.frontier.close()
        self.frontier = self.opener()
        self.model.reopen()
        self.leased = []

    @invariant()
    def counts_agree(self) -> None:
        assert self.frontier.counts() == self.model.counts()

    @invariant()
    def seen_agrees(self) -> None:
        for url in (URLS[0], URLS[7]):
            key = url_key(url)
            assert self.frontier.seen(url) == (key in self.model.links or key in self.model.done)


@pytest.mark.parametrize("concurrency", [1, 2])
def test_every_home_answers_as_the_model_does(kind: str, concurrency: int, redis_url: str) -> None:
    machine = type(
        f"{kind.title()}Machine",
        (FrontierMachine,),
        {
            "kind": kind,
            "redis_url": redis_url,
            "policy": Policy(delay=1.0, concurrency=concurrency, ageing_fetches=8),
        },
    )
    examples = {"memory": 150, "embedded": 25, "redis": 40}[kind]
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples, stateful_step_count=60, phases=PHASES),
    )
