//! Separate modes of a posterior, from its draws: parts with a valley between them, each with its share.
//!
//! Draws are seen along many directions. A valley between two peaks of the density along one of them splits the draws where it is deep, beyond
//! what chance makes of so many draws, and has enough of them on both sides. A ring or a bent ridge also has two peaks when seen from one side:
//! it is not split, since draws in its valley lie as close together as elsewhere.

use super::reference::Reference;
use crate::Points;
use crate::checks::{Check, Status};
use crate::linalg::vector::dot;

/// A mode holds at least this share of the draws.
const LEAST_SHARE: f64 = 0.05;
/// The density in a valley over that of the lower of its two peaks, at most.
const DEEPEST: f64 = 0.5;
/// Below this there is nothing between the parts, however they are bent.
const EMPTY: f64 = 0.05;
/// Standard errors by which a valley lies below its peaks.
const SIGNIFICANCE: f64 = 5.0;
/// Draws that are split at all.
const FEWEST: usize = 200;
/// Draws looked at, at most.
const MOST: usize = 2_000;
/// Directions between two coordinates are looked at up to this number of parameters.
const MOST_PAIRED: usize = 6;
/// Neighbour whose distance says how close together draws lie, and draws at which that is asked.
const NEIGHBOUR: usize = 10;
const ASKED: usize = 100;
/// Modes, and parameters of each, that a message tells.
const MOST_TOLD: usize = 3;

/// One of several separate parts of a posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// Its share of the draws.
    pub weight: f64,
    /// The mean of its draws.
    pub centre: Vec<f64>,
}

/// The separate modes of the draws, the heaviest first; one for a posterior in one piece.
pub fn modes(draws: &Points) -> Vec<Mode> {
    let parts = parts(draws);
    let count: usize = parts.iter().map(Points::rows).sum();
    let one = |part: &Points| Mode { weight: part.rows() as f64 / count as f64, centre: mean(part) };
    let mut found: Vec<Mode> = parts.iter().map(one).collect();
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    found
}

/// Up to 2,000 of the draws, those of each separate mode together.
pub(crate) fn parts(draws: &Points) -> Vec<Points> {
    let count = draws.rows().min(MOST);
    let mut parts = vec![];
    if count > 0 {
        let some: Vec<usize> = (0..count).map(|k| k * draws.rows() / count).collect();
        divide(&draws.select(&some), (LEAST_SHARE * count as f64).ceil() as usize, &mut parts);
    }
    parts
}

/// Does the posterior have one mode? A mean between separate modes is no plausible value. Modes in the user's units, `names` of the parameters.
pub fn check(modes: &[Mode], names: &[String]) -> Check {
    let several = modes.len() > 1;
    let message = if several {
        let parts: Vec<String> = modes.iter().take(MOST_TOLD).map(|mode| describe(mode, names)).collect();
        let more = if modes.len() > MOST_TOLD { " and elsewhere" } else { "" };
        format!(
            "the posterior has {} separate modes, around {}{more}; its mean lies between them",
            number(modes.len()),
            parts.join(" and ")
        )
    } else {
        "the posterior has one mode".into()
    };
    let status = if several { Status::Warn } else { Status::Ok };
    Check::new("modes", status, modes.len() as f64, 1.0, message)
}

/// Where a mode lies in the first few parameters, and its share.
fn describe(mode: &Mode, names: &[String]) -> String {
    let values: Vec<String> =
        names.iter().zip(&mode.centre).take(MOST_TOLD).map(|(name, value)| format!("{name} = {}", short(*value))).collect();
    format!("{} ({:.0} %)", values.join(", "), 100.0 * mode.weight)
}

/// Three digits.
fn short(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) { format!("{value:.2e}") } else { format!("{value:.3}") }
}

fn number(count: usize) -> String {
    ["no", "one", "two", "three", "four", "five"].get(count).map_or_else(|| count.to_string(), |word| (*word).into())
}

/// Splits draws again and again until every part is in one piece.
fn divide(draws: &Points, least: usize, parts: &mut Vec<Points>) {
    match (draws.rows() >= FEWEST.max(2 * least)).then(|| deepest_valley(draws, least)).flatten() {
        Some((below, above)) => {
            divide(&draws.select(&below), least, parts);
            divide(&draws.select(&above), least, parts);
        }
        None => parts.push(draws.clone()),
    }
}

