//! Sequential Monte Carlo ABC (Sisson, Fan & Tanaka, PNAS 104, 2007; Beaumont et al., Biometrika 96, 2009; Toni et al., J. R. Soc.
//! Interface 6, 2009): a population that is drawn, moved and weighted anew at a falling tolerance.

use super::population::Population;
use crate::yardstick::Units;
use kelfi::Error;
use kelfi::method::{Answer, Method, Particles, Task};

/// How the tolerance falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// To the distance within which this share of the population lies.
    Quantile(f64),
    /// From a first one by a constant factor down to a last one, in the units of the statistics.
    Fixed {
        /// First tolerance.
        first: f64,
        /// Each is this times the one before.
        factor: f64,
        /// No smaller one is tried.
        last: f64,
    },
}

/// A population that moves towards the observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmcAbc {
    /// Particles; `None`: 2.5 √budget, between 20 and 500, so that larger budgets have more populations too.
    pub population: Option<usize>,
    /// How the tolerance falls.
    pub schedule: Schedule,
    /// Units of the statistics.
    pub units: Units,
}

impl SmcAbc {
    /// The tolerance falls to the median distance of the population.
    pub fn adaptive() -> Self {
        Self { population: None, schedule: Schedule::Quantile(0.5), units: Units::Spread }
    }

    /// From one spread by 0.75 down to a tenth of a spread. Papamakarios and Murray go from 10 by 0.9 down to 0.1, with millions of calls:
    /// in units of the spread over the prior, tolerances above 1 accept nearly everything and only cost calls.
    pub fn scheduled() -> Self {
        Self { population: None, schedule: Schedule::Fixed { first: 1.0, factor: 0.75, last: 0.1 }, units: Units::Spread }
    }

    fn require_valid(&self) -> Result<(), Error> {
        if self.population.is_some_and(|p| p < 2) {
            return Err(Error::invalid("number of particles", self.population.unwrap_or(0) as f64, "it must be at least 2"));
        }
        match self.schedule {
            Schedule::Quantile(share) if !(share > 0.0 && share < 1.0) => {
                Err(Error::invalid("quantile of the distances", share, "it must lie between 0 and 1"))
            }
            Schedule::Fixed { factor, .. } if !(factor > 0.0 && factor < 1.0) => {
                Err(Error::invalid("factor of the tolerances", factor, "it must lie between 0 and 1"))
            }
            Schedule::Fixed { first, last, .. } if !(last > 0.0 && first > last) => {
                Err(Error::invalid("last tolerance", last, "it must be positive and smaller than the first"))
            }
            _ => Ok(()),
        }
    }
}

impl Method for SmcAbc {
    fn name(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => "smc-abc",
            Schedule::Fixed { .. } => "smc-abc-scheduled",
        }
    }

    fn description(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => {
                "sequential Monte Carlo ABC, the tolerance falling to the population's median distance (Beaumont et al. 2009)"
            }
            Schedule::Fixed { .. } => {
                "sequential Monte Carlo ABC, the tolerance falling by 0.75 from 1 to 0.1 spreads of the statistics (Toni et al. 2009)"
            }
        }
    }

    fn reference(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => "Beaumont et al., Biometrika 96, 2009",
            Schedule::Fixed { .. } => "Toni et al., J. R. Soc. Interface 6, 2009",
        }
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        self.require_valid()?;
        let budget = task.calls.budget();
        let size = self.population.unwrap_or(((2.5 * (budget as f64).sqrt()) as usize).clamp(20, 500)).min(budget);
        let mut population = Population::first(task, size, self.units)?;
        let mut tolerance = f64::INFINITY;
        loop {
            tolerance = match self.schedule {
                Schedule::Quantile(share) => population.quantile(share),
                Schedule::Fixed { first, factor, last } => match if tolerance.is_finite() { tolerance * factor } else { first } {
                    next if next < last => break,
                    next => next,
                },
            };
            if task.calls.left() == 0 || !population.renew(task, tolerance)? {
                break;
            }
        }
        Ok(Answer::Particles(Particles::from_latent(task.prior, &population.z, &population.weights)?))
    }
}
