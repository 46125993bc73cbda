//! Everything there is to decide before a fit, as data.

use super::family::{self, ModelFamily};
use super::kernel_means::learning::KernelMeansOptions;
use crate::Error;
use serde::{Deserialize, Serialize};

/// Which model to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum ModelChoice {
    /// The one with the highest leave-one-out posterior score.
    #[default]
    Auto,
    /// This one.
    Use(&'static ModelFamily),
}

/// The word for [`ModelChoice::Auto`].
const AUTO: &str = "auto";

impl ModelChoice {
    /// What a user may type: `auto`, then every model.
    pub fn names() -> Vec<&'static str> {
        std::iter::once(AUTO).chain(family::all().into_iter().map(|family| family.name)).collect()
    }

    /// The choice of this name.
    pub fn named(name: &str) -> Result<Self, Error> {
        if name == AUTO { Ok(Self::Auto) } else { family::named(name).map(Self::Use) }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => AUTO,
            Self::Use(family) => family.name,
        }
    }
}

impl TryFrom<String> for ModelChoice {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        Self::named(&name)
    }
}

impl From<ModelChoice> for &'static str {
    fn from(choice: ModelChoice) -> Self {
        choice.name()
    }
}

/// Everything there is to decide before a fit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FitOptions {
    /// Which model.
    pub model: ModelChoice,
    /// What the kernel means model learns, and the seed of every model.
    pub learn: KernelMeansOptions,
}

impl FitOptions {
    /// This model with defaults.
    pub fn of(model: ModelChoice, seed: u64) -> Self {
        Self { model, learn: KernelMeansOptions { seed, ..KernelMeansOptions::default() } }
    }

    /// For random numbers of the fit.
    pub fn seed(&self) -> u64 {
        self.learn.seed
    }
}