fn mean(draws: &Points) -> Vec<f64> {
    (0..draws.columns()).map(|d| draws.column(d).iter().sum::<f64>() / draws.rows() as f64).collect()
}

/// The rows on both sides of the deepest valley that is one.
fn deepest_valley(draws: &Points, least: usize) -> Option<(Vec<usize>, Vec<usize>)> {
    let scaled = in_robust_units(draws);
    let mut valleys: Vec<(Valley, Vec<f64>)> =
        seen_along_all_directions(&scaled).into_iter().filter_map(|t| Some((Valley::deepest(&t, least)?, t))).collect();
    valleys.sort_by(|a, b| a.0.depth.total_cmp(&b.0.depth));
    let (valley, t) = valleys.into_iter().find(|(valley, t)| scaled.columns() == 1 || valley.is_sparse(t, &scaled))?;
    Some((0..t.len()).partition(|&i| t[i] < valley.at))
}

/// Every coordinate less its median, over its interquartile range.
fn in_robust_units(draws: &Points) -> Points {
    let ends: Vec<[f64; 3]> = (0..draws.columns()).map(|d| quartiles(&draws.column(d))).collect();
    let unit = |[low, _, high]: [f64; 3]| if high > low { (high - low) / 1.349 } else { 1.0 };
    draws.map_rows(draws.columns(), |z| z.iter().zip(&ends).map(|(z, q)| (z - q[1]) / unit(*q)).collect())
}

fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|p| sorted[((p * sorted.len() as f64) as usize).min(sorted.len() - 1)])
}

/// The draws along coordinates, along what each coordinate has of its own beside those before it, and along sums and differences of two.
fn seen_along_all_directions(draws: &Points) -> Vec<Vec<f64>> {
    let dimension = draws.columns();
    let mut seen: Vec<Vec<f64>> = (0..dimension).map(|d| draws.column(d)).collect();
    if dimension > 1 {
        let reference = Reference::fitted(draws);
        let whitened = draws.map_rows(dimension, |z| reference.whiten(z));
        seen.extend((1..dimension).map(|d| whitened.column(d)));
    }
    if dimension <= MOST_PAIRED {
        for (d, e) in (0..dimension).flat_map(|d| (0..d).map(move |e| (d, e))) {
            let along = |sign: f64| draws.iter().map(|z| z[d] + sign * z[e]).collect();
            seen.extend([along(1.0), along(-1.0)]);
        }
    }
    seen
}

/// A valley of the density along one direction, and the peaks on both sides.
struct Valley {
    at: f64,
    peaks: [f64; 2],
    /// Half the distance over which it counts as valley.
    reach: f64,
    /// Its density over that of the lower peak.
    depth: f64,
}

impl Valley {
    /// The deepest one with `least` draws on both sides, if chance does not make such a valley.
    fn deepest(t: &[f64], least: usize) -> Option<Self> {
        let mut sorted = t.to_vec();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        let [low, _, high] = quartiles(&sorted);
        // Silverman's rule.
        let bandwidth = 0.9 * (high - low) / 1.349 * (count as f64).powf(-0.2);
        if !(bandwidth > 0.0 && bandwidth.is_finite()) {
            return None;
        }
        // Nothing but peaks matters below the first and above the last draws that may be a mode of their own.
        let (first, last) = (sorted[least / 4], sorted[count - 1 - least / 4]);
        let nodes = ((last - first) / (0.5 * bandwidth)).ceil().clamp(2.0, 2_000.0) as usize;
        let grid: Vec<f64> = (0..=nodes).map(|k| first + (last - first) * k as f64 / nodes as f64).collect();
        let density: Vec<f64> = grid.iter().map(|&g| smoothed(&sorted, g, bandwidth)).collect();
        let (left, right) = (highest_before(&density), highest_after(&density));
        // Draws that a smoothed density of one counts: the variance of an estimate f is f over this.
        let counted = count as f64 * 2.0 * std::f64::consts::PI.sqrt() * bandwidth;
        let judged = |k: usize| -> Option<Self> {
            let (a, b) = (left[k], right[k]);
            let lower = density[a].min(density[b]);
            let below = sorted.partition_point(|&value| value < grid[k]);
            let depth = density[k] / lower;
            let error = ((lower + density[k]) / counted).sqrt();
            let clear = depth < DEEPEST && lower - density[k] > SIGNIFICANCE * error && below >= least && count - below >= least;
            clear.then(|| Self { at: grid[k], peaks: [grid[a], grid[b]], reach: (0.15 * (grid[b] - grid[a])).max(0.5 * bandwidth), depth })
        };
        (1..nodes).filter_map(judged).min_by(|a, b| a.depth.total_cmp(&b.depth))
    }

