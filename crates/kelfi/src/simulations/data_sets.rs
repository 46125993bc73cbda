//! Raw iid data sets instead of statistics, and the kernel that compares their points.

use super::scales::robust_scale;
use crate::kernel::empirical::{DataKernel, median_distance};
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// With fewer observed points than this their spread says too little, and simulated ones tell the scales.
const ENOUGH: usize = 10;
/// Simulated points that tell the scales where observed ones cannot.
const POOLED: usize = 500;

/// m parameter vectors, each with a raw iid data set instead of statistics; `None` is a failed simulation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedDataSets")]
pub struct DataSets {
    theta: Points,
    sets: Vec<Option<Points>>,
    /// Length scales of the Gaussian kernel that compares points, one for each column.
    #[serde(rename = "alpha")]
    length_scales: Vec<f64>,
    /// Mean of k(x, x') over each set, found once: where simulations are read, no work is to be done.
    #[serde(skip)]
    within: OnceLock<Vec<f64>>,
}

/// Data sets as they are read: the parts may not fit each other.
#[derive(Deserialize)]
struct SavedDataSets {
    theta: Points,
    sets: Vec<Option<Points>>,
    alpha: Alpha,
}

/// Files from before there was a length scale for each column have one for all.
#[derive(Deserialize)]
#[serde(untagged)]
enum Alpha {
    OfAll(f64),
    OfEach(Vec<f64>),
}

impl TryFrom<SavedDataSets> for DataSets {
    type Error = Error;

    fn try_from(saved: SavedDataSets) -> Result<Self, Error> {
        let columns = saved.sets.iter().flatten().next().map_or(1, Points::columns);
        let length_scales = match saved.alpha {
            Alpha::OfAll(alpha) => vec![alpha; columns],
            Alpha::OfEach(each) => each,
        };
        Self::new(saved.theta, saved.sets, length_scales)
    }
}

impl DataSets {
    /// With these length scales, one for each column of the data.
    pub fn new(theta: Points, sets: Vec<Option<Points>>, length_scales: Vec<f64>) -> Result<Self, Error> {
        if theta.rows() != sets.len() {
            return Err(Error::Shape {
                left: "theta".into(),
                left_rows: theta.rows(),
                left_columns: theta.columns(),
                right: "the data sets".into(),
                right_rows: sets.len(),
                right_columns: length_scales.len(),
                advice: "theta and the data sets need one row and one set per simulation".into(),
            });
        }
        theta.require_finite("theta")?;
        DataKernel::new(&length_scales)?;
        for (j, set) in sets.iter().enumerate() {
            if let Some(set) = set {
                require_points(&format!("data set {j}"), set, length_scales.len())?;
            }
        }
        Ok(Self { theta, sets, length_scales, within: OnceLock::new() })
    }

    /// With length scales from the observed points: each column in units of its robust spread, times the median distance between points in
    /// these units, so that no column's unit matters. Where there are few observed points, simulated ones take their place.
    pub fn compared_with(theta: Points, sets: Vec<Option<Points>>, observed: &Points) -> Result<Self, Error> {
        require_points("the observed data set", observed, observed.columns())?;
        let pooled = pooled(&sets, observed.columns());
        let of = |points: &Points, d: usize| robust_scale(&points.column(d));
        let enough = observed.rows() >= ENOUGH;
        let first = |d: usize| if enough { of(observed, d).or_else(|| of(&pooled, d)) } else { of(&pooled, d).or_else(|| of(observed, d)) };
        let units: Vec<f64> = (0..observed.columns()).map(|d| first(d).unwrap_or(1.0)).collect();
        let scaled = |points: &Points| points.map_rows(units.len(), |row| row.iter().zip(&units).map(|(x, unit)| x / unit).collect());
        let between = |points: &Points| median_distance(&scaled(points));
        let alpha = if enough { between(observed).or_else(|| between(&pooled)) } else { between(&pooled).or_else(|| between(observed)) };
        let alpha = alpha.unwrap_or(1.0);
        Self::new(theta, sets, units.into_iter().map(|unit| alpha * unit).collect())
    }

    /// The parameter vectors.
    pub fn theta(&self) -> &Points {
        &self.theta
    }

    /// One data set each; `None` is a failed simulation.
    pub fn sets(&self) -> &[Option<Points>] {
        &self.sets
    }

    /// Length scales of the kernel that compares points, one for each column.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// Columns of the data.
    pub fn columns(&self) -> usize {
        self.length_scales.len()
    }

