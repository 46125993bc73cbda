"""Writes prior_values.json: CDFs, survival functions and quantiles of every prior family.

Each case is made in two independent ways: the CDF by mpmath in 80 digits at the quantile found by root search in mpmath, and
SciPy's quantile where SciPy has full precision there. The two are compared before anything is written; where they differ by
more than 1e-10 relative the 80-digit value is kept and the difference is counted as SciPy's.

    python3 make_prior_values.py > prior_values.json        (needs scipy and mpmath; minutes)
    python3 make_prior_values.py beta gamma                 (these families only)

A row is [tail, probability, quantile, ln probability of that tail at the rounded quantile]: the last entry belongs to the
quantile as rounded to a double, so that CDFs are tested at the exact argument they are given.
"""
import json
import math
import sys

import mpmath as mp
from scipy import stats

mp.mp.dps = 80
INF = float("inf")
PROBABILITIES = [0.5, 0.4, 0.25, 0.1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12, 1e-30, 1e-100, 1e-300]


def m(value):
    """The double, exactly."""
    return mp.mpf(value)


def normal_cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def gamma_lower(a, x):
    """P(a, x), by its series of positive terms: no cancellation at any x."""
    if x <= 0:
        return mp.mpf(0)
    term = mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
    total, n = mp.mpf(0), 0
    while True:
        total += term
        n += 1
        term *= x / (a + n)
        if n > x - a and term < total * mp.mpf(10) ** -70:
            return total


def gamma_upper(a, x):
    """Q(a, x): one minus the series where that keeps 30 digits, a continued fraction beyond."""
    if x < a + 1 + 2 * mp.sqrt(a):
        return 1 - gamma_lower(a, x)
    front = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
    terms = 2000
    value = x + 2 * terms + 1 - a
    for n in range(terms, 0, -1):
        value = x + 2 * n - 1 - a - n * (n - a) / value
    return front / value


def beta_lower(a, b, x, y):
    """I_x(a, b) by its series of positive terms x^a y^b/(a B) Σ (a+b)_n/(a+1)_n x^n, or by that of its complement."""
    if x <= 0 or y <= 0:
        return mp.mpf(0 if x <= 0 else 1)
    return beta_lower_series(a, b, x, y) if x < 0.9 else 1 - beta_lower_series(b, a, y, x)


def beta_lower_series(a, b, x, y):
    ln_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    term = mp.exp(a * mp.log(x) + b * mp.log(y) - ln_beta) / a
    total, n = mp.mpf(0), 0
    while True:
        total += term
        term *= (a + b + n) / (a + 1 + n) * x
        n += 1
        if term < total * mp.mpf(10) ** -70 and (a + b + n) * x < (a + 1 + n):
            return total


def student_upper(df, t):
    """P(T > t) for t ≥ 0."""
    x, y = df / (df + t * t), t * t / (df + t * t)
    return beta_lower(df / 2, mp.mpf(1) / 2, x, y) / 2


class Case:
    """lower, upper: CDF and survival; transform: a variable in which the root is easy to find, with its bracket."""

    def __init__(self, settings, lower, upper, bracket, scipy=None, transform=lambda u: u):
        self.settings, self.lower, self.upper = settings, lower, upper
        self.bracket, self.scipy, self.transform = bracket, scipy, transform

    def quantile(self, tail, p):
        f = self.lower if tail == "lower" else self.upper
        sign = 1 if tail == "lower" else -1
        left, right = map(mp.mpf, self.bracket)
        goal = mp.log(m(p))

        def g(u):
            value = f(self.transform(u))
            return sign * ((mp.log(value) if value > 0 else mp.mpf(-10) ** 9) - goal)

        if g(left) > 0 or g(right) < 0:
            return None
        # Bisection while the bracket is wide, then the Illinois form of false position.
        g_left, g_right = g(left), g(right)
        for step in range(300):
            wide = abs(right - left) > mp.mpf("0.5") + abs(right) / 100
            middle = (left + right) / 2 if wide else (left * g_right - right * g_left) / (g_right - g_left)
            value = g(middle)
            if abs(value) < mp.mpf(10) ** -30:
                return self.transform(middle)
            if wide:
                left, g_left, right, g_right = (middle, value, right, g_right) if value < 0 else (left, g_left, middle, value)
            elif value * g_right < 0:
                left, g_left, right, g_right = right, g_right, middle, value
            else:
                g_left, right, g_right = g_left / 2, middle, value
        return self.transform(right)


