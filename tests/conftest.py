"""Fixtures that any test may ask for."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests.demo import demo_folder, demo_topics, demo_web  # noqa: F401
from tests.servers import (  # noqa: F401
    own_redis_server,
    postgres_server,
    postgres_url,
    redis_server,
    redis_url,
)

# No test asserts a time: machines that run several things at once would fail at random.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
