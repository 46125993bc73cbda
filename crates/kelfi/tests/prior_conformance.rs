//! Every prior passes the exported conformance kit, and broken ones do not.

mod prior_families;

use kelfi::prior::{Coordinate, GaussianComponent, LatentPrior, Marginal, Prior, PriorDistribution};
use kelfi::random::Purpose;
use kelfi::testing::check_prior;
use kelfi::{Error, Points};
use std::sync::Arc;

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|d| format!("theta_{d}")).collect()
}

fn correlated() -> Prior {
    let covariance = Points::from_rows(&[[4.0, 1.2, -0.3], [1.2, 1.0, 0.1], [-0.3, 0.1, 0.09]]).unwrap();
    Prior::multivariate_normal(names(3), vec![1.0, -2.0, 30.0], &covariance).unwrap()
}

fn two_humps() -> Prior {
    let component = |weight, at: f64| GaussianComponent { weight, mean: vec![at, -at], std: vec![0.5, 2.0] };
    Prior::gaussian_mixture(names(2), vec![component(3.0, -4.0), component(1.0, 6.0)]).unwrap()
}

/// Uniform on the triangle 0 < a < b < 1; `inflation` of one is right.
#[derive(Debug)]
struct Ordered {
    inflation: f64,
}

impl PriorDistribution for Ordered {
    fn names(&self) -> Vec<String> {
        vec!["first".into(), "second".into()]
    }
    fn draw(&self, rng: &mut dyn rand::Rng) -> Vec<f64> {
        let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (a, b) = (unit(), unit());
        vec![a.min(b), a.max(b)]
    }
    fn ln_density(&self, theta: &[f64]) -> f64 {
        let inside = 0.0 <= theta[0] && theta[0] <= theta[1] && theta[1] <= 1.0;
        if inside { (2.0 * self.inflation).ln() } else { f64::NEG_INFINITY }
    }
}

fn custom(inflation: f64) -> Prior {
    Prior::custom(Arc::new(Ordered { inflation }), 2000, 5).unwrap()
}

#[test]
fn every_family_conforms() {
    for marginal in prior_families::all() {
        let prior = Prior::independent(vec![("theta".into(), marginal.clone())]).unwrap();
        check_prior(&prior).unwrap_or_else(|message| panic!("{marginal:?}: {message}"));
    }
}

#[test]
fn products_correlated_normals_mixtures_draws_and_custom_priors_conform() {
    let product = Prior::independent(vec![
        ("rate".into(), Marginal::LogUniform { low: 0.01, high: 10.0 }),
        ("delay".into(), Marginal::Gamma { shape: 0.5, rate: 2.0 }),
        ("share".into(), Marginal::Beta { a: 2.0, b: 3.0 }),
    ])
    .unwrap();
    let draws = Prior::samples(names(2), two_humps().draw(500, 3)).unwrap();
    for prior in [product, correlated(), two_humps(), draws, custom(1.0)] {
        check_prior(&prior).unwrap_or_else(|message| panic!("{prior:?}: {message}"));
    }
}

#[test]
fn a_density_that_is_not_normalised_is_found() {
    let message = check_prior(&custom(1.3)).unwrap_err();
    assert!(message.contains("of the draws fall inside"), "{message}");
}

#[test]
fn draws_depend_on_seed_and_index_only() {
    for prior in [correlated(), two_humps(), custom(1.0)] {
        let many = prior.draw(50, 9);
        assert_eq!(prior.draw(7, 9).values(), &many.values()[..7 * prior.dimension()]);
        assert_ne!(prior.draw(7, 10).values(), prior.draw(7, 9).values());
    }
}

#[test]
fn a_correlated_normal_has_the_covariance_it_was_given() {
    let prior = correlated();
    let Prior::MultivariateNormal(normal) = &prior else { panic!("a multivariate normal") };
    for i in 0..3 {
        let Coordinate::Linear { coefficients, offset } = prior.coordinate(i) else { panic!("linear") };
        assert_eq!(offset, normal.mean()[i]);
        for j in 0..3 {
            let product: f64 = coefficients.iter().zip(normal.factor().row(j)).map(|(a, b)| a * b).sum();
            assert!((product - normal.covariance().row(i)[j]).abs() < 1e-14);
        }
    }
    // By hand: N(0, 4) at one standard deviation, with the other coordinates at their conditional means.
    let density = prior.ln_density(&prior.from_latent(&[1.0, 0.0, 0.0])).unwrap();
    let determinant: f64 = (0..3).map(|d| normal.factor().row(d)[d]).product();
    assert!((density - (-0.5 - 1.5 * (2.0 * std::f64::consts::PI).ln() - determinant.ln())).abs() < 1e-12);
}

#[test]
fn a_mixture_is_standardised_in_z() {
    let LatentPrior::Gaussians(components) = two_humps().latent() else { panic!("closed form") };
    for d in 0..2 {
        let mean: f64 = components.iter().map(|c| c.weight * c.mean[d]).sum();
        let second: f64 = components.iter().map(|c| c.weight * (c.std[d].powi(2) + c.mean[d].powi(2))).sum();
        assert!(mean.abs() < 1e-14 && (second - 1.0).abs() < 1e-14, "mean {mean}, second moment {second}");
    }
    assert_eq!(components.iter().map(|c| c.weight).sum::<f64>(), 1.0);
}

