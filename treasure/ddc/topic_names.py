"""From a topic's name to Dewey numbers: "butterflies" -> 595.789.

A class is meant when its own name is the topic's, or part of it is ("planets and asteroids"); else
when the topic is one of its terms, the better the nearer to the front of the class's line. Of a
class and one below it that fit about as well, the more precise is meant. Stems bring plurals
together, but also "university" and "universe": a match that only stems make counts less. "E-mail"
is spelt "email" as well, and no kind of mail.

Not every match says what the topic is. Gaelic football is one of hundreds of terms under sport, and
a crawl for it should not bring home tennis: that is *within* a class. Where nothing matches, the
words of the name are classified like a short text, a *guess*. The caller should say so.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from dataclasses import dataclass, replace

from treasure.ddc.lexicon import Lexicon
from treasure.ddc.numbers import digits
from treasure.ddc.weighted import WeightedGalaxy
from treasure.text import STOP, VOCABULARY, words

NAME, PART, TERM, WITHIN, GUESS = "name", "part of name", "term", "one of many terms", "words"

_PARTS = re.compile(r",|;|/|\(|\)|\band\b")
_STEM_ONLY = 0.5
_SECOND_REASON = 0.25
_ABOUT, _ROUGHLY = 0.8, 0.42
"""How well a number below another has to fit in comparison to be preferred."""
_WIDE, _CORE = 5, 0.37
"""Classes below a class that make it wide, and how well its first eight terms fit."""
_LETTER = re.compile(r"\b([^\W\d_])-(?=\w)")
"""A letter that makes another word of the next: e-business, x-ray."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number that a name may mean, how well it fits (1 is the name itself), and why."""

    number: str
    name: str
    fit: float
    why: str


class TopicNames:
    """Finds the numbers that a topic's name may mean."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._classes: dict[tuple[int, ...], list[tuple[str, str, float, str]]] = defaultdict(list)
        for number in lexicon.numbers:
            if number not in lexicon:
                continue
            name = lexicon.name(number)
            self._classes[_stems(name)].append((number, name, 1.0, NAME))
            parts = [part.strip() for part in _PARTS.split(name) if part.strip()]
            for place, part in enumerate(parts):
                if part != name:
                    fit = 0.45 + 0.3 / len(parts) + 0.05 * (place == 0)
                    self._classes[_stems(part)].append((number, part, fit, PART))

    def candidates(self, name: str, most: int = 8) -> list[Candidate]:
        """Return what *name* may mean, best first; empty when none of its words is known."""
        joined = _LETTER.sub(r"\1", name)
        if joined != name:
            found = self.candidates(joined, most)
            if found and found[0].why != GUESS:
                return found
        reasons: dict[str, list[tuple[float, str]]] = defaultdict(list)
        stems = _stems(name)
        if not stems:
            return []
        for number, text, fit, why in self._classes.get(stems, ()):
            if _letters(name) == _letters(text):
                reasons[number].append((fit * _likeness(name, text), why))
        for number, fit in self._as_term(name):
            reasons[number].append((fit, TERM))
        if not reasons:
            galaxy = WeightedGalaxy(self.lexicon).classify_text(name)
            for number, share in galaxy.numbers:
                reasons[number].append((0.3 * share, GUESS))
        found = [
            Candidate(number, self.lexicon.name(number), *_joined(given))
            for number, given in reasons.items()
        ]
        found.sort(key=lambda candidate: (-candidate.fit, digits(candidate.number)))
        return [self._placed(c) for c in _precise_first(found, set(stems))[:most]] if found else []

    def near(self, name: str) -> list[tuple[str, float]]:
        """Return names of classes that are spelt like *name*, with their likeness, best first."""
        known = {text for classes in self._classes.values() for _, text, _, _ in classes}
        found = difflib.get_close_matches(name.lower(), sorted(known), cutoff=0.75)
        return [
            (other, difflib.SequenceMatcher(None, other, name.lower()).ratio()) for other in found
        ]

    def neighbours(self, number: str, most: int = 8) -> list[Candidate]:
        """Return the classes around *number*: below it, then beside it."""
        own = digits(number)
        named = [n for n in self.lexicon.numbers if n != number and n in self.lexicon]
        below = [n for n in named if digits(n).startswith(own)]
        beside = [n for n in named if len(digits(n)) == len(own) and digits(n)[:-1] == own[:-1]]
        return [
            Candidate(n, self.lexicon.name(n), 0.0, why)
            for group, why in ((below, "below"), (beside, "beside"))
            for n in group[:most]
        ]

    def _placed(self, candidate: Candidate) -> Candidate:
        """Say of a term far down in a wide class that it is only within that class."""
        if candidate.why != TERM or candidate.fit >= _CORE:
            return candidate
        own = digits(candidate.number)
        lexicon = self.lexicon
        numbers = zip(lexicon.numbers, lexicon.digits, strict=True)
        below = sum(other.startswith(own) for number, other in numbers if number in lexicon)
        return replace(candidate, why=WITHIN) if below > _WIDE else candidate

    def _as_term(self, name: str) -> list[tuple[str, float]]:
        term = self.lexicon.find(name)
        if term is None or _letters(name) != _letters(self.lexicon.term(term)):
            return []
        likeness = _likeness(name, self.lexicon.term(term))
        start, stop = self.lexicon.posting_start[term : term + 2]
        return [
            (self.lexicon.numbers[number], likeness * (0.3 + 0.2 / (1 + min(place, 20) / 4)))
            for number, place in zip(
                self.lexicon.posting_number[start:stop].tolist(),
                self.lexicon.posting_place[start:stop].tolist(),
                strict=True,
            )
        ]


def _stems(name: str) -> tuple[int, ...]:
    return tuple(number for number in map(VOCABULARY.__getitem__, words(name)) if number != STOP)


def _letters(name: str) -> list[str]:
    return _LETTER.findall(name.lower())


def _joined(reasons: list[tuple[float, str]]) -> tuple[float, str]:
    """Return the best reason; a second one makes it a little better."""
    best, *others = sorted(reasons, reverse=True)
    fit = best[0] + _SECOND_REASON * sum(fit for fit, _ in others)
    return round(min(fit, 1.0), 3), best[1]


def _precise_first(found: list[Candidate], stems: set[int]) -> list[Candidate]:
    """Move a candidate below the first one to the front when it is rather meant.

    It is when it fits about as well, or when the first is just a class that lists the topic too,
    or names it beside others while the lower one has a word of it in its name.
    """
    for first, candidate in ((found[0], other) for other in found[1:]):
        if first.why == NAME or not digits(candidate.number).startswith(digits(first.number)):
            continue
        named = first.why == TERM or stems & set(_stems(candidate.name))
        if candidate.fit >= (_ROUGHLY if named else _ABOUT) * first.fit:
            return [candidate, *(other for other in found if other is not candidate)]
    return found


def _likeness(one: str, other: str) -> float:
    """Return 1 for texts that differ in number at most ("city", "cities"), less for others."""
    return 1.0 if _singular(one) == _singular(other) else _STEM_ONLY


def _singular(text: str) -> list[str]:
    return [
        re.sub(r"(?<=[^aeious])ies$|(?<=ch|sh|ss|.x)es$|(?<=[^s])s$", _ending, w)
        for w in words(text)
    ]


def _ending(match: re.Match[str]) -> str:
    return "y" if match.group() == "ies" else ""
