//! The location-scale kernel means likelihood: regressions carry how mean and spread of each statistic move with θ,
//! and the conditional embedding only the shape of what is left.
//!
//! q(y|θ) = p̂(θ) q_u( u(θ) | θ ) |C|^-½ Π_k |T_k'(y_k)| / σ_k(θ),   u(θ) = C^-½ (T(y) - ĝ(θ)) / σ(θ),
//!
//! with ĝ_k and σ_k of [`statistic`], C the correlation of standardised leave-one-out residuals, q_u of [`shape`]
//! and p̂ the probability that a simulation succeeds. Where an output is k independent repeats it is the product of k such terms, joined by what
//! is not known of the means: see [`within`].

mod at_once;
mod atoms;
mod cells;
mod choice;
mod common_spread;
pub(crate) mod constants;
mod correlation;
/// The kernels a regression bends with.
pub mod curve;
mod data;
mod dependence;
mod direction;
mod elsewhere;
mod evaluation;
mod features;
mod first_mean;
mod found_repeats;
/// Local coordinates.
pub mod frame;
/// Frames around draws.
pub mod frames;
mod gradient;
mod health;
mod hyperparameters;
/// What regressions see of θ.
pub mod inputs;
/// Each simulation as the observation of a model without it.
pub mod leave_one_out;
/// More simulations than are fitted to at once.
pub mod many;
mod mean_weights;
mod model;
/// Correlations that move with θ.
pub mod moving;
mod parts;
mod predicted;
mod region;
/// Regression of one number on z.
pub mod regression;
pub(super) mod regression_search;
mod residuals;
/// The distribution of standardised residuals.
pub mod shape;
mod sharpening;
mod spread;
mod starts;
/// Mean and spread of one statistic.
pub mod statistic;
mod surrogate;
mod tails;
mod thinning;
/// Changes of scale.
pub mod transform;
pub(super) mod validity;
mod vicinity;
mod within;
mod without;

use crate::question::Question;
use crate::simulations::scales::statistic_scales;
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Points, memory};
pub use at_once::at_once;
use at_once::each;
pub use atoms::Atom;
pub use cells::Counts;
use constants::statistic::IN_TURN;
use data::Data;
use evaluation::{QUERIES_PER_TASK, repeats_of};
use frame::Frame;
pub use hyperparameters::LocationScaleHyperparameters;
pub use inputs::Input;
use inputs::inputs;
pub use model::LOCATION_SCALE;
use rayon::prelude::*;
use regression::Regression;
use residuals::{Chosen, Residuals, with_heavy_tails};
use statistic::{Statistic, StatisticHyperparameters};
use std::sync::Arc;

/// The fitted parts, which do not depend on the observation.
#[derive(Debug)]
struct Fitted {
    z: Points,
    /// z as regressions see it.
    seen: Points,
    residuals: Residuals,
    success: Option<Regression>,
    hyperparameters: LocationScaleHyperparameters,
}

/// The location-scale kernel means likelihood at one observation.
#[derive(Debug, Clone)]
pub struct LocationScaleLikelihood {
    question: Question,
    /// The simulations inside the region of the frame; `None`: all.
    inside: Option<Arc<Vec<usize>>>,
    /// These; outputs with another pattern of exactly shared values than the observation's count as failures.
    simulations: Arc<Simulations>,
    fitted: Arc<Fitted>,
    /// Models of the other regions.
    elsewhere: Vec<Arc<Self>>,
    observation: Vec<f64>,
    /// Of each statistic that takes part the values of all repeats.
    transformed: Vec<f64>,
    ln_slope: f64,
    ln_scale: f64,
    promising: Points,
}

impl LocationScaleLikelihood {
    /// Learns everything from the simulations. `go_on` is asked before each longer step.
    pub fn learn(question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        if question.recorded.theta().rows() > constants::many::ALL_AT_ONCE {
            return Self::learn_from_many(question, seed, go_on);
        }
        Self::learn_in(None, question, seed, go_on)
    }

