"""The frontier: which link is next, and nothing lost. ``open_frontier`` finds it its home."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from treasure.config import TreasureConfig
from treasure.errors import ConfigError, did_you_mean
from treasure.frontier.base import Frontier, Policy


def open_frontier(
    config: TreasureConfig, job: str, clock: Callable[[], float] = time.monotonic
) -> Frontier:
    """Open the frontier of *job*, a new one or one to go on with, as ``TREASURE_FRONTIER`` says.

    *clock* is the caller's, the one whose times ``take`` and ``hold`` get. What outlives this
    process is kept in wall-clock time.
    """
    home, policy = config.frontier, policy_of(config)
    if home == "memory":
        from treasure.frontier.memory import MemoryFrontier

        return MemoryFrontier(policy)
    if home == "embedded":
        from treasure.frontier.embedded import EmbeddedFrontier

        folder = Path(config.runs_dir) / job / "frontier"
        return EmbeddedFrontier(folder, policy, clock=clock)
    if home.startswith(("redis://", "rediss://", "unix://")):
        from treasure.frontier.redis import RedisFrontier

        lease = config.frontier_lease_seconds
        return RedisFrontier(home, job, policy, lease_seconds=lease, clock=clock)
    raise ConfigError(
        f"TREASURE_FRONTIER must be memory, embedded or a redis:// URL. Got {home!r} instead."
        f"{did_you_mean(home, ('memory', 'embedded'))}"
    )


def policy_of(config: TreasureConfig) -> Policy:
    """Return the knobs of the choice as the settings have them."""
    return Policy(
        delay=config.host_delay_seconds,
        concurrency=config.host_concurrency,
        ageing_fetches=config.frontier_ageing_fetches,
        exploration=config.frontier_exploration,
        random_seed=config.random_seed,
        max_links=config.frontier_max_links,
        max_pages=config.max_pages,
    )
