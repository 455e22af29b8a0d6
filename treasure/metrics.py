"""Metrics: the status of a crawl as Prometheus reads it (docs/metrics.md lists them).

The endpoint is off unless ``TREASURE_METRICS_PORT`` is set, and listens on loopback only: whoever
may read a machine's metrics can already reach its loopback, and a crawl has no business offering a
port to the network. Values are those of the latest status, at most a second old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from treasure.errors import ConfigError

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric and where its value is in the status."""

    name: str
    key: str
    meaning: str
    counter: bool = False


FIGURES = (
    Figure("treasure_links_found", "links_found", "Links found on pages.", counter=True),
    Figure("treasure_links_queued", "links_queued", "Links that were new.", counter=True),
    Figure("treasure_retries", "retries", "Downloads tried again.", counter=True),
    Figure("treasure_downloaded_bytes", "bytes", "Bytes of responses.", counter=True),
    Figure("treasure_frontier_queued", "queued", "Links that wait."),
    Figure("treasure_frontier_leased", "leased", "Links being fetched or stored."),
    Figure("treasure_frontier_done", "done", "Links done for good."),
    Figure("treasure_frontier_hosts", "hosts", "Hosts known."),
    Figure("treasure_harvest_ratio", "harvest_rate", "Share of fetched pages that are on topic."),
    Figure("treasure_pages_per_second", "pages_per_second", "Pages over the last ten seconds."),
    Figure("treasure_paused", "paused", "1 while somebody has paused the crawl."),
    Figure("treasure_topic_threshold", "threshold", "Least relevance of pages we keep."),
    Figure("treasure_memory_bytes", "memory_bytes", "Most memory the process had."),
    Figure("treasure_started_seconds", "started", "When the process started, Unix time."),
)
PAGES = "treasure_pages"
PAGE_KINDS = ("on_topic", "off_topic", "failed", "redirected", "noindex")
REFUSED = "treasure_links_refused"
ALERTS = "treasure_alerts"
ALERT_KINDS = ("harvest", "host", "frontier")
NAMES = (*(figure.name for figure in FIGURES), PAGES, REFUSED, ALERTS)


class StatusCollector(Collector):
    """Turns the latest status into metrics whenever it is asked."""

    def __init__(self, status: Callable[[], Mapping[str, Any]]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, with the job as its label."""
        status = self._status()
        if not status:
            return
        job = [str(status["job"])]
        for figure in FIGURES:
            kind = CounterMetricFamily if figure.counter else GaugeMetricFamily
            family = kind(figure.name, figure.meaning, labels=["job"])
            family.add_metric(job, float(status.get(figure.key) or 0))
            yield family
        pages = CounterMetricFamily(PAGES, "Pages by what became of them.", labels=["job", "kind"])
        for name in PAGE_KINDS:
            pages.add_metric([*job, name], float(status.get(name, 0)))
        yield pages
        refused = CounterMetricFamily(REFUSED, "Links refused, by rule.", labels=["job", "rule"])
        by_rule: dict[str, float] = {}
        for rule, count in status.get("refused", {}).items():
            short = rule.partition(":")[0]  # the pattern of a block is no label
            by_rule[short] = by_rule.get(short, 0.0) + count
        for rule, count in by_rule.items():
            refused.add_metric([*job, rule], count)
        yield refused
        alerts = GaugeMetricFamily(ALERTS, "Alerts that are on, by kind.", labels=["job", "kind"])
        kinds = [alert["kind"].partition(":")[0] for alert in status.get("alerts", ())]
        for name in ALERT_KINDS:
            alerts.add_metric([*job, name], float(kinds.count(name)))
        yield alerts


def serve(port: int, status: Callable[[], Mapping[str, Any]]) -> tuple[WSGIServer, Thread]:
    """Serve the metrics on loopback until the server is shut down."""
    registry = CollectorRegistry()
    registry.register(StatusCollector(status))
    try:
        return start_http_server(port, addr=HOST, registry=registry)
    except OSError as error:
        raise ConfigError(
            f"TREASURE_METRICS_PORT: port {port} cannot be used ({error.strerror})."
            " Choose another, or 0 for none."
        ) from None
