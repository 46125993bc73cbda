//! What is learned, what is fixed, and by which objective.

use crate::kernel::Family;
use crate::solver::SolverChoice;
use serde::{Deserialize, Serialize};

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Objective {
    /// The leave-one-out posterior score: the default.
    #[default]
    #[serde(rename = "loo")]
    LeaveOneOut,
    /// The paper's: ln q(y), the marginal kernel means likelihood.
    #[serde(rename = "mkml")]
    Evidence,
}

/// How the tolerances are found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpsilonChoice {
    /// These: one for all statistics, or one each, in their units.
    Fixed(Vec<f64>),
    /// One for all, in the units of [`Units`].
    Isotropic,
    /// One each (automatic relevance determination), started from the best common one. The default.
    #[default]
    PerStatistic,
}

/// How the length scales are found, in prior standard deviations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthScaleChoice {
    /// These: one for all parameters, or one each.
    Fixed(Vec<f64>),
    /// One for all: β_d = β₀ in units of the prior's standard deviation. The default.
    #[default]
    Isotropic,
    /// One each, started from the best common one.
    PerParameter,
}

/// How λ is found.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegularizationChoice {
    /// This one.
    Fixed(f64),
    /// 10⁻³ β₀, as in the paper's experiments.
    Tied,
    /// Learned with the rest. The default.
    #[default]
    Free,
}

/// What a common tolerance is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// The robust spread of each statistic: rescaling a statistic changes nothing. The default.
    #[default]
    Robust,
    /// The statistics as they are, as in the paper's experiments.
    Raw,
}

/// Everything that steers learning.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KernelMeansOptions {
    /// What is maximised.
    pub objective: Objective,
    /// How ε is found.
    pub epsilon: EpsilonChoice,
    /// How β is found.
    pub length_scale: LengthScaleChoice,
    /// How λ is found.
    pub regularization: RegularizationChoice,
    /// What a common ε is measured in.
    pub units: Units,
    /// Shape of the kernel on parameters.
    pub family: Family,
    /// How L + mλI is solved.
    #[serde(default, skip_serializing_if = "SolverChoice::is_auto")]
    pub solver: SolverChoice,
    /// For random starts and integration points.
    pub seed: u64,
}

impl KernelMeansOptions {
    /// The paper's experiments: ln q(y) over one ε on the raw statistics and one β₀, λ = 10⁻³ β₀.
    pub fn paper() -> Self {
        Self {
            objective: Objective::Evidence,
            epsilon: EpsilonChoice::Isotropic,
            regularization: RegularizationChoice::Tied,
            units: Units::Raw,
            ..Self::default()
        }
    }
}
