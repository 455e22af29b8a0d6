"""Patience: answers that are dear are asked for less often.

A page that is open asks every other second. What takes a database of a million pages a second to
answer is remembered for ten; small ones are asked every time.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

TIMES_THE_COST = 10.0
CHEAP_SECONDS = 0.02
"""Answers that come as fast as this are not remembered."""
LONGEST_SECONDS = 60.0
MOST_ANSWERS = 200

T = TypeVar("T")


class _Answer:
    """An answer, how long it holds, and who is asking for the next."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value: Any = None
        self.until = 0.0


class Patience:
    """Remembers answers for ten times as long as they took; each is worked out once at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._lock = Lock()

    def ask(self, key: Hashable, work_out: Callable[[], T]) -> T:
        """Return the answer to *key*, from memory while it holds."""
        with self._lock:
            answer = self._answers.setdefault(key, _Answer())
            self._answers.move_to_end(key)
            if len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)
        with answer.lock:
            begun = self._clock()
            if begun < answer.until:
                value: T = answer.value
                return value
            value = answer.value = work_out()
            cost = self._clock() - begun
            if cost > CHEAP_SECONDS:
                answer.until = begun + cost + min(LONGEST_SECONDS, TIMES_THE_COST * cost)
            return value
