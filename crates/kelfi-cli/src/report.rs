//! The page: what the report needs from a run directory.

use crate::counting::{self, Work};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::infer::Inferred;
use crate::made::Made;
use crate::problem::{Problem, Simulator};
use kelfi::{FitSettings, Outputs};
use kelfi_report::{Report, ReportInputs};
use kelfi_run::Seeds;

/// The file's name.
pub const NAME: &str = "report.html";

/// Makes the report of what was inferred and writes it to report.html.
pub fn write(
    problem: &Problem,
    made: &Made,
    directory: &Directory,
    inferred: &Inferred,
    settings: &FitSettings,
) -> Result<Report, Failure> {
    counting::note(Work::Report);
    let statistics = problem.used_statistics();
    let inputs = ReportInputs {
        description: format!("{} parameters inferred from {}", problem.prior.dimension(), observed(problem)),
        statistic_names: statistics,
        truth: truth(problem),
        calls: Some(made.calls()?),
        provenance: provenance(problem, made.seeds),
        ..ReportInputs::new(&problem.name, &inferred.fit, settings)
    };
    let report = Report::new(&inputs)?;
    directory.write(NAME, report.to_html()?.as_bytes())?;
    Ok(report)
}

/// What was observed, in a few words.
fn observed(problem: &Problem) -> String {
    let (columns, rows) = (problem.used().len(), problem.observed_rows());
    match problem.outputs {
        Outputs::Statistics => format!("{columns} statistics"),
        Outputs::Rows => {
            let several = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
            format!("a data set of {} with {}", several(rows, "row"), several(columns, "column"))
        }
    }
}

/// The parameters behind a built-in problem's own observation, where it knows them.
fn truth(problem: &Problem) -> Option<Vec<f64>> {
    let Some(Simulator::Builtin(name)) = &problem.simulator else { return None };
    let builtin = kelfi_problems::by_name(name).ok()?;
    let same = builtin.observation() == problem.observation && builtin.parameter_names() == problem.prior.names();
    builtin.truth().filter(|_| same).map(<[f64]>::to_vec)
}

fn provenance(problem: &Problem, seeds: Seeds) -> Vec<(String, String)> {
    let command: Vec<String> = std::env::args().collect();
    let named = |name: &str, value: String| (name.to_string(), value);
    vec![
        named("version", format!("kelfi {}", env!("CARGO_PKG_VERSION"))),
        named("seed", problem.seed.to_string()),
        named("command", format!("kelfi {}", command.get(1..).unwrap_or_default().join(" "))),
        named("hash of the problem", problem.identity(seeds).hash()),
    ]
}
