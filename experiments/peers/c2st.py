"""Classifier two-sample test between our samples and a reference: 0.5 is indistinguishable, 1 disjoint.

Usage: c2st.py SAMPLES.csv REFERENCE.csv[.bz2] [mlp|forest]

Five-fold cross-validated accuracy of a multilayer perceptron with two hidden layers of 10 x dimension units;
both samples are standardised by the reference's mean and standard deviation. With `forest` that of a random forest of 100 trees.
"""
import bz2
import os
import sys

# One thread each: small matrices lose time to threads that wait for each other.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(library + "_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neural_network import MLPClassifier


def read(path):
    """A table of numbers below a header, possibly compressed."""
    opener = bz2.open if path.endswith(".bz2") else open
    with opener(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)


def c2st(samples, reference, kind):
    """Mean accuracy over five shuffled folds."""
    mean, std = reference.mean(0), reference.std(0, ddof=1)
    data = np.concatenate([(samples - mean) / std, (reference - mean) / std])
    labels = np.concatenate([np.zeros(len(samples)), np.ones(len(reference))])
    units = 10 * data.shape[1]
    classifier = MLPClassifier(
        activation="relu", hidden_layer_sizes=(units, units), max_iter=10_000, solver="adam", random_state=1
    )
    if kind == "forest":
        classifier = RandomForestClassifier(n_estimators=100, random_state=1)
    folds = KFold(n_splits=5, shuffle=True, random_state=1)
    return cross_val_score(classifier, data, labels, cv=folds, scoring="accuracy").mean()


if __name__ == "__main__":
    ours, reference = read(sys.argv[1]), read(sys.argv[2])
    count = min(len(ours), len(reference))
    print(c2st(ours[:count], reference[:count], sys.argv[3] if len(sys.argv) > 3 else "mlp"))
