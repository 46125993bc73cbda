//! Summaries of the statistics: s_k(x) = E[t_k | x], what they say about each parameter, by regression.
//!
//! The targets t are the parameters as regressions see them, in local coordinates where there are some. The regression bends
//! ([`Regression`]: a curved and a linear part, a length scale for each statistic, by the targets' marginal likelihood). The summary of a
//! simulation that the regression was made with is the prediction without it, in closed form, so that it is distributed at its θ as the summary of a new output is. A parameter that the statistics say next to
//! nothing about gets no summary: predictions without a simulation would differ by its own parameters alone.

use super::constants::{LEAST_EXPLAINED, SEARCHED};
use super::scaling::Scaling;
use crate::model::location_scale::curve::Bend;
use crate::model::location_scale::regression::{Regression, RegressionHyperparameters};
use crate::model::location_scale::regression_search::{search, start};
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How one summary is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryHyperparameters {
    /// Which parameter it predicts.
    pub target: usize,
    /// The regression.
    pub regression: RegressionHyperparameters,
}

/// All summaries, fitted.
#[derive(Debug)]
pub struct Summaries {
    scaling: Scaling,
    hyperparameters: Vec<SummaryHyperparameters>,
    regressions: Vec<Regression>,
    /// What each was fitted to.
    targets: Vec<Vec<f64>>,
}

impl Summaries {
    /// Chooses a regression for every parameter and keeps those that say something. `go_on` is asked before each.
    pub fn learn(x: &Points, targets: &Points, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let scaling = Scaling::of(x);
        let rows: Vec<usize> = (0..x.rows()).step_by(x.rows().div_ceil(SEARCHED)).collect();
        let part = scaling.apply(&x.select(&rows));
        if part.columns() == 0 {
            return Err(Error::Unavailable {
                what: "learned summaries".into(),
                reason: "every statistic has the same value in all simulations; give statistics that vary".into(),
            });
        }
        let choose = |target: usize| {
            if !go_on() {
                return Err(Error::Interrupted);
            }
            let values: Vec<f64> = rows.iter().map(|&row| targets.row(row)[target]).collect();
            let regression = search(&part, &values, &vec![1.0; part.rows()], &start(Bend::Bumps, part.columns())).0;
            Ok(SummaryHyperparameters { target, regression })
        };
        let chosen: Vec<SummaryHyperparameters> = (0..targets.columns()).into_par_iter().map(choose).collect::<Result<_, Error>>()?;
        let all = Self::with(scaling, x, targets, chosen)?;
        let kept: Vec<usize> = (0..all.regressions.len()).filter(|&k| all.regressions[k].explained() >= LEAST_EXPLAINED).collect();
        if kept.is_empty() {
            return Err(Error::Unavailable {
                what: "learned summaries".into(),
                reason: "predictions from the statistics explain next to nothing of any parameter; use another model".into(),
            });
        }
        Ok(Self {
            scaling: all.scaling,
            hyperparameters: kept.iter().map(|&k| all.hyperparameters[k].clone()).collect(),
            regressions: kept.iter().map(|&k| all.regressions[k].clone()).collect(),
            targets: kept.iter().map(|&k| all.targets[k].clone()).collect(),
        })
    }

    /// With everything chosen already.
    pub fn new(x: &Points, targets: &Points, hyperparameters: &[SummaryHyperparameters]) -> Result<Self, Error> {
        Self::with(Scaling::of(x), x, targets, hyperparameters.to_vec())
    }

    fn with(scaling: Scaling, x: &Points, targets: &Points, hyperparameters: Vec<SummaryHyperparameters>) -> Result<Self, Error> {
        let columns: Vec<Vec<f64>> = hyperparameters.iter().map(|h| targets.column(h.target)).collect();
        let inputs = scaling.apply(x);
        let fit = |(h, target): (&SummaryHyperparameters, &Vec<f64>)| {
            super::validity::require_fitting(h, inputs.columns(), targets.columns())?;
            Regression::new(&inputs, target, &vec![1.0; x.rows()], &h.regression, false)
        };
        let regressions = hyperparameters.par_iter().zip(&columns).map(fit).collect::<Result<_, Error>>()?;
        Ok(Self { scaling, hyperparameters, regressions, targets: columns })
    }

    /// What was chosen.
    pub fn hyperparameters(&self) -> &[SummaryHyperparameters] {
        &self.hyperparameters
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.regressions.len()
    }

    /// Share of each target's variance that left-out predictions explain.
    pub fn explained(&self) -> Vec<f64> {
        self.regressions.iter().map(Regression::explained).collect()
    }

    /// Summaries of new outputs, one a row.
    pub fn of(&self, x: &Points) -> Points {
        let inputs = self.scaling.apply(x);
        let columns: Vec<Vec<f64>> = self.regressions.iter().map(|regression| regression.predict(&inputs).0).collect();
        by_row(&columns, x.rows())
    }

    /// Summaries of the outputs it was made with, each without it.
    pub fn left_out(&self) -> Points {
        let one =
            |(targets, regression): (&Vec<f64>, &Regression)| targets.iter().zip(regression.residuals()).map(|(t, r)| t - r).collect();
        let columns: Vec<Vec<f64>> = self.targets.iter().zip(&self.regressions).map(one).collect();
        by_row(&columns, self.targets[0].len())
    }
}

fn by_row(columns: &[Vec<f64>], rows: usize) -> Points {
    let values = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    Points::new(values, rows, columns.len()).expect("a value for each row and column")
}
