//! One free variable: a few factored places, and everything between them.

use super::{Profile, Search};
use crate::Error;
use crate::model::kernel_means::constants::evidence::{LINE_POINTS, LINE_POWER, REFINEMENTS};
use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::learning::between::{Node, regularization_slopes, top_between};
use crate::model::kernel_means::learning::choices::RegularizationChoice;
use crate::model::kernel_means::learning::learned::Counter;
use crate::optimise::Stopped;

impl Search<'_> {
    /// One free variable: w and its slope at coarse points give the whole surface between them (see [`top_between`]);
    /// the most promising places are then factored.
    pub(super) fn line(&self, counter: &mut Counter<'_>) -> Result<(Profile, Vec<Profile>, Stopped), Error> {
        let length = self.free_length();
        let range = if length { self.setting.lengths } else { REGULARIZATIONS };
        let (low, high) = (range.0.ln(), range.1.ln());
        let tied = self.setting.settings.regularization == RegularizationChoice::Tied;
        let mut points: Vec<Node> = Vec::new();
        let add = |t: f64, points: &mut Vec<Node>, counter: &mut Counter<'_>| -> Result<bool, Error> {
            let place = if length { (self.common(t), 0.0) } else { (self.common(0.0), t) };
            let Some((operator, profile)) = self.factored_profile(&place.0, place.1, counter)? else { return Ok(false) };
            let slopes = if length { operator.marginal_weight_slopes(tied) } else { regularization_slopes(&operator) };
            points.push(Node { t, profile, weights: operator.marginal_weights().to_vec(), slopes });
            points.sort_by(|a, b| a.t.total_cmp(&b.t));
            Ok(true)
        };
        for k in 0..LINE_POINTS {
            let share = (k as f64 / (LINE_POINTS - 1) as f64).powf(LINE_POWER);
            add(low + (high - low) * share, &mut points, counter)?;
        }
        for _ in 0..REFINEMENTS {
            let best = points.iter().map(|p| p.profile.value).fold(f64::NEG_INFINITY, f64::max);
            let promising = points.windows(2).filter_map(|pair| top_between(&pair[0], &pair[1], &self.tolerances));
            let Some((t, _)) = promising.filter(|top| top.1 > best + 1e-5).max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            if !add(t, &mut points, counter)? {
                break;
            }
        }
        let values: Vec<f64> = points.iter().map(|p| p.profile.value).collect();
        let top = |k: usize| (k == 0 || values[k - 1] <= values[k]) && (k + 1 == values.len() || values[k + 1] <= values[k]);
        let optima: Vec<Profile> = (0..values.len()).filter(|&k| top(k)).map(|k| points[k].profile.clone()).collect();
        let best = optima.iter().max_by(|a, b| a.value.total_cmp(&b.value)).cloned().ok_or_else(|| self.nowhere())?;
        Ok((best, optima, Stopped::Converged))
    }
}
