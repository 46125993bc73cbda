//! The same inference as `python/tests/test_same_bits.py`, in Rust: prints what it finds as JSON, for the test to compare bit by bit.

use kelfi::learning::LearnSettings;
use kelfi::samples::{Candidates, Herding, independent};
use kelfi::{Inference, Observation, Recorded, Simulations};
use kelfi_problems::{by_name, simulate_many};
use kelfi_run::task::simulator_seed;
use std::error::Error;
use std::sync::Arc;

const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let problem = by_name("banana")?;
    let simulated = simulate_many(&*problem, 80, SEED);
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta.clone(), simulated.x.clone())?));
    let observation = Observation::Statistics(problem.observation().to_vec());
    let settings = LearnSettings { seed: SEED, ..LearnSettings::default() };
    let inference = Inference::new(&recorded, &observation, problem.prior(), &settings, &mut |_| true)?;
    let posterior = &inference.posterior;
    let hyperparameters = inference.model.hyperparameters();
    let herding = Herding { seed: SEED, ..Herding::new(Candidates::Posterior(500)) };
    let found = serde_json::json!({
        "theta": simulated.theta.values(),
        "x": simulated.x.values(),
        "seeds": (0..5).map(|j| simulator_seed(SEED, j)).collect::<Vec<u64>>(),
        "epsilon": hyperparameters.epsilon,
        "length_scale": hyperparameters.length_scale,
        "regularization": hyperparameters.regularization,
        "log_evidence": posterior.log_evidence(),
        "mean": posterior.mean(),
        "covariance": posterior.covariance().values(),
        "map": posterior.mode()?,
        "quantile": posterior.quantile(0, &[0.025, 0.5, 0.975])?,
        "pdf": posterior.pdf(&simulated.theta)?,
        "independent": independent(posterior, 50, SEED)?.samples.values(),
        "herding": herding.super_samples(posterior, 20)?.samples.values(),
    });
    println!("{found}");
    Ok(())
}
