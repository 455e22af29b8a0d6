"""Q-learning after deep-deep: a link is worth its page and, discounted, the best link behind it.

deep-deep (TeamHG-Memex, 2016; after Rennie and McCallum, "Using reinforcement learning to spider
the Web efficiently", ICML 1999). The state is the page, an action follows one of its links, the
reward r is the relevance of the page that comes in:

    Q(link) = w . phi(link),    target = r + gamma x max over links l of the new page of Q(l)
    w <- w + rate x (target - Q(link)) x phi(link)

phi are hashed character n-grams of anchor text and URL, each vector of length 1; gamma = 0.4. The
next host is drawn by softmax of its best link's Q, and 20 % of all fetches are drawn at random.

Decisions. The score is the logistic function of Q / temperature plus a Gumbel draw for the link's
host: the largest of such sums is a softmax draw among the hosts' best links. Draws are made anew
whenever the waiting links are scored again, every RESCORE_EVERY pages. A random fetch is a waiting
link whose score becomes 1. The newest MAX_LINKS links are remembered; each followed link is learned
again a few times later on (experience replay, with the target it had).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from treasure.pages import Link
from treasure.strategies.base import Arrival, Brief, Strategy
from treasure.strategies.memory import Bounded
from treasure.strategies.options import number, whole
from treasure.strategies.scores import logistic, uniform
from treasure.urls import host_of, url_key

PLACES = 1 << 18
NGRAMS = (3, 4, 5)
MAX_CHARACTERS = 200
MAX_LINKS = 50_000
RESCORE_EVERY = 20
MAX_REPLAYED = 2_000

Features = NDArray[np.int32]


class _State(msgspec.Struct):
    queued: list[tuple[int, str, list[int]]]
    weights: list[tuple[int, float]]
    replay: list[tuple[list[int], float]]
    arrivals: int


class QLearning(Strategy):
    """score(link) = logistic function of Q, hosts drawn by softmax."""

    wants = frozenset({"examples"})

    def __init__(
        self,
        brief: Brief,
        *,
        gamma: float = 0.4,
        rate: float = 0.3,
        epsilon: float = 0.2,
        temperature: float = 0.1,
        replays: int = 10,
    ) -> None:
        super().__init__(brief)
        self.gamma = number("gamma", gamma, 0, 1)
        self.rate = number("rate", rate, 0, 1)
        self.epsilon = number("epsilon", epsilon, 0, 1)
        self.temperature = number("temperature", temperature, 1e-6, 1e6)
        self.replays = whole("replays", replays, 0, 1_000)
        self._weights = np.zeros(PLACES)
        self._queued: Bounded[int, tuple[str, Features]] = Bounded(MAX_LINKS)
        self._replay: deque[tuple[Features, float]] = deque(maxlen=MAX_REPLAYED)
        self._arrivals = 0
        self._rescored: dict[int, float] = {}
        self._read: dict[tuple[str, str], Features] = {}
        """Features of the page at hand: learning and scoring both need them."""

    def learn(self, arrival: Arrival) -> None:
        """Move Q of the link that led here towards what it brought."""
        self._arrivals += 1
        self._read = {}
        followed = self._queued.pop(url_key(arrival.url), None)
        if followed is not None:
            ahead = max((self.q(self._features(link)) for link in arrival.page.links), default=0.0)
            target = arrival.verdict.relevance + self.gamma * max(ahead, 0.0)
            self._step(followed[1], target)
            self._replay.append((followed[1], target))
            for draw in range(self.replays):
                self._step(*self._replay[self._draw(len(self._replay), "replay", draw)])
        if self._arrivals % RESCORE_EVERY == 0:
            self._rescore()
        self._explore()

    def failed(self, url: str) -> None:
        """A link that led nowhere brought nothing."""
        followed = self._queued.pop(url_key(url), None)
        if followed is not None:
            self._step(followed[1], 0.0)
            self._replay.append((followed[1], 0.0))

    def score(self, arrival: Arrival, links: Sequence[Link]) -> list[float]:  # noqa: ARG002
        """Return the squashed Q of every link."""
        scores = []
        for link in links:
            key, features = link.key, self._features(link)
            host = host_of(link.url)
            self._queued[key] = host, features
            self._rescored.pop(key, None)
            scores.append(self._squashed(self.q(features), host))
        return scores

    def rescored(self) -> Mapping[int, float]:
        """Return the waiting links with their new scores, and those drawn at random."""
        rescored, self._rescored = self._rescored, {}
        return rescored

    def explain(self, url: str) -> dict[str, Any]:
        """Return Q of a waiting link."""
        known = self._queued.get(url_key(url))
        return {"q": self.q(known[1])} if known else {}

    def q(self, features: Features) -> float:
        """Return Q = w . phi, phi of length 1."""
        return float(self._weights[features].sum()) / math.sqrt(features.size or 1)

    def _features(self, link: Link) -> Features:
        name = link.url, link.anchor_text
        features = self._read.get(name)
        if features is None:
            features = self._read[name] = features_of(link)
        return features

    def _step(self, features: Features, target: float) -> None:
        error = target - self.q(features)
        self._weights[features] += self.rate * error / math.sqrt(features.size or 1)

    def _squashed(self, q: float, host: str) -> float:
        round_ = self._arrivals // RESCORE_EVERY
        draw = uniform(self.brief.random_seed, "host", host, round_)
        gumbel = -math.log(-math.log(min(max(draw, 1e-12), 1 - 1e-12)))
        return logistic(q / self.temperature + gumbel)

    def _rescore(self) -> None:
        if not self._queued:
            return
        sizes = np.array([features.size for _, features in self._queued.values()])
        values = self._weights[np.concatenate([f for _, f in self._queued.values()])]
        sums = np.add.reduceat(values, np.r_[0, np.cumsum(sizes)[:-1]])
        for (key, (host, _)), q in zip(
            self._queued.items(), (sums / np.sqrt(sizes)).tolist(), strict=True
        ):
            self._rescored[key] = self._squashed(q, host)

    def _explore(self) -> None:
        seed = self.brief.random_seed
        if self._queued and uniform(seed, "explore", self._arrivals) < self.epsilon:
            waiting = list(self._queued)
            self._rescored[waiting[self._draw(len(waiting), "link", 0)]] = 1.0

    def _draw(self, count: int, purpose: str, number: int) -> int:
        """Return a repeatable draw below *count*."""
        return int(count * uniform(self.brief.random_seed, purpose, self._arrivals, number))

    def state(self) -> bytes:
        """Return weights, waiting links and the links learned from."""
        return msgspec.json.encode(
            _State(
                queued=[(key, host, f.tolist()) for key, (host, f) in self._queued.items()],
                weights=[
                    (i, float(self._weights[i])) for i in np.flatnonzero(self._weights).tolist()
                ],
                replay=[(f.tolist(), target) for f, target in self._replay],
                arrivals=self._arrivals,
            )
        )

    def restore(self, state: bytes) -> None:
        """Go on from them."""
        saved = msgspec.json.decode(state, type=_State)
        for key, host, features in saved.queued:
            self._queued[key] = host, np.array(features, dtype=np.int32)
        for place, weight in saved.weights:
            self._weights[place] = weight
        self._replay.extend((np.array(f, dtype=np.int32), target) for f, target in saved.replay)
        self._arrivals = saved.arrivals


def features_of(link: Link) -> Features:
    """Return the hashed n-grams of a link's anchor text and URL, each once; never empty."""
    address = link.url.partition("://")[2][:MAX_CHARACTERS]
    anchor = f" {' '.join(link.anchor_text.lower().split())} "[:MAX_CHARACTERS]
    places = {crc32(f"u{gram}".encode("utf-8", "replace")) % PLACES for gram in _grams(address)}
    places |= {crc32(f"a{gram}".encode("utf-8", "replace")) % PLACES for gram in _grams(anchor)}
    return np.array(sorted(places) or [0], dtype=np.int32)


def _grams(text: str) -> list[str]:
    return [text[i : i + n] for n in NGRAMS for i in range(len(text) - n + 1)]
