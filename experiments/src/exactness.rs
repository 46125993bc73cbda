//! Total variation between the positive part of a surrogate posterior and the exact one, on a grid of z (at most two parameters).
//!
//! Total variation does not change under the transform, and in z coordinates every prior is N(0, I).

use kelfi::{Points, Prior, Surrogate};
use kelfi_problems::BenchmarkProblem;

/// The exact posterior on a grid.
pub struct Exact {
    z: Points,
    prior: Vec<f64>,
    probability: Vec<f64>,
}

impl Exact {
    /// From the problem's likelihood at data y.
    pub fn new(problem: &dyn BenchmarkProblem, y: &[f64]) -> Self {
        let prior: &Prior = problem.prior();
        let (cells, reach) = if prior.dimension() == 1 { (800, 5.0) } else { (140, 4.5) };
        let axis: Vec<f64> = (0..cells).map(|k| reach * (2.0 * (k as f64 + 0.5) / cells as f64 - 1.0)).collect();
        let rows: Vec<Vec<f64>> = match prior.dimension() {
            1 => axis.iter().map(|&a| vec![a]).collect(),
            2 => axis.iter().flat_map(|&a| axis.iter().map(move |&b| vec![a, b])).collect(),
            more => unreachable!("a grid over {more} parameters is not attempted here"),
        };
        let z = Points::from_rows(&rows).expect("rows of equal length");
        let prior_mass: Vec<f64> = z.iter().map(|z| (-0.5 * z.iter().map(|v| v * v).sum::<f64>()).exp()).collect();
        let ln: Vec<f64> =
            z.iter().map(|z| problem.ln_likelihood(&prior.from_latent(z), y).expect("a problem with a likelihood")).collect();
        let largest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mass = ln.iter().zip(&prior_mass).map(|(l, p)| (l - largest).exp() * p).collect();
        Self { z, prior: prior_mass, probability: normalised(mass) }
    }

    /// ½ Σ |[q]⁺/Σ[q]⁺ - p|; 1 where the surrogate is positive nowhere.
    pub fn total_variation(&self, surrogate: &dyn Surrogate) -> f64 {
        let values = surrogate.relative_values(&self.z);
        let mass: Vec<f64> = values.iter().zip(&self.prior).map(|(q, p)| q.max(0.0) * p).collect();
        if mass.iter().sum::<f64>() <= 0.0 {
            return 1.0;
        }
        0.5 * normalised(mass).iter().zip(&self.probability).map(|(a, b)| (a - b).abs()).sum::<f64>()
    }
}

fn normalised(mut mass: Vec<f64>) -> Vec<f64> {
    let total: f64 = mass.iter().sum();
    mass.iter_mut().for_each(|m| *m /= total);
    mass
}
