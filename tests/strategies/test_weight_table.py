from __future__ import annotations

import pytest

from tests.strategies.small_web import page, terms
from treasure.strategies.weight_table import EXPANDS_FROM, MAX_ADDED, WeightTable, page_weights
from treasure.text import VOCABULARY
from treasure.topics import Topic


def weights(table: WeightTable) -> dict[str, float]:
    return {VOCABULARY.stem(term): weight for term, weight in table.weights.items()}


def test_weights_are_tf_times_df_over_the_maximum() -> None:
    # Topic: owl 3 (its name three times), barn 1. Example: owl 1, barn 2, hill 1.
    # tf x df: owl 4 x 2, barn 3 x 2, hill 1 x 1.
    table = WeightTable.of(Topic(name="owl", description="barn"), [page("E", "owl barn barn hill")])
    assert weights(table) == {"owl": 1.0, "barn": 6 / 8, "hill": 1 / 8}


def test_only_the_highest_stay() -> None:
    table = WeightTable.of(Topic(name="owl", description="barn"), [page("E", "barn")], size=1)
    # owl 3 x 1, barn 2 x 2.
    assert weights(table) == {"barn": 1.0}


def test_figure_2_the_title_counts_twice() -> None:
    read = page("Java", "java technologies", title="java documentation")
    java = int(terms("java")[0])
    assert page_weights(read)[java] == 3


def test_relevance_by_hand() -> None:
    # Table owl 1, barn 1/2; page: owl 2 + 1, hill 1.
    # 3 / sqrt((1 + 1/4) x (9 + 1)).
    owl, barn = (int(t) for t in terms("owl barn"))
    table = WeightTable({owl: 1.0, barn: 0.5})
    read = page("P", "owl hill", title="owl")
    assert table.page_relevance(read) == pytest.approx(3 / (1.25 * 10) ** 0.5)
    assert table.page_relevance(page("Q", "tower")) == 0.0
    assert table.page_relevance(page("Empty", "")) == 0.0


def test_highly_relevant_pages_add_their_most_frequent_keyword() -> None:
    owl = int(terms("owl")[0])
    table = WeightTable({owl: 1.0})
    read = page("P", "owl owl owl owl the the the the the barn barn hill")
    table.expand(read, EXPANDS_FROM - 0.01)
    assert weights(table) == {"owl": 1.0}
    table.expand(read, 0.95)
    assert weights(table) == {"owl": 1.0, "barn": 0.95}
    table.expand(read, 0.92)
    assert weights(table) == {"owl": 1.0, "barn": 0.95, "hill": 0.92}
    table.expand(read, 1.0)  # nothing new is left
    assert table.added == {"barn": 0.95, "hill": 0.92}


def test_expansion_ends() -> None:
    table = WeightTable({})
    for i in range(MAX_ADDED + 20):
        table.expand(page("P", f"keyword{i}x"), 1.0)
    assert len(table.added) == MAX_ADDED