    /// The same in local coordinates, from the simulations inside their region; a model of each region where there are several. Outputs that
    /// look like independent repeats are tried as such.
    pub fn learn_in(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let learn = |question: &Question| Self::learn_regions(frame, question, seed, go_on);
        learn(question)?.or_of_repeats(learn)
    }

    fn learn_regions(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let regions = frame.map(Frame::regions).unwrap_or_default();
        let first = Self::learn_region(regions.first(), question, seed, go_on)?;
        let learn = |frame: &Frame| Self::learn_region(Some(frame), question, seed, go_on);
        first.with_elsewhere(regions.iter().skip(1).map(learn).collect::<Result<_, Error>>()?)
    }

    fn learn_region(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let prior = &question.prior;
        let (all, y) = statistics_of(question)?;
        let inputs = inputs(prior);
        let (inside, all) = region::inside(frame, &inputs, prior, all)?;
        require_squarable(&all, y)?;
        let atoms = atoms::atoms(&all, y)?;
        let simulations = matching(&atoms, &all)?;
        let data = Data::new(&simulations, prior, &inputs, frame)?;
        let kept = varying(&simulations);
        if kept.is_empty() {
            return Err(Error::Unavailable {
                what: "a location-scale likelihood".into(),
                reason: match atoms.iter().any(|atom| atom.observed) {
                    true => "every observed value is one that many simulations share exactly; use the kernel means model".into(),
                    false => "every statistic has the same value in all simulations; give statistics that vary".into(),
                },
            });
        }
        let head = data.seen.select(&(0..data.z.rows().min(IN_TURN)).collect::<Vec<_>>());
        let learn_one = |&i: &usize| -> Result<Statistic, Error> {
            if !go_on() {
                return Err(Error::Interrupted);
            }
            let observed: Vec<f64> = repeats_of(y, i, simulations.repeats()).collect();
            Statistic::learn(&head, &data.values(i, Counts::Cells, seed).head(head.rows()), &observed, i)
        };
        let everywhere: Vec<Statistic> = kept.par_iter().map(learn_one).collect::<Result<_, Error>>()?;
        require_memory(&everywhere, &data.seen)?;
        let near = vicinity::around(&everywhere, &data.seen, y);
        let refine = |chosen: &StatisticHyperparameters| -> Result<Statistic, Error> {
            if !go_on() {
                return Err(Error::Interrupted);
            }
            let values = data.values(chosen.index, Counts::Cells, seed);
            if head.rows() < data.z.rows() {
                return Statistic::sharpened(&data.seen, &values, chosen);
            }
            Statistic::refined(&data.seen, &values, chosen, &near)
        };
        let look_closer = |statistic: Statistic| match statistic.hyperparameters() {
            chosen if statistic.bends() || head.rows() < data.z.rows() => refine(chosen),
            _ => Ok(statistic),
        };
        let statistics = each(everywhere, data.z.rows(), look_closer)?;
        let statistics = if simulations.repeats() == 1 { with_heavy_tails(statistics, &refine)? } else { statistics };
        let residuals = Residuals::learn(statistics, &data.seen)?;
        let success = data.learn_success();
        let hyperparameters = LocationScaleHyperparameters {
            seed,
            counts: Counts::Cells,
            atoms,
            inputs,
            frame: frame.cloned(),
            elsewhere: vec![],
            found_repeats: None,
            statistics: residuals.statistics.iter().map(|s| s.hyperparameters().clone()).collect(),
            shape: residuals.chosen.together,
            factors: residuals.chosen.factors.clone(),
            moving: residuals.chosen.moving.clone(),
            common_spread: residuals.chosen.common_spread.clone(),
            success: success.clone(),
            shape_score: residuals.chosen.score,
        };
        let fitted = Fitted { success: data.success(success.as_ref())?, z: data.z, seen: data.seen, residuals, hyperparameters };
        Self::observing(question.clone(), inside, simulations.clone(), Arc::new(fitted))
    }

