"""Write docs/settings.md from the declarations in treasure/config.py."""

from __future__ import annotations

from typing import get_type_hints

from treasure.config import TreasureConfig

HEAD = """# Settings

Every setting of Treasure, written from `treasure/config.py` by `make docs`. Set them like any
Scrapy setting: in `settings.py`, with `-s NAME=value`, in a spider's `custom_settings`, or as a
spider argument without the prefix (`-a max_pages=500` sets `TREASURE_MAX_PAGES`). They are checked
before the first request; a misspelt name or a value out of bounds stops the crawl and says what
was expected. Lists may be given as comma lists, objects as JSON.

| setting | type | default | bounds | meaning |
| --- | --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page."""
    types = get_type_hints(TreasureConfig)
    defaults = TreasureConfig()
    rows = []
    for name, field in TreasureConfig.names().items():
        details = field.metadata
        kind = getattr(types[field.name], "__name__", str(types[field.name]))
        bounds = ", ".join(details["choices"]) if details["choices"] else ""
        if details["at_least"] is not None or details["at_most"] is not None:
            low = details["at_least"] if details["at_least"] is not None else "-∞"
            high = details["at_most"] if details["at_most"] is not None else "∞"
            bounds = f"{low} to {high}"
        default = getattr(defaults, field.name)
        rows.append(f"| `{name}` | {kind} | `{default!r}` | {bounds} | {details['meaning']} |")
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
