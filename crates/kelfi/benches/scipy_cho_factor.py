"""SciPy's Cholesky factorisation at the sizes of the core bench: the yardstick for evidence with gradient.

Usage: OPENBLAS_NUM_THREADS=1 python scipy_cho_factor.py [repeats]
"""

import sys
import time

import numpy as np
from scipy.linalg import cho_factor

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10
for m in (500, 2000):
    z = np.random.default_rng(1).standard_normal((m, 4)) / 0.8
    norms = (z * z).sum(1)
    gram = np.exp(-0.5 * np.maximum(norms[:, None] + norms[None, :] - 2 * z @ z.T, 0)) + m * 1e-4 * np.eye(m)
    gram = np.asfortranarray(gram)
    seconds = []
    for _ in range(repeats):
        copy = gram.copy(order="F")
        start = time.perf_counter()
        cho_factor(copy, lower=True, overwrite_a=True, check_finite=False)
        seconds.append(time.perf_counter() - start)
    print(f"cho_factor/{m}: median {1e3 * np.median(seconds):.2f} ms, fastest {1e3 * min(seconds):.2f} ms")
