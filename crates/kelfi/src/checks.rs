//! Checks: numbers that say whether the result can be trusted, each with its limit and what to do.

use serde::{Deserialize, Serialize};

/// Posterior mass in the tail that is worth a warning.
const TAIL_MASS: f64 = 0.1;
/// Simulations like the observation that regressions should have.
const LEAST_ALIKE: usize = 50;
/// An observation is called out of reach where fewer simulations than this share are expected as far from their predictions, and impossible.
const REACH_WARN: f64 = 4e-3;
const REACH_FAIL: f64 = 1e-5;
/// What the model leaves out may change the posterior by this many standard deviations.
const LARGEST_CHANGE: f64 = 0.25;

/// Posterior mass at the edge of a region that is worth a warning, and that makes the region wrong.
const EDGE_WARN: f64 = 0.01;
const EDGE_FAIL: f64 = 0.2;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nothing to worry about.
    Ok,
    /// Read the message before using the result.
    Warn,
    /// The result should not be used as it is.
    Fail,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Which check.
    pub name: String,
    /// How it came out.
    pub status: Status,
    /// The number looked at.
    pub value: f64,
    /// Where a warning begins.
    pub limit: f64,
    /// What it means and what to do.
    pub message: String,
}

impl Check {
    /// A check on a number that should be small: a warning above `warn`, a failure above `fail`.
    fn small(name: &str, value: f64, warn: f64, fail: f64, message: String) -> Self {
        let status = if value > fail || value.is_nan() {
            Status::Fail
        } else if value > warn {
            Status::Warn
        } else {
            Status::Ok
        };
        Self { name: name.into(), status, value, limit: warn, message }
    }

    /// A check on a number that should be large: a warning below `warn`, a failure below `fail`.
    fn large(name: &str, value: f64, warn: f64, fail: f64, message: String) -> Self {
        let mirrored = Self::small(name, -value, -warn, -fail, message);
        Self { value, limit: warn, ..mirrored }
    }
}

/// ∫[q]⁻ / ∫[q]⁺: how far the surrogate is from being a density.
pub fn negative_mass(ratio: f64) -> Check {
    let message = format!(
        "the surrogate posterior is negative over {:.1} % of its positive mass; {}",
        100.0 * ratio,
        if ratio > 0.05 { "simulate more, or let the hyperparameters be learned" } else { "it is close to a density" }
    );
    Check::small("negative_mass", ratio, 0.05, 0.25, message)
}

/// Is the observation among the simulations? Counts those within √n + 2 tolerances, where a matching simulation would be.
pub fn support(distances: &[f64], components: usize) -> Check {
    let reach = (components as f64).sqrt() + 2.0;
    let near = distances.iter().filter(|&&d| d <= reach).count();
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let nearest = if nearest < 1e4 { format!("{nearest:.3}") } else { format!("{nearest:.1e}") };
    let message = format!(
        "{near} of {} simulations lie within {reach:.1} tolerances of the observation, the nearest at {nearest}; {}",
        distances.len(),
        if near < 5 {
            "the observation is outside what was simulated: check the model and the prior, or simulate more near it"
        } else {
            "the observation is supported"
        }
    );
    Check::large("support", near as f64, 5.0, 1.0, message)
}

/// Is the observation among what the fitted model produces at posterior parameters? `tail` is the share of simulations that lie at least as
/// far from their own predictions, averaged over the posterior (Gelman, Meng & Stern 1996).
pub fn within_reach(distance: f64, tail: f64, simulations: usize) -> Check {
    let share = if tail < 1e-3 { "less than 0.1".to_string() } else { format!("{:.*}", usize::from(tail < 0.1), 100.0 * tail) };
    let message = format!(
        "at posterior parameters the observation lies {distance:.2} residual spreads from its prediction; {share} % of {simulations} simulations are expected as far from theirs; {}",
        if tail < REACH_WARN {
            "the observation is outside what the model produces: check the model and the prior, or simulate more near it"
        } else {
            "the observation is supported"
        }
    );
    Check::large("support", tail, REACH_WARN, REACH_FAIL, message)
}

/// Do residuals vary, and belong together, as the model says? What does not hold, where it matters, and by how much the posterior would change:
/// the shift of a mean in posterior standard deviations, or the change of ln of a width.
pub fn dependence(found: Option<(&str, f64)>) -> Check {
    let change = found.map_or(0.0, |(_, change)| change);
    let message = match found {
        Some((what, change)) if change > LARGEST_CHANGE => format!(
            "{what}, which the model leaves out; the posterior would change by about {change:.1} standard deviations: give fewer statistics that say more, such as a mean and a standard deviation for raw draws, or fit again to simulations near the observation"
        ),
        _ => "residuals vary and belong together near the observation as the model says".to_string(),
    };
    Check::small("dependence", change, LARGEST_CHANGE, f64::INFINITY, message)
}

