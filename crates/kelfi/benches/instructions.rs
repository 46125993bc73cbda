//! How many instructions the core takes: a number that does not depend on what else a machine does, so that a change of some per cent can be
//! told from noise. Valgrind counts; without it nothing is counted, and the exit code says nothing.
//!
//! ```text
//! cargo bench -p kelfi --bench instructions             # beside the counts that are kept; exit code 1 where one grew by a twentieth
//! cargo bench -p kelfi --bench instructions -- --keep   # keeps the new ones in benches/instructions.csv
//! ```
//!
//! Every operation runs once and twice in a process of its own on one thread; the difference is what one run takes. Counts change with the
//! compiler and with the instructions that valgrind knows (AVX2, not AVX-512): compare those of one machine.

use kelfi::kernel::Kernel;
use kelfi::learning::evidence::gradient;
use kelfi::learning::{KernelMeansOptions, Objective, learn};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::samples::{Candidates, Herding};
use kelfi::{
    Fit, FitOptions, Hyperparameters, KernelMeansLikelihood, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Posterior, Prior,
    Question, Recorded, Simulations,
};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

const PARAMETERS: usize = 3;
const STATISTICS: usize = 4;
/// A count that is larger by this share is an error.
const TOLERATED: f64 = 0.05;

/// An operation: what it is run on is made once.
type Operation = (&'static str, fn() -> Box<dyn Fn()>);

const OPERATIONS: [Operation; 6] = [
    ("gram", || {
        let kernel = Kernel::gaussian(vec![0.8; PARAMETERS]).expect("positive length scales");
        let scaled = kernel.scale(&normals(400, PARAMETERS, 1));
        Box::new(move || drop(black_box(kernel.gram(&scaled, 0.04))))
    }),
    ("evidence_with_gradient", || {
        let question = question(400);
        Box::new(move || {
            let model = kernel_means(&question);
            drop(black_box((model.log_marginal_likelihood(), gradient(&model))));
        })
    }),
    ("learn_by_leaving_out", || {
        let question = question(150);
        Box::new(move || drop(black_box(learn(&question, &KernelMeansOptions::default(), &mut |_| true))))
    }),
    ("learn_by_evidence", || {
        let question = question(150);
        let settings = KernelMeansOptions { objective: Objective::Evidence, ..KernelMeansOptions::default() };
        Box::new(move || drop(black_box(learn(&question, &settings, &mut |_| true))))
    }),
    ("herding", || {
        let posterior = Posterior::new(Arc::new(kernel_means(&question(150))), 1).expect("positive evidence");
        let herding = Herding::new(Candidates::Given(prior().draw(500, 3)));
        Box::new(move || drop(black_box(herding.super_samples(&posterior, 500))))
    }),
    ("location_scale_fit", || {
        let question = question(150);
        let settings = FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 1);
        Box::new(move || drop(black_box(Fit::new(&question, &settings, &mut |_| true))))
    }),
];

fn normals(rows: usize, columns: usize, seed: u64) -> Points {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    Points::new((0..rows * columns).map(|_| standard_normal(&mut rng)).collect(), rows, columns).expect("as many values as the shape needs")
}

fn prior() -> Prior {
    let marginals = (0..PARAMETERS).map(|d| (format!("theta_{d}"), Marginal::Normal { mean: 0.0, std: 1.0 }));
    Prior::independent(marginals.collect()).expect("names differ and settings are valid")
}

/// Statistic i is a bent function of θ_{i mod D} with noise.
fn question(m: usize) -> Question {
    let (theta, mut x) = (normals(m, PARAMETERS, 1), normals(m, STATISTICS, 2));
    for j in 0..m {
        for i in 0..STATISTICS {
            let signal = theta.row(j)[i % PARAMETERS];
            x.row_mut(j)[i] = signal + (0.3 * i as f64 * signal).sin() + 0.5 * x.row(j)[i];
        }
    }
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).expect("one row each")));
    Question::new(&prior(), &recorded, &Observation::Statistics(vec![0.3; STATISTICS]))
}

fn kernel_means(question: &Question) -> KernelMeansLikelihood {
    KernelMeansLikelihood::new(question, &Hyperparameters::isotropic(1.0, 0.8, 1e-4)).expect("a well-conditioned model")
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name, times] = arguments.as_slice()
        && flag == "--run"
    {
        run(name, times.parse().expect("a number of times"));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        println!("valgrind is not installed: nothing was counted");
        return ExitCode::SUCCESS;
    }
    let kept = kept();
    let counted: Vec<(&str, u64)> =
        OPERATIONS.iter().map(|(name, _)| (*name, instructions(name, 2).saturating_sub(instructions(name, 1)))).collect();
    let mut grown = false;
    for (name, count) in &counted {
        let change = kept.get(*name).map(|before| *count as f64 / before - 1.0);
        grown |= change.is_some_and(|change| change > TOLERATED);
        println!("{name:<24} {count:>14} {}", change.map_or("new".into(), |change| format!("{:+.1} %", 100.0 * change)));
    }
    if arguments.iter().any(|argument| argument == "--keep") {
        let rows = counted.iter().map(|(name, count)| format!("{name},{count}\n"));
        let text = std::iter::once("operation,instructions\n".to_owned()).chain(rows).collect::<String>();
        std::fs::write(file(), text).expect("the table can be written");
        return ExitCode::SUCCESS;
    }
    if grown { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What valgrind counts.
fn run(name: &str, times: usize) {
    let operation = OPERATIONS.iter().find(|(known, _)| *known == name).expect("a known operation").1();
    (0..times).for_each(|_| operation());
}

/// Instructions of a process that runs the operation so many times on one thread.
fn instructions(name: &str, times: usize) -> u64 {
    let own = std::env::current_exe().expect("a program has a path");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(own).args(["--run", name, &times.to_string()]);
    let output = command.env("RAYON_NUM_THREADS", "1").output().expect("valgrind was there");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = said.lines().find_map(|line| line.split_once("Collected :")).and_then(|(_, count)| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counted nothing:\n{said}"))
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.csv")
}

/// The counts that are kept.
fn kept() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let rows = text.lines().skip(1).filter_map(|line| line.split_once(','));
    rows.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))).collect()
}
