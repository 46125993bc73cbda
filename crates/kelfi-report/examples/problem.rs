//! A report on a problem of the catalogue: `cargo run --release -p kelfi-report --example problem -- sbibm_two_moons 300 page.html [model]`.

use anyhow::{Context, bail};
use kelfi::{Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, ModelChoice, Observation, Question, Recorded, Simulations};
use kelfi_problems::catalogue::by_name;
use kelfi_problems::simulate::simulate_many;
use kelfi_report::{Report, ReportInputs};
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, count, file, rest @ ..] = arguments.as_slice() else { bail!("give a problem, a number of simulations and a file") };
    let model = match rest.first().map(String::as_str) {
        None => ModelChoice::Auto,
        Some("kernel-means") => ModelChoice::Use(&KERNEL_MEANS),
        Some("location-scale") => ModelChoice::Use(&LOCATION_SCALE),
        Some(other) => bail!("there is no model \"{other}\"; use kernel-means or location-scale, or leave it out for the better one"),
    };
    let problem = by_name(name)?;
    let simulated = simulate_many(problem.as_ref(), count.parse().with_context(|| format!("\"{count}\" is no number of simulations"))?, 1);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, simulated.x)?));
    let (observation, settings) = (Observation::Statistics(problem.observation().to_vec()), FitOptions::of(model, 1));
    let fit = Fit::new(&Question::new(problem.prior(), &recorded, &observation), &settings, &mut |_| true)?;
    let inputs = ReportInputs {
        description: problem.description().into(),
        statistic_names: problem.statistic_names().to_vec(),
        truth: problem.truth().map(<[f64]>::to_vec),
        provenance: vec![("problem".into(), name.clone()), ("seed".into(), "1".into())],
        ..ReportInputs::new(problem.name(), &fit, &settings)
    };
    std::fs::write(file, Report::new(&inputs)?.to_html()?).with_context(|| format!("{file} could not be written"))
}
