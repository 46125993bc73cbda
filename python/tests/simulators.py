"""Simulators at the top level of a module, where worker processes can import them."""

import os
import signal
import time

import numpy as np


def noisy(theta, seed):
    return theta.sum() + 0.1 * np.random.default_rng(seed).normal(size=2)


def slow(theta, seed):
    time.sleep(0.01)
    return noisy(theta, seed)


def batch(theta, seed):
    return np.array([noisy(row, int(s)) for row, s in zip(theta, seed)])


def capricious(theta, seed):
    """Fails in every way a function can, depending on its seed; never for two thirds of them."""
    kind = seed % 13
    if kind == 0:
        raise ArithmeticError("too cold")
    if kind == 1:
        return [np.nan, 1.0]
    if kind == 2:
        return [1.0, 2.0, 3.0]
    if kind == 3:
        return "soup"
    return noisy(theta, seed)


def deadly(theta, seed):
    """Ends its process for about one seed in forty."""
    if seed % 40 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.002)
    return noisy(theta, seed)


def dies_once(theta, seed):
    """Ends its process at the first call that finds no mark in the directory named by the environment."""
    mark = os.path.join(os.environ["KELFI_TEST_MARK"], "died")
    if seed % 7 == 0:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return noisy(theta, seed)


def sometimes_endless(theta, seed):
    """Never returns for about one seed in eleven."""
    while seed % 11 == 0:
        time.sleep(60)
    return noisy(theta, seed)
