//! Curves with noise: regression, decay, dose and response, epidemics, growth, autoregression.

use super::case::Case;
use super::densities::{binomial, gamma, gauss, ln_binomial, ln_gamma_density, ln_normal, logistic, normal, prior, uniform};
use kelfi::prior::Marginal;

/// All of them.
pub fn cases() -> Vec<Case> {
    let times = |count: usize, step: f64| (1..=count).map(|k| k as f64 * step).collect::<Vec<f64>>();
    let log_normal = |mean: f64, std: f64| Marginal::LogNormal { mean, std };
    vec![
        regression(),
        dose_response(),
        autoregression(),
        curve(
            "decay",
            "amplitude and rate of a decay at 6 times, noise 0.1",
            prior(&[("amplitude", log_normal(0.5, 0.5)), ("rate", Marginal::LogUniform { low: 0.1, high: 3.0 })]),
            times(6, 0.5),
            0.1,
            |theta, t| theta[0] * (-theta[1] * t).exp(),
        ),
        curve(
            "saturation",
            "largest speed and half point of an enzyme at 6 doses, noise 0.1",
            prior(&[("speed", log_normal(0.7, 0.4)), ("half", log_normal(0.0, 0.6))]),
            times(6, 0.7),
            0.1,
            |theta, t| theta[0] * t / (theta[1] + t),
        ),
        curve(
            "logistic_growth",
            "rate and capacity of logistic growth at 8 times, noise 0.2",
            prior(&[("rate", log_normal(0.0, 0.4)), ("capacity", log_normal(1.0, 0.4))]),
            times(8, 0.6),
            0.2,
            |theta, t| theta[1] / (1.0 + (theta[1] / 0.2 - 1.0).max(0.0) * (-theta[0] * t).exp()),
        ),
        epidemic(),
        growth_walk().unusual(),
    ]
}

/// f(θ, t) + N(0, s²) at these times.
fn curve(name: &'static str, about: &'static str, prior: kelfi::Prior, times: Vec<f64>, noise: f64, f: fn(&[f64], f64) -> f64) -> Case {
    let same = times.clone();
    Case::usual(
        name,
        about,
        prior,
        move |theta, rng| times.iter().map(|&t| f(theta, t) + noise * gauss(rng)).collect(),
        move |theta, x| same.iter().zip(x).map(|(&t, &x)| ln_normal(x, f(theta, t), noise)).sum(),
    )
}

/// Intercept, slope (centred) and ln residual variance of 15 points: independent N, N and χ²₁₃.
fn regression() -> Case {
    const POINTS: f64 = 15.0;
    const SPREAD: f64 = 18.0;
    const HALF: f64 = 6.5;
    Case::usual(
        "regression",
        "intercept, slope and log residual variance of a regression on 15 points",
        prior(&[("intercept", normal(0.0, 1.0)), ("slope", normal(0.0, 1.0)), ("log_sd", normal(-0.5, 0.5))]),
        |theta, rng| {
            let sd = theta[2].exp();
            let variance = sd * sd * gamma(rng, HALF) / HALF;
            vec![theta[0] + sd / POINTS.sqrt() * gauss(rng), theta[1] + sd / SPREAD.sqrt() * gauss(rng), variance.ln()]
        },
        |theta, x| {
            let sd = theta[2].exp();
            ln_normal(x[0], theta[0], sd / POINTS.sqrt())
                + ln_normal(x[1], theta[1], sd / SPREAD.sqrt())
                + ln_gamma_density(x[2].exp(), HALF, HALF / (sd * sd))
        },
    )
}

fn dose_response() -> Case {
    const DOSES: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];
    const ANIMALS: u64 = 20;
    Case::usual(
        "dose_response",
        "how many of 20 respond at 5 doses",
        prior(&[("threshold", normal(0.0, 1.0)), ("slope", Marginal::LogNormal { mean: 0.3, std: 0.5 })]),
        |theta, rng| DOSES.iter().map(|dose| binomial(rng, ANIMALS, logistic(theta[1] * (dose - theta[0])))).collect(),
        |theta, x| {
            let response = |(dose, &x): (&f64, &f64)| ln_binomial(x, ANIMALS as f64, logistic(theta[1] * (dose - theta[0])));
            DOSES.iter().zip(x).map(response).sum()
        },
    )
}

/// Σ x_(t-1) x_t and Σ x²_(t-1) of 40 steps say all there is about the coefficient.
fn autoregression() -> Case {
    const STEPS: usize = 40;
    Case::usual(
        "autoregression",
        "the two sums that a first-order autoregression of 40 steps comes down to",
        prior(&[("coefficient", uniform(-1.0, 1.0))]),
        |theta, rng| {
            let (mut last, mut cross, mut square) = (0.0, 0.0, 0.0);
            for _ in 0..STEPS {
                let next = theta[0] * last + gauss(rng);
                cross += last * next;
                square += last * last;
                last = next;
            }
            vec![cross / STEPS as f64, square / STEPS as f64]
        },
        |theta, x| STEPS as f64 * (theta[0] * x[0] - 0.5 * theta[0].powi(2) * x[1]),
    )
}

/// Share of infected at 8 times, by Euler steps, with noise.
fn epidemic() -> Case {
    const NOISE: f64 = 0.02;
    fn infected(theta: &[f64]) -> Vec<f64> {
        let (mut susceptible, mut infected) = (0.99, 0.01);
        let mut seen = vec![];
        for step in 1..=160 {
            let (caught, cured) = (0.1 * theta[0] * susceptible * infected, 0.1 * theta[1] * infected);
            susceptible -= caught;
            infected += caught - cured;
            if step % 20 == 0 {
                seen.push(infected);
            }
        }
        seen
    }
    Case::usual(
        "epidemic",
        "share of infected at 8 times of an epidemic, noise 0.02",
        prior(&[("contacts", uniform(0.5, 3.0)), ("recovery", uniform(0.1, 1.0))]),
        |theta, rng| infected(theta).into_iter().map(|share| share + NOISE * gauss(rng)).collect(),
        |theta, x| infected(theta).iter().zip(x).map(|(&share, &x)| ln_normal(x, share, NOISE)).sum(),
    )
}

/// ln size at 10 times: each step adds rate and noise, so that neighbours go together.
fn growth_walk() -> Case {
    Case::usual(
        "growth_walk",
        "log size at 10 times of a random growth: statistics depend on each other",
        prior(&[("rate", normal(0.2, 0.2)), ("log_noise", normal(-1.5, 0.5))]),
        |theta, rng| {
            let mut size = 0.0;
            (0..10)
                .map(|_| {
                    size += theta[0] + theta[1].exp() * gauss(rng);
                    size
                })
                .collect()
        },
        |theta, x| (0..10).map(|k| ln_normal(x[k] - if k > 0 { x[k - 1] } else { 0.0 }, theta[0], theta[1].exp())).sum(),
    )
}
