"""A real Chromium for tests. Screenshots are kept in artefacts/."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ARTEFACTS = Path(__file__).parents[2] / "artefacts"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and os.environ.get("CI") != "true",
    reason="Chromium is not installed (Debian: chromium)",
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    tab.errors = []
    tab.on("pageerror", lambda error: tab.errors.append(str(error)))
    yield tab
    assert tab.errors == []
    context.close()


def shot(tab, name):
    ARTEFACTS.mkdir(exist_ok=True)
    tab.screenshot(path=str(ARTEFACTS / f"{name}.png"), full_page=True)
