//! What mattered? Which model and why, relevance and tolerances of the statistics, and what else was learned.

mod any_model;
mod kernel_means;
mod location_scale;
mod model_choice;
mod objective;
mod relevance;
mod summaries;

use crate::inputs::ReportInputs;
use crate::section::Section;
use kelfi::{Error, KernelMeansLikelihood, LocationScaleLikelihood, SummariesLikelihood};

/// The section.
pub fn section(inputs: &ReportInputs<'_>) -> Result<Section, Error> {
    let mut section = Section::new("learned", "What mattered?");
    model_choice::add(&mut section, inputs.fit);
    let kernel_means_of = inputs.fit.model_as::<KernelMeansLikelihood>();
    if let Some((model, learned)) = kernel_means_of.and_then(|model| Some((model, model.learned()?))) {
        kernel_means::add(&mut section, inputs, model, learned)?;
    } else if let Some(model) = inputs.fit.model_as::<LocationScaleLikelihood>() {
        location_scale::add(&mut section, inputs, model)?;
    } else if let Some(model) = inputs.fit.model_as::<SummariesLikelihood>() {
        summaries::add(&mut section, inputs, model)?;
    } else {
        any_model::add(&mut section, inputs);
    }
    Ok(section)
}
