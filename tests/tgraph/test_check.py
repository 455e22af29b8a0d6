import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from tests.tgraph.webs import BIRDS, page, url
from treasure.errors import GraphError
from treasure.tgraph.build import Plan, Sample, top_down
from treasure.tgraph.check import hold_back, learned_weights, quality, rank_correlation
from treasure.tgraph.graph import TGraph


def tellable_web() -> dict[str, object]:
    """Return a web in which words tell the distance: eagle 1, tiger 2, granite nowhere."""
    pages = {url("target"): page("target", ("the end", ["x"]))}
    for number in range(40):
        near = page(
            f"near{number}",
            ("eagle hawk falcon", ["target"]),
            ("granite rock", ["nowhere"]),
            title=f"site{number}",
        )
        far = page(
            f"far{number}", ("tiger lion panther", [f"near{number}"]), title=f"other{number}"
        )
        pages |= {near.url: near, far.url: far}
    return pages


def checked():
    pages = tellable_web()
    built = top_down(Plan(BIRDS, levels=2), pages, pages.get, [url("target")])
    sample = Sample(pages.get)
    for address in pages:
        sample.read(address)
    return built.graph, hold_back(built.graph, sample, [url("target")])


def test_a_graph_that_tells_near_from_far() -> None:
    graph, trial = checked()
    found = quality(trial)
    assert trial.pages == 20
    assert found.correlation > 0.5
    assert found.exact > found.usual
    assert found.good
    assert "not needed" in found.advice
    assert len(graph) == 80, "the graph itself is left as it was"
    assert len(trial.graph) < 80


def test_a_graph_that_does_not() -> None:
    _, trial = checked()
    trial.truth[:] = np.arange(len(trial.truth)) % 3 + 1
    found = quality(trial)
    assert not found.good
    assert "more examples" in found.advice


def test_weights_are_learned_on_one_half_and_told_on_the_other() -> None:
    _, trial = checked()
    usual = trial.graph.weights.tolist(), trial.graph.threshold
    learned = learned_weights(trial)
    assert len(learned.weights) == 4
    assert min(learned.weights) >= 0 < sum(learned.weights)
    assert learned.after >= learned.before
    assert (trial.graph.weights.tolist(), trial.graph.threshold) == usual


def test_too_little_to_check_with() -> None:
    with pytest.raises(GraphError, match="too little to check"):
        hold_back(TGraph.empty(BIRDS), Sample({}.get), [])


numbers = st.lists(st.integers(1, 5), min_size=2, max_size=20)


@given(st.data())
def test_rank_correlation_is_spearmans(data: st.DataObject) -> None:
    one = data.draw(numbers)
    other = data.draw(st.lists(st.integers(1, 5), min_size=len(one), max_size=len(one)))
    found = rank_correlation(np.array(one), np.array(other))
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert found == 0
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic)
