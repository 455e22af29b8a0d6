"""Document frequencies, the PU logistic regression and its calibration."""

from __future__ import annotations

import numpy as np
import pytest

from treasure.core.witness import span_evidence
from treasure.ddc.page_model import (
    Document,
    DocumentFrequencies,
    Ids,
    PageModel,
    balanced,
    document,
    fit,
    matrix,
    pack_documents,
    unpack_documents,
)
from treasure.text import VOCABULARY


def text(words: str) -> Document:
    return document(VOCABULARY.ids(words.split()))


def test_a_document_counts_its_terms() -> None:
    counted = text("owl owl the nest")
    named = dict(zip(map(VOCABULARY.stem, counted.terms.tolist()), counted.counts, strict=True))
    assert named == {"owl": 2.0, "nest": 1.0}


def test_rare_terms_weigh_more() -> None:
    frequencies = DocumentFrequencies()
    for words in ("common rare", "common", "common", "common"):
        frequencies.add(text(words).terms)
    common, rare = VOCABULARY["common"], VOCABULARY["rare"]
    assert frequencies.idf[rare] > frequencies.idf[common]
    assert frequencies.idf[common] == pytest.approx(1 + np.log(6 / 5))


def test_rows_are_unit_vectors() -> None:
    frequencies = DocumentFrequencies()
    rows = matrix([text("owl nest nest"), text("")], frequencies.idf)
    assert np.linalg.norm(rows[0].toarray()) == pytest.approx(1.0)
    assert rows[1].nnz == 0


def test_both_classes_weigh_the_same() -> None:
    labels = np.array([1.0, 0.0, 0.0, 0.0])
    weights = balanced(labels, np.ones(4))
    assert weights[labels == 1].sum() == pytest.approx(weights[labels == 0].sum())
    assert weights.mean() == pytest.approx(1.0)


def test_without_examples_the_prior_alone_decides() -> None:
    frequencies = DocumentFrequencies()
    prior = np.zeros(VOCABULARY.size + 1)
    prior[VOCABULARY["owl"]] = 1.0
    model = fit([], [], np.zeros(0), frequencies, prior)
    assert model.probability(model.margin(text("owl nest"))) > 0.5
    assert model.probability(model.margin(text("income tax"))) < 0.5


def test_examples_are_told_from_the_rest_and_the_line_lies_between() -> None:
    frequencies = DocumentFrequencies()
    examples = [text(f"owl nest wing feather{n}") for n in range(6)]
    rest = [text(f"tax budget minister paper{n} nest") for n in range(40)]
    for one in [*examples, *rest]:
        frequencies.add(one.terms)
    model = fit(examples, rest, np.zeros(40), frequencies, np.zeros(VOCABULARY.size))
    assert model.probability(model.margin(text("owl wing heron"))) > 0.5
    assert model.probability(model.margin(text("budget minister report"))) < 0.5


def test_many_texts_are_judged_like_one() -> None:
    frequencies = DocumentFrequencies()
    prior = np.zeros(VOCABULARY.size + 9)
    texts = [text("owl owl nest"), text(""), text("income tax owl"), text("tax")]
    prior[VOCABULARY["owl"]], prior[VOCABULARY["tax"]] = 0.8, -0.6
    model = fit([], [], np.zeros(0), frequencies, prior[: VOCABULARY.size])
    margins = model.margins(texts)
    assert margins == pytest.approx([model.margin(one) for one in texts])
    chances = [model.probability(margin) for margin in margins]
    assert model.probabilities(margins) == pytest.approx(chances)
    assert model.margins([]).size == 0


def test_pages_that_may_be_on_topic_count_little_as_negatives() -> None:
    frequencies = DocumentFrequencies()
    examples = [text(f"owl nest wing feather{n}") for n in range(6)]
    rest = [text(f"tax budget paper{n}") for n in range(40)] + [text("owl wing nest egg")] * 20
    for one in [*examples, *rest]:
        frequencies.add(one.terms)
    prior = np.zeros(VOCABULARY.size)
    certain = fit(examples, rest, np.zeros(60), frequencies, prior)
    doubted = fit(examples, rest, np.r_[np.zeros(40), np.ones(20)], frequencies, prior)
    owl = text("owl wing")
    assert doubted.margin(owl) > certain.margin(owl)


def spans_say(model: PageModel, terms: Ids, spans: list[tuple[int, int]]) -> list[float]:
    """Return what each of *spans* says, as the context of a link."""
    bounds = np.zeros((len(spans), 10), np.int32)
    bounds[:, 2:4] = spans
    found = np.empty((len(spans), 4), np.float32)
    span_evidence(terms, bounds, [model.line], found)
    return found[:, 0].tolist()


def test_a_span_scores_like_its_words() -> None:
    frequencies = DocumentFrequencies()
    prior = np.zeros(VOCABULARY.size + 3)
    terms = VOCABULARY.ids(["owl", "tax", "the", "nest"])
    prior[terms[0]], prior[terms[1]] = 0.8, -0.6
    prior = prior[: VOCABULARY.size]
    model = fit([], [], np.zeros(0), frequencies, prior)
    idf = frequencies.idf
    found = spans_say(model, terms, [(0, 1), (0, 2), (2, 3)])
    both = (0.8 * idf[terms[0]] - 0.6 * idf[terms[1]]) / np.hypot(idf[terms[0]], idf[terms[1]])
    said = model.slope * (np.array([0.8, both, 0.0]) - model.centre) / 4
    assert found == pytest.approx(np.clip(said, -1.5, 1.5), abs=1e-6)


def test_documents_and_counts_survive_packing() -> None:
    documents = [text("owl owl nest"), text("tax"), text("")]
    again = unpack_documents(pack_documents(documents))
    for one, other in zip(documents, again, strict=True):
        assert one.terms.tolist() == other.terms.tolist()
        assert one.counts.tolist() == other.counts.tolist()
    assert unpack_documents(pack_documents([])) == []
    frequencies, restored = DocumentFrequencies(), DocumentFrequencies()
    frequencies.add(documents[0].terms)
    restored.restore(frequencies.state())
    assert restored.documents == 1
    assert restored.idf[documents[0].terms].tolist() == frequencies.idf[documents[0].terms].tolist()


def test_it_does_not_matter_when_a_new_word_was_first_met() -> None:
    frequencies = DocumentFrequencies()
    prior = np.zeros(VOCABULARY.size)
    prior[VOCABULARY["owl"]] = 1.0
    before = fit([], [], np.zeros(0), frequencies, prior)
    new = text("owl neverheardof")
    after = fit([], [], np.zeros(0), frequencies, prior)
    assert before.idf.size <= after.idf.size
    assert before.margin(new) == after.margin(new)
    terms = VOCABULARY.ids(["owl", "neverheardof"])
    assert spans_say(before, terms, [(0, 2)]) == spans_say(after, terms, [(0, 2)])
