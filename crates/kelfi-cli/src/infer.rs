//! The stages from simulations to a posterior and its samples.

use crate::arguments::{Learning, Objective, Sampler};
use crate::counting::{self, Work};
use crate::directory::Directory;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::model_file::ModelFile;
use crate::problem::ProblemFile;
use crate::progress::Shown;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, LengthScaleChoice, RegularizationChoice};
use kelfi::samples::{Candidates, Herding};
use kelfi::words::counted;
use kelfi::{Fit, FitOptions, LOCATION_SCALE, ModelChoice, Points, Posterior, Question, Rounds, SUMMARIES};
use kelfi_run::files;
use std::io::Write;
use std::time::Instant;

/// Draws of the posterior among which super-samples are found, at least.
const CANDIDATES: usize = 10_000;

/// A posterior with how it came about.
pub struct Inferred {
    /// Posterior, model and how they were chosen.
    pub fit: Fit,
    /// Seconds it took to learn.
    pub seconds: f64,
}

impl Inferred {
    /// The same with the names of its statistics, which its checks use.
    pub fn named(self, problem: &ProblemFile) -> Self {
        Self { fit: self.fit.named(problem.used_statistics()), ..self }
    }
}

/// What was typed as what the library understands; numbers that do not fit the problem are refused.
pub fn settings(problem: &ProblemFile, typed: &Learning) -> Result<FitOptions, Failure> {
    let model = ModelChoice::named(&typed.model)?;
    if let ModelChoice::Use(family) = model {
        family.require_taking(problem.outputs).map_err(|error| Failure::input(error.to_string()))?;
    }
    if [&LOCATION_SCALE, &SUMMARIES].map(ModelChoice::Use).contains(&model) {
        refuse_what_only_kernel_means_has(typed)?;
    }
    let fitting = |option: &str, given: &Vec<f64>, wanted: usize, what: &str| {
        if given.len() == 1 || given.len() == wanted {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{option} has {}, and there are {wanted} {what}\n  give one value, or one for each",
            counted(given.len() as u64, "value")
        )))
    };
    let epsilon = match &typed.epsilon {
        Some(fixed) => {
            let tolerances = if problem.outputs.in_rows() { 1 } else { problem.used().len() };
            fitting("--epsilon", fixed, tolerances, if problem.outputs.in_rows() { "tolerance" } else { "statistics" })?;
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
    let learn = KernelMeansOptions {
        objective,
        epsilon,
        length_scale,
        regularization,
        solver: typed.solver,
        seed: problem.seed,
        ..KernelMeansOptions::default()
    };
    Ok(FitOptions { model, learn })
}

fn refuse_what_only_kernel_means_has(typed: &Learning) -> Result<(), Failure> {
    let given = [
        ("--objective mkml", typed.objective == Objective::Mkml),
        ("--epsilon", typed.epsilon.is_some()),
        ("--length-scale", typed.length_scale.is_some()),
        ("--regularization", typed.regularization.is_some()),
        ("--no-ard", typed.no_ard),
        ("--solver", !typed.solver.is_auto()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::input(format!(
            "{option} cannot be used with --model {}, which has no such setting\n  leave it out, or use --model kernel-means",
            typed.model
        ))),
        None => Ok(()),
    }
}

/// Learns, or takes up what was learned before from the same simulations with the same settings (`made_from` is the fingerprint of all
/// that), and keeps it in model.json.
pub fn learn(
    problem: &ProblemFile,
    question: &Question,
    made_from: String,
    directory: &Directory,
    settings: &FitOptions,
    rounds: Option<Rounds>,
    quiet: bool,
) -> Result<Inferred, Failure> {
    match ModelFile::read(directory) {
        Ok(Some(file)) if file.made_from == made_from => return Ok(rebuild(&file, problem.seed)?.named(problem)),
        Err(failure) if failure.exit == Exit::Store => {
            eprintln!("warning: {}; learning again", failure.message.lines().next().unwrap_or_default());
        }
        // A model that cannot be read is simply made again.
        _ => {}
    }
    counting::note(Work::Learn);
    let began = Instant::now();
    let bar = Shown::unless(quiet).bar("learn", 0);
    let mut tell = |progress: kelfi::learning::Progress| {
        bar.tell(progress.done as u64, progress.expected as u64, "");
        !interrupt::cancellation().is_requested()
    };
    let fit = match rounds {
        Some(mut rounds) => rounds.answer(&mut tell)?,
        None => Fit::new(question, settings, &mut tell)?,
    };
    bar.finish();
    let seconds = began.elapsed().as_secs_f64();
    // Samples and report of a former model must not stand beside the new one.
    directory.remove("samples.csv")?;
    ModelFile::new(&fit, settings, made_from, seconds).write(directory)?;
    directory.remove("report.html")?;
    Ok(Inferred { fit, seconds }.named(problem))
}

/// The posterior of a saved model.
pub fn rebuild(file: &ModelFile, seed: u64) -> Result<Inferred, Failure> {
    counting::note(Work::Rebuild);
    let mut fit = Fit::load(&file.saved, Some(&file.learned), seed, &mut || !interrupt::cancellation().is_requested())?;
    fit.comparison = file.comparison.clone();
    if let Some(history) = &file.rounds {
        fit = fit.after_rounds(history.clone());
    }
    Ok(Inferred { fit, seconds: file.seconds })
}

/// What drawing samples took and gave.
pub struct Sampled {
    /// Seconds.
    pub seconds: f64,
    /// How many independent samples they are worth, where that means something.
    pub effective: Option<f64>,
}

/// Writes `count` samples to samples.csv.
pub fn sample(posterior: &Posterior, directory: &Directory, count: usize, seed: u64, method: Sampler) -> Result<Sampled, Failure> {
    counting::note(Work::Sample);
    let began = Instant::now();
    let mut go_on = || !interrupt::cancellation().is_requested();
    let (samples, effective) = match method {
        Sampler::Independent => {
            let drawn = kelfi::samples::independent_while(posterior, count, seed, &mut go_on)?;
            (drawn.samples, Some(drawn.effective_sample_size))
        }
        Sampler::Slice => {
            let drawn = kelfi::samples::slice(posterior, count, seed, &mut go_on)?;
            (drawn.samples, Some(drawn.effective.iter().copied().fold(count as f64, f64::min)))
        }
        Sampler::Herding => {
            let herding = Herding { seed, ..Herding::new(Candidates::Posterior(CANDIDATES.max(2 * count))) };
            (herding.super_samples(posterior, count)?.samples, None)
        }
    };
    let path = directory.file("samples.csv");
    files::write_atomically(&path, |writer| {
        write_samples(writer, posterior.prior().names(), &samples)
            .map_err(|error| kelfi_run::Error::File { path: path.clone(), source: error.into() })
    })?;
    Ok(Sampled { seconds: began.elapsed().as_secs_f64(), effective })
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
