//! q(z) = N(mean, L Lᵀ) with ln of the diagonal of L as its parameters, under a prior N(0, I) in z.

use crate::chains::pilot::{Pilot, covariance_of};
use crate::gaussians::{Gaussian, Gaussians};
use crate::kernel::kernel_abc::factored;
use kelfi::method::{Answer, Task};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Error, Points};
use std::sync::Arc;

/// Variances below this share of the prior's are not started from.
const LEAST_VARIANCE: f64 = 1e-3;

/// The Gaussian.
#[derive(Debug, Clone)]
pub struct GaussianFamily {
    /// Its dimension.
    dimension: usize,
    /// Mean, then the lower triangle of L row after row, its diagonal as logarithms.
    pub parameters: Vec<f64>,
}

impl GaussianFamily {
    /// Around the pilot's nearest fifth.
    pub fn around(task: &Task<'_>, pilot: &Pilot) -> Result<Self, Error> {
        if !task.prior.latent().is_standard_normal() {
            return Err(Error::Unavailable {
                what: "a variational Gaussian".into(),
                reason: "its divergence from the prior needs a prior with Gaussian coordinates".into(),
            });
        }
        let dimension = pilot.z.columns();
        let near = (pilot.z.rows() / 5).max(dimension + 2).min(pilot.z.rows());
        let nearest = pilot.z.select(&(0..near).collect::<Vec<_>>());
        let mean: Vec<f64> = (0..dimension).map(|d| nearest.column(d).iter().sum::<f64>() / near as f64).collect();
        let mut covariance = covariance_of(&nearest);
        (0..dimension).for_each(|d| covariance[d * dimension + d] += LEAST_VARIANCE);
        let factor = factored(covariance, dimension, 0.0)?;
        let mut parameters = mean;
        for i in 0..dimension {
            parameters.extend((0..=i).map(|j| if i == j { factor.entry(i, i).ln() } else { factor.entry(i, j) }));
        }
        Ok(Self { dimension, parameters })
    }

    /// L, row after row.
    fn lower(&self) -> Vec<f64> {
        let d = self.dimension;
        let mut lower = vec![0.0; d * d];
        let mut at = d;
        for i in 0..d {
            for j in 0..=i {
                lower[i * d + j] = if i == j { self.parameters[at].clamp(-15.0, 5.0).exp() } else { self.parameters[at] };
                at += 1;
            }
        }
        lower
    }

    /// Standard normals and the z they become, `count` of each; those of a step depend on (seed, step) only.
    pub fn draws(&self, count: usize, seed: u64, step: u64) -> (Points, Points) {
        let d = self.dimension;
        let mut rng = stream(seed, Purpose::Chains, step);
        let noise = Points::new((0..count * d).map(|_| standard_normal(&mut rng)).collect(), count, d).expect("count × d values");
        let lower = self.lower();
        let z = noise.map_rows(d, |e| (0..d).map(|i| self.parameters[i] + (0..=i).map(|j| lower[i * d + j] * e[j]).sum::<f64>()).collect());
        (noise, z)
    }

    /// The gradient of E_q[f] from slopes of f at draws: the mean's is g, that of L is g eᵀ.
    pub fn from_slopes(&self, noise: &Points, slopes: &[Vec<f64>]) -> Vec<f64> {
        let lower = self.lower();
        let d = self.dimension;
        self.gathered(|gradient| {
            for (e, g) in noise.iter().zip(slopes) {
                (0..d).for_each(|i| gradient[i] += g[i] / slopes.len() as f64);
                let mut at = d;
                for i in 0..d {
                    for j in 0..=i {
                        let chain = if i == j { lower[i * d + i] } else { 1.0 };
                        gradient[at] += g[i] * e[j] * chain / slopes.len() as f64;
                        at += 1;
                    }
                }
            }
        })
    }

    /// The gradient of E_q[f] from values of f at draws, by the score of q: ∇ ln q is L⁻ᵀ e in the mean and L⁻ᵀ(e eᵀ − I) in L.
    /// What does not depend on a draw is taken off its value first, which changes no mean and much variance.
    pub fn from_values(&self, noise: &Points, values: &[f64]) -> Vec<f64> {
        let count = values.len() as f64;
        let total: f64 = values.iter().sum();
        let d = self.dimension;
        let lower = self.lower();
        let slopes: Vec<Vec<f64>> = noise
            .iter()
            .zip(values)
            .map(|(e, value)| {
                // The mean of the other draws as baseline.
                let advantage = if count > 1.0 { value - (total - value) / (count - 1.0) } else { *value };
                back_substituted(&lower, e, d).into_iter().map(|s| s * advantage).collect()
            })
            .collect();
        let inverse_diagonal: f64 =
            values.iter().map(|value| if count > 1.0 { value - (total - value) / (count - 1.0) } else { *value }).sum::<f64>() / count;
        let mut gradient = self.from_slopes(noise, &slopes);
        let mut at = d;
        for i in 0..d {
            for j in 0..=i {
                if i == j {
                    // −(L⁻ᵀ)_ii L_ii = −1 for each unit of advantage.
                    gradient[at] -= inverse_diagonal;
                }
                at += 1;
            }
        }
        gradient
    }

