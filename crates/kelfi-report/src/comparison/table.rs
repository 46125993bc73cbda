//! The table of means over repeats.

use crate::figure::Numbers;
use crate::numbers::{percent, seconds, short};
use crate::section::{Cell, Table};
use kelfi_baselines::comparison::{Measured, Row};

/// Mean ± standard error.
pub fn measured(value: Option<Measured>) -> String {
    match value {
        None => "–".into(),
        Some(Measured { mean, standard_error: None }) => short(mean),
        Some(Measured { mean, standard_error: Some(error) }) => format!("{} ± {}", short(mean), crate::numbers::significant(error, 2)),
    }
}

/// A column: heading, text and number of a row. Columns without any number are left out.
type Column = (&'static str, &'static str, fn(&Row) -> String, fn(&Row) -> Option<Measured>);

const COLUMNS: [Column; 13] = [
    ("error (prior sds)", "error", |r| measured(r.error), |r| r.error),
    (
        "error / own sd",
        "error_in_sds",
        |r| r.error_in_sds.map_or("–".into(), short),
        |r| r.error_in_sds.map(|mean| Measured { mean, standard_error: None }),
    ),
    ("50 % interval covers", "covered_50", |r| share(r.covered_50), |r| r.covered_50),
    ("95 % interval covers", "covered_95", |r| share(r.covered_95), |r| r.covered_95),
    ("gain over the prior (nats)", "gain", |r| measured(r.gain), |r| r.gain),
    ("C2ST", "c2st", |r| share(r.c2st), |r| r.c2st),
    ("total variation", "total_variation", |r| measured(r.total_variation), |r| r.total_variation),
    ("NMSE (%)", "nmse", |r| measured(r.nmse), |r| r.nmse),
    ("left-out simulations (nats)", "left_out", |r| measured(r.left_out), |r| r.left_out),
    ("predictive distance", "predictive", |r| measured(r.predictive), |r| r.predictive),
    ("apart from the others (sds)", "apart", |r| measured(r.apart), |r| r.apart),
    ("width (prior sds)", "width", |r| measured(r.width), |r| r.width),
    ("calls", "calls", |r| measured(r.calls), |r| r.calls),
];

fn share(value: Option<Measured>) -> String {
    value.map_or("–".into(), |m| percent(m.mean))
}

/// One row for each method and budget.
pub(super) fn table(rows: &[Row]) -> Table {
    let shown: Vec<&Column> = COLUMNS.iter().filter(|column| rows.iter().any(|row| column.3(row).is_some())).collect();
    let mut columns = vec!["method".to_string(), "simulations".into()];
    columns.extend(shown.iter().map(|column| column.0.to_string()));
    columns.extend(["time".to_string(), "failed".into()]);
    let mut header = vec!["method".to_string(), "simulations".into()];
    for column in &shown {
        header.extend([column.1.to_string(), format!("{}_standard_error", column.1)]);
    }
    header.extend(["seconds".to_string(), "failed".into()]);
    let mut numbers = Numbers::new(&header);
    let mut cells = vec![];
    for row in rows {
        let mut line = vec![Cell::text(&row.method), Cell::number(row.budget.to_string())];
        line.extend(shown.iter().map(|column| Cell::number(column.2(row))));
        line.push(Cell::number(row.seconds.map_or("–".into(), |m| seconds(m.mean))));
        line.push(Cell::number(row.failed.to_string()));
        cells.push(line);
        let mut values = vec![row.budget as f64];
        for column in &shown {
            let value = column.3(row);
            values.extend([value.map_or(f64::NAN, |m| m.mean), value.and_then(|m| m.standard_error).unwrap_or(f64::NAN)]);
        }
        values.extend([row.seconds.map_or(f64::NAN, |m| m.mean), row.failed as f64]);
        numbers.named(&row.method, &values);
    }
    Table {
        id: "comparison-table".into(),
        caption:
            "Means over the repeats; error, C2ST, total variation, NMSE and predictive distance: smaller is better, gain and left-out simulations: larger; 50 and 95 % intervals should have that coverage"
                .into(),
        columns,
        rows: cells,
        folded: false,
        csv: numbers.csv().into(),
    }
}
