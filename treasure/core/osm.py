"""Finds the nodes of a T-Graph that share most with each of some paragraphs.

Serves ``tgraph.index``, which says what is compared, and ``tgraph.components``, which says what a
key is (``term * 4 + component``).
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import sqrt as _sqrt


def mask(keys: cython.const[cython.int][::1]) -> int:
    """Return which components *keys* are of: bit 0 for ISH to bit 3 for DC."""
    found: cython.int = 0
    at: cython.Py_ssize_t
    for at in range(keys.shape[0]):
        found |= 1 << (keys[at] & 3)
    return int(found)


def cosine(
    keys: cython.const[cython.int][::1],
    counts: cython.const[cython.ushort][::1],
    other_keys: cython.const[cython.int][::1],
    other_counts: cython.const[cython.ushort][::1],
    component: cython.int,
) -> float:
    """Return the cosine of one component of two texts; 0 when either is empty."""
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    count: cython.double
    product: cython.double = 0
    squares: cython.double = 0
    other_squares: cython.double = 0
    for j in range(other_keys.shape[0]):
        if other_keys[j] & 3 == component:
            count = float(other_counts[j])
            other_squares += count * count
    j = 0
    for i in range(keys.shape[0]):
        if keys[i] & 3 != component:
            continue
        count = float(counts[i])
        squares += count * count
        while j < other_keys.shape[0] and other_keys[j] < keys[i]:
            j += 1
        if j < other_keys.shape[0] and other_keys[j] == keys[i]:
            product += count * other_counts[j]
    return product / _sqrt(squares * other_squares) if squares and other_squares else 0.0


@cython.cclass
class Postings:
    """For each key the nodes that have it, each with tf / norm; found by a hash table.

    A group is neighbours with the same level and the same empty components. The divisor of the mean
    is the same for all of it, so that only its largest sum has to be divided.
    """

    _rows: cython.const[cython.longlong][::1]
    _alive: cython.const[cython.uchar][::1]
    _groups: cython.int[::1]
    _group_level: cython.int[::1]
    _group_mask: cython.int[::1]
    _table: cython.int[::1]
    _keys: cython.int[::1]
    _offsets: cython.int[::1]
    _nodes: cython.int[::1]
    _weights: cython.double[::1]
    _norms: cython.double[::1]
    _headings: cython.double[::1]
    _sums: cython.double[::1]

    def __init__(
        self,
        rows: cython.const[cython.longlong][::1],
        levels: cython.const[cython.schar][::1],
        masks: cython.const[cython.uchar][::1],
        alive: cython.const[cython.uchar][::1],
        sizes: cython.const[cython.longlong][::1],
        keys: cython.const[cython.int][::1],
        counts: cython.const[cython.ushort][::1],
    ) -> None:
        """Take nodes by slot; *sizes* says how many of *keys* and *counts* belong to each.

        *rows* are the caller's names of the slots. *alive* may change later.
        """
        self._rows, self._alive = rows, alive
        # What a text shares with each slot: by its headings, and in all. 0 when nothing is asked.
        self._headings = np.zeros(rows.shape[0])
        self._sums = np.zeros(rows.shape[0])
        self._norms = np.empty(4)
        self._group(levels, masks)
        self._fill(sizes, keys, counts, self._number(keys))

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        small = self._table.shape[0] + self._keys.shape[0] + self._offsets.shape[0]
        return 4 * small + 12 * self._nodes.shape[0] + 20 * self._sums.shape[0]

    @cython.cfunc
    def _group(
        self, levels: cython.const[cython.schar][::1], masks: cython.const[cython.uchar][::1]
    ) -> Any:
        """Give each slot the number of its group."""
        slots: cython.Py_ssize_t = levels.shape[0]
        groups: cython.int[::1] = np.empty(slots, np.int32)
        slot: cython.Py_ssize_t
        count: cython.int = 0
        for slot in range(slots):
            if slot == 0 or levels[slot] != levels[slot - 1] or masks[slot] != masks[slot - 1]:
                count += 1
            groups[slot] = count - 1
        self._groups = groups
        self._group_level = np.empty(count, np.int32)
        self._group_mask = np.empty(count, np.int32)
        for slot in range(slots):
            self._group_level[groups[slot]] = levels[slot]
            self._group_mask[groups[slot]] = masks[slot]
        return None

    @cython.cfunc
    def _number(self, keys: cython.const[cython.int][::1]) -> Any:
        """Give each key the number of its list, and return them; make the table to find it by."""
        count: cython.Py_ssize_t = keys.shape[0]
        numbers = np.empty(count, np.int32)
        number_of: cython.int[::1] = numbers
        # Texts share words, so a table that has room for all keys is too large to keep.
        table: cython.int[::1] = _table_for(count)
        names: cython.int[::1] = np.empty(count, np.int32)
        distinct: cython.int = 0
        at: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        for at in range(count):
            slot = _find(table, names, keys[at])
            if table[slot] < 0:
                table[slot] = distinct
                names[distinct] = keys[at]
                distinct += 1
            number_of[at] = table[slot]
        self._keys = np.array(names[:distinct], np.int32)
        self._table = _table_for(distinct)
        for at in range(distinct):
            self._table[_find(self._table, self._keys, self._keys[at])] = at
        return numbers

    @cython.cfunc
    def _fill(
        self,
        sizes: cython.const[cython.longlong][::1],
        keys: cython.const[cython.int][::1],
        counts: cython.const[cython.ushort][::1],
        lists: cython.int[::1],
    ) -> Any:
        """Write the lists, each in the order of slots."""
        count: cython.Py_ssize_t = keys.shape[0]
        at: cython.Py_ssize_t
        offsets: cython.int[::1] = np.zeros(self._keys.shape[0] + 2, np.int32)
        for at in range(count):
            offsets[lists[at] + 2] += 1
        for at in range(2, offsets.shape[0]):
            offsets[at] += offsets[at - 1]
        nodes: cython.int[::1] = np.empty(count, np.int32)
        weights: cython.double[::1] = np.empty(count)
        norms: cython.double[::1] = self._norms
        node: cython.int
        begin: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        place: cython.Py_ssize_t
        for node in range(sizes.shape[0]):
            end = min(begin + sizes[node], count)
            _measure(keys, counts, begin, end, norms)
            for at in range(begin, end):
                place = offsets[lists[at] + 1]
                offsets[lists[at] + 1] += 1
                nodes[place] = node
                weights[place] = counts[at] / norms[keys[at] & 3]
            begin = end
        # Filling has moved the beginning of each list to where the next one begins.
        self._offsets, self._nodes, self._weights = offsets, nodes, weights
        return None

    def best(
        self,
        keys: cython.const[cython.int][::1],
        counts: cython.const[cython.ushort][::1],
        bounds: cython.const[cython.int][::1],
        weights: cython.const[cython.double][::1],
        divisors: cython.const[cython.double][::1],
        osm: cython.double[:, :],
        row: cython.longlong[::1],
    ) -> None:
        """Raise *osm* (text, level) to the best of each level, and name the best node in *row*.

        A row stays as it is where no node here is better than all of *osm* was. Among equals the
        lowest slot is best.

        Texts that follow each other often have the same headings. What those share with the nodes
        is summed once, and so is the best of it. The data of a text only add to that, so that of
        all nodes only those need another look that share data.
        """
        lists: cython.int[::1] = np.empty(keys.shape[0], np.int32)
        values: cython.double[::1] = np.empty(keys.shape[0])
        groups: cython.Py_ssize_t = self._group_level.shape[0]
        # The largest sum of each group and the slot that has it: in row 0 by headings, in 1 in all.
        tops: cython.double[:, :] = np.zeros((2, groups))
        slots: cython.int[:, :] = np.zeros((2, groups), np.int32)
        text: cython.Py_ssize_t
        i: cython.Py_ssize_t
        mask: cython.int
        # Where the lists of this text's headings begin, those of its data, and where they end.
        begin: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        # The same for the headings that are summed.
        summed: cython.Py_ssize_t = 0
        summed_end: cython.Py_ssize_t = 0
        for text in range(osm.shape[0]):
            begin = end
            mask = _measure(keys, counts, bounds[text], bounds[text + 1], self._norms)
            middle = self._look_up(keys, counts, bounds, text, False, weights, lists, values, begin)
            end = self._look_up(keys, counts, bounds, text, True, weights, lists, values, middle)
            if not _same(lists, values, summed, summed_end, begin, middle):
                self._forget_headings(lists, summed, summed_end)
                summed, summed_end = begin, middle
                self._add(lists, values, begin, middle)
                self._keep_headings(lists, begin, middle)
                for i in range(groups):
                    tops[0, i] = 0
                    slots[0, i] = 0
                self._take_tops(lists, begin, middle, tops, slots, 0)
            for i in range(groups):
                tops[1, i] = tops[0, i]
                slots[1, i] = slots[0, i]
            self._add(lists, values, middle, end)
            self._take_tops(lists, middle, end, tops, slots, 1)
            self._note(tops, slots, mask, divisors, text, osm, row)
        self._forget_headings(lists, summed, summed_end)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _look_up(
        self,
        keys: cython.const[cython.int][::1],
        counts: cython.const[cython.ushort][::1],
        bounds: cython.const[cython.int][::1],
        text: cython.Py_ssize_t,
        of_data: cython.bint,
        weights: cython.const[cython.double][::1],
        lists: cython.int[::1],
        values: cython.double[::1],
        end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Write the lists for a text's headings, or for its data, to *end*; return the new end."""
        at: cython.Py_ssize_t
        component: cython.int
        found: cython.int
        table: cython.int[::1] = self._table
        names: cython.int[::1] = self._keys
        norms: cython.double[::1] = self._norms
        for at in range(bounds[text], bounds[text + 1]):
            component = keys[at] & 3
            if (component == 3) == of_data:
                found = table[_find(table, names, keys[at])]
                if found >= 0:
                    lists[end] = found
                    values[end] = counts[at] / norms[component] * weights[component]
                    end += 1
        return end

    @cython.cfunc
    @cython.exceptval(check=False)
    def _add(
        self,
        lists: cython.int[::1],
        values: cython.double[::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        """Add lists *begin* to *end* to the sums of nodes, each times its value."""
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        value: cython.double
        offsets: cython.int[::1] = self._offsets
        nodes: cython.int[::1] = self._nodes
        weights: cython.double[::1] = self._weights
        sums: cython.double[::1] = self._sums
        for i in range(begin, end):
            value = values[i]
            for place in range(offsets[lists[i]], offsets[lists[i] + 1]):
                sums[nodes[place]] += value * weights[place]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _take_tops(
        self,
        lists: cython.int[::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        tops: cython.double[:, :],
        slots: cython.int[:, :],
        of: cython.Py_ssize_t,
    ) -> cython.void:
        """Raise the *tops* of groups by the sums of nodes in some lists; leave those of headings.

        A node that is in several lists is met again with the sum of its headings: that was there
        before.
        """
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        node: cython.int
        group: cython.int
        value: cython.double
        offsets: cython.int[::1] = self._offsets
        nodes: cython.int[::1] = self._nodes
        groups: cython.int[::1] = self._groups
        sums: cython.double[::1] = self._sums
        headings: cython.double[::1] = self._headings
        for i in range(begin, end):
            for place in range(offsets[lists[i]], offsets[lists[i] + 1]):
                node = nodes[place]
                group = groups[node]
                value = sums[node]
                sums[node] = headings[node]
                if (
                    value >= tops[of, group]
                    and self._alive[node]
                    and (value > tops[of, group] or node < slots[of, group])
                ):
                    tops[of, group] = value
                    slots[of, group] = node

    @cython.cfunc
    @cython.exceptval(check=False)
    def _note(
        self,
        tops: cython.double[:, :],
        slots: cython.int[:, :],
        mask: cython.int,
        divisors: cython.const[cython.double][::1],
        text: cython.Py_ssize_t,
        osm: cython.double[:, :],
        row: cython.longlong[::1],
    ) -> cython.void:
        """Write down the best of each level, and the best of all, if they are better."""
        i: cython.Py_ssize_t
        level: cython.Py_ssize_t
        value: cython.double
        best: cython.double = 0
        for level in range(osm.shape[1]):
            best = max(best, osm[text, level])
        for i in range(tops.shape[1]):
            value = tops[1, i] / divisors[mask | self._group_mask[i]]
            level = self._group_level[i] - 1
            if level < osm.shape[1] and value > osm[text, level]:
                osm[text, level] = value
            if value > best:
                best = value
                row[text] = self._rows[slots[1, i]]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _keep_headings(
        self, lists: cython.int[::1], begin: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Take what was summed as that of headings."""
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        for i in range(begin, end):
            for place in range(self._offsets[lists[i]], self._offsets[lists[i] + 1]):
                self._headings[self._nodes[place]] = self._sums[self._nodes[place]]

    @cython.cfunc
    @cython.exceptval(check=False)
    def _forget_headings(
        self, lists: cython.int[::1], begin: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Leave nothing of what is shared with the nodes in some lists."""
        i: cython.Py_ssize_t
        place: cython.Py_ssize_t
        for i in range(begin, end):
            for place in range(self._offsets[lists[i]], self._offsets[lists[i] + 1]):
                self._headings[self._nodes[place]] = 0
                self._sums[self._nodes[place]] = 0


def _table_for(keys: int) -> Any:
    """Return an empty hash table, never more than half full."""
    return np.full(1 << (2 * keys).bit_length(), -1, np.int32)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _find(table: cython.int[::1], names: cython.int[::1], key: cython.int) -> cython.Py_ssize_t:
    """Return where in *table* the number of *key* is, or would be; *names* are keys by number."""
    last: cython.Py_ssize_t = table.shape[0] - 1
    slot: cython.Py_ssize_t = (cython.cast(cython.longlong, key) * 0x61C88647) >> 15 & last
    while table[slot] >= 0 and names[table[slot]] != key:
        slot = (slot + 1) & last
    return slot


@cython.cfunc
@cython.exceptval(check=False)
def _measure(
    keys: cython.const[cython.int][::1],
    counts: cython.const[cython.ushort][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    norms: cython.double[::1],
) -> cython.int:
    """Write the norm of each component of a text; return which have words, as bits."""
    at: cython.Py_ssize_t
    component: cython.int
    mask: cython.int = 0
    count: cython.double
    for component in range(4):
        norms[component] = 0
    for at in range(begin, end):
        count = float(counts[at])
        component = keys[at] & 3
        norms[component] += count * count
        mask |= 1 << component
    for component in range(4):
        norms[component] = _sqrt(norms[component])
    return mask


@cython.cfunc
@cython.exceptval(check=False)
def _same(
    lists: cython.int[::1],
    values: cython.double[::1],
    one: cython.Py_ssize_t,
    one_end: cython.Py_ssize_t,
    other: cython.Py_ssize_t,
    other_end: cython.Py_ssize_t,
) -> cython.bint:
    """Whether two parts of *lists* are the same, with the same values."""
    i: cython.Py_ssize_t
    if one_end - one != other_end - other:
        return False
    for i in range(one_end - one):
        if lists[one + i] != lists[other + i] or values[one + i] != values[other + i]:
            return False
    return True
