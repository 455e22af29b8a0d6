"""The demo web, generated once a test run."""

from __future__ import annotations

import pytest

from treasure.evaluation.demo_web import ensure_demo_web
from treasure.evaluation.virtual_web import VirtualWeb, read_web_topics


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo-web")
    assert ensure_demo_web(folder)
    return folder


@pytest.fixture(scope="session")
def demo_web(demo_folder):
    return VirtualWeb.open(demo_folder / "web.warc.gz")


@pytest.fixture(scope="session")
def demo_topics(demo_folder):
    return {topic.name: topic for topic in read_web_topics(demo_folder / "topics.json")}
