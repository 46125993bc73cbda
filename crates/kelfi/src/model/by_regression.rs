//! What all models share that regress statistics on parameters: what they need, and how they tell how far they are.

use super::{Model, OnProgress, Progress};
use crate::Error;
use crate::prior::LatentPrior;
use crate::question::Question;
use crate::simulations::same_theta::require_different;
use std::sync::{Arc, Mutex};

/// Steps of the chains and the leave-one-out posteriors that follow, for progress bars.
const STEPS_OF_CHAINS: usize = 115;

/// Learns `what` ("the … model") in about this many steps; `learn` asks before each longer one whether to go on.
pub fn learn_by_regression<M: Model + 'static>(
    what: &str,
    steps: usize,
    question: &Question,
    on_progress: OnProgress<'_>,
    learn: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<M, Error>,
) -> Result<Arc<dyn Model>, Error> {
    require_different(question.recorded.theta())?;
    if matches!(question.prior.latent(), LatentPrior::Draws(_)) {
        return Err(Error::Unavailable {
            what: what.into(),
            reason: "this prior is given only as draws; give it as a distribution, or use the kernel means model".into(),
        });
    }
    let expected = steps + STEPS_OF_CHAINS;
    let steps = Mutex::new((on_progress, 0));
    let go_on = || {
        let mut steps = steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        steps.1 += 1;
        let progress = Progress { done: steps.1, expected: expected.max(steps.1), best: f64::NAN };
        (steps.0)(progress)
    };
    Ok(Arc::new(learn(&go_on)?))
}
