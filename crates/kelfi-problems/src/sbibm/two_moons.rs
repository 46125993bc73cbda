//! two_moons: a noisy half circle whose place depends on |θ₁ + θ₂| and θ₂ − θ₁.

use super::Model;
use super::rejection::Attempt;
use crate::problem::{SimulationFailure, finite, numbered, take};
use kelfi::prior::{Marginal, Prior};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

const RADIUS: f64 = 0.1;
const RADIUS_STD: f64 = 0.01;
const SHIFT: f64 = 0.25;

/// x = (r cos a + 0.25 − |θ₁ + θ₂|/√2, r sin a + (θ₂ − θ₁)/√2), a ~ U(−π/2, π/2), r ~ N(0.1, 0.01²).
pub(super) struct TwoMoons;

impl Model for TwoMoons {
    fn prior(&self) -> Prior {
        let uniform = |name| (name, Marginal::Uniform { low: -1.0, high: 1.0 });
        Prior::independent(numbered("theta", 2).into_iter().map(uniform).collect()).expect("two names and an interval")
    }

    fn statistic_names(&self) -> Vec<String> {
        numbered("x", 2)
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        let [first, second] = take(theta)?;
        let [u, v] = moon(rng);
        finite(vec![u - (first + second).abs() * FRAC_1_SQRT_2, v + (second - first) * FRAC_1_SQRT_2])
    }

    /// N(ρ; 0.1, 0.01²)/(π ρ) for u > 0: polar density over its Jacobian ρ, the angle uniform over π.
    fn ln_likelihood(&self, theta: &[f64], x: &[f64]) -> f64 {
        let u = x[0] + (theta[0] + theta[1]).abs() * FRAC_1_SQRT_2 - SHIFT;
        let v = x[1] - (theta[1] - theta[0]) * FRAC_1_SQRT_2;
        let rho = u.hypot(v);
        if u > 0.0 {
            -0.5 * ((rho - RADIUS) / RADIUS_STD).powi(2) - 0.5 * TAU.ln() - RADIUS_STD.ln() - (PI * rho).ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The map (θ₁ + θ₂, θ₂ − θ₁)/√2 is a rotation: draw the moon, solve for both, choose the sign of the sum.
    fn sampler<'a>(&'a self, x: &'a [f64]) -> Option<Attempt<'a>> {
        Some(Box::new(|rng| {
            let [u, v] = moon(rng);
            let (size, difference) = (u - x[0], x[1] - v);
            if size < 0.0 {
                return None;
            }
            let sum = if rng.random::<bool>() { size } else { -size };
            let theta = [(sum - difference) * FRAC_1_SQRT_2, (sum + difference) * FRAC_1_SQRT_2];
            theta.iter().all(|value| value.abs() <= 1.0).then(|| theta.to_vec())
        }))
    }
}

fn moon(rng: &mut dyn Rng) -> [f64; 2] {
    let angle = PI * (rng.random::<f64>() - 0.5);
    let z: f64 = StandardNormal.sample(rng);
    let radius = RADIUS + RADIUS_STD * z;
    [radius * angle.cos() + SHIFT, radius * angle.sin()]
}
