//! Choosing a, b, s and β of a regression: the maximum of its marginal likelihood on part of the simulations.

mod evidence;
mod plane;

use super::constants::regression_search::{
    CURVED, FROM_BUMPS, FROM_SIGMOIDS, GAIN, LENGTH_SPREAD, LENGTHS, LINEAR, NOISE, STEPS, USUAL_OF_BUMPS, USUAL_OF_SIGMOIDS,
};
use super::curve::Bend;
use super::regression::{RegressionHyperparameters, Standard};
use crate::Points;
use crate::optimise::{StopRule, maximise};
use evidence::{of_a_plane, value_and_gradient};
use plane::Plane;

/// Where a search begins when nothing better is known.
pub fn start(form: Bend, dimension: usize) -> RegressionHyperparameters {
    let (curved, linear, noise) = match form {
        Bend::Bumps => FROM_BUMPS,
        Bend::Sigmoids => FROM_SIGMOIDS,
    };
    RegressionHyperparameters { form, curved, linear, noise, length_scales: vec![usual_length(form, dimension); dimension] }
}

/// Where a search begins that never bends.
pub fn straight(dimension: usize) -> RegressionHyperparameters {
    RegressionHyperparameters { curved: CURVED.0, ..start(Bend::Bumps, dimension) }
}

/// What [`search`] finds where nothing depends on z: ln p(t) of m standardised targets around a constant, a = b = 0 and s = 1.
pub fn constant(m: usize) -> f64 {
    -0.5 * m as f64 - 0.5 * (m as f64).ln_1p()
}

fn usual_length(form: Bend, dimension: usize) -> f64 {
    let each = match form {
        Bend::Bumps => USUAL_OF_BUMPS,
        Bend::Sigmoids => USUAL_OF_SIGMOIDS,
    };
    each * (dimension as f64).sqrt()
}

/// The best hyperparameters found from `start` ([`straight`] ones stay so), and ln p(t) with the prior of the length scales there.
pub fn search(z: &Points, targets: &[f64], relative_noise: &[f64], start: &RegressionHyperparameters) -> (RegressionHyperparameters, f64) {
    let standardised = Standard::of(targets).apply(targets);
    let dimension = z.columns();
    let usual = usual_length(start.form, dimension).ln();
    let straight = is_straight(start);
    // The same noise everywhere: sums over the targets are made once.
    let plane = (straight && relative_noise.iter().all(|w| *w == 1.0)).then(|| Plane::new(z, &standardised));
    let objective = |p: &[f64]| {
        let h = unpack(start.form, p);
        let (value, mut gradient) = match &plane {
            Some(plane) => plane.value_and_gradient(&h),
            None if straight => of_a_plane(z, &standardised, relative_noise, &h),
            None => value_and_gradient(z, &standardised, relative_noise, &h),
        };
        (3..p.len()).for_each(|d| gradient[d] -= (p[d] - usual) / LENGTH_SPREAD.powi(2));
        (value + ln_prior(&p[3..], usual), gradient)
    };
    let curved = if straight { (CURVED.0, CURVED.0) } else { CURVED };
    let bounds = |which: fn((f64, f64)) -> f64| -> Vec<f64> {
        [curved, LINEAR, NOISE].into_iter().chain(std::iter::repeat_n(LENGTHS, dimension)).map(|b| which(b).ln()).collect()
    };
    let settings = StopRule { steps: STEPS, gradient: 1e-2, gain: GAIN, longest: 1.0, first: 0.0 };
    let found = maximise(objective, &pack(start), &bounds(|b| b.0), &bounds(|b| b.1), settings);
    if found.value.is_finite() { (unpack(start.form, &found.at), found.value) } else { (start.clone(), found.value) }
}

/// ln of the prior of ln β up to a constant.
fn ln_prior(ln_lengths: &[f64], usual: f64) -> f64 {
    ln_lengths.iter().map(|ln| -0.5 * ((ln - usual) / LENGTH_SPREAD).powi(2)).sum()
}

/// The part of a search's value that is the prior of its length scales.
pub fn ln_prior_of_lengths(h: &RegressionHyperparameters) -> f64 {
    let ln_lengths: Vec<f64> = h.length_scales.iter().map(|b| b.ln()).collect();
    ln_prior(&ln_lengths, usual_length(h.form, ln_lengths.len()).ln())
}

