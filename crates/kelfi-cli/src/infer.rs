//! The stages from simulations to a posterior and its samples.

use crate::arguments::{Learning, Objective};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::interrupt;
use crate::model_file::{ModelFile, fingerprint};
use crate::problem::{OnFailure, Problem};
use crate::progress::Shown;
use kelfi::learning::{EpsilonChoice, LearnSettings, Learned, LengthScaleChoice, RegularizationChoice};
use kelfi::posterior::checks::{Check, hyperparameter_at_bound};
use kelfi::{Inference, KernelMeansLikelihood, Observation, Points, Posterior, Recorded, Simulations};
use kelfi_run::{Store, files};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

/// A posterior with how it came about.
pub struct Inferred {
    /// The posterior.
    pub posterior: Posterior,
    /// The surrogate likelihood it comes from.
    pub model: Arc<KernelMeansLikelihood>,
    /// How the hyperparameters were chosen.
    pub learned: Learned,
    /// Seconds it took to learn.
    pub seconds: f64,
}

impl Inferred {
    /// All checks.
    pub fn checks(&self) -> Vec<Check> {
        let mut all = self.posterior.checks();
        all.push(hyperparameter_at_bound(&self.learned.at_bound));
        all
    }
}

/// What was typed as what the library understands; numbers that do not fit the problem are refused.
pub fn settings(problem: &Problem, typed: &Learning) -> Result<LearnSettings, Failure> {
    let fitting = |option: &str, given: &Vec<f64>, wanted: usize, what: &str| {
        if given.len() == 1 || given.len() == wanted {
            return Ok(());
        }
        Err(Failure::input(format!("{option} has {} values and there are {wanted} {what}\n  give one value, or one for each", given.len())))
    };
    let epsilon = match &typed.epsilon {
        Some(fixed) => {
            fitting("--epsilon", fixed, problem.statistics.len(), "statistics")?;
            EpsilonChoice::Fixed(fixed.clone())
        }
        None if typed.no_ard => EpsilonChoice::Isotropic,
        None => EpsilonChoice::PerStatistic,
    };
    let length_scale = match &typed.length_scale {
        Some(fixed) => {
            fitting("--length-scale", fixed, problem.prior.dimension(), "parameters")?;
            LengthScaleChoice::Fixed(fixed.clone())
        }
        None => LengthScaleChoice::default(),
    };
    let objective = match typed.objective {
        Objective::Loo => kelfi::learning::Objective::LeaveOneOut,
        Objective::Mkml => kelfi::learning::Objective::Evidence,
    };
    let regularization = typed.regularization.map_or_else(RegularizationChoice::default, RegularizationChoice::Fixed);
    Ok(LearnSettings { objective, epsilon, length_scale, regularization, seed: problem.seed, ..LearnSettings::default() })
}

/// Uses so many threads from here on. The answer does not depend on it.
pub fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let Some(threads) = threads else { return Ok(()) };
    let built = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global();
    built.map_err(|error| Failure::unexpected(format!("{threads} threads cannot be started: {error}")))
}

/// Learns, or takes up what was learned before from the same simulations with the same settings, and keeps it in model.json.
pub fn learn(problem: &Problem, store: &Store, directory: &Directory, settings: &LearnSettings, quiet: bool) -> Result<Inferred, Failure> {
    let recorded = recorded(problem, store)?;
    let observation = Observation::Statistics(problem.observation.clone());
    let made_from = fingerprint(&recorded, &observation, &problem.prior, settings)?;
    // A model that cannot be read is simply made again.
    if let Ok(Some(file)) = ModelFile::read(directory)
        && file.made_from == made_from
    {
        return rebuild(&file, problem.seed);
    }
    let began = Instant::now();
    let bar = Shown::unless(quiet).bar("learn", 0);
    let mut tell = |progress: kelfi::learning::Progress| {
        bar.set_length(progress.expected as u64);
        bar.set_position(progress.done as u64);
        !interrupt::cancellation().is_requested()
    };
    let Inference { posterior, model, learned } = Inference::new(&recorded, &observation, &problem.prior, settings, &mut tell)?;
    bar.finish_and_clear();
    let seconds = began.elapsed().as_secs_f64();
    // Samples and report of a former model must not stand beside the new one.
    directory.remove("samples.csv")?;
    ModelFile::new(&model, observation, &learned, made_from, seconds).write(directory)?;
    directory.remove("report.html")?;
    Ok(Inferred { posterior, model, learned, seconds })
}

/// The posterior of a saved model.
pub fn rebuild(file: &ModelFile, seed: u64) -> Result<Inferred, Failure> {
    let model: Arc<KernelMeansLikelihood> = Arc::new(file.saved.build()?);
    Ok(Inferred { posterior: Posterior::new(model.clone(), seed)?, model, learned: file.learned.clone(), seconds: file.seconds })
}

/// Writes `count` independent samples to samples.csv; returns the seconds it took.
pub fn sample(posterior: &Posterior, directory: &Directory, count: usize, seed: u64) -> Result<f64, Failure> {
    let began = Instant::now();
    let samples = kelfi::samples::independent(posterior, count, seed)?.samples;
    let path = directory.file("samples.csv");
    files::write_atomically(&path, |writer| {
        write_samples(writer, posterior.prior().names(), &samples)
            .map_err(|error| kelfi_run::Error::File { path: path.clone(), source: error.into() })
    })?;
    Ok(began.elapsed().as_secs_f64())
}

fn write_samples(writer: &mut dyn Write, names: &[String], samples: &Points) -> csv::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(names)?;
    for row in samples.iter() {
        csv.write_record(row.iter().map(|value| format!("{value:?}")))?;
    }
    csv.flush()?;
    Ok(())
}

/// The simulations as inference wants them: failed ones as rows of NaN, or left out.
fn recorded(problem: &Problem, store: &Store) -> Result<Recorded, Failure> {
    let table = store.table()?;
    if table.indices.is_empty() {
        return Err(Failure::input(
            "there is no simulation yet\n  make some with `kelfi simulate`, or bring some with `kelfi import` or `kelfi tell`",
        ));
    }
    let kept: Vec<usize> = match problem.on_failure {
        OnFailure::Drop => (0..table.indices.len()).filter(|&row| table.statuses[row].is_ok()).collect(),
        _ => (0..table.indices.len()).collect(),
    };
    if kept.is_empty() {
        return Err(kelfi::Error::AllFailed { count: table.indices.len() }.into());
    }
    let simulations = Simulations::new(table.parameters.select(&kept), table.statistics.select(&kept))?;
    Ok(Recorded::Statistics(Arc::new(simulations)))
}
