//! Which model was used, and why.

use crate::figure::Numbers;
use crate::section::{Cell, Section, Table};
use crate::sections::verdict::sentence;
use kelfi::Fit;
use kelfi::fit::{ModelChoiceReport, Score};
use kelfi::model::family;

/// Adds it to the section.
pub fn add(section: &mut Section, fit: &Fit) {
    let used = fit.model.family().title;
    let Some(comparison) = &fit.comparison else {
        // Rounds compare no models.
        let requested = if fit.history().is_some() { "" } else { ", as requested" };
        return section.text(format!("The {used} model was used{requested}."));
    };
    section.text(format!("The {used} model was used. {}", sentence(&comparison.reason)));
    if comparison.scores().count() > 1 {
        section.table(table(comparison));
    }
}

fn table(comparison: &ModelChoiceReport) -> Table {
    let mut numbers = Numbers::new(&["model", "score", "standard_error"]);
    let mut rows = vec![];
    for (name, score) in comparison.scores() {
        numbers.named(name, &[score.0, score.1]);
        let used = if name == comparison.chosen { "used" } else { "" };
        let title = family::named(name).map_or(name, |family| family.title);
        rows.push(vec![Cell::text(title), Cell::number(with_error(score)), Cell::text(used)]);
    }
    if let Some(difference) = comparison.difference {
        let of_two = comparison.scores().count() == 2;
        let which = if of_two { "location-scale less kernel-means" } else { "the one used less the next" };
        numbers.named(which, &[difference.0, difference.1]);
        rows.push(vec![Cell::text("difference, simulation by simulation"), Cell::number(with_error(difference)), Cell::text("")]);
    }
    Table {
        id: "models-table".into(),
        caption: "Leave-one-out posterior score of each model ± standard error; higher is better".into(),
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
