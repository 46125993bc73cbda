//! One fit beside the exact posterior: how far off it is, and which checks spoke.

use super::case::{Answer, Case};
use super::marginal::Marginal;
use crate::model_name::ModelName;
use anyhow::Result;
use kelfi::checks::{Check, Status};
use kelfi::rounds::{HowMany, Rounds, RoundsSettings};
use kelfi::{Fit, Observation, Question};
use std::sync::Arc;
use std::time::Instant;

/// Cells of equal exact mass for the total variation; with 4,000 draws its noise is 0.03.
const CELLS: usize = 25;
/// Size of the central intervals.
const SIZE: f64 = 0.9;
/// A point is found if it is within this many prior standard deviations over m.
const POINT: f64 = 10.0;

/// The numbers of one fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The model chosen, or `refused`.
    pub model: String,
    /// Largest distance of a mean from the exact one, in exact standard deviations.
    pub mean_off: f64,
    /// Standard deviation over the exact one, for the parameter where it is furthest from 1.
    pub sd_ratio: f64,
    /// Largest total variation between a marginal and the exact one.
    pub total_variation: f64,
    /// Exact probability of the central 90 % intervals, on average over parameters: their coverage given y.
    pub covered: f64,
    /// The same of the intervals calibrated by leaving out.
    pub covered_calibrated: f64,
    /// Checks that warn or fail, as name:status; the error of a refused fit.
    pub raised: Vec<String>,
    /// What every check looked at, as name=value.
    pub values: Vec<String>,
    /// Seconds of the fit and its checks.
    pub seconds: f64,
}

/// What an exact answer is compared with.
pub enum Truth {
    /// Marginals of the posterior.
    Posterior(Arc<Vec<Marginal>>),
    /// The parameters themselves, and the prior's standard deviations.
    Point(Vec<f64>, Vec<f64>),
    /// Nothing is right.
    Nothing,
}

/// Fits a case by default settings, with at most so many simulations, and compares.
pub fn judge(case: &Case, truth: &Truth, y: &[f64], how: (HowMany, ModelName), simulations: usize, seed: u64) -> Result<Judged> {
    let start = Instant::now();
    Ok(compare(fitted(case, y, how, simulations, seed), truth, simulations, start))
}

/// Compares a fit that was begun at `start`, or says that it was refused.
pub fn compare(fit: Result<Fit, kelfi::Error>, truth: &Truth, simulations: usize, start: Instant) -> Judged {
    let (fit, checks) = match fit {
        Ok(fit) => (fit.clone(), fit.checks()),
        Err(error) => return refused(&error.to_string(), start.elapsed().as_secs_f64()),
    };
    let seconds = start.elapsed().as_secs_f64();
    let [mean_off, sd_ratio, total_variation, covered] = match truth {
        Truth::Posterior(exact) => distances(&fit, exact),
        Truth::Point(point, spread) => distances_from_point(&fit, point, spread, simulations),
        Truth::Nothing => [f64::NAN; 4],
    };
    let covered_calibrated = if let Truth::Posterior(exact) = truth { calibrated_coverage(&fit, exact) } else { f64::NAN };
    let mut values: Vec<String> = checks.iter().map(|check| format!("{}={:.3e}", check.name, check.value)).collect();
    if let Some((gain, error)) = fit.comparison.as_ref().and_then(|comparison| comparison.difference) {
        values.push(format!("difference={gain:.3} error={error:.3}"));
    }
    let raised = checks.iter().filter(|check| check.status != Status::Ok).map(spoken).collect();
    let model = fit.model.family().name.into();
    Judged { model, mean_off, sd_ratio, total_variation, covered, covered_calibrated, raised, values, seconds }
}

/// The fit after all rounds. A case that says where simulations are made has one.
fn fitted(case: &Case, y: &[f64], (rounds, model): (HowMany, ModelName), simulations: usize, seed: u64) -> Result<Fit, kelfi::Error> {
    let observation = Observation::Statistics(y.to_vec());
    if case.design.is_some() || rounds == HowMany::Exactly(1) {
        let question = Question::new(&case.prior, &case.simulations(simulations, seed)?, &observation);
        return Fit::new(&question, &model.settings(seed), &mut |_| true);
    }
    let settings = RoundsSettings { rounds, fit: model.settings(seed), ..RoundsSettings::of(simulations, seed) };
    Rounds::new(&case.prior, &observation, &settings)?.run(|batch| case.simulated(batch.theta.clone(), seed, batch.first), &mut |_| true)
}

