//! One statistic from thousands of simulations: the scale and the direction that a thousand of them show, everything else from all.

use super::{Statistic, StatisticHyperparameters, repeated};
use crate::model::location_scale::cells::Values;
use crate::model::location_scale::constants::sharpening::FROM;
use crate::model::location_scale::constants::statistic::{ROUNDS, SPREAD_MARGIN};
use crate::model::location_scale::direction::along;
use crate::model::location_scale::regression::{Regression, RegressionHyperparameters};
use crate::model::location_scale::regression_search::{constant, is_noiseless, straight};
use crate::model::location_scale::sharpening::sharpened;
use crate::model::location_scale::spread::{Spread, ln_noise};
use crate::{Error, Points};

impl Statistic {
    /// Hyperparameters of mean and spread learned anew, mean and spread fitted in turn to all simulations.
    pub fn sharpened(z: &Points, values: &Values, chosen: &StatisticHyperparameters) -> Result<Self, Error> {
        let targets = values.on(chosen.transform.scale);
        repeated::require_scatter(&targets, chosen.index)?;
        let z = &along(z, chosen.direction.as_deref());
        let (all, ones): (Vec<usize>, Vec<f64>) = (0..z.rows()).map(|i| (i, 1.0)).unzip();
        let with_own = |of_spread: &[f64]| match &chosen.own_noise {
            Some(own) => of_spread.iter().zip(own).map(|(w, f)| w * f).collect(),
            None => of_spread.to_vec(),
        };
        let learn_mean = |weights: &[f64], begin: &RegressionHyperparameters| {
            targets.with_cell_noise(sharpened(z, &targets.means, weights, begin).0, &all)
        };
        let (mut of_spread, mut weights) = (ones.clone(), with_own(&ones));
        let first_mean = learn_mean(&weights, &chosen.first_mean);
        let mut mean = Regression::new(z, &targets.means, &weights, &first_mean, true)?;
        let (mut rounds, mut spread) = (Vec::new(), None);
        for round in 0..if targets.within.is_some() { 1 } else { ROUNDS } {
            let ln_noise = ln_noise(&mean, &targets, &weights);
            let begin = chosen.rounds.get(round).map_or_else(|| straight(z.columns()), |(spread, _)| spread.clone());
            let (spread_chosen, value) = sharpened(z, &ln_noise, &ones, &begin);
            if value < constant(ln_noise.len().min(FROM)) + SPREAD_MARGIN {
                break;
            }
            let (found, relative) = Spread::new(Regression::new(z, &ln_noise, &ones, &spread_chosen, false)?, &ln_noise);
            weights = with_own(&relative);
            of_spread = relative;
            let mean_chosen = learn_mean(&weights, mean.hyperparameters());
            mean = Regression::new(z, &targets.means, &weights, &mean_chosen, true)?;
            rounds.push((spread_chosen, mean_chosen));
            spread = Some(found);
        }
        let exact = values.step.is_none() && is_noiseless(mean.hyperparameters());
        let hyperparameters = StatisticHyperparameters { first_mean, rounds, exact, from_all: true, ..chosen.clone() };
        Ok(Self::finish(hyperparameters, &targets, mean, spread, of_spread, weights))
    }
}
