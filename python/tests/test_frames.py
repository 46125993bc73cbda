"""Data frames and other things with names: matched by name, in any order; a wrong name is an error that says it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kelfi

FIXED = {"epsilon": 0.5, "length_scale": 0.5, "regularization": 1e-2}
STATISTICS = ["level", "lag", "noise"]


def kinds(columns, values):
    """The same table as pandas, polars, structured array and mapping."""
    pandas = pytest.importorskip("pandas")
    found = [
        pandas.DataFrame(dict(zip(columns, values.T))),
        dict(zip(columns, values.T)),
        np.array(list(map(tuple, values)), dtype=[(name, float) for name in columns]),
    ]
    try:
        import polars
    except ImportError:
        return found
    return [*found, polars.DataFrame(dict(zip(columns, values.T)))]


def test_columns_are_matched_by_name_whatever_their_order(prior, data):
    theta, x, x_o = data
    expected = kelfi.fit(theta, x, x_o, prior, **FIXED).mean()
    swapped, mixed = theta[:, ::-1], x[:, [2, 0, 1]]
    for named_theta, named_x in zip(kinds(["delay", "rate"], swapped), kinds(["noise", "level", "lag"], mixed)):
        posterior = kelfi.fit(named_theta, named_x, {"level": x_o[0], "lag": x_o[1], "noise": x_o[2]}, prior, **FIXED)
        assert_allclose(posterior.mean(), expected, rtol=1e-9)
        assert_allclose(posterior.log_prob(named_theta), posterior.log_prob(theta), rtol=1e-12)


def test_a_wrong_or_missing_name_is_told(prior, data):
    theta, x, x_o = data
    pandas = pytest.importorskip("pandas")
    with pytest.raises(kelfi.InputError, match="theta has dealy, which is not a parameter; theta lacks delay\n  the parameters are rate, delay"):
        kelfi.fit(pandas.DataFrame(theta, columns=["rate", "dealy"]), x, x_o, prior, **FIXED)
    with pytest.raises(kelfi.InputError, match="theta has rate more than once"):
        kelfi.fit(pandas.DataFrame(theta, columns=["rate", "rate"]), x, x_o, prior, **FIXED)
    with pytest.raises(kelfi.InputError, match="theta has extra, which is not a parameter"):
        kelfi.fit(pandas.DataFrame(np.c_[theta, theta[:, 0]], columns=["rate", "delay", "extra"]), x, x_o, prior, **FIXED)
    with pytest.raises(kelfi.InputError, match=r"different shapes: rate \(120,\), delay \(119,\)"):
        kelfi.fit({"delay": theta[1:, 1], "rate": theta[:, 0]}, x, x_o, prior, **FIXED)
    named = pandas.DataFrame(x, columns=STATISTICS)
    with pytest.raises(kelfi.InputError, match="x_o lacks noise"):
        kelfi.fit(theta, named, {"level": 0.1, "lag": 2.0}, prior, **FIXED)
    with pytest.raises(kelfi.InputError, match="no names to match them with"):
        kelfi.fit(theta, x, {"level": 0.1, "lag": 2.0, "noise": 0.0}, prior, **FIXED)
    posterior = kelfi.fit(theta, named, pandas.Series({"noise": x_o[2], "level": x_o[0], "lag": x_o[1]}), prior, **FIXED)
    assert_array_equal(posterior.x_o, x_o)
    assert_array_equal(kelfi.Posterior.from_json(posterior.to_json()).condition({"lag": 1.0, "level": 2.0, "noise": 3.0}).x_o, [2.0, 1.0, 3.0])
    with pytest.raises(kelfi.InputError, match="x_o has lga, which is not a statistic; x_o lacks lag"):
        posterior.condition({"lga": 1.0, "level": 2.0, "noise": 3.0})
    with pytest.raises(kelfi.InputError, match="theta lacks delay"):
        posterior.log_prob({"rate": 1.0})


def test_names_without_meaning_are_positions(prior, data):
    theta, x, x_o = data
    pandas = pytest.importorskip("pandas")
    expected = kelfi.fit(theta, x, x_o, prior, **FIXED).mean()
    found = kelfi.fit(pandas.DataFrame(theta), pandas.DataFrame(x), pandas.Series(x_o), prior, **FIXED)
    assert_array_equal(found.mean(), expected)
    # A column with labelled rows is a column.
    single = kelfi.Prior(rate=kelfi.LogUniform(0.01, 10.0))
    rows = pandas.Series(theta[:, 0], index=[f"run {i}" for i in range(len(theta))])
    labelled = kelfi.fit(rows, pandas.Series(x[:, 0], index=rows.index), x_o[:1], single, **FIXED)
    assert_array_equal(labelled.mean(), kelfi.fit(theta[:, :1], x[:, 0], x_o[:1], single, **FIXED).mean())


def test_missing_values_of_pandas_are_failed_simulations(prior, data):
    theta, x, x_o = data
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(x, columns=STATISTICS).convert_dtypes()
    assert named.isna().any(axis=None)
    found = kelfi.fit(theta, named, x_o, prior, **FIXED)
    assert_array_equal(found.mean(), kelfi.fit(theta, x, x_o, prior, **FIXED).mean())


def test_simulations_that_are_added_keep_their_names(prior, data):
    theta, x, x_o = data
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(x, columns=STATISTICS)
    inference = kelfi.KELFI(prior)
    inference.append_simulations(theta[:60], named[:60])
    inference.append_simulations(theta[60:], named[["lag", "noise", "level"]][60:])
    assert_array_equal(inference.get_simulations()[1], x)
    inference.train({"noise": x_o[2], "level": x_o[0], "lag": x_o[1]}, **FIXED)
    assert_array_equal(inference.build_posterior().x_o, x_o)
    with pytest.raises(kelfi.InputError, match="x has soup"):
        inference.append_simulations(theta, named.rename(columns={"lag": "soup"}))
