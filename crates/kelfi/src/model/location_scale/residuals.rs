//! What is left of the outputs once mean and spread of every statistic are known: how residuals belong together, and their shape.

use super::at_once::each;
use super::common_spread::CommonSpread;
use super::constants::residuals::{MARGIN_APART, REWEIGHTINGS};
use super::correlation::{standardised, whiten};
use super::moving::{Moving, MovingPair};
use super::regression::RegressionHyperparameters;
use super::shape::{self, ShapeHyperparameters, Shapes};
use super::statistic::{Statistic, StatisticHyperparameters};
use super::tails;
use crate::linalg::Cholesky;
use crate::{Error, Points};

/// Fitted statistics with the joint distribution of their residuals.
#[derive(Debug)]
pub struct Residuals {
    pub statistics: Vec<Statistic>,
    /// C, factored.
    pub correlation: Cholesky,
    /// What of C moves with θ, if anything does.
    moving: Option<Moving>,
    /// The spread that all statistics share, where it moves with θ.
    pub common: Option<CommonSpread>,
    /// C^-½ times the standardised left-out residuals, over their common spread; those of repeats stand together.
    pub u: Points,
    pub shape: Shapes,
    pub chosen: Chosen,
}

/// The shapes that were chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Of all residuals together.
    pub together: ShapeHyperparameters,
    /// Of each statistic's, where these suit better.
    pub factors: Vec<ShapeHyperparameters>,
    /// Pairs of statistics whose correlation moves.
    pub moving: Vec<MovingPair>,
    /// How the spread that all statistics share moves.
    pub common_spread: Option<RegressionHyperparameters>,
    /// Mean leave-one-out log density of u.
    pub score: f64,
}

impl Residuals {
    /// With shapes chosen before.
    pub fn new(statistics: Vec<Statistic>, z: &Points, chosen: Chosen) -> Result<Self, Error> {
        let (correlation, mut u) = whiten(&statistics)?;
        let moving = if chosen.moving.is_empty() {
            None
        } else {
            let mut own = standardised(&statistics);
            let moving = Moving::new(z, &own, &correlation, &u, &chosen.moving)?;
            moving.iter().for_each(|moving| moving.whiten_own(&mut own));
            u = own;
            moving
        };
        let common = chosen.common_spread.as_ref().map(|regression| CommonSpread::new(z, &u, regression)).transpose()?;
        common.iter().for_each(|common| common.divide_own(&mut u));
        Ok(Self { shape: Shapes::new(z, &u, chosen.together, &chosen.factors)?, chosen, statistics, correlation, moving, common, u })
    }

    /// With the shapes that suit best: one for each statistic is tried where heavy tails of each on its own are likelier than common ones.
    pub fn learn(statistics: Vec<Statistic>, z: &Points) -> Result<Self, Error> {
        let (correlation, mut u) = whiten(&statistics)?;
        let mut own = standardised(&statistics);
        let moving = Moving::learn(z, &own, &correlation, &u)?;
        if let Some(moving) = &moving {
            moving.whiten_own(&mut own);
            u = own;
        }
        let moving = moving.map(|moving| moving.hyperparameters()).unwrap_or_default();
        // A correlation that is learned imperfectly leaves sizes that move as well; their spread would stand in for it.
        let common = if moving.is_empty() { CommonSpread::learn(z, &u)? } else { None };
        common.iter().for_each(|common| common.divide_own(&mut u));
        let common_spread = common.map(|common| common.hyperparameters().clone());
        let (together, score) = shape::search(z, &u)?;
        let mut chosen = Chosen { together, factors: vec![], moving, common_spread, score };
        if u.columns() > 1 && tails::are_apart(&u) {
            let (factors, apart) = shape::search_apart(&u);
            if apart > score + MARGIN_APART / u.rows() as f64 {
                chosen = Chosen { factors, score: apart, ..chosen };
            }
        }
        Self::new(statistics, z, chosen)
    }

    /// ln |C|^½ where it is the same at every θ; else 0.
    pub fn constant_ln_root(&self) -> f64 {
        if self.moving.is_some() { 0.0 } else { 0.5 * self.correlation.ln_determinant() }
    }

    /// C(θ)^-½ times standardised residuals at each z over their common spread, in place, and ln of the root of the determinant of both where
    /// they move.
    pub fn whiten_at(&self, z: &Points, residuals: &mut Points) -> Vec<f64> {
        let mut ln = match &self.moving {
            Some(moving) => moving.whiten(z, residuals),
            None => {
                self.correlation.half_solve_in_place(residuals.values_mut());
                vec![0.0; z.rows()]
            }
        };
        if let Some(common) = &self.common {
            ln.iter_mut().zip(common.divide_at(z, residuals)).for_each(|(ln, root)| *ln += root);
        }
        ln
    }

    /// C(θ)^½ times whitened residuals at one z, with their common spread.
    pub fn together_at(&self, z: &Points, u: &[f64]) -> Vec<f64> {
        let scale = self.common.as_ref().map_or(1.0, |common| common.variances(z)[0].sqrt());
        let (n, u) = (u.len(), u.iter().map(|u| scale * u).collect::<Vec<_>>());
        match &self.moving {
            Some(moving) => {
                let factor = &moving.factors(z)[0];
                (0..n).map(|k| (0..=k).map(|l| factor[k * n + l] * u[l]).sum()).collect()
            }
            None => (0..n).map(|k| (0..=k).map(|l| self.correlation.entry(k, l) * u[l]).sum()).collect(),
        }
    }
}

/// Fits whose regressions know which simulations were noisy, where tails are heavy; else the same. `refine` fits a statistic anew.
pub fn with_heavy_tails(
    mut statistics: Vec<Statistic>,
    refine: &(dyn Fn(&StatisticHyperparameters) -> Result<Statistic, Error> + Sync),
) -> Result<Vec<Statistic>, Error> {
    for _ in 0..REWEIGHTINGS {
        let own_noise = tails::relative_noise(&statistics, &whiten(&statistics)?.1);
        if own_noise.iter().all(Option::is_none) {
            break;
        }
        let again = |(statistic, own_noise): (Statistic, Option<Vec<f64>>)| {
            refine(&StatisticHyperparameters { own_noise, ..statistic.hyperparameters().clone() })
        };
        let simulations = statistics.first().map_or(0, |statistic| statistic.standardised().len());
        statistics = each(statistics.into_iter().zip(own_noise).collect(), simulations, again)?;
    }
    Ok(statistics)
}
