"""A lexicon small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.ddc.background import Background
from treasure.ddc.classes import parse
from treasure.ddc.container import load
from treasure.ddc.lexicon import Lexicon
from treasure.ddc.pack import pack

NO_BACKGROUND = Background([], {}, np.zeros((0, 4), np.float32))
"""Every stem is as rare as the next and has no kin: what is left can be computed by hand."""

SMALL = """
150 | psychology | psychology
155.95 | environmental psychology | clothing; mood
200 | religion | faith
203 | worship | ritual
294 | indian religions | temple
299 | other religions | shinto; taoism; voodoo
390 | customs | custom
391 | costume | clothing; costume
520 | astronomy | astronomy; telescope; star; observatory; sky; galaxy
523 | heavenly bodies | planet
595 | invertebrates | insect
595.7 | insects | beetle
595.789 | butterflies | butterfly; monarch butterfly
720 | architecture | temple
746.92 | fashion design | clothing; dress
951 | china | china
952 | japan | japan
973 | united states | american civil war; american civil war history; civil war
"""


def lexicon_of(text: str) -> Lexicon:
    return Lexicon(
        *load(pack(parse(text.splitlines(), "small"), NO_BACKGROUND, {}), "small"), "small"
    )


@pytest.fixture(scope="session")
def small() -> Lexicon:
    return lexicon_of(SMALL)
