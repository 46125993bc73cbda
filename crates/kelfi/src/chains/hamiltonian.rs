//! Hamiltonian moves, for many parameters: a state glides along the target, pushed by its gradient, and is accepted by the energy it gained.
//!
//! In coordinates w = R⁻¹ (z - c) in which the target is nearly N(0, I), with a momentum p ~ N(0, I), steps of the leapfrog
//! p += ½ε g, w += ε p, p += ½ε g, g = Rᵀ ∂ ln π, go round about a quarter of a circle; the end is taken with probability
//! min(1, exp(ln π' - ½|p'|² - ln π + ½|p|²)), which keeps the target whatever ε (Duane et al. 1987; Neal 2011). c and R come from the
//! curvature at the mode and then from the chains, ε from how often moves are taken.

use super::reference::Reference;
use super::target::{Target, ln_target_gradients};
use crate::Points;
use crate::linalg::symmetric::eigen;
use crate::optimise::{StopRule, maximise};
use crate::prior::LatentPrior;
use crate::random::standard_normal;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// With fewer parameters slides and jumps do as well without gradients.
pub const FEWEST_PARAMETERS: usize = 12;
/// How far a move goes, in standard deviations; steps of one move at most; how far ε varies from move to move.
const LENGTH: f64 = 1.5;
const MOST_STEPS: usize = 24;
const VARIED: f64 = 0.2;
/// The share of moves taken that ε is tuned for, and how fast.
const TAKEN: f64 = 0.8;
const SPEED: f64 = 1.5;
const STEPS: (f64, f64) = (0.02, 1.2);
/// Searches for the mode, and how far they go.
const SEARCHES: usize = 4;
const REACH: f64 = 10.0;
/// Step of the differences of gradients, and the least curvature along any axis: the prior's is one.
const DIFFERENCE: f64 = 1e-4;
const LEAST_CURVATURE: f64 = 0.2;

/// c, R and ε.
#[derive(Debug, Clone)]
pub struct Glide {
    reference: Reference,
    step: f64,
}

/// A chain on its way.
pub(crate) struct Glider {
    pub state: Vec<f64>,
    pub value: f64,
    gradient: Vec<f64>,
    rng: ChaCha8Rng,
}

impl Glide {
    /// Around the highest mode found from these starts; `None` where there is no closed form of gradients, or no mode.
    pub fn at_mode<T: Target + ?Sized>(target: &T, latent: &LatentPrior, starts: &Points) -> Option<Self> {
        let at = |z: &[f64]| {
            let point = Points::new(z.to_vec(), 1, z.len()).ok()?;
            let (values, gradients) = ln_target_gradients(target, latent, &point)?;
            Some((values[0], gradients.row(0).to_vec()))
        };
        let ascend = |start: &[f64]| {
            let bound = |sign: f64| start.iter().map(|z| sign * REACH.max(z.abs())).collect::<Vec<f64>>();
            let settings = StopRule { gain: 1e-3, gradient: 1e-3, longest: 0.5, ..StopRule::default() };
            maximise(|z| at(z).unwrap_or((f64::NAN, vec![f64::NAN; z.len()])), start, &bound(-1.0), &bound(1.0), settings)
        };
        at(starts.row(0))?;
        let found = (0..starts.rows().min(SEARCHES)).map(|k| ascend(starts.row(k))).filter(|found| found.value.is_finite());
        let mode = found.max_by(|a, b| a.value.total_cmp(&b.value))?.at;
        let covariance = covariance_at(target, latent, &mode)?;
        let step = usual_step(mode.len());
        Some(Self { reference: Reference::gaussian(mode, covariance), step })
    }

    /// In coordinates of these states, with steps that suit a nearly Gaussian target.
    pub fn along(states: &Points) -> Self {
        Self { reference: Reference::gaussian_of(states), step: usual_step(states.columns()) }
    }

    /// The same moves in coordinates of these states, where there are enough of them.
    pub fn fitted_to(&self, states: &Points) -> Self {
        let enough = states.rows() >= 10 * states.columns();
        Self { reference: if enough { Reference::gaussian_of(states) } else { self.reference.clone() }, step: self.step }
    }

