//! A comparison as a table for people and as CSV.

use crate::paragraph::terminal_width;
use kelfi::words::counted;
use kelfi_baselines::comparison::{Comparison, Row, Run};
use kelfi_report::comparison::measured;
use kelfi_report::numbers::{percent, seconds, short};

/// Every run as a row of CSV; what is not known is left empty.
pub fn runs(comparison: &Comparison) -> csv::Result<Vec<u8>> {
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
        "total_variation",
        "nmse",
        "left_out",
        "predictive",
        "width",
        "failure",
        "remark",
    ])?;
    for Run { method, budget, repeat, calls, seconds, score, failure, remark, .. } in &comparison.runs {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:?}"));
        let mut record = vec![method.clone(), budget.to_string(), repeat.to_string(), calls.to_string(), format!("{seconds:?}")];
        let s = score.as_ref();
        record.extend([s.and_then(|s| s.error), s.and_then(|s| s.error_in_sds), s.and_then(|s| s.covered_50)].map(number));
        record.extend([s.and_then(|s| s.covered_95), s.and_then(|s| s.gain), s.and_then(|s| s.c2st)].map(number));
        record.extend([s.and_then(|s| s.total_variation), s.and_then(|s| s.nmse), s.and_then(|s| s.left_out)].map(number));
        record.extend([s.and_then(|s| s.predictive), s.map(|s| s.width)].map(number));
        record.extend([failure, remark].map(|text| text.clone().unwrap_or_default()));
        csv.write_record(&record)?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// Columns that a narrow terminal does without, the first of them first; the page and the files have all.
const FIRST_LEFT_OUT: [&str; 6] = ["apart", "width", "calls", "TV", "error/sd", "gain"];

/// One line for each method and budget. Columns that nothing is known about are left out.
pub fn table(comparison: &Comparison, rows: &[Row]) -> String {
    type Column = (&'static str, fn(&Row) -> Option<String>);
    const COLUMNS: [Column; 16] = [
        ("method", |r| Some(r.method.clone())),
        ("simulations", |r| Some(r.budget.to_string())),
        ("error", |r| r.error.map(|m| measured(Some(m)))),
        ("error/sd", |r| r.error_in_sds.map(short)),
        ("50 %", |r| r.covered_50.map(|m| percent(m.mean))),
        ("95 %", |r| r.covered_95.map(|m| percent(m.mean))),
        ("gain", |r| r.gain.map(|m| measured(Some(m)))),
        ("C2ST", |r| r.c2st.map(|m| percent(m.mean))),
        ("TV", |r| r.total_variation.map(|m| short(m.mean))),
        ("NMSE %", |r| r.nmse.map(|m| measured(Some(m)))),
        ("left out", |r| r.left_out.map(|m| measured(Some(m)))),
        ("predictive", |r| r.predictive.map(|m| measured(Some(m)))),
        ("apart", |r| r.apart.map(|m| short(m.mean))),
        ("width", |r| r.width.map(|m| short(m.mean))),
        ("calls", |r| r.calls.map(|m| short(m.mean))),
        ("time", |r| r.seconds.map(|m| seconds(m.mean))),
    ];
    let mut shown: Vec<&Column> = COLUMNS.iter().filter(|column| rows.iter().any(|row| column.1(row).is_some())).collect();
    let aligned = |shown: &[&Column]| {
        let mut lines = vec![shown.iter().map(|column| column.0.to_owned()).collect::<Vec<_>>()];
        lines.extend(rows.iter().map(|row| shown.iter().map(|column| column.1(row).unwrap_or_else(|| "-".into())).collect()));
        crate::show::columns(&lines)
    };
    let width = terminal_width().unwrap_or(usize::MAX);
    for left_out in FIRST_LEFT_OUT {
        if aligned(&shown).lines().all(|line| line.chars().count() <= width) {
            break;
        }
        shown.retain(|column| column.0 != left_out);
    }
    let mut text = format!("{}: {}\n\n{}", comparison.problem, counted(comparison.repeats as u64, "repeat"), aligned(&shown));
    text.push_str(&legend(&shown.iter().map(|column| column.0).collect::<Vec<_>>()));
    for row in rows.iter().filter(|row| row.failed > 0) {
        let reason = comparison.runs_of(&row.method, row.budget).find_map(|run| run.failure.clone()).unwrap_or_default();
        text.push_str(&format!("{} gave no answer in {} of {} repeats: {reason}\n", row.method, row.failed, comparison.repeats));
    }
    for row in rows {
        if let Some(remark) = &row.remark {
            text.push_str(&format!("{} with {} simulations, {remark}\n", row.method, row.budget));
        }
    }
    text
}

/// What the less obvious columns say, for those that are shown.
fn legend(shown: &[&str]) -> String {
    const MEANINGS: [(&str, &str); 10] = [
        ("error", "error: of the posterior mean, in prior standard deviations"),
        ("error/sd", "error/sd: the same in posterior standard deviations; about 1 is right, more is too narrow"),
        ("95 %", "50 %, 95 %: how often intervals of this size contain the truth"),
        ("gain", "gain: ln of posterior over prior density at the truth"),
        ("C2ST", "C2ST: how often a classifier tells samples from exact ones; 50 % is perfect"),
        ("TV", "TV: total variation between marginals and the exact ones"),
        ("left out", "left out: ln of posterior over prior density for simulations near the observation, each left out"),
        ("predictive", "predictive: distance of simulations at posterior samples, in spreads of the statistics"),
        ("apart", "apart: distance of marginals from the median of the other methods, in its standard deviations"),
        ("width", "width: of the posterior, in prior standard deviations"),
    ];
    let lines: Vec<&str> = MEANINGS.iter().filter(|(column, _)| shown.contains(column)).map(|(_, meaning)| *meaning).collect();
    format!("\n{}\n", lines.join("\n"))
}
