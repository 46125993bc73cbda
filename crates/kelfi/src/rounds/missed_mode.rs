//! Did rounds lose a mode? Simulations outside the region whose outputs are closer to the observation than nearly all that the posterior
//! predicts say so.
//!
//! Distances are over all statistics, whitened by how the predicted outputs vary and belong together. They are no likelihoods: parameters with
//! much less noise may come as close as a typical prediction and still not explain the observation, so only the closest twentieth counts.

use crate::checks::{self, Check};
use crate::linalg::Cholesky;
use crate::simulations::Recorded;
use crate::{Model, Points};

/// Draws of the posterior whose outputs are predicted.
const PREDICTED: usize = 500;
/// The share of predicted outputs that counts as close.
const CLOSEST: f64 = 0.05;
/// Correlations of predicted outputs are drawn this much towards none.
const SHRINKAGE: f64 = 0.05;

/// The check `missed_mode`; `None` for a model of all of the prior, or where no output can be compared. `draws` in z coordinates.
pub(super) fn check(model: &dyn Model, draws: &Points) -> Option<Check> {
    let Recorded::Statistics(all) = &model.question().recorded else { return None };
    let used = model.used();
    if used.len() == all.len() || draws.is_empty() {
        return None;
    }
    let some: Vec<usize> = (0..draws.rows()).step_by((draws.rows() / PREDICTED).max(1)).collect();
    let predicted = model.outputs_at(&draws.select(&some), 0)?;
    let whitening = Whitening::of(&predicted, model.question().observed()?)?;
    let mut expected: Vec<f64> = predicted.iter().map(|x| whitening.distance(x)).collect();
    expected.sort_by(f64::total_cmp);
    let nearest = expected[(CLOSEST * expected.len() as f64) as usize];
    let outside: Vec<usize> = (0..all.len()).filter(|j| used.binary_search(j).is_err()).collect();
    let close = |&j: &usize| all.first_success(j).is_some_and(|row| whitening.distance(all.outputs().row(row)) < nearest);
    Some(checks::missed_mode(outside.iter().filter(|j| close(j)).count(), outside.len()))
}

/// Distances from the observation in units of predicted outputs.
struct Whitening {
    observed: Vec<f64>,
    /// Statistics that vary, and their standard deviations.
    kept: Vec<(usize, f64)>,
    root: Cholesky,
}

impl Whitening {
    fn of(predicted: &Points, observed: &[f64]) -> Option<Self> {
        let count = predicted.rows() as f64;
        let mean = |i: usize| predicted.iter().map(|x| x[i]).sum::<f64>() / count;
        let deviation = |i: usize| {
            let mean = mean(i);
            (predicted.iter().map(|x| (x[i] - mean).powi(2)).sum::<f64>() / count).sqrt()
        };
        let kept: Vec<(usize, f64)> =
            (0..predicted.columns()).map(|i| (i, deviation(i))).filter(|(_, s)| *s > 0.0 && s.is_finite()).collect();
        let n = kept.len();
        let mut correlation = vec![0.0; n * n];
        for (a, &(i, s)) in kept.iter().enumerate() {
            for (b, &(j, t)) in kept.iter().enumerate() {
                let (mi, mj) = (mean(i), mean(j));
                let product = predicted.iter().map(|x| (x[i] - mi) / s * ((x[j] - mj) / t)).sum::<f64>() / count;
                correlation[a * n + b] = if a == b { 1.0 } else { (1.0 - SHRINKAGE) * product };
            }
        }
        let root = if n > 0 { Cholesky::new(correlation, n).ok()? } else { return None };
        Some(Self { observed: observed.to_vec(), kept, root })
    }

    fn distance(&self, x: &[f64]) -> f64 {
        let mut scaled: Vec<f64> = self.kept.iter().map(|&(i, s)| (x[i] - self.observed[i]) / s).collect();
        self.root.half_solve_in_place(&mut scaled);
        scaled.iter().map(|v| v * v).sum::<f64>().sqrt()
    }
}
