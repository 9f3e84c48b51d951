from __future__ import annotations

from analyzer.cli.thinning import Thinned


def test_what_fits_stays_whole_and_in_its_order() -> None:
    records = [{"n": n} for n in range(100)]
    with Thinned() as thinned:
        for record in records:
            thinned.add(record)
        assert (list(thinned.records()), thinned.rate, thinned.seen, thinned.kept) == (records, 1.0, 100, 100)


def test_of_too_many_a_sample_stays_whose_weights_add_up() -> None:
    with Thinned(most_bytes=20_000) as thinned:
        for n in range(20_000):
            thinned.add({"n": n, "strata": [{"by": "trace", "rate": 1.0}]})
        kept = list(thinned.records())
    assert thinned.rate < 0.1
    assert thinned.kept == len(kept)
    assert {record["sample_rate"] for record in kept} == {thinned.rate}
    assert all(record["strata"] == [{"by": "request", "rate": thinned.rate}] for record in kept)
    assert abs(len(kept) / thinned.rate - 20_000) < 4 * 20_000 / len(kept) ** 0.5
    assert [record["n"] for record in kept] == sorted(record["n"] for record in kept)


def test_a_rate_of_the_records_own_is_heeded() -> None:
    with Thinned(most_bytes=2000) as thinned:
        for n in range(200):
            thinned.add({"n": n, "sample_rate": 0.5})
        assert {record["sample_rate"] for record in thinned.records()} == {thinned.rate / 2}
