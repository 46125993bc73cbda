//! Exact posterior draws by repeated attempts.

use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};
use rand::Rng;
use rayon::prelude::*;

/// One attempt at a draw.
pub(super) type Attempt<'a> = Box<dyn Fn(&mut dyn Rng) -> Option<Vec<f64>> + Sync + 'a>;

/// Attempts for one draw before the observation counts as impossible under the prior.
const ATTEMPTS: usize = 1_000_000;

/// `count` accepted draws; draw i depends on (seed, i) only.
pub(super) fn sample(attempt: &Attempt<'_>, count: usize, seed: u64) -> Result<Points, Error> {
    let draw = |index: usize| {
        let mut rng = stream(seed, Purpose::Samples, index as u64);
        (0..ATTEMPTS).find_map(|_| attempt(&mut rng)).ok_or_else(|| Error::Unavailable {
            what: "a posterior draw".into(),
            reason: format!("{ATTEMPTS} attempts all fell outside the prior; the observation is too far from anything it allows"),
        })
    };
    let rows: Vec<Vec<f64>> = (0..count).into_par_iter().map(draw).collect::<Result<_, _>>()?;
    Points::from_rows(&rows)
}
