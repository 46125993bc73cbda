"""Every example in a docstring runs and gives what it shows."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import kelfi

MODULES = ["kelfi", *(f"kelfi.{module.name}" for module in pkgutil.iter_modules(kelfi.__path__) if module.name != "_kelfi")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    names = {"kelfi": kelfi, "np": np, **{name: getattr(kelfi, name) for name in kelfi.__all__}}
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs=names).failed == 0


def test_there_are_examples_and_everything_public_is_documented():
    finder = doctest.DocTestFinder()
    examples = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert examples >= 40
    for name in kelfi.__all__:
        assert getattr(kelfi, name).__doc__, name
    for owner in (kelfi.Posterior, kelfi.Prior, kelfi.KELFI, kelfi.KernelMeansLikelihood, kelfi.problems.Problem):
        for name, member in vars(owner).items():
            if not name.startswith("_"):
                assert member.__doc__, f"{owner.__name__}.{name}"
