//! The same hyperparameters on parts of the simulations.

use super::constants::parts::{FEWEST, PARTS};
use super::{LocationScaleHyperparameters, LocationScaleLikelihood};

impl LocationScaleLikelihood {
    /// Up to five disjoint parts, every fifth simulation in one; none where there are too few simulations for two.
    pub(super) fn parts(&self) -> Vec<Self> {
        let fewest = self.regions().map(|model| model.fitted.z.rows()).min().unwrap_or(0);
        let count = (fewest / FEWEST).min(PARTS);
        if count < 2 {
            return vec![];
        }
        let used = self.used();
        let of = |part: usize| used[part..].iter().step_by(count).copied().collect::<Vec<usize>>();
        (0..count).filter_map(|part| self.on_part(&of(part)).ok()).collect()
    }

    /// The hyperparameters of this region for these simulations only, of all that were recorded.
    pub(super) fn part_hyperparameters(&self, indices: &[usize]) -> LocationScaleHyperparameters {
        let mut hyperparameters = self.fitted.hyperparameters.clone();
        let (offsets, failed) = (self.simulations.offsets(), self.simulations.failed());
        let before: Vec<usize> = failed
            .iter()
            .scan(0, |next, &failed| {
                let place = *next;
                *next += usize::from(!failed);
                Some(place)
            })
            .collect();
        let places = indices.iter().filter_map(|&j| self.place_of(j));
        let outputs = places.flat_map(|j| offsets[j]..offsets[j + 1]).filter(|&row| !failed[row]);
        let kept: Vec<usize> = outputs.map(|row| before[row]).collect();
        for statistic in &mut hyperparameters.statistics {
            statistic.own_noise = statistic.own_noise.take().map(|noise| kept.iter().map(|&row| noise[row]).collect());
        }
        hyperparameters
    }
}
