//! sir: an epidemic's two rates from ten binomial samples of its prevalence.

use super::Model;
use crate::ode;
use crate::problem::{SimulationFailure, positive, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Binomial, Distribution};
use statrs::function::factorial::ln_binomial;

/// Inhabitants.
const POPULATION: f64 = 1e6;
/// People tested at each observed time.
const TESTED: u64 = 1_000;
/// Days between observed times; the first is day 0.
const INTERVAL: f64 = 17.0;
const OBSERVED: usize = 10;

/// S' = −β S I/N, I' = β S I/N − γ I, R' = γ I, one infected at the start; x_k ~ Binomial(1000, I(17 k)/N).
pub(super) struct Sir;

impl Model for Sir {
    fn prior(&self) -> Prior {
        Prior::independent(vec![
            ("contact_rate".to_owned(), Marginal::LogNormal { mean: 0.4_f64.ln(), std: 0.5 }),
            ("recovery_rate".to_owned(), Marginal::LogNormal { mean: 0.125_f64.ln(), std: 0.2 }),
        ])
        .expect("two names and positive standard deviations")
    }

    fn statistic_names(&self) -> Vec<String> {
        (0..OBSERVED).map(|k| format!("infected_day_{}", k as f64 * INTERVAL)).collect()
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let draw = |prevalence: f64| Binomial::new(TESTED, prevalence).map(|law| law.sample(rng) as f64);
        let counts: Result<Vec<f64>, _> = prevalences(theta)?.into_iter().map(draw).collect();
        counts.map_err(|_| SimulationFailure::NotFinite { index: 0, value: f64::NAN })
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        prevalences(theta).map_or(f64::NEG_INFINITY, |p| p.iter().zip(x).map(|(&p, &x)| ln_binomial_mass(x, p)).sum())
    }
}

/// I(t)/N at the observed times.
fn prevalences(theta: &[f64]) -> Result<Vec<f64>, SimulationFailure> {
    take::<2>(theta)?;
    let (beta, gamma) = (positive(theta, 0)?, positive(theta, 1)?);
    let slope = |_: f64, &[s, i]: &[f64; 2]| {
        let infections = beta * s * i / POPULATION;
        [-infections, infections - gamma * i]
    };
    let times: [f64; OBSERVED] = std::array::from_fn(|k| k as f64 * INTERVAL);
    let states = ode::solve(slope, [POPULATION - 1.0, 1.0], &times)?;
    Ok(states.iter().map(|[_, infected]| (infected / POPULATION).clamp(0.0, 1.0)).collect())
}

/// ln [ C(1000, x) pˣ (1 − p)^(1000 − x) ], with 0 ln 0 = 0; −∞ for x that is no count.
fn ln_binomial_mass(x: f64, p: f64) -> f64 {
    let tested = TESTED as f64;
    if x < 0.0 || x > tested || x.fract() != 0.0 {
        return f64::NEG_INFINITY;
    }
    let times = |count: f64, ln_probability: f64| if count == 0.0 { 0.0 } else { count * ln_probability };
    ln_binomial(TESTED, x as u64) + times(x, p.ln()) + times(tested - x, (-p).ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::names;

    const ROUNDING: f64 = 1e-9;

    #[test]
    fn statistics_are_named_by_day() {
        assert_eq!(Sir.statistic_names()[..3], names(&["infected_day_0", "infected_day_17", "infected_day_34"]));
    }

    #[test]
    fn binomial_masses_sum_to_one() {
        let mass: f64 = (0..=1_000).map(|x| ln_binomial_mass(f64::from(x), 0.037).exp()).sum();
        assert!((mass - 1.0).abs() < ROUNDING);
        assert_eq!(ln_binomial_mass(0.0, 0.0), 0.0);
        assert_eq!(ln_binomial_mass(1.0, 0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn early_growth_is_exponential_with_rate_beta_minus_gamma() {
        let p = prevalences(&[0.4, 0.125]).unwrap();
        assert!((p[1] * POPULATION / (0.275_f64 * 17.0).exp() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn prevalences_are_those_of_an_independent_solver() {
        // Order 8 at relative tolerance 1e-12.
        let reference = [1e-6, 1.0720880217642746e-4, 0.011225309362706281, 0.30701268766528483, 0.12883776526967694, 0.023296058655550834];
        for (ours, reference) in prevalences(&[0.4, 0.125]).unwrap().iter().zip(reference) {
            assert!((ours / reference - 1.0).abs() < 1e-6, "{ours} against {reference}");
        }
    }
}
