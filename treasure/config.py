"""TreasureConfig: every setting, declared once with type, default, bounds and meaning.

A setting is read from Scrapy's settings as ``TREASURE_<NAME>``; everything is checked before the
first request, and a name that does not exist stops the crawl. docs/settings.md is written from
this module (``make docs``), and a test fails when it is not.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from treasure.errors import ConfigError, did_you_mean

PREFIX = "TREASURE_"


def setting(
    default: Any,
    meaning: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    choices: Sequence[str] | None = None,
) -> Any:
    """Declare a setting."""
    details = {"meaning": meaning, "at_least": at_least, "at_most": at_most, "choices": choices}
    if isinstance(default, (dict, list)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=details)
    return dataclasses.field(default=default, metadata=details)


@dataclass(frozen=True)
class TreasureConfig:
    """The settings of one crawl."""

    # -- topic and verdict
    topic: str = setting("", "Number, name, comma list or topic file; `-a topic=` wins.")
    topic_threshold: float = setting(
        0.5, "Least relevance of a page we keep.", at_least=0, at_most=1
    )
    topic_languages: list[str] = setting(
        [], "ISO 639-1 codes of the languages we keep; empty keeps all."
    )
    topic_unsure: str = setting(
        "drop",
        "What happens to pages with too little text to judge.",
        choices=("drop", "keep"),
    )
    topic_min_words: int = setting(
        20, "Pages with fewer words of main text are unsure.", at_least=0
    )
    ddc_lexicon: str = setting("", "Packed lexicon to use instead of the embedded one.")

    # -- strategy
    strategy: str = setting("treasure", "How links are scored; docs/strategies.md lists the ways.")
    strategy_options: dict[str, Any] = setting({}, "Options of the strategy, by name.")
    random_seed: int = setting(0, "Seed of everything that is drawn.", at_least=0)
    examples: list[str] = setting(
        [], "URLs or files of pages on topic; not downloaded again when met."
    )
    negatives: list[str] = setting([], "URLs or files of pages off topic that look alike.")

    # -- T-Graph
    tgraph: str = setting("", "T-Graph file or name; empty grows one from nothing.")
    tgraph_levels: int = setting(4, "Levels of the T-Graph.", at_least=1, at_most=10)
    tgraph_threshold: float = setting(
        0.05, "Least OSM at which a node matches a link.", at_least=0, at_most=1
    )
    tgraph_max_nodes: int = setting(
        5_000, "Nodes a graph may grow to; the least useful are forgotten.", at_least=10
    )
    tgraph_watchdog: bool = setting(True, "Whether the graph grows and shrinks during the crawl.")

    # -- job and limits
    order: str = setting(
        "treasure",
        "Whose order the requests of your own spiders have: ours, or Scrapy's for comparison.",
        choices=("treasure", "scrapy"),
    )
    job: str = setting("", "Name of the crawl; the same name continues it. Empty makes one.")
    runs_dir: str = setting("data/runs", "Folder of frontiers, reports and the default repository.")
    save_seconds: float = setting(
        60.0, "How often what was learned is kept; 0 keeps it at the end only.", at_least=0
    )
    max_pages: int = setting(
        0, "Pages of a job, earlier runs included, at which we stop; 0 is no limit.", at_least=0
    )
    max_minutes: float = setting(0.0, "Minutes before we stop; 0 is no limit.", at_least=0)
    max_depth: int = setting(0, "Most links between a seed and a page; 0 is no limit.", at_least=0)
    max_pages_per_host: int = setting(0, "Pages of one host; 0 is no limit.", at_least=0)
    max_pages_per_pattern: dict[str, Any] = setting(
        {}, 'Pages whose URL matches a pattern, at most, such as `{"*/tag/*": 100}`.'
    )
    max_links_per_page: int = setting(5_000, "Links we read from one page.", at_least=1)
    max_page_bytes: int = setting(
        5_000_000, "Larger pages are not downloaded.", at_least=1_000, at_most=100_000_000
    )
    allowed_domains: list[str] = setting([], "Domains we stay within; empty is everywhere.")
    blocked: list[str] = setting(
        [], "Hosts, domains (`.example.org`) or URL patterns (`*/login*`) we never fetch."
    )
    content_types: list[str] = setting(
        ["text/html", "application/xhtml+xml"], "Types of content that count as pages."
    )

    # -- frontier
    frontier: str = setting(
        "embedded", "Where links wait: `memory`, `embedded`, or a `redis://` URL."
    )
    frontier_ageing_fetches: int = setting(
        20_000, "Fetches in which a waiting link's score grows by 1; 0 switches it off.", at_least=0
    )
    frontier_exploration: float = setting(
        0.0, "Share of fetches drawn at random among the waiting.", at_least=0, at_most=1
    )
    frontier_lease_seconds: float = setting(
        120.0, "How long a silent worker keeps its links and hosts (Redis).", at_least=1
    )
    frontier_max_links: int = setting(
        0, "Queued links at which the worst are dropped; 0 keeps all.", at_least=0
    )

    # -- politeness
    host_delay_seconds: float = setting(
        1.0, "Seconds between two requests to a host, at least.", at_least=0
    )
    host_concurrency: int = setting(1, "Requests to one host at the same time.", at_least=1)
    crawl_delay_max_seconds: float = setting(
        60.0, "Longest Crawl-delay of a robots.txt we follow to the letter.", at_least=0
    )
    retry_after_max_seconds: float = setting(
        86_400.0, "Longest Retry-After we wait for.", at_least=0
    )
    retry_times: int = setting(
        2, "How often a fetch that may yet succeed is tried again.", at_least=0, at_most=20
    )
    retry_seconds: float = setting(
        5.0, "Wait before the first retry; each further one waits four times as long.", at_least=0
    )
    obey_nofollow: bool = setting(True, "Whether rel=nofollow links stay unqueued.")
    sitemaps: bool = setting(True, "Whether sitemaps named in robots.txt are read for links.")
    sitemap_max_links: int = setting(10_000, "Links we take from one sitemap.", at_least=1)
    host_clock: bool = setting(
        True, "Whether jobs with the same runs folder share the delay of each host."
    )
    latency_backoff: float = setting(
        3.0, "Times the usual latency at which the crawl slows down; 0 never.", at_least=0
    )
    contact: str = setting(
        "", "URL or mail address that webmasters find in our user agent; needed on the live web."
    )
    speed_windows: list[str] = setting(
        [], "Hours and rates, such as `mon-fri 08:00-18:00 2/s`; empty is no schedule."
    )
    max_pages_per_second: float = setting(
        0.0, "Ceiling over a sliding window; 0 is none.", at_least=0
    )
    max_bytes_per_second: float = setting(
        0.0, "Ceiling over a sliding window; 0 is none.", at_least=0
    )
    allowed_networks: list[str] = setting(
        [], "Private networks we may fetch from, such as `127.0.0.0/8`."
    )

    # -- repository
    repository: str = setting("", "SQLAlchemy URL; empty is a SQLite file in the runs folder.")
    repository_batch_pages: int = setting(100, "Pages per transaction at most.", at_least=1)
    repository_batch_seconds: float = setting(
        1.0, "Longest time a page waits for its transaction.", at_least=0.01
    )
    repository_html: str = setting(
        "on_topic", "Whose raw HTML is kept.", choices=("all", "on_topic", "none")
    )

    main_text: str = setting(
        "trafilatura",
        "How a process beside the crawl finds the main text of stored pages before it indexes them;"
        " `later` leaves all that to `treasure refresh`.",
        choices=("trafilatura", "blocks", "later"),
    )
    refresh_least_days: float = setting(
        0.05, "Shortest time between two looks, in days.", at_least=0
    )
    refresh_most_days: float = setting(180.0, "Longest time between two looks.", at_least=0)

    # -- browser
    browser: str = setting(
        "off",
        "Which pages a browser renders: none, those of listed hosts, or also empty shells.",
        choices=("off", "hosts", "shells"),
    )
    browser_hosts: list[str] = setting([], "Hosts whose pages a browser renders.")

    # -- virtual web
    web: str = setting(
        "", "WARC file that stands for the web; nothing is fetched from the network."
    )

    # -- seeing it
    metrics_port: int = setting(
        0, "Port of the Prometheus endpoint on loopback; 0 is off.", at_least=0, at_most=65_535
    )
    progress: bool = setting(True, "Whether a progress line is shown.")
    explain: bool = setting(True, "Whether scores are recorded for `treasure explain`.")
    report: bool = setting(True, "Whether a run report is written at the end.")

    @classmethod
    def names(cls) -> dict[str, dataclasses.Field[Any]]:
        """Return every setting by its full name."""
        return {PREFIX + field.name.upper(): field for field in dataclasses.fields(cls)}

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> TreasureConfig:
        """Return the checked settings; *settings* may hold names that are not ours."""
        names = cls.names()
        types = get_type_hints(cls)
        values: dict[str, Any] = {}
        for name in settings:
            if not name.startswith(PREFIX):
                continue
            field = names.get(name)
            if field is None:
                raise ConfigError(
                    f"There is no setting {name}.{did_you_mean(name, names)}"
                    " docs/settings.md lists them all."
                )
            values[field.name] = _checked(name, settings[name], types[field.name], field.metadata)
        return cls(**values)

    @classmethod
    def read_stored(
        cls, settings: Mapping[str, Any], changes: Mapping[str, Any] | None = None
    ) -> TreasureConfig:
        """Return the settings that a job was stored with, and *changes* to them.

        A job may be older than this Treasure: what is no setting any more is passed over.
        """
        known = {name: value for name, value in settings.items() if name in cls.names()}
        return cls.read(known | dict(changes or {}))


def settings_of(arguments: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Return spider arguments (``-a topic=``) as settings (``TREASURE_TOPIC``).

    *others* are arguments that are no settings; they may be what a misspelt one means.
    """
    names = TreasureConfig.names()
    settings = {}
    for argument, value in arguments.items():
        name = PREFIX + argument.upper()
        if name not in names:
            known = [*others, *(full.removeprefix(PREFIX).lower() for full in names)]
            raise ConfigError(
                f"There is no spider argument {argument!r}.{did_you_mean(argument, known)}"
            )
        settings[name] = value
    return settings