    /// A start near the mode.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.reference.draw(rng)
    }

    /// ε after moves of which this share was taken.
    pub fn tune(&mut self, taken: f64) {
        self.step = (self.step * (SPEED * (taken - TAKEN)).exp()).clamp(STEPS.0, STEPS.1);
    }

    /// Chains at these states.
    pub(crate) fn begin<T: Target + ?Sized>(
        target: &T,
        latent: &LatentPrior,
        states: &Points,
        streams: Vec<ChaCha8Rng>,
    ) -> Option<Vec<Glider>> {
        let (values, gradients) = ln_target_gradients(target, latent, states)?;
        let one = |(k, rng): (usize, ChaCha8Rng)| Glider::new(states.row(k), values[k], gradients.row(k), rng);
        Some(streams.into_iter().enumerate().map(one).collect())
    }

    /// One move of each chain; the probability with which each was taken, on average. What a chain does depends on no other.
    pub(crate) fn advance<T: Target + ?Sized>(&self, target: &T, latent: &LatentPrior, chains: &mut [Glider]) -> f64 {
        self.advance_by(chains, |points| ln_target_gradients(target, latent, points))
    }

    /// The same with a target of each chain's own: `evaluate` gets a point of each, and gives ln of its target with the gradients.
    pub(crate) fn advance_by(&self, chains: &mut [Glider], evaluate: impl Fn(&Points) -> Option<(Vec<f64>, Points)>) -> f64 {
        let steps = ((LENGTH / self.step).ceil() as usize).clamp(1, MOST_STEPS);
        let mut moves: Vec<Move> = chains.iter_mut().map(|chain| Move::new(chain, &self.reference, self.step)).collect();
        for _ in 0..steps {
            moves.iter_mut().for_each(Move::push_and_go);
            let rows: Vec<Vec<f64>> = moves.iter().map(|m| self.reference.coloured(&m.at)).collect();
            let points = Points::from_rows(&rows).expect("every state has the same number of coordinates");
            let Some((values, gradients)) = evaluate(&points) else { return 0.0 };
            for (k, m) in moves.iter_mut().enumerate() {
                (m.value, m.gradient) = (values[k], gradients.row(k).to_vec());
                m.push(&self.reference);
            }
        }
        let taken: f64 = chains.iter_mut().zip(moves).map(|(chain, m)| m.settle(chain, &self.reference)).sum();
        taken / chains.len() as f64
    }
}

impl Glider {
    /// At a state with ln of the target and its gradient.
    pub fn new(state: &[f64], value: f64, gradient: &[f64], rng: ChaCha8Rng) -> Self {
        Self { state: state.to_vec(), value, gradient: gradient.to_vec(), rng }
    }
}

/// ε of a Gaussian target.
fn usual_step(dimension: usize) -> f64 {
    STEPS.1.min(1.3 * (dimension as f64).powf(-0.25))
}

/// A move that is under way.
struct Move {
    at: Vec<f64>,
    momentum: Vec<f64>,
    /// Rᵀ ∂ ln π.
    slope: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
    step: f64,
    energy: f64,
}

impl Move {
    fn new(chain: &mut Glider, reference: &Reference, step: f64) -> Self {
        let momentum: Vec<f64> = chain.state.iter().map(|_| standard_normal(&mut chain.rng)).collect();
        let step = step * (1.0 + VARIED * (2.0 * chain.rng.random::<f64>() - 1.0));
        let energy = kinetic(&momentum) - chain.value;
        let (at, slope) = (reference.whiten(&chain.state), reference.pull(&chain.gradient));
        Self { at, momentum, slope, gradient: vec![], value: chain.value, step, energy }
    }

    fn push_and_go(&mut self) {
        for ((w, p), g) in self.at.iter_mut().zip(&mut self.momentum).zip(&self.slope) {
            *p += 0.5 * self.step * g;
            *w += self.step * *p;
        }
    }

    fn push(&mut self, reference: &Reference) {
        self.slope = reference.pull(&self.gradient);
        self.momentum.iter_mut().zip(&self.slope).for_each(|(p, g)| *p += 0.5 * self.step * g);
    }

    /// Moves the chain or leaves it; the probability with which it moves.
    fn settle(self, chain: &mut Glider, reference: &Reference) -> f64 {
        let gained = self.energy - (kinetic(&self.momentum) - self.value);
        let probability = if gained.is_nan() { 0.0 } else { gained.min(0.0).exp() };
        if chain.rng.random::<f64>() < probability {
            chain.state = reference.coloured(&self.at);
            (chain.value, chain.gradient) = (self.value, self.gradient);
        }
        probability
    }
}

fn kinetic(momentum: &[f64]) -> f64 {
    0.5 * momentum.iter().map(|p| p * p).sum::<f64>()
}

