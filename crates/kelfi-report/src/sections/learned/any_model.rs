//! What every model says about itself: its score and which statistics decide.

use super::model_choice::with_error;
use super::relevance;
use crate::inputs::ReportInputs;
use crate::section::Section;

/// Adds it to the section.
pub fn add(section: &mut Section, inputs: &ReportInputs<'_>) {
    let posterior = &inputs.fit.posterior;
    section.text(format!(
        "The leave-one-out posterior score is {} nats over the prior; ln q(y) = {}.",
        inputs.fit.score().map_or("–".into(), with_error),
        with_error((posterior.log_evidence(), posterior.log_evidence_error())),
    ));
    let statistics = inputs.fit.statistics();
    if !statistics.is_empty() {
        section.text("Statistics of high relevance determine the parameters; those near zero say little.");
        section.figures(vec![relevance::figure(inputs, &statistics)]);
    }
}
