//! Time of 1,000 prior runs of the two large simulators, on all threads, and of one run at the truth.

use criterion::{Criterion, criterion_group, criterion_main};
use kelfi::random::{Purpose, stream};
use kelfi_problems::blowfly::Blowfly;
use kelfi_problems::lotka_volterra::LotkaVolterra;
use kelfi_problems::{BenchmarkProblem, simulate_many};

fn prior_runs(criterion: &mut Criterion) {
    let problems: [Box<dyn BenchmarkProblem>; 2] = [Box::new(Blowfly::new()), Box::new(LotkaVolterra::new())];
    for problem in &problems {
        criterion.bench_function(&format!("{}: 1,000 prior runs", problem.name()), |bencher| {
            bencher.iter(|| simulate_many(&**problem, 1_000, 1));
        });
    }
}

fn one_run(criterion: &mut Criterion) {
    let cases: [(Box<dyn BenchmarkProblem>, Vec<f64>); 2] = [
        (Box::new(Blowfly::new()), vec![3.765, -1.033, 5.466, -0.401, -0.963, 7_f64.ln()]),
        (Box::new(LotkaVolterra::new()), [0.01, 0.5, 1.0, 0.01].map(f64::ln).to_vec()),
    ];
    for (problem, theta) in &cases {
        let mut index = 0;
        criterion.bench_function(&format!("{}: one run", problem.name()), |bencher| {
            bencher.iter(|| {
                index += 1;
                problem.simulate(theta, &mut stream(1, Purpose::Simulator, index))
            });
        });
    }
}

criterion_group!(benches, prior_runs, one_run);
criterion_main!(benches);
