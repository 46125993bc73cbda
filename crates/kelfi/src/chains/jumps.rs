//! Jumps of chains to where other chains have been: they carry chains between separate parts of the posterior, and where their
//! density is close to the posterior a jump makes an independent draw for a single evaluation.

use super::reference::Reference;
use crate::Points;
use crate::linalg::products::transpose;
use crate::linalg::vector::{gaussian_row, squared_distances, sum};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Earlier states that a jump may go near.
const CENTRES: usize = 2_000;
/// Share of jumps that come from the wide distribution fitted to all chains: no state is out of reach.
const WIDE: f64 = 0.1;
/// States at which a width is judged, and neighbours that say what the posterior looks like around a state.
const JUDGED: usize = 250;
const NEIGHBOURS: usize = 20;
/// Widths tried, in standard deviations of the neighbours: the widest of those worth this share of the best.
const ENOUGH: f64 = 0.85;
const WIDTHS: [f64; 8] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8];

/// Proposals anywhere chains have been: (1 - δ) times Gaussians around their earlier states, as wide as makes them most like the
/// posterior, and δ times the distribution fitted to all.
#[derive(Debug, Clone)]
pub struct Jumps {
    centres: Points,
    width: Reference,
    wide: Reference,
    /// Centres in units of the width, one coordinate after the other.
    whitened: Vec<f64>,
    ln_normaliser: f64,
    efficiency: f64,
}

impl Jumps {
    /// From states of `chains` chains, step after step, with ln of the target at each.
    pub fn new(states: &Points, values: &[f64], chains: usize, wide: &Reference) -> Self {
        let some = spread_out(states.rows(), CENTRES);
        let centres = states.select(&some);
        let shape = neighbourhood(&centres, wide);
        let judged: Vec<usize> = spread_out(some.len(), JUDGED);
        let of_width = |&width: &f64| {
            let jumps = Self::with_width(&centres, &shape, width, wide);
            let ln_weights: Vec<f64> = judged
                .iter()
                .map(|&k| {
                    let apart = |j: usize| some[j] % chains != some[k] % chains;
                    values[some[k]] - jumps.ln_density_of(centres.row(k), apart)
                })
                .collect();
            Self { efficiency: efficiency(&ln_weights), ..jumps }
        };
        let tried: Vec<Self> = WIDTHS.iter().map(of_width).collect();
        let best = tried.iter().map(Self::efficiency).fold(0.0, f64::max);
        // Too wide only wastes jumps; too narrow leaves chains stuck in the tails, which few states show.
        tried.into_iter().rfind(|jumps| jumps.efficiency >= ENOUGH * best).expect("the best one is good enough")
    }

    /// To points where the posterior may be, as far around each as its neighbours are.
    pub fn around(points: &Points, wide: &Reference) -> Self {
        Self::with_width(points, &neighbourhood(points, wide), 1.0, wide)
    }

    fn with_width(centres: &Points, shape: &[f64], width: f64, wide: &Reference) -> Self {
        let dimension = centres.columns();
        let width = Reference::gaussian(vec![0.0; dimension], shape.iter().map(|s| width * width * s).collect());
        let whitened = transpose(centres.map_rows(dimension, |centre| width.whiten(centre)).values(), dimension);
        let ln_normaliser = width.ln_density(width.centre());
        Self { centres: centres.clone(), width, wide: wide.clone(), whitened, ln_normaliser, efficiency: 0.0 }
    }

    /// Independent draws that a jump is worth, estimated: 1 if jumps come from the posterior itself.
    pub fn efficiency(&self) -> f64 {
        self.efficiency
    }

    /// A proposal.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        if rng.random::<f64>() < WIDE {
            return self.wide.draw(rng);
        }
        let k = ((rng.random::<f64>() * self.centres.rows() as f64) as usize).min(self.centres.rows() - 1);
        self.width.draw(rng).into_iter().zip(self.centres.row(k)).map(|(v, c)| v + c).collect()
    }

    /// ln of the density of jumps.
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let kernel = self.kernel(z);
        self.mixed(z, sum(&kernel) / kernel.len() as f64)
    }

    /// The same with those centres only that `which` says.
    fn ln_density_of(&self, z: &[f64], which: impl Fn(usize) -> bool) -> f64 {
        let kernel = self.kernel(z);
        let (sum, count) = (0..kernel.len()).filter(|&j| which(j)).fold((0.0, 0.0), |(sum, count), j| (sum + kernel[j], count + 1.0));
        self.mixed(z, sum / f64::max(count, 1.0))
    }

    /// The Gaussian around each centre at z, up to its normaliser.
    fn kernel(&self, z: &[f64]) -> Vec<f64> {
        let mut row = vec![0.0; self.centres.rows()];
        gaussian_row(&self.whitened, 0, &self.width.whiten(z), &mut row);
        row
    }

    /// ln of the density with this mean of the Gaussians.
    fn mixed(&self, z: &[f64], near: f64) -> f64 {
        let (near, far) = ((1.0 - WIDE).ln() + near.ln() + self.ln_normaliser, WIDE.ln() + self.wide.ln_density(z));
        let (low, high) = if near < far { (near, far) } else { (far, near) };
        high + (low - high).exp().ln_1p()
    }
}

