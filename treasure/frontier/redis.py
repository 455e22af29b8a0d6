"""RedisFrontier: many workers share one frontier (``TREASURE_FRONTIER=redis://...``).

Every step is one script on the server (``scripts.py``), so a host's delay and its number of
downloads hold for the fleet, and it does not matter which worker asks. A worker shows that it
lives; when it stops for longer than *lease_seconds*, whatever it had taken goes back. Redis must
not evict keys, and should write its append-only file.

When the server does not answer, or is full, ``FrontierUnavailable`` is raised and nothing is
lost: calls may be repeated. A link that was leased by a call whose answer never came is given
back as soon as the server answers again.
"""

from __future__ import annotations

import heapq
import logging
import os
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from math import inf
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from treasure.errors import ConfigError, FrontierUnavailable
from treasure.frontier import scripts
from treasure.frontier.base import PASSED_OVER_LIMIT, Counts, Entry, Lease, Policy
from treasure.frontier.packing import finite, pack, unpack
from treasure.frontier.told import DONE, Told
from treasure.urls import host_of, url_key

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.exceptions import (
        AuthenticationError,
        AuthorizationError,
        NoPermissionError,
        OutOfMemoryError,
        RedisError,
    )
    from redis.exceptions import TimeoutError as RedisTimeoutError
    from redis.retry import Retry

    from treasure.frontier.line import Line
except ImportError:  # pragma: no cover - an optional dependency
    raise ConfigError(
        "TREASURE_FRONTIER is a Redis URL, but redis-py is not installed:"
        " pip install 'treasure-crawler[redis]'."
    ) from None

logger = logging.getLogger(__name__)

BATCH = 500
"""Links per script: the server answers nobody else meanwhile."""

POLL_SECONDS = 0.5
"""How soon to look again whether the others have found something."""

SILENT_SECONDS = 4.0
"""How long a server that let us wait in vain is not asked again: the crawl stands still meanwhile,
and could not even be stopped if it waited with every call."""

NEW, QUEUED, FINISHED, FORGOTTEN = "n", "q", "d", "f"
"""What PUSH answers of a link; anything else: it is under way, or waits for a retry."""

encode = msgspec.msgpack.Encoder().encode
_decode_state = msgspec.msgpack.Decoder(list[Any]).decode
_SCORE = 1
"""Place of the score in the state of a link, as the scripts write it."""


class _News(NamedTuple):
    """A link that the server is told of."""

    place: int
    """Among those that we are to push."""
    key: int
    score: float
    entry: Entry
    told: bool
    """Whether the server has it from us, with another score: then its key is enough."""


