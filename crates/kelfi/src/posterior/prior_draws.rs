//! The check that the simulations cover the prior, and the posterior.

use super::independent::latent;
use super::{Posterior, Representation};
use crate::Points;
use crate::checks::{Check, Status};
use crate::simulations::prior_draws::{LEVEL, PriorDraws};

/// More of the posterior than this outside the region is a guess.
const MOST_OUTSIDE: f64 = 0.25;
/// Posterior draws looked at.
const LOOKED_AT: usize = 1_000;

/// The check of a posterior from these simulations. Rounds begin with the prior and simulate where the posterior is on purpose: only a
/// posterior outside of what was simulated counts then.
pub fn check(found: &PriorDraws, posterior: &Posterior, in_rounds: bool) -> Check {
    let outside = if found.narrower() { posterior_draws(posterior).map(|z| found.outside(&z)) } else { Some(0.0) };
    let status = match outside {
        Some(share) if share > MOST_OUTSIDE => Status::Fail,
        _ if found.narrower() && !in_rounds => Status::Warn,
        _ => Status::Ok,
    };
    let message = if found.plausible() {
        "the simulated parameters are consistent with draws from the prior".to_owned()
    } else if in_rounds && status == Status::Ok {
        "rounds simulated where the posterior is, after a first round over the prior".to_owned()
    } else if found.narrower() {
        format!(
            "the simulations cover a narrower region than the prior: {:.0} % of the prior{} outside it, where nothing was simulated",
            100.0 * found.prior_outside,
            outside.map_or(" lies".to_owned(), |share| format!(" and {:.0} % of the posterior lie", 100.0 * share))
        )
    } else {
        "the simulated parameters cover the prior but are not distributed like it; models are compared and calibrated on the simulated parameters"
            .to_owned()
    };
    Check::new("prior_draws", status, found.p_value, LEVEL, message)
}

/// Draws of the posterior in z coordinates, if it can be drawn from.
fn posterior_draws(posterior: &Posterior) -> Option<Points> {
    if let Representation::Chained(chained) = posterior.form() {
        let z = chained.draws().z();
        return Some(z.select(&(0..z.rows().min(LOOKED_AT)).collect::<Vec<_>>()));
    }
    latent(posterior, LOOKED_AT, 0, &mut || true).ok().map(|drawn| drawn.0)
}
