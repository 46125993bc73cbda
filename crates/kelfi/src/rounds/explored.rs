//! A fit after a round, as far as the next one needs it: the model and draws of its posterior.

use crate::model::kernel_means::learning::learn;
use crate::model::location_scale::frame::Frame;
use crate::model::{KERNEL_MEANS, KernelMeansLikelihood, LOCATION_SCALE, LocationScaleLikelihood, ModelFamily, OnProgress, Progress};
use crate::posterior::modes;
use crate::posterior::slice_chains::Chains;
use crate::question::Question;
use crate::samples::independent;
use crate::{Error, FitSettings, ModelChoice, Points, Posterior};
use std::sync::{Arc, Mutex};

/// Draws of the posterior that the next round rests on.
const DRAWS: usize = 2_000;
/// Fits after a round, at most: a frame that turns out to be elsewhere or of another size is fitted in anew.
const FITS: usize = 3;
/// Simulations a frame must hold, and so many more for every parameter.
const FEWEST: usize = 20;
const FOR_EACH_PARAMETER: usize = 4;

/// With several regions each must hold this many, and so many more for every parameter; there are no more regions than this.
const FEWEST_OF_SEVERAL: usize = 30;
const MORE_OF_SEVERAL: usize = 8;
const MOST_REGIONS: usize = 6;

/// A model and draws of its posterior, in z coordinates.
#[derive(Debug, Clone)]
pub(super) struct Explored {
    pub model: Modelled,
    pub draws: Points,
    /// Independent draws they are worth.
    pub effective: f64,
    /// The frame around these draws, to fit in next.
    pub next_frame: Option<Frame>,
}

/// A fitted model without the account of how it was learned.
#[derive(Debug, Clone)]
pub(super) enum Modelled {
    LocationScale(Arc<LocationScaleLikelihood>),
    KernelMeans(Box<KernelMeansFit>),
}

/// A kernel means model and its posterior.
#[derive(Debug, Clone)]
pub(super) struct KernelMeansFit {
    pub model: Arc<KernelMeansLikelihood>,
    pub posterior: Posterior,
}

/// Whether rounds can be made with this choice of model.
pub fn available(model: ModelChoice) -> bool {
    match model {
        ModelChoice::Auto => true,
        ModelChoice::Use(family) => [&KERNEL_MEANS, &LOCATION_SCALE].contains(&family),
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
    pub settings: &'a FitSettings,
}

impl Asked<'_> {
    /// The fit after a round, in local coordinates that begin with `frame`.
    pub fn explore(&self, frame: Option<&Frame>, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        let outputs = self.question.recorded.outputs();
        if let ModelChoice::Use(family) = self.settings.model {
            family.require_taking(outputs)?;
        }
        match self.settings.model {
            ModelChoice::Use(family) if family == &KERNEL_MEANS => self.kernel_means(on_progress),
            ModelChoice::Use(family) if family == &LOCATION_SCALE => self.location_scale(frame, on_progress),
            ModelChoice::Use(family) => Err(unavailable(family)),
            // A tolerance or another setting was given that only the kernel means model has.
            ModelChoice::Auto if (LOCATION_SCALE.refuses)(self.settings).is_some() || !(LOCATION_SCALE.takes)(outputs) => {
                self.kernel_means(on_progress)
            }
            ModelChoice::Auto => match self.location_scale(frame, &mut *on_progress) {
                Err(Error::Interrupted) => Err(Error::Interrupted),
                Err(_) => self.kernel_means(on_progress),
                found => found,
            },
        }
    }

    fn kernel_means(&self, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
        let model = Arc::new(learn(self.question, &self.settings.learn, on_progress)?.0);
        let found = KernelMeansFit { posterior: Posterior::new(model.clone(), self.settings.seed())?, model };
        let drawn = independent(&found.posterior, DRAWS, self.settings.learn.seed)?;
        let draws = self.question.prior.to_latent_points(&drawn.samples)?;
        Ok(Explored { model: Modelled::KernelMeans(Box::new(found)), draws, effective: drawn.effective_sample_size, next_frame: None })
    }

    fn location_scale(&self, frame: Option<&Frame>, on_progress: OnProgress<'_>) -> Result<Explored, Error> {
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
            let found = match (self.in_frame(frame.as_ref(), &go_on), &frame) {
                (Err(Error::Interrupted), _) => return Err(Error::Interrupted),
                (Err(_), Some(several)) if !several.others.is_empty() => self.in_frame(None, &go_on)?,
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
    fn in_frame(&self, frame: Option<&Frame>, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Explored, Error> {
        let seed = self.settings.learn.seed;
        let model = LocationScaleLikelihood::learn_in(frame, self.question, seed, go_on)?;
        let drawn = Chains::new(&model, seed, &mut || go_on())?.draw(&model, DRAWS, seed, &mut || go_on())?;
        let effective = drawn.effective.iter().copied().fold(DRAWS as f64, f64::min);
        let next_frame = self.frame_around(&drawn.z, frame)?;
        Ok(Explored { model: Modelled::LocationScale(Arc::new(model)), draws: drawn.z, effective, next_frame: Some(next_frame) })
    }

    /// The frame around draws of a posterior: one for each mode where all are narrower than the prior and hold enough simulations of their own.
    fn frame_around(&self, draws: &Points, earlier: Option<&Frame>) -> Result<Frame, Error> {
        let mut parts = modes::parts(draws);
        parts.sort_by_key(|part| std::cmp::Reverse(part.rows()));
        let frames: Vec<Frame> = parts.iter().map(|part| Frame::of_posterior(part, &self.question.prior, None)).collect();
        let enough = FEWEST_OF_SEVERAL + MORE_OF_SEVERAL * self.question.prior.dimension();
        if (2..=MOST_REGIONS).contains(&frames.len())
            && frames.iter().all(Frame::is_local)
            && let Some(several) = Frame::of_several(&frames)
            && self.held(&several)?.into_iter().all(|held| held >= enough)
        {
            return Ok(several);
        }
        Ok(Frame::of_posterior(draws, &self.question.prior, earlier.filter(|frame| frame.others.is_empty())))
    }

    /// Simulations in each region.
    fn held(&self, frame: &Frame) -> Result<Vec<usize>, Error> {
        let Question { prior, recorded, .. } = self.question;
        let z = prior.to_latent_points(recorded.theta())?;
        Ok(frame.regions().iter().map(|region| region.held(&z, prior)).collect())
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

impl Explored {
    /// The local coordinates it was fitted in.
    pub fn frame(&self) -> Option<&Frame> {
        match &self.model {
            Modelled::LocationScale(model) => model.hyperparameters().frame.as_ref(),
            Modelled::KernelMeans(_) => None,
        }
    }

    /// How many simulations the posterior rests on.
    pub fn used(&self) -> usize {
        match &self.model {
            Modelled::LocationScale(model) => model.used().len(),
            Modelled::KernelMeans(found) => found.model.recorded().theta().rows(),
        }
    }
}
