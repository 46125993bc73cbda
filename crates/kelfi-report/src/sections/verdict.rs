//! Can I trust this? The checks in plain words, worst first, each with what to do.

use crate::numbers::number;
use crate::section::{Block, Conclusion, Explained, Section};
use kelfi::checks::{Check, Status};
use kelfi::words::counted;

/// Checks sorted worst first, and the conclusion.
pub fn verdict(mut checks: Vec<Check>) -> (Conclusion, Section) {
    checks.sort_by_key(|check| std::cmp::Reverse(check.status));
    let explained: Vec<Explained> = checks.iter().map(explain).collect();
    let count = |status: Status| checks.iter().filter(|c| c.status == status).count();
    let (failed, warned) = (count(Status::Fail), count(Status::Warn));
    let (status, headline) = match (failed, warned) {
        (0, 0) => ("ok", "All checks passed.".to_string()),
        (0, n) => ("warn", format!("Use with care: {} attention.", points(n))),
        (n, _) => ("fail", format!("Do not use this result yet: {}.", counted(n as u64, "check") + " failed")),
    };
    let detail = match explained.first() {
        Some(first) if first.status != "ok" => format!("{} {}", sentence(&first.finding), first.advice),
        _ => format!(
            "None of the {} checks found a problem. They cannot detect a wrong model that is consistent with the observation.",
            checks.len()
        ),
    };
    let mut section = Section::new("checks", "Can I trust this?");
    let (passed, noticed): (Vec<Explained>, Vec<Explained>) = explained.into_iter().partition(|check| check.status == "ok");
    if !noticed.is_empty() {
        section.blocks.push(Block::Checks { checks: noticed, folded: String::new() });
    }
    if !passed.is_empty() {
        let folded = format!("{} passed", counted(passed.len() as u64, "check"));
        section.blocks.push(Block::Checks { checks: passed, folded });
    }
    (Conclusion { status: status.into(), headline, detail }, section)
}

fn points(n: usize) -> String {
    if n == 1 { "one point needs".into() } else { format!("{n} points need") }
}

fn explain(check: &Check) -> Explained {
    let (status, word) = match check.status {
        Status::Ok => ("ok", "Fine"),
        Status::Warn => ("warn", "Attention"),
        Status::Fail => ("fail", "Failed"),
    };
    let question = check.question();
    Explained {
        name: check.name.clone(),
        status: status.into(),
        word: word.into(),
        question: if question.is_empty() { check.name.clone() } else { question.into() },
        finding: sentence(&check.found),
        advice: check.advice.clone(),
        value: format!("{} (limit {})", number(check.value), number(check.limit)),
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
