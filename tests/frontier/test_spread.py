from treasure.frontier.spread import BINS, spread


def test_a_sample_stands_for_all() -> None:
    told = spread([0.0, 0.01, 0.5, 1.0], 400)
    assert (told["low"], told["high"]) == (0.0, 1.0)
    assert told["counts"][0] == 200
    assert told["counts"][BINS // 2] == 100
    assert told["counts"][-1] == 100
    assert sum(told["counts"]) == 400


def test_scores_beyond_the_usual_widen_the_range() -> None:
    told = spread([-3.0, 5.0], 2)
    assert (told["low"], told["high"]) == (-3.0, 5.0)
    assert (told["counts"][0], told["counts"][-1]) == (1, 1)


def test_nothing_waits() -> None:
    assert spread([], 0)["counts"] == [0] * BINS
