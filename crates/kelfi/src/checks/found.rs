//! Checks on one number each: limits, and what was found in words.

use super::{Check, Status};
use crate::words::counted;

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

/// Simulations outside a region that may come close to the observation by chance.
const MOST_CLOSE: usize = 1;

/// ∫[q]⁻ / ∫[q]⁺: how far the surrogate is from being a density.
pub fn negative_mass(ratio: f64) -> Check {
    let found = format!(
        "the negative part of the surrogate posterior is {:.1} % of its positive part; {}",
        100.0 * ratio,
        if ratio > 0.05 { "it is not a proper density" } else { "it is close to a density" }
    );
    Check::small("negative_mass", ratio, 0.05, 0.25, found)
}

/// Is the observation among the simulations? Counts those within √n + 2 tolerances, where a matching simulation would be.
pub fn support(distances: &[f64], components: usize) -> Check {
    let reach = (components as f64).sqrt() + 2.0;
    let near = distances.iter().filter(|&&d| d <= reach).count();
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let nearest = if nearest < 1e4 { format!("{nearest:.3}") } else { format!("{nearest:.1e}") };
    let found = format!(
        "{near} of {} simulations lie within {reach:.1} tolerances of the observation, the nearest at {nearest}; {}",
        distances.len(),
        if near < 5 { "the observation is outside what was simulated" } else { "the observation is supported" }
    );
    Check::large("support", near as f64, 5.0, 1.0, found)
}

/// Is the observation among what the fitted model produces at posterior parameters? `tail` is the share of simulations that lie at least as
/// far from their own predictions, averaged over the posterior (Gelman, Meng & Stern 1996).
pub fn within_reach(distance: f64, tail: f64, simulations: usize) -> Check {
    let share = if tail < 1e-3 { "less than 0.1".to_string() } else { format!("{:.*}", usize::from(tail < 0.1), 100.0 * tail) };
    let found = format!(
        "the observation lies {distance:.2} residual standard deviations from its prediction at posterior parameters, and {share} % of {simulations} simulations are expected to lie that far from theirs; {}",
        if tail < REACH_WARN { "the observation is outside what the model produces" } else { "the observation is supported" }
    );
    Check::large("support", tail, REACH_WARN, REACH_FAIL, found)
}

/// Do residuals vary, and belong together, as the model says? What does not hold, where it matters, and by how much the posterior would change:
/// the shift of a mean in posterior standard deviations, or the change of ln of a width.
pub fn dependence(found: Option<(&str, f64)>) -> Check {
    let change = found.map_or(0.0, |(_, change)| change);
    let told = match found {
        Some((what, change)) if change > LARGEST_CHANGE => {
            format!("{what}, which the model ignores; allowing for it would change the posterior by about {change:.1} standard deviations")
        }
        _ => "near the observation, residuals vary and correlate as the model assumes".to_string(),
    };
    Check::small("dependence", change, LARGEST_CHANGE, f64::INFINITY, told)
}

/// Condition number of L + mλI, as far as the pivots show it.
pub fn conditioning(estimate: f64) -> Check {
    let found = format!(
        "the kernel matrix has a condition number of about {estimate:.1e}; {}",
        if estimate > 1e12 { "numerical precision is lost" } else { "numerical precision is sufficient" }
    );
    Check::small("conditioning", estimate, 1e12, 1e15, found)
}

/// Whether chains of a sampler agree, and how many independent samples they are worth.
pub fn chains(r_hat: f64, effective: f64) -> Check {
    let found = format!(
        "split R-hat of the chains is {r_hat:.3}, with {effective:.0} effective samples; {}",
        if r_hat > 1.05 {
            "they have not mixed: the posterior may have separate modes whose weights are uncertain"
        } else {
            "they have mixed"
        }
    );
    Check::small("chains", r_hat, 1.05, 1.3, found)
}

/// Share of simulations that failed.
pub fn failed_simulations(failed: usize, total: usize) -> Check {
    let share = failed as f64 / total as f64;
    let found = format!(
        "{failed} of {total} simulations failed{}",
        if failed > 0 {
            "; failures count as outputs that do not match, so the posterior avoids regions where the simulator fails"
        } else {
            ""
        }
    );
    Check::small("failed_simulations", share, 0.2, 0.9, found)
}