    /// The gradient of KL(q ‖ N(0, I)) = ½(|L|² + |mean|² − D) − Σ ln L_dd.
    pub fn divergence_gradient(&self) -> Vec<f64> {
        let (d, lower) = (self.dimension, self.lower());
        self.gathered(|gradient| {
            gradient[..d].copy_from_slice(&self.parameters[..d]);
            let mut at = d;
            for i in 0..d {
                for j in 0..=i {
                    gradient[at] = if i == j { lower[i * d + i].powi(2) - 1.0 } else { lower[i * d + j] };
                    at += 1;
                }
            }
        })
    }

    fn gathered(&self, fill: impl FnOnce(&mut Vec<f64>)) -> Vec<f64> {
        let mut gradient = vec![0.0; self.parameters.len()];
        fill(&mut gradient);
        gradient
    }

    /// q as an answer.
    pub fn answer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let (d, lower) = (self.dimension, self.lower());
        let covariance = (0..d * d).map(|at| (0..d).map(|k| lower[at / d * d + k] * lower[at % d * d + k]).sum()).collect();
        let gaussian = Gaussian::new(1.0, self.parameters[..d].to_vec(), covariance)?;
        Ok(Answer::Density { prior: task.prior.clone(), density: Arc::new(Gaussians(vec![gaussian])) })
    }
}

/// L⁻ᵀ e.
fn back_substituted(lower: &[f64], e: &[f64], d: usize) -> Vec<f64> {
    let mut out = e.to_vec();
    for i in (0..d).rev() {
        out[i] /= lower[i * d + i];
        for j in 0..i {
            out[j] -= lower[i * d + j] * out[i];
        }
    }
    out
}

/// Parameters averaged over the last half of the steps: noise of single steps cancels.
pub struct Average {
    sum: Vec<f64>,
    count: f64,
}

impl Average {
    /// Of nothing yet.
    pub fn new(family: &GaussianFamily) -> Self {
        Self { sum: vec![0.0; family.parameters.len()], count: 0.0 }
    }

    /// One more.
    pub fn add(&mut self, family: &GaussianFamily) {
        self.sum.iter_mut().zip(&family.parameters).for_each(|(sum, p)| *sum += p);
        self.count += 1.0;
    }

    /// The mean, or what is given if there was none.
    pub fn or(self, mut family: GaussianFamily) -> GaussianFamily {
        if self.count > 0.0 {
            family.parameters = self.sum.iter().map(|s| s / self.count).collect();
        }
        family
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family() -> GaussianFamily {
        GaussianFamily { dimension: 2, parameters: vec![0.3, -0.2, -0.5, 0.4, -0.1] }
    }

    /// f(z) = −½ (z₁ − 1)² − (z₂ + ½ z₁)².
    fn f(z: &[f64]) -> (f64, Vec<f64>) {
        let (a, b) = (z[0] - 1.0, z[1] + 0.5 * z[0]);
        (-0.5 * a * a - b * b, vec![-a - b, -2.0 * b])
    }

    fn expected(parameters: &[f64]) -> f64 {
        // E f in closed form: means and covariance of q.
        let q = GaussianFamily { dimension: 2, parameters: parameters.to_vec() };
        let l = q.lower();
        let (c11, c12, c22) = (l[0] * l[0], l[0] * l[2], l[2] * l[2] + l[3] * l[3]);
        let (a, b) = (parameters[0] - 1.0, parameters[1] + 0.5 * parameters[0]);
        -0.5 * (a * a + c11) - (b * b + c22 + c12 + 0.25 * c11)
    }

    #[test]
    fn both_gradients_are_those_of_the_expectation_and_the_divergence_has_its_own() {
        let q = family();
        let exact: Vec<f64> = (0..5)
            .map(|k| {
                let moved = |by: f64| {
                    let mut p = q.parameters.clone();
                    p[k] += by;
                    expected(&p)
                };
                (moved(1e-5) - moved(-1e-5)) / 2e-5
            })
            .collect();
        let (noise, z) = q.draws(200_000, 3, 0);
        let (values, slopes): (Vec<f64>, Vec<Vec<f64>>) = z.iter().map(f).unzip();
        for (name, found) in [("slopes", q.from_slopes(&noise, &slopes)), ("values", q.from_values(&noise, &values))] {
            for k in 0..5 {
                assert!((found[k] - exact[k]).abs() < 0.03, "{name} {k}: {} {}", found[k], exact[k]);
            }
        }
        let divergence = |p: &[f64]| {
            let l = GaussianFamily { dimension: 2, parameters: p.to_vec() }.lower();
            0.5 * (l.iter().map(|v| v * v).sum::<f64>() + p[0] * p[0] + p[1] * p[1] - 2.0) - l[0].ln() - l[3].ln()
        };
        let gradient = q.divergence_gradient();
        for k in 0..5 {
            let moved = |by: f64| {
                let mut p = q.parameters.clone();
                p[k] += by;
                divergence(&p)
            };
            assert!((gradient[k] - (moved(1e-5) - moved(-1e-5)) / 2e-5).abs() < 1e-7);
        }
    }
}
