//! What the kernel means model learned: tolerances, length scales, λ, and both objectives around the choice.

use super::objective::{profile, surface_figure};
use super::relevance::{self, dropped};
use crate::figure::Numbers;
use crate::inputs::ReportInputs;
use crate::numbers::{number, short};
use crate::section::{Cell, Section, Table};
use kelfi::learning::{Learned, Objective};
use kelfi::simulations::DataSets;
use kelfi::{Error, KernelMeansLikelihood, Recorded};

/// Adds it to the section.
pub fn add(section: &mut Section, inputs: &ReportInputs<'_>, model: &KernelMeansLikelihood, learned: &Learned) -> Result<(), Error> {
    let by = match learned.objective {
        Objective::LeaveOneOut => {
            "the leave-one-out posterior score (the posterior density at the true parameters of each simulation near the observation, computed without it)"
        }
        Objective::Evidence => "the marginal likelihood ln q(y)",
    };
    section.text(format!(
        "Hyperparameters were chosen by {by}. Score {} ± {} nats over the prior; ln q(y) = {} at these tolerances. Regularization λ = {}.",
        learned.score.map_or("–".into(), short),
        learned.score_standard_error.map_or("–".into(), short),
        learned.log_marginal_likelihood.map_or("–".into(), number),
        short(learned.hyperparameters.regularization),
    ));
    if let Some(low_rank) = model.solver_report() {
        section.text(format!("Solver: {low_rank}."));
    }
    let mut figures = vec![];
    match model.recorded() {
        Recorded::DataSets(sets) => section.text(data_sets(inputs, sets, learned)),
        Recorded::Statistics(_) => {
            section.text("A statistic with a small tolerance ε relative to its spread determines the parameters; one with a large tolerance is ignored. Relevance is spread over ε.");
            figures.push(relevance::figure(inputs, &learned.statistics));
        }
    }
    figures.extend(profile(inputs, model)?);
    figures.extend(surface_figure(inputs, model, learned)?);
    section.figures(figures);
    if matches!(model.recorded(), Recorded::Statistics(_)) {
        section.table(statistics_table(inputs, learned));
    }
    section.table(length_scales(inputs, model));
    Ok(())
}

/// How data sets were compared, in a sentence.
fn data_sets(inputs: &ReportInputs<'_>, sets: &DataSets, learned: &Learned) -> String {
    let scales: Vec<String> =
        sets.length_scales().iter().enumerate().map(|(k, scale)| format!("{} {}", inputs.statistic(k), short(*scale))).collect();
    let epsilon = learned.statistics.first().map_or("–".into(), |report| short(report.epsilon));
    format!(
        "Data sets were compared as distributions, by their maximum mean discrepancy under a Gaussian kernel with length scales {}. The tolerance of the discrepancy, which lies between 0 and 1.4, is ε = {epsilon}.",
        scales.join(", ")
    )
}

fn statistics_table(inputs: &ReportInputs<'_>, learned: &Learned) -> Table {
    let mut numbers = Numbers::new(&["statistic", "spread", "epsilon", "relative_epsilon", "relevance"]);
    let mut rows = vec![];
    for i in learned.ranking() {
        let s = &learned.statistics[i];
        let name = inputs.statistic(i);
        numbers.named(&name, &[s.scale.scale, s.epsilon, s.relative_epsilon, s.relevance]);
        let cells = [s.scale.scale, s.epsilon, s.relative_epsilon, s.relevance].map(|v| Cell::number(number(v)));
        rows.push([vec![Cell::text(name)], cells.to_vec(), vec![Cell::text(dropped(inputs, s))]].concat());
    }
    let columns = ["statistic", "spread", "ε", "ε / spread", "relevance", "note"].map(String::from).to_vec();
    Table {
        id: "statistics-table".into(),
        caption: "Tolerance of every statistic, most relevant first".into(),
        columns,
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}

fn length_scales(inputs: &ReportInputs<'_>, model: &KernelMeansLikelihood) -> Table {
    let scales = model.hyperparameters().length_scale;
    let mut numbers = Numbers::new(&["parameter", "length_scale"]);
    let mut rows = vec![];
    for (name, scale) in inputs.parameter_names().iter().zip(&scales) {
        numbers.named(name, &[*scale]);
        rows.push(vec![Cell::text(name), Cell::number(number(*scale))]);
    }
    let columns = ["parameter", "length scale β (prior standard deviations)"].map(String::from).to_vec();
    Table {
        id: "length-scales".into(),
        caption: "Length scale of each parameter: how far simulations inform each other".into(),
        columns,
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}
