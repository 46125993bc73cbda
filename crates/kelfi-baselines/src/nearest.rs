//! The simulations nearest to the observation, each statistic in units of its spread.

use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::Task;
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

    /// An error unless the share lies in (0, 1].
    pub fn require_valid(&self) -> Result<(), Error> {
        if self.share > 0.0 && self.share <= 1.0 {
            return Ok(());
        }
        Err(Error::invalid("share of accepted simulations", self.share, "it must lie in (0, 1]"))
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
    pub fn of(task: &Task<'_>, acceptance: &Acceptance) -> Result<Self, Error> {
        acceptance.require_valid()?;
        let simulations = task.calls.all_from_prior()?;
        let yardstick = Yardstick::new(&simulations, task.observation, Units::Spread)?;
        Ok(Self::among(&simulations, &yardstick, acceptance))
    }

    /// The nearest of these simulations.
    pub fn among(simulations: &Simulations, yardstick: &Yardstick, acceptance: &Acceptance) -> Self {
        let differences = yardstick.differences(simulations.outputs());
        let mut order: Vec<(f64, usize)> =
            (0..simulations.len()).filter(|&j| !simulations.failed()[j]).map(|j| (squared_length(differences.row(j)).sqrt(), j)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.truncate(acceptance.count(order.len()));
        let rows: Vec<usize> = order.iter().map(|&(_, j)| j).collect();
        Self {
            theta: simulations.theta().select(&rows),
            differences: differences.select(&rows),
            distances: order.into_iter().map(|(d, _)| d).collect(),
        }
    }
}
