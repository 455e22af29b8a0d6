"""Dear answers are remembered, cheap ones asked for again."""

from treasure.web.patience import MOST_ANSWERS, Patience


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def work(self, seconds, answer):
        def work_out():
            self.now += seconds
            return answer

        return work_out


def test_an_answer_holds_ten_times_as_long_as_it_took():
    clock = Clock()
    patience = Patience(clock)
    assert patience.ask("k", clock.work(2.0, 1)) == 1
    assert patience.ask("k", clock.work(2.0, 2)) == 1
    assert patience.ask("other", clock.work(0.0, 3)) == 3
    clock.now += 21
    assert patience.ask("k", clock.work(2.0, 2)) == 2


def test_cheap_answers_are_never_old():
    clock = Clock()
    patience = Patience(clock)
    assert patience.ask("k", clock.work(0.001, 1)) == 1
    assert patience.ask("k", clock.work(0.001, 2)) == 2


def test_memory_is_bounded():
    clock = Clock()
    patience = Patience(clock)
    for number in range(2 * MOST_ANSWERS):
        patience.ask(number, clock.work(1.0, number))
    assert len(patience._answers) == MOST_ANSWERS
