//! Were the simulated parameters drawn from the prior, and do they cover it?
//!
//! Coordinates z, sums and differences of pairs of them and the radius |z| are compared with what the prior says of each: the largest
//! difference of the two distribution functions (Kolmogorov & Smirnov), every θ counted once. Parameters spread more evenly than chance
//! (a grid, a Latin hypercube, Sobol points) differ less than draws would and are as welcome. The region simulated is where every one of these
//! coordinates, sums and differences lies between its smallest and its largest simulated value.

use crate::random::Purpose;
use crate::simulations::same_theta::SameTheta;
use crate::special::{gamma, normal};
use crate::{Points, Prior};

/// Draws of the prior give a difference as large as that taken for real this seldom, over all that is compared.
pub const LEVEL: f64 = 1e-4;
/// Draws for the prior's share outside of what was simulated, and draws that stand for a prior without a closed form: so many that
/// their own chance does not count.
const DRAWS: usize = 4_000;
const MANY_DRAWS: usize = 40_000;
/// All pairs are compared up to this many parameters, neighbours beyond.
const ALL_PAIRS: usize = 12;
/// A region that leaves out less of the prior than this covers it.
const LEFT_OUT: f64 = 0.02;

/// What the comparison of the simulated parameters with the prior found.
#[derive(Debug, Clone)]
pub struct PriorDraws {
    /// How often draws of the prior differ from it as much.
    pub p_value: f64,
    /// The largest difference of distribution functions.
    pub distance: f64,
    /// Share of the prior outside the region simulated.
    pub prior_outside: f64,
    pairs: Vec<(usize, usize)>,
    /// Ends of every coordinate, then of the sum and the difference of every pair.
    ends: Vec<(f64, f64)>,
}

impl PriorDraws {
    /// Of simulated parameters in z coordinates. Costs O(m D²) and a sort of each.
    pub fn of(z: &Points, prior: &Prior) -> Self {
        let z = &z.select(&SameTheta::new(z).firsts());
        let believed = prior.latent();
        let pairs = pairs(z.columns());
        let closed_form = believed.is_standard_normal();
        let draws = believed.draws(if closed_form { DRAWS } else { MANY_DRAWS }, 0, Purpose::Integration);
        let (mut distance, mut smallest, mut ends) = (0.0_f64, 1.0_f64, vec![]);
        let tables = (columns(z, &pairs), columns(&draws, &pairs));
        let tests = tables.0.len() as f64;
        for (k, (mut own, mut expected)) in tables.0.into_iter().zip(tables.1).enumerate() {
            own.sort_by(f64::total_cmp);
            let radius = k + 1 == tests as usize;
            let (found, count) = if closed_form {
                let half = 0.5 * z.columns() as f64;
                let chi_square = |r: f64| if r > 0.0 { gamma::ln_tails(half, (0.5 * r * r).ln()).0.exp() } else { 0.0 };
                (largest_difference(&own, |v| if radius { chi_square(v) } else { normal::cdf(v) }), own.len() as f64)
            } else {
                expected.sort_by(f64::total_cmp);
                let (m, n) = (own.len() as f64, expected.len() as f64);
                (largest_difference(&own, |v| expected.partition_point(|e| *e <= v) as f64 / n), m * n / (m + n))
            };
            distance = distance.max(found);
            smallest = smallest.min(tests * kolmogorov(found, count));
            if !radius {
                ends.push((own[0], own[own.len() - 1]));
            }
        }
        let mut result = Self { p_value: smallest.min(1.0), distance, prior_outside: 0.0, pairs, ends };
        result.prior_outside = result.outside(&draws);
        result
    }

    /// Whether the parameters can be draws of the prior.
    pub fn plausible(&self) -> bool {
        self.p_value > LEVEL
    }

    /// Whether they are no draws of the prior and leave out a part of it.
    pub fn narrower(&self) -> bool {
        !self.plausible() && self.prior_outside > LEFT_OUT
    }

    /// The share of these points, in z coordinates, outside the region simulated.
    pub fn outside(&self, z: &Points) -> f64 {
        let mut out = vec![false; z.rows()];
        for (column, (low, high)) in columns(z, &self.pairs).iter().zip(&self.ends) {
            out.iter_mut().zip(column).for_each(|(out, value)| *out |= value < low || value > high);
        }
        out.iter().filter(|out| **out).count() as f64 / z.rows().max(1) as f64
    }
}

fn pairs(dimension: usize) -> Vec<(usize, usize)> {
    let partners = |a: usize| a + 1..if dimension <= ALL_PAIRS { dimension } else { (a + 2).min(dimension) };
    (0..dimension).flat_map(|a| partners(a).map(move |b| (a, b))).collect()
}

/// Coordinates, (z_a + z_b)/√2 and (z_a - z_b)/√2 of every pair, |z|.
fn columns(z: &Points, pairs: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let mut all: Vec<Vec<f64>> = (0..z.columns()).map(|d| z.column(d)).collect();
    for &(a, b) in pairs {
        all.push(z.iter().map(|z| half * (z[a] + z[b])).collect());
        all.push(z.iter().map(|z| half * (z[a] - z[b])).collect());
    }
    all.push(z.iter().map(|z| z.iter().map(|v| v * v).sum::<f64>().sqrt()).collect());
    all
}

