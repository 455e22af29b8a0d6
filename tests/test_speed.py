from __future__ import annotations

from datetime import datetime
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treasure.errors import ConfigError
from treasure.speed import Backoff, SlidingWindow, Speed, parse_rate, parse_windows

MONDAY = datetime(2026, 11, 16)


def crawl(speed: Speed, seconds: float, start: float = 0.0) -> list[float]:
    """Take pages as fast as allowed on a clock of our own."""
    now, takes = start, []
    while now < start + seconds:
        opens = speed.opens_at(now)
        if opens > now:
            now = opens
            continue
        takes.append(now)
        speed.taken(now)
        now += 0.001
    return takes


@pytest.mark.parametrize("rate", [0.2, 1, 2.5, 7, 100])
def test_the_ceiling_is_kept_and_reached(rate: float) -> None:
    takes = crawl(Speed(pages_per_second=rate), 60)
    seconds = max(1.0, 1 / rate)
    for i, then in enumerate(takes):
        within = [t for t in takes[i:] if t < then + seconds]
        assert len(within) <= rate * seconds + 1e-9
    assert len(takes) >= 0.7 * rate * 60 - 1


def test_pages_follow_each_other_at_once_where_nothing_limits_the_speed() -> None:
    assert Speed().in_a_row(0)
    assert not Speed(pages_per_second=5).in_a_row(0)
    assert not Speed(bytes_per_second=1_000).in_a_row(0)


def test_bytes() -> None:
    speed = Speed(bytes_per_second=1_000)
    assert speed.opens_at(0) == 0
    speed.landed(0, 6_000, 0.1)
    assert speed.opens_at(1) == 1
    speed.landed(1, 6_000, 0.1)
    assert speed.opens_at(2) == 10
    assert speed.opens_at(10.0) == 10.0


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0.1, 50)), max_size=60),
    st.floats(0.5, 20),
    st.floats(1, 100),
)
def test_a_sliding_window_frees_when_it_says(
    marks: list[tuple[float, float]], seconds: float, room: float
) -> None:
    window, now, done = SlidingWindow(), 0.0, []
    for gap, amount in marks:
        now += gap
        at = window.frees_at(now, seconds, room)
        assert at >= now
        now = at
        assert sum(a for t, a in done if t + seconds > now) <= room + 1e-6
        window.add(now, amount)
        done.append((now, amount))


def speed_at(moment: datetime, *windows: str) -> float:
    """Return the rate of the first window that holds, as a Speed takes it."""
    speed = Speed(parse_windows(windows), wall=moment.timestamp)
    rates = [window.rate for window in speed.windows if repr(window.text) in speed.why(0.0)]
    return rates[0] if rates else inf


@pytest.mark.parametrize(
    ("day", "hour", "expected"),
    [(0, 9, 2), (0, 7, inf), (0, 18, inf), (4, 17, 2), (5, 9, 10), (6, 23, 10)],
)
def test_days_and_hours(day: int, hour: int, expected: float) -> None:
    moment = MONDAY.replace(day=16 + day, hour=hour)
    assert speed_at(moment, "mon-fri 08:00-18:00 2/s", "sat+sun 10/s") == expected


@pytest.mark.parametrize(("day", "hour", "expected"), [(0, 23, 0), (1, 5, 0), (1, 6, inf)])
def test_a_window_past_midnight_belongs_to_the_day_it_began(
    day: int, hour: int, expected: float
) -> None:
    moment = MONDAY.replace(day=16 + day, hour=hour)
    assert speed_at(moment, "mon 22:00-06:00 stop") == expected


def test_the_first_window_decides() -> None:
    assert speed_at(MONDAY.replace(hour=12), "12:00-13:00 full", "00:00-24:00 1/min") == inf
    assert speed_at(MONDAY.replace(hour=13), "12:00-13:00 full", "00:00-24:00 1/min") == 1 / 60


def test_a_stop_opens_at_the_end_of_its_window() -> None:
    now = 0.0
    wall = MONDAY.replace(hour=8, minute=59, second=30).timestamp()
    speed = Speed(parse_windows(["08:00-09:00 stop"]), wall=lambda: wall + now)
    assert speed.opens_at(0.0) == 30.0
    now = 30.0
    assert speed.opens_at(now) == now


@pytest.mark.parametrize(
    "text",
    "|2|fast|mon 25:00-26:00 2/s|noday 2/s|08:00-08:00 2/s|08:61-09:00 1/s|mon tue 2/s|-2/s|2/day"
    "|mon-fri 08:00-18:00".split("|"),
)
def test_a_wrong_window_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match="TREASURE_SPEED_WINDOWS"):
        parse_windows([text])


def test_rates() -> None:
    assert parse_rate("30/min") == 0.5
    assert parse_rate("stop") == 0
    assert parse_rate("FULL") == inf


def test_back_off_when_latency_rises_and_recovery() -> None:
    backoff = Backoff(3.0)
    speed = Speed(backoff=backoff)
    now = 0.0

    def answers(latency: float, seconds: float) -> None:
        nonlocal now
        for _ in range(int(seconds * 10)):
            now += 0.1
            speed.landed(now, 1_000, latency)

    answers(0.3, 30)
    assert backoff.limit == inf
    answers(2.0, 6)
    first = backoff.limit
    assert first == pytest.approx(5, rel=0.1)
    answers(2.0, 6)
    assert backoff.limit < first
    assert "slow" in speed.why(now)
    answers(0.3, 200)
    assert backoff.limit == inf
    assert speed.why(now) == ""


def test_fast_answers_never_slow_the_crawl() -> None:
    backoff = Backoff(3.0)
    for i in range(100):
        backoff.landed(i * 0.5, 0.001)
    for i in range(100):
        backoff.landed(50 + i * 0.5, 0.4)
    assert backoff.limit == inf
