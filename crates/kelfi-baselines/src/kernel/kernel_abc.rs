//! Kernel ABC (Nakagome, Fukumizu & Mano, Stat. Appl. Genet. Mol. Biol. 12, 2013): the posterior's embedding by kernel ridge regression
//! on the outputs, w = (G + mλI)⁻¹ k(y).

use super::herding::herd;
use super::{Embedded, clipped, median_kernel};
use crate::yardstick::Units;
use kelfi::kernel::Kernel;
use kelfi::kernel::empirical::median_distance;
use kelfi::linalg::Cholesky;
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::{Error, Points};

/// Folds of the cross-validation, and what it tries: multiples of the median distance, and ridges λ.
const FOLDS: usize = 5;
const WIDTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
const RIDGES: [f64; 5] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2];
/// Herded samples.
const HERDED: usize = 500;

/// How length scale and ridge are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The median distance times a factor, and this λ.
    Median {
        /// Times the median of pairwise distances.
        factor: f64,
        /// λ.
        ridge: f64,
    },
    /// Both by five-fold cross-validation of the predicted posterior means of z.
    CrossValidated,
}

/// What weights become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Weights without their negative part.
    Clipped,
    /// Samples herded from the embedding with all its weights.
    Herded,
}

/// Weights of kernel ridge regression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelAbc {
    /// How its hyperparameters are chosen.
    pub choice: Choice,
    /// What its weights become.
    pub sampling: Sampling,
    /// Units of the statistics.
    pub units: Units,
}

impl KernelAbc {
    /// The median heuristic and λ = 10⁻⁴, as in the KELFI paper.
    pub fn median(sampling: Sampling) -> Self {
        Self { choice: Choice::Median { factor: 1.0, ridge: 1e-4 }, sampling, units: Units::Spread }
    }

    /// A quarter of the median distance: the paper scales the heuristic by a constant it does not state; a smaller one smooths less.
    pub fn scaled() -> Self {
        Self { choice: Choice::Median { factor: 0.25, ridge: 1e-4 }, ..Self::median(Sampling::Clipped) }
    }

    /// Hyperparameters by cross-validation.
    pub fn cross_validated() -> Self {
        Self { choice: Choice::CrossValidated, ..Self::median(Sampling::Clipped) }
    }
}

impl Method for KernelAbc {
    fn name(&self) -> &'static str {
        match (self.choice, self.sampling) {
            (Choice::CrossValidated, _) => "kernel-abc-cross-validated",
            (_, Sampling::Herded) => "kernel-abc-herded",
            (Choice::Median { factor, .. }, _) if factor != 1.0 => "kernel-abc-scaled",
            _ => "kernel-abc",
        }
    }

    fn description(&self) -> &'static str {
        match (self.choice, self.sampling) {
            (Choice::CrossValidated, _) => "kernel ABC with length scale and ridge by cross-validation",
            (_, Sampling::Herded) => "kernel ABC with samples herded from its embedding",
            (Choice::Median { factor, .. }, _) if factor != 1.0 => "kernel ABC with a quarter of the median distance as length scale",
            _ => "posterior embedding by kernel ridge regression on the statistics (K-ABC; Nakagome et al. 2013)",
        }
    }

    fn reference(&self) -> &'static str {
        "Nakagome, Fukumizu & Mano, Stat. Appl. Genet. Mol. Biol. 12, 2013"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let Embedded { z, outputs } = Embedded::of(task, self.units)?;
        let (kernel, ridge) = match self.choice {
            Choice::Median { factor, ridge } => {
                Error::require_positive("factor of the median distance", factor)?;
                Error::require_positive("ridge", ridge)?;
                (median_kernel(&outputs, factor)?, ridge)
            }
            Choice::CrossValidated => cross_validated(&z, &outputs)?,
        };
        let weights = weights(&kernel, ridge, &outputs, &vec![0.0; outputs.columns()])?;
        let particles = match self.sampling {
            Sampling::Clipped => Particles::from_latent(task.prior, &z, &clipped(&weights)?)?,
            Sampling::Herded => herded(task, &z, &weights)?,
        };
        Ok(Answer::Particles(particles))
    }
}

/// w = (G + mλI)⁻¹ k(y).
pub fn weights(kernel: &Kernel, ridge: f64, outputs: &Points, observation: &[f64]) -> Result<Vec<f64>, Error> {
    let scaled = kernel.scale(outputs);
    let order = outputs.rows();
    let factor = factored(kernel.gram(&scaled, order as f64 * ridge), order, ridge)?;
    let mut right = vec![0.0; order];
    kernel.row(&scaled, &kernel.scale_query(observation), &mut right);
    factor.solve_in_place(&mut right);
    Ok(right)
}