#[test]
fn a_saved_custom_prior_loads_as_its_draws() {
    let prior = custom(1.0);
    let read: Prior = serde_json::from_str(&serde_json::to_string(&prior).unwrap()).unwrap();
    assert!(matches!(read, Prior::Samples(_)));
    assert_eq!(read.latent(), prior.latent());
    assert!(matches!(read.ln_density(&[0.1, 0.2]), Err(Error::Unavailable { .. })));
}

#[test]
fn the_written_form_is_the_one_of_the_manual() {
    let marginal: Marginal = serde_json::from_str(r#"{"log_uniform":{"low":0.01,"high":10.0}}"#).unwrap();
    assert_eq!(marginal, Marginal::LogUniform { low: 0.01, high: 10.0 });
    let half_line: Marginal = serde_json::from_str(r#"{"truncated_normal":{"mean":1,"std":2,"low":0}}"#).unwrap();
    assert_eq!(half_line, Marginal::TruncatedNormal { mean: 1.0, std: 2.0, low: 0.0, high: f64::INFINITY });
    assert_eq!(serde_json::from_str::<Marginal>(&serde_json::to_string(&half_line).unwrap()).unwrap(), half_line);
    assert!(serde_json::from_str::<Marginal>(r#"{"normal":{"mean":0,"std":1,"extra":2}}"#).is_err());
}

#[test]
fn a_saved_prior_that_breaks_a_rule_is_refused() {
    for text in [
        r#"{"independent":{"parameters":[["a",{"normal":{"mean":0,"std":-1}}]]}}"#,
        r#"{"independent":{"parameters":[]}}"#,
        r#"{"samples":{"names":["a"],"draws":{"rows":4,"columns":1,"values":[1,2]}}}"#,
    ] {
        assert!(serde_json::from_str::<Prior>(text).is_err(), "{text}");
    }
}

#[test]
fn wrong_input_is_named() {
    let normal = |std| Marginal::Normal { mean: 0.0, std };
    let twice = Prior::independent(vec![("a".into(), normal(1.0)), ("a".into(), normal(1.0))]);
    assert!(twice.unwrap_err().to_string().contains("same name"));
    let negative = Prior::independent(vec![("speed".into(), normal(-1.0))]).unwrap_err().to_string();
    assert!(negative.contains("speed") && negative.contains("-1"), "{negative}");
    let prior = Prior::independent(vec![("share".into(), Marginal::Beta { a: 2.0, b: 2.0 })]).unwrap();
    assert!(prior.to_latent(&[1.5]).unwrap_err().to_string().contains("share = 1.5"));
    assert_eq!(prior.ln_density(&[1.5]).unwrap(), f64::NEG_INFINITY);
    assert!(matches!(prior.to_latent(&[0.1, 0.2]), Err(Error::Shape { left_columns: 2, right_columns: 1, .. })));
    let table = Points::from_column(vec![0.5, f64::NAN]);
    assert!(matches!(prior.to_latent_points(&table), Err(Error::NotFinite { row: 1, column: 0, .. })));
    let singular = Points::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
    assert!(Prior::multivariate_normal(names(2), vec![0.0; 2], &singular).unwrap_err().to_string().contains("pivot 1"));
}

#[test]
fn moments_agree_with_draws() {
    /// Standard errors of 20,000 draws; 60 moments are compared.
    const STANDARD_ERRORS: f64 = 5.0;
    const DRAWS: usize = 20_000;
    for marginal in prior_families::all() {
        let (Some(mean), Some(std)) = (marginal.mean(), marginal.std()) else { continue };
        let prior = Prior::independent(vec![("theta".into(), marginal.clone())]).unwrap();
        let draws = prior.draw(DRAWS, 4).column(0);
        let average = draws.iter().sum::<f64>() / DRAWS as f64;
        // Log-uniform over 600 decades and its like have a mean that no number of draws shows.
        if std > 30.0 * mean.abs().max(draws.iter().fold(0.0, |largest: f64, value| largest.max(value.abs())) / 30.0) {
            continue;
        }
        assert!((average - mean).abs() < STANDARD_ERRORS * std / (DRAWS as f64).sqrt(), "{marginal:?}: {average} against {mean}");
    }
}

#[test]
fn latent_draws_follow_the_latent_prior() {
    let z = LatentPrior::standard_normal(2).draws(4000, 1, Purpose::Integration);
    for d in 0..2 {
        let column = z.column(d);
        let mean = column.iter().sum::<f64>() / 4000.0;
        let square = column.iter().map(|value| value * value).sum::<f64>() / 4000.0;
        assert!(mean.abs() < 5.0 / 4000.0_f64.sqrt() && (square - 1.0).abs() < 5.0 * (2.0 / 4000.0_f64).sqrt());
    }
}
