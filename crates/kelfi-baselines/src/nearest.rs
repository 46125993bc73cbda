//! The simulations nearest to the observation, each statistic in units of its spread.

use kelfi::method::Task;
use kelfi::simulations::scales::statistic_scales;
use kelfi::{Error, Points, Simulations};

/// How many simulations are kept: a share of those that succeeded, but at least so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acceptance {
    /// Share of the successful simulations, in (0, 1].
    pub share: f64,
    /// At least so many, if there are.
    pub least: usize,
}

impl Acceptance {
    /// How many of `successes` are kept.
    pub fn count(&self, successes: usize) -> usize {
        ((self.share * successes as f64).ceil() as usize).max(self.least).min(successes)
    }
}

/// The simulations kept, nearest first.
#[derive(Debug, Clone)]
pub struct Nearest {
    /// Their parameters.
    pub theta: Points,
    /// (x − y) over the spread of each statistic; statistics that are constant or repeat another are left out.
    pub differences: Points,
    /// Euclidean lengths of the differences.
    pub distances: Vec<f64>,
}

impl Nearest {
    /// Spends the whole budget at draws of the prior and keeps the nearest. Failed simulations are never near.
    pub fn of(question: &Task<'_>, acceptance: &Acceptance) -> Result<Self, Error> {
        if !(acceptance.share > 0.0 && acceptance.share <= 1.0) {
            return Err(Error::invalid("share of accepted simulations", acceptance.share, "it must lie in (0, 1]"));
        }
        let simulations = question.calls.all_from_prior()?;
        let differences = differences(&simulations, question.observation)?;
        let distance = |row: &[f64]| row.iter().map(|d| d * d).sum::<f64>().sqrt();
        let mut order: Vec<(f64, usize)> =
            (0..simulations.len()).filter(|&j| !simulations.failed()[j]).map(|j| (distance(differences.row(j)), j)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(acceptance.count(order.len()));
        let rows: Vec<usize> = order.iter().map(|&(_, j)| j).collect();
        Ok(Self {
            theta: simulations.theta().select(&rows),
            differences: differences.select(&rows),
            distances: order.into_iter().map(|(d, _)| d).collect(),
        })
    }
}

fn differences(simulations: &Simulations, observation: &[f64]) -> Result<Points, Error> {
    if observation.len() != simulations.statistics() {
        return Err(Error::Shape {
            left: "the observation".into(),
            left_rows: 1,
            left_columns: observation.len(),
            right: "x".into(),
            right_rows: simulations.len(),
            right_columns: simulations.statistics(),
            advice: "give one value for each statistic".into(),
        });
    }
    let scales = statistic_scales(simulations);
    let active: Vec<usize> = (0..scales.len()).filter(|&i| scales[i].dropped.is_none()).collect();
    Ok(simulations.outputs().map_rows(active.len(), |x| active.iter().map(|&i| (x[i] - observation[i]) / scales[i].scale).collect()))
}
