from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.servers import free_port
from treasure import metrics
from treasure.errors import ConfigError

DOCS = Path(__file__).parents[1] / "docs"
STATUS = {
    "job": "j",
    "queued": 12,
    "on_topic": 3,
    "off_topic": 4,
    "paused": True,
    "links_found": 100,
    "refused": {"nofollow": 5, "blocked: *x*": 2, "blocked: *y*": 3},
    "alerts": [{"kind": "host:a.org"}, {"kind": "host:b.org"}],
}


def test_the_endpoint_shows_the_status() -> None:
    port = free_port()
    server, thread = metrics.serve(port, lambda: STATUS)
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics") as response:
            text = response.read().decode()
        with pytest.raises(ConfigError, match="cannot be used"):
            metrics.serve(port, dict)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    for line in (
        'treasure_frontier_queued{job="j"} 12.0',
        'treasure_pages_total{job="j",kind="on_topic"} 3.0',
        'treasure_paused{job="j"} 1.0',
        'treasure_links_found_total{job="j"} 100.0',
        'treasure_links_refused_total{job="j",rule="blocked"} 5.0',
        'treasure_alerts{job="j",kind="host"} 2.0',
        'treasure_alerts{job="j",kind="frontier"} 0.0',
    ):
        assert line in text, text


def test_every_metric_is_documented() -> None:
    text = (DOCS / "metrics.md").read_text()
    listed = set(re.findall(r"^\| `(treasure_\w+?)(?:_total)?`", text, re.MULTILINE))
    assert listed == set(metrics.NAMES)


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    dashboard = json.loads((DOCS / "grafana-dashboard.json").read_text())
    asked = set(re.findall(r"\b(treasure_\w+)", json.dumps(dashboard["panels"])))
    names = {name.removesuffix("_total") for name in asked}
    assert names <= set(metrics.NAMES)
    assert len(names) >= 8
    for panel in dashboard["panels"]:
        assert panel["targets"]
        assert panel["title"]
