//! Settings that mean nothing are refused with a sentence that names them, before a call is made beyond the pilot.

use kelfi::method::calls::PriorSimulations;
use kelfi::method::{Calls, Method, Task};
use kelfi_baselines::chains::adaptive_synthetic::AdaptiveSynthetic;
use kelfi_baselines::chains::mcmc_abc::{McmcAbc, Memory, Tolerance};
use kelfi_baselines::chains::pilot::Steps;
use kelfi_baselines::chains::smc_abc::{Schedule, SmcAbc};
use kelfi_baselines::chains::synthetic::SyntheticLikelihood;
use kelfi_baselines::kernel::distribution_regression::DistributionRegression;
use kelfi_baselines::kernel::kernel_abc::{Choice, KernelAbc, Sampling};
use kelfi_baselines::kernel::kernel_bayes::KernelBayes;
use kelfi_baselines::kernel::kernel_recursive::KernelRecursive;
use kelfi_baselines::kernel::maximum_mean::{Discrepancy, MaximumMean};
use kelfi_baselines::nearest::Acceptance;
use kelfi_baselines::neural::mixture_density::MixtureDensity;
use kelfi_baselines::process::gpa_abc::GpaAbc;
use kelfi_baselines::process::gps_abc::GpsAbc;
use kelfi_baselines::variational::automatic::AutomaticVariational;
use kelfi_baselines::variational::implicit::Implicit;
use kelfi_baselines::variational::intractable::VariationalBayes;
use kelfi_baselines::{RegressionAdjustment, Rejection};
use rand::Rng;

/// Bad settings, each with a word that its refusal must have.
fn bad() -> Vec<(Box<dyn Method>, &'static str)> {
    let mcmc = McmcAbc::new(Memory::PseudoMarginal);
    let synthetic = SyntheticLikelihood::default();
    let adaptive = AdaptiveSynthetic::default();
    let surrogate = GpsAbc::default();
    let smc = |schedule| SmcAbc { schedule, ..SmcAbc::adaptive() };
    let fixed = |first, factor, last| smc(Schedule::Fixed { first, factor, last });
    let kernel = |factor, ridge| KernelAbc { choice: Choice::Median { factor, ridge }, ..KernelAbc::median(Sampling::Clipped) };
    let rule = KernelBayes::new(Sampling::Clipped);
    let squared = MaximumMean::new(Discrepancy::Quadratic);
    let network = MixtureDensity::from_prior();
    vec![
        (Box::new(Rejection { acceptance: Acceptance { share: 0.0, least: 5 } }), "share"),
        (Box::new(RegressionAdjustment { acceptance: Acceptance { share: f64::NAN, least: 5 } }), "share"),
        (Box::new(McmcAbc { repeats: 0, ..mcmc }), "calls for each estimate"),
        (Box::new(McmcAbc { tolerance: Tolerance::Fixed(-1.0), ..mcmc }), "tolerance"),
        (Box::new(McmcAbc { tolerance: Tolerance::Fixed(f64::NAN), ..mcmc }), "tolerance"),
        (Box::new(McmcAbc { tolerance: Tolerance::Share(0.0), ..mcmc }), "share"),
        (Box::new(McmcAbc { steps: Steps::Fixed(0.0), ..mcmc }), "step"),
        (Box::new(SyntheticLikelihood { repeats: 1, ..synthetic }), "calls for each estimate"),
        (Box::new(SyntheticLikelihood { tolerance: 0.0, ..synthetic }), "tolerance"),
        (Box::new(AdaptiveSynthetic { more: 0, ..adaptive }), "at least 1"),
        (Box::new(AdaptiveSynthetic { error: 0.6, ..adaptive }), "wrong decision"),
        (Box::new(SmcAbc { population: Some(1), ..SmcAbc::adaptive() }), "particles"),
        (Box::new(smc(Schedule::Quantile(1.0))), "quantile"),
        (Box::new(fixed(1.0, 1.5, 0.1)), "factor"),
        (Box::new(fixed(1.0, 0.5, 2.0)), "last tolerance"),
        (Box::new(GpsAbc { draws: 0, ..surrogate }), "at least 1"),
        (Box::new(GpsAbc { error: 0.0, ..surrogate }), "wrong decision"),
        (Box::new(GpsAbc { tolerance: f64::INFINITY, ..surrogate }), "tolerance"),
        (Box::new(GpaAbc { waves: 0, ..GpaAbc::default() }), "waves"),
        (Box::new(GpaAbc { implausible: -1.0, ..GpaAbc::default() }), "implausible"),
        (Box::new(kernel(0.0, 1e-4)), "factor"),
        (Box::new(kernel(1.0, -1e-4)), "ridge"),
        (Box::new(KernelBayes { ridge: 0.0, ..rule }), "ridge"),
        (Box::new(KernelBayes { prior_ridge: f64::NAN, ..rule }), "ridge"),
        (Box::new(KernelRecursive { rounds: 0, ..KernelRecursive::default() }), "rounds"),
        (Box::new(MaximumMean { width: 2, ..squared }), "width"),
        (Box::new(MaximumMean { tolerance: Some(0.0), ..squared }), "tolerance"),
        (Box::new(DistributionRegression { share: 1.5, ..DistributionRegression::default() }), "share"),
        (Box::new(AutomaticVariational { tolerance: Tolerance::Fixed(0.0), ..AutomaticVariational::default() }), "tolerance"),
        (Box::new(VariationalBayes { repeats: 0, ..VariationalBayes::intractable() }), "calls for each estimate"),
        (Box::new(VariationalBayes { repeats: 1, ..VariationalBayes::synthetic() }), "calls for each estimate"),
        (Box::new(Implicit { rounds: 0, ..Implicit::default() }), "rounds"),
        (Box::new(MixtureDensity { epochs: 0, ..network }), "epochs"),
    ]
}

#[test]
fn settings_that_mean_nothing_are_refused_by_name() {
    let problem = kelfi_problems::by_name("linear_gaussian").unwrap();
    assert_eq!(problem.statistic_names().len() % 2, 1, "two values a point must not divide the statistics");
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    for (index, (method, word)) in bad().into_iter().enumerate() {
        let ready = PriorSimulations::new(problem.prior(), &simulator, problem.statistic_names().len(), 1);
        let calls = Calls::new(&simulator, &ready, 100, 1).unwrap();
        let task = Task { prior: problem.prior(), observation: problem.observation(), calls: &calls, seed: 1, go_on: &|| true };
        let message = match method.infer(&task) {
            Ok(_) => panic!("{} ({index}) accepts its bad {word}", method.name()),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(word), "{} ({index}): {message}", method.name());
        assert_eq!(calls.made_elsewhere(), 0, "{} ({index}) simulates before it looks at its settings", method.name());
    }
}
