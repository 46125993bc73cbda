//! Kernel herding (paper Algorithm 1): each super-sample is the query point the posterior's embedding misses most.

use crate::kernel::Kernel;
use crate::linalg::vector::first_largest;
use crate::optimise::{StopRule, maximise};
use crate::posterior::Posterior;
use crate::samples::Candidates;
use crate::{Error, Points};

/// What to herd and where.
#[derive(Debug, Clone)]
pub struct Herding {
    /// The query points.
    pub candidates: Candidates,
    /// The kernel to herd with; the model's own if `None`.
    pub kernel: Option<Kernel>,
    /// Super-samples that exist already, in θ units: herding goes on from them.
    pub continued: Option<Points>,
    /// Improve each pick by a continuous search from it: the paper's argmax over all θ.
    pub refine: bool,
    /// For drawing candidates.
    pub seed: u64,
}

/// Super-samples in the order they were picked.
#[derive(Debug, Clone)]
pub struct SuperSamples {
    /// The samples in θ units, one a row.
    pub samples: Points,
    /// Which candidate each came from.
    pub indices: Vec<usize>,
}

impl Herding {
    /// Herding over these candidates with the model's kernel.
    pub fn new(candidates: Candidates) -> Self {
        Self { candidates, kernel: None, continued: None, refine: false, seed: 0 }
    }

    /// Picks `count` super-samples: argmax_r μ̃_r - a_r/s, then a_r += ℓ(z*_r, ẑ_s). Ties go to the lower index.
    /// Costs O(mR + count · R · D).
    pub fn super_samples(&self, posterior: &Posterior, count: usize) -> Result<SuperSamples, Error> {
        self.kernel.as_ref().map_or(Ok(()), |kernel| kernel.require_dimension(posterior.prior().dimension()))?;
        let queries = self.candidates.latent(posterior, self.seed)?;
        let kernel = self.kernel.clone().unwrap_or_else(|| posterior.surrogate().herding_kernel());
        let target = posterior.embedding_at(self.kernel.as_ref(), &queries);
        let scaled = kernel.scale(&queries);
        let mut picked: Vec<Vec<f64>> = match &self.continued {
            None => vec![],
            Some(theta) => posterior.prior().to_latent_points(theta)?.iter().map(<[f64]>::to_vec).collect(),
        };
        let before = picked.len();
        let mut row = vec![0.0; queries.rows()];
        let mut sums = vec![0.0; queries.rows()];
        let mut add = |z: &[f64], sums: &mut [f64]| kernel.add_row(&scaled, &kernel.scale_query(z), &mut row, sums);
        picked.iter().for_each(|z| add(z, &mut sums));
        let mut indices = Vec::with_capacity(count);
        for s in before + 1..=before + count {
            let best = first_largest(&target, &sums, 1.0 / s as f64);
            let z = if self.refine { self.refined(posterior, &kernel, &picked, queries.row(best), s) } else { queries.row(best).to_vec() };
            add(&z, &mut sums);
            picked.push(z);
            indices.push(best);
        }
        let mut samples = Points::zeros(count, queries.columns());
        for (row, z) in picked[before..].iter().enumerate() {
            samples.row_mut(row).copy_from_slice(&posterior.prior().from_latent(z));
        }
        Ok(SuperSamples { samples, indices })
    }

    /// A local maximum of μ̃(z) - 1/s Σ ℓ(ẑ, z) near `start`, with gradients by central differences.
    fn refined(&self, posterior: &Posterior, kernel: &Kernel, picked: &[Vec<f64>], start: &[f64], s: usize) -> Vec<f64> {
        const STEP: f64 = 1e-4;
        let scales = kernel.length_scales();
        let objective = |queries: &Points| -> Vec<f64> {
            let target = posterior.embedding_at(self.kernel.as_ref(), queries);
            let crowded = |z: &[f64]| picked.iter().map(|p| kernel.value(p, z)).sum::<f64>() / s as f64;
            queries.iter().zip(target).map(|(z, mu)| mu - crowded(z)).collect()
        };
        let function = |z: &[f64]| -> (f64, Vec<f64>) {
            let mut rows = vec![z.to_vec()];
            for d in 0..z.len() {
                for sign in [1.0, -1.0] {
                    let mut shifted = z.to_vec();
                    shifted[d] += sign * STEP * scales[d];
                    rows.push(shifted);
                }
            }
            let values = objective(&Points::from_rows(&rows).expect("all rows have the dimension of the prior"));
            let slope = |d: usize| (values[1 + 2 * d] - values[2 + 2 * d]) / (2.0 * STEP * scales[d]);
            (values[0], (0..z.len()).map(slope).collect())
        };
        let longest = scales.iter().copied().fold(f64::INFINITY, f64::min);
        let low: Vec<f64> = start.iter().zip(scales).map(|(z, b)| z - b).collect();
        let high: Vec<f64> = start.iter().zip(scales).map(|(z, b)| z + b).collect();
        maximise(function, start, &low, &high, StopRule { steps: 10, gain: 1e-9, longest: 0.5 * longest, ..StopRule::default() }).at
    }
}