/// sup |F̂ - F| of sorted values.
fn largest_difference(sorted: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let n = sorted.len() as f64;
    let (mut largest, mut start) = (0.0_f64, 0);
    // Equal values are one step: only its two ends count.
    for same in sorted.chunk_by(|a, b| a == b) {
        let end = start + same.len();
        let expected = cdf(same[0]);
        largest = largest.max((expected - start as f64 / n).abs()).max((expected - end as f64 / n).abs());
        start = end;
    }
    largest
}

/// P(√n sup |F̂ - F| larger) ≈ 2 exp(-2λ²), λ = (√n + 0.12 + 0.11/√n) D (Stephens 1970); above the truth in the far tail.
fn kolmogorov(distance: f64, count: f64) -> f64 {
    let lambda = (count.sqrt() + 0.12 + 0.11 / count.sqrt()) * distance;
    (2.0 * (-2.0 * lambda * lambda).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prior::{GaussianComponent, Marginal};

    fn uniform(dimension: usize) -> Prior {
        Prior::independent((0..dimension).map(|d| (format!("t{d}"), Marginal::Uniform { low: 0.0, high: 2.0 })).collect()).unwrap()
    }

    fn mixture() -> Prior {
        let part = |mean: f64| GaussianComponent { weight: 0.5, mean: vec![mean, 0.0], std: vec![0.5, 1.0] };
        Prior::gaussian_mixture(vec!["a".into(), "b".into()], vec![part(-2.0), part(2.0)]).unwrap()
    }

    fn found(theta: &Points, prior: &Prior) -> PriorDraws {
        PriorDraws::of(&prior.to_latent_points(theta).unwrap(), prior)
    }

    #[test]
    fn draws_of_the_prior_are_never_suspected() {
        for prior in [uniform(1), uniform(4), mixture()] {
            let p_values: Vec<f64> = (0..150).map(|seed| found(&prior.draw(300, 100 + seed), &prior).p_value).collect();
            let smallest = p_values.iter().copied().fold(1.0, f64::min);
            let rare = p_values.iter().filter(|p| **p < 0.05).count() as f64 / 150.0;
            println!("{} parameters: smallest of 150 p-values {smallest}, {rare} of them below 0.05", prior.dimension());
            // One of 450 honest p-values lies below the level in one of twenty such tests; four standard errors of the rate are 0.07.
            assert!(smallest > LEVEL && rare < 0.05 + 0.07, "{smallest} {rare}");
        }
    }

    #[test]
    fn simulations_narrower_than_the_prior_are_told_and_what_they_leave_out_is_measured() {
        let prior = uniform(2);
        let narrow = prior.draw(100, 1).map_rows(2, |t| vec![0.7 + 0.3 * t[0], t[1]]);
        let told = found(&narrow, &prior);
        assert!(told.narrower(), "{told:?}");
        assert!((told.prior_outside - 0.7).abs() < 0.1, "{}", told.prior_outside);
        assert_eq!(told.outside(&prior.to_latent_points(&Points::from_rows(&[[1.0, 1.0], [0.2, 1.0]]).unwrap()).unwrap()), 0.5);
        // A line through a square: each parameter alone is as the prior has it.
        let line = prior.draw(100, 2).map_rows(2, |t| vec![t[0], t[0]]);
        assert!(found(&line, &prior).narrower());
        let part = mixture().draw(200, 3).map_rows(2, |t| vec![t[0].abs(), t[1]]);
        assert!(found(&part, &mixture()).narrower());
    }

    #[test]
    fn designs_that_cover_the_prior_evenly_or_more_than_evenly_are_welcome() {
        let prior = uniform(2);
        let golden = |k: usize, step: f64| (0.5 + k as f64 * step).fract() * 2.0;
        let even: Vec<[f64; 2]> = (0..400).map(|k| [golden(k, 0.754_877_666), golden(k, 0.569_840_29)]).collect();
        let even = found(&Points::from_rows(&even).unwrap(), &prior);
        assert!(even.plausible() && even.p_value > 0.5, "{even:?}");
        let grid: Vec<[f64; 2]> = (0..400).map(|k| [0.05 + 0.1 * (k % 20) as f64, 0.05 + 0.1 * (k / 20) as f64]).collect();
        assert!(found(&Points::from_rows(&grid).unwrap(), &prior).plausible());
        // The ends of the prior more often than it says: not its draws, but nothing is left out.
        let ends = prior.draw(400, 5).map_rows(2, |t| t.iter().map(|t| 1.0 + (t - 1.0).signum() * (t - 1.0).abs().powf(0.4)).collect());
        let ends = found(&ends, &prior);
        assert!(!ends.plausible() && !ends.narrower(), "{ends:?}");
        // Ten runs at every θ are no ten draws.
        let repeated = prior.draw(40, 6).select(&(0..400).map(|i| i % 40).collect::<Vec<_>>());
        assert!(found(&repeated, &prior).plausible());
    }
}
