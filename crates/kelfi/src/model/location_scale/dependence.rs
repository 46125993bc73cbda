//! Do residuals vary, and belong together, near the observation as they do elsewhere? The model says so; two ways in which it may not hold.
//!
//! Spread: |u|²/n of all statistics together is regressed on z: a spread that moves with θ too little in each statistic to be seen there.
//! Company: second moments of u among the simulations nearest to the posterior, beside those of as many taken at random.
//! Each is compared with what random order gives, and told only where it matters: where the posterior, weighed by
//! N(u(θ)|0, S(θ))/N(u(θ)|0, I), has other means or widths.

use super::LocationScaleLikelihood;
use super::constants::dependence::{CHANCE, FEWEST, LEAST_WIDTH, MOST, ORDERS, WEIGHED};
use crate::Points;
use crate::checks::{self, Check};
use crate::linalg::Cholesky;
use crate::linalg::vector::dot;
use crate::random::{Purpose, stream};
use crate::special::tail::UpperTail;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// By how much the posterior would change, and how probable that is by chance.
struct Found {
    what: &'static str,
    /// Largest shift of a mean in posterior standard deviations, or of ln of a width.
    change: f64,
    chance: f64,
}

impl LocationScaleLikelihood {
    /// The check `dependence`; `None` without draws, or with too few simulations to tell.
    pub(super) fn dependence(&self, draws: &Points) -> Option<Check> {
        let u = &self.fitted.residuals.u;
        if draws.is_empty() || self.fitted.z.rows() < 2 * FEWEST {
            return None;
        }
        let z = draws.select(&(0..draws.rows()).step_by((draws.rows() / WEIGHED).max(1)).collect::<Vec<_>>());
        let at_draws = self.residuals_at(&self.seen(&z)).0;
        let found = [self.spread(u, &z, &at_draws), self.company(u, &z, &at_draws)];
        let told = found.iter().flatten().filter(|f| f.chance < CHANCE);
        let worst = told.max_by(|a, b| a.change.total_cmp(&b.change));
        Some(checks::dependence(worst.map(|f| (f.what, f.change))))
    }

    /// ln s²(θ) = a + b·z of all residuals together.
    fn spread(&self, u: &Points, z: &Points, at_draws: &Points) -> Option<Found> {
        let together = u.columns() * self.repeats();
        let n = together as f64;
        let sizes: Vec<f64> = u.values().chunks(together).map(|u| dot(u, u) / n).collect();
        let simulated = &self.fitted.z;
        let line = Line::fitted(simulated, &sizes)?;
        let by_chance: Vec<f64> = (0..ORDERS)
            .filter_map(|order| {
                let shuffled: Vec<f64> = shuffled(sizes.len(), order).into_iter().map(|i| sizes[i]).collect();
                Line::fitted(simulated, &shuffled).map(|line| line.explained)
            })
            .collect();
        let ln_weight = |q: usize| {
            let ln_s2 = (line.at(z.row(q)) / line.mean).clamp(0.1, 10.0).ln();
            let at_draw = &at_draws.values()[q * together..(q + 1) * together];
            -0.5 * n * ln_s2 - 0.5 * dot(at_draw, at_draw) * ((-ln_s2).exp() - 1.0)
        };
        let change = change(z, &(0..z.rows()).map(ln_weight).collect::<Vec<_>>());
        let chance = UpperTail::new(by_chance).probability(line.explained);
        Some(Found { what: "the noise of all statistics changes with the parameters", change, chance })
    }

    /// S of the simulations nearest to the posterior.
    fn company(&self, u: &Points, z: &Points, at_draws: &Points) -> Option<Found> {
        let near = self.nearest_to(z);
        let repeats = self.repeats();
        let rows = |of: &[usize]| -> Vec<usize> { of.iter().flat_map(|&i| i * repeats..(i + 1) * repeats).collect() };
        let moments = second_moments(u, &rows(&near));
        let at_random = |order: u64| second_moments(u, &rows(&shuffled(u.rows() / repeats, order)[..near.len()]));
        let by_chance: Vec<f64> = (0..ORDERS).map(|order| distance_from_unit(&at_random(order))).collect();
        let found = distance_from_unit(&moments);
        let expected = by_chance.iter().sum::<f64>() / by_chance.len() as f64;
        // What is left of the difference once chance is taken off.
        let kept = (1.0 - 2.0 * expected / found).max(0.0);
        let (n, together) = (u.columns(), u.columns() * repeats);
        let shrunk: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0)) * (1.0 - kept) + kept * moments[k]).collect();
        let factor = Cholesky::new(shrunk, n).ok()?;
        let mut whitened = at_draws.clone();
        factor.half_solve_in_place(whitened.values_mut());
        let squared = |u: &Points, q: usize| u.values()[q * together..(q + 1) * together].iter().map(|u| u * u).sum::<f64>();
        let ln_weight = |q: usize| -0.5 * squared(&whitened, q) + 0.5 * squared(at_draws, q);
        let change = change(z, &(0..z.rows()).map(ln_weight).collect::<Vec<_>>());
        let chance = UpperTail::new(by_chance).probability(found);
        Some(Found { what: "statistics vary or correlate differently near the observation than elsewhere", change, chance })
    }

    /// The simulations nearest to the posterior.
    fn nearest_to(&self, z: &Points) -> Vec<usize> {
        let (means, widths) = moments(z, &vec![1.0; z.rows()]);
        let simulated = &self.fitted.z;
        let distance = |row: &[f64]| (0..row.len()).map(|d| ((row[d] - means[d]) / widths[d].max(LEAST_WIDTH)).powi(2)).sum::<f64>();
        let mut order: Vec<(f64, usize)> = simulated.iter().map(distance).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.into_iter().take((simulated.rows() / 4).clamp(FEWEST, MOST)).map(|(_, row)| row).collect()
    }
}

