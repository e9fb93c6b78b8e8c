"""The real logs, and what is known of them."""

import pytest

from halfseen import StorageError, audit, datasets


def test_incentives():
    data = datasets.load_hiv_incentives()
    found = audit(data.log, **data.columns)
    assert found.observe.round(2).tolist() == [0.34, 0.65, 0.72, 0.78, 0.86, 0.87, 0.86, 0.85]
    assert found.effective_dimension.value == pytest.approx(11.79, abs=0.01)
    checked = audit(data.log, **data.columns, reward="positive")
    assert checked.counts.hidden.sum() == (~data.log.collected).sum()


def test_earnings_stop_in_2015():
    data = datasets.load_college_earnings()
    found = audit(data.log, **data.columns)
    course = found.courses[0]
    assert course.levels[-1] == 0.0
    assert 2014 < course.starts[course.changes[-1]] <= 2015
    assert len(data.log) == 48_445


def test_every_data_set_says_where_it_comes_from():
    for name in ("load_hiv_incentives", "load_college_earnings", "load_legislator_emails"):
        data = getattr(datasets, name)()
        assert "MIT" in data.licence
        assert len(data.citation) > 40
        assert audit(data.log, **data.columns).rows == len(data.log)


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(datasets, "find_spec", lambda name: None)
    with pytest.raises(StorageError, match=r"halfseen\[datasets\]"):
        datasets.load_hiv_incentives()
