//! `kelfi sample`: posterior samples from the learned model.

use crate::arguments::Sample;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::model_file::ModelFile;
use crate::summary::Summary;
use crate::{infer, show, threads};
use kelfi::words::counted;
use serde_json::json;

pub fn run(typed: &Sample) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let problem = directory.problem()?;
    let file = ModelFile::read(&directory)?
        .ok_or_else(|| Failure::input(format!("there is no model in {}\n  make one with `kelfi learn {0}`", typed.directory.display())))?;
    threads::use_threads(None)?;
    let inferred = infer::rebuild(&file, problem.seed)?;
    let count = typed.samples as usize;
    let sampled = infer::sample(&inferred.fit.posterior, &directory, count, typed.seed.unwrap_or(problem.seed), typed.method)?;
    if let Some(mut summary) = Summary::read(&directory) {
        summary.seconds.sample = Some(sampled.seconds);
        // Another number of samples, or drawn in another way, than a run would write.
        summary.unchanged = None;
        summary.write(&directory)?;
    }
    let path = directory.file("samples.csv");
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!(
            "{:#}\n",
            json!({ "samples": count, "effective_samples": sampled.effective, "file": path, "seconds": sampled.seconds })
        )),
        (_, true) => Ok(()),
        _ => show::print(&format!("{} in {}\n", counted(count as u64, "sample"), path.display())),
    }
}
