//! The same inference as `python/tests/test_same_bits.py`, in Rust: prints what it finds as JSON, for the test to compare bit by bit.

use kelfi::model::saved::SavedModel;
use kelfi::samples::{Candidates, Herding, independent, slice};
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, KernelMeansLikelihood, LOCATION_SCALE, ModelChoice, Observation, Points, Question, Recorded, Simulations,
};
use kelfi_problems::{by_name, simulate_many};
use kelfi_run::task::simulator_seed;
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;

const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let problem = by_name("banana")?;
    let simulated = simulate_many(&*problem, 80, SEED);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta.clone(), simulated.x.clone())?));
    let observation = Observation::Statistics(problem.observation().to_vec());
    let fit = |model: ModelChoice| {
        let settings = FitOptions::of(model, SEED);
        Fit::new(&Question::new(problem.prior(), &recorded, &observation), &settings, &mut |_| true)
    };
    let (kernel_means, location_scale) = (fit(ModelChoice::Use(&KERNEL_MEANS))?, fit(ModelChoice::Use(&LOCATION_SCALE))?);
    let auto = fit(ModelChoice::Auto)?;
    let model = kernel_means.model_as::<KernelMeansLikelihood>().ok_or("the kernel means model was asked for")?;
    let hyperparameters = model.hyperparameters();
    let found = json!({
        "theta": simulated.theta.values(),
        "x": simulated.x.values(),
        "seeds": (0..5).map(|j| simulator_seed(SEED, j)).collect::<Vec<u64>>(),
        "length_scale": hyperparameters.length_scale,
        "regularization": hyperparameters.regularization,
        "kernel-means": answers(&kernel_means, &simulated.theta)?,
        "location-scale": answers(&location_scale, &simulated.theta)?,
        "auto": auto.comparison,
        "files": [file(&kernel_means)?, file(&location_scale)?, file(&auto)?],
    });
    println!("{found}");
    Ok(())
}

/// A model with how it was learned and chosen, as the command line writes it.
fn file(fit: &Fit) -> Result<String, Box<dyn Error>> {
    let mut file = serde_json::to_value(SavedModel::new(fit.model.as_ref()))?;
    file["learned"] = fit.record();
    file["comparison"] = serde_json::to_value(&fit.comparison)?;
    Ok(file.to_string())
}

/// What both models answer.
fn answers(fit: &Fit, theta: &Points) -> Result<Value, Box<dyn Error>> {
    let posterior = &fit.posterior;
    let herding = Herding { seed: SEED, ..Herding::new(Candidates::Posterior(500)) };
    let slice = slice(posterior, 60, SEED, &mut || true)?;
    let reports = fit.statistics();
    Ok(json!({
        "score": fit.score(),
        "epsilon": reports.iter().map(|report| report.epsilon).collect::<Vec<f64>>(),
        "relevance": reports.iter().map(|report| report.relevance).collect::<Vec<f64>>(),
        "log_evidence": posterior.log_evidence(),
        "log_evidence_error": posterior.log_evidence_error(),
        "mean": posterior.mean(),
        "covariance": posterior.covariance().values(),
        "map": posterior.mode()?,
        "quantile": posterior.quantile(0, &[0.025, 0.5, 0.975])?,
        "pdf": posterior.pdf(theta)?,
        "independent": independent(posterior, 50, SEED)?.samples.values(),
        "herding": herding.super_samples(posterior, 20)?.samples.values(),
        "slice": slice.samples.values(),
        "r_hat": slice.r_hat,
        "effective": slice.effective,
    }))
}
