//! Outputs the fitted model would produce: x = T⁻¹( ĝ(θ) + σ(θ) C^½ u ), u drawn from the shape at θ; for repeats a u each, and one error of the
//! mean for all of them.

use super::LocationScaleLikelihood;
use super::statistic::Predicted;
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
        let (repeats, each) = (self.repeats(), self.simulations.statistics_each());
        let columns: Vec<Vec<Predicted>> = fitted.residuals.statistics.iter().map(|s| s.predict(&seen)).collect();
        let dropped: Vec<usize> =
            statistic_scales(&self.simulations).iter().enumerate().filter(|(_, s)| s.dropped.is_some()).map(|(i, _)| i).collect();
        (0..z.rows())
            .into_par_iter()
            .map(|q| {
                let mut rng = stream(seed, Purpose::Predicted, q as u64);
                let query = Points::new(seen.row(q).to_vec(), 1, z.columns()).expect("one row");
                let one = |_| fitted.residuals.together_at(&query, &fitted.residuals.shape.draw(&query, &mut rng));
                let together: Vec<Vec<f64>> = (0..repeats).map(one).collect();
                let mut x = if dropped.is_empty() { vec![0.0; self.observation.len()] } else { self.nearest_output(z.row(q)) };
                for (k, statistic) in fitted.residuals.statistics.iter().enumerate() {
                    let h = statistic.hyperparameters();
                    let values = columns[k][q].values(&together.iter().map(|t| t[k]).collect::<Vec<_>>());
                    for (place, value) in (h.index..).step_by(each).zip(values) {
                        x[place] = h.transform.scale.invert(value);
                    }
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
