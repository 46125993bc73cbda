//! How do I describe this in a paper? A paragraph of methods with the numbers of this run, and the references.

use super::parameters::Parameter;
use crate::inputs::ReportInputs;
use crate::numbers::{percent, short};
use crate::section::{Block, Section};
use kelfi::LOCATION_SCALE;
use kelfi::checks::{Check, Status};
use kelfi::words::counted;

const KELFI: &str = "The kelfi developers. kelfi: likelihood-free inference that tunes itself. Version ";
const PAPER: &str = "Hsu, K. and Ramos, F. (2019). Bayesian learning of conditional kernel mean embeddings for automatic likelihood-free inference. Proceedings of the 22nd International Conference on Artificial Intelligence and Statistics (AISTATS). arXiv:1903.00863.";

/// The section.
pub fn section(inputs: &ReportInputs<'_>, parameters: &[Parameter], checks: &[Check]) -> Section {
    let mut section = Section::new("methods", "How do I describe this in a paper?");
    section.text("A paragraph to start from, with the numbers of this run, and what to cite:");
    let text = [what(inputs), priors(parameters), simulated(inputs), modelled(inputs), checked(inputs), noticed(checks)];
    let text = text.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ");
    let software = format!("{KELFI}{}.", env!("CARGO_PKG_VERSION"));
    section.blocks.push(Block::Quotation { paragraphs: vec![text, software, PAPER.into()] });
    section
}

fn what(inputs: &ReportInputs<'_>) -> String {
    let names = inputs.parameter_names();
    format!(
        "The posterior distribution of {} ({}) given {} ({}) was estimated by likelihood-free inference with kelfi {} (references below).",
        counted(names.len() as u64, "parameter"),
        names.join(", "),
        counted(inputs.statistic_names.len() as u64, "summary statistic"),
        inputs.statistic_names.join(", "),
        env!("CARGO_PKG_VERSION"),
    )
}

fn priors(parameters: &[Parameter]) -> String {
    let each: Vec<String> = parameters.iter().map(|p| format!("{}: {}", p.name, p.prior.words())).collect();
    format!("Priors were {}.", each.join("; "))
}

fn simulated(inputs: &ReportInputs<'_>) -> String {
    let recorded = &inputs.fit.question().recorded;
    let count = counted(recorded.theta().rows() as u64, "simulation");
    let failed = inputs.calls.as_ref().map_or(0, |calls| (0..calls.len()).filter(|&j| !calls.succeeded(j)).count());
    let failures = if failed > 0 { format!(", of which {failed} failed and were kept as failures") } else { String::new() };
    match inputs.fit.history() {
        Some(history) => format!(
            "We used {count}{failures}, in {} rounds: the first drawn from the prior, the others around the posterior found so far.",
            history.rounds.len()
        ),
        None => format!("We used {count}{failures}."),
    }
}

/// The checks that failed or warned, by name: a paper should say so too.
fn noticed(checks: &[Check]) -> String {
    let named = |status: Status, what: &str| {
        let names: Vec<&str> = checks.iter().filter(|check| check.status == status).map(|check| check.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
    };
    let found = [named(Status::Fail, "Checks that failed"), named(Status::Warn, "Checks with a warning")];
    found.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn modelled(inputs: &ReportInputs<'_>) -> String {
    let family = inputs.fit.model.family();
    let model = if family.name == LOCATION_SCALE.name {
        "The likelihood was approximated by a location-scale model: Gaussian process regressions for the mean and spread of each statistic as functions of the parameters, and the distribution of the standardised residuals".to_string()
    } else if family.name == kelfi::KERNEL_MEANS.name {
        "The likelihood was approximated by the kernel means likelihood of Hsu and Ramos (2019)".to_string()
    } else {
        format!("The likelihood was approximated by the {} model", family.name)
    };
    format!("{model}. All hyperparameters were chosen by leave-one-out prediction of the simulations.")
}

fn checked(inputs: &ReportInputs<'_>) -> String {
    let Ok(calibration) = inputs.fit.calibration() else { return "Calibration could not be assessed.".into() };
    let worst = (0..calibration.shares.columns()).map(|d| calibration.coverage_of_95(d)).fold(1.0, f64::min);
    format!(
        "Nominal 95 % intervals covered the true parameters of at least {} of {} simulations near the observation, each left out in turn.",
        percent(worst),
        short(calibration.shares.rows() as f64),
    )
}
