"""JobJudges: the judge of each job, from the settings it was started with.

Settings that are given now win over those of the job: this is how a job's topic is changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from treasure.config import TreasureConfig
from treasure.errors import ConfigError, UserError
from treasure.evaluation.virtual_web import VirtualWeb
from treasure.given import pages_of
from treasure.pages import Page, Verdict
from treasure.repository.rejudge import STATE_GROUNDS, grounds
from treasure.repository.store import Store
from treasure.workbench import STATE_JUDGE, given_pages, make_judge, topics_of

logger = logging.getLogger(__name__)


class JobJudges:
    """Builds a job's judge when it is first asked for."""

    def __init__(self, store: Store, given: Mapping[str, Any] | None = None) -> None:
        self.store = store
        self.given = dict(given or {})
        self._judges: dict[str, Callable[[Page], Verdict] | None] = {}
        self._snapshots = {job["job"]: job["settings"] for job in store.jobs()}

    def __call__(self, job: str) -> Callable[[Page], Verdict] | None:
        """Return what gives a page of *job* its verdict; None when its topic is unknown."""
        if job not in self._judges:
            try:
                self._judges[job] = self._build(job)
            except UserError as error:
                logger.warning("Pages of job %s keep their verdicts: %s", job, error)
                self._judges[job] = None
        return self._judges[job]

    def grounds(self, job: str) -> bytes:
        """Return a digest of what verdicts of *job* would be made with now."""
        config = self._config(job)
        return grounds(config, topics_of(config))

    def changed(self, job: str) -> bool:
        """Whether verdicts would be made with something else than when they were made."""
        before = self.store.load_state(job, STATE_GROUNDS)
        try:
            return before is not None and before != self.grounds(job)
        except UserError as error:
            logger.warning("Pages of job %s keep their verdicts: %s", job, error)
            return False

    def remember(self, job: str) -> None:
        """Note that the verdicts of *job* are of now."""
        self.store.save_state(job, STATE_GROUNDS, self.grounds(job))

    def _config(self, job: str) -> TreasureConfig:
        config = TreasureConfig.read_stored(self._snapshots.get(job, {}), self.given)
        if not config.topic:
            raise ConfigError(f"the topic of job {job} is not known; give --topic.")
        return config

    def _build(self, job: str) -> Callable[[Page], Verdict]:
        config = self._config(job)
        topics = topics_of(config)
        web = VirtualWeb.open(config.web) if config.web else None
        judge = make_judge(config, topics, *map(pages_of, given_pages(config, topics, web)))
        state = self.store.load_state(job, STATE_JUDGE)
        # What was learned for another topic or lexicon would mislead.
        if state and not self.changed(job):
            judge.restore(state)
        return judge.verdict
