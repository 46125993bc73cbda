//! What in a run directory does not go with the rest any more: an answer from fewer simulations, another observation, an edited file.

use crate::answers::Answers;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::{ProblemFile, identity};
use crate::seal::{self, Seal};
use crate::summary::{self, Summary};
use crate::{fingerprint, model_file, show};
use kelfi_run::Store;
use kelfi_run::checksum::Checksum;

/// One line for each thing that is stale, with what to do about it.
pub fn stale(directory: &Directory, store: &Store, summary: Option<&Summary>) -> Result<Vec<String>, Failure> {
    let place = directory.path().display();
    let mut lines = Vec::new();
    match ProblemFile::load(&directory.file("problem.toml")) {
        Err(failure) => lines.push(failure.message.lines().next().unwrap_or_default().to_owned()),
        Ok(problem) => {
            let (grave, _) = identity::differences(&problem.identity(kelfi_run::Seeds::of(store.problem())), store.problem());
            lines.extend(grave.into_iter().map(|line| format!("problem.toml differs from the one the simulations were made for: {line}")));
            lines.extend(
                summary.and_then(|summary| other_observation(&problem, summary)).map(|fact| format!("{fact}; `kelfi run {place}`")),
            );
        }
    }
    if let Some(mixture) = fingerprint::mixture(store)? {
        lines.push(mixture.to_string());
    }
    let lost = store.lost_elsewhere()?;
    if lost > 0 {
        lines.push(format!("lost to damage and not restored: {lost}"));
    }
    if let Some(fact) = summary.map(|summary| fewer(store, summary)).transpose()?.flatten() {
        lines.push(format!("{fact}; `kelfi learn {place}` learns from all"));
    }
    for (name, summary) in Answers::of(directory).all() {
        lines.extend(fewer(store, &summary)?.map(|fact| format!("answers/{name}: {fact}; repeat it with `kelfi infer`")));
    }
    lines.extend(changed_files(directory, summary.is_some()));
    Ok(lines)
}

fn other_observation(problem: &ProblemFile, summary: &Summary) -> Option<String> {
    let observed = |name: &String| summary.statistics.0.iter().find(|(known, _)| known == name).map(|(_, statistic)| statistic.observed);
    if problem.outputs.in_rows() {
        return None;
    }
    let mut both = problem.statistics.iter().zip(&problem.observation);
    let (name, now, then) = both.find_map(|(name, &now)| Some((name, now, observed(name).filter(|&then| then != now)?)))?;
    Some(format!("the answer is for {name} = {}, but problem.toml has {}", show::number(then), show::number(now)))
}

fn fewer(store: &Store, summary: &Summary) -> Result<Option<String>, Failure> {
    let counts = store.counts()?;
    let used = summary.simulations;
    if (used.ok, used.failed) == (counts.ok(), counts.failed()) {
        return Ok(None);
    }
    Ok(Some(format!(
        "the answer is from {} simulations ({} ok), but there are {} ({} ok)",
        used.ok + used.failed,
        used.ok,
        counts.all(),
        counts.ok()
    )))
}

/// Files that are not those the summary was written with.
fn changed_files(directory: &Directory, readable: bool) -> Vec<String> {
    let place = directory.path().display();
    let Ok(text) = std::fs::read_to_string(directory.file(summary::NAME)) else { return vec![] };
    if seal::examine(&text) == Seal::Broken || !readable {
        return vec![format!("summary.json has changed since it was written; `kelfi learn {place}` writes it again")];
    }
    let files = serde_json::from_str::<summary::Files>(&text).map(|found| found.files).unwrap_or_default();
    let mut lines = Vec::new();
    for (name, written) in &files {
        let remedy = if name == model_file::NAME { "learn" } else { "sample" };
        match Checksum::of_file(&directory.file(name)) {
            Ok(found) if found.hex() == *written => {}
            Ok(_) => lines.push(format!("{name} does not belong to this result; `kelfi {remedy} {place}` makes it again")),
            Err(_) => lines.push(format!("{name} is missing; `kelfi {remedy} {place}` makes it again")),
        }
    }
    lines
}
