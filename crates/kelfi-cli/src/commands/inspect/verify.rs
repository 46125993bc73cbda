//! `kelfi inspect --verify`: every simulation and every file compared with its checksum.

use crate::directory::{Directory, listed};
use crate::failure::{Exit, Failure};
use crate::seal::{self, Seal};
use crate::{model_file, show, summary};
use kelfi::words::counted;
use kelfi_run::store::Survey;
use serde_json::json;

pub fn run(directory: &Directory, as_json: bool) -> Result<(), Failure> {
    let survey = Survey::of(&directory.store())?;
    let files: Vec<(&str, Option<Seal>)> = [model_file::NAME, summary::NAME].map(|name| (name, sealed(directory, name))).to_vec();
    show::print(&if as_json { json(directory, &survey, &files) } else { text(directory, &survey, &files) })?;
    let broken: Vec<&str> = files.iter().filter(|(_, seal)| *seal == Some(Seal::Broken)).map(|(name, _)| *name).collect();
    if survey.is_sound() && broken.is_empty() {
        return Ok(());
    }
    Err(Failure { exit: Exit::Store, message: advice(directory, &survey, &broken) })
}

/// Whether a file is intact; `None` where there is none.
fn sealed(directory: &Directory, name: &str) -> Option<Seal> {
    let bytes = std::fs::read(directory.file(name)).ok()?;
    Some(String::from_utf8(bytes).map_or(Seal::Broken, |text| seal::examine(&text)))
}

fn word(seal: Option<Seal>) -> &'static str {
    match seal {
        None => "not there",
        Some(Seal::Sound) => "intact",
        Some(Seal::Absent) => "without checksum (written by an older version)",
        Some(Seal::Broken) => "changed since it was written",
    }
}

fn text(directory: &Directory, survey: &Survey, files: &[(&str, Option<Seal>)]) -> String {
    let mut lines = vec![
        format!("{}", directory.path().display()),
        format!("  store.sqlite: {} intact", counted(survey.sound - survey.unprotected, "simulation")),
    ];
    if survey.unprotected > 0 {
        lines.push(format!("  store.sqlite: {} without checksum (written by an older version)", counted(survey.unprotected, "simulation")));
    }
    if survey.lost > 0 {
        let named = if survey.damaged.is_empty() { String::new() } else { format!(": {}", listed(&survey.damaged)) };
        lines.push(format!("  store.sqlite: {} damaged or lost{named}", counted(survey.lost, "simulation")));
    }
    lines.extend(survey.findings.iter().map(|finding| format!("  store.sqlite: {finding}")));
    lines.extend(files.iter().map(|(name, seal)| format!("  {name}: {}", word(*seal))));
    lines.join("\n") + "\n"
}

fn json(directory: &Directory, survey: &Survey, files: &[(&str, Option<Seal>)]) -> String {
    let files: serde_json::Map<_, _> = files.iter().map(|(name, seal)| ((*name).to_owned(), word(*seal).into())).collect();
    let object = json!({
        "directory": directory.path(), "sound": survey.sound, "not_protected": survey.unprotected, "lost": survey.lost,
        "lost_indices": survey.damaged, "lost_elsewhere": survey.lost_elsewhere, "findings": survey.findings, "files": files,
    });
    format!("{object:#}\n")
}

fn advice(directory: &Directory, survey: &Survey, broken: &[&str]) -> String {
    let place = directory.path().display();
    if survey.is_sound() {
        return format!(
            "{} changed since written\n  `kelfi learn {place}` and `kelfi sample {place}` write the files again",
            broken.join(" and ")
        );
    }
    let again = if survey.lost_elsewhere > 0 {
        format!("{} were told or imported and must be brought in again; `kelfi run {place}` keeps what is intact", survey.lost_elsewhere)
    } else {
        format!("`kelfi run {place}` keeps what is intact and simulates the rest again")
    };
    format!("{} is damaged\n  {again}", directory.store().display())
}
