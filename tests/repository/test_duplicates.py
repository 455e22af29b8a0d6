"""Exact and near duplicates, and who stands for whom."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select, text, update

from tests.repository.conftest import record
from treasure.repository import duplicates as module
from treasure.repository.duplicates import fingerprint, resemblance
from treasure.repository.finishing import finish_all
from treasure.repository.models import bands, contents, duplicates, fingerprints
from treasure.repository.search import search
from treasure.repository.store import Store

WORDS = [f"word{i}" for i in range(2_000)]


def prose(seed: int, length: int = 300) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def groups(store: Store) -> dict[int, tuple[int, str]]:
    with store.reading() as connection:
        return {
            row.page_id: (row.kept_id, row.kind)
            for row in connection.execute(select(duplicates)).all()
        }


def write(store: Store, *texts: str, job: str = "stars") -> list[int]:
    records = [record(f"https://{job}.example/{i}", text=t, job=job) for i, t in enumerate(texts)]
    store.write(records)
    finish_all(store, method="blocks")
    return [store.find(r.url, job=job)[0] for r in records]


def test_copies_point_to_the_first(store: Store) -> None:
    one = " ".join(prose(1))
    near = " ".join([*prose(1)[:-3], "and", "something", "else"])
    other = " ".join(prose(2))
    first, same, close, different = write(store, one, one.upper() + " !", near, other)
    assert groups(store) == {same: (first, "exact"), close: (first, "near")}
    assert {hit.page_id for hit in search(store, prose(1)[0]).hits} == {first}
    (hit,) = search(store, prose(1)[0]).hits
    assert hit.duplicates == 2
    assert search(store, prose(2)[0]).hits[0].page_id == different


def test_copies_in_later_batches_meet_too(store: Store) -> None:
    texts = [" ".join(prose(1)), " ".join([*prose(1)[:-3], "x", "y", "z"])]
    first, second = (
        store.write([record(f"https://a.example/{i}", text=t)]) or finish_all(store)
        for i, t in enumerate(texts)
    )
    assert (first, second) == (1, 1)
    assert [kind for _, kind in groups(store).values()] == ["near"]


def test_jobs_have_their_own_groups(store: Store) -> None:
    same = " ".join(prose(1))
    write(store, same, job="one")
    write(store, same, job="two")
    assert groups(store) == {}
    assert search(store, prose(1)[0], job="two").total == 1


def test_short_and_empty_pages_only_match_exactly(lite: Store) -> None:
    write(
        lite,
        "a short text about stars",
        "a short text about planets",
        "a short text about stars",
        "",
    )
    assert [kind for _, kind in groups(lite).values()] == ["exact"]


def test_when_the_kept_page_changes_its_copies_stand_for_themselves(store: Store) -> None:
    same = " ".join(prose(1))
    first, second, third = write(store, same, same, same)
    store.write([record("https://stars.example/0", text=" ".join(prose(9)))])
    finish_all(store, method="blocks")
    assert groups(store) == {third: (second, "exact")}
    assert {hit.page_id for hit in search(store, prose(1)[0]).hits} == {second}
    assert {hit.page_id for hit in search(store, prose(9)[0]).hits} == {first}


def test_copies_leave_no_fingerprints(lite: Store) -> None:
    same = " ".join(prose(1))
    write(lite, *[same] * 50)
    with lite.reading() as connection:
        assert connection.execute(select(func.count()).select_from(fingerprints)).scalar() == 1
        assert connection.execute(select(func.count()).select_from(bands)).scalar() == module.BANDS


def test_lookups_use_indexes(lite: Store) -> None:
    with lite.reading() as connection:
        for statement in (
            "SELECT page_id FROM fingerprints WHERE digest IN (1, 2, 3)",
            "SELECT band, page_id FROM bands WHERE band IN (1, 2, 3)",
        ):
            plan = connection.execute(text("EXPLAIN QUERY PLAN " + statement)).all()
            assert all("SEARCH" in row.detail for row in plan), plan


@pytest.mark.parametrize("changed", [3, 8, 30, 120])
def test_the_estimate_is_near_the_truth(changed: int) -> None:
    one, other = prose(5, 600), prose(5, 600)
    other[:changed] = prose(6, changed)
    shingles = [{tuple(t[i : i + 4]) for i in range(len(t) - 3)} for t in (one, other)]
    true = len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])
    prints = [fingerprint(i, "j", " ".join(t)) for i, t in enumerate((one, other))]
    assert prints[0] is not None
    assert prints[1] is not None
    # Five standard deviations of 64 draws.
    deviation = (true * (1 - true) / module.PERMUTATIONS) ** 0.5
    assert abs(resemblance(prints[0].signature, prints[1].signature) - true) <= 5 * deviation


@given(st.text(max_size=300))
def test_any_text_has_a_fingerprint_that_depends_on_its_words_only(odd: str) -> None:
    one, other = fingerprint(1, "j", odd), fingerprint(2, "j", f"  {odd}\n\n")
    if one is None or other is None:
        assert one is other is None
        return
    assert one.digest == other.digest
    assert np.array_equal(one.signature, other.signature)
    assert one.bands == other.bands


def test_the_index_follows_the_switch(store: Store) -> None:
    (page_id,) = write(store, " ".join(prose(1)))
    for searchable, total in ((False, 0), (True, 1)):
        with store.writing() as connection:
            connection.execute(
                update(contents).where(contents.c.page_id == page_id).values(searchable=searchable)
            )
        assert search(store, prose(1)[0]).total == total
