//! Which surrogate an experiment uses, as typed.

use kelfi::{FitOptions, KERNEL_MEANS, LOCATION_SCALE, ModelChoice, SUMMARIES};

/// A surrogate likelihood, or the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ModelName {
    /// The better one by the leave-one-out posterior score.
    Auto,
    /// The paper's.
    KernelMeans,
    /// Ours.
    LocationScale,
    /// Ours on learned summaries.
    Summaries,
}

impl ModelName {
    /// As typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::KernelMeans => KERNEL_MEANS.name,
            Self::LocationScale => LOCATION_SCALE.name,
            Self::Summaries => SUMMARIES.name,
        }
    }

    /// Everything learned, with this seed.
    pub fn settings(self, seed: u64) -> FitOptions {
        let choice = match self {
            Self::Auto => ModelChoice::Auto,
            Self::KernelMeans => ModelChoice::Use(&KERNEL_MEANS),
            Self::LocationScale => ModelChoice::Use(&LOCATION_SCALE),
            Self::Summaries => ModelChoice::Use(&SUMMARIES),
        };
        FitOptions::of(choice, seed)
    }
}
