//! What the location-scale model learned: how each statistic follows the parameters, what is left over, and how the chains agree.

use super::model_choice::with_error;
use super::relevance::{self, dropped, ranking};
use crate::figure::{Numbers, full};
use crate::inputs::ReportInputs;
use crate::numbers::{number, short};
use crate::section::{Cell, Section, Table};
use kelfi::learning::StatisticReport;
use kelfi::model::location_scale::shape::{Centres, ShapeHyperparameters};
use kelfi::model::location_scale::statistic::Statistic;
use kelfi::model::location_scale::transform::Transform;
use kelfi::posterior::Representation;
use kelfi::posterior::chained::Chained;
use kelfi::prior::Coordinate;
use kelfi::samples::slice::CHAINS;
use kelfi::words::counted;
use kelfi::{Error, LocationScaleLikelihood};

/// Adds it to the section.
pub fn add(section: &mut Section, inputs: &ReportInputs<'_>, model: &LocationScaleLikelihood) -> Result<(), Error> {
    let (posterior, statistics) = (&inputs.fit.posterior, inputs.fit.statistics());
    if model.repeats() > 1 {
        section.text(repeats_in_words(model));
    }
    section.text(format!(
        "Regressions describe how the mean and spread of each statistic depend on the parameters. {} The leave-one-out posterior score is {} nats over the prior; ln q(y) = {}.",
        shapes_in_words(model),
        with_error(inputs.fit.left_out()?.scores.mean()),
        with_error((posterior.log_evidence(), posterior.log_evidence_error())),
    ));
    section.text("Statistics of high relevance determined the posterior; those well below 1 say little and could be left out.");
    section.method("R² is the share of a statistic's variance that its regression explains for simulations it has not seen. Relevance is signal over noise, √(R²/(1 − R²)): well above 1 a statistic determines the parameters, well below 1 it says little. The tolerance is how far an output may lie from the observed value and still count as matching, at the best-fitting simulation. In the table, scale is the transformation a statistic was modelled on; its mean depends on the parameters linearly, through bumps (any smooth function) or through sigmoids (levelling off). Tails are heavy where some simulations lie much farther out than Gaussian noise would; these get less weight in the regressions.");
    section.figures(vec![relevance::figure(inputs, &statistics)]);
    section.table(statistics_table(inputs, model, &statistics));
    if let Representation::Chained(chained) = posterior.form() {
        section.text(format!(
            "The posterior was sampled by {CHAINS} chains. Their R-hat is {:.3} (1 is perfect), with at least {:.0} effective samples for every parameter.",
            chained.worst_r_hat(),
            chained.least_effective()
        ));
        section.table(chains_table(inputs, chained));
    }
    Ok(())
}

/// What it means that outputs are repeats.
fn repeats_in_words(model: &LocationScaleLikelihood) -> String {
    let (repeats, each) = (model.repeats(), model.observation().len() / model.repeats());
    format!(
        "Each output is {repeats} independent repeats of {}, and the likelihood is the product over the repeats, with one uncertainty of the means for all of them. Means are regressed on the averages over repeats, spreads on the scatter around these; correlation and shape are learned from all {} residuals.",
        counted(each as u64, "statistic"),
        model.residuals().rows()
    )
}

/// One shape, or that each statistic has its own.
fn shapes_in_words(model: &LocationScaleLikelihood) -> String {
    let learned = model.hyperparameters();
    if learned.factors.is_empty() {
        return shape_in_words(learned.shape);
    }
    "Residuals have occasional outliers in one statistic at a time: each statistic has its own residual distribution, estimated from its residuals, and their product is used.".into()
}

