//! `kelfi compare`: methods side by side, on a built-in problem or on one's own.

mod calls;
mod ledger;
mod own;
mod table;

use crate::arguments::{Compare, Observed};
use crate::directory::Directory;
use crate::failure::{Exit, Failure};
use crate::progress::Shown;
use crate::{figures, fingerprint, interrupt, problem, show, simulate, threads};
use calls::CallLog;
use kelfi::method::Method;
use kelfi_baselines::comparison::{Comparison, ComparisonPlan, EXACT, Ledger, Observations, Row, compare_with};
use kelfi_problems::BenchmarkProblem;
use kelfi_report::ComparisonPage;
use kelfi_run::checksum::Checksum;
use ledger::Runs;
use own::{Failures, OwnProblem};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

const FILES: [&str; 3] = ["compare.html", "compare.json", "compare.csv"];

/// Compared where none is named: kelfi's own, and what practitioners reach for first.
const USUAL: [&str; 9] =
    ["kelfi", "kelfi-rounds", "rejection-regression", "rejection", "smc-abc", "synthetic-likelihood", "kernel-abc", "mdn", "prior"];

pub fn run(typed: &Compare) -> Result<(), Failure> {
    let methods = methods(&typed.methods)?;
    let source = Source::of(&typed.problem)?;
    let folder = typed.out.clone().unwrap_or_else(|| format!("compare-{}", source.name()).into());
    let directory = Directory::at(&folder);
    threads::use_threads(typed.threads)?;
    make(&directory)?;
    let failures = Arc::new(Failures::default());
    let problem = source.problem(&directory, &failures)?;
    let plan = ComparisonPlan {
        problem: &*problem,
        methods,
        budgets: distinct(typed.budget.iter().map(|&budget| budget as usize)),
        repeats: typed.repeats as usize,
        observations: match typed.observations.unwrap_or(source.observed()) {
            Observed::Prior => Observations::FromPrior,
            Observed::Own => Observations::Own,
        },
        seed: typed.seed,
    };
    let ledger = Runs::new(&directory, identity(&plan, &source));
    let comparison = interrupt::with_programs(|| carry_out(&plan, &ledger, typed.voice.quiet))?;
    answered(&comparison, &failures)?;
    let rows = comparison.summary();
    write(&comparison, &rows, &directory, typed)?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", as_json(&comparison, &rows)))?,
        (_, true) => (),
        _ => show::print(&(table::table(&comparison, &rows) + &format!("in {}: {}\n", directory.path().display(), FILES.join(", "))))?,
    }
    if let (Some(told), false) = (failures.told(), typed.voice.quiet) {
        show::say(&told);
    }
    match comparison.planned - comparison.repeats {
        0 => Ok(()),
        left => Err(Failure::interrupted(format!(
            "interrupted with {left} of {} repeats to go\n  results so far are in {}; the same command continues",
            comparison.planned,
            directory.path().display()
        ))),
    }
}

/// Where the problem comes from.
enum Source {
    Builtin(Box<dyn BenchmarkProblem>),
    File(Box<problem::ProblemFile>),
}

impl Source {
    fn of(name: &str) -> Result<Self, Failure> {
        if name.ends_with(".toml") || Path::new(name).is_file() {
            let file = problem::ProblemFile::load(Path::new(name))?;
            simulate::check(&file)?;
            return Ok(Self::File(Box::new(file)));
        }
        kelfi_problems::by_name(name).map(Self::Builtin).map_err(|error| Failure::input(error.to_string()))
    }

    fn name(&self) -> String {
        match self {
            Self::Builtin(problem) => problem.name().to_owned(),
            // A name may have anything in it; the file's own name is a name of a file already.
            Self::File(file) => file.path.file_stem().map_or_else(|| "problem".into(), |stem| stem.to_string_lossy().into_owned()),
        }
    }

    /// Where observations come from unless that is said: a user-defined problem has one that matters.
    fn observed(&self) -> Observed {
        match self {
            Self::Builtin(_) => Observed::Prior,
            Self::File(_) => Observed::Own,
        }
    }

    /// Everything the simulator's results depend on.
    fn simulator(&self) -> String {
        match self {
            Self::Builtin(problem) => problem.name().to_owned(),
            Self::File(file) => {
                let files = file.simulator.as_ref().map(fingerprint::of);
                Checksum::of(format!("{:?} {:?} {:?} {files:?}", file.simulator, file.statistics, file.prior.names()).as_bytes()).hex()
            }
        }
    }