/// The inverse of minus the second derivatives of the ln target at a mode, by differences of gradients.
fn covariance_at<T: Target + ?Sized>(target: &T, latent: &LatentPrior, mode: &[f64]) -> Option<Vec<f64>> {
    let dimension = mode.len();
    let moved = |d: usize, by: f64| {
        let mut z = mode.to_vec();
        z[d] += by;
        z
    };
    let rows: Vec<Vec<f64>> = (0..dimension).flat_map(|d| [moved(d, DIFFERENCE), moved(d, -DIFFERENCE)]).collect();
    let gradients = ln_target_gradients(target, latent, &Points::from_rows(&rows).ok()?)?.1;
    let second = |d: usize, e: usize| (gradients.row(2 * d + 1)[e] - gradients.row(2 * d)[e]) / (2.0 * DIFFERENCE);
    let curvature: Vec<f64> =
        (0..dimension * dimension).map(|k| 0.5 * (second(k / dimension, k % dimension) + second(k % dimension, k / dimension))).collect();
    if curvature.iter().any(|c| !c.is_finite()) {
        return None;
    }
    let (values, axes) = eigen(&curvature, dimension);
    let mut covariance = vec![0.0; dimension * dimension];
    for (value, axis) in values.iter().zip(&axes) {
        let variance = 1.0 / value.max(LEAST_CURVATURE);
        for (k, entry) in covariance.iter_mut().enumerate() {
            *entry += variance * axis[k / dimension] * axis[k % dimension];
        }
    }
    Some(covariance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    /// The first coordinate is known to 0.1, the second follows the square of it, the third is the prior's.
    struct Banana;

    impl Target for Banana {
        fn latent(&self) -> LatentPrior {
            LatentPrior::standard_normal(3)
        }

        fn ln_likelihoods(&self, z: &Points) -> Vec<f64> {
            z.iter().map(|z| -0.5 * ((z[0] - 1.0) / 0.5).powi(2) - 0.5 * ((z[1] - z[0] * z[0]) / 0.3).powi(2)).collect()
        }

        fn most_promising(&self, _count: usize) -> Points {
            Points::zeros(1, 3)
        }

        fn ln_gradients(&self, z: &Points) -> Option<(Vec<f64>, Points)> {
            let gradients = z.map_rows(3, |z| {
                let bend = (z[1] - z[0] * z[0]) / 0.09;
                vec![-(z[0] - 1.0) / 0.25 + 2.0 * z[0] * bend, -bend, 0.0]
            });
            Some((self.ln_likelihoods(z), gradients))
        }
    }

    /// Means and variances of the target by a fine grid over the first two coordinates.
    fn exact() -> [(f64, f64); 2] {
        let (mut total, mut sums) = (0.0, [[0.0; 2]; 2]);
        for (i, j) in (0..400).flat_map(|i| (0..400).map(move |j| (i, j))) {
            let z = [-3.0 + 0.0175 * f64::from(i), -3.0 + 0.025 * f64::from(j), 0.0];
            let ln = Banana.ln_likelihoods(&Points::from_rows(&[z]).unwrap())[0] - 0.5 * (z[0] * z[0] + z[1] * z[1]);
            total += ln.exp();
            (0..2).for_each(|d| sums[d] = [sums[d][0] + z[d] * ln.exp(), sums[d][1] + z[d] * z[d] * ln.exp()]);
        }
        sums.map(|[first, second]| (first / total, second / total - (first / total).powi(2)))
    }

    #[test]
    fn moves_keep_the_target() {
        let latent = Banana.latent();
        let mut glide = Glide::at_mode(&Banana, &latent, &Points::zeros(1, 3)).unwrap();
        let streams = || (0..40).map(|k| stream(5, Purpose::Experiment, k)).collect::<Vec<_>>();
        let starts: Vec<Vec<f64>> = streams().iter_mut().map(|rng| glide.draw(rng)).collect();
        let mut chains = Glide::begin(&Banana, &latent, &Points::from_rows(&starts).unwrap(), streams()).unwrap();
        for _ in 0..40 {
            let taken = glide.advance(&Banana, &latent, &mut chains);
            glide.tune(taken);
        }
        let (mut states, mut taken) = (vec![], 0.0);
        for _ in 0..400 {
            taken += glide.advance(&Banana, &latent, &mut chains) / 400.0;
            states.extend(chains.iter().map(|chain| chain.state.clone()));
        }
        assert!((taken - TAKEN).abs() < 0.12, "{taken}");
        for (d, (mean, variance)) in exact().into_iter().chain([(0.0, 1.0)]).enumerate() {
            let found = states.iter().map(|z| z[d]).sum::<f64>() / states.len() as f64;
            let spread = states.iter().map(|z| (z[d] - found).powi(2)).sum::<f64>() / states.len() as f64;
            // 16,000 states worth at least 3,000: four standard errors are 0.073 sd of a mean and 0.1 of a variance.
            assert!((found - mean).abs() < 0.073 * variance.sqrt(), "{d}: {found} {mean}");
            assert!((spread / variance - 1.0).abs() < 0.12, "{d}: {spread} {variance}");
        }
    }
}
