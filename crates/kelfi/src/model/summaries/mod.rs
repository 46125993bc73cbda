//! Learned summaries: a regression of the parameters on the statistics makes a few numbers of many, and the location-scale model is fitted to these.
//!
//! q(y|θ) = q_ls( s(y) | θ ), s of [`regressions`]. Where statistics depend on one another (quantiles, histograms, raw draws of one data set),
//! errors of n means and spreads grow along directions of little noise once residuals are whitened; D summaries have few such directions.
//! What statistics say beyond their summaries is lost: a candidate, never a rule.
//!
//! Reports, predictions and the question whether the observation is possible at all are about the statistics themselves: a location-scale
//! model of these stands beside it ([`statistics`]).

mod constants;
mod model;
mod regressions;
mod scaling;
mod statistics;
mod surrogate;
mod validity;

use constants::{FEWEST, MOST};
pub use model::SUMMARIES;
pub use regressions::{Summaries, SummaryHyperparameters};

use crate::model::location_scale::frame::Frame;
use crate::model::location_scale::inputs::{framed, inputs, seen};
use crate::model::{LocationScaleHyperparameters, LocationScaleLikelihood};
use crate::question::Question;
use crate::simulations::same_theta::SameTheta;
use crate::simulations::{Observation, Recorded, Simulations};
use crate::{Error, Points};
use serde::{Deserialize, Serialize};
use statistics::OfStatistics;
use std::sync::Arc;

/// Everything learned: enough to build the model again without a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummariesHyperparameters {
    /// How each summary is made.
    pub summaries: Vec<SummaryHyperparameters>,
    /// The model of the summaries.
    pub of_summaries: LocationScaleHyperparameters,
    /// The model of the statistics beside it, where there is one.
    pub of_statistics: Option<LocationScaleHyperparameters>,
}

/// The location-scale kernel means likelihood of learned summaries at one observation.
#[derive(Debug, Clone)]
pub struct SummariesLikelihood {
    question: Question,
    summaries: Arc<Summaries>,
    inner: LocationScaleLikelihood,
    statistics: Arc<OfStatistics>,
}

impl SummariesLikelihood {
    /// Learns everything, in local coordinates where a frame is given. `go_on` is asked before each longer step.
    pub fn learn_in(frame: Option<&Frame>, question: &Question, seed: u64, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Self, Error> {
        let rows = Rows::of(question, frame)?;
        let summaries = Summaries::learn(&rows.outputs()?, &rows.targets, go_on)?;
        let inner = LocationScaleLikelihood::learn_in(frame, &rows.summarised(question, &summaries)?, seed, go_on)?;
        Ok(Self {
            statistics: Arc::new(OfStatistics::to_be_learned(question, frame, seed)),
            question: question.clone(),
            summaries: Arc::new(summaries),
            inner,
        })
    }

    /// Builds the model with everything chosen already.
    pub fn new(question: &Question, hyperparameters: &SummariesHyperparameters) -> Result<Self, Error> {
        let of_summaries = &hyperparameters.of_summaries;
        let frame = of_summaries.frame.as_ref();
        let rows = Rows::of(question, frame)?;
        let summaries = Summaries::new(&rows.outputs()?, &rows.targets, &hyperparameters.summaries)?;
        let inner = LocationScaleLikelihood::new(&rows.summarised(question, &summaries)?, of_summaries)?;
        let statistics = match &hyperparameters.of_statistics {
            Some(chosen) => OfStatistics::chosen(question, chosen),
            None => OfStatistics::to_be_learned(question, frame, of_summaries.seed),
        };
        Ok(Self { statistics: Arc::new(statistics), question: question.clone(), summaries: Arc::new(summaries), inner })
    }

    /// The same fit at another observation.
    pub fn condition(&self, observation: &Observation) -> Result<Self, Error> {
        let question = self.question.at(observation);
        let inner = self.inner.condition(&summary_of(&question, &self.summaries)?)?;
        Ok(Self { question, inner, ..self.clone() })
    }

    /// The same summaries and hyperparameters with these simulations only.
    pub fn on_part(&self, simulations: &[usize]) -> Result<Self, Error> {
        let question = self.question.of_part(simulations)?;
        let statistics = OfStatistics::to_be_learned(&question, self.frame(), self.inner.hyperparameters().seed);
        Ok(Self { inner: self.inner.on_part(simulations)?, question, summaries: self.summaries.clone(), statistics: Arc::new(statistics) })
    }

    /// What was learned.
    pub fn hyperparameters(&self) -> SummariesHyperparameters {
        SummariesHyperparameters {
            summaries: self.summaries.hyperparameters().to_vec(),
            of_summaries: self.inner.hyperparameters().clone(),
            of_statistics: self.statistics.hyperparameters(),
        }
    }

    /// The summaries.
    pub fn summaries(&self) -> &Summaries {
        &self.summaries
    }

    /// The model of the summaries.
    pub fn of_summaries(&self) -> &LocationScaleLikelihood {
        &self.inner
    }

    /// The model of the statistics at this observation.
    pub fn of_statistics(&self) -> Result<LocationScaleLikelihood, Error> {
        self.statistics.at(&self.question.observation)
    }

    fn frame(&self) -> Option<&Frame> {
        self.inner.hyperparameters().frame.as_ref()
    }
}

fn require_single(simulations: &Simulations) -> Result<(), Error> {
    if simulations.outputs().rows() == simulations.len() && SameTheta::new(simulations.theta()).count() == simulations.len() {
        return Ok(());
    }
    Err(Error::Unavailable {
        what: "learned summaries".into(),
        reason: "several outputs were simulated at the same parameters, which a prediction without one of them would know; use the location-scale model".into(),
    })
}

/// The observation, summarised.
fn summary_of(question: &Question, summaries: &Summaries) -> Result<Observation, Error> {
    question.recorded.discrepancies(&question.observation)?;
    let y = question.observed().unwrap_or_default();
    Ok(Observation::Statistics(summaries.of(&Points::from_rows(&[y])?).row(0).to_vec()))
}

/// The simulations that summaries are made with.
struct Rows<'a> {
    simulations: &'a Arc<Simulations>,
    used: Vec<usize>,
    /// The parameters of each, as regressions see them.
    targets: Points,
}

