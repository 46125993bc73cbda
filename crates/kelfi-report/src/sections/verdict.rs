//! Can I trust this? The checks in plain words, worst first, each with what to do.

use crate::numbers::number;
use crate::section::{Block, Explained, Section, Verdict};
use kelfi::checks::{Check, Status};
use kelfi::model::ModelFamily;

/// Checks sorted worst first, and the conclusion.
pub fn verdict(mut checks: Vec<Check>, family: &ModelFamily) -> (Verdict, Section) {
    checks.sort_by_key(|check| std::cmp::Reverse(check.status));
    let explained: Vec<Explained> = checks.iter().map(|check| explain(check, family)).collect();
    let count = |status: Status| checks.iter().filter(|c| c.status == status).count();
    let (failed, warned) = (count(Status::Fail), count(Status::Warn));
    let (status, headline) = match (failed, warned) {
        (0, 0) => ("ok", "Nothing speaks against this result.".to_string()),
        (0, n) => ("warn", format!("Use with care: {} attention.", points(n, "needs", "need"))),
        (n, _) => (
            "fail",
            format!("Do not use this result yet: {}.", if n == 1 { "a check failed".into() } else { format!("{n} checks failed") }),
        ),
    };
    let detail = match explained.first() {
        Some(first) if first.status != "ok" => format!("{} {}", sentence(&first.finding), first.advice),
        _ => format!(
            "All {} checks passed. They cannot see a model that is wrong in a way the observation does not contradict.",
            checks.len()
        ),
    };
    let mut section = Section::new("checks", "Can I trust this?");
    section.blocks.push(Block::Checks { checks: explained });
    (Verdict { status: status.into(), headline, detail }, section)
}

fn points(n: usize, one: &str, more: &str) -> String {
    if n == 1 { format!("one point {one}") } else { format!("{n} points {more}") }
}

fn explain(check: &Check, family: &ModelFamily) -> Explained {
    let (question, advice) = words(&check.name, family);
    // The part after the last semicolon of a finding is advice of its own; here advice has its own place.
    let (found, specific) = check.message.rsplit_once(';').unwrap_or((&check.message, ""));
    let (status, word) = match check.status {
        Status::Ok => ("ok", "Fine"),
        Status::Warn => ("warn", "Attention"),
        Status::Fail => ("fail", "Failed"),
    };
    let advice = match check.status {
        Status::Ok => String::new(),
        _ if advice.is_empty() => sentence(specific),
        _ => advice.to_string(),
    };
    Explained {
        name: check.name.clone(),
        status: status.into(),
        word: word.into(),
        question: if question.is_empty() { check.name.clone() } else { question.into() },
        finding: sentence(found),
        advice,
        value: format!("{} (limit {})", number(check.value), number(check.limit)),
    }
}

/// Question and advice of each check.
fn words(name: &str, family: &ModelFamily) -> (&'static str, &'static str) {
    match name {
        "negative_mass" => (
            "Is the posterior a proper density?",
            "Simulate at least twice as many, and let the hyperparameters be learned if you fixed them.",
        ),
        "range" => (
            "Is every observed statistic among the simulated values?",
            "Compare units and the order of the statistics with those of the observation. If they are right, the simulator or the prior cannot produce this observation: fix the model or widen the prior.",
        ),
        "support" => (
            "Was anything like the observation simulated?",
            "First compare the observation with the simulated statistics below: a unit or a sign may be wrong. If it is right, widen the prior or fix the model; if only few simulations come near, simulate more there.",
        ),
        "effective_simulations" => (
            "Would more simulations change the answer?",
            "Simulate more, best near the posterior found so far, or leave out statistics that hardly matter below.",
        ),
        "dependence" => (
            "Do statistics vary, and belong together, as the model says?",
            "Give fewer statistics that say more: a mean and a standard deviation instead of raw draws. Or simulate near the posterior found so far and fit to those simulations alone.",
        ),
        "conditioning" => {
            ("Does the arithmetic keep enough digits?", "Use a larger regularization or a shorter length scale, or let both be learned.")
        }
        "failed_simulations" => (
            "Did the simulator run?",
            "Read the messages of the failures below and fix the simulator, or narrow the prior to where it works.",
        ),
        "hyperparameter_at_bound" => ("Did learning settle inside its range?", family.words.at_bound),
        "chains" => (
            "Did the chains find the same posterior?",
            "Run again with another seed: what changes is uncertain, above all how much separate parts of the posterior weigh. If it changes much, simulate more.",
        ),
        "modes" => (
            "Is the posterior in one piece?",
            "Do not use the mean: it lies between the modes, where the posterior may have nothing. Look at the marginals below, or at samples.",
        ),
        "prior_draws" => (
            "Were parameters simulated where the prior says?",
            "Draw the simulated parameters from the prior, or give the prior that they were drawn from. A posterior outside of what was simulated is a guess.",
        ),
        "calibration" => ("Do the intervals cover what they say?", ""),
        "tail" => (
            "Does the answer rest on simulated noise?",
            "Compare the observation with the prior, which it seems to contradict, and check its units. If both are right, simulate more near the observation.",
        ),
        "shared_values" => (
            "Do many simulations share a value?",
            "Look at what the simulator does there: a code for a failure, such as -999, is better left out as a failed simulation. If the values are real, simulate more.",
        ),
        "noise" => (
            "Does the simulator have noise?",
            "Add the error of the observation to the simulated statistics: without it the posterior only shows what the fit does not know.",
        ),
        "predictive" => (
            "Would the fitted model produce the observation?",
            "Look at the statistics named here: fix the model where it cannot produce them, or leave them out and say so.",
        ),
        _ => ("", ""),
    }
}

/// With a capital and a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let full_stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{full_stop}", first.to_uppercase(), chars.as_str())
}
