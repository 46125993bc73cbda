//! From simulations and a question to an answer in files: model, samples, summary and report.

use crate::arguments::{Learning, Sampler};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::made::Made;
use crate::model_file::{self, fingerprint};
use crate::problem::ProblemFile;
use crate::progress::Shown;
use crate::summary::{Seconds, Summary, Unchanged};
use crate::{infer, report, show};
use kelfi::{Question, Rounds};
use kelfi_run::checksum::Checksum;

/// How an answer is found.
pub struct Asking<'a> {
    /// What was typed about the model.
    pub learning: &'a Learning,
    /// How many posterior samples.
    pub samples: u32,
    /// No progress.
    pub quiet: bool,
    /// Print the posterior as soon as it is known, before the checks are.
    pub print: bool,
}

impl Asking<'_> {
    /// What is known before the checks.
    fn show(&self, summary: &Summary) -> Result<(), Failure> {
        if self.print { show::print(&show::found(summary)) } else { Ok(()) }
    }
}

/// The files of an answer beside the problem.
pub const FILES: [&str; 4] = [model_file::NAME, "samples.csv", crate::summary::NAME, report::NAME];

/// Answers the question in the files of `directory`. An answer that is there already, from the same simulations in the same way, is kept.
/// `rounds` are those the simulations came from, if they did; `simulated` is how long the simulations took, if they were made just now.
pub fn answer(
    problem: &ProblemFile,
    made: &Made,
    directory: &Directory,
    asking: &Asking<'_>,
    rounds: Option<Rounds>,
    simulated: Option<f64>,
) -> Result<Summary, Failure> {
    let settings = infer::settings(problem, asking.learning)?;
    let usable = made.usable(problem)?;
    let question = Question::new(&problem.prior, &usable.recorded, &problem.observed()?);
    let learned_from = fingerprint(&question, &settings, rounds.is_some())?;
    let checks = made.checks(usable.outside);
    let key = key(problem, asking, &learned_from, &checks, made)?;
    if let Some(summary) = Summary::unchanged(directory, &key) {
        asking.show(&summary)?;
        return Ok(summary);
    }
    let inferred = infer::learn(problem, &question, learned_from, directory, &settings, rounds, asking.quiet)?;
    let sampled = infer::sample(&inferred.fit.posterior, directory, asking.samples as usize, problem.seed, Sampler::default())?.seconds;
    let seconds = Seconds { simulate: simulated, learn: Some(inferred.seconds), sample: Some(sampled) };
    let mut summary = Summary::unexamined(problem, made.counts(), &inferred, seconds)?;
    asking.show(&summary)?;
    let bar = Shown::unless(asking.quiet).waiting("check");
    summary.examine(&inferred, checks);
    summary.write(directory)?;
    report::write(problem, made, directory, &inferred, &settings)?;
    bar.finish();
    // Only once the page is there is the answer complete.
    summary.unchanged = Some(Unchanged {
        made_from: key,
        report: Checksum::of_file(&directory.file(report::NAME)).map_or_else(|_| String::new(), Checksum::hex),
    });
    summary.write(directory)?;
    Ok(summary)
}

/// Fingerprint of everything that the files of an answer depend on.
fn key(
    problem: &ProblemFile,
    asking: &Asking<'_>,
    learned_from: &str,
    checks: &[kelfi::checks::Check],
    made: &Made,
) -> Result<String, Failure> {
    let counts = made.counts();
    let parts = (&problem.name, problem.seed, problem.used_statistics(), asking.samples, learned_from, checks, (counts.ok, counts.failed));
    let text =
        serde_json::to_string(&parts).map_err(|error| Failure::unexpected(format!("the question cannot be written as JSON: {error}")))?;
    Ok(Checksum::of(text.as_bytes()).hex())
}
