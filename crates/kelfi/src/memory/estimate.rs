//! Bytes a fit takes at its peak, by counting the largest tables that are alive at the same time.
//!
//! With D = 4, n = 10 and every statistic bending so that all simulations are needed (`tests/memory.rs`):
//!
//! | model | m | estimated | measured |
//! |---|---|---|---|
//! | location-scale | 1,000 | 101 MB | 121 MB |
//! | location-scale | 3,000 | 328 MB | 320 MB |

use super::Demand;

/// Bytes of a number.
const NUMBER: u64 = 8;
/// Matrices of m × m that a regression on all simulations holds at once: kernel and covariance.
const OF_A_REGRESSION: u64 = 2;
/// Rows of m numbers that a regression holds for the points that stand for all: factor, features, and these in two more orders.
const ROWS_OF_POINTS: u64 = 5 * 165;
/// Simulations that the search of the shape sees, and matrices of as many rows and columns it holds: 31 weights, some kernels.
const IN_SHAPES: u64 = 600;
const SHAPES: u64 = 35;
/// Rows of m numbers that scoring a kernel means model holds: 200 members and 128 points, some of them twice.
const ROWS_OF_SCORES: u64 = 800;
/// Up to so many simulations, several kernel means models are tried at once.
const SMALL: usize = 1_500;

/// Learning a kernel means model. A low-rank solver asks for its own part when it knows its rank.
pub fn kernel_means(simulations: usize, threads: usize, low_rank: bool) -> Demand<'static> {
    let m = simulations as u64;
    let at_once = if simulations <= SMALL { threads.clamp(1, 8) as u64 } else { 1 };
    Demand {
        what: "the kernel means model",
        bytes: bytes(if low_rank { 0 } else { at_once * m }, ROWS_OF_SCORES, m),
        simulations,
        statistics: 0,
        advice: "use a machine with more memory",
    }
}

/// The factored kernel matrix of a kernel means model, everything chosen.
pub fn operator(simulations: usize) -> Demand<'static> {
    let m = simulations as u64;
    Demand { what: "the kernel means model", bytes: bytes(m, 0, m), simulations, statistics: 0, advice: "use a machine with more memory" }
}

/// A low-rank solver of this rank: the factor, a block more of it, and four square tables of the rank.
pub fn low_rank(simulations: usize, rank: usize) -> Demand<'static> {
    let (m, rank) = (simulations as u64, rank as u64);
    Demand {
        what: "the low-rank solver of the kernel means model",
        bytes: bytes(0, rank + 64, m).saturating_add(bytes(0, 4 * rank, rank)),
        simulations,
        statistics: 0,
        advice: "use longer length scales or a larger λ",
    }
}

/// Learning a location-scale model, `at_once` statistics at the same time. `dense`: whether some statistic needs all simulations.
pub fn location_scale(simulations: usize, statistics: usize, at_once: usize, dense: bool) -> Demand<'static> {
    let (m, at_once) = (simulations as u64, at_once.max(1) as u64);
    let square = if dense { OF_A_REGRESSION * at_once * m } else { 0 };
    let shape = (simulations as u64).min(IN_SHAPES).pow(2) * SHAPES * NUMBER;
    Demand {
        what: "the location-scale model",
        bytes: bytes(square, ROWS_OF_POINTS * at_once, m).max(shape),
        simulations,
        statistics,
        advice: "use the kernel means model",
    }
}

/// (square + rows) · m numbers.
fn bytes(square: u64, rows: u64, m: u64) -> u64 {
    square.saturating_add(rows).saturating_mul(m).saturating_mul(NUMBER)
}
