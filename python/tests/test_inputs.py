"""Anything NumPy can read; everything else is refused by kelfi, in kelfi's words."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import kelfi

FIXED = {"epsilon": 0.5, "length_scale": 0.5, "regularization": 1e-3}
PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def plain():
    prior = kelfi.Prior([kelfi.Normal(0, 10), kelfi.Normal(0, 10)])
    theta = np.random.default_rng(1).integers(-9, 9, size=(12, 2)).astype(float)
    return prior, theta, theta[:, ::-1] + 1.0, np.array([1.0, 2.0])


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1", "f2", "f4", "f8", "g", ">f8", ">i4", "O", "?"])
def test_every_dtype_gives_what_its_float64_gives(plain, dtype):
    prior, theta, x, x_o = plain
    theta, x, x_o = (np.abs(values).astype(dtype) for values in (theta, x, x_o))
    found = kelfi.KernelMeansLikelihood(theta, x, x_o, prior, **FIXED)
    expected = kelfi.KernelMeansLikelihood(theta.astype(float), x.astype(float), x_o.astype(float), prior, **FIXED)
    assert_array_equal(found.weights, expected.weights)


@pytest.mark.parametrize(
    "strides",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: a[::-1].copy()[::-1],
        lambda a: np.pad(a, ((0, 0), (1, 1)))[:, 1:-1],
        lambda a: np.frombuffer(b"\0" + a.tobytes(), dtype="u1")[1:].view(a.dtype).reshape(a.shape),
        lambda a: a.tolist(),
        lambda a: np.ma.masked_invalid(a),
        lambda a: memoryview(a),
    ],
)
def test_strides_alignment_and_containers_make_no_difference(plain, strides):
    prior, theta, x, x_o = plain
    expected = kelfi.KernelMeansLikelihood(theta, x, x_o, prior, **FIXED).weights
    assert_array_equal(kelfi.KernelMeansLikelihood(strides(theta), strides(x), x_o, prior, **FIXED).weights, expected)


def test_pandas_and_xarray_are_read_through_the_array_protocol(plain):
    pandas = pytest.importorskip("pandas")
    prior, theta, x, x_o = plain
    expected = kelfi.KernelMeansLikelihood(theta, x, x_o, prior, **FIXED).weights
    frame = pandas.DataFrame(theta, columns=prior.names)
    assert_array_equal(kelfi.KernelMeansLikelihood(frame, pandas.DataFrame(x), pandas.Series(x_o), prior, **FIXED).weights, expected)


def test_masked_values_of_x_are_failed_simulations(plain):
    prior, theta, x, x_o = plain
    failed = x.copy()
    failed[3] = np.nan
    masked = np.ma.masked_array(x, mask=np.isnan(failed))
    expected = kelfi.KernelMeansLikelihood(theta, failed, x_o, prior, **FIXED).weights
    assert_array_equal(kelfi.KernelMeansLikelihood(theta, masked, x_o, prior, **FIXED).weights, expected)


def test_arrays_are_not_changed_and_results_are_the_callers_own(plain):
    prior, theta, x, x_o = plain
    for array in (theta, x, x_o):
        array.flags.writeable = False
    posterior = kelfi.fit(theta, x, x_o, prior, **FIXED)
    posterior.simulations[0][:] = 0
    posterior.mean()[:] = 0
    assert (posterior.simulations[0] == theta).all() and (posterior.mean() != 0).any()


def broken(values, row, column, value):
    changed = np.array(values)
    changed[row, column] = value
    return changed


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t, x, y: (t[:5], x, y), r"theta has shape \(5, 2\) but x has shape \(12, 2\)"),
        (lambda t, x, y: (t[:, :1], x, y), r"theta has shape \(12, 1\) but shape \(m, 2\)"),
        (lambda t, x, y: (t, x, y[:1]), r"x_o has shape \(1,\) but x has 2 statistics"),
        (lambda t, x, y: (t, x[None], y), r"x has shape \(1, 12, 2\)"),
        (lambda t, x, y: (t[:0], x[:0], y), r"\(0, 2\)"),
        (lambda t, x, y: (broken(t, 3, 1, np.nan), x, y), "theta has nan at row 3, column 1"),
        (lambda t, x, y: (broken(t, 4, 0, np.inf), x, y), "theta has inf at row 4, column 0"),
        (lambda t, x, y: (t, x, [1.0, np.nan]), "x_o has nan at row 0, column 1"),
        (lambda t, x, y: (t.astype(complex), x, y), "complex"),
        (lambda t, x, y: (t.astype(str), x, y), "dtype"),
        (lambda t, x, y: ([[1.0], [1.0, 2.0]], x, y), "theta"),
        (lambda t, x, y: (None, x, y), "theta"),
        (lambda t, x, y: (object(), x, y), "theta"),
        (lambda t, x, y: (t.astype("M8[s]"), x, y), "datetime"),
    ],
)
def test_what_does_not_fit_is_named_with_both_shapes_or_row_and_column(plain, change, message):
    prior, theta, x, x_o = plain
    for call in (kelfi.fit, kelfi.KernelMeansLikelihood):
        with pytest.raises(ValueError, match=message) as raised:
            call(*change(theta, x, x_o), prior, **FIXED)
        assert isinstance(raised.value, kelfi.InputError)


def test_all_failed_simulations_and_an_observation_out_of_reach_are_runtime_errors(plain):
    prior, theta, x, x_o = plain
    with pytest.raises(RuntimeError, match="all 12 simulations failed"):
        kelfi.fit(theta, np.full_like(x, np.nan), x_o, prior)
    model = kelfi.KernelMeansLikelihood(theta, x, [1e8, 1e8], prior, **FIXED)
    assert model.marginal_likelihood == 0.0 or np.isfinite(model.marginal_likelihood)


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": [1.0, 2.0, 3.0]},
        {"epsilon": np.nan},
        {"epsilon": "small"},
        {"length_scale": 0.0},
        {"length_scale": [[1.0]]},
        {"regularization": -1e-3},
        {"regularization": "some"},
        {"objective": "best"},
        {"model": "neural"},
        {"solver": "quantum"},
        {"kernel": "sinc"},
        {"seed": -1},
        {"seed": "one"},
    ],
)
def test_impossible_options_are_value_errors(plain, options):
    prior, theta, x, x_o = plain
    with pytest.raises(kelfi.InputError):
        kelfi.fit(theta, x, x_o, prior, **{**FIXED, **options})


anything = st.one_of(
    hnp.arrays(
        dtype=st.one_of(hnp.floating_dtypes(), hnp.integer_dtypes(), hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.unicode_string_dtypes()),
        shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    ),
    hnp.arrays(np.float64, st.tuples(st.integers(0, 8), st.integers(0, 3)), elements=st.sampled_from([0.0, 1.0, -2.5, 1e300, -1e300, 5e-324, np.nan, np.inf])),
    st.none(),
    st.floats(),
    st.lists(st.lists(st.floats())),
)


def only_kelfi(call):
    """Whatever it gives, it raises nothing but kelfi's own exceptions, and no bug of ours among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except kelfi.InternalError:
            raise
        except kelfi.KelfiError as error:
            assert isinstance(error, (ValueError, RuntimeError)) and str(error)
            return None


