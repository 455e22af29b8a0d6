"""When Python looks for garbage."""

from __future__ import annotations

from treasure import interpreter


def test_garbage_is_looked_for_when_there_are_many_new_objects(monkeypatch):
    looks = []
    monkeypatch.setattr(interpreter.gc, "collect", looks.append)
    for count in [
        (interpreter.YOUNG, 9, 9),
        (interpreter.YOUNG + 1, 0, 0),
        (interpreter.YOUNG + 1, 0, interpreter.LOOKS),
    ]:
        monkeypatch.setattr(interpreter.gc, "get_count", lambda count=count: count)
        interpreter.tidy()
    assert looks == [1, 2]
