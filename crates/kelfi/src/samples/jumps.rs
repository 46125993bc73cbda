//! Jumps of chains between separate parts of the posterior.

use super::reference::{Reference, WIDENING};
use crate::Points;
use crate::linalg::products::transpose;
use crate::linalg::vector::squared_distances;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Earlier states that a jump may go near.
const CENTRES: usize = 400;
/// Spread of jumps around them, in standard deviations of a chain.
const JUMP: f64 = 0.6;

/// Proposals anywhere chains have been: Gaussians around their earlier states, as wide as a chain wanders by itself.
/// They carry chains between separate parts of the posterior.
#[derive(Debug, Clone)]
pub struct Jumps {
    centres: Points,
    width: Reference,
    /// Centres in units of the width, one coordinate after the other.
    whitened: Vec<f64>,
}

impl Jumps {
    /// From states of all chains, step after step.
    pub fn new(seen: &Points, chains: usize) -> Self {
        let steps = seen.rows() / chains;
        let dimension = seen.columns();
        let mut apart = Points::zeros(seen.rows(), dimension);
        for chain in 0..chains {
            for d in 0..dimension {
                let mean = (0..steps).map(|t| seen.row(t * chains + chain)[d]).sum::<f64>() / steps as f64;
                for t in 0..steps {
                    let freedom = (steps as f64 / (steps as f64 - 1.0).max(1.0)).sqrt();
                    apart.row_mut(t * chains + chain)[d] = (seen.row(t * chains + chain)[d] - mean) * freedom * JUMP / WIDENING;
                }
            }
        }
        let width = Reference::fitted(&apart).around(&vec![0.0; dimension]);
        let from = seen.rows().saturating_sub(CENTRES);
        let centres = seen.select(&(from..seen.rows()).collect::<Vec<_>>());
        let whitened = transpose(centres.map_rows(dimension, |centre| width.whiten(centre)).values(), dimension);
        Self { centres, width, whitened }
    }

    /// A proposal.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let k = ((rng.random::<f64>() * self.centres.rows() as f64) as usize).min(self.centres.rows() - 1);
        self.width.direction(rng).into_iter().zip(self.centres.row(k)).map(|(v, c)| v + c).collect()
    }

    /// ln of the density of jumps, up to a constant.
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let whitened = self.width.whiten(z);
        let mut row = vec![0.0; self.centres.rows()];
        squared_distances(&self.whitened, 0, &whitened, &mut row);
        let nearest = row.iter().copied().fold(f64::INFINITY, f64::min);
        -0.5 * nearest + row.iter().map(|r2| (-0.5 * (r2 - nearest)).exp()).sum::<f64>().ln()
    }
}
