//! Tables that a thread has finished with, for the next one that needs as many numbers. A search for hyperparameters makes and drops several
//! tables of m × m at every step; fresh memory for each would cost a fifth of its time.

use std::cell::RefCell;

/// Tables kept for each thread.
const KEPT: usize = 4;
/// Numbers in a table that is kept, at most: larger ones are few, and their memory is wanted elsewhere.
const LARGEST: usize = 1 << 18;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(vec![]) };
}

/// So many zeros.
pub fn zeros(count: usize) -> Vec<f64> {
    let fitting =
        |spare: &mut Vec<Vec<f64>>| spare.iter().position(|table| table.capacity() >= count).map(|place| spare.swap_remove(place));
    let mut table = SPARE.with_borrow_mut(fitting).unwrap_or_default();
    table.clear();
    table.resize(count, 0.0);
    table
}

/// Hands a table back.
pub fn give(table: Vec<f64>) {
    if table.capacity() <= LARGEST {
        SPARE.with_borrow_mut(|spare| {
            if spare.len() < KEPT {
                spare.push(table);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_handed_back_comes_again_as_zeros() {
        let mut table = zeros(1_000);
        table.fill(7.0);
        let place = table.as_ptr();
        give(table);
        let (again, other) = (zeros(900), zeros(900));
        assert_eq!(again.as_ptr(), place);
        assert!(again.iter().chain(&other).all(|value| *value == 0.0));
    }
}
