//! Values on a lattice, as counts are.

/// The distance between neighbouring values if all values lie on a lattice, as counts do.
pub fn lattice_step(values: &[f64]) -> Option<f64> {
    const ON_LATTICE: f64 = 1e-6;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    if sorted.len() < 2 {
        return None;
    }
    let gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let step = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    let fits = |gap: &f64| ((gap / step) - (gap / step).round()).abs() < ON_LATTICE;
    // A few distinct continuous values could look regular by chance only if they are very few.
    (step > 0.0 && step.is_finite() && gaps.iter().all(fits) && (sorted.len() > 3 || values.len() > 3 * sorted.len())).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_recognised_in_any_unit_and_measurements_are_not() {
        let counts: Vec<f64> = (0..50).map(|i| f64::from(i * i % 17)).collect();
        assert_eq!(lattice_step(&counts), Some(1.0));
        let thousands: Vec<f64> = counts.iter().map(|c| 2_500.0 * c).collect();
        assert_eq!(lattice_step(&thousands), Some(2_500.0));
        let measured: Vec<f64> = (0..50).map(|i| (f64::from(i) * 0.77).sin()).collect();
        assert_eq!(lattice_step(&measured), None);
        assert_eq!(lattice_step(&[1.0; 5]), None);
    }
}
