//! How many statistics are fitted at the same time: each may hold several matrices of m × m.

use crate::Error;
use rayon::prelude::*;

/// Up to so many simulations several statistics are fitted at once. Above, a single one keeps all threads busy and its matrices are large.
const SMALL: usize = 4_000;

/// How many of `statistics` are fitted at the same time.
pub fn at_once(statistics: usize, simulations: usize) -> usize {
    if simulations <= SMALL { statistics.min(rayon::current_num_threads()) } else { 1 }
}

/// `fit` of every item, in their order. What it gives does not depend on how many are fitted at once.
pub fn each<T: Send, U: Send>(items: Vec<T>, simulations: usize, fit: impl Fn(T) -> Result<U, Error> + Sync) -> Result<Vec<U>, Error> {
    if at_once(items.len(), simulations) > 1 { items.into_par_iter().map(&fit).collect() } else { items.into_iter().map(fit).collect() }
}
