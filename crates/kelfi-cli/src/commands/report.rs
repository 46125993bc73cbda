//! `kelfi report`: the page, and its figures for papers.

use crate::arguments::Report;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::made::Made;
use crate::model_file::ModelFile;
use crate::{figures, infer, report, show, threads};
use kelfi::learning::KernelMeansOptions;
use kelfi::{FitOptions, ModelChoice};
use serde_json::json;

pub fn run(typed: &Report) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let (problem, store) = directory.read()?;
    let file = ModelFile::read(&directory)?
        .ok_or_else(|| Failure::input(format!("there is no model in {}\n  make one with `kelfi learn {0}`", typed.directory.display())))?;
    threads::use_threads(None)?;
    let inferred = infer::rebuild(&file, problem.seed)?.named(&problem);
    let settings = file.settings.unwrap_or_else(|| FitOptions {
        model: ModelChoice::Use(inferred.fit.model.family()),
        learn: KernelMeansOptions { objective: inferred.fit.model.chosen().objective, seed: problem.seed, ..KernelMeansOptions::default() },
    });
    let made = report::write(&problem, &Made::read(&store)?, &directory, &inferred, &settings)?;
    let mut written = vec![directory.file(report::NAME)];
    if let Some(folder) = &typed.figures {
        written.extend(figures::write(made.all_figures(), folder)?);
    }
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", json!({ "files": written }))),
        (_, true) => Ok(()),
        _ => show::print(&written.iter().map(|path| format!("{}\n", path.display())).collect::<String>()),
    }?;
    show::require_no_failed(made.checks())
}
