//! Is the observation among what was simulated? Every statistic by itself, those that never vary, and all of them together.
//!
//! An observation that the simulator produced is one more draw like the simulated ones: its tail among them is uniform, whatever the
//! model made of them. Small tails are those of a slip of units, a wrong file or a model that cannot produce the data.

use crate::checks::{Check, Status};
use crate::linalg::Cholesky;
use crate::simulations::Simulations;
use crate::simulations::scales::{Dropped, median, statistic_scales};
use crate::special::normal::quantile_of;
use crate::special::tail::UpperTail;
use crate::{Points, linalg::vector::dot};
use rayon::prelude::*;

/// Chance that an observation like the simulations is warned about, over all statistics, and called impossible.
const WARN: f64 = 2e-3;
const FAIL: f64 = 1e-6;
/// Statistics that do not vary, or repeat others, may differ by rounding: of their own size, of the spread of the one repeated.
const ROUNDING: f64 = 1e-6;
const ROUNDING_OF_SPREAD: f64 = 2e-3;
/// Simulations compared with each other, at most.
const COMPARED: usize = 1_000;
/// Correlations of scores are drawn this much towards none.
const SHRINKAGE: f64 = 0.05;

/// What was found of the worst statistic.
struct Finding {
    status: Status,
    /// Chance of such an observation.
    tail: f64,
    message: String,
}

/// The check `range`.
pub fn check(simulations: &Simulations, observed: &[f64], names: &[String]) -> Check {
    let name = |i: usize| names.get(i).map_or("?", String::as_str);
    let scales = statistic_scales(simulations);
    let columns: Vec<Vec<f64>> = (0..simulations.statistics()).map(|i| simulations.successful_values(i)).collect();
    let kept: Vec<usize> = (0..columns.len()).filter(|&i| scales[i].dropped.is_none()).collect();
    let mut findings: Vec<Finding> = vec![];
    for (i, scale) in scales.iter().enumerate() {
        findings.extend(match scale.dropped {
            Some(Dropped::Constant) => constant(name(i), &columns[i], observed[i]),
            Some(Dropped::Repeats(k)) => repeated([name(k), name(i)], [&columns[k], &columns[i]], [observed[k], observed[i]], scale.scale),
            None => outside(name(i), &columns[i], observed[i], kept.len()),
        });
    }
    let smallest = findings.iter().map(|f| f.tail).fold(1.0, f64::min);
    if findings.iter().all(|f| f.status == Status::Ok) {
        findings.push(together(&columns, observed, &kept));
    }
    findings.sort_by(|a, b| b.status.cmp(&a.status).then(a.tail.total_cmp(&b.tail)));
    let worst: Vec<&Finding> = findings.iter().filter(|f| f.status == findings[0].status).collect();
    let message = match worst[0].status {
        Status::Ok => "every observed statistic lies in the simulated range".to_string(),
        status => {
            let all = worst.iter().take(3).map(|f| f.message.as_str()).collect::<Vec<_>>().join("; ");
            let more = if worst.len() > 3 { format!("; and {} more", worst.len() - 3) } else { String::new() };
            let remark = if status == Status::Fail {
                "the simulator does not produce such values"
            } else {
                "the result depends on the edge of the simulated range"
            };
            format!("{all}{more}; {remark}")
        }
    };
    Check::new("range", worst[0].status, smallest.min(worst[0].tail), WARN, message)
}

/// A statistic with one value in all simulations.
fn constant(name: &str, values: &[f64], observed: f64) -> Option<Finding> {
    let value = *values.first()?;
    if (observed - value).abs() <= ROUNDING * value.abs().max(observed.abs()).max(f64::MIN_POSITIVE) {
        return None;
    }
    let message = format!("`{name}` was observed as {}; it is {} in every simulation", short(observed), short(value));
    Some(Finding { status: Status::Fail, tail: 0.0, message })
}

/// A statistic that is an affine function of another in all simulations: b = c + d a.
fn repeated(names: [&str; 2], values: [&[f64]; 2], observed: [f64; 2], spread: f64) -> Option<Finding> {
    let [a, b] = values;
    // The two ends of a determine the line; what the others are off by is rounding.
    let low = (0..a.len()).min_by(|&i, &j| a[i].total_cmp(&a[j]))?;
    let high = (0..a.len()).max_by(|&i, &j| a[i].total_cmp(&a[j]))?;
    let slope = (b[high] - b[low]) / (a[high] - a[low]);
    let expected = |a_value: f64| b[low] + slope * (a_value - a[low]);
    let rounding = a.iter().zip(b).map(|(a, b)| (b - expected(*a)).abs()).fold(0.0, f64::max);
    let wanted = expected(observed[0]);
    if (observed[1] - wanted).abs() <= (10.0 * rounding).max(ROUNDING_OF_SPREAD * spread) + ROUNDING * wanted.abs() {
        return None;
    }
    let [first, second] = names;
    let message = format!(
        "`{second}` was observed as {}; in every simulation it follows from `{first}`, which was observed as {} and makes it {}",
        short(observed[1]),
        short(observed[0]),
        short(wanted)
    );
    Some(Finding { status: Status::Fail, tail: 0.0, message })
}

