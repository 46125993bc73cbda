//! Can I trust this? The checks in plain words, worst first, each with what to do.

use crate::numbers::number;
use crate::section::{Block, Explained, Section, Verdict};
use kelfi::posterior::checks::{Check, Status};

/// Checks sorted worst first, and the conclusion.
pub fn verdict(mut checks: Vec<Check>) -> (Verdict, Section) {
    checks.sort_by_key(|check| std::cmp::Reverse(check.status));
    let explained: Vec<Explained> = checks.iter().map(explain).collect();
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

fn explain(check: &Check) -> Explained {
    let (question, advice) = words(&check.name);
    // The part after the semicolon of a finding is advice of its own; here advice has its own place.
    let finding = sentence(check.message.split(';').next().unwrap_or(&check.message));
    let (status, word) = match check.status {
        Status::Ok => ("ok", "Fine"),
        Status::Warn => ("warn", "Attention"),
        Status::Fail => ("fail", "Failed"),
    };
    let specific = check.message.split_once(';').map(|(_, rest)| sentence(rest.trim())).unwrap_or_default();
    let advice = match check.status {
        Status::Ok => String::new(),
        _ if advice.is_empty() => specific,
        _ => advice.to_string(),
    };
    Explained {
        name: check.name.clone(),
        status: status.into(),
        word: word.into(),
        question: if question.is_empty() { check.name.clone() } else { question.into() },
        finding,
        advice,
        value: format!("{} (limit {})", number(check.value), number(check.limit)),
    }
}

/// Question and advice of each check.
fn words(name: &str) -> (&'static str, &'static str) {
    match name {
        "negative_mass" => (
            "Is the posterior a proper density?",
            "Simulate at least twice as many, and let the hyperparameters be learned if you fixed them.",
        ),
        "support" => (
            "Was anything like the observation simulated?",
            "First compare the observation with the simulated statistics below: a unit or a sign may be wrong. If it is right, widen the prior or mend the model; if only few simulations come near, simulate more there.",
        ),
        "effective_simulations" => (
            "Do enough simulations carry the answer?",
            "Simulate more, best near the posterior found so far, or leave out statistics that hardly matter below.",
        ),
        "conditioning" => {
            ("Does the arithmetic keep enough digits?", "Use a larger regularization or a shorter length scale, or let both be learned.")
        }
        "failed_simulations" => (
            "Did the simulator run?",
            "Read the messages of the failures below and mend the simulator, or narrow the prior to where it works.",
        ),
        "hyperparameter_at_bound" => (
            "Did learning settle inside its range?",
            "Look at the profile below: if the curve is flat, the choice hardly matters; if it still rises at the edge, simulate more.",
        ),
        "calibration" => ("Do the intervals cover what they say?", ""),
        "predictive" => (
            "Would the fitted model produce the observation?",
            "Look at the statistics named here: mend the model where it cannot produce them, or leave them out and say so.",
        ),
        _ => ("", ""),
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let full_stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{}{full_stop}", first.to_uppercase(), chars.as_str())
}