/// Condition number of L + mλI, as far as the pivots show it.
pub fn conditioning(estimate: f64) -> Check {
    let message = format!(
        "the kernel matrix has a condition number of about {estimate:.1e}; {}",
        if estimate > 1e12 { "digits are lost: use a larger λ or a shorter length scale" } else { "solutions keep enough digits" }
    );
    Check::small("conditioning", estimate, 1e12, 1e15, message)
}

/// Whether chains of a sampler agree, and how many independent samples they are worth.
pub fn chains(r_hat: f64, effective: f64) -> Check {
    let message = format!(
        "chains agree up to a factor of {r_hat:.3} and are worth {effective:.0} independent samples; {}",
        if r_hat > 1.05 {
            "they have not mixed: the posterior may have separate parts whose shares are uncertain"
        } else {
            "they have mixed"
        }
    );
    Check::small("chains", r_hat, 1.05, 1.3, message)
}

/// Share of simulations that failed.
pub fn failed_simulations(failed: usize, total: usize) -> Check {
    let share = failed as f64 / total as f64;
    let message = format!(
        "{failed} of {total} simulations failed{}",
        if failed > 0 { "; they count as outputs that do not match, so the posterior avoids where the simulator fails" } else { "" }
    );
    Check::small("failed_simulations", share, 0.2, 0.9, message)
}

/// Whether the search for hyperparameters ended on one of its bounds.
pub fn hyperparameter_at_bound(names: &[String]) -> Check {
    let message = if names.is_empty() {
        "every learned hyperparameter lies inside its search range".to_string()
    } else {
        let (its, it) = if names.len() == 1 { ("its", "it") } else { ("their", "them") };
        format!("{} ended on a bound of {its} search; the data say little about {it}, or more simulations are needed", names.join(" and "))
    };
    Check::small("hyperparameter_at_bound", names.len() as f64, 0.5, f64::INFINITY, message)
}

/// How much of the posterior lies where the shape of residuals is a guess: beyond all that was simulated.
pub fn tail(mass: f64, guessed: bool) -> Check {
    let message = if !guessed {
        "residuals are Gaussian: the posterior rests on no guess about their tails".to_string()
    } else {
        format!(
            "{:.1} % of the posterior lies where the observation is farther from its prediction than simulated ones were from theirs, and the noise is a guess; {}",
            100.0 * mass,
            if mass > TAIL_MASS {
                "check the prior, which the observation seems to contradict, or simulate more near it"
            } else {
                "it rests on simulations"
            }
        )
    };
    Check::small("tail", mass, TAIL_MASS, 0.9, message)
}

/// Values that many simulations share exactly: outcomes of their own.
pub fn shared_values(which: &str, alike: usize, simulations: usize) -> Check {
    let message = format!(
        "simulations share values exactly ({which}): these count as outcomes of their own, and the {alike} of {simulations} simulations with the observation's outcome tell how the other statistics move{}",
        if alike < LEAST_ALIKE { "; simulate more for a steady answer" } else { "" }
    );
    Check::large("shared_values", alike as f64, LEAST_ALIKE as f64, 0.0, message)
}

/// Statistics without noise: the posterior is then as wide as what is not known of the simulator, not as what the observation leaves open.
pub fn missing_noise(which: &str, count: usize, statistics: usize) -> Check {
    let message = format!(
        "the simulator shows no noise in {count} of {statistics} statistics (statistic {which}): each is taken to be observed with an error of a thousandth of its spread, and the posterior is as wide as that and the error of the fit make it; add the observation's own error to the simulated statistics"
    );
    Check::small("noise", count as f64, 0.5, f64::INFINITY, message)
}

/// A model of one region says nothing of the rest: its posterior must not press against the edge.
pub fn region(at_edge: f64, inside: usize, simulations: usize) -> Check {
    let message = format!(
        "the model is of the region around the posterior, with {inside} of {simulations} simulations in it; {:.1} % of the posterior lies at its edge; {}",
        100.0 * at_edge,
        if at_edge > EDGE_WARN { "it may go on beyond it: simulate another round" } else { "the region holds it" }
    );
    Check::small("region", at_edge, EDGE_WARN, EDGE_FAIL, message)
}

/// Simulations outside the region of a model whose outputs come as close to the observation as predicted ones do.
pub fn missed_mode(close: usize, outside: usize) -> Check {
    let message = format!(
        "{close} of {outside} simulations outside the region of the posterior come as close to the observation as the posterior predicts; {}",
        if close > 0 {
            "it may have parts elsewhere: simulate more, or run with one round and compare"
        } else {
            "nothing points to another mode"
        }
    );
    Check::small("missed_mode", close as f64, 0.5, f64::INFINITY, message)
}
