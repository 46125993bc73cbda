//! Kernel Bayes' rule (Fukumizu, Song & Gretton, JMLR 14, 2013): prior and joint embedded, w = ΛG((ΛG)² + δI)⁻¹ Λ k(y).
//!
//! With Λ = diag(μ/m) positive and H = Λ^½ G Λ^½ the weights are Λ^½ H (H² + δI)⁻¹ Λ^½ k(y), a symmetric problem.

use super::kernel_abc::{Sampling, factored, herded};
use super::{Embedded, clipped, median_kernel};
use crate::yardstick::Units;
use kelfi::kernel::Kernel;
use kelfi::linalg::products::rows_dot_rows;
use kelfi::linalg::vector::dot;
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::{Error, Points};

/// Steps of the fixed point towards the mode.
const MODE_STEPS: usize = 100;
/// The smallest μ_i: the rule needs a positive Λ, and with draws of the prior μ is near 1.
const LEAST: f64 = 1e-3;

/// Weights of the kernel Bayes' rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelBayes {
    /// ε_n, the ridge of the prior's embedding (times m).
    pub prior_ridge: f64,
    /// δ_n, the ridge of the rule.
    pub ridge: f64,
    /// What its weights become.
    pub sampling: Sampling,
    /// Units of the statistics.
    pub units: Units,
}

impl KernelBayes {
    /// Median heuristics and 10⁻⁴ for both ridges, as in the KELFI paper.
    pub fn new(sampling: Sampling) -> Self {
        Self { prior_ridge: 1e-4, ridge: 1e-4, sampling, units: Units::Spread }
    }
}

impl Method for KernelBayes {
    fn name(&self) -> &'static str {
        if self.sampling == Sampling::Herded { "kernel-bayes-herded" } else { "kernel-bayes" }
    }

    fn description(&self) -> &'static str {
        match self.sampling {
            Sampling::Herded => "kernel Bayes' rule with samples herded from its embedding",
            Sampling::Clipped => "prior and joint distribution embedded, then conditioned (KBR; Fukumizu et al. 2013)",
        }
    }

    fn reference(&self) -> &'static str {
        "Fukumizu, Song & Gretton, J. Mach. Learn. Res. 14, 2013"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let Rule { z, weights, .. } = self.rule(task)?;
        let particles = match self.sampling {
            Sampling::Clipped => Particles::from_latent(task.prior, &z, &clipped(&weights)?)?,
            Sampling::Herded => herded(task, &z, &weights)?,
        };
        Ok(Answer::Particles(particles))
    }
}

/// Simulated z with their weights, and the kernel on z.
struct Rule {
    kernel: Kernel,
    z: Points,
    weights: Vec<f64>,
}

impl KernelBayes {
    /// The mode of the posterior's embedding, in the units of the parameters: what the KELFI paper scores the rule by.
    pub fn mode(&self, task: &Task<'_>) -> Result<Vec<f64>, Error> {
        let Rule { kernel, z, weights } = self.rule(task)?;
        Ok(task.prior.from_latent(&mode(&kernel, &z, &weights)))
    }

    fn rule(&self, task: &Task<'_>) -> Result<Rule, Error> {
        Error::require_positive("ridge of the prior's embedding", self.prior_ridge)?;
        Error::require_positive("ridge of the rule", self.ridge)?;
        let Embedded { z, outputs } = Embedded::of(task, self.units)?;
        let kernels = (median_kernel(&z, 1.0)?, median_kernel(&outputs, 1.0)?);
        let weights = posterior_weights(&kernels, &z, &outputs, &vec![0.0; outputs.columns()], self.prior_ridge, self.ridge)?;
        Ok(Rule { kernel: kernels.0, z, weights })
    }
}

/// w for an observation. Costs O(m³).
pub fn posterior_weights(
    (on_parameters, on_outputs): &(Kernel, Kernel),
    z: &Points,
    outputs: &Points,
    observation: &[f64],
    prior_ridge: f64,
    ridge: f64,
) -> Result<Vec<f64>, Error> {
    let m = z.rows();
    let scaled = on_parameters.scale(z);
    // μ = (L/m + εI)⁻¹ (1/m Σ_i ℓ(u_i, ·)), the prior being the simulated draws themselves.
    let embedded: Vec<f64> = on_parameters.means(&scaled, z);
    let factor = factored(on_parameters.gram(&scaled, m as f64 * prior_ridge), m, prior_ridge)?;
    let mu: Vec<f64> = factor.solve(&embedded).into_iter().map(|v| m as f64 * v).collect();
    let half: Vec<f64> = mu.iter().map(|mu| (mu.max(LEAST) / m as f64).sqrt()).collect();
    let scaled = on_outputs.scale(outputs);
    let mut h = on_outputs.gram(&scaled, 0.0);
    for i in 0..m {
        (0..m).for_each(|j| h[i * m + j] *= half[i] * half[j]);
    }
    let mut square = rows_dot_rows(&h, &h, m);
    (0..m).for_each(|i| square[i * m + i] += ridge);
    let factor = factored(square, m, ridge)?;
    let mut right = vec![0.0; m];
    on_outputs.row(&scaled, &on_outputs.scale_query(observation), &mut right);
    right.iter_mut().zip(&half).for_each(|(k, half)| *k *= half);
    factor.solve_in_place(&mut right);
    Ok((0..m).map(|i| half[i] * dot(&h[i * m..(i + 1) * m], &right)).collect())
}

/// The mode of Σ_j w_j ℓ(z_j, ·): the best simulated z, improved by the fixed point z ← Σ w_j ℓ_j z_j / Σ w_j ℓ_j while that rises.
pub fn mode(kernel: &Kernel, z: &Points, weights: &[f64]) -> Vec<f64> {
    let scaled = kernel.scale(z);
    let values = kernel.sums(&scaled, weights, z);
    let best = (0..z.rows()).max_by(|&i, &j| values[i].total_cmp(&values[j]).then(j.cmp(&i))).unwrap_or(0);
    let (mut here, mut value) = (z.row(best).to_vec(), values[best]);
    let mut row = vec![0.0; z.rows()];
    for _ in 0..MODE_STEPS {
        kernel.row(&scaled, &kernel.scale_query(&here), &mut row);
        let total: f64 = row.iter().zip(weights).map(|(l, w)| l * w).sum();
        let next: Vec<f64> =
            (0..here.len()).map(|d| (0..z.rows()).map(|j| weights[j] * row[j] * z.row(j)[d]).sum::<f64>() / total).collect();
        let Ok(point) = Points::from_rows(&[&next]) else { break };
        let there = kernel.sums(&scaled, weights, &point)[0];
        if there.is_nan() || there <= value * (1.0 + 1e-12) {
            break;
        }
        (here, value) = (next, there);
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_the_highest_point_of_the_embedding() {
        // Two bumps around 0 and 3, the second heavier: the mode lies in it, higher than any point nearby.
        let z = Points::from_column(vec![-0.2, 0.1, 2.8, 3.0, 3.3]);
        let weights = [0.2, 0.1, 0.3, 0.3, 0.2];
        let kernel = Kernel::gaussian(vec![0.5]).unwrap();
        let found = mode(&kernel, &z, &weights)[0];
        let value = |at: f64| kernel.sums(&kernel.scale(&z), &weights, &Points::from_column(vec![at]))[0];
        let best = (0..4_000).map(|k| -1.0 + 0.00125 * f64::from(k)).max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap();
        assert!((found - best).abs() < 0.01, "{found} {best}");
    }
}
