//! The same hyperparameters on parts of the simulations.

use super::LocationScaleLikelihood;
use crate::Error;

/// Most parts.
const PARTS: usize = 5;
/// Fewest simulations like the observation in a part.
const FEWEST: usize = 15;

impl LocationScaleLikelihood {
    /// Up to five disjoint parts, every fifth simulation in one; none where there are too few simulations for two.
    pub(super) fn parts(&self) -> Vec<Self> {
        let count = (self.fitted.residuals.u.rows() / FEWEST).min(PARTS);
        if count < 2 {
            return vec![];
        }
        let of =
            |part: usize| (part..self.simulations.len()).step_by(count).map(|place| self.recorded_index(place)).collect::<Vec<usize>>();
        (0..count).filter_map(|part| self.on_part(&of(part)).ok()).collect()
    }

    /// With these simulations only, of all that were recorded.
    pub fn on_part(&self, indices: &[usize]) -> Result<Self, Error> {
        let part = self.question.of_part(indices)?;
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
        Self::new(&part, &hyperparameters)
    }
}
