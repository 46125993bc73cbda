//! Random numbers that depend on (seed, purpose, index) only: same answer at any thread count, in any order.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream is for. Streams of different purposes never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Parameters drawn from the prior or a proposal.
    Parameters = 1,
    /// The simulator's own randomness.
    Simulator = 2,
    /// Starting points of the hyperparameter search.
    Search = 3,
    /// Query points for super-samples.
    Candidates = 4,
    /// Independent posterior samples.
    Samples = 5,
    /// Monte Carlo integrals (negative mass, priors without a closed form).
    Integration = 6,
    /// Anything a test or an experiment needs.
    Experiment = 7,
    /// Noise that makes discrete statistics continuous.
    Dequantise = 8,
    /// Chains of slice sampling.
    Chains = 9,
    /// Evidences of models without a simulation.
    LeftOut = 10,
    /// Outputs a fitted model would produce.
    Predicted = 11,
    /// Parts of the simulations that are fitted by themselves.
    Parts = 12,
    /// Parameters proposed after the first round.
    Proposals = 13,
}

/// The generator for `index` of `purpose` in the run with this seed.
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    generator.set_stream(index);
    generator
}

/// A draw from N(0, 1) by the polar method.
pub fn standard_normal(rng: &mut dyn Rng) -> f64 {
    loop {
        let (u, v) = (2.0 * rng.random::<f64>() - 1.0, 2.0 * rng.random::<f64>() - 1.0);
        let r2 = u * u + v * v;
        if r2 > 0.0 && r2 < 1.0 {
            return u * (-2.0 * r2.ln() / r2).sqrt();
        }
    }
}
