"""The judge: one verdict a page, from words, numbers and examples."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from treasure.core.witness import span_evidence
from treasure.ddc.judge import Judge
from treasure.errors import ConfigError
from treasure.extract import read_page
from treasure.pages import Page
from treasure.text import VOCABULARY, words
from treasure.topics import Topic

BIRDS = Topic("birds", "Birds: their plumage, nests, eggs, song and migration.", numbers=("598",))
TRAINS = Topic("railways", "Railways: locomotives, trains and stations.", numbers=("385",))

OWL = (
    "Owls are birds of prey that hunt at night. Their plumage is soft and their wings are silent."
    " An owl nests in hollow trees and lays white eggs. The tawny owl feeds its young with mice."
)
TRAIN = (
    "The locomotive pulled eight carriages over the new railway line. At the station passengers"
    " waited on the platform for the express train, while freight wagons stood in the siding."
)
TAX = (
    "The finance minister presented the budget to parliament. Income tax rises for the highest"
    " earners and the duty on tobacco goes up, while companies may write off investments faster."
)


def page(name: str, text: str, language: str = "en") -> Page:
    html = f"<html lang={language}><title>{name}</title><body><p>{text}</p></body></html>"
    return read_page(f"http://example.org/{name}", html)


def many(count: int) -> list[Page]:
    subjects = ["wheat", "bridge", "violin", "enzyme", "senate", "glacier", "vaccine", "novel"]
    return [
        page(
            f"other-{n}",
            " ".join(
                f"the {subjects[(n + k) % 8]} number{n} was studied {k} times" for k in range(9)
            ),
        )
        for n in range(count)
    ]


def test_a_name_and_a_number_are_enough() -> None:
    judge = Judge([BIRDS])
    assert judge.verdict(page("owl", OWL)).on_topic
    assert not judge.verdict(page("tax", TAX)).on_topic
    assert not judge.verdict(page("train", TRAIN)).on_topic


def test_a_topic_without_a_number_works_by_its_words() -> None:
    judge = Judge([Topic("owls", "Owls, birds of prey that hunt at night.", keywords=("owl",))])
    assert judge.verdict(page("owl", OWL)).relevance > judge.verdict(page("train", TRAIN)).relevance


def test_one_verdict_per_page_whatever_was_learned_since() -> None:
    judge = Judge([BIRDS], examples=[page("a", OWL), page("b", OWL + " Herons wade.")])
    first = judge.verdict(page("owl", OWL))
    for other in many(40):
        judge.verdict(other)
    assert judge.verdict(page("owl", OWL)) == first


def test_examples_teach_words_that_no_lexicon_knows() -> None:
    strange = "The zorblax quibbles when the frandle is ripe, and every zorblax keeps a frandle."
    examples = [page(f"z{n}", f"{strange} It was seen {n} times in the wood.") for n in range(5)]
    test = page("new", "A zorblax was seen near the frandle. " * 6)
    without = Judge([BIRDS], background=many(40)).verdict(test).relevance
    with_examples = Judge([BIRDS], examples=examples, background=many(40)).verdict(test).relevance
    assert without < 0.5 < with_examples


def test_examples_without_text_teach_nothing(caplog: pytest.LogCaptureFixture) -> None:
    owls = [page(f"o{n}", f"{OWL} It was seen {n} times.") for n in range(5)]
    shells = [page(f"s{n}", "") for n in range(5)]
    told = Judge([BIRDS], examples=owls, background=many(40))
    shown = Judge([BIRDS], examples=[*owls, *shells], background=many(40))
    for name, text in (("owl", OWL), ("train", TRAIN)):
        assert shown.verdict(page(name, text)) == told.verdict(page(name, text))
    assert "Nothing is learned from the example http://example.org/s0: it has 0" in caplog.text
    judge = Judge([BIRDS], background=many(40))
    models = judge.models
    assert judge.relabel(shells[0], True).on_topic
    assert judge.models is models


def test_several_topics_are_kept_apart() -> None:
    judge = Judge([BIRDS, TRAINS])
    assert judge.verdict(page("owl", OWL)).topic == "birds"
    assert judge.verdict(page("train", TRAIN)).topic == "railways"
    assert judge.verdict(page("train", TRAIN)).on_topic


def test_examples_of_one_topic_count_for_that_topic() -> None:
    examples = {"railways": [page(f"t{n}", f"{TRAIN} zorblax {n}") for n in range(5)]}
    judge = Judge([BIRDS, TRAINS], examples=examples, background=many(40))
    assert judge.verdict(page("new", "zorblax train zorblax station " * 8)).topic == "railways"


@pytest.mark.parametrize(("policy", "kept"), [("drop", False), ("keep", True)])
def test_too_little_text_is_unsure_and_the_policy_decides(policy: str, kept: bool) -> None:
    verdict = Judge([BIRDS], unsure=policy).verdict(page("short", "An owl."))
    assert verdict.unsure
    assert verdict.on_topic is kept
    assert "words" in verdict.reason


def test_another_language_than_asked_for_is_off_topic() -> None:
    judge = Judge([BIRDS], languages=["en"])
    german = "Die Eule ist ein Vogel und jagt in der Nacht; das Gefieder ist weich und der Flug"
    undeclared = read_page("http://example.org/eule", f"<p>{german} {german} {german}</p>")
    for foreign in (page("eule", OWL, "de"), undeclared):
        verdict = judge.verdict(foreign)
        assert (verdict.on_topic, verdict.unsure, verdict.reason) == (False, True, "language de")
    assert judge.verdict(page("owl", OWL)).on_topic


@pytest.mark.parametrize("text", ["", "12 34 56 " * 40, "鳥 " * 50, "\ufffd\x00" * 30])
def test_nothing_to_read_gives_an_unsure_verdict(text: str) -> None:
    verdict = Judge([BIRDS]).verdict(page("odd", text))
    assert not verdict.on_topic
    assert 0.0 <= verdict.relevance <= 1.0


def test_a_huge_page_is_judged() -> None:
    assert Judge([BIRDS]).verdict(page("long", f"{OWL} " * 4000)).on_topic


def test_any_text_can_be_rated() -> None:
    judge = Judge([BIRDS])
    owl = judge.text_relevance(VOCABULARY.ids(words("the barn owl")))
    tax = judge.text_relevance(VOCABULARY.ids(words("income tax")))
    assert 0.0 <= tax < owl <= 1.0
    assert judge.text_relevance(np.empty(0, np.int32)) < 0.5


def test_of_several_topics_the_nearest_speaks_for_a_short_text() -> None:
    judge = Judge([BIRDS, TRAINS])
    models, dewey, rarity = judge.tables
    assert [slope for _, slope, _ in models] == [model.slope for model in judge.models]
    terms = VOCABULARY.ids(words("the owl at the locomotive"))
    bounds = np.zeros((3, 10), np.int32)
    bounds[:, 2:4] = [(0, 2), (2, 5), (3, 3)]
    found, alone = np.empty((3, 4), np.float32), np.empty((2, 3, 4), np.float32)
    span_evidence(terms, bounds, models, found)
    for model, own in zip(models, alone, strict=True):
        span_evidence(terms, bounds, [model], own)
    assert found.tolist() == alone.max(axis=0).tolist()
    assert found[0, 0] > found[2, 0]
    assert dewey.shape[1] == 2
    assert rarity[-1] == 0.0


def test_what_people_say_is_learned_and_kept() -> None:
    judge = Judge([BIRDS], background=many(40))
    tax = page("tax", TAX)
    assert not judge.verdict(tax).on_topic
    assert judge.relabel(tax, True).on_topic
    assert judge.verdict(tax).on_topic
    likewise = page("tax-2", TAX)
    assert judge.verdict(likewise).on_topic
    restored = Judge([BIRDS])
    restored.restore(judge.state())
    assert restored.verdict(likewise).relevance == pytest.approx(
        judge.verdict(likewise).relevance, abs=0.05
    )


def test_a_restored_judge_goes_on() -> None:
    examples = [page("a", OWL), page("b", OWL + " Herons wade.")]
    first = Judge([BIRDS], examples=examples)
    for other in many(30):
        first.verdict(other)
    second = Judge([BIRDS], examples=examples)
    second.restore(first.state())
    first.refit()
    second.refit()
    test = page("owl", OWL)
    assert second.verdict(test).relevance == pytest.approx(first.verdict(test).relevance, abs=1e-3)


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(ConfigError, match="at least one topic"):
        Judge([])
    with pytest.raises(ConfigError, match="drop or keep"):
        Judge([BIRDS], unsure="maybe")


def test_who_waits_while_a_fit_is_being_started_waits_for_its_end(monkeypatch):
    judge = Judge([Topic("astronomy", numbers=("52",))])
    reached, start = threading.Event(), threading.Thread.start

    def slowly(thread):
        if thread.name == "judge":
            reached.set()
            time.sleep(0.2)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", slowly)
    beginning = threading.Thread(target=judge.work_beside)
    beginning.start()
    assert reached.wait(10)
    judge.wait()  # it raised: cannot join thread before it is started
    assert judge._fitted
    beginning.join()