    /// Whether draws in the valley lie further apart than at the peaks: by their distance to a near neighbour, as a density.
    fn is_sparse(&self, t: &[f64], draws: &Points) -> bool {
        if self.depth < EMPTY {
            return true;
        }
        let near = |at: f64| -> Vec<usize> { (0..t.len()).filter(|&i| (t[i] - at).abs() <= self.reach).collect() };
        let Some(valley) = ln_density(draws, &near(self.at)) else { return true };
        let peaks = self.peaks.map(|at| ln_density(draws, &near(at)));
        peaks.into_iter().flatten().all(|peak| valley - peak < DEEPEST.ln())
    }
}

/// The mean of a Gaussian of this bandwidth around every draw, at t.
fn smoothed(sorted: &[f64], t: f64, bandwidth: f64) -> f64 {
    let near = sorted.partition_point(|&v| v < t - 5.0 * bandwidth)..sorted.partition_point(|&v| v <= t + 5.0 * bandwidth);
    let sum: f64 = sorted[near].iter().map(|v| (-0.5 * ((t - v) / bandwidth).powi(2)).exp()).sum();
    sum / (sorted.len() as f64 * bandwidth * std::f64::consts::TAU.sqrt())
}

/// Where the largest value up to each position stands.
fn highest_before(values: &[f64]) -> Vec<usize> {
    let mut best = 0;
    (0..values.len())
        .map(|k| {
            best = if values[k] > values[best] { k } else { best };
            best
        })
        .collect()
}

/// Where the largest value from each position on stands.
fn highest_after(values: &[f64]) -> Vec<usize> {
    let mirrored: Vec<f64> = values.iter().rev().copied().collect();
    let last = values.len() - 1;
    highest_before(&mirrored).into_iter().rev().map(|k| last - k).collect()
}

