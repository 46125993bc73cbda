//! The kinds of model there are. A new one is a folder of its own and a line in [`all`].

use super::kernel_means::KERNEL_MEANS;
use super::location_scale::LOCATION_SCALE;
use super::location_scale::frame::Frame;
use super::options::FitOptions;
use super::progress::OnProgress;
use super::summaries::SUMMARIES;
use super::{Model, Question};
use crate::Error;
use crate::simulations::Outputs;
use crate::words::meant;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, RwLock};

/// How a model is learned from a question.
pub type Learn = fn(&Question, &FitOptions, OnProgress<'_>) -> Result<Arc<dyn Model>, Error>;
/// How it is built again from its hyperparameters and, where a file has it, the record of its learning.
pub type Load = fn(&Question, &Value, Option<&Value>) -> Result<Arc<dyn Model>, Error>;

/// How it is learned in local coordinates; the last argument is asked before each longer step whether to go on.
pub type LearnIn = fn(Option<&Frame>, &Question, u64, &(dyn Fn() -> bool + Sync)) -> Result<Arc<dyn Model>, Error>;

/// How rounds are made with a kind of model.
#[derive(Clone, Copy)]
pub enum InRounds {
    /// Not at all: nothing says where it is unsure.
    Not,
    /// Fitted in local coordinates around its posterior, which is where simulations are made.
    Locally(LearnIn),
    /// Fitted to all simulations, and these made where [`Model::upper_values`] are large.
    WhereUnsure,
}

/// A kind of model.
pub struct ModelFamily {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// Its name in a sentence: "the … model".
    pub title: &'static str,
    /// How it works, in a line.
    pub summary: &'static str,
    /// The oldest format of saved models that knows it.
    pub format: u32,
    /// Whether it takes part where the choice is left open.
    pub in_auto: bool,
    /// Whether users may give some of its hyperparameters.
    pub takes_settings: bool,
    /// How it is learned.
    pub learn: Learn,
    /// How it is built again.
    pub load: Load,
    /// Whether it can be learned from such outputs.
    pub takes: fn(Outputs) -> bool,
    /// How rounds are made with it.
    pub in_rounds: InRounds,
    /// What was decided that this model has no use for, if anything.
    pub refuses: fn(&FitOptions) -> Option<&'static str>,
    /// How it says what reports need to say.
    pub words: Words,
}

/// Sentences in which models differ.
pub struct Words {
    /// What a failed simulation means to it.
    pub failures: &'static str,
    /// How a posterior without one simulation is made.
    pub left_out: &'static str,
    /// Where predictions come from; `{}` stands for how many outputs of equal weight they amount to.
    pub predicted: &'static str,
    /// What to do about a hyperparameter on a bound.
    pub at_bound: &'static str,
    /// Whether tolerances shrink as simulations are added.
    pub tolerances_have_a_trend: bool,
}

impl fmt::Debug for ModelFamily {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for ModelFamily {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ModelFamily {}

impl ModelFamily {
    /// An error for outputs that it cannot be learned from, with the models that can.
    pub fn require_taking(&self, outputs: Outputs) -> Result<(), Error> {
        if (self.takes)(outputs) {
            return Ok(());
        }
        let others = all().into_iter().filter(|family| family.in_auto && (family.takes)(outputs)).map(|family| family.title);
        let others: Vec<&str> = others.collect();
        Err(Error::Unavailable {
            what: format!("the {} model of {}", self.title, outputs.title()),
            reason: format!("it has no use for such outputs; use the {} model, or give statistics", others.join(" or the ")),
        })
    }
}

/// Models that were added at run time.
static ADDED: RwLock<Vec<&'static ModelFamily>> = RwLock::new(vec![]);

/// Every kind of model, in the order in which they are tried.
pub fn all() -> Vec<&'static ModelFamily> {
    let added = ADDED.read().unwrap_or_else(std::sync::PoisonError::into_inner);
    [&LOCATION_SCALE, &KERNEL_MEANS, &SUMMARIES].into_iter().chain(added.iter().copied()).collect()
}

/// Adds a kind of model for the rest of the process; one of a name that is taken is refused.
pub fn add(family: &'static ModelFamily) -> Result<(), Error> {
    if all().contains(&family) {
        return Err(Error::Unavailable {
            what: format!("a model named {}", family.name),
            reason: "there is one of this name already; choose another".into(),
        });
    }
    ADDED.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(family);
    Ok(())
}

/// The kind of this name.
pub fn named(name: &str) -> Result<&'static ModelFamily, Error> {
    let known = all();
    known.iter().copied().find(|family| family.name == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|family| family.name).collect();
        let hint = meant(name, names.iter().copied()).map_or_else(String::new, |meant| format!("did you mean {meant}? "));
        Error::Unavailable { what: format!("a model named {name:?}"), reason: format!("{hint}there are {}", names.join(", ")) }
    })
}
