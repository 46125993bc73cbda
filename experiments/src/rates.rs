//! The theorems' rates: errors of likelihood, evidence, posterior and embedding against m with λ ∝ m^-½, on a problem with known truth.
//!
//! θ ~ N(0, 1), x = θ + N(0, 0.5²), y = 0.7, ε = 0.3: p_ε(y|θ) = N(y | θ, 0.25 + ε²), the posterior is Gaussian, and its embedding closed form.

use crate::figure::{Axes, Line, lines};
use crate::study::{Runs, Study, StudyOptions};
use crate::table::Table;
use anyhow::Result;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use serde_json::json;
use std::sync::Arc;

/// Options of the experiment.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    study: StudyOptions,
}

const NOISE: f64 = 0.5;
const Y: f64 = 0.7;
const EPSILON: f64 = 0.3;
const LENGTH: f64 = 0.6;

const QUANTITIES: [&str; 4] = ["likelihood", "evidence", "posterior", "embedding"];

/// Runs the experiment.
pub fn run(options: &Options) -> Result<()> {
    let quick = options.study.quick;
    let sizes: &[usize] = if quick { &[100, 400, 1_600] } else { &[50, 100, 200, 400, 800, 1_600, 3_200] };
    let repeats: u64 = if quick { 4 } else { 20 };
    let study = Study::open(
        &options.study,
        "rates",
        json!({ "noise": NOISE, "y": Y, "epsilon": EPSILON, "length_scale": LENGTH, "lambda": "0.1 / sqrt(m)", "first_seed": 0 }),
        json!({ "simulations": sizes, "repeats": repeats }),
    )?;
    let tasks: Vec<(usize, u64)> = sizes.iter().flat_map(|&m| (0..repeats).map(move |seed| (m, seed))).collect();
    let keys: Vec<Vec<String>> = tasks.iter().map(|(m, seed)| vec![m.to_string(), seed.to_string()]).collect();
    let file = Runs { file: "runs.csv", keys: &["m", "seed"], values: &QUANTITIES, rows_each: 1 };
    let runs = study.compute(&file, &keys, |k| Ok(vec![one(tasks[k].0, tasks[k].1)?.map(|error| format!("{error:.6e}")).to_vec()]))?;
    report(&study, &runs, sizes)
}

/// Root mean squares over the repeats and fitted slopes.
fn report(study: &Study, runs: &Table, sizes: &[usize]) -> Result<()> {
    let mut table = Table::new(&["m", "likelihood", "evidence", "posterior", "embedding"]);
    let mut errors: Vec<Vec<f64>> = vec![vec![]; 4];
    for &m in sizes {
        let repeats = runs.matching(&[("m", &m.to_string())])?;
        let mut cells = vec![m.to_string()];
        for (list, quantity) in errors.iter_mut().zip(QUANTITIES) {
            let found = repeats.numbers(quantity)?;
            list.push((found.iter().map(|error| error * error).sum::<f64>() / found.len() as f64).sqrt());
            cells.push(format!("{:.4}", list[list.len() - 1]));
        }
        table.row(cells);
    }
    let x: Vec<f64> = sizes.iter().map(|&m| m as f64).collect();
    let slopes = errors.iter().map(|list| format!("{:.3}", slope(&x, list)));
    table.row(std::iter::once("slope".to_string()).chain(slopes).collect());
    table.print("Root mean square of the largest error over θ, λ = 0.1 m^-1/2; the theorems guarantee a slope of -0.25 or steeper");
    table.write(&study.path("rates.csv"))?;
    let names = ["likelihood (KML)", "evidence (MKML)", "posterior (KMP)", "embedding (KMPE)"];
    let mut curves: Vec<Line> = names.iter().zip(&errors).map(|(name, list)| Line::plain(name, &x, list.clone())).collect();
    curves.push(Line::dashed("the theorems' slope -1/4", &x, x.iter().map(|m| errors[0][0] * (m / x[0]).powf(-0.25)).collect()));
    let axes = Axes {
        title: "Convergence with λ = 0.1 / √m (root mean square of 20 repeats)",
        x: "simulations m",
        y: "largest error over θ",
        log_x: true,
        log_y: true,
    };
    lines(&study.path("rates.svg"), &axes, &curves)
}

/// Largest errors over θ in [-3, 3] of q(y|θ), q(θ|y) and the embedding (which its RKHS norm bounds), and the error of q(y).
fn one(m: usize, seed: u64) -> Result<[f64; 4]> {
    let prior = Prior::independent(vec![("theta".into(), Marginal::Normal { mean: 0.0, std: 1.0 })])?;
    let theta = prior.draw(m, seed);
    let noisy = |(j, t): (usize, &[f64])| t[0] + NOISE * standard_normal(&mut stream(seed, Purpose::Simulator, j as u64));
    let x = Points::from_column(theta.iter().enumerate().map(noisy).collect());
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x)?));
    let hyperparameters = Hyperparameters::isotropic(EPSILON, LENGTH, 0.1 / (m as f64).sqrt());
    let model = KernelMeansLikelihood::new(&Question::new(&prior, &recorded, &Observation::Statistics(vec![Y])), &hyperparameters)?;
    let queries: Vec<f64> = (0..121).map(|k| -3.0 + f64::from(k) / 20.0).collect();
    let points = Points::from_column(queries.clone());
    let variance = NOISE * NOISE + EPSILON * EPSILON;
    let normal =
        |x: f64, mean: f64, variance: f64| (-0.5 * (x - mean).powi(2) / variance).exp() / (std::f64::consts::TAU * variance).sqrt();
    let (posterior_variance, evidence) = (1.0 / (1.0 + 1.0 / variance), normal(Y, 0.0, 1.0 + variance));
    let posterior_mean = posterior_variance * Y / variance;
    let largest =
        |found: &[f64], exact: &dyn Fn(f64) -> f64| queries.iter().zip(found).map(|(&t, f)| (f - exact(t)).abs()).fold(0.0, f64::max);
    let likelihood = largest(&model.value(&points)?, &|t| normal(Y, t, variance));
    let evidence_error = (model.marginal_likelihood() - evidence).abs();
    let posterior = Posterior::new(Arc::new(model), seed)?;
    let density = largest(&posterior.value(&points)?, &|t| normal(t, posterior_mean, posterior_variance));
    // ∫ ℓ(θ, θ*) N(θ | mean, variance) dθ = β/√(β² + variance) exp(-½ (θ* - mean)²/(β² + variance))
    let wide = LENGTH * LENGTH + posterior_variance;
    let embedding =
        largest(&posterior.embedding(None, &points)?, &|t| LENGTH / wide.sqrt() * (-0.5 * (t - posterior_mean).powi(2) / wide).exp());
    Ok([likelihood, evidence_error, density, embedding])
}

/// Least-squares slope in log-log.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let (lx, ly): (Vec<f64>, Vec<f64>) = (x.iter().map(|v| v.ln()).collect(), y.iter().map(|v| v.ln()).collect());
    let n = lx.len() as f64;
    let (mx, my) = (lx.iter().sum::<f64>() / n, ly.iter().sum::<f64>() / n);
    let covariance: f64 = lx.iter().zip(&ly).map(|(a, b)| (a - mx) * (b - my)).sum();
    covariance / lx.iter().map(|a| (a - mx).powi(2)).sum::<f64>()
}