/// The factor of a matrix that is positive definite but for rounding.
pub fn factored(matrix: Vec<f64>, order: usize, ridge: f64) -> Result<Cholesky, Error> {
    Cholesky::new(matrix, order).map_err(|bad| bad.error(order, ridge))
}

/// Samples herded from Σ_j w_j ℓ(z_j, ·) among the simulated z and as many draws of the prior, ℓ with the median length scale of z.
pub fn herded(task: &Task<'_>, z: &Points, weights: &[f64]) -> Result<Particles, Error> {
    let kernel = median_kernel(z, 0.5)?;
    let more = task.prior.to_latent_points(&task.prior.draw(z.rows(), task.seed ^ 1))?;
    let candidates = Points::new([z.values(), more.values()].concat(), 2 * z.rows(), z.columns())?;
    let (points, times) = counted(&herd(&kernel, z, weights, &candidates, HERDED))?;
    Particles::from_latent(task.prior, &points, &times)
}

/// Every different row once, with how often it was there: copies would explain each other, and a bandwidth chosen by that falls to nothing.
pub fn counted(rows: &Points) -> Result<(Points, Vec<f64>), Error> {
    let mut different: Vec<(&[f64], f64)> = vec![];
    for row in rows.iter() {
        match different.iter_mut().find(|(known, _)| *known == row) {
            Some((_, times)) => *times += 1.0,
            None => different.push((row, 1.0)),
        }
    }
    let times = different.iter().map(|(_, times)| *times).collect();
    Ok((Points::from_rows(&different.iter().map(|(row, _)| *row).collect::<Vec<_>>())?, times))
}

/// The kernel and ridge whose predicted means of z, each fold from the others, have the smallest squared error.
fn cross_validated(z: &Points, outputs: &Points) -> Result<(Kernel, f64), Error> {
    let median = median_distance(outputs).filter(|m| *m > 0.0).unwrap_or(1.0);
    let mut best: Option<(f64, Kernel, f64)> = None;
    for width in WIDTHS {
        let kernel = Kernel::gaussian(vec![width * median; outputs.columns()])?;
        for ridge in RIDGES {
            let error: f64 = (0..FOLDS).map(|fold| fold_error(&kernel, ridge, z, outputs, fold)).sum::<Result<f64, Error>>()?;
            if best.as_ref().is_none_or(|b| error < b.0) {
                best = Some((error, kernel.clone(), ridge));
            }
        }
    }
    best.map(|(_, kernel, ridge)| (kernel, ridge))
        .ok_or_else(|| Error::Unavailable { what: "cross-validation".into(), reason: "no length scale and ridge could be tried".into() })
}

/// Σ |z − ẑ|² over one fold.
fn fold_error(kernel: &Kernel, ridge: f64, z: &Points, outputs: &Points, fold: usize) -> Result<f64, Error> {
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..z.rows()).partition(|j| j % FOLDS == fold);
    if inside.is_empty() || outside.is_empty() {
        return Ok(0.0);
    }
    let (known, known_z) = (outputs.select(&outside), z.select(&outside));
    let scaled = kernel.scale(&known);
    let factor = factored(kernel.gram(&scaled, outside.len() as f64 * ridge), outside.len(), ridge)?;
    let mut coefficients: Vec<f64> = (0..z.columns()).flat_map(|d| known_z.column(d)).collect();
    factor.solve_in_place(&mut coefficients);
    let queries = outputs.select(&inside);
    let mut error = 0.0;
    for d in 0..z.columns() {
        let predicted = kernel.sums(&scaled, &coefficients[d * outside.len()..(d + 1) * outside.len()], &queries);
        error += inside.iter().zip(predicted).map(|(&j, p)| (z.row(j)[d] - p).powi(2)).sum::<f64>();
    }
    Ok(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_and_the_order_of_first_appearance_stays() {
        let rows = Points::from_rows(&[[2.0, 1.0], [0.0, 0.0], [2.0, 1.0], [2.0, 1.0]]).unwrap();
        let (points, times) = counted(&rows).unwrap();
        assert_eq!((points.values(), times.as_slice()), (&[2.0, 1.0, 0.0, 0.0][..], &[3.0, 1.0][..]));
    }
}
