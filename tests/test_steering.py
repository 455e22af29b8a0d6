from __future__ import annotations

from treasure.steering import Pause


def test_a_pause_is_a_gate() -> None:
    pause = Pause()
    assert pause.opens_at(5.0) == 5.0
    pause.shut = True
    assert pause.opens_at(5.0) > 5.0
