//! lotka_volterra of the benchmark: a differential equation with log-normal noise, not the jump process.

use super::Model;
use crate::ode;
use crate::problem::{SimulationFailure, finite, names, numbered, take};
use kelfi::prior::{Marginal, Prior};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::TAU;

/// Prey and predators at time 0.
const START: [f64; 2] = [30.0, 1.0];
/// Time between observed states; the first is time 0.
const INTERVAL: f64 = 2.1;
const OBSERVED: usize = 10;
/// States are cut to this range before the logarithm.
const RANGE: (f64, f64) = (1e-10, 10_000.0);
/// Noise of the logarithm.
const NOISE: f64 = 0.1;

/// X' = α X − β X Y, Y' = −γ Y + δ X Y; ln x = ln state + N(0, 0.1²), ten X and then ten Y.
pub(super) struct LotkaVolterra;

impl Model for LotkaVolterra {
    fn prior(&self) -> Prior {
        let marginal = |name: &str, mean: f64| (name.to_owned(), Marginal::LogNormal { mean, std: 0.5 });
        let [alpha, beta, gamma, delta] = ["alpha", "beta", "gamma", "delta"];
        Prior::independent(vec![marginal(alpha, -0.125), marginal(beta, -3.0), marginal(gamma, -0.125), marginal(delta, -3.0)])
            .expect("four names and positive standard deviations")
    }

    fn statistic_names(&self) -> Vec<String> {
        names(&["prey", "predators"]).iter().flat_map(|animal| numbered(animal, OBSERVED)).collect()
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let noisy = |ln_state: f64, z: f64| (ln_state + NOISE * z).exp();
        finite(ln_states(theta)?.into_iter().map(|ln_state| noisy(ln_state, StandardNormal.sample(rng))).collect())
    }

    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        let ln_density = |ln_state: f64, x: f64| {
            if x > 0.0 { -0.5 * ((x.ln() - ln_state) / NOISE).powi(2) - 0.5 * TAU.ln() - NOISE.ln() - x.ln() } else { f64::NEG_INFINITY }
        };
        ln_states(theta).map_or(f64::NEG_INFINITY, |states| states.iter().zip(x).map(|(&state, &x)| ln_density(state, x)).sum())
    }
}

/// Logarithms of the noise-free states in the order of the data.
fn ln_states(theta: &[f64]) -> Result<Vec<f64>, SimulationFailure> {
    let [alpha, beta, gamma, delta] = take(theta)?;
    let slope = |_: f64, &[x, y]: &[f64; 2]| [alpha * x - beta * x * y, -gamma * y + delta * x * y];
    let times: [f64; OBSERVED] = std::array::from_fn(|k| k as f64 * INTERVAL);
    let states = ode::solve(slope, START, &times)?;
    let animal = |index: usize| states.iter().map(move |state| state[index].clamp(RANGE.0, RANGE.1).ln());
    Ok(animal(0).chain(animal(1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_those_of_an_independent_solver() {
        // Order 8 at relative tolerance 1e-12, θ = (0.8, 0.05, 0.9, 0.04); times 0, 2.1, 10.5 and 18.9 of both animals.
        let states: Vec<f64> = ln_states(&[0.8, 0.05, 0.9, 0.04]).unwrap().into_iter().map(f64::exp).collect();
        let reference = [
            (0, 30.0),
            (1, 83.16303685983186),
            (5, 52.84147168121926),
            (9, 19.63155504675536),
            (10, 1.0),
            (11, 32.54392054966631),
            (15, 1.7352770463532312),
            (19, 0.9569070653885993),
        ];
        for (place, value) in reference {
            assert!((states[place] / value - 1.0).abs() < 1e-5, "{place}: {} against {value}", states[place]);
        }
    }
}
