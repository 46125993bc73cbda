//! One statistic given θ: its mean, its spread, and how sure the mean is.
//!
//! Mean and spread are regressions fitted in turn: the spread is the regression of ln r̃², r̃² the squared leave-one-out residual
//! times the share of its variance that is noise; the mean is then fitted anew with the noise the spread predicts.
//! Both see the parameters as [`super::inputs`] has them and, as one more coordinate, their component along a direction of [`FirstMean`].
//! The predictive variance at θ is c (s² w(θ) + Var ĝ(θ)), c such that leave-one-out residuals have unit variance. A statistic without any
//! noise counts as observed with a small error, which is added.
//!
//! Where outputs are independent repeats all this is about their average; the spread is that of the repeats around it, see [`super::within`].

mod repeated;
mod sharpened;
mod traced;

use super::constants::statistic::{IN_TURN, ROUNDS, SEARCHED, SPREAD_MARGIN};
pub use traced::TracedResiduals;

use super::cells::{Targets, Values};
use super::choice::{choose_scale, plane_or_bumps};
use super::direction::along;
use super::first_mean::FirstMean;
use super::regression::{MeanWeights, Regression, RegressionHyperparameters};
use super::regression_search::{constant, is_noiseless, is_straight, search};
use super::spread::{Spread, ln_noise};
use super::transform::Transform;
use crate::random::{Purpose, standard_normal, stream};
use crate::{Error, Points};
use serde::{Deserialize, Serialize};

/// Everything chosen for one statistic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticHyperparameters {
    /// Which statistic.
    pub index: usize,
    /// How it enters.
    pub transform: Transform,
    /// Unit vector along which the statistic rises or bends; `None` with a single parameter.
    pub direction: Option<Vec<f64>>,
    /// The regression of the mean before the spread is known.
    pub first_mean: RegressionHyperparameters,
    /// The regressions of spread and mean, each pair following the former.
    pub rounds: Vec<(RegressionHyperparameters, RegressionHyperparameters)>,
    /// Whether no noise was found: it then counts as observed with an error as small as the least noise there is a search for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// Noise variance of every simulation beside that of its neighbours, where tails are heavy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_noise: Option<Vec<f64>>,
    /// Whether mean and spread were fitted in turn to all simulations, and not to the first thousand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_all: bool,
}

/// A fitted statistic.
#[derive(Debug, Clone)]
pub struct Statistic {
    hyperparameters: StatisticHyperparameters,
    mean: Regression,
    spread: Option<Spread>,
    /// w at the simulations.
    relative_noise: Vec<f64>,
    inflation: f64,
    /// Variance of the error that a statistic without noise counts as observed with.
    error: f64,
    standardised: Vec<f64>,
    /// How many values of it an output has.
    repeats: usize,
    /// Variance of repeats around their average at w = 1.
    within: f64,
}

impl Statistic {
    /// Chooses everything for statistic `index` with these values at `z`.
    pub fn learn(z: &Points, values: &Values, observed: &[f64], index: usize) -> Result<Self, Error> {
        let scale = choose_scale(z, values, observed);
        let targets = values.on(scale);
        repeated::require_scatter(&targets, index)?;
        let some: Vec<usize> = (0..z.rows().min(SEARCHED)).collect();
        let FirstMean { direction, hyperparameters } = FirstMean::choose(z, &targets.means, some.len())?;
        let first_mean = targets.with_cell_noise(hyperparameters, &some);
        let z = &along(z, direction.as_deref());
        let part = z.select(&some);
        let pick = |all: &[f64]| -> Vec<f64> { some.iter().map(|&i| all[i]).collect() };
        let mut weights = vec![1.0; z.rows()];
        let mut mean = Regression::new(z, &targets.means, &weights, &first_mean, true)?;
        let mut rounds = Vec::new();
        let mut spread = None;
        // The scatter of repeats does not depend on their mean.
        for _ in 0..if targets.within.is_some() { 1 } else { ROUNDS } {
            let ln_noise = ln_noise(&mean, &targets, &weights);
            let (chosen, value) = plane_or_bumps(z.columns(), |begin| search(&part, &pick(&ln_noise), &vec![1.0; part.rows()], begin));
            if value < constant(part.rows()) + SPREAD_MARGIN {
                break;
            }
            let regression = Regression::new(z, &ln_noise, &vec![1.0; z.rows()], &chosen, false)?;
            let (found, relative) = Spread::new(regression, &ln_noise);
            weights = relative;
            let again = search(&part, &pick(&targets.means), &pick(&weights), mean.hyperparameters()).0;
            let again = targets.with_cell_noise(again, &some);
            mean = Regression::new(z, &targets.means, &weights, &again, true)?;
            rounds.push((chosen, again));
            spread = Some(found);
        }
        let transform = Transform { step: values.step, scale };
        let exact = values.step.is_none() && is_noiseless(mean.hyperparameters());
        let hyperparameters =
            StatisticHyperparameters { index, transform, direction, first_mean, rounds, exact, own_noise: None, from_all: false };
        Ok(Self::finish(hyperparameters, &targets, mean, spread, weights.clone(), weights))
    }

