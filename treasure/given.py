"""Pages that a crawl is given before it begins: examples and counter-examples, kept as they came.

When the crawl meets a link to one of them it reads the copy and downloads nothing
(``middlewares.given``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treasure.errors import ConfigError, UserError
from treasure.extract import read_page
from treasure.pages import Page

if TYPE_CHECKING:
    from treasure.addresses import AddressPolicy
    from treasure.evaluation.virtual_web import VirtualWeb

_HTML = "text/html"


@dataclass(frozen=True, slots=True)
class Given:
    """A page, and what it was read from."""

    page: Page
    body: bytes
    content_type: str = _HTML


def load_given(
    sources: Sequence[str],
    web: VirtualWeb | None,
    what: str,
    policy: AddressPolicy | None = None,
    *,
    contact: str = "",
) -> list[Given]:
    """Return the pages behind *sources*: files, or URLs of the virtual or the live web."""
    found = []
    for source in sources:
        try:
            if not source.startswith(("http://", "https://")):
                found.append(_from_file(Path(source)))
            elif web is not None:
                found.append(_from_archive(source, web))
            else:
                found.append(_from_live_web(source, policy, contact))
        except (OSError, UserError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(
                f"The {what} {source!r} cannot be read: {reason.rstrip('.')}."
                " Expected an HTML file, or an address that answers with one."
            ) from None
    return found


def pages_of(given: Sequence[Given]) -> list[Page]:
    """Return the pages without their copies."""
    return [one.page for one in given]


def _from_file(path: Path) -> Given:
    body = path.read_bytes()
    return Given(read_page(path.resolve().as_uri(), body), body)


def _from_archive(url: str, web: VirtualWeb) -> Given:
    response = web.follow(url)
    if response is None or not response.is_page:
        raise ConfigError(f"The web {web.path} has no page {url}.")
    return Given(response.page(), response.body, response.header("content-type") or _HTML)


def _from_live_web(url: str, policy: AddressPolicy | None, contact: str) -> Given:
    from treasure.fetch import fetch_body

    found = fetch_body(url, policy, contact=contact)
    return Given(found.page(), found.body, found.content_type)
