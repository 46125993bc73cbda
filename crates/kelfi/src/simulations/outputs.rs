//! What one simulation gives: a value of each statistic, several repeats of that, or the rows of an iid data set.

use super::{DataSets, Observation, Recorded, Simulations};
use crate::words::counted;
use crate::{Error, Points};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What one simulation gives. Stores and protocols keep it as plain numbers, row after row; this says what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outputs {
    /// One value of each statistic.
    #[default]
    Statistics,
    /// So many independent repeats of the same statistics, repeat by repeat; 1 says that there are none to be recognised.
    Repeats(usize),
    /// The rows of an iid data set: any number of them, in any order.
    Rows,
}

impl Outputs {
    /// So many repeats of the same statistics; statistics where nobody said.
    pub fn repeated(told: Option<usize>) -> Self {
        told.map_or(Self::Statistics, Self::Repeats)
    }

    fn told_repeats(self) -> Option<usize> {
        if let Self::Repeats(repeats) = self { Some(repeats) } else { None }
    }

    /// How many repeats an output is.
    pub fn repeats(self) -> usize {
        self.told_repeats().unwrap_or(1)
    }

    /// Whether so many numbers are an output with so many columns.
    pub fn fits(self, numbers: usize, columns: usize) -> bool {
        match self {
            Self::Statistics | Self::Repeats(_) => numbers == columns,
            Self::Rows => numbers > 0 && columns > 0 && numbers.is_multiple_of(columns),
        }
    }

    /// Whether an output has several rows.
    pub fn in_rows(self) -> bool {
        self == Self::Rows
    }

    /// What an output with so many columns is, after "where .. expected".
    pub fn expected(self, columns: usize) -> String {
        match self {
            Self::Statistics | Self::Repeats(_) => counted(columns as u64, "statistic"),
            Self::Rows => format!("rows of {}", counted(columns as u64, "number")),
        }
    }

    /// What these outputs are called in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Statistics | Self::Repeats(_) => "statistics",
            Self::Rows => "raw data sets",
        }
    }

    /// Numbers, row after row, as an observation.
    pub fn observation(self, numbers: &[f64], columns: usize) -> Result<Observation, Error> {
        Ok(match self {
            Self::Statistics | Self::Repeats(_) => Observation::Statistics(numbers.to_vec()),
            Self::Rows => Observation::DataSet(rows(numbers, columns)?),
        })
    }

    /// Simulations from the numbers of each, row after row; `None` is a failed one. Data sets are compared on the scale of the observation.
    pub fn recorded(
        self,
        theta: Points,
        outputs: &[Option<Vec<f64>>],
        columns: usize,
        observation: &Observation,
    ) -> Result<Recorded, Error> {
        match (self, observation) {
            (Self::Rows, Observation::DataSet(observed)) => {
                let sets = outputs.iter().map(|output| output.as_deref().map(|numbers| rows(numbers, columns)).transpose());
                let sets = sets.collect::<Result<Vec<_>, Error>>()?;
                Ok(Recorded::DataSets(Arc::new(DataSets::compared_with(theta, sets, observed)?)))
            }
            _ => {
                let failed = vec![f64::NAN; columns];
                let x: Vec<&[f64]> = outputs.iter().map(|output| output.as_deref().unwrap_or(&failed)).collect();
                let simulations = Simulations::new(theta, Points::from_rows(&x)?)?.with_told_repeats(self.told_repeats())?;
                Ok(Recorded::Statistics(Arc::new(simulations)))
            }
        }
    }

    /// Simulations of which none succeeded.
    pub fn all_failed(self, theta: Points, columns: usize, observation: &Observation) -> Result<Recorded, Error> {
        match (self, observation) {
            (Self::Rows, Observation::DataSet(observed)) => {
                let sets = vec![None; theta.rows()];
                Ok(Recorded::DataSets(Arc::new(DataSets::compared_with(theta, sets, observed)?)))
            }
            _ => Ok(Recorded::Statistics(Arc::new(Simulations::all_failed(theta, columns).with_told_repeats(self.told_repeats())?))),
        }
    }
}

fn rows(numbers: &[f64], columns: usize) -> Result<Points, Error> {
    Points::new(numbers.to_vec(), numbers.len() / columns.max(1), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_and_statistics_are_counted() {
        assert!(Outputs::Rows.fits(6, 2) && !Outputs::Rows.fits(5, 2) && !Outputs::Rows.fits(0, 2));
        assert!(Outputs::Statistics.fits(2, 2) && !Outputs::Statistics.fits(4, 2));
    }

    #[test]
    fn numbers_become_rows_in_their_order() {
        let observed = Outputs::Rows.observation(&[1.0, 2.0, 3.0, 4.0], 2).unwrap();
        assert_eq!(observed, Observation::DataSet(Points::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap()));
        assert!(Outputs::Rows.observation(&[1.0, 2.0, 3.0], 2).is_err());
    }
}
