//! Which statistics count, and the unit of each: how simulated outputs differ from the observation.

use kelfi::simulations::scales::statistic_scales;
use kelfi::{Error, Points, Simulations};

/// Where the units of the statistics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Units {
    /// The robust spread of each over draws of the prior; statistics that are constant or repeat another do not count.
    #[default]
    Spread,
    /// As they are: for tolerances taken from a paper.
    Raw,
}

/// The observation with the unit of each statistic that counts.
#[derive(Debug, Clone)]
pub struct Yardstick {
    observation: Vec<f64>,
    active: Vec<usize>,
    units: Vec<f64>,
}

impl Yardstick {
    /// From simulations at draws of the prior.
    pub fn new(simulations: &Simulations, observation: &[f64], units: Units) -> Result<Self, Error> {
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
        let active: Vec<usize> = match units {
            Units::Spread => (0..scales.len()).filter(|&i| scales[i].dropped.is_none()).collect(),
            Units::Raw => (0..scales.len()).collect(),
        };
        let unit = |&i: &usize| if units == Units::Spread { scales[i].scale } else { 1.0 };
        let units = active.iter().map(unit).collect();
        Ok(Self { observation: observation.to_vec(), active, units })
    }

    /// How many statistics count.
    pub fn columns(&self) -> usize {
        self.active.len()
    }

    /// x − y in units, for the statistics that count.
    pub fn difference(&self, x: &[f64]) -> Vec<f64> {
        self.active.iter().zip(&self.units).map(|(&i, unit)| (x[i] - self.observation[i]) / unit).collect()
    }

    /// The same for every row; rows of failed calls stay without a finite value.
    pub fn differences(&self, x: &Points) -> Points {
        x.map_rows(self.columns(), |x| self.difference(x))
    }
}

/// Σ d².
pub fn squared_length(difference: &[f64]) -> f64 {
    difference.iter().map(|d| d * d).sum()
}