def cases():
    exp = mp.exp
    for mean, std in [(0.0, 1.0), (-3.0, 1e-3), (1e3, 7.0)]:
        up = lambda x, mean=mean, std=std: normal_cdf(-(x - m(mean)) / m(std))
        low = lambda x, mean=mean, std=std: normal_cdf((x - m(mean)) / m(std))
        yield Case({"normal": {"mean": mean, "std": std}}, low, up, (mean - 40 * std, mean + 40 * std), stats.norm(mean, std))
    for mean, std in [(0.0, 1.0), (-2.0, 3.0)]:
        low = lambda x, mean=mean, std=std: normal_cdf((mp.log(x) - m(mean)) / m(std))
        up = lambda x, mean=mean, std=std: normal_cdf(-(mp.log(x) - m(mean)) / m(std))
        yield Case({"log_normal": {"mean": mean, "std": std}}, low, up, (mean - 40 * std, mean + 40 * std),
                   stats.lognorm(std, scale=math.exp(mean)), exp)
    for low_end, high_end in [(0.0, 1.0), (-5.0, 7.5), (0.0, 1e8)]:
        a, b = m(low_end), m(high_end)
        yield Case({"uniform": {"low": low_end, "high": high_end}}, lambda x, a=a, b=b: (x - a) / (b - a),
                   lambda x, a=a, b=b: (b - x) / (b - a), (low_end, high_end), stats.uniform(low_end, high_end - low_end))
    for low_end, high_end in [(0.01, 10.0), (1e-300, 1e300), (1.0, 1.001)]:
        a, b = m(low_end), m(high_end)
        yield Case({"log_uniform": {"low": low_end, "high": high_end}}, lambda x, a=a, b=b: mp.log(x / a) / mp.log(b / a),
                   lambda x, a=a, b=b: mp.log(b / x) / mp.log(b / a), (mp.log(a), mp.log(b)),
                   stats.loguniform(low_end, high_end), exp)
    for shape, rate in [(0.1, 1.0), (0.5, 3.0), (1.0, 2.0), (2.5, 0.2), (50.0, 1.0), (1e4, 2.0), (1e-3, 1.0)]:
        a, r = m(shape), m(rate)
        yield Case({"gamma": {"shape": shape, "rate": rate}}, lambda x, a=a, r=r: gamma_lower(a, x * r),
                   lambda x, a=a, r=r: gamma_upper(a, x * r), (-740, mp.log((a + 40 * mp.sqrt(a) + 800) / r)),
                   stats.gamma(shape, scale=1 / rate), exp)
    for shape, scale in [(0.1, 1.0), (1.0, 2.0), (3.0, 0.5), (50.0, 10.0), (1e4, 2.0)]:
        a, s = m(shape), m(scale)
        yield Case({"inverse_gamma": {"shape": shape, "scale": scale}}, lambda x, a=a, s=s: gamma_upper(a, s / x),
                   lambda x, a=a, s=s: gamma_lower(a, s / x), (mp.log(s / (a + 40 * mp.sqrt(a) + 800)), 709),
                   stats.invgamma(shape, scale=scale), exp)
    for a, b in [(0.1, 0.1), (0.5, 3.0), (3.0, 0.5), (1.0, 1.0), (2.0, 5.0), (50.0, 50.0), (1e3, 0.2), (300.0, 1e4)]:
        # Upper tails are tested through the reflected case: a double near one cannot hold them.
        yield Case({"beta": {"a": a, "b": b}}, lambda x, a=m(a), b=m(b): beta_lower(a, b, x, 1 - x),
                   lambda x, a=m(a), b=m(b): beta_lower(b, a, 1 - x, x), (-740, 60), stats.beta(a, b), lambda u: 1 / (1 + exp(-u)))
    for rate in [1.0, 1e-4]:
        r = m(rate)
        yield Case({"exponential": {"rate": rate}}, lambda x, r=r: -mp.expm1(-r * x), lambda x, r=r: exp(-r * x),
                   (-740, mp.log(800 / r)), stats.expon(scale=1 / rate), exp)
    for df, location, scale in [(0.5, 0.0, 1.0), (1.0, 0.0, 1.0), (2.0, 0.0, 3.0), (5.0, 0.0, 1.0), (50.0, 0.0, 1.0),
                                (3.0, 10.0, 0.5), (200.0, 0.0, 1.0)]:
        def up(x, df=m(df), l=m(location), s=m(scale)):
            t = (x - l) / s
            return student_upper(df, t) if t >= 0 else 1 - student_upper(df, -t)
        def low(x, df=m(df), l=m(location), s=m(scale)):
            t = (l - x) / s
            return student_upper(df, t) if t >= 0 else 1 - student_upper(df, -t)
        yield Case({"student_t": {"df": df, "location": location, "scale": scale}}, low, up, (-709, 709),
                   stats.t(df, location, scale), lambda u, l=m(location): l + mp.sinh(u))
    for mean, std, low_end, high_end in [(0.0, 1.0, -1.0, 2.0), (0.0, 1.0, 8.0, 9.0), (0.0, 1.0, -30.0, -29.0), (-8.0, 1.0, 0.0, INF),
                                         (1.0, 2.0, 0.0, INF), (10.0, 2.0, 0.0, INF), (1.0, 2.0, -INF, 3.0), (5.0, 1.0, -INF, 0.0),
                                         (0.0, 1.0, 1000.0, INF), (0.0, 100.0, 0.0, 1.0), (0.0, 1.0, -INF, INF)]:
        mu, s = m(mean), m(std)
        alpha, beta = (m(low_end) - mu) / s, (m(high_end) - mu) / s

        def between(a, b):
            if b - a < mp.mpf("0.05"):
                # No difference of nearly equal numbers: φ(a) ∫ exp(−a t − t²/2) dt over the interval, scaled to [0, 1].
                h = b - a
                steps = [0, 1] if abs(a) * h < 5 else mp.linspace(0, 1, 12)
                return mp.npdf(a) * h * mp.quad(lambda t: mp.exp(-a * h * t - h * h * t * t / 2), steps)
            return normal_cdf(-a) - normal_cdf(-b) if a > 0 else normal_cdf(b) - normal_cdf(a)

        total = between(alpha, beta)
        low = lambda x, mu=mu, s=s, a=alpha, t=total, f=between: f(a, (x - mu) / s) / t
        up = lambda x, mu=mu, s=s, b=beta, t=total, f=between: f((x - mu) / s, b) / t
        written = {"mean": mean, "std": std}
        if low_end > -INF:
            written["low"] = low_end
        if high_end < INF:
            written["high"] = high_end
        if low_end > -INF:
            bracket, transform = (-740, math.log(min(high_end - low_end, 45 * std + abs(mean)))), lambda u, l=m(low_end): l + exp(u)
        elif high_end < INF:
            bracket, transform = (math.log(45 * std + abs(mean) + abs(high_end)), -740), lambda u, h=m(high_end): h - exp(u)
        else:
            bracket, transform = (mean - 40 * std, mean + 40 * std), lambda u: u
        scipy = stats.truncnorm((low_end - mean) / std, (high_end - mean) / std, mean, std)
        yield Case({"truncated_normal": written}, low, up, bracket, scipy, transform)
    for shape, scale in [(0.3, 1.5), (1.0, 2.0), (2.0, 0.1), (20.0, 1.0)]:
        k, s = m(shape), m(scale)
        yield Case({"weibull": {"shape": shape, "scale": scale}}, lambda x, k=k, s=s: -mp.expm1(-(x / s) ** k),
                   lambda x, k=k, s=s: exp(-(x / s) ** k), (-740, 709), stats.weibull_min(shape, scale=scale), exp)
    for location, scale in [(0.0, 1.0), (2.0, 0.1)]:
        l, s = m(location), m(scale)
        def up(x, l=l, s=s):
            t = (x - l) / s
            return mp.atan(1 / t) / mp.pi if t > 0 else mp.mpf(1) / 2 if t == 0 else 1 - mp.atan(-1 / t) / mp.pi
        def low(x, l=l, s=s):
            t = (l - x) / s
            return mp.atan(1 / t) / mp.pi if t > 0 else mp.mpf(1) / 2 if t == 0 else 1 - mp.atan(-1 / t) / mp.pi
        yield Case({"cauchy": {"location": location, "scale": scale}}, low, up, (-709, 709), stats.cauchy(location, scale),
                   lambda u, l=l: l + mp.sinh(u))
    for std in [1.0, 20.0]:
        s = m(std)
        yield Case({"half_normal": {"std": std}}, lambda x, s=s: mp.erf(x / s / mp.sqrt(2)), lambda x, s=s: mp.erfc(x / s / mp.sqrt(2)),
                   (-740, math.log(45 * std)), stats.halfnorm(scale=std), exp)
    for location, scale in [(0.0, 1.0), (-4.0, 3.0)]:
        l, s = m(location), m(scale)
        def up(x, l=l, s=s):
            t = (x - l) / s
            return exp(-t) / 2 if t > 0 else 1 - exp(t) / 2
        def low(x, l=l, s=s):
            t = (l - x) / s
            return exp(-t) / 2 if t > 0 else 1 - exp(t) / 2
        yield Case({"laplace": {"location": location, "scale": scale}}, low, up, (location - 800 * scale, location + 800 * scale),
                   stats.laplace(location, scale))
    for low_end, mode, high_end in [(0.0, 0.3, 1.0), (0.0, 0.0, 2.0), (-2.0, 0.0, 0.0), (1.0, 4.0, 5.0)]:
        a, c, b = m(low_end), m(mode), m(high_end)
        def low(x, a=a, c=c, b=b):
            return (x - a) ** 2 / ((b - a) * (c - a)) if x <= c and c > a else 1 - (b - x) ** 2 / ((b - a) * (b - c))
        def up(x, a=a, c=c, b=b):
            return 1 - (x - a) ** 2 / ((b - a) * (c - a)) if x <= c and c > a else (b - x) ** 2 / ((b - a) * (b - c))
        # The variable is a logit, so that both ends of the interval are resolved.
        yield Case({"triangular": {"low": low_end, "mode": mode, "high": high_end}}, low, up, (-740, 740),
                   stats.triang((mode - low_end) / (high_end - low_end), low_end, high_end - low_end),
                   lambda u, a=a, b=b: a + (b - a) / (1 + exp(-u)) if u < 0 else b - (b - a) / (1 + exp(u)))


