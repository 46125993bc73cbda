//! Laws of every family over random settings.

use kelfi::prior::Marginal::{self, *};
use proptest::prelude::*;

/// Relative error of p → θ → p, where θ can hold it.
const INVERSE: f64 = 1e-9;
/// Error of the density as a difference quotient of the CDF.
const DERIVATIVE: f64 = 1e-5;

/// 10^u, u uniform.
fn scale(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|exponent| 10.0_f64.powf(exponent))
}

fn any_marginal() -> impl Strategy<Value = Marginal> {
    let at = || -10.0..10.0_f64;
    let size = || scale(-2.0, 2.0);
    let shape = || scale(-1.0, 3.0);
    prop_oneof![
        (at(), size()).prop_map(|(mean, std)| Normal { mean, std }),
        (at(), size()).prop_map(|(low, width)| Uniform { low, high: low + width }),
        (at(), scale(-1.0, 0.5)).prop_map(|(mean, std)| LogNormal { mean, std }),
        (size(), size()).prop_map(|(low, width)| LogUniform { low, high: low * (1.0 + width) }),
        (shape(), size()).prop_map(|(shape, rate)| Gamma { shape, rate }),
        (shape(), size()).prop_map(|(shape, scale)| InverseGamma { shape, scale }),
        (shape(), shape()).prop_map(|(a, b)| Beta { a, b }),
        size().prop_map(|rate| Exponential { rate }),
        (scale(-0.3, 2.0), at(), size()).prop_map(|(df, location, scale)| StudentT { df, location, scale }),
        (at(), size(), at(), size()).prop_map(|(mean, std, low, width)| TruncatedNormal { mean, std, low, high: low + width }),
        (at(), size(), at()).prop_map(|(mean, std, low)| TruncatedNormal { mean, std, low, high: f64::INFINITY }),
        (at(), size(), at()).prop_map(|(mean, std, high)| TruncatedNormal { mean, std, low: f64::NEG_INFINITY, high }),
        (scale(-0.5, 1.5), size()).prop_map(|(shape, scale)| Weibull { shape, scale }),
        (at(), size()).prop_map(|(location, scale)| Cauchy { location, scale }),
        size().prop_map(|std| HalfNormal { std }),
        (at(), size()).prop_map(|(location, scale)| Laplace { location, scale }),
        (at(), 0.0..=1.0_f64, size()).prop_map(|(low, share, width)| Triangular { low, mode: low + share * width, high: low + width }),
    ]
}

/// How much the relative error of a tail grows by four units in the last place of θ.
fn rounding(marginal: &Marginal, theta: f64, ln_tail: f64) -> f64 {
    let unit = theta.abs().next_up() - theta.abs();
    4.0 * unit * (marginal.ln_density(theta) - ln_tail).exp()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_cdf_rises_and_the_survival_function_falls(marginal in any_marginal(), z in -6.0..6.0_f64, step in 1e-3..1.0_f64) {
        prop_assert!(marginal.validate().is_ok());
        let (left, right) = (marginal.from_latent(z), marginal.from_latent(z + step));
        prop_assert!(left <= right);
        prop_assert!(marginal.ln_cdf(left) <= marginal.ln_cdf(right) + 1e-12);
        prop_assert!(marginal.ln_survival(left) >= marginal.ln_survival(right) - 1e-12);
        prop_assert!((marginal.cdf(left) + marginal.survival(left) - 1.0).abs() < 1e-11);
    }

    #[test]
    fn quantiles_invert_both_tails(marginal in any_marginal(), exponent in 0.31..30.0_f64) {
        let p = 10.0_f64.powf(-exponent);
        let lower = marginal.quantile(p);
        let upper = marginal.quantile_survival(p);
        for (theta, ln_tail) in [(lower, marginal.ln_cdf(lower)), (upper, marginal.ln_survival(upper))] {
            let limit = rounding(&marginal, theta, p.ln());
            // Beyond a tenth, rounding of θ decides and nothing is left to test.
            if limit < 0.1 && theta > f64::MIN_POSITIVE && theta.abs() < f64::MAX {
                prop_assert!((ln_tail - p.ln()).abs() <= INVERSE + 2.0 * limit, "{marginal:?}: p = {p:e}, θ = {theta:e}, ln = {ln_tail}");
            }
        }
    }

    #[test]
    fn the_density_is_the_derivative_of_the_cdf(marginal in any_marginal(), z in -5.0..5.0_f64) {
        // Four-point difference in θ over a step of about 2e-3 in z, taken on the smaller tail.
        let theta = marginal.from_latent(z);
        let h = 0.5 * (marginal.from_latent(z + 1e-3) - marginal.from_latent(z - 1e-3));
        prop_assume!(h > 1e-9 * theta.abs());
        let kink = match marginal {
            Laplace { location, .. } => (theta - location).abs() < 3.0 * h,
            Triangular { mode, .. } => (theta - mode).abs() < 3.0 * h,
            _ => false,
        };
        let (low, high) = marginal.support();
        prop_assume!(!kink && theta - 2.0 * h > low && theta + 2.0 * h < high);
        let tail = |x: f64| if z < 0.0 { marginal.cdf(x) } else { -marginal.survival(x) };
        let slope = (8.0 * (tail(theta + h) - tail(theta - h)) - (tail(theta + 2.0 * h) - tail(theta - 2.0 * h))) / (12.0 * h);
        let density = marginal.ln_density(theta).exp();
        prop_assert!((slope - density).abs() <= DERIVATIVE * density, "{marginal:?} at {theta}: {slope} against {density}");
    }

    #[test]
    fn latent_coordinates_go_there_and_back(marginal in any_marginal(), z in -6.0..6.0_f64) {
        let theta = marginal.from_latent(z);
        let (low, high) = marginal.support();
        prop_assert!(theta > low && theta < high && theta.is_finite());
        let ln_normal = -0.5 * z * z - 0.918_938_533_204_672_8;
        let limit = rounding(&marginal, theta, ln_normal);
        if limit < 0.1 && theta.abs() > f64::MIN_POSITIVE {
            let back = marginal.to_latent(theta).unwrap();
            prop_assert!((back - z).abs() <= 1e-9 + 2.0 * limit, "{marginal:?}: z = {z}, θ = {theta:e}, back = {back}");
        }
    }

    #[test]
    fn a_saved_marginal_loads_as_itself(marginal in any_marginal()) {
        let text = serde_json::to_string(&marginal).unwrap();
        prop_assert_eq!(serde_json::from_str::<Marginal>(&text).unwrap(), marginal);
    }
}