/// A statistic far below or above all simulated values; small positive ones are looked at by their logarithm, too.
fn outside(name: &str, values: &[f64], observed: f64, statistics: usize) -> Option<Finding> {
    let negated = |values: &[f64]| -> Vec<f64> { values.iter().map(|v| -v).collect() };
    let mut smallest = UpperTail::new(values.to_vec()).probability(observed);
    smallest = smallest.min(UpperTail::new(negated(values)).probability(-observed));
    let signed = if values.iter().all(|v| *v > 0.0) { 1.0 } else { -1.0 };
    if values.iter().all(|v| signed * v > 0.0) && signed * observed > 0.0 {
        let logarithms: Vec<f64> = values.iter().map(|v| -(signed * v).ln()).collect();
        smallest = smallest.min(UpperTail::new(logarithms).probability(-(signed * observed).ln()));
    }
    let tail = (3 * statistics) as f64 * smallest;
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let message = format!("`{name}` was observed as {}; the simulations lie between {} and {}", short(observed), short(low), short(high));
    Some(Finding { status: status(tail), tail: tail.min(1.0), message })
}

fn status(tail: f64) -> Status {
    if tail < FAIL {
        Status::Fail
    } else if tail < WARN {
        Status::Warn
    } else {
        Status::Ok
    }
}

/// Distance of the observation to its nearest simulation beside those of simulations to theirs, in whitened normal scores.
fn together(columns: &[Vec<f64>], observed: &[f64], kept: &[usize]) -> Finding {
    let count = columns.first().map_or(0, Vec::len).min(COMPARED);
    let fine = Finding { status: Status::Ok, tail: 1.0, message: String::new() };
    if kept.len() < 2 || count < 20 {
        return fine;
    }
    // The last row is the observation.
    let mut scores = Points::zeros(count + 1, kept.len());
    for (k, &i) in kept.iter().enumerate() {
        let mut sorted = columns[i][..count].to_vec();
        sorted.sort_by(f64::total_cmp);
        for row in 0..=count {
            let value = if row < count { columns[i][row] } else { observed[i] };
            let below = sorted.partition_point(|&v| v < value) + sorted.partition_point(|&v| v <= value);
            scores.row_mut(row)[k] = quantile_of((0.5 * below as f64 + 0.5) / (count as f64 + 1.0));
        }
    }
    let Some(scores) = whitened(scores, count) else { return fine };
    let nearest = |row: &[f64], skip: usize| {
        let distance = |other: usize| scores.row(other).iter().zip(row).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        (0..count).filter(|&other| other != skip).map(distance).fold(f64::INFINITY, f64::min).sqrt()
    };
    let own: Vec<f64> = (0..count).into_par_iter().map(|row| nearest(scores.row(row), row)).collect();
    let of_observation = nearest(scores.row(count), count);
    let typical = median(own.clone()).unwrap_or(1.0);
    let tail = UpperTail::new(own).probability(of_observation);
    let message = format!(
        "each statistic is in its simulated range, but not their combination: the nearest simulation is {} times as far away as simulations are from each other",
        short(of_observation / typical)
    );
    Finding { status: status(tail), tail, message }
}

/// Scores with the correlations of the first `count` rows taken out.
fn whitened(mut scores: Points, count: usize) -> Option<Points> {
    let n = scores.columns();
    let columns: Vec<Vec<f64>> = (0..n).map(|k| scores.column(k)[..count].to_vec()).collect();
    let lengths: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    let mut correlation = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let c = dot(&columns[i], &columns[j]) / (lengths[i] * lengths[j]);
            correlation[i * n + j] = (1.0 - SHRINKAGE) * c + if i == j { SHRINKAGE } else { 0.0 };
        }
    }
    let factor = Cholesky::new(correlation, n).ok()?;
    factor.half_solve_in_place(scores.values_mut());
    Some(scores)
}

/// Four significant digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    if !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}
