"""Checks of the Scrapy project and of its TREASURE_* settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from treasure.checkup.findings import NOTE, OK, PROBLEM, WARNING, Finding, Plan
from treasure.config import PREFIX, TreasureConfig
from treasure.errors import ConfigError


def read_settings(settings: Mapping[str, Any]) -> tuple[TreasureConfig, list[Finding]]:
    """Return the settings that are right, and a finding for each that is wrong."""
    right: dict[str, Any] = {}
    wrong = []
    for name in settings:
        if name.startswith(PREFIX):
            try:
                TreasureConfig.read({name: settings[name]})
                right[name] = settings[name]
            except ConfigError as error:
                wrong.append(Finding("settings", PROBLEM, str(error)))
    return TreasureConfig.read(right), wrong


def check_project(plan: Plan) -> Iterator[Finding]:
    """Look whether a Scrapy project is here and has our add-on."""
    if not plan.project:
        yield Finding(
            "project", PROBLEM, "There is no Scrapy project here: no scrapy.cfg in this folder"
            " or above.", "Go to your project's folder, or set SCRAPY_SETTINGS_MODULE.",
        )  # fmt: skip
        return
    addons = [str(addon) for addon in dict(plan.settings.get("ADDONS") or {})]
    if not any("TreasureAddon" in addon for addon in addons):
        yield Finding(
            "project", PROBLEM, f"The settings {plan.project} do not name our add-on.",
            'Add ADDONS = {"treasure.addon.TreasureAddon": 500} to them.',
        )  # fmt: skip
    else:
        yield Finding("project", OK, f"The settings are {plan.project}.")


def check_settings(config: TreasureConfig, plan: Plan) -> Iterator[Finding]:
    """Look at what is set, and at what a live crawl should have set."""
    from treasure.strategies import strategy_class

    strategy_class(config.strategy)
    own = sorted(name for name in plan.settings if name.startswith("TREASURE_"))
    yield Finding(
        "settings", OK, f"{len(own)} of our settings are set: {', '.join(own) or 'none'}."
    )
    if config.web:
        from treasure.evaluation.virtual_web import VirtualWeb

        web = VirtualWeb.open(config.web)
        yield Finding("web", OK, f"{config.web} has {len(web):,} responses.")
        return
    if not plan.settings.get("ROBOTSTXT_OBEY"):
        yield Finding(
            "settings", WARNING, "ROBOTSTXT_OBEY is off: the crawl fetches what sites forbid.",
            "Set ROBOTSTXT_OBEY = True.",
        )  # fmt: skip
    if not config.contact:
        yield Finding(
            "settings", WARNING, "Nobody is named as a contact: a crawl of the live web will not"
            " start.", "Set TREASURE_CONTACT to a URL or a mail address.",
        )  # fmt: skip
    if config.host_delay_seconds < 0.5:
        yield Finding(
            "settings", WARNING, f"TREASURE_HOST_DELAY_SECONDS is {config.host_delay_seconds:g}:"
            " many hosts will take that for an attack.", "Leave it at 1 or more.",
        )  # fmt: skip
    if not config.max_pages and not config.max_minutes:
        yield Finding(
            "settings", NOTE, "Neither max_pages nor max_minutes is set: the crawl runs until you"
            " stop it or no link is left.",
        )  # fmt: skip
