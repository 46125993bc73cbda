//! The location-scale model of the statistics themselves, made when it is first asked for: what summaries leave out is looked at there.

use crate::Error;
use crate::model::location_scale::frame::Frame;
use crate::model::{LocationScaleHyperparameters, LocationScaleLikelihood};
use crate::question::Question;
use crate::simulations::Observation;
use std::sync::OnceLock;

/// How it is made.
#[derive(Debug)]
enum Make {
    Learn { frame: Option<Frame>, seed: u64 },
    Build(Box<LocationScaleHyperparameters>),
}

/// A model to be made of a question.
#[derive(Debug)]
pub struct OfStatistics {
    question: Question,
    make: Make,
    made: OnceLock<Result<LocationScaleLikelihood, Error>>,
}

impl OfStatistics {
    /// Nothing is chosen yet.
    pub fn to_be_learned(question: &Question, frame: Option<&Frame>, seed: u64) -> Self {
        Self { question: question.clone(), make: Make::Learn { frame: frame.cloned(), seed }, made: OnceLock::new() }
    }

    /// Everything is chosen.
    pub fn chosen(question: &Question, hyperparameters: &LocationScaleHyperparameters) -> Self {
        Self { question: question.clone(), make: Make::Build(Box::new(hyperparameters.clone())), made: OnceLock::new() }
    }

    fn get(&self) -> Result<&LocationScaleLikelihood, Error> {
        let make = || match &self.make {
            Make::Learn { frame, seed } => LocationScaleLikelihood::learn_in(frame.as_ref(), &self.question, *seed, &|| true),
            Make::Build(hyperparameters) => LocationScaleLikelihood::new(&self.question, hyperparameters),
        };
        self.made.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// At an observation.
    pub fn at(&self, observation: &Observation) -> Result<LocationScaleLikelihood, Error> {
        let made = self.get()?;
        if *observation == self.question.observation { Ok(made.clone()) } else { made.condition(observation) }
    }

    /// What was chosen; `None` where it cannot be made.
    pub fn hyperparameters(&self) -> Option<LocationScaleHyperparameters> {
        self.get().ok().map(|model| model.hyperparameters().clone())
    }
}
