"""ReportExtension: writes the run report when a crawl ends."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import signals

from treasure.addon import workbench_of
from treasure.errors import TreasureError
from treasure.report import FILE, write_report
from treasure.repository.store import Store
from treasure.workbench import repository_url

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ReportExtension:
    """Leaves ``report.html`` in the job's folder."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ReportExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        # The last signal of a crawl: by then the status has noted why it ended.
        crawler.signals.connect(extension._write, signal=signals.engine_stopped)
        return extension

    async def _write(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is None or not bench.config.report:
            return

        def write() -> None:
            store = Store.open(repository_url(bench.config))
            try:
                write_report(store, bench.job, bench.folder / FILE)
            finally:
                store.close()

        try:
            await asyncio.to_thread(write)
            logger.info("Report: %s", bench.folder / FILE)
        except (TreasureError, OSError) as error:
            logger.warning("The report could not be written: %s", error)
