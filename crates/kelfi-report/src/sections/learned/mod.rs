//! What mattered? Which model and why, relevance and tolerances of the statistics, and what else was learned.

mod kernel_means;
mod location_scale;
mod model_choice;
mod objective;
mod relevance;

use crate::inputs::ReportInputs;
use crate::section::Section;
use kelfi::Error;

/// The section.
pub fn section(inputs: &ReportInputs<'_>) -> Result<Section, Error> {
    let mut section = Section::new("learned", "What mattered?");
    model_choice::add(&mut section, inputs.fit);
    if let Some((model, learned)) = inputs.fit.kernel_means() {
        kernel_means::add(&mut section, inputs, model, learned)?;
    }
    if let Some((model, left_out)) = inputs.fit.location_scale() {
        location_scale::add(&mut section, inputs, model, left_out);
    }
    Ok(section)
}
