"""MetricsExtension: the Prometheus endpoint of a crawl (``TREASURE_METRICS_PORT``)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured

from treasure.addon import workbench_of
from treasure.errors import ConfigError
from treasure.extensions.status import status_of
from treasure.metrics import HOST, serve

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class MetricsExtension:
    """Serves the latest status while the crawl runs."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getint("TREASURE_METRICS_PORT"):
            raise NotConfigured
        self.crawler = crawler
        self._server: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> MetricsExtension:
        """Build the extension for one crawl."""
        extension = cls(crawler)
        crawler.signals.connect(extension._opened, signal=signals.spider_opened)
        crawler.signals.connect(extension._closed, signal=signals.spider_closed)
        return extension

    def _opened(self) -> None:
        bench = workbench_of(self.crawler)
        if bench is None:
            return
        port = bench.config.metrics_port
        try:
            self._server, self._thread = serve(port, lambda: status_of(self.crawler))
            logger.info("Metrics at http://%s:%d/metrics", HOST, port)
        except ConfigError as error:  # another job of this node has the port: crawl on without
            logger.warning("%s The crawl goes on without metrics.", error)

    def _closed(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
