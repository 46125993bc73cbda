//! `kelfi problems`: the built-in benchmark problems.

use crate::arguments::Problems;
use crate::failure::Failure;
use crate::show;
use serde_json::json;
use std::fmt::Write as _;

pub fn run(typed: &Problems) -> Result<(), Failure> {
    let problems = kelfi_problems::all();
    if typed.json {
        let one = |p: &dyn kelfi_problems::BenchmarkProblem| {
            json!({ "name": p.name(), "description": p.description(), "parameters": p.parameter_names(), "statistics": p.statistic_names(),
                    "observation": p.observation(), "truth": p.truth() })
        };
        return show::print(&format!(
            "{:#}\n",
            serde_json::Value::from(problems.iter().map(|problem| one(&**problem)).collect::<Vec<_>>())
        ));
    }
    let width = problems.iter().map(|problem| problem.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for problem in &problems {
        let (d, n) = (problem.parameter_names().len(), problem.statistic_names().len());
        let _ = writeln!(text, "{:<width$}  {d:>2} parameters, {n:>3} statistics  {}", problem.name(), problem.description());
    }
    show::print(&(text + "\nuse one with [simulator] builtin = \"NAME\" in a problem file\n"))
}
