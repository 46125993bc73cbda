//! Where to simulate next: around draws of the posterior, and a share of simulations widely, so that no mode is lost for good.

use crate::chains::modes;
use crate::linalg::Cholesky;
use crate::random::{Purpose, standard_normal, stream};
use crate::{Error, Model, Points, Prior};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Degrees of freedom of the jitter, and its width in standard deviations of the draws.
const DEGREES: usize = 5;
const WIDTH: f64 = 0.7;
/// The share proposed widely: in turn with a jitter this many times as wide, and from the prior.
const WIDE_SHARE: f64 = 0.1;
const WIDER: f64 = 4.0;
/// Proposals are made again, at most this often, if they leave the prior's support.
const ATTEMPTS: usize = 100;

/// Parameters and whether each is a wide proposal. The one with index j depends on (seed, j) and the draws only.
pub(super) fn around(draws: &Points, prior: &Prior, count: usize, first: usize, seed: u64) -> (Points, Vec<bool>) {
    let parts: Vec<Part> = modes::parts(draws).iter().map(Part::new).collect();
    let (mut rows, mut wide) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for k in 0..count {
        let mut rng = stream(seed, Purpose::Proposals, (first + k) as u64);
        let turn = (k as f64 * WIDE_SHARE) as usize;
        let widely = ((k + 1) as f64 * WIDE_SHARE) as usize > turn;
        rows.push(match (widely, turn % 2) {
            (true, 1) => prior.draw_with(&mut rng),
            (true, _) => near(&parts, prior, WIDER * WIDTH, &mut rng),
            (false, _) => near(&parts, prior, WIDTH, &mut rng),
        });
        wide.push(widely);
    }
    (Points::from_rows(&rows).expect("every proposal has the same number of coordinates"), wide)
}

/// A draw of the posterior with a jitter, inside the prior's support.
fn near(parts: &[Part], prior: &Prior, width: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let total: usize = parts.iter().map(|part| part.draws.rows()).sum();
    let latent = prior.latent();
    for _ in 0..ATTEMPTS {
        let mut at = ((rng.random::<f64>() * total as f64) as usize).min(total - 1);
        let mut which = 0;
        while at >= parts[which].draws.rows() {
            at -= parts[which].draws.rows();
            which += 1;
        }
        let part = &parts[which];
        let z = part.jittered(at, width, rng);
        let theta = prior.from_latent(&z);
        // No wider than the prior: where it falls off towards the proposal, the proposal is as much rarer.
        let rarer = latent.ln_density(&z).zip(latent.ln_density(part.draws.row(at))).map_or(0.0, |(there, here)| there - here);
        let kept = rng.random::<f64>().ln() < rarer && prior.ln_density(&theta).map_or(true, |ln| ln > f64::NEG_INFINITY);
        if kept && prior.to_latent(&theta).is_ok() {
            return theta;
        }
    }
    prior.draw_with(rng)
}

/// Draws of one mode and the root of their covariance.
struct Part {
    draws: Points,
    root: Option<Cholesky>,
}

impl Part {
    fn new(draws: &Points) -> Self {
        let (count, dimension) = (draws.rows() as f64, draws.columns());
        let means: Vec<f64> = (0..dimension).map(|d| draws.iter().map(|z| z[d]).sum::<f64>() / count).collect();
        let mut covariance = vec![0.0; dimension * dimension];
        for z in draws.iter() {
            for i in 0..dimension {
                for j in 0..dimension {
                    covariance[i * dimension + j] += (z[i] - means[i]) * (z[j] - means[j]) / count;
                }
            }
        }
        (0..dimension).for_each(|d| covariance[d * dimension + d] += 1e-12);
        Self { draws: draws.clone(), root: Cholesky::new(covariance, dimension).ok() }
    }

    /// Draw `at` with a t-distributed jitter.
    fn jittered(&self, at: usize, width: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let dimension = self.draws.columns();
        let chi_square: f64 = (0..DEGREES).map(|_| standard_normal(rng).powi(2)).sum();
        let normal: Vec<f64> = (0..dimension).map(|_| width * (DEGREES as f64 / chi_square).sqrt() * standard_normal(rng)).collect();
        let step = |i: usize| self.root.as_ref().map_or(0.0, |root| (0..=i).map(|j| root.entry(i, j) * normal[j]).sum());
        self.draws.row(at).iter().enumerate().map(|(i, z)| z + step(i)).collect()
    }
}

/// Draws of the prior among which those of a kernel means model are chosen.
const POOL: usize = 4_000;

/// Draws in proportion to prior × max(q + sd, 0), sd the Gaussian process's: where the surrogate is large, or not known to be small.
pub(super) fn uncertain(model: &dyn Model, prior: &Prior, count: usize, first: usize, seed: u64) -> Result<(Points, Vec<bool>), Error> {
    let mut rng = stream(seed, Purpose::Proposals, first as u64);
    let rows: Vec<Vec<f64>> = (0..POOL.max(4 * count)).map(|_| prior.draw_with(&mut rng)).collect();
    let pool = Points::from_rows(&rows)?;
    let upper: Vec<f64> = model.upper_values(&pool)?.into_iter().map(|upper| upper.max(0.0)).collect();
    // Without replacement: the largest of ln w + G, G of Gumbel's distribution.
    let mut keys: Vec<(f64, usize)> =
        upper.iter().enumerate().map(|(k, w)| (w.max(f64::MIN_POSITIVE).ln() - (-rng.random::<f64>().ln()).ln(), k)).collect();
    keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let chosen: Vec<usize> = keys.iter().take(count).map(|key| key.1).collect();
    Ok((pool.select(&chosen), vec![false; chosen.len()]))
}