def row(case, tail, p):
    exact = case.quantile(tail, p)
    if exact is None or abs(exact) > m(1e308) or (exact != 0 and abs(exact) < m(1e-307)):
        return None, None
    quantile = float(exact)
    f = case.lower if tail == "lower" else case.upper
    # A root closer to zero than the search resolves is zero (the centre of a symmetric family).
    if abs(quantile) < 1e-25 and p > 0.3:
        quantile = 0.0
    value = f(m(quantile))
    if value <= 0:
        return None, None
    scipy = float(case.scipy.ppf(p) if tail == "lower" else case.scipy.isf(p))
    agrees = abs(scipy - quantile) <= 1e-10 * abs(quantile)
    return [tail, p, quantile, float(mp.log(value))], agrees


def main():
    table, total, apart = [], 0, {}
    for case in cases():
        if len(sys.argv) > 1 and next(iter(case.settings)) not in sys.argv[1:]:
            continue
        rows = []
        for tail in ("lower", "upper"):
            for p in PROBABILITIES:
                entry, agrees = row(case, tail, p)
                if entry is not None:
                    rows.append(entry)
                    total += 1
                    if not agrees and p >= 1e-12:
                        apart[next(iter(case.settings))] = apart.get(next(iter(case.settings)), 0) + 1
        print(case.settings, len(rows), file=sys.stderr, flush=True)
        table.append({"marginal": case.settings, "rows": rows})
    lines = ",\n".join(json.dumps(case) for case in table)
    print(f"[\n{lines}\n]")
    print(f"{total} rows; SciPy's quantile differs by more than 1e-10 for p from 1e-12 in {apart}", file=sys.stderr)


if __name__ == "__main__":
    main()
