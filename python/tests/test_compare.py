"""kelfi.compare: the same numbers as the command, on problems and on functions; failures are counted, never raised."""

import builtins

import numpy as np
import pytest

import kelfi


@pytest.fixture(autouse=True)
def without_pandas(monkeypatch, request):
    """Lists of dictionaries, whether or not pandas is installed."""
    if "with_pandas" in request.fixturenames:
        return
    plain = builtins.__import__

    def without(name, *rest, **more):
        if name == "pandas":
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)


@pytest.fixture
def with_pandas():
    """Skips where it is not installed."""
    return pytest.importorskip("pandas")


def simulator(theta, seed):
    return theta + 0.3 * np.random.default_rng(seed).normal(size=2)


@pytest.fixture
def prior():
    return kelfi.Prior(a=kelfi.Normal(0, 1), b=kelfi.Uniform(-1, 1))


def test_methods_have_a_name_a_line_and_a_reference():
    found = kelfi.methods()
    assert len(found) > 30 and all(set(method) == {"name", "description", "reference"} for method in found)


def test_a_problem_is_compared_with_its_truth_known_and_the_prior_gains_nothing():
    rows = {row["method"]: row for row in kelfi.compare("linear_gaussian", methods=["rejection-regression", "prior"], budget=200, repeats=3)}
    assert list(rows) == ["rejection-regression", "prior", "exact"]
    assert rows["prior"]["gain"] == 0.0 and rows["rejection-regression"]["gain"] > 0.5
    assert rows["rejection-regression"]["c2st"] < rows["prior"]["c2st"]
    assert rows["rejection-regression"]["total_variation"] < rows["prior"]["total_variation"]


def test_a_function_is_judged_without_the_truth_and_gives_the_same_bits_again(prior):
    def compared():
        return kelfi.compare(simulator, prior, [0.5, 0.2], methods=["rejection", "mcmc-abc", "prior"], budget=[60, 120], repeats=2, seed=3)

    first = compared()
    assert len(first) == 6 and [row["budget"] for row in first] == [60] * 3 + [120] * 3
    by = {(row["method"], row["budget"]): row for row in first}
    assert by["rejection", 120]["predictive"] < by["prior", 120]["predictive"]
    assert by["rejection", 120]["left_out"] > 0 and by["mcmc-abc", 120]["left_out"] is None
    assert by["mcmc-abc", 120]["calls"] == 120 and "gain" not in first[0]

    def without_seconds(rows):
        return [{name: value for name, value in row.items() if not name.startswith("seconds")} for row in rows]

    assert without_seconds(compared()) == without_seconds(first)
    runs = kelfi.compare(simulator, prior, [0.5, 0.2], methods="rejection", budget=60, repeats=2, seed=3, runs=True)
    assert [run["repeat"] for run in runs] == [0, 1] and all(run["width"] < 1 for run in runs)


def test_a_simulator_that_raises_now_and_then_is_no_obstacle_and_one_that_always_does_is_a_reason(prior):
    def fragile(theta, seed):
        if theta[0] > 1.0:
            raise ValueError("too large")
        return simulator(theta, seed)

    assert kelfi.compare(fragile, prior, [0.5, 0.2], methods="rejection", budget=60, repeats=1)[0]["failed"] == 0

    def broken(theta):
        raise ValueError("never works")

    assert kelfi.compare(broken, prior, [0.5, 0.2], methods="rejection", budget=30, repeats=1)[0]["failed"] == 1


def test_what_cannot_be_compared_is_refused(prior):
    for call, said in [
        (lambda: kelfi.compare("banana", methods="rejektion"), "did you mean `rejection`"),
        (lambda: kelfi.compare("bananna"), "did you mean `banana`"),
        (lambda: kelfi.compare(simulator), "prior and x_o"),
        (lambda: kelfi.compare("banana", prior), "of its own"),
        (lambda: kelfi.compare("banana", budget=0), "budget"),
        (lambda: kelfi.compare("banana", repeats=0), "repeats"),
        (lambda: kelfi.compare("banana", methods=[]), "empty"),
        (lambda: kelfi.compare("banana", observations="mine"), "own"),
        (lambda: kelfi.compare(3, prior, [0.1, 0.2]), "function"),
    ]:
        with pytest.raises(kelfi.InputError, match=said):
            call()


def test_a_frame_where_pandas_is(with_pandas):
    table = kelfi.compare("exponential_gamma", methods=["rejection", "prior"], budget=50, repeats=2)
    assert isinstance(table, with_pandas.DataFrame) and list(table["method"]) == ["rejection", "prior", "exact"]
