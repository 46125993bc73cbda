//! Everything that is learned of a location-scale model, as it is saved.

use super::frame::Frame;
use super::moving::MovingPair;
use super::regression::RegressionHyperparameters;
use super::shape::ShapeHyperparameters;
use super::statistic::StatisticHyperparameters;
use super::{Atom, Counts, Input};
use serde::{Deserialize, Serialize};

/// Everything learned: enough to build the model again without a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocationScaleHyperparameters {
    /// For noise, where that makes counts continuous.
    pub seed: u64,
    /// How counts are made continuous; by noise in files from before there was a choice.
    #[serde(default)]
    pub counts: Counts,
    /// Values that count as outcomes of their own; none in files from before they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub atoms: Vec<Atom>,
    /// How each parameter enters; empty in files from before there was a choice, where all entered as z.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Local coordinates; none for a model of all of the prior.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// Models of the regions of other modes, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Self>,
    /// How many independent repeats outputs were found to be, though nobody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_repeats: Option<usize>,
    /// One entry per statistic that takes part.
    pub statistics: Vec<StatisticHyperparameters>,
    /// The shape of the residuals.
    pub shape: ShapeHyperparameters,
    /// Shapes of each statistic's residuals, used instead where there are some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<ShapeHyperparameters>,
    /// Pairs of statistics whose residuals' correlation moves with θ; none in files from before it could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moving: Vec<MovingPair>,
    /// How the spread that all statistics share moves with θ; none in files from before it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common_spread: Option<RegressionHyperparameters>,
    /// The regression of success on θ, where some simulations failed.
    pub success: Option<RegressionHyperparameters>,
    /// Mean leave-one-out log density of the residuals.
    pub shape_score: f64,
}