    /// Fits with everything chosen already.
    pub fn new(z: &Points, values: &Values, hyperparameters: &StatisticHyperparameters) -> Result<Self, Error> {
        Self::tuned(z, values, hyperparameters, |_, _, _, chosen| chosen.clone(), |_| hyperparameters.exact)
    }

    /// The same choices, the hyperparameters of a mean that bends searched again on some simulations.
    pub fn refined(z: &Points, values: &Values, hyperparameters: &StatisticHyperparameters, some: &[usize]) -> Result<Self, Error> {
        let pick = |all: &[f64]| -> Vec<f64> { some.iter().map(|&i| all[i]).collect() };
        let tune = |z: &Points, targets: &Targets, weights: &[f64], chosen: &RegressionHyperparameters| {
            let found = search(&z.select(some), &pick(&targets.means), &pick(weights), chosen).0;
            targets.with_cell_noise(found, some)
        };
        Self::tuned(z, values, hyperparameters, tune, |mean| values.step.is_none() && is_noiseless(mean))
    }

    /// Fits after each regression of the mean is tuned, given z, targets, relative noise and what was chosen; `exact` of the last one.
    fn tuned(
        z: &Points,
        values: &Values,
        chosen: &StatisticHyperparameters,
        tune: impl Fn(&Points, &Targets, &[f64], &RegressionHyperparameters) -> RegressionHyperparameters,
        exact: impl Fn(&RegressionHyperparameters) -> bool,
    ) -> Result<Self, Error> {
        let targets = values.on(chosen.transform.scale);
        repeated::require_scatter(&targets, chosen.index)?;
        let z = &along(z, chosen.direction.as_deref());
        let with_own = |weights: Vec<f64>| match &chosen.own_noise {
            Some(own) => weights.iter().zip(own).map(|(w, f)| w * f).collect(),
            None => weights,
        };
        let head = if chosen.from_all { z.rows() } else { z.rows().min(IN_TURN) };
        let (few, first_targets) = (z.select(&(0..head).collect::<Vec<_>>()), targets.head(head));
        let mut of_spread = vec![1.0; z.rows()];
        let mut weights = with_own(of_spread.clone());
        let first_mean = tune(z, &targets, &weights, &chosen.first_mean);
        let mut mean = Regression::new(&few, &first_targets.means, &weights[..head], &first_mean, true)?;
        let mut rounds = Vec::with_capacity(chosen.rounds.len());
        let mut spread = None;
        for (spread_chosen, mean_chosen) in &chosen.rounds {
            let ln_noise = ln_noise(&mean, &first_targets, &weights[..head]);
            let regression = Regression::new(&few, &ln_noise, &vec![1.0; head], spread_chosen, false)?;
            let (found, relative) = Spread::new(regression, &ln_noise);
            of_spread = if head < z.rows() { found.relative_noise(z) } else { relative };
            weights = with_own(of_spread.clone());
            let mean_chosen = tune(z, &targets, &weights, mean_chosen);
            mean = Regression::new(&few, &first_targets.means, &weights[..head], &mean_chosen, true)?;
            rounds.push((spread_chosen.clone(), mean_chosen));
            spread = Some(found);
        }
        if head < z.rows() {
            mean = Regression::new(z, &targets.means, &weights, mean.hyperparameters(), true)?;
        }
        let exact = exact(mean.hyperparameters());
        let hyperparameters = StatisticHyperparameters { first_mean, rounds, exact, ..chosen.clone() };
        Ok(Self::finish(hyperparameters, &targets, mean, spread, of_spread, weights))
    }

    /// `of_spread` is what the noise at each simulation is expected to be, `relative_noise` what it was.
    fn finish(
        hyperparameters: StatisticHyperparameters,
        targets: &Targets,
        mean: Regression,
        spread: Option<Spread>,
        of_spread: Vec<f64>,
        relative_noise: Vec<f64>,
    ) -> Self {
        let expected = |i: usize| mean.residual_variances()[i] + mean.noise_variance(of_spread[i]) - mean.noise_variance(relative_noise[i]);
        let variances: Vec<f64> = (0..of_spread.len()).map(expected).collect();
        let residuals = || mean.residuals().iter().enumerate();
        let squares = residuals().map(|(i, r)| targets.average(i, *r, |r| r * r));
        let inflation = squares.zip(&variances).map(|(r2, v)| r2 / v).sum::<f64>() / variances.len() as f64;
        let error = if hyperparameters.exact { mean.noise_variance(1.0) } else { 0.0 };
        let errors = errors(&hyperparameters, error, variances.len());
        let standardise = |(i, r): (usize, &f64)| (targets.own(i, *r) + errors[i]) / (inflation * variances[i] + error).sqrt();
        let standardised: Vec<f64> = residuals().map(standardise).collect();
        let one = Self { hyperparameters, mean, spread, relative_noise, inflation, error, standardised, repeats: 1, within: 0.0 };
        match &targets.within {
            Some(within) => one.of_repeats(within, &of_spread),
            None => one,
        }
    }

