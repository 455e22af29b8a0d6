"""In which language a page is written, from its most common words.

Enough to tell that a page is not in a language we asked for. Pages mostly say it themselves, and
then nobody asks here; short texts and languages not listed give an empty answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from treasure.errors import TopicError

_CODE = re.compile(r"[a-z]{2,3}")
_COMMON = {
    "en": "the of and to in is that for it as was with on are by this from be an or which at",
    "de": "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch",
    "fr": "le la les et des en un une du que est pour qui dans par sur pas plus au ne ce",
    "es": "el los las y del que en una por con para es se como más su al lo pero sus",
    "it": "il di che la per una sono con non del della si dei le più anche gli alla nel",
    "pt": "o os as e do da que em um uma para com não por mais dos das foi ao se",
    "nl": "de het een van en is dat op te zijn met voor niet aan er ook als maar om bij",
    "sv": "och att det som en på är av för med den till inte om har de ett var men",
    "pl": "w i na z do się nie że to jest o jak od po przez dla ale co przy",
    "ru": "и в не на что с по как это к из у от за для но о же так",
}
_LANGUAGES = {language: frozenset(text.split()) for language, text in _COMMON.items()}
_SAMPLE = 400
_MIN_WORDS = 30
_MIN_SHARE = 0.12


def guess(words: Sequence[str]) -> str:
    """Return the ISO 639-1 code of the language of *words*; empty when it cannot be told."""
    sample = words[:_SAMPLE]
    if len(sample) < _MIN_WORDS:
        return ""
    shares = {
        language: sum(word in common for word in sample) / len(sample)
        for language, common in _LANGUAGES.items()
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= _MIN_SHARE else ""


def language_codes(given: Iterable[str], what: str) -> tuple[str, ...]:
    """Return *given* as pages name their language; raise TopicError for what is no code."""
    codes = tuple(code.strip().lower() for code in given)
    for code in codes:
        if not _CODE.fullmatch(code):
            raise TopicError(f"{what} must be codes such as 'en' or 'de'. Got {code!r} instead.")
    return codes
