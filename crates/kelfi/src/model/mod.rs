//! Models of the likelihood, learned from simulations: what every one of them offers, and those there are.

mod by_regression;
/// The kinds of model there are.
pub mod family;
/// The paper's: the kernel means likelihood.
pub mod kernel_means;
/// What leaving simulations out says.
pub mod left_out;
/// Ours: regressions of mean and spread, and the embedding for the shape of what is left.
pub mod location_scale;
/// What is decided before a fit.
pub mod options;
/// How far a fit has come.
pub mod progress;
/// A model written to JSON and read back.
pub mod saved;
/// What a model says about each statistic.
pub mod statistic_report;
/// The location-scale model of learned summaries.
pub mod summaries;
/// What every surrogate likelihood offers to posterior and samples.
pub mod surrogate;

pub use family::ModelFamily;
pub use kernel_means::{Hyperparameters, KERNEL_MEANS, KernelMeansLikelihood, Operator, PriorEmbedding};
pub use left_out::{LeftOut, Scores, Shares};
pub use location_scale::{LOCATION_SCALE, LocationScaleHyperparameters, LocationScaleLikelihood};
pub use options::{FitOptions, ModelChoice};
pub use progress::{OnProgress, Progress};
pub use statistic_report::StatisticReport;
pub use summaries::{SUMMARIES, SummariesLikelihood};
pub use surrogate::Surrogate;

use crate::question::Question;
use crate::simulations::Observation;
use crate::{Error, Points};
use location_scale::frame::Frame;
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// A model of the likelihood that was learned from a question. Posterior, samples, diagnostics, fit, command line, report and Python know
/// models by this alone.
pub trait Model: Surrogate {
    /// Its kind.
    fn family(&self) -> &'static ModelFamily;

    /// The question it answers.
    fn question(&self) -> &Question;

    /// The same fit at another observation.
    fn at(&self, observation: &Observation) -> Result<Arc<dyn Model>, Error> {
        (self.family().load)(&self.question().at(observation), &self.saved_hyperparameters(), None)
    }

    /// The same hyperparameters with these simulations only.
    fn of_part(&self, simulations: &[usize]) -> Result<Arc<dyn Model>, Error> {
        (self.family().load)(&self.question().of_part(simulations)?, &self.saved_hyperparameters(), None)
    }

    /// The same kind of model learned anew, by default settings, from these simulations only.
    fn learned_anew(&self, simulations: &[usize], seed: u64) -> Result<Arc<dyn Model>, Error> {
        let settings = FitOptions::of(ModelChoice::Use(self.family()), seed);
        (self.family().learn)(&self.question().of_part(simulations)?, &settings, &mut |_| true)
    }

    /// The oldest format of saved models that knows all it has.
    fn format(&self) -> u32 {
        self.family().format
    }

    /// Scores and shares from leaving simulations near the observation out; `draws` are of the posterior, in z coordinates, where it is
    /// known by draws.
    fn left_out(&self, _draws: &Points, _seed: u64) -> Result<LeftOut, Error> {
        Err(self.lacks("leave-one-out posteriors"))
    }

    /// The scores alone, where they cost less.
    fn scores(&self, draws: &Points, seed: u64) -> Result<Scores, Error> {
        Ok(self.left_out(draws, seed)?.scores)
    }

    /// The shares alone, where they cost less.
    fn shares(&self, draws: &Points, seed: u64) -> Result<Shares, Error> {
        Ok(self.left_out(draws, seed)?.shares)
    }

    /// Mean leave-one-out posterior score and standard error, where learning gave it already.
    fn score(&self) -> Option<(f64, f64)> {
        None
    }

    /// Tolerance and relevance of every statistic.
    fn statistic_reports(&self) -> Vec<StatisticReport> {
        vec![]
    }

    /// Learned hyperparameters that ended on a bound of their search; `None` where there was no search.
    fn at_bound(&self) -> Option<Vec<String>> {
        None
    }

    /// Whether it takes independent repeats for what they are, and not for so many statistics more.
    fn knows_repeats(&self) -> bool {
        false
    }

    /// How many simulations carry the answer, where they are weighed.
    fn carried_by(&self) -> Option<f64> {
        None
    }

    /// Outputs with weights that stand for new runs at posterior parameters; `draws` as in [`Model::left_out`].
    fn predicted(&self, _draws: &Points) -> Result<PredictedOutputs, Error> {
        Err(self.lacks("a predictive distribution"))
    }

    /// The local coordinates it was fitted in, where it has some.
    fn frame(&self) -> Option<&Frame> {
        None
    }

    /// The simulations it was fitted to: all, or those inside its region.
    fn used(&self) -> Vec<usize> {
        (0..self.question().recorded.theta().rows()).collect()
    }

    /// An output at each point in z coordinates, where it has a model of outputs.
    fn outputs_at(&self, _z: &Points, _seed: u64) -> Option<Points> {
        None
    }

    /// q(y|θ) and its standard deviation together: large where the likelihood is, or is not known to be small.
    fn upper_values(&self, _theta: &Points) -> Result<Vec<f64>, Error> {
        Err(self.lacks("an uncertainty of the likelihood"))
    }

    /// The numbers of a summary.
    fn chosen(&self) -> Chosen {
        let length_scale = vec![None; self.question().prior.dimension()];
        Chosen { objective: kernel_means::learning::Objective::LeaveOneOut, length_scale, regularization: 0.0, low_rank: None }
    }

    /// Everything learned, as a file has it.
    fn saved_hyperparameters(&self) -> Value;

    /// How it was learned, as a file has it; `None` where leaving out says it all.
    fn record(&self) -> Option<Value> {
        None
    }

    /// An error for what it does not have.
    fn lacks(&self, what: &str) -> Error {
        Error::Unavailable { what: format!("{what} of the {} model", self.family().title), reason: "this kind of model has none".into() }
    }

    /// Itself, for those who show one kind of model in detail.
    fn as_any(&self) -> &dyn Any;
}

/// Outputs with positive weights that sum to one.
#[derive(Debug, Clone)]
pub struct PredictedOutputs {
    /// One a row.
    pub outputs: Points,
    /// One for each.
    pub weights: Vec<f64>,
}

/// The hyperparameters that every model has in some form.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// By which objective.
    pub objective: kernel_means::learning::Objective,
    /// One for each parameter, in prior standard deviations; `None` where nothing changes along it.
    pub length_scale: Vec<Option<f64>>,
    /// λ.
    pub regularization: f64,
    /// What a low-rank solver reached, where there is one.
    pub low_rank: Option<kernel_means::SolverReport>,
}
