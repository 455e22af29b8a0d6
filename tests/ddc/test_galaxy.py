"""The papers' galaxy, worked by hand."""

import numpy as np
import pytest

from tests.ddc.conftest import lexicon_of
from treasure.ddc.galaxy import PlainGalaxy, on_topic
from treasure.text import VOCABULARY, words


@pytest.fixture(scope="module")
def plain(small):
    return PlainGalaxy(small)


def weights(step):
    return {region.prefix: (region.dots, region.weight, region.won) for region in step}


def test_the_walk_of_figure_4(plain):
    # TC 5.1: first the religions (2), within them other religions (29), at last 299.
    # Dots: shinto, taoism, voodoo at 299; temple at 294 and 72; ritual at 203; japan at 952.
    galaxy = plain.classify_text("Shinto, Taoism, voodoo: temple and ritual in Japan")
    first, second, third = galaxy.steps()
    assert weights(first) == {
        "2": (5, 5 * (3 + 3 + 3 + 3 + 3), True),
        "9": (1, 1 * 3, False),
        "7": (1, 1 * 2, False),
    }
    assert weights(second) == {"29": (4, 4 * 12, True), "20": (1, 3, False)}
    assert weights(third) == {"299": (3, 3 * 9, True), "294": (1, 3, False)}
    assert galaxy.numbers == (("299", pytest.approx(9 / 20)),)


def test_clothing_has_three_numbers_and_two_of_them_tie(plain):
    # TC 5.1: 155.95, 391 and 746.92. Lengths 5, 3 and 5: psychology and the arts tie to the end.
    galaxy = plain.classify_text("clothing")
    assert weights(galaxy.steps()[0]) == {"1": (1, 5, True), "7": (1, 5, True), "3": (1, 3, False)}
    assert [number for number, _ in galaxy.numbers] == ["155.95", "746.92"]


def test_customs_decide_what_clothing_means(plain):
    # 391 (3) and 39 (2): W = 2 x 5 = 10 against 5 and 5; then 391 alone has a third digit.
    galaxy = plain.classify_text("clothing customs")
    assert weights(galaxy.steps()[0])["3"] == (2, 10, True)
    assert [number for number, _ in galaxy.numbers] == ["391"]


def test_butterflies_are_found_digit_by_digit(plain):
    # TG Fig. 1: science, animals, invertebrates, insects, ..., butterflies; by the stem.
    galaxy = plain.classify_text("Butterflies")
    walked = [[region.prefix for region in step] for step in galaxy.steps()]
    assert walked == [["5"], ["59"], ["595"], ["5957"], ["59578"], ["595789"]]
    assert galaxy.numbers == (("595.789", 1.0),)


def test_words_of_the_anchor_count_40_percent_more(plain):
    terms = VOCABULARY.ids(words("mood dress"))
    tie = plain.classify(terms)
    assert [number for number, _ in tie.numbers] == ["155.95", "746.92"]
    won = plain.classify(terms, np.array([False, True]))
    assert weights(won.steps()[0]) == {"7": (1, pytest.approx(7.0), True), "1": (1, 5, False)}
    assert [number for number, _ in won.numbers] == ["746.92"]


def test_one_plot_serves_all_anchors_of_a_text(plain):
    text = "mood dress shinto taoism temple planet china"
    terms = VOCABULARY.ids(words(text))
    plot = plain.plot(terms)
    for place in range(len(terms)):
        anchor = np.arange(len(terms)) == place
        galaxy = plain.classify(terms, anchor)
        assert plot.winners(anchor) == tuple(sorted(number for number, _ in galaxy.numbers))
        boundary = plot.boundary(plot.winners(anchor), len(terms))
        assert boundary.tolist() == galaxy.hits.words(galaxy.inside(), len(terms)).tolist()


def test_every_occurrence_is_a_dot(plain):
    galaxy = plain.classify_text("planet planet planet china")
    assert weights(galaxy.steps()[0])["5"] == (3, 27, True)


def test_a_lone_dot_below_many_is_not_entered(plain):
    # Six dots at 52 and one at 523: "the best region holds a single dot, its parent more than 5".
    many = plain.classify_text("astronomy telescope star observatory sky galaxy planet")
    assert [number for number, _ in many.numbers] == ["52"]
    few = plain.classify_text("astronomy telescope star observatory planet")
    assert [number for number, _ in few.numbers] == ["523"]


def test_a_tie_with_a_region_that_goes_no_deeper_is_kept():
    lexicon = lexicon_of("500 | science | alpha\n730.1 | theory of sculpture | gamma")
    # alpha twice at 5: 2 x (1 + 1) = 4; gamma once at 730.1: 1 x 4 = 4.
    galaxy = PlainGalaxy(lexicon).classify_text("alpha gamma alpha")
    assert weights(galaxy.steps()[0]) == {"5": (2, 4, True), "7": (1, 4, True)}
    assert {number for number, _ in galaxy.numbers} == {"5", "730.1"}


def test_outliers_are_cut_and_the_rest_is_the_boundary(plain):
    text = "The Shinto shrine of Japan, Taoism, and voodoo"
    galaxy = plain.classify_text(text)
    boundary = galaxy.hits.words(galaxy.inside(), len(words(text)))
    inside = [word for word, kept in zip(words(text), boundary, strict=True) if kept]
    assert inside == ["shinto", "taoism", "voodoo"]
    assert galaxy.explain()["outliers"] == ["japan"]


def test_on_topic_as_the_papers_and_our_decision_say(plain):
    galaxy = plain.classify_text("astronomy telescope star observatory sky galaxy planet")
    numbers = [number for number, _ in galaxy.numbers]
    assert on_topic(numbers, ["520"]) == 1.0
    assert on_topic(numbers, ["500"]) == 1.0
    assert on_topic(numbers, ["523.4"]) == 0.5  # stopped on the way to it
    assert on_topic(numbers, ["610"]) == 0.0
    assert on_topic([], ["5"]) == 0.0


def test_share_is_the_weight_under_any_prefix(plain):
    galaxy = plain.classify_text("planet china")
    assert galaxy.share(["520"]) == galaxy.share(["950"]) == 0.5
    assert galaxy.share(["520", "523"]) == 0.5
    assert galaxy.share(["520", "950"]) == 1.0
    assert galaxy.share([]) == 0.0


@pytest.mark.parametrize("text", ["", "1999 2000", "звезда", "the of and"])
def test_nothing_known_gives_an_empty_galaxy(plain, text):
    galaxy = plain.classify_text(text)
    assert not galaxy
    assert galaxy.numbers == ()
    assert galaxy.share(["5"]) == 0.0
    assert galaxy.explain()["numbers"] == []


def test_explain_names_words_numbers_and_regions(plain):
    explanation = plain.classify_text("butterflies and planets, butterflies").explain()
    assert explanation["numbers"] == [
        {
            "number": "595.789",
            "name": "butterflies",
            "weight": 0.8,
            "words": [{"word": "butterfly", "count": 2, "weight": 12.0}],
        }
    ]
    assert explanation["regions"][1][0]["prefix"] == "59"
    assert explanation["regions"][1][0]["won"]
    assert explanation["dots"] == 3
