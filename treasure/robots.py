"""Robots: what each site's robots.txt asks of us (RFC 9309), on Protego's parser.

Protego knows groups, wildcards and the longest match. What is decided here is the rest of the RFC:
which answers mean *no rules*, which mean *wait*, how long rules hold, and how much of a file we
read. Nothing here fetches; times are seconds of the caller's clock.

    2xx         the file holds, at most a day, its first 500 KiB
    3xx         five hops are followed by whoever fetches; beyond that there is no file
    4xx         there is no file: everything is allowed (429 means wait)
    5xx, none   nothing is allowed: wait, and after some tries leave the site alone for an hour
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from protego import Protego

MAX_BYTES = 500 * 1024
"""How much of a robots.txt is read; RFC 9309 asks for this much at least."""
MAX_HOPS = 5
MAX_SECONDS = 86_400.0
"""Longest time that a file holds before it is asked for again."""
MIN_SECONDS = 600.0
WAITS_SECONDS = (10.0, 60.0, 300.0)
"""Pauses before a site that cannot say its rules is asked again."""
CLOSED_SECONDS = 3_600.0
"""How long we leave a site alone that never said its rules."""
REMEMBERED = 20_000
"""Sites whose rules we keep."""

FORBIDDEN = "robots.txt forbids it"
UNREACHABLE = "robots.txt does not answer"

_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*(\d{1,9})")


class Rules:
    """What one robots.txt says to us."""

    def __init__(self, parsed: Protego | None, agent: str) -> None:
        self._parsed = parsed
        self._agent = agent
        delay = parsed.crawl_delay(agent) if parsed is not None else None
        rate = parsed.request_rate(agent) if parsed is not None else None
        if rate is not None and rate.requests > 0:
            delay = max(delay or 0.0, rate.seconds / rate.requests)
        self.delay = max(0.0, float(delay)) if delay is not None and delay == delay else 0.0
        self.sitemaps = tuple(parsed.sitemaps) if parsed is not None else ()

    def allows(self, url: str) -> bool:
        """Tell whether we may fetch *url*."""
        return self._parsed is None or bool(self._parsed.can_fetch(url, self._agent))


@dataclass(slots=True)
class _Site:
    rules: Rules | None = None
    expires: float = 0.0
    failures: int = 0
    closed: bool = False


class Robots:
    """The rules of every site we met."""

    def __init__(self, agent: str) -> None:
        self.agent = product_token(agent)
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    def rules(self, origin: str, now: float) -> Rules | None:
        """Return the rules that hold now; None when robots.txt must be fetched first."""
        site = self._sites.get(origin)
        if site is None or site.expires <= now:
            return None
        self._sites.move_to_end(origin)
        return site.rules

    def closed(self, origin: str, now: float) -> bool:
        """Tell whether the site never said its rules, so that we leave it alone for now."""
        site = self._sites.get(origin)
        return site is not None and site.closed and site.expires > now

    def answered(
        self, origin: str, status: int, body: bytes, now: float, *, cache_control: str = ""
    ) -> Rules | None:
        """Take in an answer; return the rules, or None when we must wait (``wait`` says until)."""
        if status >= 500 or status == 429:
            self.unreachable(origin, now)
            return None
        parsed = parse(body) if 200 <= status < 300 else None
        site = self._site(origin)
        site.rules = Rules(parsed, self.agent)
        site.expires = now + lifetime(cache_control)
        site.failures, site.closed = 0, False
        return site.rules

    def unreachable(self, origin: str, now: float, *, ever: bool = False) -> None:
        """Take in that there was no usable answer; with *ever*, another try would give none."""
        site = self._site(origin)
        site.rules = None
        if ever or site.failures >= len(WAITS_SECONDS):
            site.failures, site.closed, site.expires = 0, True, now + CLOSED_SECONDS
        else:
            site.closed, site.expires = False, now
            site.failures += 1

    def wait(self, origin: str) -> float:
        """Return how long to leave a site alone that gave no usable answer."""
        failures = self._site(origin).failures
        return WAITS_SECONDS[failures - 1] if failures else 0.0

    def _site(self, origin: str) -> _Site:
        site = self._sites.get(origin)
        if site is None:
            site = self._sites[origin] = _Site()
            if len(self._sites) > REMEMBERED:
                self._sites.popitem(last=False)
        return site


def parse(body: bytes) -> Protego | None:
    """Return the rules in *body*; None for what is no robots.txt (a picture, a web page)."""
    text = body[:MAX_BYTES]
    if len(body) > MAX_BYTES:  # half a line must not become a rule
        text = text[: max(text.rfind(b"\n"), 0)]
    if b"\0" in text[:1024]:
        return None
    try:
        return Protego.parse(text.decode("utf-8-sig", errors="replace"))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def lifetime(cache_control: str) -> float:
    """Return how long an answer with this Cache-Control holds."""
    found = _MAX_AGE.search(cache_control.lower())
    return min(MAX_SECONDS, max(MIN_SECONDS, float(found[1]))) if found else MAX_SECONDS


def origin_of(url: str) -> str:
    """Return the part of *url* that a robots.txt speaks for: scheme, host and port."""
    return "/".join(url.split("/", 3)[:3])


def robots_url(origin: str) -> str:
    """Return where the robots.txt of *origin* is."""
    return f"{origin}/robots.txt"


def product_token(agent: str) -> str:
    """Return the name by which robots.txt addresses us: ``treasure`` of ``treasure/1.0 (+...)``."""
    return agent.split("/", 1)[0].split(" ", 1)[0].strip().lower() or "*"


def directives(values: Iterable[str], agent: str) -> frozenset[str]:
    """Return the directives of X-Robots-Tag headers that concern us.

    ``noindex, nofollow`` is for everybody, ``otherbot: noindex`` for otherbot; a name holds for
    the rest of its header. ``none`` is both.
    """
    token = product_token(agent)
    found: set[str] = set()
    for value in values:
        ours = True
        for part in value.lower().split(","):
            name, colon, rest = part.partition(":")
            if colon and name.strip() not in _WITH_VALUE:
                ours = name.strip() in (token, "*")
                part = rest
            if ours and part.strip():
                found.add(part.partition(":")[0].strip())
    if "none" in found:
        found |= {"noindex", "nofollow"}
    return frozenset(found)


_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