    /// Builds the model with everything chosen already.
    pub fn new(question: &Question, hyperparameters: &LocationScaleHyperparameters) -> Result<Self, Error> {
        let question = &found_repeats::told(question, hyperparameters)?;
        let prior = &question.prior;
        let (all, y) = statistics_of(question)?;
        require_pattern(&hyperparameters.atoms, y)?;
        hyperparameters.frame.iter().try_for_each(|frame| frame.require_fitting(prior.dimension()))?;
        let (inside, all) = region::inside(hyperparameters.frame.as_ref(), &hyperparameters.inputs, prior, all)?;
        let simulations = matching(&hyperparameters.atoms, &all)?;
        validity::require_fitting(hyperparameters, &simulations, prior.dimension())?;
        let data = Data::new(&simulations, prior, &hyperparameters.inputs, hyperparameters.frame.as_ref())?;
        let fit = |h: &StatisticHyperparameters| {
            Statistic::new(&data.seen, &data.values(h.index, hyperparameters.counts, hyperparameters.seed), h)
        };
        let statistics = each(hyperparameters.statistics.iter().collect(), data.z.rows(), fit)?;
        let (together, factors, score) = (hyperparameters.shape, hyperparameters.factors.clone(), hyperparameters.shape_score);
        let (moving, common_spread) = (hyperparameters.moving.clone(), hyperparameters.common_spread.clone());
        let residuals = Residuals::new(statistics, &data.seen, Chosen { together, factors, moving, common_spread, score })?;
        let success = data.success(hyperparameters.success.as_ref())?;
        let fitted = Fitted { success, z: data.z, seen: data.seen, residuals, hyperparameters: hyperparameters.clone() };
        let first = Self::observing(question.clone(), inside, simulations.clone(), Arc::new(fitted))?;
        let build = |h: &LocationScaleHyperparameters| Self::new(question, h);
        first.with_elsewhere(hyperparameters.elsewhere.iter().map(build).collect::<Result<_, Error>>()?)
    }

    /// The same fit at another observation.
    pub fn condition(&self, observation: &Observation) -> Result<Self, Error> {
        let question = self.question.at(observation);
        require_pattern(&self.fitted.hyperparameters.atoms, statistics_of(&question)?.1)?;
        let first = Self::observing(question, self.inside.clone(), self.simulations.clone(), self.fitted.clone())?;
        first.with_elsewhere(self.elsewhere.iter().map(|model| model.condition(observation)).collect::<Result<_, Error>>()?)
    }

    fn observing(
        question: Question,
        inside: Option<Arc<Vec<usize>>>,
        simulations: Arc<Simulations>,
        fitted: Arc<Fitted>,
    ) -> Result<Self, Error> {
        let y = statistics_of(&question)?.1.to_vec();
        let mut transformed = Vec::with_capacity(y.len());
        let mut ln_slope = 0.0;
        for statistic in &fitted.residuals.statistics {
            let h = statistic.hyperparameters();
            for value in repeats_of(&y, h.index, simulations.repeats()) {
                let changed = h.transform.scale.apply(value);
                if !changed.is_finite() {
                    let requirement = "it lies outside the scale on which this statistic was modelled; learn again with this observation";
                    return Err(Error::invalid(format!("observed statistic {}", h.index + 1), value, requirement));
                }
                ln_slope += h.transform.scale.ln_slope(value);
                transformed.push(changed);
            }
        }
        let mut model = Self {
            question,
            inside,
            simulations,
            fitted,
            elsewhere: vec![],
            observation: y,
            transformed,
            ln_slope,
            ln_scale: 0.0,
            promising: Points::zeros(0, 0),
        };
        let at_simulations = model.ln_values(&model.fitted.z);
        let mut order: Vec<usize> = (0..at_simulations.len()).collect();
        order.sort_by(|&i, &j| at_simulations[j].total_cmp(&at_simulations[i]));
        model.ln_scale = at_simulations[order[0]];
        model.promising = model.fitted.z.select(&order);
        Ok(model)
    }