/// Least squares of values on z and 1.
struct Line {
    mean: f64,
    centre: Vec<f64>,
    slopes: Vec<f64>,
    /// Share of the variance explained.
    explained: f64,
}

impl Line {
    fn fitted(z: &Points, values: &[f64]) -> Option<Self> {
        let (count, dimension) = (values.len() as f64, z.columns());
        let mean = values.iter().sum::<f64>() / count;
        let centre: Vec<f64> = (0..dimension).map(|d| z.column(d).iter().sum::<f64>() / count).collect();
        let mut products = vec![0.0; dimension * dimension];
        let mut slopes = vec![0.0; dimension];
        for (row, value) in z.iter().zip(values) {
            for d in 0..dimension {
                slopes[d] += (row[d] - centre[d]) * (value - mean);
                for e in 0..dimension {
                    products[d * dimension + e] += (row[d] - centre[d]) * (row[e] - centre[e]);
                }
            }
        }
        let covariances = slopes.clone();
        Cholesky::new(products, dimension).ok()?.solve_in_place(&mut slopes);
        let total: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        (total > 0.0).then(|| Self { mean, centre, explained: dot(&slopes, &covariances) / total, slopes })
    }

    fn at(&self, z: &[f64]) -> f64 {
        self.mean + z.iter().zip(&self.centre).zip(&self.slopes).map(|((z, c), b)| b * (z - c)).sum::<f64>()
    }
}

fn second_moments(u: &Points, rows: &[usize]) -> Vec<f64> {
    let n = u.columns();
    let mut moments = vec![0.0; n * n];
    for &row in rows {
        let u = u.row(row);
        for i in 0..n {
            for j in 0..n {
                moments[i * n + j] += u[i] * u[j] / rows.len() as f64;
            }
        }
    }
    moments
}

/// Σ (S - I)².
fn distance_from_unit(moments: &[f64]) -> f64 {
    let n = moments.len().isqrt();
    moments.iter().enumerate().map(|(k, s)| (s - f64::from(u8::from(k % (n + 1) == 0))).powi(2)).sum()
}

/// A random order.
fn shuffled(count: usize, order: u64) -> Vec<usize> {
    let mut rng: ChaCha8Rng = stream(0, Purpose::Parts, order);
    let mut all: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        all.swap(i, rng.random_range(0..=i));
    }
    all
}

/// Mean and standard deviation of each coordinate.
fn moments(z: &Points, weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let total: f64 = weights.iter().sum();
    let expectation = |f: &dyn Fn(&[f64]) -> f64| z.iter().zip(weights).map(|(z, w)| w / total * f(z)).sum::<f64>();
    let means: Vec<f64> = (0..z.columns()).map(|d| expectation(&|z| z[d])).collect();
    let widths = (0..z.columns()).map(|d| expectation(&|z| (z[d] - means[d]).powi(2)).sqrt()).collect();
    (means, widths)
}

/// What weights do to means, in standard deviations, and to widths, in logarithms: the largest.
fn change(z: &Points, ln_weights: &[f64]) -> f64 {
    let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln_weights.iter().map(|ln| (ln - largest).exp()).collect();
    let (before, after) = (moments(z, &vec![1.0; z.rows()]), moments(z, &weights));
    let one = |d: usize| {
        let width = before.1[d].max(f64::MIN_POSITIVE);
        ((after.0[d] - before.0[d]) / width).abs().max((after.1[d].max(1e-3 * width) / width).ln().abs())
    };
    (0..z.columns()).map(one).fold(0.0, f64::max)
}
