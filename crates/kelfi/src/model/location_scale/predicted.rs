//! Outputs the fitted model would produce: x = T⁻¹( ĝ(θ) + σ(θ) C^½ u ), u drawn from the shape at θ.

use super::LocationScaleLikelihood;
use crate::random::{Purpose, stream};
use crate::simulations::scales::statistic_scales;
use crate::{Points, linalg::vector::squared_distances};
use rayon::prelude::*;

impl LocationScaleLikelihood {
    /// One output for each point in z coordinates. Statistics that take no part are those of the nearest simulation.
    pub fn outputs_at(&self, z: &Points, seed: u64) -> Points {
        let of_region = |model: &Self, z: &Points| model.own_outputs_at(z, seed);
        Points::from_rows(&self.by_region(z, of_region)).expect("every output has the same number of statistics")
    }

    fn own_outputs_at(&self, z: &Points, seed: u64) -> Vec<Vec<f64>> {
        let fitted = &self.fitted;
        let seen = self.seen(z);
        let columns: Vec<(Vec<f64>, Vec<f64>)> = fitted.residuals.statistics.iter().map(|s| s.mean_and_deviation(&seen)).collect();
        let dropped: Vec<usize> =
            statistic_scales(&self.simulations).iter().enumerate().filter(|(_, s)| s.dropped.is_some()).map(|(i, _)| i).collect();
        (0..z.rows())
            .into_par_iter()
            .map(|q| {
                let mut rng = stream(seed, Purpose::Predicted, q as u64);
                let query = Points::new(seen.row(q).to_vec(), 1, z.columns()).expect("one row");
                let u = fitted.residuals.shape.draw(&query, &mut rng);
                let together = fitted.residuals.together_at(&query, &u);
                let mut x = if dropped.is_empty() { vec![0.0; self.observation.len()] } else { self.nearest_output(z.row(q)) };
                for (k, t) in together.iter().enumerate() {
                    let h = fitted.residuals.statistics[k].hyperparameters();
                    x[h.index] = h.transform.scale.invert(columns[k].0[q] + columns[k].1[q] * t);
                }
                x
            })
            .collect()
    }

    fn nearest_output(&self, z: &[f64]) -> Vec<f64> {
        let columns = crate::linalg::products::transpose(self.fitted.z.values(), z.len());
        let mut distances = vec![0.0; self.fitted.z.rows()];
        squared_distances(&columns, 0, z, &mut distances);
        let nearest = (0..distances.len()).min_by(|&i, &j| distances[i].total_cmp(&distances[j])).unwrap_or(0);
        self.simulations.outputs().row(self.simulations.successful_rows()[nearest]).to_vec()
    }
}
