"""The strategies by name. Names, not classes: a crawl imports only the strategy it runs."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import cast

from treasure.errors import ConfigError, UserError, did_you_mean
from treasure.strategies.base import Brief, Strategy

STRATEGIES = {
    "treasure": "treasure.strategies.treasure:Treasure",
    "treasure-paper": "treasure.strategies.treasure_paper:TreasurePaper",
    "breadth-first": "treasure.strategies.breadth_first:BreadthFirst",
    "random": "treasure.strategies.random_walk:RandomWalk",
    "best-first": "treasure.strategies.best_first:BestFirst",
    "anchor": "treasure.strategies.anchor:Anchor",
    "link-context": "treasure.strategies.link_context:LinkContext",
    "shark-search": "treasure.strategies.shark_search:SharkSearch",
    "hybrid": "treasure.strategies.hybrid:Hybrid",
    "context-graph": "treasure.strategies.context_graph:ContextGraph",
    "pal": "treasure.strategies.pal:Pal",
    "cbp": "treasure.strategies.cbp_slc:Cbp",
    "slc": "treasure.strategies.cbp_slc:Slc",
    "cbp-slc": "treasure.strategies.cbp_slc:CbpSlc",
    "naive-bayes": "treasure.strategies.naive_bayes:NaiveBayes",
    "q-learning": "treasure.strategies.q_learning:QLearning",
    "ache": "treasure.strategies.ache:Ache",
    "url-keywords": "treasure.strategies.url_keywords:UrlKeywords",
    "nutch": "treasure.strategies.nutch:Nutch",
}


def strategy_class(name: str) -> type[Strategy]:
    """Return the class behind *name*."""
    try:
        module, _, attribute = STRATEGIES[name].partition(":")
    except KeyError:
        raise ConfigError(
            f"There is no strategy {name!r}.{did_you_mean(name, STRATEGIES)}"
            f" Known: {', '.join(sorted(STRATEGIES))}."
        ) from None
    return cast("type[Strategy]", getattr(import_module(module), attribute))


def make_strategy(name: str, brief: Brief) -> Strategy:
    """Return the strategy *name*, ready to crawl; options of the brief go to its constructor."""
    cls = strategy_class(name)
    missing = sorted(need for need in cls.needs if not getattr(brief, need))
    if missing:
        raise ConfigError(f"The strategy {name!r} needs {' and '.join(missing)}; none given.")
    known = [option for option in signature(cls).parameters if option != "brief"]
    for option in brief.options:
        if option not in known:
            raise ConfigError(
                f"The strategy {name!r} has no option {option!r}.{did_you_mean(option, known)}"
                f" Known: {', '.join(known) or 'none'}."
            )
    try:
        return cls(brief, **brief.options)
    except UserError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(f"The strategy {name!r} cannot take these options: {error}.") from None
