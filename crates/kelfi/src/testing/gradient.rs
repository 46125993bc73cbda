//! The conformance kit of gradients: central differences with Richardson extrapolation.

/// First step of the differences relative to the size of a coordinate; each level of extrapolation halves it.
const STEP: f64 = 0.02;
const LEVELS: usize = 5;

/// Whether the gradient that `f` gives beside its value is the derivative of that value at `at`.
///
/// Each partial derivative must agree with extrapolated central differences within `tolerance` relative to the larger
/// of one and the largest partial derivative. The message names the worst coordinate. Calls `f` 10 times per coordinate.
pub fn check_gradient(f: impl Fn(&[f64]) -> (f64, Vec<f64>), at: &[f64], tolerance: f64) -> Result<(), String> {
    let (value, gradient) = f(at);
    if !value.is_finite() {
        return Err(format!("the value at {at:?} is {value}"));
    }
    if gradient.len() != at.len() {
        return Err(format!("the gradient has {} entries for {} coordinates", gradient.len(), at.len()));
    }
    let scale = gradient.iter().fold(1.0_f64, |scale, g| scale.max(g.abs()));
    for (i, &found) in gradient.iter().enumerate() {
        let along = |t: f64| {
            let mut moved = at.to_vec();
            moved[i] = t;
            f(&moved).0
        };
        let expected = derivative(along, at[i]);
        let error = (found - expected).abs();
        if error.is_nan() || error > tolerance * scale {
            return Err(format!(
                "∂f/∂x_{i} is {found:e}, differences give {expected:e} at {at:?}; their distance {error:e} exceeds {:e}",
                tolerance * scale
            ));
        }
    }
    Ok(())
}

/// f'(x) by Romberg's table of central differences: the entry whose last extrapolation changed least.
fn derivative(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let mut table: Vec<f64> = Vec::with_capacity(LEVELS);
    let (mut best, mut smallest) = (f64::NAN, f64::INFINITY);
    for level in 0..LEVELS {
        let step = STEP * x.abs().max(1.0) / f64::from(1_u32 << level);
        let mut entry = (f(x + step) - f(x - step)) / (2.0 * step);
        let mut power = 4.0;
        for previous in &mut table {
            let finer = entry + (entry - *previous) / (power - 1.0);
            let change = (finer - entry).abs();
            if change < smallest {
                (best, smallest) = (finer, change);
            }
            *previous = entry;
            entry = finer;
            power *= 4.0;
        }
        table.push(entry);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_gradient_passes_and_a_wrong_one_is_named() {
        let right =
            |x: &[f64]| ((3.0 * x[0]).sin() * x[1].exp(), vec![3.0 * (3.0 * x[0]).cos() * x[1].exp(), (3.0 * x[0]).sin() * x[1].exp()]);
        assert_eq!(check_gradient(right, &[0.3, -1.2], 1e-9), Ok(()));
        let wrong = |x: &[f64]| (right(x).0, vec![right(x).1[0], right(x).1[1] + 1e-5]);
        assert!(check_gradient(wrong, &[0.3, -1.2], 1e-6).unwrap_err().contains("x_1"));
        assert!(check_gradient(|x| (x[0], vec![]), &[1.0], 1e-6).is_err());
        assert!(check_gradient(|x| (x[0], vec![f64::NAN]), &[1.0], 1e-6).is_err());
        assert!(check_gradient(|_| (f64::NAN, vec![0.0]), &[1.0], 1e-6).is_err());
    }
}