/// ln of the density at a typical one of these rows, up to a constant: -D ln of the distance to a near neighbour. `None` for no rows.
fn ln_density(draws: &Points, rows: &[usize]) -> Option<f64> {
    let asked = rows.len().min(ASKED);
    if asked == 0 {
        return None;
    }
    let of_row = |k: usize| {
        let z = draws.row(rows[k * rows.len() / asked]);
        let mut squared: Vec<f64> = draws.iter().map(|other| apart(z, other)).collect();
        let near = NEIGHBOUR.min(squared.len() - 1);
        0.5 * squared.select_nth_unstable_by(near, f64::total_cmp).1.max(f64::MIN_POSITIVE).ln()
    };
    let mut found: Vec<f64> = (0..asked).map(of_row).collect();
    found.sort_by(f64::total_cmp);
    Some(-(draws.columns() as f64) * found[asked / 2])
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    dot(&difference, &difference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    fn drawn(count: usize, seed: u64, one: impl Fn(&mut ChaCha8Rng) -> Vec<f64>) -> Points {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        Points::from_rows(&(0..count).map(|_| one(&mut rng)).collect::<Vec<_>>()).unwrap()
    }

    fn normals(rng: &mut ChaCha8Rng, dimension: usize) -> Vec<f64> {
        (0..dimension).map(|_| standard_normal(rng)).collect()
    }

    #[test]
    fn two_modes_are_found_with_their_shares() {
        for seed in 0..20 {
            let draws = drawn(1_000, seed, |rng| {
                let side = if rng.random::<f64>() < 0.7 { 2.0 } else { -2.0 };
                vec![side + 0.7 * standard_normal(rng)]
            });
            let found = modes(&draws);
            assert_eq!(found.len(), 2, "seed {seed}: {found:?}");
            assert!((found[0].weight - 0.7).abs() < 0.08 && (found[0].centre[0] - 2.0).abs() < 0.15, "seed {seed}: {found:?}");
            assert!((found[1].centre[0] + 2.0).abs() < 0.25, "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn four_modes_and_two_parallel_ridges_are_found() {
        for seed in 0..10 {
            let corner = |rng: &mut ChaCha8Rng| if rng.random::<bool>() { 1.0 } else { -1.0 };
            let corners = drawn(2_000, seed, |rng| (0..2).map(|_| corner(rng) + 0.2 * standard_normal(rng)).collect());
            assert_eq!(modes(&corners).len(), 4, "seed {seed}");
            // θ₁ + θ₂ = ±0.3 and wide along it: neither parameter alone shows it.
            let ridges = drawn(2_000, seed, |rng| {
                let (along, across) = (2.0 * standard_normal(rng), 0.3 * corner(rng) + 0.08 * standard_normal(rng));
                vec![across + along, across - along]
            });
            assert_eq!(modes(&ridges).len(), 2, "seed {seed}");
        }
    }

    #[test]
    fn one_piece_however_skewed_bent_or_heavy_tailed_is_one_mode() {
        type Shape = (&'static str, fn(&mut ChaCha8Rng) -> Vec<f64>);
        let shapes: [Shape; 11] = [
            ("normal", |rng| normals(rng, 1)),
            ("normal in 5", |rng| normals(rng, 5)),
            ("exponential", |rng| vec![-rng.random::<f64>().ln()]),
            ("log-normal", |rng| vec![standard_normal(rng).exp()]),
            ("uniform", |rng| vec![rng.random(), rng.random()]),
            ("Cauchy", |rng| vec![standard_normal(rng) / standard_normal(rng)]),
            ("t with 2 degrees", |rng| {
                let scale = (-2.0 * rng.random::<f64>().ln() / 2.0).sqrt();
                normals(rng, 2).into_iter().map(|z| z / scale).collect()
            }),
            ("banana", |rng| {
                let x = standard_normal(rng);
                vec![x, x * x + 0.1 * standard_normal(rng)]
            }),
            ("ring", |rng| {
                let (angle, radius) = (std::f64::consts::TAU * rng.random::<f64>(), 1.0 + 0.1 * standard_normal(rng));
                vec![radius * angle.cos(), radius * angle.sin()]
            }),
            ("arc", |rng| {
                let (angle, radius) = (1.5 * std::f64::consts::PI * rng.random::<f64>(), 1.0 + 0.1 * standard_normal(rng));
                vec![radius * angle.cos(), radius * angle.sin()]
            }),
            ("correlated", |rng| {
                let z = normals(rng, 3);
                vec![z[0], z[0] + 0.1 * z[1], z[0] - z[1] + 0.05 * z[2]]
            }),
        ];
        let mut alarms = vec![];
        for (name, shape) in shapes {
            for seed in 0..30 {
                if modes(&drawn(1_000, 100 + seed, shape)).len() > 1 {
                    alarms.push(name);
                }
            }
        }
        // 2 % of 330.
        assert!(alarms.len() <= 6, "{alarms:?}");
    }

    #[test]
    fn the_check_tells_where_the_modes_lie() {
        let mode = |weight: f64, at: f64| Mode { weight, centre: vec![at] };
        let found = check(&[mode(0.6, 2.0), mode(0.4, -2.5)], &["a".to_string()]);
        assert_eq!(found.status, Status::Warn);
        assert!(
            found.message().starts_with("the posterior has two separate modes, around a = 2.000 (60 %) and a = -2.500 (40 %);"),
            "{}",
            found.message()
        );
        assert_eq!(check(&[mode(1.0, 0.0)], &["a".to_string()]).status, Status::Ok);
    }

    #[test]
    fn draws_that_do_not_vary_or_are_few_are_one_mode() {
        assert_eq!(modes(&Points::zeros(1_000, 2)), vec![Mode { weight: 1.0, centre: vec![0.0, 0.0] }]);
        assert_eq!(modes(&Points::from_column(vec![-1.0, 1.0])).len(), 1);
        assert!(modes(&Points::zeros(0, 2)).is_empty());
    }
}