    fn problem(&self, directory: &Directory, failures: &Arc<Failures>) -> Result<Box<dyn BenchmarkProblem>, Failure> {
        match self {
            Self::Builtin(problem) => kelfi_problems::by_name(problem.name()).map_err(|error| Failure::input(error.to_string())),
            Self::File(file) => {
                let log = CallLog::open(&directory.file("calls.txt"), &self.simulator())?;
                Ok(Box::new(OwnProblem::new(file, log, Arc::clone(failures))?))
            }
        }
    }
}

/// Everything a run depends on apart from its method, budget and repeat: the kept runs of another plan are made again.
fn identity(plan: &ComparisonPlan<'_>, source: &Source) -> String {
    let of_file = if let Source::File(file) = source { file.text.as_str() } else { "" };
    let smallest = plan.budgets.iter().min();
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{version} {} {:?} {} {smallest:?} {of_file}", source.simulator(), plan.observations, plan.seed);
    Checksum::of(text.as_bytes()).hex()
}

fn make(directory: &Directory) -> Result<(), Failure> {
    directory.make()?;
    Directory::at(&directory.file("runs")).make()
}

/// Those named, each once; the usual ones if none is, and every one for `all`. Names beside `all` must be right too.
fn methods(names: &[String]) -> Result<Vec<Box<dyn Method>>, Failure> {
    let usual: Vec<String> = USUAL.map(String::from).to_vec();
    let names = if names.is_empty() { &usual } else { names };
    let (every, single): (Vec<&str>, Vec<&str>) = names.iter().map(|name| name.trim()).partition(|name| *name == "all");
    let found: Result<Vec<_>, _> = single.into_iter().map(kelfi_baselines::by_name).collect();
    let mut found = found.map_err(|error| Failure::input(error.to_string()))?;
    if !every.is_empty() {
        return Ok(kelfi_baselines::all());
    }
    let mut seen = vec![];
    found.retain(|method| {
        !seen.contains(&method.name()) && {
            seen.push(method.name());
            true
        }
    });
    Ok(found)
}

/// In their order, each once.
fn distinct(values: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut kept = vec![];
    values.for_each(|value| {
        if !kept.contains(&value) {
            kept.push(value)
        }
    });
    kept
}

fn carry_out(plan: &ComparisonPlan<'_>, ledger: &dyn Ledger, quiet: bool) -> Result<Comparison, Failure> {
    let bar = Shown::unless(quiet).bar("compare", 0);
    let mut tell = |progress: kelfi_baselines::comparison::ComparisonProgress<'_>| {
        bar.tell(progress.done as u64, progress.expected as u64, progress.method);
    };
    let found = compare_with(plan, ledger, &|| !interrupt::cancellation().is_requested(), &mut tell);
    bar.finish();
    found.map_err(|error| match error {
        kelfi::Error::Interrupted => Failure::interrupted(
            "interrupted before the first repeat was finished\n  runs made so far are kept; the same command continues",
        ),
        other => other.into(),
    })
}

/// An error if no run at all gave an answer.
fn answered(comparison: &Comparison, failures: &Failures) -> Result<(), Failure> {
    let reason = comparison.runs.iter().find_map(|run| run.failure.as_ref());
    match reason {
        Some(reason) if comparison.runs.iter().all(|run| run.score.is_none() || run.method == EXACT) => {
            let told = failures.told().map(|told| format!("\n  {told}")).unwrap_or_default();
            Err(Failure { exit: Exit::Inference, message: format!("no method gave an answer; the first reason: {reason}{told}") })
        }
        _ => Ok(()),
    }
}

fn write(comparison: &Comparison, rows: &[Row], directory: &Directory, typed: &Compare) -> Result<(), Failure> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let provenance = [
        ("version".to_owned(), format!("kelfi {}", env!("CARGO_PKG_VERSION"))),
        ("command".to_owned(), format!("kelfi {}", command.join(" "))),
    ];
    let page = ComparisonPage::new(comparison, &provenance);
    directory.write(FILES[0], page.to_html()?.as_bytes())?;
    directory.write(FILES[1], format!("{:#}\n", as_json(comparison, rows)).as_bytes())?;
    let table = table::runs(comparison).map_err(|error| Failure::unexpected(format!("compare.csv cannot be written: {error}")))?;
    directory.write(FILES[2], &table)?;
    if let Some(folder) = &typed.figures {
        figures::write(page.all_figures(), folder)?;
    }
    Ok(())
}

fn as_json(comparison: &Comparison, rows: &[Row]) -> serde_json::Value {
    let mut value = json!({ "kelfi": env!("CARGO_PKG_VERSION"), "summary": rows });
    if let (Some(all), Ok(serde_json::Value::Object(more))) = (value.as_object_mut(), serde_json::to_value(comparison)) {
        all.extend(more);
    }
    value
}
