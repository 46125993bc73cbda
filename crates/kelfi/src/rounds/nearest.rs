//! The simulations nearest to the observation: where to go on while no model can be fitted.

use crate::Error;
use crate::question::Question;
use crate::simulations::Recorded;
use crate::simulations::local_set::LocalSet;
use crate::simulations::scales::statistic_scales;

/// The share of simulations that counts as near, and the fewest of them: the covariance of ten has some width in every direction that matters.
const SHARE: f64 = 0.05;
const FEWEST: usize = 10;

/// The nearest successful simulations, by the root mean square distance in robust standard deviations of the statistics.
pub(super) fn nearest(question: &Question) -> Result<Vec<usize>, Error> {
    let Question { recorded, observation, .. } = question;
    let count = ((SHARE * recorded.theta().rows() as f64) as usize).max(FEWEST);
    let scales: Vec<f64> = match recorded {
        // What is dropped does not vary; an infinite unit leaves it out.
        Recorded::Statistics(all) => {
            statistic_scales(all).iter().map(|scale| if scale.dropped.is_none() { scale.scale } else { f64::INFINITY }).collect()
        }
        Recorded::DataSets(_) => vec![1.0],
    };
    let found = LocalSet::independent(recorded, observation, &scales, scales.len(), count)?.indices;
    if found.is_empty() { Err(Error::AllFailed { count: recorded.theta().rows() }) } else { Ok(found) }
}
