"""Admission: which links may be queued at all, and which rule refused the others.

Admission is about what we want to fetch ever; what is next is the frontier's choice. Rules that
only look at the address are remembered per address, since a site's menu comes with every page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from typing import Any

from treasure.config import TreasureConfig
from treasure.copies import Copies
from treasure.core.addresses import all_free
from treasure.errors import ConfigError
from treasure.frontier.base import Lease
from treasure.pages import Link, Page
from treasure.traps import MAX_URL_CHARACTERS, PLAIN_SLASHES, TrapGuard
from treasure.urls import canonical, host_of, name_of

COPY = "trap: the same page again"
EXAMPLES = 10
"""Refused links that are remembered for each rule."""
REMEMBERED = 100_000
"""Addresses whose verdict is remembered."""

# What is never a page. PDFs and the like are not here: their content type may be allowed.
_ENDINGS = (
    "7z aac apk avi avif bin bmp bz2 css deb dmg eot exe flac flv gif gz ico iso jar jpe jpeg jpg"
    " js m4a m4v mid midi mkv mov mp3 mp4 mpeg mpg msi ogg ogv otf png rar rpm svg tar tgz tif tiff"
    " ttf wav webm webp wma wmv woff woff2 xz zip"
)
FILE_ENDINGS = frozenset(_ENDINGS.split())


class Admission:
    """Says which links may be queued. *blocked* are hosts, domains and patterns of URLs."""

    def __init__(
        self,
        *,
        max_depth: int = 0,
        max_pages_per_host: int = 0,
        max_pages_per_pattern: Mapping[str, int] | None = None,
        allowed_domains: Iterable[str] = (),
        blocked: Iterable[str] = (),
        obey_nofollow: bool = True,
        traps: TrapGuard | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_pages_per_host = max_pages_per_host
        self.obey_nofollow = obey_nofollow
        self.refused: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self._allowed = [_domain(domain) for domain in allowed_domains]
        self._traps = traps or TrapGuard()
        self._copies = Copies()
        self._pages_of_host: Counter[str] = Counter()
        self._budgets = {
            pattern: (re.compile(translate(pattern)), limit)
            for pattern, limit in (max_pages_per_pattern or {}).items()
        }
        self._pages_of_pattern: Counter[str] = Counter()
        self._verdicts: dict[str, str] = {}
        self._host_verdicts: dict[str, str] = {}
        self._hosts: set[str] = set()
        self._domains: list[str] = []
        self._patterns: dict[str, re.Pattern[str]] = {}
        for rule in blocked:
            self.block(rule)

    @classmethod
    def from_config(cls, config: TreasureConfig) -> Admission:
        """Build the admission that the settings describe."""
        return cls(
            max_depth=config.max_depth,
            max_pages_per_host=config.max_pages_per_host,
            max_pages_per_pattern=_limits(config.max_pages_per_pattern),
            allowed_domains=config.allowed_domains,
            blocked=config.blocked,
            obey_nofollow=config.obey_nofollow,
        )

    def admit(
        self, page: Page, links: Sequence[Link], lease: Lease | None = None
    ) -> Sequence[Link]:
        """Return the links of a fetched *page* that may be queued; count the page in.

        When all may, these are *links* themselves: what was asked about them need not be asked
        again.
        """
        url = lease.entry.url if lease is not None else canonical(page.url)
        self.count(url)
        depth = lease.entry.depth + 1 if lease is not None else 1
        closed = self.obey_nofollow and bool(page.robots & {"nofollow", "none"})
        copied = self._copies.one_more(host_of(url), page.terms)
        limited = self._is_limited(depth)
        if not (closed or copied or limited) and self._all_free(links):
            return links
        # Most links were met before, and nothing but their address matters.
        verdicts = {} if limited else self._verdicts
        admitted = []
        for link in links:
            rule: str | None
            if closed or (link.nofollow and self.obey_nofollow):
                rule = "nofollow"
            else:
                rule = verdicts.get(link.url)
                if rule is None:
                    rule = self.refusal(link.url, depth)
                if copied and not rule:
                    rule = COPY
            if rule:
                self._refuse(rule, link.url)
            else:
                admitted.append(link)
        return links if len(admitted) == len(links) else admitted

    def _all_free(self, links: Sequence[Link]) -> bool:
        """Tell whether all *links* may be queued, as most of a page's may, where that is plain."""
        return not self._patterns and all_free(
            links,
            self.obey_nofollow,
            self._verdicts,
            self._host_verdicts,
            FILE_ENDINGS,
            MAX_URL_CHARACTERS,
            PLAIN_SLASHES,
        )

    def _is_limited(self, depth: int) -> bool:
        """Whether more than the address of a link decides."""
        return self.has_budgets or 0 < self.max_depth < depth

    def refusal(self, url: str, depth: int = 0) -> str:
        """Return the rule that refuses the canonical *url*, empty when none does."""
        if 0 < self.max_depth < depth:
            return "depth"
        rule = self._verdicts.get(url)
        if rule is None:
            if len(self._verdicts) >= REMEMBERED:
                self._verdicts.clear()
            rule = self._verdicts[url] = self._address_rule(url)
        return rule or (self.over_budget(url) if self.has_budgets else "")

    def off_limits(self, url: str) -> str:
        """Return why we never go to *url* by a redirect or for a sitemap; empty when we may.

        Its ending is no reason: a sitemap may well be a .gz, and a redirect's target any page.
        """
        rule = self.refusal(url)
        return "" if rule == "file type" else rule

    def count(self, url: str) -> None:
        """Count a fetched page against the budgets; also what earlier runs of the job fetched."""
        if self.max_pages_per_host:
            self._pages_of_host[host_of(url)] += 1
        for pattern, (matcher, _) in self._budgets.items():
            if matcher.fullmatch(url):
                self._pages_of_pattern[pattern] += 1

    def block(self, rule: str) -> None:
        """Refuse a host (`example.org`), a domain (`.example.org`) or a pattern (`*/login*`)."""
        rule = rule.strip()
        if not rule:
            raise ConfigError("An empty block would block nothing: give a host, domain or pattern.")
        rule = _spelt(rule)
        if _is_pattern(rule):
            self._patterns[rule] = re.compile(translate(_whole_pattern(rule)))
        elif rule.startswith("."):
            self._domains.append(rule)
        else:
            self._hosts.add(rule)
        self._forget_verdicts()

    def unblock(self, rule: str) -> bool:
        """Take a block back; tell whether there was one."""
        rule = _spelt(rule)
        known = rule in self.blocks
        self._patterns.pop(rule, None)
        self._hosts.discard(rule)
        self._domains = [domain for domain in self._domains if domain != rule]
        self._forget_verdicts()
        return known

    @property
    def blocks(self) -> list[str]:
        """All blocks, as they were given."""
        return [*sorted(self._hosts), *self._domains, *self._patterns]

    def blocked(self, url: str) -> str:
        """Return the block that *url* falls under, empty when none does."""
        return self._blocked_host(host_of(url)) or self._blocked_pattern(url)

    def _blocked_host(self, host: str) -> str:
        name = name_of(host)
        if host in self._hosts or name in self._hosts:
            return name if name in self._hosts else host
        for domain in self._domains:
            if name.endswith(domain) or name == domain[1:]:
                return domain
        return ""

    def _blocked_pattern(self, url: str) -> str:
        for rule, pattern in self._patterns.items():
            if pattern.fullmatch(url):
                return rule
        return ""

    def report(self) -> dict[str, Any]:
        """Return how many links each rule refused, with examples. JSON-able."""
        return {
            rule: {"links": links, "examples": self.examples[rule]}
            for rule, links in self.refused.most_common()
        }

    def _address_rule(self, url: str) -> str:
        host = host_of(url)
        rule = self._host_verdicts.get(host)
        if rule is None:
            if len(self._host_verdicts) >= REMEMBERED:
                self._host_verdicts.clear()
            rule = self._host_verdicts[host] = self._host_rule(host)
        if rule:
            return rule
        if self._patterns and (blocked := self._blocked_pattern(url)):
            return f"blocked: {blocked}"
        ending = url.partition("?")[0].rpartition(".")[2]
        if ending.lower() in FILE_ENDINGS:
            return "file type"
        trap = self._traps.trap(url)
        return f"trap: {trap}" if trap else ""

    def _host_rule(self, host: str) -> str:
        name = name_of(host)
        if not name:
            return "no address"
        if self._allowed and not any(
            name == domain or name.endswith(f".{domain}") for domain in self._allowed
        ):
            return "domain"
        blocked = self._blocked_host(host)
        return f"blocked: {blocked}" if blocked else ""

    @property
    def has_budgets(self) -> bool:
        """Whether pages are counted at all."""
        return bool(self.max_pages_per_host or self._budgets)

    def over_budget(self, url: str) -> str:
        """Return the budget that is used up for *url*, empty when none is.

        Asked again when a link is taken: it may have waited while others used the budget up.
        """
        if self.max_pages_per_host:
            host = host_of(url)
            if self._pages_of_host[host] >= self.max_pages_per_host:
                return "host budget"
        for pattern, (matcher, limit) in self._budgets.items():
            if self._pages_of_pattern[pattern] >= limit and matcher.fullmatch(url):
                return f"pattern budget: {pattern}"
        return ""

    def _forget_verdicts(self) -> None:
        self._verdicts.clear()
        self._host_verdicts.clear()

    def _refuse(self, rule: str, url: str) -> None:
        self.refused[rule] += 1
        examples = self.examples.setdefault(rule, [])
        if len(examples) < EXAMPLES and url not in examples:
            examples.append(url)


