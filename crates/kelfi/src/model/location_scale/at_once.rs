//! How many statistics are fitted at the same time: each may hold several matrices of m × m.

use crate::Error;
use rayon::prelude::*;

/// Up to so many simulations as many statistics are fitted at once as there are threads, above only so many: each holds hundreds of rows as
/// long as the number of simulations.
const SMALL: usize = 4_000;
const TOGETHER: usize = 4;

/// How many of `statistics` are fitted at the same time.
pub fn at_once(statistics: usize, simulations: usize) -> usize {
    let most = if simulations <= SMALL { usize::MAX } else { TOGETHER };
    statistics.min(rayon::current_num_threads()).min(most)
}

/// `fit` of every item, in their order. What it gives does not depend on how many are fitted at once.
pub fn each<T: Send, U: Send>(items: Vec<T>, simulations: usize, fit: impl Fn(T) -> Result<U, Error> + Sync) -> Result<Vec<U>, Error> {
    if simulations <= SMALL {
        return items.into_par_iter().map(&fit).collect();
    }
    let (mut fitted, mut left, together) = (Vec::with_capacity(items.len()), items, at_once(usize::MAX, simulations));
    while !left.is_empty() {
        let later = left.split_off(together.min(left.len()));
        fitted.extend(left.into_par_iter().map(&fit).collect::<Result<Vec<U>, Error>>()?);
        left = later;
    }
    Ok(fitted)
}
