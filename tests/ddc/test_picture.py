import xml.etree.ElementTree as ET

import pytest

from treasure.ddc.galaxy import PlainGalaxy
from treasure.ddc.picture import draw
from treasure.ddc.weighted import WeightedGalaxy
from treasure.errors import UserError


@pytest.mark.parametrize("text", ["butterflies of china", "nothing known"])
@pytest.mark.parametrize("kind", [PlainGalaxy, WeightedGalaxy])
def test_a_galaxy_is_drawn(small, tmp_path, text, kind):
    galaxy = kind(small).classify_text(text)
    draw(galaxy, tmp_path / "g.svg")
    root = ET.parse(tmp_path / "g.svg").getroot()
    assert root.tag.endswith("svg")
    draw(galaxy, tmp_path / "g.png")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")


def test_other_formats_are_refused(small, tmp_path):
    with pytest.raises(UserError, match=r"written as .svg or .png. Got 'g.pdf'"):
        draw(PlainGalaxy(small).classify_text("star"), tmp_path / "g.pdf")
    with pytest.raises(UserError, match="cannot be written"):
        draw(PlainGalaxy(small).classify_text("star"), tmp_path / "no" / "g.svg")