/// What a case is compared with at one observation.
pub fn truth(case: &Case, theta: Option<Vec<f64>>, y: &[f64]) -> Result<Truth> {
    Ok(match (case.answer, theta) {
        (Answer::Posterior, _) => Truth::Posterior(Arc::new(super::reference::posterior(case, y)?)),
        (Answer::Point, Some(point)) => {
            let draws = case.prior.draw(2_000, 0);
            let spread = (0..point.len()).map(|d| Marginal::new(draws.column(d).into_iter().map(|v| (v, 1.0)).collect()).sd).collect();
            Truth::Point(point, spread)
        }
        _ => Truth::Nothing,
    })
}

fn refused(error: &str, seconds: f64) -> Judged {
    let plain = error.lines().next().unwrap_or("").replace([',', '"'], ";");
    let nothing = f64::NAN;
    Judged {
        model: "refused".into(),
        mean_off: nothing,
        sd_ratio: nothing,
        total_variation: nothing,
        covered: nothing,
        covered_calibrated: nothing,
        raised: vec![format!("error:{}", plain.replace(' ', "_"))],
        values: vec![],
        seconds,
    }
}

fn spoken(check: &Check) -> String {
    format!("{}:{}", check.name, if check.status == Status::Fail { "fail" } else { "warn" })
}

/// Mean off, ratio of standard deviations, total variation, coverage. What cannot be had is infinitely wrong.
fn distances(fit: &Fit, exact: &[Marginal]) -> [f64; 4] {
    let mean = fit.posterior.mean();
    let (mut off, mut ratio, mut apart, mut covered) = (0.0_f64, 1.0_f64, 0.0_f64, 0.0);
    for (d, exact) in exact.iter().enumerate() {
        let here = (mean[d] - exact.mean).abs() / exact.sd;
        off = if here.is_nan() { f64::INFINITY } else { off.max(here) };
        let wide = fit.posterior.std(d).map_or(f64::INFINITY, |sd| sd / exact.sd);
        if wide.is_nan() || wide.ln().abs() > ratio.ln().abs() {
            ratio = wide;
        }
        let ends = exact.ends(CELLS);
        let tv = fit.posterior.cdf(d, &ends).map_or(1.0, |below| exact.total_variation(&below));
        apart = if tv.is_nan() { 1.0 } else { apart.max(tv) };
        let inside = fit.posterior.interval(d, SIZE).map_or(0.0, |(low, high)| exact.below(high) - exact.below(low));
        covered += inside / mean.len() as f64;
    }
    [off, ratio, apart, covered]
}

/// Coverage of the intervals calibrated by leaving out; not a number where nothing was left out.
fn calibrated_coverage(fit: &Fit, exact: &[Marginal]) -> f64 {
    let Ok(calibration) = fit.calibration() else { return f64::NAN };
    let inside = |(d, exact): (usize, &Marginal)| {
        calibration.interval(&fit.posterior, d, SIZE).map_or(0.0, |(low, high)| exact.below(high) - exact.below(low))
    };
    exact.iter().enumerate().map(inside).sum::<f64>() / exact.len() as f64
}

/// The same for an answer that is a point: in units of what m simulations can tell.
fn distances_from_point(fit: &Fit, point: &[f64], spread: &[f64], simulations: usize) -> [f64; 4] {
    let mean = fit.posterior.mean();
    let (mut off, mut ratio, mut covered) = (0.0_f64, 1.0_f64, 0.0);
    for d in 0..point.len() {
        let unit = POINT * spread[d] / simulations as f64;
        off = off.max((mean[d] - point[d]).abs() / unit);
        ratio = ratio.max(fit.posterior.std(d).unwrap_or(f64::INFINITY) / unit);
        let holds = fit.posterior.interval(d, SIZE).is_ok_and(|(low, high)| low <= point[d] && point[d] <= high);
        covered += f64::from(u8::from(holds)) / point.len() as f64;
    }
    [off, ratio, 0.0, covered]
}