impl<'a> Rows<'a> {
    /// The successful ones inside the regions of the frame.
    fn of(question: &'a Question, frame: Option<&Frame>) -> Result<Self, Error> {
        let Recorded::Statistics(simulations) = &question.recorded else {
            return Err(Error::Unavailable {
                what: "learned summaries of raw data sets".into(),
                reason: "parameters are regressed on statistics; use the kernel means model, or give statistics".into(),
            });
        };
        question.recorded.discrepancies(&question.observation)?;
        require_single(simulations)?;
        let (prior, inputs) = (&question.prior, inputs(&question.prior));
        let z = prior.to_latent_points(simulations.theta())?;
        let points = seen(&inputs, &z);
        let held: Vec<Vec<bool>> = frame.map(Frame::regions).unwrap_or_default().iter().map(|region| region.holds(&points)).collect();
        let inside = |j: usize| held.is_empty() || held.iter().any(|held| held[j]);
        let used: Vec<usize> = (0..simulations.len()).filter(|&j| !simulations.failed()[j] && inside(j)).take(MOST).collect();
        if used.len() < FEWEST {
            let requirement = format!("learned summaries need at least {FEWEST}; simulate more, or use the location-scale model");
            return Err(Error::invalid("number of successful simulations", used.len() as f64, requirement));
        }
        // One set of local coordinates where there is one region; several are seen from afar.
        let local = frame.filter(|frame| frame.others.is_empty());
        let targets = framed(&inputs, local, &z).select(&used);
        Ok(Self { simulations, used, targets })
    }

    fn outputs(&self) -> Result<Points, Error> {
        let outputs = self.simulations.outputs().select(&self.used);
        outputs.require_finite("the statistics")?;
        Ok(outputs)
    }

    /// The same question about the summaries.
    fn summarised(&self, question: &Question, summaries: &Summaries) -> Result<Question, Error> {
        let (all, columns) = (self.simulations, summaries.count());
        let mut outputs = Points::new(vec![f64::NAN; all.len() * columns], all.len(), columns)?;
        let successful = all.successful_rows();
        let found = summaries.of(&all.outputs().select(&successful));
        successful.iter().zip(found.iter()).for_each(|(&row, summary)| outputs.row_mut(row).copy_from_slice(summary));
        let left_out = summaries.left_out();
        self.used.iter().zip(left_out.iter()).for_each(|(&row, summary)| outputs.row_mut(row).copy_from_slice(summary));
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(all.theta().clone(), outputs)?));
        Ok(Question::new(&question.prior, &recorded, &summary_of(question, summaries)?))
    }
}
