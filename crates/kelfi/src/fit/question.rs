//! What is asked of the models: one of them, or both and then the better one.

use super::{Comparison, Fit, FitSettings, FittedModel};
use crate::model::kernel_means::learning::learned::{OnProgress, Progress};
use crate::model::kernel_means::learning::local_score;
use crate::model::{Kind, LocationScaleLikelihood};
use crate::posterior::Form;
use crate::simulations::local_set::weighted_mean;
use crate::simulations::same_theta::require_different;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Inference, Posterior, Prior};
use std::sync::{Arc, Mutex};

/// Steps of the chains and the leave-one-out posteriors, for progress bars.
const STEPS_OF_CHAINS: usize = 115;

/// What is asked of either model.
pub(super) struct Question<'a> {
    pub recorded: &'a Recorded,
    pub observation: &'a Observation,
    pub prior: &'a Prior,
    pub settings: &'a FitSettings,
}

impl Question<'_> {
    /// The kernel means model.
    pub fn kernel_means(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        let Inference { posterior, model, learned } =
            Inference::new(self.recorded, self.observation, self.prior, &self.settings.learn, on_progress)?;
        let model = FittedModel::KernelMeans { likelihood: model, learned: Box::new(learned) };
        Ok(Fit::of(posterior, model, self.observation, self.settings.learn.seed))
    }

    /// The location-scale model.
    pub fn location_scale(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        require_different(self.recorded.theta())?;
        let seed = self.settings.learn.seed;
        let statistics = if let Observation::Statistics(y) = self.observation { y.len() } else { 0 };
        let steps = Mutex::new((on_progress, 0));
        let go_on = || {
            let mut steps = steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            steps.1 += 1;
            let progress = Progress { done: steps.1, expected: (statistics + STEPS_OF_CHAINS).max(steps.1), best: f64::NAN };
            (steps.0)(progress)
        };
        let model = Arc::new(LocationScaleLikelihood::learn(self.recorded, self.observation, self.prior, seed, &go_on)?);
        finished(model, seed, &go_on)
    }

    /// Both, then the one with the higher score; the only one that works where the other does not.
    pub fn better(&self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        let ours = match self.location_scale(&mut *on_progress) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                let reason = format!("the location-scale model cannot be used here: {}", in_a_line(&error));
                return self.kernel_means(on_progress).map(|fit| fit.alone(Kind::KernelMeans, reason));
            }
            Ok(fit) => fit,
        };
        let papers = match self.kernel_means(on_progress) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                let reason = format!("the kernel means model cannot be used here: {}", in_a_line(&error));
                return Ok(ours.alone(Kind::LocationScale, reason));
            }
            Ok(fit) => fit,
        };
        let comparison = self.compare(&papers, &ours)?;
        let chosen = if comparison.chosen == Kind::KernelMeans { papers } else { ours };
        Ok(Fit { comparison: Some(comparison), ..chosen })
    }

    fn compare(&self, papers: &Fit, ours: &Fit) -> Result<Comparison, Error> {
        let (Some((model, _)), Some((_, left_out))) = (papers.kernel_means(), ours.location_scale()) else {
            unreachable!("each fit is of its own kind")
        };
        let (local, scored) = local_score(model, self.observation, self.settings.learn.seed)?;
        let of = |row: usize| local.indices.iter().position(|i| *i == left_out.indices[row]).map(|place| (row, scored.of_each[place]));
        let common: Vec<(usize, f64)> = (0..left_out.indices.len()).filter_map(of).collect();
        if common.is_empty() {
            return Err(Error::Unavailable {
                what: "comparing the models".into(),
                reason: "they tried different simulations as observations".into(),
            });
        }
        let all = common.len() == left_out.indices.len();
        let total: f64 = if all { 1.0 } else { common.iter().map(|(row, _)| left_out.weights[*row]).sum() };
        let weights: Vec<f64> = common.iter().map(|(row, _)| left_out.weights[*row] / total).collect();
        let theirs: Vec<f64> = common.iter().map(|(_, score)| *score).collect();
        let own: Vec<f64> = common.iter().map(|(row, _)| left_out.scores[*row]).collect();
        let gains: Vec<f64> = own.iter().zip(&theirs).map(|(a, b)| a - b).collect();
        let (kernel_means, location_scale) = (weighted_mean(&theirs, &weights), weighted_mean(&own, &weights));
        let difference = weighted_mean(&gains, &weights);
        let chosen = if difference.0 > 0.0 { Kind::LocationScale } else { Kind::KernelMeans };
        let reason = format!(
            "it gives the true parameters of {} simulations near the observation {:.2} ± {:.2} nats more posterior density",
            gains.len(),
            difference.0.abs(),
            difference.1
        );
        Ok(Comparison {
            chosen,
            reason,
            kernel_means: Some(kernel_means),
            location_scale: Some(location_scale),
            difference: Some(difference),
        })
    }
}

/// The posterior of a location-scale model, and what leaving simulations out says.
pub(super) fn finished(model: Arc<LocationScaleLikelihood>, seed: u64, go_on: &dyn Fn() -> bool) -> Result<Fit, Error> {
    let posterior = Posterior::with_progress(model.clone(), seed, &mut || go_on())?;
    let Form::Chained(chained) = posterior.form() else {
        return Err(Error::Unavailable {
            what: "the location-scale model".into(),
            reason: "this prior is known by its draws only; give it as a distribution, or use the kernel means model".into(),
        });
    };
    let left_out = model.leave_one_out(chained.draws().z(), seed)?;
    let observation = Observation::Statistics(model.observation().to_vec());
    Ok(Fit::of(posterior, FittedModel::LocationScale { likelihood: model, left_out }, &observation, seed))
}

/// The fact and the advice of an error one after the other; memory needs no advice where the other model does.
fn in_a_line(error: &Error) -> String {
    let text = error.to_string();
    match error {
        Error::Memory(_) => text.lines().next().unwrap_or_default().to_owned(),
        _ => text.replace("\n  ", "; "),
    }
}