/// At most `count` of `total` indices, evenly.
fn spread_out(total: usize, count: usize) -> Vec<usize> {
    let count = count.min(total);
    (0..count).map(|k| k * total / count).collect()
}

/// What importance weights w at draws of the target itself say: 1/(E[w] E[1/w]), the share of proposals they are worth.
fn efficiency(ln_weights: &[f64]) -> f64 {
    let mean_exp = |sign: f64| {
        let largest = ln_weights.iter().map(|w| sign * w).fold(f64::NEG_INFINITY, f64::max);
        largest + (ln_weights.iter().map(|w| (sign * w - largest).exp()).sum::<f64>() / ln_weights.len() as f64).ln()
    };
    let found = (-mean_exp(1.0) - mean_exp(-1.0)).exp();
    if found.is_finite() { found } else { 0.0 }
}

/// The mean covariance of each state's nearest neighbours around it, row after row.
fn neighbourhood(states: &Points, wide: &Reference) -> Vec<f64> {
    let dimension = states.columns();
    let whitened = states.map_rows(dimension, |z| wide.whiten(z));
    let columns = transpose(whitened.values(), dimension);
    let neighbours = NEIGHBOURS.max(2 * dimension).min(states.rows().saturating_sub(1));
    let mut covariance = vec![0.0; dimension * dimension];
    let looked_at = spread_out(states.rows(), JUDGED);
    let mut distances = vec![0.0; states.rows()];
    for &k in &looked_at {
        squared_distances(&columns, 0, whitened.row(k), &mut distances);
        let mut order: Vec<usize> = (0..states.rows()).filter(|&j| distances[j] > 0.0).collect();
        let near = neighbours.min(order.len());
        if near == 0 {
            continue;
        }
        order.select_nth_unstable_by(near - 1, |&i, &j| distances[i].total_cmp(&distances[j]).then(i.cmp(&j)));
        let mut near_ones = order[..near].to_vec();
        near_ones.sort_unstable();
        for &j in &near_ones {
            let (a, b) = (states.row(j), states.row(k));
            for d in 0..dimension {
                for e in 0..dimension {
                    covariance[d * dimension + e] += (a[d] - b[d]) * (a[e] - b[e]) / (near * looked_at.len()) as f64;
                }
            }
        }
    }
    (0..dimension).for_each(|d| covariance[d * dimension + d] += 1e-12);
    covariance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    /// Draws of two narrow Gaussians around ±2, as of ten chains.
    fn two_parts() -> (Points, Vec<f64>) {
        let mut rng = stream(8, Purpose::Experiment, 0);
        let z: Vec<f64> = (0..600).map(|i| 2.0 * f64::from(1 - 2 * (i % 2)) + 0.1 * standard_normal(&mut rng)).collect();
        let ln_target = |z: &f64| -0.5 * ((z.abs() - 2.0) / 0.1).powi(2);
        let values = z.iter().map(ln_target).collect();
        (Points::from_column(z), values)
    }

    #[test]
    fn jumps_are_like_the_posterior_and_know_it() {
        let (states, values) = two_parts();
        let jumps = Jumps::new(&states, &values, 10, &Reference::fitted(&states));
        // A tenth of them comes from the wide distribution and is mostly lost.
        assert!(jumps.efficiency() > 0.8 && jumps.efficiency() < 0.95, "{}", jumps.efficiency());
        let mut rng = stream(8, Purpose::Experiment, 1);
        let near = (0..1_000).filter(|_| (jumps.draw(&mut rng)[0].abs() - 2.0).abs() < 0.5).count();
        assert!(near > 900, "{near}");
    }

    #[test]
    fn the_density_of_jumps_integrates_to_one() {
        let (states, values) = two_parts();
        let jumps = Jumps::new(&states, &values, 10, &Reference::fitted(&states));
        let total: f64 = (0..20_001).map(|k| 0.002 * jumps.ln_density(&[-20.0 + 0.002 * k as f64]).exp()).sum();
        // Beyond ±20 the t distribution, a tenth of the whole, has 4e-4 of its mass.
        assert!((total - 1.0).abs() < 1e-4, "{total}");
    }
}
