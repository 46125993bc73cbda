//! Ordinary differential equations by Dormand and Prince's 5(4) pair with error control (J. Comput. Appl. Math. 6, 1980).
//!
//! Ours rather than a crate's: the steps are part of the benchmark, whose data keep their bits, and the crates bring a second matrix library.

use crate::problem::SimulationFailure;

/// Both the absolute and the relative tolerance of the benchmark's solver.
const TOLERANCE: f64 = 1e-8;
/// More steps than any sensible problem of this crate takes.
const MAX_STEPS: usize = 100_000;

/// Nodes c, stages a, and the fifth-order weights (the last row of a: first same as last).
const C: [f64; 6] = [1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 6] = [
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Fifth-order minus fourth-order weights.
const E: [f64; 7] = [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// States at `times` (ascending, from 0) of y' = f(t, y), y(0) = `start`. Steps end exactly at each time asked for.
pub fn solve<const D: usize>(
    f: impl Fn(f64, &[f64; D]) -> [f64; D],
    start: [f64; D],
    times: &[f64],
) -> Result<Vec<[f64; D]>, SimulationFailure> {
    let (mut time, mut state) = (0.0, start);
    let mut slope = f(time, &state);
    // The first step is small enough for any start; control lengthens it at once.
    let mut step: f64 = 1e-4;
    let mut steps = 0;
    let mut states = Vec::with_capacity(times.len());
    for &target in times {
        while time < target {
            steps += 1;
            let length = step.min(target - time);
            let (next, next_slope, error) = dormand_prince(&f, time, &state, &slope, length);
            if error.is_nan() || steps > MAX_STEPS || time + length == time {
                return Err(SimulationFailure::Solver { time, steps });
            }
            let proposal = length * growth(error);
            if error <= 1.0 {
                time = if length < target - time { time + length } else { target };
                (state, slope) = (next, next_slope);
            }
            // A good step cut short by a save time says nothing against the longer one.
            let cut_short = length < step && error <= 1.0;
            step = if cut_short { step.max(proposal) } else { proposal };
        }
        states.push(state);
    }
    Ok(states)
}

/// Factor for the next step: 0.9 · error^(−1/5), between 0.2 and 5.
fn growth(error: f64) -> f64 {
    (0.9 * error.max(1e-10).powf(-0.2)).clamp(0.2, 5.0)
}

/// One step: the fifth-order state, its slope, and the error in units of the tolerance (root mean square).
fn dormand_prince<const D: usize>(
    f: &impl Fn(f64, &[f64; D]) -> [f64; D],
    time: f64,
    state: &[f64; D],
    slope: &[f64; D],
    h: f64,
) -> ([f64; D], [f64; D], f64) {
    let mut k = [[0.0; D]; 7];
    k[0] = *slope;
    let mut next = *state;
    for stage in 0..6 {
        next = std::array::from_fn(|d| state[d] + h * (0..=stage).map(|j| A[stage][j] * k[j][d]).sum::<f64>());
        k[stage + 1] = f(time + C[stage] * h, &next);
    }
    let scaled = |d: usize| {
        let error = h * (0..7).map(|j| E[j] * k[j][d]).sum::<f64>();
        (error / (TOLERANCE + TOLERANCE * state[d].abs().max(next[d].abs()))).powi(2)
    };
    let error = ((0..D).map(scaled).sum::<f64>() / D as f64).sqrt();
    (next, k[6], error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Global error of a method whose local error is held to 1e-8 over a few oscillations.
    const GLOBAL: f64 = 1e-6;

    #[test]
    fn harmonic_oscillator_returns_after_a_period() {
        let states = solve(|_, &[x, v]| [v, -x], [1.0, 0.0], &[0.0, 1.0, std::f64::consts::TAU, 20.0]).unwrap();
        assert_eq!(states[0], [1.0, 0.0]);
        for (state, time) in states.iter().zip([0.0_f64, 1.0, std::f64::consts::TAU, 20.0]) {
            assert!((state[0] - time.cos()).abs() < GLOBAL && (state[1] + time.sin()).abs() < GLOBAL, "{state:?} at {time}");
        }
    }

    #[test]
    fn explicit_time_enters_the_slope() {
        let states = solve(|t, _: &[f64; 1]| [3.0 * t * t], [0.0], &[2.0]).unwrap();
        assert!((states[0][0] - 8.0).abs() < GLOBAL);
    }

    #[test]
    fn a_solution_that_blows_up_is_a_failure_not_a_number() {
        let outcome = solve(|_, &[x]: &[f64; 1]| [x * x], [1.0], &[2.0]);
        assert!(matches!(outcome, Err(SimulationFailure::Solver { .. })), "{outcome:?}");
    }
}
