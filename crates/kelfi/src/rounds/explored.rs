//! A fit after a round, as far as the next one needs it: the model and draws of its posterior.

use super::nearest::nearest;
use crate::chains::slice_chains::Chains;
use crate::model::family::{InRounds, LearnIn, all};
use crate::model::location_scale::constants::many::ALL_AT_ONCE;
use crate::model::location_scale::frame::Frame;
use crate::model::location_scale::frames::around_modes;
use crate::model::location_scale::inputs::{inputs, seen};
use crate::model::{Model, ModelFamily, OnProgress, Progress};
use crate::question::Question;
use crate::samples::independent;
use crate::{Error, FitOptions, ModelChoice, Points, Posterior};
use std::sync::{Arc, Mutex};

/// Draws of the posterior that the next round rests on.
const DRAWS: usize = 2_000;
/// Fits after a round, at most: a frame that turns out to be elsewhere or of another size is fitted in anew.
const FITS: usize = 3;
/// Simulations a frame must hold, and so many more for every parameter.
const FEWEST: usize = 20;
const FOR_EACH_PARAMETER: usize = 4;

/// A model and draws of its posterior, in z coordinates.
#[derive(Debug, Clone)]
pub(super) struct Explored {
    /// Why there is none: the simulations were too few, or too far from the observation.
    pub model: Result<Arc<dyn Model>, Error>,
    /// Without a model, the simulations nearest to the observation.
    pub draws: Points,
    /// Independent draws they are worth.
    pub effective: f64,
    /// The frame around these draws, to fit in next.
    pub next_frame: Option<Frame>,
}

/// Whether rounds can be made with this choice of model.
pub fn available(model: ModelChoice) -> bool {
    match model {
        ModelChoice::Auto => true,
        ModelChoice::Use(family) => !matches!(family.in_rounds, InRounds::Not),
    }
}

pub(super) fn unavailable(family: &ModelFamily) -> Error {
    Error::Unavailable {
        what: format!("rounds with the {} model", family.title),
        reason: "this model cannot say where to simulate next; use one round, or another model".into(),
    }
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub question: &'a Question,
    pub settings: &'a FitOptions,
}

impl Asked<'_> {
    /// The fit after a round, in local coordinates that begin with `frame`.
    pub fn explore(&self, frame: Option<&Frame>, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        let outputs = self.question.recorded.outputs();
        if let ModelChoice::Use(family) = self.settings.model {
            family.require_taking(outputs)?;
        }
        let families: Vec<&ModelFamily> = match self.settings.model {
            ModelChoice::Use(family) => vec![family],
            // A setting that was given may be one that only some have.
            ModelChoice::Auto => {
                let open =
                    |family: &&'static ModelFamily| family.in_auto && (family.takes)(outputs) && (family.refuses)(self.settings).is_none();
                all().into_iter().filter(open).map(|family| family as &ModelFamily).collect()
            }
        };
        let mut failure = None;
        for family in families {
            match self.explore_with(family, frame, &mut *on_progress) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => failure = Some(error),
                found => return found,
            }
        }
        match failure.unwrap_or_else(|| unreachable!("there is a model that refuses nothing")) {
            error if error.asks_for_simulations() => self.without_model(error),
            error => Err(error),
        }
    }

    fn explore_with(&self, family: &ModelFamily, frame: Option<&Frame>, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        match family.in_rounds {
            InRounds::Locally(learn_in) => self.locally(learn_in, frame, on_progress),
            InRounds::WhereUnsure => self.everywhere(family, on_progress),
            InRounds::Not => Err(unavailable(family)),
        }
    }

    /// Where no model can be fitted yet, the next round is made around the nearest simulations, as in approximate Bayesian computation.
    fn without_model(&self, error: Error) -> Result<Explored, Error> {
        let Question { prior, recorded, .. } = self.question;
        let draws = prior.to_latent_points(&recorded.theta().select(&nearest(self.question)?))?;
        Ok(Explored { model: Err(error), effective: draws.rows() as f64, draws, next_frame: None })
    }

    fn everywhere(&self, family: &ModelFamily, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        let model = (family.learn)(self.question, self.settings, on_progress)?;
        let posterior = Posterior::new(model.clone(), self.settings.seed())?;
        let drawn = independent(&posterior, DRAWS, self.settings.learn.seed)?;
        let draws = self.question.prior.to_latent_points(&drawn.samples)?;
        Ok(Explored { model: Ok(model), draws, effective: drawn.effective_sample_size, next_frame: None })
    }

    fn locally(&self, learn_in: LearnIn, frame: Option<&Frame>, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        let steps = Mutex::new((on_progress, 0));
        let go_on = || {
            let mut steps = steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            steps.1 += 1;
            let progress = Progress { done: steps.1, expected: steps.1 + 1, best: f64::NAN };
            (steps.0)(progress)
        };
        let mut frame = frame.map(|frame| self.holding_enough(frame.clone())).transpose()?;
        let mut fits = 0;
        loop {
            let found = match (self.in_frame(learn_in, frame.as_ref(), &go_on), &frame) {
                (Err(Error::Interrupted), _) => return Err(Error::Interrupted),
                (Err(_), Some(several)) if !several.others.is_empty() => self.in_frame(learn_in, None, &go_on)?,
                (found, _) => found?,
            };
            fits += 1;
            let next = found.next_frame.as_ref().map(|next| self.holding_enough(next.clone())).transpose()?;
            let again = match (&frame, &next) {
                (Some(frame), Some(next)) => fits < FITS && !next.is_like(frame),
                _ => false,
            };
            if !again {
                return Ok(found);
            }
            frame = next;
        }
    }

    /// The model in one frame and draws of its posterior.
    fn in_frame(&self, learn_in: LearnIn, frame: Option<&Frame>, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Explored, Error> {
        let seed = self.settings.learn.seed;
        let thinned = frame.map(|frame| self.thinned(frame)).transpose()?;
        let model = learn_in(thinned.as_ref(), self.question, seed, go_on)?;
        let drawn = Chains::new(model.as_ref(), seed, &mut || go_on())?.draw(model.as_ref(), DRAWS, seed, &mut || go_on())?;
        let effective = drawn.effective.iter().copied().fold(DRAWS as f64, f64::min);
        let simulated = self.question.prior.to_latent_points(self.question.recorded.theta())?;
        let next_frame = around_modes(&drawn.z, &self.question.prior, &simulated, frame);
        Ok(Explored { model: Ok(model), draws: drawn.z, effective, next_frame: Some(next_frame) })
    }

    /// The same frame with no more simulations in its regions than are fitted to at once.
    fn thinned(&self, frame: &Frame) -> Result<Frame, Error> {
        let Question { prior, recorded, .. } = self.question;
        if recorded.theta().rows() <= ALL_AT_ONCE {
            return Ok(frame.clone());
        }
        let seen = seen(&inputs(prior), &prior.to_latent_points(recorded.theta())?);
        Ok(frame.thinned(ALL_AT_ONCE / (1 + frame.others.len()), recorded.theta(), &seen))
    }

    /// The same frame, its region so large that it holds enough simulations to fit to.
    fn holding_enough(&self, frame: Frame) -> Result<Frame, Error> {
        if !frame.others.is_empty() {
            return Ok(frame);
        }
        let fewest = FEWEST + FOR_EACH_PARAMETER * self.question.prior.dimension();
        let Question { prior, recorded, .. } = self.question;
        Ok(frame.holding(fewest, &prior.to_latent_points(recorded.theta())?, prior))
    }
}
