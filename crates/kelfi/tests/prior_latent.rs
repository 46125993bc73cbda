//! θ ↔ z of every family: round trips, far tails and ends of the support.

mod prior_families;

use kelfi::prior::{LATENT_LIMIT, Marginal};

/// Error of z → θ → z that the issue allows.
const ROUND_TRIP: f64 = 1e-9;

/// How far z moves when θ moves by four units in its last place: dz = p(θ)/φ(z) dθ. No transform through θ can do better.
fn rounding_limit(marginal: &Marginal, theta: f64, z: f64) -> f64 {
    let unit = theta.abs().next_up() - theta.abs();
    let ln_slope = marginal.ln_density(theta) + 0.5 * z * z + 0.918_938_533_204_672_8;
    4.0 * unit * ln_slope.exp()
}

/// Whether θ was stopped at the last number inside the support or the double format.
fn is_stopped(marginal: &Marginal, theta: f64) -> bool {
    let (low, high) = marginal.support();
    let at = |end: f64| theta == end.next_up() || theta == end.next_down();
    at(low) || at(high) || theta.abs() == f64::MIN_POSITIVE || theta.abs() == f64::MAX
}

#[test]
fn latent_to_parameter_and_back_is_the_identity_up_to_rounding_of_the_parameter() {
    for marginal in prior_families::all() {
        for step in -600..=600 {
            let z = f64::from(step) / 100.0;
            let theta = marginal.from_latent(z);
            if is_stopped(&marginal, theta) {
                continue;
            }
            let back = marginal.to_latent(theta).unwrap();
            let allowed = ROUND_TRIP + rounding_limit(&marginal, theta, z);
            assert!((back - z).abs() <= allowed, "{marginal:?}: z = {z}, θ = {theta:e}, back = {back}, allowed {allowed:e}");
        }
    }
}

#[test]
fn few_round_trips_need_the_rounding_limit() {
    // Guards the test above: a limit that swallowed everything would prove nothing.
    let (mut tight, mut all) = (0, 0);
    for marginal in prior_families::all() {
        for step in -60..=60 {
            let z = f64::from(step) / 10.0;
            let theta = marginal.from_latent(z);
            all += 1;
            tight += usize::from(!is_stopped(&marginal, theta) && rounding_limit(&marginal, theta, z) < ROUND_TRIP);
        }
    }
    assert!(tight * 100 > all * 85, "only {tight} of {all} are held to the plain tolerance");
}

#[test]
fn parameters_are_finite_ordered_and_inside_the_support_for_z_up_to_37() {
    for marginal in prior_families::all() {
        let (low, high) = marginal.support();
        let mut last = f64::NEG_INFINITY;
        for step in -3700..=3700 {
            let z = f64::from(step) / 100.0;
            let theta = marginal.from_latent(z);
            assert!(theta.is_finite() && theta > low && theta < high, "{marginal:?}: z = {z} gives {theta:e}");
            let ln_density = marginal.ln_density(theta);
            assert!(!ln_density.is_nan() && ln_density < f64::INFINITY, "{marginal:?}: ln p({theta:e}) = {ln_density}");
            // Equal up to rounding of a solver that meets θ from different starts.
            assert!(theta >= last - 1e-12 * last.abs(), "{marginal:?}: z = {z}: {theta:e} < {last:e}");
            assert!(marginal.to_latent(theta).unwrap().abs() <= LATENT_LIMIT);
            last = theta;
        }
    }
}

#[test]
fn far_tails_keep_every_digit_where_the_parameter_has_them() {
    for marginal in prior_families::all() {
        for z in [-36.0, -25.0, -12.0, 12.0, 25.0, 36.0] {
            let theta = marginal.from_latent(z);
            if is_stopped(&marginal, theta) || rounding_limit(&marginal, theta, z) > 1e-6 {
                continue;
            }
            let back = marginal.to_latent(theta).unwrap();
            let allowed = ROUND_TRIP + rounding_limit(&marginal, theta, z);
            assert!((back - z).abs() <= allowed, "{marginal:?}: z = {z}, θ = {theta:e}, back = {back}");
        }
    }
}

#[test]
fn ends_of_the_support_have_a_finite_z_beyond_that_of_their_neighbours() {
    for marginal in prior_families::all() {
        let (low, high) = marginal.support();
        let ends = [(low, low.next_up(), -1.0), (high, high.next_down(), 1.0)];
        for (end, neighbour, sign) in ends.into_iter().filter(|(end, ..)| end.is_finite()) {
            let z = marginal.to_latent(end).unwrap() * sign;
            let inner = marginal.to_latent(neighbour).unwrap() * sign;
            assert!(z.is_finite() && z >= inner && z <= LATENT_LIMIT, "{marginal:?}: z({end}) = {z}, its neighbour has {inner}");
        }
    }
}

#[test]
fn values_outside_the_support_are_refused() {
    for marginal in prior_families::all() {
        let (low, high) = marginal.support();
        for theta in [low.next_down(), high.next_up(), f64::NAN, f64::INFINITY] {
            assert!(marginal.to_latent(theta).is_err() || (theta.is_finite() && theta > low && theta < high), "{marginal:?} takes {theta}");
        }
        assert_eq!(marginal.ln_density(f64::INFINITY), f64::NEG_INFINITY);
    }
}
