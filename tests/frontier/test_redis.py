"""The shared home: many workers, a dead one, a server that is full, gone or refuses."""

from __future__ import annotations

import dataclasses
import random
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from itertools import pairwise
from pathlib import Path

import pytest
import redis
from msgspec.structs import replace

from tests.servers import RedisServer, free_port
from treasure.config import TreasureConfig
from treasure.errors import ConfigError, FrontierUnavailable
from treasure.frontier import open_frontier, scripts
from treasure.frontier.base import Entry, Lease, Policy
from treasure.frontier.packing import pack
from treasure.frontier.redis import SILENT_SECONDS, RedisFrontier

FREE = Policy(delay=0.0, concurrency=100, ageing_fetches=0)


@pytest.fixture
def job() -> str:
    return f"test-{uuid.uuid4().hex}"


def links(count: int, hosts: int = 5) -> list[Entry]:
    return [Entry(f"http://{n % hosts}.org/{n}", (n * 37 % 100) / 100) for n in range(count)]


def test_a_hosts_delay_holds_for_the_fleet(redis_url: str, job: str) -> None:
    policy = Policy(delay=1.0)
    fleet = [RedisFrontier(redis_url, job, policy) for _ in range(4)]
    fleet[0].push(links(200, hosts=10))
    draw, now = random.Random(1), 0.0
    asked: dict[str, list[float]] = {}
    out: list[tuple[float, RedisFrontier, int]] = []
    seen: set[str] = set()
    while len(seen) < 200:
        for worker in draw.sample(fleet, 4):
            lease = worker.take(now)
            if lease is not None:
                assert lease.entry.url not in seen
                seen.add(lease.entry.url)
                asked.setdefault(lease.entry.url.split("/")[2], []).append(now)
                out.append((now + draw.random(), worker, lease.key))
        now += 0.05
        for _, worker, key in [o for o in out if o[0] <= now]:
            worker.landed(key, now)
            worker.acknowledge([key])
        out = [o for o in out if o[0] > now]
    gaps = [b - a for times in asked.values() for a, b in pairwise(times)]
    assert min(gaps) >= 1.0
    assert sum(len(times) for times in asked.values()) == 200
    for worker in fleet:
        worker.close()


def test_a_host_with_downloads_belongs_to_one_worker(redis_url: str, job: str) -> None:
    policy = Policy(delay=0.0, concurrency=2)
    one, two = RedisFrontier(redis_url, job, policy), RedisFrontier(redis_url, job, policy)
    one.push([Entry(f"http://a.org/{n}", 0.5) for n in range(5)])
    first = one.take(0.0)
    assert first is not None
    assert two.take(0.0) is None
    assert two.next_time(0.0) == 0.5  # to look whether the other is through
    assert one.next_time(0.0) == 0.0
    assert one.take(0.0) is not None
    assert one.take(0.0) is None
    one.close()
    assert two.take(0.0) is not None
    two.close()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(delay=1.5),
        Policy(delay=0.0, concurrency=2),
        dataclasses.replace(FREE, exploration=0.5),
    ],
    ids=["polite", "two at a time", "exploring"],
)
def test_in_a_row_or_one_by_one_the_same_links_are_taken(
    redis_url: str, job: str, policy: Policy
) -> None:
    def crawl(name: str, *, in_a_row: bool) -> list[tuple[float, Lease]]:
        worker = RedisFrontier(redis_url, name, policy)
        worker.push(links(60))
        taken: list[tuple[float, Lease]] = []
        now = 0.0
        while len(taken) < 60:
            now += 1.0
            wanted = [6 - n if in_a_row else 1 for n in range(6)]
            leases = [lease for n in wanted if (lease := worker.take(now, n)) is not None]
            taken += [(now, lease) for lease in leases]
            for lease in leases:
                worker.landed(lease.key, now)
        worker.close()
        return taken

    one_by_one = crawl(job, in_a_row=False)
    assert crawl(f"{job}-in-a-row", in_a_row=True) == one_by_one
    assert len({lease.key for _, lease in one_by_one}) == 60
    assert any(lease.explored for _, lease in one_by_one) == bool(policy.exploration)