/// e, c, β and ρ for people.
fn shape_in_words(shape: ShapeHyperparameters) -> String {
    let e = shape.tolerance;
    if e >= 1.0 {
        return "Residuals are Gaussian (tolerance e = 1).".into();
    }
    let place = match shape.length_scale {
        None => "is the same for all parameters".to_string(),
        Some(length) => format!(
            "changes with the parameters over about {} prior standard deviations (ridge {}: the larger, the less the shape may vary)",
            short(length),
            short(shape.ridge)
        ),
    };
    let around = if shape.centres == Centres::LocalMeans { " around local means" } else { "" };
    let outwards = if shape.growth > 0.0 { " in the centre and more in the tails" } else { "" };
    format!(
        "The distribution of the residuals is not Gaussian: it is estimated from the residuals of the simulations, smoothed{around} by {} of their standard deviation{outwards} (tolerance e; 1 would be Gaussian noise); it {place}.",
        short(e)
    )
}

fn counts(transform: Transform) -> String {
    transform.step.map_or(String::new(), |step| format!("values in steps of {}, made continuous", short(step)))
}

fn spread(statistic: &Statistic) -> &'static str {
    if statistic.spread_varies() { "varies" } else { "constant" }
}

fn tails(statistic: &Statistic) -> &'static str {
    if statistic.has_heavy_tails() { "heavy" } else { "Gaussian" }
}

fn statistics_table(inputs: &ReportInputs<'_>, model: &LocationScaleLikelihood, reports: &[StatisticReport]) -> Table {
    // All repeats of a statistic have one model.
    let each = reports.len() / model.repeats();
    let fitted = |i: usize| model.statistics().iter().find(|s| s.hyperparameters().index == i % each);
    let mut numbers =
        Numbers::new(&["statistic", "relevance", "explained", "spread", "scale", "mean", "tails", "epsilon", "relative_epsilon"]);
    let noted = (0..reports.len()).any(|i| fitted(i).is_none_or(|s| s.hyperparameters().transform.step.is_some()));
    let mut rows = vec![];
    for i in ranking(reports) {
        let (report, name) = (&reports[i], inputs.statistic(i));
        let ([explained, tolerance, relative], words, note) = match fitted(i) {
            Some(s) => {
                let transform = s.hyperparameters().transform;
                let words = [spread(s), transform.scale.name(), s.mean().bend(), tails(s)];
                ([s.explained(), report.epsilon, report.relative_epsilon], words, counts(transform))
            }
            None => ([f64::NAN; 3], ["–"; 4], dropped(inputs, report)),
        };
        let mut values = vec![name.clone(), full(report.relevance), full(explained)];
        values.extend(words.map(String::from));
        values.extend([full(tolerance), full(relative)]);
        numbers.row(&values);
        let mut row = vec![Cell::text(name)];
        row.extend([report.relevance, explained, tolerance, relative].map(|v| Cell::number(number(v))));
        row.extend(words.map(Cell::text));
        if noted {
            row.push(Cell::text(note));
        }
        rows.push(row);
    }
    let mut columns =
        vec!["statistic", "relevance", "R²", "tolerance", "tolerance / spread", "spread with θ", "scale", "mean with θ", "tails"];
    columns.extend(noted.then_some("note"));
    Table {
        id: "statistics-table".into(),
        caption: "How every statistic follows the parameters θ, most relevant first".into(),
        columns: columns.into_iter().map(String::from).collect(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    }
}

fn chains_table(inputs: &ReportInputs<'_>, chained: &Chained) -> Table {
    let prior = inputs.fit.posterior.prior();
    let own = (0..prior.dimension()).all(|d| matches!(prior.coordinate(d), Coordinate::Monotone));
    let mut numbers = Numbers::new(&["coordinate", "r_hat", "effective_samples"]);
    let mut rows = vec![];
    for (d, (r_hat, effective)) in chained.r_hat().iter().zip(chained.effective()).enumerate() {
        // Correlated priors are sampled along independent combinations of their parameters.
        let name = if own { inputs.parameter_names()[d].clone() } else { format!("combination {}", d + 1) };
        numbers.named(&name, &[*r_hat, *effective]);
        rows.push(vec![Cell::text(name), Cell::number(format!("{r_hat:.3}")), Cell::number(format!("{effective:.0}"))]);
    }
    let first = if own { "parameter" } else { "combination of parameters" };
    Table {
        id: "chains-table".into(),
        caption: "How well the chains agree".into(),
        columns: [first, "R-hat", "effective samples"].map(String::from).to_vec(),
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}