    /// What was chosen.
    pub fn hyperparameters(&self) -> &StatisticHyperparameters {
        &self.hyperparameters
    }

    /// Share of the variance of the (transformed) statistic that leave-one-out predictions of its mean explain.
    pub fn explained(&self) -> f64 {
        self.mean.explained()
    }

    /// Whether its mean bends with θ.
    pub fn bends(&self) -> bool {
        !is_straight(self.mean())
    }

    /// Whether the mean at these points would need all of them.
    pub fn needs_all_of(&self, z: &Points) -> bool {
        self.mean.needs_all_of(&along(z, self.hyperparameters.direction.as_deref()))
    }

    /// Whether its spread moves with θ.
    pub fn spread_varies(&self) -> bool {
        self.spread.is_some()
    }

    /// Whether some simulations were much noisier than others at the same θ.
    pub fn has_heavy_tails(&self) -> bool {
        self.hyperparameters.own_noise.is_some()
    }

    /// The regression of the mean.
    pub fn mean(&self) -> &RegressionHyperparameters {
        self.mean.hyperparameters()
    }

    /// Leave-one-out residuals over their predictive standard deviations; unit variance. Repeats of one simulation stand together.
    pub fn standardised(&self) -> &[f64] {
        &self.standardised
    }

    /// (transformed y - mean) / standard deviation and ln of that standard deviation at each z, of every repeat. Runs on one thread.
    pub fn residual_at(&self, z: &Points, transformed: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.residual_each(&vec![self.mean.weights(); z.rows()], z, &vec![transformed; z.rows()])
    }

    /// w at each z, the direction included.
    fn relative_noise_at(&self, z: &Points) -> Vec<f64> {
        self.spread.as_ref().map_or_else(|| vec![1.0; z.rows()], |spread| spread.relative_noise(z))
    }

    /// The weights of the mean without each of these groups of simulations at one θ; `z` as fitted.
    pub fn without(&self, z: &Points, groups: &[Vec<usize>]) -> Result<Vec<MeanWeights>, Error> {
        self.mean.without(&along(z, self.hyperparameters.direction.as_deref()), &self.relative_noise, groups)
    }

    /// [`Statistic::residual_at`], each z with weights of the mean and a transformed observation of its own.
    pub fn residual_each(&self, weights: &[&MeanWeights], z: &Points, transformed: &[&[f64]]) -> (Vec<f64>, Vec<f64>) {
        let predicted = self.predicted(weights, z);
        let (mut residuals, mut ln_deviations) = (Vec::with_capacity(z.rows() * self.repeats), Vec::with_capacity(z.rows()));
        for (at, transformed) in predicted.iter().zip(transformed) {
            if let [y] = transformed {
                residuals.push((y - at.mean) / at.deviation);
                ln_deviations.push(at.deviation.ln());
            } else {
                let (of_repeats, ln_root) = self.residuals_of_repeats(at, transformed);
                residuals.extend(of_repeats);
                ln_deviations.push(ln_root);
            }
        }
        (residuals, ln_deviations)
    }

    /// Mean and standard deviation of the transformed statistic, or of its average over repeats, at each z.
    pub fn predict(&self, z: &Points) -> Vec<Predicted> {
        self.predicted(&vec![self.mean.weights(); z.rows()], z)
    }

    /// The same as two lists.
    pub fn mean_and_deviation(&self, z: &Points) -> (Vec<f64>, Vec<f64>) {
        self.predict(z).into_iter().map(|at| (at.mean, at.deviation)).unzip()
    }

    fn predicted(&self, weights: &[&MeanWeights], z: &Points) -> Vec<Predicted> {
        let z = &along(z, self.hyperparameters.direction.as_deref());
        let (means, variances) = self.mean.predict_each(weights, z);
        let noise = self.relative_noise_at(z);
        let at = |q: usize| Predicted {
            mean: means[q],
            deviation: (self.inflation * (self.mean.noise_variance(noise[q]) + variances[q]) + self.error).sqrt(),
            within: (self.within * noise[q]).sqrt(),
        };
        (0..z.rows()).map(at).collect()
    }
}

/// One statistic at one θ.
#[derive(Debug, Clone, Copy)]
pub struct Predicted {
    /// ĝ.
    pub mean: f64,
    /// Standard deviation of an output, or of the average over its repeats.
    pub deviation: f64,
    /// σ: standard deviation of repeats around their average; 0 where there are none.
    pub within: f64,
}

/// What simulated values would have been observed with: Gaussian, the same for every fit; 0 where the statistic has noise of its own.
fn errors(hyperparameters: &StatisticHyperparameters, variance: f64, count: usize) -> Vec<f64> {
    if variance == 0.0 {
        return vec![0.0; count];
    }
    let mut rng = stream(0, Purpose::Dequantise, hyperparameters.index as u64);
    (0..count).map(|_| variance.sqrt() * standard_normal(&mut rng)).collect()
}
