//! Which model was used, and why.

use crate::figure::Numbers;
use crate::section::{Cell, Section, Table};
use crate::sections::verdict::sentence;
use kelfi::fit::Comparison;
use kelfi::{Fit, Kind};

/// A score in nats and its standard error.
type Score = (f64, f64);

/// Adds it to the section.
pub fn add(section: &mut Section, fit: &Fit) {
    let used = words(fit.model.kind());
    let Some(comparison) = &fit.comparison else {
        return section.text(format!("The {used} model was used, as asked for."));
    };
    section.text(format!("The {used} model was used. {}", sentence(&comparison.reason)));
    if let (Some(kernel_means), Some(location_scale)) = (comparison.kernel_means, comparison.location_scale) {
        section.table(table(comparison, [(Kind::KernelMeans, kernel_means), (Kind::LocationScale, location_scale)]));
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::KernelMeans => "kernel means",
        Kind::LocationScale => "location-scale",
    }
}

fn table(comparison: &Comparison, scores: [(Kind, Score); 2]) -> Table {
    let mut numbers = Numbers::new(&["model", "score", "standard_error"]);
    let mut rows = vec![];
    for (kind, score) in scores {
        numbers.named(kind.name(), &[score.0, score.1]);
        let used = if kind == comparison.chosen { "used" } else { "" };
        rows.push(vec![Cell::text(words(kind)), Cell::number(with_error(score)), Cell::text(used)]);
    }
    if let Some(difference) = comparison.difference {
        numbers.named("location-scale less kernel-means", &[difference.0, difference.1]);
        rows.push(vec![Cell::text("difference, simulation by simulation"), Cell::number(with_error(difference)), Cell::text("")]);
    }
    Table {
        id: "models-table".into(),
        caption: "Leave-one-out posterior score of each model ± standard error; more is better".into(),
        columns: ["model", "score (nats)", ""].map(String::from).to_vec(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    }
}

/// Nats ± standard error, as the sentence on the comparison writes them.
pub fn with_error((value, error): Score) -> String {
    if value.is_finite() && error.is_finite() { format!("{value:.2} ± {error:.2}") } else { "–".into() }
}
