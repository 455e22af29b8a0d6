"""Arrays that grow at the end, for graphs that do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Column:
    """A NumPy array with room at its end."""

    def __init__(self, dtype: Any) -> None:
        self._data: NDArray[Any] = np.empty(16, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The array as it is now; a view, so writing to it counts."""
        return self._data[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory, room included."""
        return self._data.nbytes

    def extend(self, values: NDArray[Any]) -> None:
        """Put *values* at the end."""
        self._make_room(len(values))
        self._data[self._size : self._size + len(values)] = values
        self._size += len(values)

    def append(self, value: Any) -> None:
        """Put one *value* at the end."""
        self._make_room(1)
        self._data[self._size] = value
        self._size += 1

    def keep(self, chosen: NDArray[Any]) -> None:
        """Keep only what *chosen* (a mask or indices) selects."""
        self._data = self.values[chosen].copy()
        self._size = len(self._data)

    def _make_room(self, count: int) -> None:
        needed = self._size + count
        if needed > len(self._data):
            larger = np.empty(needed + needed // 4 + 16, self._data.dtype)
            larger[: self._size] = self.values
            self._data = larger