def _is_pattern(rule: str) -> bool:
    return any(character in rule for character in "*?/")


def _whole_pattern(rule: str) -> str:
    """Return the pattern of whole addresses that *rule* means: people leave out their ends."""
    if "*" not in rule:
        rule = f"{rule}*"
    if rule.startswith(("*", "http:", "https:")):
        return rule
    return f"*{rule}" if rule[0] in "/?" else f"*://{rule}"


def _spelt(rule: str) -> str:
    """Return *rule* with its host or domain as addresses have it, with its port if it names one."""
    if _is_pattern(rule):
        return rule
    name = rule.removeprefix(".")
    host = host_of(canonical(f"http://{name}/"))
    if not host:
        raise ConfigError(
            f"{name!r} is no host, domain or pattern; expected such as example.org, .example.org"
            " or */login*."
        )
    return f".{host}" if rule.startswith(".") else host


def _domain(text: str) -> str:
    """Return the domain in *text*, where people also write addresses and leading dots."""
    host = host_of(canonical(text if "://" in text else f"http://{text.strip().lstrip('.')}"))
    if not host:
        raise ConfigError(
            f"TREASURE_ALLOWED_DOMAINS must be domains such as example.org. Got {text!r} instead."
        )
    return name_of(host)


def _limits(budgets: Mapping[str, Any]) -> dict[str, int]:
    limits = {}
    for pattern, limit in budgets.items():
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
            raise ConfigError(
                "TREASURE_MAX_PAGES_PER_PATTERN must give a number of pages for each pattern, such"
                f' as {{"*/tag/*": 100}}. Got {limit!r} for {pattern!r} instead.'
            )
        limits[pattern] = limit
    return limits