/// What [`search`] makes as large as it can, at given hyperparameters, all noise the same.
pub fn ln_evidence(z: &Points, targets: &[f64], h: &RegressionHyperparameters) -> f64 {
    let t = Standard::of(targets).apply(targets);
    evidence::value(z, &t, &vec![1.0; t.len()], h) + ln_prior_of_lengths(h)
}

/// Whether hyperparameters are [`straight`].
pub fn is_straight(h: &RegressionHyperparameters) -> bool {
    // A search goes through logarithms, and comes back a little above the bound it started on.
    h.curved <= CURVED.0 * (1.0 + 1e-9)
}

/// Whether a search found no noise.
pub fn is_noiseless(h: &RegressionHyperparameters) -> bool {
    (h.noise / NOISE.0).ln() < 1e-3
}

/// Whether the noise of a regression ended on a bound of its search.
pub fn noise_at_bound(h: &RegressionHyperparameters) -> bool {
    [NOISE.0, NOISE.1].iter().any(|bound| (h.noise / bound).ln().abs() < 1e-3)
}

fn pack(h: &RegressionHyperparameters) -> Vec<f64> {
    [h.curved, h.linear, h.noise].iter().chain(&h.length_scales).map(|v| v.ln()).collect()
}

fn unpack(form: Bend, p: &[f64]) -> RegressionHyperparameters {
    let v: Vec<f64> = p.iter().map(|p| p.exp()).collect();
    RegressionHyperparameters { form, curved: v[0], linear: v[1], noise: v[2], length_scales: v[3..].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_gradient;

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.37).cos()]).collect();
        let z = Points::from_rows(&rows).unwrap();
        let t: Vec<f64> = rows.iter().map(|r| r[0].sin() + 0.3 * r[1]).collect();
        let w: Vec<f64> = (0..40).map(|i| 0.5 + (i % 3) as f64).collect();
        let p: Vec<f64> = [0.8_f64, 0.4, 0.3, 0.9, 1.7].iter().map(|v| v.ln()).collect();
        for form in [Bend::Bumps, Bend::Sigmoids] {
            check_gradient(|p| value_and_gradient(&z, &t, &w, &unpack(form, p)), &p, 1e-4).unwrap();
        }
        check_gradient(|p| of_a_plane(&z, &t, &w, &unpack(Bend::Bumps, p)), &p, 1e-4).unwrap();
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        let rows: Vec<Vec<f64>> = (0..100).map(|i| vec![(i as f64 * 0.7).sin() * 2.0]).collect();
        let noise: Vec<f64> = (0..100).map(|i| (i as f64 * 12.9898).sin() * 43758.5453 % 1.0).collect();
        let found = search(&Points::from_rows(&rows).unwrap(), &noise, &[1.0; 100], &straight(1)).1;
        assert!((found - constant(100)).abs() < 1.0, "{found} {}", constant(100));
    }

    #[test]
    fn a_plane_is_a_regression_whose_curved_part_vanishes() {
        let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.37).cos()]).collect();
        let z = Points::from_rows(&rows).unwrap();
        let t: Vec<f64> = rows.iter().enumerate().map(|(i, r)| r[0] + 0.3 * r[1] + 0.2 * (3.0 * i as f64).sin()).collect();
        let w: Vec<f64> = (0..40).map(|i| 0.5 + (i % 3) as f64).collect();
        let h = RegressionHyperparameters { form: Bend::Bumps, curved: 1e-7, linear: 0.8, noise: 0.3, length_scales: vec![1.1, 2.0] };
        let (plane, curved) = (of_a_plane(&z, &t, &w, &h), value_and_gradient(&z, &t, &w, &h));
        let (of_one, of_sums) = (of_a_plane(&z, &t, &[1.0; 40], &h), Plane::new(&z, &t).value_and_gradient(&h));
        assert!((of_sums.0 - of_one.0).abs() < 1e-9 && of_sums.1.iter().zip(&of_one.1).all(|(a, b)| (a - b).abs() < 1e-8), "{of_sums:?}");
        assert!((plane.0 - curved.0).abs() < 1e-6, "{} {}", plane.0, curved.0);
        assert!(plane.1.iter().zip(&curved.1).all(|(a, b)| (a - b).abs() < 1e-5), "{:?} {:?}", plane.1, curved.1);
    }
}
