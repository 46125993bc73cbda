//! What the model of learned summaries learned: how much the statistics together say about each parameter.

use super::model_choice::with_error;
use super::relevance;
use crate::figure::Numbers;
use crate::inputs::ReportInputs;
use crate::numbers::short;
use crate::section::{Cell, Section, Table};
use kelfi::{Error, SummariesLikelihood};

/// Adds it to the section.
pub fn add(section: &mut Section, inputs: &ReportInputs<'_>, model: &SummariesLikelihood) -> Result<(), Error> {
    let posterior = &inputs.fit.posterior;
    section.text(format!(
        "A regression of each parameter on the statistics makes a summary of them, and the location-scale model was fitted to these {} instead of {} statistics; a simulation's own summary comes from the regression without it. The leave-one-out posterior score is {} nats over the prior; ln q(y) = {} is that of the summaries and cannot be compared with other models'.",
        model.summaries().count(),
        inputs.fit.question().observed().map_or(0, <[f64]>::len),
        with_error(inputs.fit.left_out()?.scores.mean()),
        with_error((posterior.log_evidence(), posterior.log_evidence_error())),
    ));
    section.table(table(inputs, model));
    let statistics = inputs.fit.statistics();
    if !statistics.is_empty() {
        section.text("Relevance of a statistic is the signal over the noise of a location-scale model of the statistics themselves, which also predicts them and tells whether the observation is possible: well above 1 a statistic decides about the parameters on its own, well below 1 it says little on its own.");
        section.figures(vec![relevance::figure(inputs, &statistics)]);
    }
    Ok(())
}

fn table(inputs: &ReportInputs<'_>, model: &SummariesLikelihood) -> Table {
    let names = inputs.fit.question().prior.names();
    let mut numbers = Numbers::new(&["parameter", "explained"]);
    let mut rows = vec![];
    for (summary, explained) in model.summaries().hyperparameters().iter().zip(model.summaries().explained()) {
        numbers.named(&names[summary.target], &[explained]);
        let bend = summary.regression.bend();
        rows.push(vec![Cell::text(&names[summary.target]), Cell::number(short(explained)), Cell::text(bend)]);
    }
    Table {
        id: "summaries-table".into(),
        caption: "Each summary: the parameter it predicts, R² of predictions for simulations it has not seen, and how it bends".into(),
        columns: ["parameter", "R²", "form"].map(String::from).to_vec(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    }
}
