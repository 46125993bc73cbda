//! `kelfi compare`: methods side by side on a built-in problem.

use crate::arguments::{Compare, Observed};
use crate::directory::Directory;
use crate::failure::{Exit, Failure};
use crate::progress::Shown;
use crate::{figures, interrupt, show, threads};
use kelfi::method::Method;
use kelfi_baselines::comparison::{Comparison, EXACT, Observations, Plan, Row, Run, compare};
use kelfi_problems::Problem;
use kelfi_report::ComparisonPage;
use kelfi_report::comparison::measured;
use kelfi_report::numbers::{percent, seconds, short};
use serde_json::json;

const FILES: [&str; 3] = ["compare.html", "compare.json", "compare.csv"];

pub fn run(typed: &Compare) -> Result<(), Failure> {
    let problem = problem(&typed.problem)?;
    let plan = Plan {
        problem: &*problem,
        methods: methods(&typed.methods)?,
        budgets: distinct(typed.budget.iter().map(|&budget| budget as usize)),
        repeats: typed.repeats as usize,
        observations: match typed.observations {
            Observed::Prior => Observations::FromPrior,
            Observed::Own => Observations::Own,
        },
        seed: typed.seed,
    };
    threads::use_threads(typed.threads)?;
    let directory = Directory::at(&typed.out.clone().unwrap_or_else(|| format!("compare-{}", problem.name()).into()));
    directory.make()?;
    let comparison = carry_out(&plan, typed.voice.quiet)?;
    answered(&comparison)?;
    let rows = comparison.summary();
    write(&comparison, &rows, &directory, typed)?;
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", as_json(&comparison, &rows)))?,
        (_, true) => (),
        _ => show::print(&table(&comparison, &rows, &directory))?,
    }
    match comparison.planned - comparison.repeats {
        0 => Ok(()),
        left => Err(Failure::interrupted(format!(
            "interrupted with {left} of {} repeats to go\n  what was finished is in {}; run again for all",
            comparison.planned,
            directory.path().display()
        ))),
    }
}

fn problem(name: &str) -> Result<Box<dyn Problem>, Failure> {
    if name.ends_with(".toml") {
        let fact = format!("{name} is a problem file; methods are compared on built-in problems, whose truth is known");
        return Err(Failure::input(format!("{fact}\n  `kelfi problems` lists them")));
    }
    kelfi_problems::by_name(name).map_err(|error| Failure::input(error.to_string()))
}

/// Those named, each once; all if none is.
fn methods(names: &[String]) -> Result<Vec<Box<dyn Method>>, Failure> {
    if names.is_empty() {
        return Ok(kelfi_baselines::all());
    }
    let found: Result<Vec<_>, _> = names.iter().map(|name| kelfi_baselines::by_name(name.trim())).collect();
    let mut found = found.map_err(|error| Failure::input(error.to_string()))?;
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

fn carry_out(plan: &Plan<'_>, quiet: bool) -> Result<Comparison, Failure> {
    let bar = Shown::unless(quiet).bar("compare", 0);
    let mut tell = |progress: kelfi_baselines::comparison::Progress<'_>| {
        bar.set_length(progress.expected as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(progress.method.to_owned());
    };
    let found = compare(plan, &|| !interrupt::cancellation().is_requested(), &mut tell);
    bar.finish_and_clear();
    found.map_err(|error| match error {
        kelfi::Error::Interrupted => {
            Failure::interrupted("interrupted before the first repeat was finished\n  nothing was written; run again")
        }
        other => other.into(),
    })
}

/// An error if no run at all gave an answer.
fn answered(comparison: &Comparison) -> Result<(), Failure> {
    let reason = comparison.runs.iter().find_map(|run| run.failure.as_ref());
    match reason {
        Some(reason) if comparison.runs.iter().all(|run| run.score.is_none() || run.method == EXACT) => {
            Err(Failure { exit: Exit::Inference, message: format!("no method gave an answer; the first reason: {reason}") })
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
    let table = runs(comparison).map_err(|error| Failure::unexpected(format!("compare.csv cannot be written: {error}")))?;
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

/// Every run as a row of CSV; what is not known is left empty.
fn runs(comparison: &Comparison) -> csv::Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record([
        "method",
        "simulations",
        "repeat",
        "calls",
        "seconds",
        "error",
        "error_in_sds",
        "covered_50",
        "covered_95",
        "gain",
        "c2st",
        "nmse",
        "width",
        "failure",
    ])?;
    for Run { method, budget, repeat, calls, seconds, score, failure } in &comparison.runs {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let mut record = vec![method.clone(), budget.to_string(), repeat.to_string(), calls.to_string(), format!("{seconds:?}")];
        let s = score.as_ref();
        record.extend([s.and_then(|s| s.error), s.and_then(|s| s.error_in_sds), s.and_then(|s| s.covered_50)].map(number));
        record.extend([s.and_then(|s| s.covered_95), s.and_then(|s| s.gain), s.and_then(|s| s.c2st)].map(number));
        record.extend([s.and_then(|s| s.nmse), s.map(|s| s.width)].map(number));
        record.push(failure.clone().unwrap_or_default());
        csv.write_record(&record)?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// One line for each method and budget. Columns that nothing is known about are left out.
fn table(comparison: &Comparison, rows: &[Row], directory: &Directory) -> String {
    type Column = (&'static str, fn(&Row) -> Option<String>);
    const COLUMNS: [Column; 10] = [
        ("method", |r| Some(r.method.clone())),
        ("simulations", |r| Some(r.budget.to_string())),
        ("error", |r| r.error.map(|m| measured(Some(m)))),
        ("error/sd", |r| r.error_in_sds.map(short)),
        ("50 %", |r| r.covered_50.map(|m| percent(m.mean))),
        ("95 %", |r| r.covered_95.map(|m| percent(m.mean))),
        ("gain", |r| r.gain.map(|m| measured(Some(m)))),
        ("C2ST", |r| r.c2st.map(|m| percent(m.mean))),
        ("NMSE %", |r| r.nmse.map(|m| measured(Some(m)))),
        ("time", |r| r.seconds.map(|m| seconds(m.mean))),
    ];
    let shown: Vec<&Column> = COLUMNS.iter().filter(|column| rows.iter().any(|row| column.1(row).is_some())).collect();
    let mut lines = vec![shown.iter().map(|column| column.0.to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| shown.iter().map(|column| column.1(row).unwrap_or_else(|| "-".into())).collect()));
    let mut text = format!("{}: {} repeats\n\n{}", comparison.problem, comparison.repeats, show::columns(&lines));
    text.push_str("\nerror: of the posterior mean, in prior standard deviations; gain: ln of posterior over prior density at the truth\n");
    for row in rows.iter().filter(|row| row.failed > 0) {
        let reason = comparison.runs_of(&row.method, row.budget).find_map(|run| run.failure.clone()).unwrap_or_default();
        text.push_str(&format!("{} gave no answer in {} of {} repeats: {reason}\n", row.method, row.failed, comparison.repeats));
    }
    text + &format!("in {}: {}\n", directory.path().display(), FILES.join(", "))
}