@given(theta=anything, x=anything, x_o=anything)
@PATIENT
def test_any_arrays_give_an_answer_or_a_kelfi_error(theta, x, x_o):
    prior = kelfi.Prior([kelfi.Normal(0, 1), kelfi.Uniform(-3, 3)])
    for call in (lambda: kelfi.fit(theta, x, x_o, prior, **FIXED), lambda: kelfi.KernelMeansLikelihood(theta, x, x_o, prior, **FIXED)):
        found = only_kelfi(call)
        if isinstance(found, kelfi.Posterior):
            only_kelfi(lambda: found.sample(3, seed=1))
            only_kelfi(lambda: found.map())


values = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-8, 1e8, 1e150, 1e300, -1e300, 5e-324, np.nan])


@given(data=st.data(), m=st.integers(1, 8), d=st.integers(1, 3), n=st.integers(1, 3))
@PATIENT
def test_simulations_of_any_size_learn_or_say_why_not(data, m, d, n):
    theta = data.draw(hnp.arrays(np.float64, (m, d), elements=st.floats(-3, 3)))
    x = data.draw(hnp.arrays(np.float64, (m, n), elements=values))
    x_o = data.draw(hnp.arrays(np.float64, (n,), elements=values))
    prior = kelfi.Prior([kelfi.Normal(0, 1)] * d)
    found = only_kelfi(lambda: kelfi.fit(theta, x, x_o, prior, ard=False))
    if found is not None:
        assert found.mean().shape == (d,)
        only_kelfi(lambda: found.quantile([0.0, 0.5, 1.0]))
        assert only_kelfi(lambda: found.sample(4, seed=1)).shape == (4, d)


@given(query=anything)
@PATIENT
def test_any_query_gives_an_answer_or_a_kelfi_error(posterior, query):
    for method in ("value", "pdf", "log_prob", "embedding", "quantile", "interval", "condition", "predictive"):
        only_kelfi(lambda: getattr(posterior, method)(query))
    only_kelfi(lambda: posterior.marginal("rate", query))
    only_kelfi(lambda: posterior.marginal(query, [1.0]))
    if not isinstance(query, int):
        only_kelfi(lambda: posterior.sample(query))
    only_kelfi(lambda: posterior.super_samples(2, candidates=query))