/// Whether the search for hyperparameters ended on one of its bounds.
pub fn hyperparameter_at_bound(names: &[String], advice: &str) -> Check {
    let found = if names.is_empty() {
        "every learned hyperparameter lies inside its search range".to_string()
    } else {
        let (its, it) = if names.len() == 1 { ("its", "it") } else { ("their", "them") };
        format!(
            "{} stopped at a bound of {its} search range; the data say little about {it}, or more simulations are needed",
            names.join(" and ")
        )
    };
    Check::small("hyperparameter_at_bound", names.len() as f64, 0.5, f64::INFINITY, found).advising(advice)
}

/// How much of the posterior lies where the shape of residuals is a guess: beyond all that was simulated.
pub fn tail(mass: f64, guessed: bool) -> Check {
    let found = if !guessed {
        "residuals are Gaussian, so the posterior does not depend on an assumption about their tails".to_string()
    } else {
        format!(
            "{:.1} % of the posterior lies where the observation is farther from its prediction than any simulation from its own, so the noise there is extrapolated; {}",
            100.0 * mass,
            if mass > TAIL_MASS { "the observation seems to contradict the prior" } else { "the simulations support the rest" }
        )
    };
    Check::small("tail", mass, TAIL_MASS, 0.9, found)
}

/// Values that many simulations share exactly: outcomes of their own.
pub fn shared_values(which: &str, alike: usize, simulations: usize) -> Check {
    let found = format!(
        "many simulations have exactly the same value ({which}): these are treated as separate outcomes, and only the {alike} of {simulations} simulations with the same outcome as the observation inform the other statistics{}",
        if alike < LEAST_ALIKE { "; these are too few" } else { "" }
    );
    Check::large("shared_values", alike as f64, LEAST_ALIKE as f64, 0.0, found)
}

/// Repeats that a model does not know as such: it is right about them, but learns less.
pub fn repeats(model: &str, repeats: usize, numbers: usize) -> Check {
    let found = format!(
        "the {model} model takes the {repeats} independent repeats of an output as {numbers} different statistics: it cannot use that they are interchangeable, and learns each of them separately"
    );
    Check::new("repeats", Status::Warn, repeats as f64, 1.0, found)
}

/// Repeats that nobody told of: what the model took them for.
pub fn found_repeats(repeats: usize, numbers: usize) -> Check {
    let each = counted((numbers / repeats) as u64, "statistic");
    let found = format!("each output was recognised as {repeats} independent repeats of {each}, which predicts left-out outputs better");
    Check::new("repeats", Status::Ok, repeats as f64, 1.0, found)
}

/// Statistics without noise: the posterior is then as wide as what is not known of the simulator, not as what the observation leaves open.
pub fn missing_noise(which: &str, count: usize, statistics: usize) -> Check {
    let found = format!(
        "the simulator shows no noise in {count} of {statistics} statistics (statistic {which}): each is given an observation error of a thousandth of its spread, and the width of the posterior reflects only that and the error of the fit"
    );
    Check::small("noise", count as f64, 0.5, f64::INFINITY, found)
}

/// A model of one region says nothing of the rest: its posterior must not press against the edge.
pub fn region(at_edge: f64, inside: usize, simulations: usize) -> Check {
    let found = format!(
        "the model is fitted to the {inside} of {simulations} simulations in the region around the posterior, and {:.1} % of the posterior lies at the edge of that region; {}",
        100.0 * at_edge,
        if at_edge > EDGE_WARN { "the posterior may extend beyond it" } else { "the region contains the posterior" }
    );
    Check::small("region", at_edge, EDGE_WARN, EDGE_FAIL, found)
}

/// Simulations outside the region of a model whose outputs come closer to the observation than nearly all predicted ones do.
pub fn missed_mode(close: usize, outside: usize) -> Check {
    let found = format!(
        "{close} of {outside} simulations outside the region of the posterior come as close to the observation as the closest 5 % of the posterior's own predictions; {}",
        if close > MOST_CLOSE { "the posterior may have another mode" } else { "nothing points to another mode" }
    );
    Check::small("missed_mode", close as f64, MOST_CLOSE as f64, f64::INFINITY, found)
}
