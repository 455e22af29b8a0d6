"""The figures of a running crawl."""

from treasure.progress import Speedometer


def test_what_is_left_of_max_pages_is_what_the_job_has_left():
    new, resumed = Speedometer(0.0, max_pages=60), Speedometer(0.0, max_pages=60, before=40)
    assert new.figures(10.0, 10, 5, 0, 100).seconds_left == 50.0
    assert resumed.figures(10.0, 10, 5, 0, 100).seconds_left == 10.0
    assert resumed.figures(20.0, 20, 5, 0, 100).line().endswith("0s left")


def test_without_limits_nobody_knows_what_is_left():
    assert Speedometer(0.0).figures(10.0, 10, 5, 0, 100).seconds_left is None