def _checked(name: str, value: Any, kind: Any, details: Mapping[str, Any]) -> Any:
    checked = _converted(name, value, kind)
    low, high, choices = details["at_least"], details["at_most"], details["choices"]
    if isinstance(checked, (int, float)) and not isinstance(checked, bool):
        if low is not None and high is not None and not low <= checked <= high:
            raise ConfigError(f"{name} must be between {low} and {high}. Got {value!r} instead.")
        if (low is not None and checked < low) or (high is not None and checked > high):
            bound = f"at least {low}" if low is not None else f"at most {high}"
            raise ConfigError(f"{name} must be {bound}. Got {value!r} instead.")
    if choices is not None and checked not in choices:
        raise ConfigError(
            f"{name} must be one of {', '.join(choices)}. Got {value!r} instead."
            f"{did_you_mean(str(value), choices)}"
        )
    return checked


def _converted(name: str, value: Any, kind: Any) -> Any:
    """Return *value* as *kind*; values of the command line and of Scrapyd come as strings."""
    try:
        if kind is bool:
            return _truth(value)
        if kind is int:
            if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
                raise ValueError
            return int(value)
        if kind is float:
            number = float(value)
            if number != number or number in (float("inf"), float("-inf")):
                raise ValueError
            return number
        if kind is str:
            return "" if value is None else str(value)
        if str(kind).startswith("list"):
            if isinstance(value, str):
                return [part.strip() for part in value.split(",") if part.strip()]
            return [str(part) for part in value]
        decoded = json.loads(value) if isinstance(value, str) else value
        return dict(decoded)
    except (ValueError, TypeError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(
            kind, "a list" if str(kind).startswith("list") else "a JSON object"
        )
        raise ConfigError(f"{name} must be {wanted}. Got {value!r} instead.") from None


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off", ""}:
        return False
    raise ValueError(value)