class RedisFrontier:
    """One worker's view of the shared frontier."""

    pages_at_once = 16  # each call is a journey, and a script reads and writes each host once

    def __init__(
        self,
        url: str,
        job: str,
        policy: Policy | None = None,
        *,
        lease_seconds: float = 120.0,
        clock: Callable[[], float] | None = None,
        worker: str = "",
        timeout_seconds: float = 10.0,
    ) -> None:
        self.policy = policy or Policy()
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.lease_seconds = lease_seconds
        self._clock = clock
        self._offset = 0.0
        """What is added to the caller's times: the fleet goes by the server's clock."""
        self._random = Random(self.policy.random_seed)
        self._prefix = f"treasure:{{{job}}}:"
        self._head = [self.policy.concurrency, repr(self.policy.delay)]
        self._mine: set[int] = set()
        self._landings: list[Any] = []
        """Keys of links whose download ended, each with the time; they go with the next call."""
        self._ahead: deque[Lease] = deque()
        """What was taken together and is asked for one by one."""
        self._pages = 0
        """As the server told it last, with what is ahead."""
        self._told = Told()
        self._doubtful = False
        self._beaten = -inf
        self._silent_until = -inf
        self._redis: Any = _client(url, timeout_seconds)
        self._line = Line(self._redis)
        self._open()

    def push(self, entries: Sequence[Entry], keys: Sequence[int] | None = None) -> list[bool]:
        """Queue what is new; give what is queued already its new score. True: was new."""
        keys = keys if keys is not None else [url_key(entry.url) for entry in entries]
        new = [False] * len(entries)
        queued = 0
        forgotten: list[int] = []
        for batch in _batches(self._news(entries, keys)):
            told = [news for news in batch if news.told]
            untold = [news for news in batch if not news.told]
            heads: list[Any] = []
            for news in untold:
                heads += (str(news.key), _shard(news.key), host_of(news.entry.url), news.score)
            moved: list[Any] = []
            for news in told:
                moved += (str(news.key), _shard(news.key), news.score)
            packed = [pack(news.entry) for news in untold]
            queued, lost, states = self._report(scripts.PUSH, encode(heads), encode(moved), *packed)
            self._told.heed(lost)
            for news, state in zip(told + untold, states.decode(), strict=True):
                new[news.place] = state == NEW
                self._remember(news.key, state, news.score)
                if state == FORGOTTEN:
                    forgotten.append(news.place)
        if forgotten:  # we told of them with a score alone
            again = self.push([entries[at] for at in forgotten], [keys[at] for at in forgotten])
            for at, is_new in zip(forgotten, again, strict=True):
                new[at] = is_new
        if 0 < self.policy.max_links < queued:
            self._drop_worst(queued)
        return new

    @property
    def pages(self) -> int:
        """Links that were taken and not given back, by all workers of the job, as we know it."""
        return self._pages - len(self._ahead)

    def count_from(self, pages: int) -> None:
        """Take in that the job has *pages* from earlier runs; the server may know of more."""
        self._pages = self._run(scripts.COUNT_FROM, pages)

    def uncount(self) -> None:
        """Take in that a link which was taken is no page: a redirect, a sitemap, a page given."""
        with self._server():
            self._pages = self._redis.hincrby(self._prefix + "meta", "pages", -1)

    def take(self, now: float, wanted: int = 1) -> Lease | None:
        """Lease the best link whose host is allowed now."""
        if not self._ahead:
            self._ahead += self._take(now, wanted)
        return self._ahead.popleft() if self._ahead else None

    def landed(self, key: int, now: float) -> None:
        """The download ended, well or not: its host may be asked again after its delay.

        The server hears of it with the next call. That is not long: whatever has landed is
        acknowledged or given back, and mostly another link is taken before.
        """
        self._landings += (str(key), now + self._offset)

    def acknowledge(self, keys: Iterable[int]) -> None:
        """Done for good: the result is stored."""
        for batch in _batches(list(keys)):
            self._run(scripts.ACKNOWLEDGE, *_with_shards(batch))
            self._mine.difference_update(batch)
            for key in batch:
                self._told.add(key, DONE)

    def release(self, key: int, *, not_before: float = 0.0, tried: bool = True) -> None:
        """Queue a leased link again, for a retry or because we stop."""
        at = self._out(not_before) if not_before else "0"
        self._run(scripts.RELEASE, self.worker, at, int(not tried), key)
        self._mine.discard(key)

    def rescore(self, scores: Mapping[int, float]) -> None:
        """Give queued links new scores; unknown keys are ignored."""
        for batch in _batches(list(scores.items())):
            arguments = [part for key, score in batch for part in (key, repr(finite(score)))]
            self._run(scripts.RESCORE, *arguments)
            for key, _ in batch:
                self._told.drop(key)

    def hold(self, host: str, until: float) -> None:
        """Take nothing from *host* before *until* (Retry-After, errors)."""
        self._run(scripts.HOLD, host, "", self._out(until))

    def set_delay(self, host: str, seconds: float) -> None:
        """Keep at least *seconds* between two requests to *host* (Crawl-delay, throttling)."""
        self._run(scripts.HOLD, host, repr(float(seconds)), "")

    def next_time(self, now: float) -> float | None:
        """When ``take`` will give something again; None when nothing is queued.

        Soon, while other workers have links under way: whatever they bring is for all.
        """
        answer = self._run(scripts.NEXT_TIME, self.worker, self._out(now), POLL_SECONDS)
        return None if answer is None else max(now, float(answer) - self._offset)

    def discard(self, unwanted: Callable[[str], bool]) -> int:
        """Forget queued links whose URL is unwanted, for blocks; return how many."""
        with self._server():
            keys = [
                int(key)
                for key, raw in self._redis.hscan_iter(self._prefix + "links", count=BATCH)
                if unwanted(unpack(raw).url)
            ]
        return self._forget(keys)

    def seen(self, url: str) -> bool:
        """Whether the URL was ever queued."""
        key = url_key(url)
        with self._server():
            return bool(self._redis.sismember(f"{self._prefix}seen:{_shard(key)}", str(key)))

    def peek(self, count: int) -> list[Entry]:
        """Return the best links, best first, as ranked now (hosts' delays left aside)."""
        with self._server():
            hosts = self._best_hosts(count)
            pipe = self._redis.pipeline(transaction=False)
            for host in hosts:
                pipe.zrange(self._prefix + "q:" + host, 0, count - 1, withscores=True)
            ranked = [(order, mark) for queue in pipe.execute() for mark, order in queue]
            keys = [mark[15:] for _, mark in heapq.nsmallest(count, ranked)]
            packed = self._redis.hmget(self._prefix + "links", keys) if keys else []
            states = self._redis.hmget(self._prefix + "states", keys) if keys else []
        return [
            replace(unpack(link), score=_score(state))
            for link, state in zip(packed, states, strict=True)
            if link is not None and state is not None
        ]

    def counts(self) -> Counts:
        """Count."""
        with self._server():
            fields = ["queued", "leased", "done", "hosts", "pages"]
            found = self._redis.hmget(self._prefix + "meta", fields)
        *counts, self._pages = (int(value or 0) for value in found)
        return Counts(*counts)

    def hosts(self, count: int) -> list[tuple[str, int]]:
        """Return the hosts with the most queued links, largest first."""
        self._count_links()
        with self._server():
            found = self._redis.zrevrange(self._prefix + "sizes", 0, count - 1, withscores=True)
        return [(name.decode(), int(links)) for name, links in found]

    def sample(self, count: int) -> list[float]:
        """Return the scores of at most *count* links that are not done, drawn at random."""
        with self._server():
            found = self._redis.hrandfield(self._prefix + "states", count, withvalues=True) or []
        return [_score(raw) for raw in found[1::2]]

    def share(self, kind: str, payload: bytes) -> None:
        """Let the other workers know: the newest *payload* of each *kind* is kept for them."""
        self._run(scripts.SHARE, kind, payload)

    def shared(self, since: int) -> tuple[int, dict[str, bytes]]:
        """Return what was shared after version *since*, and the version to ask with next."""
        version, *pairs = self._run(scripts.SHARED, since)
        kinds = [kind.decode() for kind in pairs[::2]]
        return int(version), dict(zip(kinds, pairs[1::2], strict=True))

    def workers(self) -> list[str]:
        """Return the workers that live."""
        with self._server():
            return [name.decode() for name in self._redis.zrange(self._prefix + "workers", 0, -1)]

    def checkpoint(self) -> None:
        """Nothing to do: the server writes its append-only file once a second."""

    def close(self) -> None:
        """Give back what is leased and leave."""
        try:
            for lease in self._ahead:
                self.release(lease.key, tried=False)
            self._run(scripts.LEAVE, self.worker)
        except FrontierUnavailable as error:
            logger.warning("Our links go back when their lease ends: %s", error)
        self._line.close()
        self._redis.close()

    # -- the server

    def _open(self) -> None:
        with self._server():
            version = str(self._redis.info("server")["redis_version"])
            if int(version.split(".")[0]) < 7:
                raise ConfigError(
                    f"TREASURE_FRONTIER needs Redis 7 or newer. Got {version} instead."
                )
            self._check_settings()
            meta = self._prefix + "meta"
            self._redis.hsetnx(meta, "rate", repr(self.policy.rate))
            self._rate = float(self._redis.hget(meta, "rate") or 0)
        if self._rate != self.policy.rate:
            logger.warning("This job goes on with the ageing it began with: %s.", self._rate)
        self._beat()

    def _check_settings(self) -> None:
        """Refuse a server that would drop links, and warn of one that would forget them."""
        try:
            found = self._redis.config_get("maxmemory-policy", "appendonly")
        except (NoPermissionError, redis.ResponseError):  # a hosted Redis does not tell
            return
        if found.get("maxmemory-policy", "noeviction") != "noeviction":
            raise ConfigError(
                "The Redis of TREASURE_FRONTIER drops keys when it is full (maxmemory-policy"
                f" {found['maxmemory-policy']}), which loses links: set it to noeviction."
            )
        if found.get("appendonly") == "no":
            logger.warning("Redis keeps no append-only file: a crash of the server loses links.")

    def _run(self, script: str, *arguments: Any) -> Any:
        """Run a script as this worker."""
        if self._landings:
            self._report(scripts.LANDED)
        self._ready()
        return self._call(script, *arguments)

    def _report(self, script: str, *arguments: Any) -> Any:
        """Run a script that takes in what landed since the last."""
        self._ready()
        landings = encode(self._landings) if self._landings else b""
        answer = self._call(script, self.worker, landings, *arguments)
        self._landings.clear()
        return answer

    def _ready(self) -> None:
        """Show that we live when it is due, and mend what a lost answer left behind."""
        if time.monotonic() - self._beaten > self.lease_seconds / 4:
            self._beat()
        if self._doubtful:
            self._give_back_unknown()

    def _call(self, script: str, *arguments: Any) -> Any:
        with self._server():
            return self._line.call(script, 1, self._prefix, *self._head, *arguments)

    def _beat(self) -> None:
        """Show that we live, let dead workers' links go back, and read the server's clock."""
        self._call(scripts.BEAT, self.worker, self.lease_seconds)
        self._beaten = time.monotonic()
        if self._clock is not None:
            with self._server():
                before = self._clock()
                seconds, micros = self._redis.time()
                self._offset = seconds + micros / 1e6 - (before + self._clock()) / 2

    def _give_back_unknown(self) -> None:
        """Give back what the server leased to us in calls whose answer was lost."""
        with self._server():
            leased = {
                int(key) for key in self._redis.smembers(f"{self._prefix}leases:{self.worker}")
            }
        lost = leased - self._mine
        if lost:
            self._call(scripts.RELEASE, self.worker, "0", 1, *lost)
        self._doubtful = False

    @contextmanager
    def _server(self) -> Iterator[None]:
        if time.monotonic() < self._silent_until:
            raise FrontierUnavailable("Redis did not answer a moment ago")
        try:
            yield
        except (AuthenticationError, AuthorizationError, NoPermissionError) as error:
            raise ConfigError(f"TREASURE_FRONTIER: Redis refuses us: {error}") from None
        except RedisError as error:
            if isinstance(error, RedisTimeoutError):
                self._silent_until = time.monotonic() + SILENT_SECONDS
            self._doubtful = True
            self._beaten = -inf
            self._told.clear()
            reason = str(error) or type(error).__name__
            full = " It is full: raise maxmemory." if isinstance(error, OutOfMemoryError) else ""
            reason = reason.removesuffix(".")
            raise FrontierUnavailable(f"Redis does not take our call: {reason}.{full}") from error

    def _take(self, now: float, wanted: int) -> list[Lease]:
        """Lease the best links, *wanted* at most, in one call."""
        random, share = self._random.random, self.policy.exploration
        draws = [0 < share > random() and (random(), random()) for _ in range(wanted)]
        most = self.policy.max_pages or inf
        answer = self._report(scripts.TAKE, self._out(now), encode(draws), most)
        answers, links, self._pages = answer
        taken = []
        for draw, answer, link in zip(draws, answers, links, strict=False):
            key, score, waited, passed, attempts = answer
            passed = min(passed, PASSED_OVER_LIMIT)
            ageing = self._rate * waited
            taken.append(
                Lease(int(key), unpack(link), float(score), ageing, bool(draw), passed, attempts)
            )
            self._mine.add(taken[-1].key)
            self._told.drop(taken[-1].key)
        return taken

    def _news(self, entries: Sequence[Entry], keys: Sequence[int]) -> list[_News]:
        """Return what the server has not heard from us."""
        news = []
        for place, (key, entry) in enumerate(zip(keys, entries, strict=True)):
            score = finite(entry.score)
            if not self._told.has(key, score):
                # Dropped until it is answered: the link may come again in *entries*.
                told = self._told.drop(key)
                news.append(_News(place, key, score, entry, told))
        return news

    def _remember(self, key: int, state: str, score: float) -> None:
        """Note what the server answered: only a link that waits in its queue has our score."""
        if state in (NEW, QUEUED):
            self._told.add(key, score)
        elif state == FINISHED:
            self._told.add(key, DONE)

    def _out(self, at: float) -> str:
        return repr(at + self._offset)

    def _best_hosts(self, count: int) -> list[str]:
        places = ["ready", "blocked", *(f"ready:{name}" for name in self.workers())]
        pipe = self._redis.pipeline(transaction=False)
        for place in places:
            pipe.zrange(self._prefix + place, 0, count - 1, withscores=True)
        ranked = [(order, mark) for marks in pipe.execute() for mark, order in marks]
        return [mark[15:].decode() for _, mark in heapq.nsmallest(count, ranked)]

    def _count_links(self) -> None:
        """Bring the numbers of links of all hosts up to date: while pushing that costs too much."""
        while self._run(scripts.SIZES):
            pass

    def _forget(self, keys: Sequence[int]) -> int:
        self._told.clear()
        return sum(self._run(scripts.FORGET, *_with_shards(batch)) for batch in _batches(keys))

    def _drop_worst(self, queued: int) -> None:
        """Forget the worst links, a twentieth more than needed so that this is rare."""
        excess = queued - self.policy.max_links + self.policy.max_links // 20
        self._count_links()
        with self._server():
            names = [name.decode() for name in self._redis.zrange(self._prefix + "sizes", 0, -1)]
            worst: list[tuple[float, bytes]] = []
            for batch in _batches(names):
                pipe = self._redis.pipeline(transaction=False)
                for name in batch:
                    pipe.zrevrange(self._prefix + "q:" + name, 0, excess - 1, withscores=True)
                found = [(order, mark) for queue in pipe.execute() for mark, order in queue]
                worst = heapq.nlargest(excess, [*worst, *found])
        self._forget([int(mark[15:]) for _, mark in worst])


def _client(url: str, timeout: float) -> redis.Redis:
    # No retries below us: a repeated `take` would lease two links and tell of one.
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            health_check_interval=0,
        )
    except ValueError as error:
        raise ConfigError(f"TREASURE_FRONTIER {url!r} is no Redis URL: {error}") from None


def _batches(items: Sequence[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _shard(key: int) -> str:
    return f"{key & 0xFFFF:04x}"


def _with_shards(keys: Iterable[int]) -> list[Any]:
    return [part for key in keys for part in (key, _shard(key))]


def _score(state: bytes) -> float:
    return float(_decode_state(state)[_SCORE])