def test_what_was_taken_in_a_row_and_is_not_asked_for_goes_back(redis_url: str, job: str) -> None:
    one, two = RedisFrontier(redis_url, job, FREE), RedisFrontier(redis_url, job, FREE)
    one.push(links(10))
    first = one.take(0.0, 4)
    assert first is not None
    assert two.counts().leased == 4
    one.acknowledge([first.key])
    one.close()
    found = two.counts()
    assert (found.queued, found.leased, found.done) == (9, 0, 1)
    again = [two.take(1.0) for _ in range(9)]
    assert [lease.attempts for lease in again if lease is not None] == [0] * 9
    two.close()


def test_workers_count_their_pages_together(redis_url: str, job: str) -> None:
    policy = dataclasses.replace(FREE, max_pages=5)
    one, two = RedisFrontier(redis_url, job, policy), RedisFrontier(redis_url, job, policy)
    one.push(links(10))
    one.count_from(1)
    two.count_from(0)
    assert (one.pages, two.pages) == (1, 1)
    assert one.take(0.0, 3) is not None
    assert one.pages == 2  # two more are ahead
    assert two.take(0.0, 3) is not None
    assert two.take(0.0, 2) is None
    assert two.pages == 5
    one.close()  # what it had goes back
    assert [two.take(0.0) is not None for _ in range(4)] == [True] * 3 + [False]
    two.close()


def test_a_dead_workers_links_come_back(redis_url: str, job: str) -> None:
    dead = RedisFrontier(redis_url, job, FREE, lease_seconds=0.3)
    dead.push(links(10, hosts=10))
    taken = {lease.entry.url for _ in range(4) if (lease := dead.take(0.0))}
    alive = RedisFrontier(redis_url, job, FREE, lease_seconds=0.3)
    rest = {lease.entry.url for _ in range(10) if (lease := alive.take(0.0))}
    assert len(taken) == 4
    assert len(rest) == 6
    deadline = time.monotonic() + 20
    back: dict[str, int] = {}
    while len(back) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
        lease = alive.take(0.0)
        if lease is not None:
            back[lease.entry.url] = lease.attempts
    assert back == dict.fromkeys(taken, 1)
    assert alive.workers() == [alive.worker]
    late = next(iter(taken))
    dead.acknowledge([])  # the dead one was only asleep: what it tells late does no harm
    dead.release(late_key := _key(late))
    assert alive.counts().leased == 10
    dead.acknowledge([late_key])
    assert alive.counts().leased == 9
    assert alive.counts().done == 1
    dead.close()
    alive.close()


def _key(url: str) -> int:
    from treasure.urls import url_key

    return url_key(url)


WORKER = """
    import sys, time
    from treasure.frontier.base import Policy
    from treasure.frontier.redis import RedisFrontier

    url, job = sys.argv[1:]
    frontier = RedisFrontier(url, job, Policy(delay=0.02), lease_seconds=1.0, clock=time.monotonic)
    print("open", flush=True)
    while frontier.counts().done < 300:
        lease = frontier.take(time.monotonic())
        if lease is None:
            time.sleep(0.005)
            continue
        print("fetched", lease.entry.url, time.time(), flush=True)
        time.sleep(0.002)
        frontier.landed(lease.key, time.monotonic())
        frontier.acknowledge([lease.key])
        print("done", lease.entry.url, flush=True)
    frontier.close()
"""


def test_worker_processes_one_killed_on_the_way(redis_url: str, job: str) -> None:
    frontier = RedisFrontier(redis_url, job, Policy(delay=0.02))
    frontier.push(links(300, hosts=12))
    command = [sys.executable, "-c", textwrap.dedent(WORKER), redis_url, job]
    fleet = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    lines: list[str] = []
    for worker in fleet:
        assert worker.stdout is not None
        lines.append(worker.stdout.readline())
    assert fleet[0].stdout is not None
    lines += [fleet[0].stdout.readline() for _ in range(20)]
    fleet[0].send_signal(signal.SIGKILL)
    for worker in fleet:
        assert worker.stdout is not None
        lines += worker.stdout.read().splitlines()
        worker.wait()
        worker.stdout.close()
    fetched = [line.split()[1:] for line in lines if line.startswith("fetched")]
    urls = [url for url, _ in fetched]
    done = [line.split()[1] for line in lines if line.startswith("done")]
    assert set(urls) == {entry.url for entry in links(300, hosts=12)}
    twice = {url for url in urls if urls.count(url) > 1}
    assert len(twice) <= 1  # only what was in flight in the one that was killed
    assert len(done) >= 299
    times: dict[str, list[float]] = {}
    for url, at in fetched:
        times.setdefault(url.split("/")[2], []).append(float(at))
    gaps = [b - a for t in times.values() for a, b in pairwise(sorted(t))]
    assert min(gaps) >= 0.02 - 0.005  # the clocks of two processes, read after the call
    counts = frontier.counts()
    assert (counts.queued, counts.leased, counts.done) == (0, 0, 300)
    frontier.close()