    /// What was learned.
    pub fn hyperparameters(&self) -> &LocationScaleHyperparameters {
        &self.fitted.hyperparameters
    }

    /// What was simulated.
    pub fn recorded(&self) -> &Recorded {
        &self.question.recorded
    }

    /// The observation.
    pub fn observation(&self) -> &[f64] {
        &self.observation
    }

    /// The fitted statistics.
    pub fn statistics(&self) -> &[Statistic] {
        &self.fitted.residuals.statistics
    }

    /// Whitened leave-one-out residuals of the successful simulations.
    pub fn residuals(&self) -> &Points {
        &self.fitted.residuals.u
    }
}

/// The statistics that have different values, in any repeat.
fn varying(simulations: &Simulations) -> Vec<usize> {
    let (scales, each) = (statistic_scales(simulations), simulations.statistics_each());
    (0..each).filter(|&i| scales[i..].iter().step_by(each).any(|scale| scale.dropped.is_none())).collect()
}

/// An error for numbers whose squares, summed, would leave the range of doubles.
fn require_squarable(simulations: &Simulations, y: &[f64]) -> Result<(), Error> {
    let values = simulations.outputs().values().iter().chain(y);
    match values.enumerate().find(|(_, value)| value.is_finite() && value.abs() > constants::data::LARGEST) {
        None => Ok(()),
        Some((place, value)) => Err(Error::invalid(
            format!("a value of statistic {}", place % simulations.statistics()),
            *value,
            "it must lie between -1e100 and 1e100; rescale the statistic, and check that the observation has the same units",
        )),
    }
}

/// Refuses what would not fit into memory, before the first fit on all simulations. What was learned from the first of them tells
/// whether few points stand for all.
fn require_memory(learned: &[Statistic], z: &Points) -> Result<(), Error> {
    let of = |dense: bool| memory::location_scale(z.rows(), learned.len(), at_once(learned.len(), z.rows()), dense);
    of(false).require()?;
    let dense = of(true);
    match dense.require() {
        Err(error) if learned.iter().any(|statistic| statistic.bends() && statistic.needs_all_of(z)) => Err(error),
        _ => Ok(()),
    }
}

/// The simulations that tell how continuous statistics move: those with the observation's pattern of exactly shared values.
fn matching(atoms: &[Atom], simulations: &Arc<Simulations>) -> Result<Arc<Simulations>, Error> {
    let found = atoms::matching(atoms, simulations).map_or_else(|| simulations.clone(), Arc::new);
    let alike = found.successful_rows().len();
    if alike < constants::data::FEWEST && alike < simulations.successful_rows().len() {
        return Err(Error::TooFew {
            what: "a location-scale likelihood".into(),
            reason: format!(
                "only {alike} simulations share the observation's pattern of repeated values, and {} are needed; simulate more, or use the kernel means model",
                constants::data::FEWEST
            ),
        });
    }
    Ok(found)
}

/// An error for an observation with another pattern of exactly shared values than the model was learned for.
fn require_pattern(atoms: &[Atom], y: &[f64]) -> Result<(), Error> {
    match atoms.iter().find(|atom| (y[atom.index] == atom.value) != atom.observed) {
        None => Ok(()),
        Some(atom) => {
            let requirement = format!(
                "{} is a value that many simulations share, and the model was learned for an observation {} it; learn again with this observation",
                atom.value,
                if atom.observed { "with" } else { "without" }
            );
            Err(Error::invalid(format!("observed statistic {}", atom.index + 1), y[atom.index], requirement))
        }
    }
}

fn statistics_of(question: &Question) -> Result<(&Arc<Simulations>, &[f64]), Error> {
    match (&question.recorded, &question.observation) {
        (Recorded::Statistics(simulations), Observation::Statistics(y)) => {
            question.recorded.discrepancies(&question.observation)?;
            Ok((simulations, y))
        }
        _ => Err(Error::Unavailable {
            what: "a location-scale likelihood of raw data sets".into(),
            reason: "it regresses statistics on parameters; use the kernel means model, or give statistics".into(),
        }),
    }
}
