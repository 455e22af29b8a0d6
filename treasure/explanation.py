"""The explanation of a link: its scores, the rule that refused it, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from treasure.admission import Admission
from treasure.config import TreasureConfig
from treasure.errors import JobError, UserError
from treasure.repository.store import Store
from treasure.score_log import FILE, LinkEvent, history
from treasure.urls import canonical


def explain(store: Store, job: Mapping[str, Any], url: str, runs: Path) -> dict[str, Any]:
    """Return everything known of the link *url* in *job*, a row of ``store.jobs()``."""
    address = canonical(url)
    if not address:
        raise UserError(f"{url!r} is no http or https URL.")
    path = runs / job["job"] / FILE
    found = store.find(address, job["job"])
    page = store.page(found[0]) if found else None
    scoreless = ""
    if not path.is_file():
        scoreless = (
            f"The job {job['job']} recorded no scores: there is no {path}."
            " TREASURE_EXPLAIN was off, or --runs-dir names another folder."
        )
    if scoreless and page is None:
        raise JobError(scoreless)
    return {
        "url": address,
        "job": job["job"],
        "events": [_told(event) for event in history(path, address)],
        "refused_by": _refusal(store, job, address),
        "page": _page(page),
        "note": scoreless,
    }


def _told(event: LinkEvent) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": event.kind, "time": event.time, "score": event.score}
    if event.page:
        told |= {"page": event.page, "relevance": event.relevance}
    if event.kind == "scored":
        told |= {"anchor": event.anchor, "node": event.node, "features": event.features}
    if event.rule:
        told["rule"] = event.rule
    return told | dict(event.details)


def _refusal(store: Store, job: Mapping[str, Any], url: str) -> str:
    """Return the rule of the job, as it is now, that keeps *url* out of the frontier."""
    admission = Admission.from_config(TreasureConfig.read_stored(job["settings"]))
    for order in store.orders_since(job["job"]):
        for rule in order.payload.get("rules", ()):
            if order.command == "block":
                admission.block(rule)
            elif order.command == "unblock":
                admission.unblock(rule)
    return admission.refusal(url)


def _page(row: dict[str, Any] | None) -> dict[str, Any] | None:
    if row is None:
        return None
    kept = """fetched_at status failure relevance on_topic topic reason numbers depth referrer
        anchor context score ageing explored passed_over graph_node explanation""".split()
    return {name: row[name] for name in kept}