def test_what_one_learns_reaches_the_others(redis_url: str, job: str) -> None:
    one, two = RedisFrontier(redis_url, job), RedisFrontier(redis_url, job)
    assert two.shared(0) == (0, {})
    one.share("tgraph", b"\x00first")
    one.share("tgraph", b"second")
    one.share("pause", b"1")
    version, news = two.shared(0)
    assert news == {"tgraph": b"second", "pause": b"1"}
    assert two.shared(version) == (version, {})
    two.share("pause", b"")
    assert two.shared(version)[1] == {"pause": b""}
    late = RedisFrontier(redis_url, job)
    assert late.shared(0)[1] == {"tgraph": b"second", "pause": b""}
    for worker in (one, two, late):
        worker.close()


def test_what_was_said_is_not_said_again(
    redis_url: str, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = RedisFrontier(redis_url, job, FREE), RedisFrontier(redis_url, job, FREE)
    said: list[str] = []
    call = one._call

    def listening(script: str, *arguments: object) -> object:
        said.append(script)
        return call(script, *arguments)

    monkeypatch.setattr(one, "_call", listening)

    def pushed(*entries: Entry) -> tuple[list[bool], bool]:
        said.clear()
        return one.push(entries), scripts.PUSH in said

    a, b = Entry("http://a.org/", 0.2), Entry("http://b.org/", 0.9)
    assert pushed(a, b) == ([True, True], True)
    assert pushed(a, b) == ([False, False], False)
    assert pushed(replace(a, score=0.3)) == ([False], True)
    assert pushed(a, replace(a, score=0.3)) == ([False, False], True)
    one.rescore({_key(a.url): 0.1})
    assert pushed(replace(a, score=0.3)) == ([False], True)
    assert [entry.score for entry in one.peek(2)] == [0.9, 0.3]

    lease = one.take(0.0)  # what is said of a link that is out counts for nothing
    assert lease is not None
    assert pushed(replace(b, score=0.5)) == ([False], True)
    one.release(lease.key)
    assert pushed(replace(b, score=0.5)) == ([False], True)
    assert pushed(replace(b, score=0.5)) == ([False], False)
    assert [entry.score for entry in one.peek(2)] == [0.5, 0.3]

    lease = one.take(0.0)
    assert lease is not None
    one.acknowledge([lease.key])
    assert pushed(replace(b, score=0.7)) == ([False], False)

    assert other.discard(lambda url: "a.org" in url) == 1  # and we hear of it with the next link
    assert pushed(Entry("http://c.org/", 0.1)) == ([True], True)
    assert pushed(replace(a, score=0.3)) == ([True], True)
    one.close()
    other.close()


def test_a_link_with_another_score_is_told_by_its_key(
    redis_url: str, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = RedisFrontier(redis_url, job, FREE), RedisFrontier(redis_url, job, FREE)
    packed: list[str] = []
    monkeypatch.setattr(
        "treasure.frontier.redis.pack", lambda entry: packed.append(entry.url) or pack(entry)
    )
    a, b, c = (Entry(f"http://{name}.org/", 0.2, context="words") for name in "abc")
    assert one.push([a, b]) == [True, True]
    assert one.push([replace(a, score=0.8), c, replace(b, score=0.1)]) == [False, True, False]
    assert packed == [a.url, b.url, c.url]
    assert one.peek(3) == [replace(a, score=0.8), c, replace(b, score=0.1)]

    assert other.discard(lambda url: "c.org" not in url) == 2  # the server has no words of them
    packed.clear()
    moved = [replace(b, score=0.4), replace(c, score=0.5), replace(a, score=0.6)]
    assert one.push(moved) == [True, False, True]
    assert packed == [b.url, a.url]
    assert one.peek(3) == [moved[2], moved[1], moved[0]]
    one.close()
    other.close()


def test_clocks_that_disagree(redis_url: str, job: str) -> None:
    """Workers give times of their own clocks; the server's is what counts."""
    start = time.monotonic()
    one = RedisFrontier(
        redis_url, job, Policy(delay=30.0), clock=lambda: time.monotonic() - start + 5_000
    )
    two = RedisFrontier(
        redis_url, job, Policy(delay=30.0), clock=lambda: time.monotonic() - start - 7
    )
    one.push([Entry("http://a.org/1", 0.9), Entry("http://a.org/2", 0.8)])
    lease = one.take(5_000.0)
    assert lease is not None
    one.landed(lease.key, 5_000.0)
    one.acknowledge([lease.key])
    assert one.next_time(5_000.0) == pytest.approx(5_030, abs=2)
    assert two.next_time(-7.0) == pytest.approx(23, abs=2)
    assert two.take(15.0) is None
    assert two.take(25.5) is not None
    one.close()
    two.close()


def test_server_killed_and_back(own_redis_server: RedisServer) -> None:
    frontier = RedisFrontier(own_redis_server.url, "job", FREE)
    frontier.push(links(50))
    lease = frontier.take(0.0)
    assert lease is not None
    own_redis_server.kill()
    for call in (
        lambda: frontier.take(0.0),
        lambda: frontier.push(links(60)),
        lambda: frontier.acknowledge([lease.key]),
        lambda: frontier.next_time(0.0),
        lambda: frontier.counts(),
        lambda: frontier.seen("http://a.org/"),
    ):
        with pytest.raises(FrontierUnavailable, match="Redis does not take our call"):
            call()
    own_redis_server.start()
    assert frontier.push(links(60)) == [False] * 50 + [True] * 10
    frontier.acknowledge([lease.key])
    urls = {lease.entry.url}
    while (lease := frontier.take(0.0)) is not None:
        frontier.landed(lease.key, 0.0)
        frontier.acknowledge([lease.key])
        urls.add(lease.entry.url)
    assert len(urls) == 60
    assert frontier.counts().done == 60
    frontier.close()


def test_a_server_that_hangs_is_left_alone_for_a_while(
    own_redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call would wait as long as the first, and the crawl stands still meanwhile."""
    frontier = RedisFrontier(own_redis_server.url, "job", FREE, timeout_seconds=0.3)
    frontier.push(links(3))
    assert own_redis_server.process is not None
    own_redis_server.process.send_signal(signal.SIGSTOP)
    with pytest.raises(FrontierUnavailable, match="Timeout"):
        frontier.take(0.0)
    own_redis_server.process.send_signal(signal.SIGCONT)
    for call in (frontier.counts, lambda: frontier.take(0.0), lambda: frontier.push(links(4))):
        with pytest.raises(FrontierUnavailable, match="did not answer a moment ago"):
            call()
    later = time.monotonic() + SILENT_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert frontier.push(links(4)) == [False, False, False, True]
    found = frontier.counts()
    assert (found.queued, found.leased) == (4, 0)  # what was leased in vain is back
    frontier.close()


def test_a_landing_goes_with_the_next_call(own_redis_server: RedisServer) -> None:
    """Also when the server is away meanwhile: until then its host is busy for everybody."""
    frontier = RedisFrontier(own_redis_server.url, "job", Policy(delay=0.0))
    frontier.push([Entry("http://a.org/1", 0.9), Entry("http://a.org/2", 0.8)])
    lease = frontier.take(0.0)
    assert lease is not None
    assert frontier.take(0.0) is None
    own_redis_server.kill()
    frontier.landed(lease.key, 0.0)
    with pytest.raises(FrontierUnavailable):
        frontier.take(0.0)
    own_redis_server.start()
    again = frontier.take(0.0)
    assert again is not None
    assert again.entry.url == "http://a.org/2"
    frontier.landed(again.key, 1.0)
    assert frontier.push([Entry("http://a.org/3", 0.8)]) == [True]
    assert RedisFrontier(own_redis_server.url, "job", Policy(delay=0.0)).take(1.0) is not None
    frontier.close()


def test_an_answer_that_was_lost(redis_url: str, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server leased a link, but the connection broke before we heard of it."""
    frontier = RedisFrontier(redis_url, job, FREE)
    frontier.push(links(3))
    run = frontier._call

    def breaks(script: str, *arguments: object) -> object:
        run(script, *arguments)
        with frontier._server():
            raise redis.ConnectionError("Connection reset by peer")

    with monkeypatch.context() as patch:
        patch.setattr(frontier, "_call", breaks)
        with pytest.raises(FrontierUnavailable):
            frontier.take(0.0)
    assert frontier.counts().leased == 1
    urls = set()
    while (lease := frontier.take(0.0)) is not None:
        urls.add(lease.entry.url)
    assert len(urls) == 3
    frontier.close()


def test_a_full_server(own_redis_server: RedisServer) -> None:
    """Pushing stops with a clear word; what is there can be fetched and finished, which frees."""
    frontier = RedisFrontier(own_redis_server.url, "job", FREE)
    frontier.push(links(500))
    client = redis.Redis.from_url(own_redis_server.url)
    client.config_set("maxmemory", client.info("memory")["used_memory"])
    more = [Entry(f"http://x.org/{n}-" + "x" * 500, 1.0) for n in range(5_000)]
    with pytest.raises(FrontierUnavailable, match="It is full: raise maxmemory"):
        frontier.push(more)
    queued = frontier.counts().queued
    for _ in range(50):
        lease = frontier.take(0.0)
        assert lease is not None
        frontier.landed(lease.key, 0.0)
        frontier.acknowledge([lease.key])
    assert frontier.counts().queued == queued - 50
    client.config_set("maxmemory", 0)
    assert frontier.push([Entry("http://new.org/", 1.0)]) == [True]
    client.close()
    frontier.close()


def test_a_server_that_drops_keys_is_refused(own_redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(own_redis_server.url)
    client.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(ConfigError, match=r"allkeys-lru.*set it to noeviction"):
        RedisFrontier(own_redis_server.url, "job")
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("requirepass", "secret")
    with pytest.raises(ConfigError, match="Redis refuses us"):
        RedisFrontier(own_redis_server.url, "job")
    client.close()


def test_bad_addresses() -> None:
    with pytest.raises(FrontierUnavailable, match="Connection refused"):
        RedisFrontier(f"redis://127.0.0.1:{free_port()}/0", "job")
    with pytest.raises(ConfigError, match="is no Redis URL"):
        open_frontier(TreasureConfig(frontier="redis://127.0.0.1:port/0"), "job")


def test_settings_choose_redis(redis_url: str, job: str, tmp_path: Path) -> None:
    config = TreasureConfig(frontier=redis_url, frontier_lease_seconds=7.0)
    frontier = open_frontier(config, job)
    assert isinstance(frontier, RedisFrontier)
    assert frontier.lease_seconds == 7.0
    frontier.push(links(3))
    assert open_frontier(config, job).counts().queued == 3
    frontier.close()


def test_jobs_do_not_meet(redis_url: str, job: str) -> None:
    one, other = RedisFrontier(redis_url, job, FREE), RedisFrontier(redis_url, job + "*", FREE)
    one.push(links(3))
    assert other.take(0.0) is None
    other.push(links(2))
    assert other.take(0.0) is not None
    assert one.counts().queued == 3
    assert one.counts().leased == 0
    one.close()
    other.close()


def test_the_server_keeps_nothing_of_done_links_but_their_keys(redis_url: str, job: str) -> None:
    frontier = RedisFrontier(redis_url, job, FREE)
    frontier.push(links(40))
    while (lease := frontier.take(0.0)) is not None:
        frontier.landed(lease.key, 0.0)
        frontier.acknowledge([lease.key])
    frontier.close()
    client = redis.Redis.from_url(redis_url)
    names = [name.split(b"}:")[1] for name in client.scan_iter(match=f"*{job}*", count=1_000)]
    kinds = {name.split(b":")[0].decode() for name in names}
    assert kinds == {"meta", "seen", "hosts", "resized"}
    client.close()
