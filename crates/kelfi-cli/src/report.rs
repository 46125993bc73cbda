//! The page: what the report needs from a run directory.

use crate::counting::{self, Work};
use crate::date;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::infer::Inferred;
use crate::made::Made;
use crate::problem::{ProblemFile, SimulatorSource};
use kelfi::words::counted;
use kelfi::{FitOptions, Outputs};
use kelfi_report::{Report, ReportInputs};
use kelfi_run::Seeds;

/// The file's name.
pub const NAME: &str = "report.html";

/// Makes the report of what was inferred and writes it to report.html.
pub fn write(
    problem: &ProblemFile,
    made: &Made,
    directory: &Directory,
    inferred: &Inferred,
    settings: &FitOptions,
) -> Result<Report, Failure> {
    counting::note(Work::Report);
    let statistics = problem.used_statistics();
    let inputs = ReportInputs {
        description: format!("{} inferred from {}", counted(problem.prior.dimension() as u64, "parameter"), observed(problem)),
        statistic_names: statistics,
        truth: truth(problem),
        calls: Some(made.calls()?),
        provenance: provenance(problem, made.seeds),
        problem_file: problem_file(problem),
        ..ReportInputs::new(&problem.name, &inferred.fit, settings)
    };
    let report = Report::new(&inputs)?;
    directory.write(NAME, report.to_html()?.as_bytes())?;
    Ok(report)
}

/// What was observed, in a few words.
fn observed(problem: &ProblemFile) -> String {
    let (columns, rows) = (problem.used().len(), problem.observed_rows());
    match problem.outputs {
        Outputs::Statistics => counted(columns as u64, "statistic"),
        Outputs::Repeats(repeats) => {
            format!("{} of {}", counted(repeats as u64, "repeat"), counted((columns / repeats) as u64, "statistic"))
        }
        Outputs::Rows => {
            format!("a data set of {} with {}", counted(rows as u64, "row"), counted(columns as u64, "column"))
        }
    }
}

/// The parameters behind a built-in problem's own observation, where it knows them.
fn truth(problem: &ProblemFile) -> Option<Vec<f64>> {
    let Some(SimulatorSource::Builtin(name)) = &problem.simulator else { return None };
    let builtin = kelfi_problems::by_name(name).ok()?;
    let same = builtin.observation() == problem.observation && builtin.parameter_names() == problem.prior.names();
    builtin.truth().filter(|_| same).map(<[f64]>::to_vec)
}

/// The file the problem was read from, if it is still there.
fn problem_file(problem: &ProblemFile) -> Option<(String, String)> {
    let name = problem.path.file_name()?.to_string_lossy().into_owned();
    Some((name, std::fs::read_to_string(&problem.path).ok()?))
}

fn provenance(problem: &ProblemFile, seeds: Seeds) -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().collect();
    let named = |name: &str, value: String| (name.to_string(), value);
    vec![
        named("version", format!("kelfi {}", env!("CARGO_PKG_VERSION"))),
        named("date", date::today()),
        named("seed", problem.seed.to_string()),
        named("command", format!("kelfi {}", command.get(1..).unwrap_or_default().join(" "))),
        named("hash of the problem", problem.identity(seeds).hash()),
    ]
}
