//! Axes of equal ratios: surfaces and grids over scales.

/// `count` values from `low` to `high`, each the same factor above the one before.
pub fn log_spaced((low, high): (f64, f64), count: usize) -> Vec<f64> {
    (0..count).map(|k| low * (high / low).powf(k as f64 / (count - 1).max(1) as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_on_the_axis_have_one_ratio_and_its_ends_are_exact() {
        let axis = log_spaced((0.01, 100.0), 5);
        assert_eq!((axis.len(), axis[0], axis[4]), (5, 0.01, 100.0));
        assert!(axis.windows(2).all(|pair| (pair[1] / pair[0] - 10.0).abs() < 1e-12));
        assert_eq!(log_spaced((3.0, 7.0), 1), [3.0]);
    }
}
