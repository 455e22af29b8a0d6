"""Admission: which links of a page may be queued, and which rule refused the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fnmatch import translate

from treasure.config import TreasureConfig
from treasure.frontier.base import Lease
from treasure.pages import Link, Page
from treasure.urls import host_of, name_of


class Admission:
    """Applies blocks and budgets to links before they are scored."""

    def __init__(
        self,
        *,
        allowed_domains: Sequence[str] = (),
        blocked: Sequence[str] = (),
        max_depth: int = 0,
        obey_nofollow: bool = True,
    ) -> None:
        self._domains = tuple(domain.lstrip(".").lower() for domain in allowed_domains)
        self._blocked_hosts = {rule.lower() for rule in blocked if not set(rule) & set("*/")}
        self._patterns = [re.compile(translate(rule)) for rule in blocked if set(rule) & set("*/")]
        self.max_depth = max_depth
        self.obey_nofollow = obey_nofollow
        self.refused: Counter[str] = Counter()

    @classmethod
    def from_config(cls, config: TreasureConfig) -> Admission:
        """Return the rules that the settings state."""
        return cls(
            allowed_domains=config.allowed_domains,
            blocked=config.blocked,
            max_depth=config.max_depth,
            obey_nofollow=config.obey_nofollow,
        )

    def admit(self, page: Page, links: Sequence[Link], lease: Lease | None) -> list[Link]:
        """Return the links of *page* that may be queued."""
        depth = (lease.entry.depth if lease is not None else 0) + 1
        admitted = []
        for link in links:
            rule = self.refusal(link, depth)
            if rule:
                self.refused[rule] += 1
            else:
                admitted.append(link)
        return admitted

    def refusal(self, link: Link, depth: int) -> str:
        """Return the rule that refuses *link*, or an empty string."""
        if self.max_depth and depth > self.max_depth:
            return "max_depth"
        if self.obey_nofollow and link.nofollow:
            return "nofollow"
        host = name_of(host_of(link.url))
        if self._domains and not any(
            host == domain or host.endswith("." + domain) for domain in self._domains
        ):
            return "allowed_domains"
        if self._blocked_hosts and (
            host in self._blocked_hosts
            or any(host.endswith(rule) for rule in self._blocked_hosts if rule.startswith("."))
        ):
            return "blocked"
        if any(pattern.match(link.url) for pattern in self._patterns):
            return "blocked"
        return ""