    /// The simulations with these indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            theta: self.theta.select(indices),
            sets: indices.iter().map(|&j| self.sets[j].clone()).collect(),
            length_scales: self.length_scales.clone(),
            within: self.within.get().map_or_else(OnceLock::new, |within| indices.iter().map(|&j| within[j]).collect::<Vec<_>>().into()),
        }
    }

    /// MMD² = mean k(x, x') + mean k(y, y') - 2 mean k(x, y) between every data set and `y`, with 0 for failures. Costs O(N N_y) a set,
    /// and the first time O(N²).
    pub fn discrepancies(&self, y: &Points) -> Result<Vec<f64>, Error> {
        require_points("the observed data set", y, self.columns())?;
        let kernel = DataKernel::new(&self.length_scales)?;
        let own = kernel.mean(y, y);
        let one = |(set, within): (&Option<Points>, &f64)| match set {
            Some(set) => (within + own - 2.0 * kernel.mean(set, y)).max(0.0),
            None => 0.0,
        };
        Ok(self.sets.par_iter().zip(self.within(&kernel)).map(one).collect())
    }

    fn within(&self, kernel: &DataKernel) -> &[f64] {
        if let Some(found) = self.within.get() {
            return found;
        }
        // Found before the lock is taken: a thread that waits for parts of the work may take up another piece that asks for the same.
        let found = self.sets.par_iter().map(|set| set.as_ref().map_or(0.0, |set| kernel.mean(set, set))).collect();
        self.within.get_or_init(|| found)
    }
}

/// Refuses a set without points, with another number of columns, or with values that are not finite.
fn require_points(what: &str, set: &Points, columns: usize) -> Result<(), Error> {
    if set.is_empty() || set.columns() == 0 {
        return Err(Error::Empty { what: what.into(), advice: "a data set needs at least one point".into() });
    }
    if set.columns() != columns {
        return Err(Error::Shape {
            left: what.into(),
            left_rows: set.rows(),
            left_columns: set.columns(),
            right: "the other data sets".into(),
            right_rows: 1,
            right_columns: columns,
            advice: "all data sets need the same columns".into(),
        });
    }
    set.require_finite(what)
}

/// Up to [`POOLED`] simulated points, evenly from all sets.
fn pooled(sets: &[Option<Points>], columns: usize) -> Points {
    let all: Vec<&[f64]> = sets.iter().flatten().filter(|set| set.columns() == columns).flat_map(Points::iter).collect();
    let some: Vec<&[f64]> = all.iter().step_by(all.len().div_ceil(POOLED).max(1)).copied().collect();
    Points::from_rows(&some).unwrap_or_else(|_| Points::zeros(0, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(scale: f64) -> Points {
        let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i).sin(), scale * f64::from(3 * i).cos()]).collect();
        Points::from_rows(&rows).unwrap()
    }

    fn of(scale: f64) -> DataSets {
        let theta = Points::from_column(vec![0.0, 1.0, 2.0]);
        let shifted = |by: f64| Some(wave(scale).map_rows(2, |row| vec![row[0] + by, row[1]]));
        DataSets::compared_with(theta, vec![shifted(0.1), None, shifted(2.0)], &wave(scale)).unwrap()
    }

    #[test]
    fn the_unit_of_a_column_does_not_matter() {
        let (one, other) = (of(1.0).discrepancies(&wave(1.0)).unwrap(), of(1e4).discrepancies(&wave(1e4)).unwrap());
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12), "{one:?} {other:?}");
        assert!(one[0] < 0.01 && one[2] > 0.1 && one[1] == 0.0, "{one:?}");
    }

    #[test]
    fn a_file_with_one_length_scale_for_all_columns_is_read_and_parts_that_do_not_fit_are_refused() {
        let text = serde_json::to_string(&of(1.0)).unwrap();
        let again: DataSets = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (again.length_scales(), again.discrepancies(&wave(1.0)).unwrap()),
            (of(1.0).length_scales(), of(1.0).discrepancies(&wave(1.0)).unwrap())
        );
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["alpha"] = serde_json::json!(0.5);
        assert_eq!(serde_json::from_value::<DataSets>(value.clone()).unwrap().length_scales(), &[0.5, 0.5]);
        value["alpha"] = serde_json::json!([0.5]);
        assert!(serde_json::from_value::<DataSets>(value.clone()).is_err());
        value["alpha"] = serde_json::json!(-1.0);
        assert!(serde_json::from_value::<DataSets>(value).is_err());
    }

    #[test]
    fn few_observed_points_leave_the_scales_to_simulated_ones() {
        let theta = Points::from_column(vec![0.0]);
        let one = DataSets::compared_with(theta.clone(), vec![Some(wave(1e3))], &Points::zeros(1, 2)).unwrap();
        assert!(one.length_scales()[1] > 100.0 * one.length_scales()[0], "{one:?}");
        let none = DataSets::compared_with(theta, vec![None], &Points::zeros(3, 2)).unwrap();
        assert_eq!(none.length_scales(), &[1.0, 1.0]);
    }
}
