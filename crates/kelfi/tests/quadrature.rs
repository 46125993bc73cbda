//! Closed forms against Gauss-Legendre quadrature in the user's own units.

mod support;

use kelfi::kernel::Kernel;
use kelfi::model::PriorEmbedding;
use kelfi::posterior::{Posterior, Representation};
use kelfi::prior::{Coordinate, GaussianComponent};
use kelfi::random::Purpose;
use kelfi::{Marginal, Points, Prior, Surrogate};
use support::{Problem, Random, assert_all_close, assert_close, gauss_legendre};

const QUADRATURE: f64 = 1e-10;
/// What is left where the integrand is clipped at zero: a kink costs the rule its high order.
const KINKS: f64 = 1e-5;

/// A change of variable that spreads one parameter's support over the line: nodes θ with weights dθ, up to `end` or everywhere.
fn nodes(marginal: &Marginal, end: Option<f64>, panels: usize) -> Vec<(f64, f64)> {
    let (low, high) = marginal.support();
    let line = |end: f64, to_line: &dyn Fn(f64) -> f64| if end.is_finite() { to_line(end) } else { end };
    match (low.is_finite(), high.is_finite()) {
        // θ = low + (high - low) / (1 + exp(-u))
        (true, true) => {
            let last = end.map_or(30.0, |end| line(end, &|t| ((t - low) / (high - t)).ln()));
            let logistic = |u: f64| 1.0 / (1.0 + (-u).exp());
            let map = |(u, w): (f64, f64)| (low + (high - low) * logistic(u), w * (high - low) * logistic(u) * logistic(-u));
            gauss_legendre(-30.0, last, panels).into_iter().map(map).collect()
        }
        // θ = exp(u), over all but 1e-16 of the prior
        (true, false) => {
            let (first, last) = match marginal {
                Marginal::Gamma { shape, rate } => (-38.0 / shape - rate.ln(), (60.0 / rate).ln()),
                Marginal::LogNormal { mean, std } => (mean - 9.5 * std, mean + 9.5 * std),
                other => panic!("no change of variable for {other:?}"),
            };
            gauss_legendre(first, end.map_or(last, f64::ln), panels).into_iter().map(|(u, w)| (u.exp(), w * u.exp())).collect()
        }
        _ => {
            let Marginal::Normal { mean, std } = marginal else { panic!("no change of variable for {marginal:?}") };
            gauss_legendre(mean - 12.0 * std, end.unwrap_or(mean + 12.0 * std), panels)
        }
    }
}

/// The product of one-dimensional rules: points with their weights.
fn product(rules: &[Vec<(f64, f64)>]) -> (Points, Vec<f64>) {
    let mut rows: Vec<(Vec<f64>, f64)> = vec![(vec![], 1.0)];
    for rule in rules {
        rows = rows.iter().flat_map(|(t, w)| rule.iter().map(move |(node, weight)| ([&t[..], &[*node]].concat(), w * weight))).collect();
    }
    let points = Points::from_rows(&rows.iter().map(|row| &row.0[..]).collect::<Vec<_>>()).unwrap();
    (points, rows.into_iter().map(|row| row.1).collect())
}

/// ∫ f over the product of one-dimensional rules, where f is asked for all points at once.
fn integrate(rules: &[Vec<(f64, f64)>], f: impl Fn(&Points) -> Vec<f64>) -> f64 {
    let (points, weights) = product(rules);
    f(&points).iter().zip(&weights).map(|(value, weight)| value * weight).sum()
}

type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

/// ∫ f(θ) q(θ|y) dθ for any f, the posterior asked once.
fn moments(posterior: &Posterior, rules: &[Vec<(f64, f64)>]) -> impl Fn(Function<'_>) -> f64 + use<> {
    let (points, weights) = product(rules);
    let masses: Vec<f64> = posterior.value(&points).unwrap().iter().zip(&weights).map(|(q, w)| q * w).collect();
    move |f| points.iter().zip(&masses).map(|(t, mass)| mass * f(t)).sum()
}

fn curved() -> Vec<Marginal> {
    vec![
        Marginal::Uniform { low: -2.0, high: 5.0 },
        Marginal::Gamma { shape: 2.5, rate: 0.7 },
        Marginal::LogNormal { mean: 0.3, std: 0.6 },
        Marginal::Normal { mean: 3.0, std: 0.5 },
    ]
}

/// A problem with a posterior that is not far from a density.
fn problem(prior: Prior, m: usize, seed: u64) -> (Problem, Posterior) {
    for attempt in 0..100 {
        let mut problem = Problem::random(&mut Random::new(1_000 * seed + attempt), m, 2, prior.clone());
        problem.hyperparameters.epsilon = vec![1.5];
        problem.hyperparameters.length_scale = vec![0.9; prior.dimension()];
        problem.hyperparameters.regularization = 1e-2;
        if let Ok(posterior) = problem.posterior()
            && posterior.negative_mass().ratio < 0.1
        {
            return (problem, posterior);
        }
    }
    panic!("no such problem");
}

fn mixture_prior() -> Prior {
    let components = vec![
        GaussianComponent { weight: 0.4, mean: vec![-2.0, 1.0], std: vec![0.7, 1.5] },
        GaussianComponent { weight: 0.6, mean: vec![1.5, 0.0], std: vec![1.2, 0.5] },
    ];
    Prior::gaussian_mixture(support::names(2), components).unwrap()
}

fn correlated_prior(dimension: usize) -> Prior {
    let covariance: Vec<Vec<f64>> =
        [[2.0, 0.9, -0.4], [0.9, 1.0, 0.2], [-0.4, 0.2, 0.5]][..dimension].iter().map(|row| row[..dimension].to_vec()).collect();
    Prior::multivariate_normal(
        support::names(dimension),
        vec![1.0, -2.0, 0.5][..dimension].to_vec(),
        &Points::from_rows(&covariance).unwrap(),
    )
    .unwrap()
}

#[test]
fn prior_embeddings_are_their_integrals() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let components: Vec<GaussianComponent> = [0.3, 0.7]
            .iter()
            .map(|&weight| GaussianComponent { weight, mean: vec![random.normal()], std: vec![random.log_uniform(0.3, 2.0)] })
            .collect();
        let density = |u: f64| components.iter().map(|c| c.weight * c.ln_density(&[u]).exp()).sum::<f64>();
        let kernel = Kernel::gaussian(vec![random.log_uniform(0.2, 3.0)]).unwrap();
        let other = Kernel::gaussian(vec![random.log_uniform(0.2, 3.0)]).unwrap();
        let embedding = PriorEmbedding::ClosedForm(components.clone());
        let z = Points::from_column(random.normals(5));
        let queries = Points::from_column(random.normals(4));
        let rule = gauss_legendre(-25.0, 25.0, 400);
        let means: Vec<f64> = z.iter().map(|z| rule.iter().map(|(u, w)| w * kernel.value(z, &[*u]) * density(*u)).sum::<f64>()).collect();
        assert_all_close("μ", &embedding.means(&kernel, &z), &means, QUADRATURE);
        let v = random.normals(5);
        for query_kernel in [&kernel, &other] {
            let product = |z: &[f64], q: &[f64]| -> f64 {
                rule.iter().map(|(u, w)| w * kernel.value(z, &[*u]) * query_kernel.value(&[*u], q) * density(*u)).sum()
            };
            let expected: Vec<f64> = queries.iter().map(|q| z.iter().zip(&v).map(|(z, v)| v * product(z, q)).sum()).collect();
            assert_all_close("Σ v h", &embedding.product_sums(&kernel, query_kernel, &z, &v, &queries), &expected, QUADRATURE);
        }
    }
}

#[test]
fn evidence_is_the_integral_of_the_likelihood_and_the_posterior_integrates_to_one() {
    for (seed, marginal) in curved().into_iter().enumerate() {
        let (problem, posterior) = problem(support::independent(std::slice::from_ref(&marginal)), 12, seed as u64);
        let model = problem.model().unwrap();
        let weighted = |theta: &Points| -> Vec<f64> {
            let density = |t: &[f64]| problem.prior.ln_density(t).unwrap().exp();
            model.value(theta).unwrap().into_iter().zip(theta.iter()).map(|(q, t)| q * density(t)).collect()
        };
        let rules = [nodes(&marginal, None, 300)];
        assert_close("q(y)", model.marginal_likelihood(), integrate(&rules, weighted), QUADRATURE, 0.0);
        assert_close("∫ q(θ|y)", integrate(&rules, |t| posterior.value(t).unwrap()), 1.0, QUADRATURE, 0.0);
    }
}

#[test]
fn signed_moments_in_theta_units_are_their_integrals_through_curved_transforms() {
    for (seed, pair) in curved().windows(2).enumerate() {
        let (_, posterior) = problem(support::independent(pair), 12, 10 + seed as u64);
        let rules: Vec<_> = pair.iter().map(|marginal| nodes(marginal, None, 40)).collect();
        let moment = moments(&posterior, &rules);
        assert_close("∫ q(θ|y)", moment(&|_| 1.0), 1.0, QUADRATURE, 0.0);
        let mean: Vec<f64> = (0..2).map(|d| moment(&|t| t[d])).collect();
        assert_all_close("mean", &posterior.signed_mean(), &mean, QUADRATURE);
        for d in 0..2 {
            for e in 0..2 {
                let covariance = moment(&|t| (t[d] - mean[d]) * (t[e] - mean[e]));
                let found = posterior.signed_covariance();
                let scale = (found.row(d)[d] * found.row(e)[e]).abs().sqrt();
                assert_close("covariance", found.row(d)[e], covariance, QUADRATURE, scale);
            }
        }
    }
}

#[test]
fn signed_boxes_are_integrals_of_the_signed_posterior() {
    for (seed, pair) in curved().windows(2).enumerate() {
        let (_, posterior) = problem(support::independent(pair), 12, 20 + seed as u64);
        for p in [0.1, 0.5, 0.9] {
            let ends = [posterior.quantile(0, &[p]).unwrap()[0], posterior.quantile(1, &[0.6]).unwrap()[0]];
            let rules = [nodes(&pair[0], Some(ends[0]), 40), nodes(&pair[1], Some(ends[1]), 40)];
            let expected = integrate(&rules, |theta| posterior.value(theta).unwrap());
            let found = posterior.signed_box_probability(&[f64::NEG_INFINITY; 2], &ends).unwrap();
            assert_close("box", found, expected, QUADRATURE, 1.0);
        }
        let everywhere = posterior.signed_box_probability(&[f64::NEG_INFINITY; 2], &[f64::INFINITY; 2]).unwrap();
        assert_close("everywhere", everywhere, 1.0, QUADRATURE, 0.0);
    }
}

/// Posteriors with this much negative mass, and the priors of their two parameters.
fn with_negative_mass(least: f64, most: f64) -> Vec<(Posterior, Vec<Marginal>)> {
    let mut found = vec![];
    for (k, pair) in curved().windows(2).enumerate() {
        for seed in 0..60 {
            let mut problem = Problem::random(&mut Random::new(700 * (k as u64 + 1) + seed), 14, 2, support::independent(pair));
            problem.hyperparameters.epsilon = vec![0.6];
            problem.hyperparameters.length_scale = vec![0.5; 2];
            problem.hyperparameters.regularization = 1e-4;
            if let Ok(posterior) = problem.posterior()
                && posterior.negative_mass().ratio > least
                && posterior.negative_mass().ratio < most
                && found.len() < 2 * (k + 1)
            {
                found.push((posterior, pair.to_vec()));
            }
        }
    }
    assert!(found.len() >= 5, "only {} such problems", found.len());
    found
}

/// Five standard errors of 10,000 draws.
const MONTE_CARLO: f64 = 0.05;

#[test]
fn moments_shares_quantiles_and_boxes_are_those_of_the_clipped_joint_density() {
    for (least, most) in [(0.01, 0.3), (0.4, 0.95)] {
        for (posterior, pair) in with_negative_mass(least, most) {
            // The positive part over everything up to these ends.
            let positive_up_to = |ends: [Option<f64>; 2]| {
                let rules = [nodes(&pair[0], ends[0], 16), nodes(&pair[1], ends[1], 16)];
                integrate(&rules, |theta| posterior.value(theta).unwrap().into_iter().map(|q| q.max(0.0)).collect())
            };
            let (points, weights) = product(&[nodes(&pair[0], None, 16), nodes(&pair[1], None, 16)]);
            let masses: Vec<f64> = posterior.value(&points).unwrap().iter().zip(&weights).map(|(q, w)| q.max(0.0) * w).collect();
            let total: f64 = masses.iter().sum();
            let moment = |f: &dyn Fn(&[f64]) -> f64| points.iter().zip(&masses).map(|(t, mass)| mass * f(t)).sum::<f64>() / total;
            assert!(posterior.mean_error() < 0.02, "{}", posterior.mean_error());
            for d in 0..2 {
                let mean = moment(&|t| t[d]);
                let sd = moment(&|t| (t[d] - mean).powi(2)).sqrt();
                assert_close("mean", posterior.mean()[d], mean, MONTE_CARLO, sd);
                assert_close("sd", posterior.std(d).unwrap(), sd, MONTE_CARLO, 0.0);
                for p in [0.1, 0.7] {
                    let quantile = posterior.quantile(d, &[p]).unwrap()[0];
                    let ends = if d == 0 { [Some(quantile), None] } else { [None, Some(quantile)] };
                    assert_close("share below the quantile", positive_up_to(ends) / total, p, 0.02, 1.0);
                    assert_close("cdf of the quantile", posterior.cdf(d, &[quantile]).unwrap()[0], p, 1e-3, 1.0);
                }
            }
            let (means, other) = (posterior.mean(), |d: usize| posterior.quantile(d, &[0.7]).unwrap()[0]);
            let both = moment(&|t| (t[0] - means[0]) * (t[1] - means[1]));
            let scale = posterior.std(0).unwrap() * posterior.std(1).unwrap();
            assert_close("covariance", posterior.covariance().row(0)[1], both, MONTE_CARLO, scale);
            let ends = [other(0), other(1)];
            let inside = positive_up_to(ends.map(Some)) / total;
            assert_close("box", posterior.box_probability(&[f64::NEG_INFINITY; 2], &ends).unwrap(), inside, 0.02, 1.0);
        }
    }
}

#[test]
fn the_share_below_rises_from_zero_to_one_and_densities_are_not_negative() {
    for (posterior, _) in with_negative_mass(0.2, 0.95) {
        for d in 0..2 {
            let ends = posterior.quantile(d, &[0.0005, 0.9995]).unwrap();
            let grid: Vec<f64> = (0..=1_000).map(|k| ends[0] + (ends[1] - ends[0]) * f64::from(k) / 1_000.0).collect();
            let shares = posterior.cdf(d, &grid).unwrap();
            assert!(shares.windows(2).all(|pair| pair[1] >= pair[0]), "{shares:?}");
            assert_eq!(posterior.cdf(d, &[f64::NEG_INFINITY, f64::INFINITY]).unwrap(), vec![0.0, 1.0]);
            let densities = posterior.marginal(d, &grid).unwrap();
            assert!(densities.iter().all(|&density| density >= 0.0));
            let step = (ends[1] - ends[0]) / 1_000.0;
            let total: f64 = densities.iter().sum::<f64>() * step;
            assert!((total - 1.0).abs() < 0.05, "{total}");
        }
    }
}

#[test]
fn clipping_a_marginal_that_goes_negative_is_the_integral_of_its_positive_part() {
    let marginal = Marginal::Gamma { shape: 2.0, rate: 1.0 };
    let prior = support::independent(std::slice::from_ref(&marginal));
    let mut negative = 0;
    for seed in 0..40 {
        let mut problem = Problem::random(&mut Random::new(seed), 10, 1, prior.clone());
        problem.hyperparameters.epsilon = vec![0.3];
        problem.hyperparameters.regularization = 1e-4;
        let Ok(posterior) = problem.posterior() else { continue };
        let ratio = posterior.negative_mass().ratio;
        negative += usize::from(ratio > 0.05);
        let values = |points: &Points| posterior.value(points).unwrap();
        let rule = [nodes(&marginal, None, 4_000)];
        let positive = integrate(&rule, |t| values(t).into_iter().map(|q| q.max(0.0)).collect());
        assert_close("negative mass", ratio, (positive - 1.0) / positive, KINKS, 1.0);
        assert_close("∫ pdf", integrate(&rule, |t| posterior.pdf(t).unwrap()), 1.0, KINKS, 0.0);
        let half = posterior.quantile(0, &[0.5]).unwrap()[0];
        assert_close("median", integrate(&[nodes(&marginal, Some(half), 4_000)], |t| posterior.pdf(t).unwrap()), 0.5, KINKS, 0.0);
    }
    assert!(negative > 5, "only {negative} problems had a negative part");
}

#[test]
fn the_embedding_is_the_integral_of_the_kernel_against_the_posterior() {
    let marginal = Marginal::Gamma { shape: 2.5, rate: 0.7 };
    let (problem, posterior) = problem(support::independent(std::slice::from_ref(&marginal)), 12, 30);
    let model = problem.model().unwrap();
    let other = Kernel::gaussian(vec![0.35]).unwrap();
    let own = model.herding_kernel();
    let queries = problem.prior.draw(5, 3);
    let rule = [nodes(&marginal, None, 300)];
    for (kernel, asked) in [(&own, None), (&other, Some(&other))] {
        for (k, query) in queries.iter().enumerate() {
            let z_query = problem.prior.to_latent(query).unwrap();
            let expected = integrate(&rule, |theta| {
                let at = |t: &[f64]| kernel.value(&problem.prior.to_latent(t).unwrap(), &z_query);
                posterior.value(theta).unwrap().into_iter().zip(theta.iter()).map(|(q, t)| q * at(t)).collect()
            });
            assert_close("embedding", posterior.embedding(asked, &queries).unwrap()[k], expected, QUADRATURE, 1.0);
        }
    }
}

/// Integrals of a two-dimensional posterior over the plane against what the library says.
fn check_plane(posterior: &Posterior, rules: &[Vec<(f64, f64)>; 2]) {
    let moment = moments(posterior, rules);
    assert_close("∫ q(θ|y)", moment(&|_| 1.0), 1.0, QUADRATURE, 0.0);
    let mean = [moment(&|t| t[0]), moment(&|t| t[1])];
    assert_all_close("mean", &posterior.signed_mean(), &mean, QUADRATURE);
    for (d, e) in [(0, 0), (0, 1), (1, 1)] {
        let covariance = moment(&|t| (t[d] - mean[d]) * (t[e] - mean[e]));
        assert_close("covariance", posterior.signed_covariance().row(d)[e], covariance, QUADRATURE, 1.0);
    }
    let at = [mean[0] + 0.3, mean[1] - 0.2];
    let pair = Points::from_rows(&[at]).unwrap();
    assert_close("pair", posterior.signed_pair_marginal(0, 1, &pair).unwrap()[0], posterior.value(&pair).unwrap()[0], QUADRATURE, 1e-3);
    let swapped = Points::from_rows(&[[at[1], at[0]]]).unwrap();
    assert_close(
        "swapped pair",
        posterior.signed_pair_marginal(1, 0, &swapped).unwrap()[0],
        posterior.value(&pair).unwrap()[0],
        QUADRATURE,
        1e-3,
    );
    for d in 0..2 {
        let line = |t: f64| {
            let mut line = rules.clone();
            line[d] = vec![(t, 1.0)];
            integrate(&line, |theta| posterior.value(theta).unwrap())
        };
        let Representation::Mixture(mixture) = posterior.form() else { panic!("this posterior has a closed form") };
        let (along, offset, scale) = match posterior.prior().coordinate(d) {
            Coordinate::Linear { coefficients, offset } => (coefficients, offset, 1.0),
            Coordinate::Monotone => {
                let line = |t: f64| posterior.prior().coordinate_from_latent(d, t);
                ((0..2).map(|e| f64::from(u8::from(e == d))).collect(), line(0.0), line(1.0) - line(0.0))
            }
        };
        let marginal = |value: f64| mixture.marginal(&along).value((value - offset) / scale) / scale;
        assert_close("marginal", marginal(at[d]), line(at[d]), QUADRATURE, line(mean[d]).abs());
    }
}

#[test]
fn a_mixture_prior_keeps_its_closed_forms() {
    let (problem, posterior) = problem(mixture_prior(), 12, 40);
    let rules = [gauss_legendre(-9.0, 12.0, 30), gauss_legendre(-14.0, 16.0, 60)];
    check_plane(&posterior, &rules);
    let model = problem.model().unwrap();
    let weighted = |theta: &Points| -> Vec<f64> {
        let density = |t: &[f64]| problem.prior.ln_density(t).unwrap().exp();
        model.value(theta).unwrap().into_iter().zip(theta.iter()).map(|(q, t)| q * density(t)).collect()
    };
    assert_close("q(y)", model.marginal_likelihood(), integrate(&rules, weighted), QUADRATURE, 0.0);
    let (low, high) = ([-1.0, -0.5], [2.0, 1.0]);
    let inside = [gauss_legendre(low[0], high[0], 10), gauss_legendre(low[1], high[1], 10)];
    let expected = integrate(&inside, |theta| posterior.value(theta).unwrap());
    assert_close("box", posterior.signed_box_probability(&low, &high).unwrap(), expected, QUADRATURE, 1.0);
}

#[test]
fn a_correlated_prior_keeps_its_closed_forms() {
    let (_, posterior) = problem(correlated_prior(2), 12, 50);
    check_plane(&posterior, &[gauss_legendre(-15.0, 17.0, 30), gauss_legendre(-13.0, 9.0, 30)]);
}

#[test]
fn pair_marginals_integrate_the_other_parameters_out() {
    let independent = support::independent(&curved()[1..4]);
    let third = nodes(&curved()[3], None, 60);
    for (seed, prior, rule) in [(60, independent, third), (61, correlated_prior(3), gauss_legendre(-9.0, 10.0, 60))] {
        let (_, posterior) = problem(prior.clone(), 12, seed);
        for theta in prior.draw(4, seed).iter() {
            let expected = integrate(&[vec![(theta[0], 1.0)], vec![(theta[1], 1.0)], rule.clone()], |t| posterior.value(t).unwrap());
            let pair = Points::from_rows(&[[theta[0], theta[1]]]).unwrap();
            assert_close("pair marginal", posterior.signed_pair_marginal(0, 1, &pair).unwrap()[0], expected, QUADRATURE, 1e-2);
        }
    }
}

/// The mean over T draws misses the integral by about σ/√T: 16 times the draws, a quarter of the error.
#[test]
fn the_sample_form_tends_to_the_closed_form_with_the_root_of_the_draws() {
    let latent = correlated_prior(2).latent();
    let kernel = Kernel::gaussian(vec![0.8, 1.3]).unwrap();
    let closed = PriorEmbedding::new(&latent, kernel.family(), 0, 0).unwrap();
    let mut random = Random::new(4);
    let z = Points::new(random.normals(20), 10, 2).unwrap();
    let v = random.normals(10);
    let error = |draws: usize| {
        let seeds = 8;
        let mut squares = 0.0;
        for seed in 0..seeds {
            let sampled = PriorEmbedding::Draws(latent.draws(draws, seed, Purpose::Experiment));
            let pairs = sampled.means(&kernel, &z).into_iter().zip(closed.means(&kernel, &z));
            let products =
                sampled.product_sums(&kernel, &kernel, &z, &v, &z).into_iter().zip(closed.product_sums(&kernel, &kernel, &z, &v, &z));
            squares += pairs.chain(products).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        }
        (squares / (20 * seeds) as f64).sqrt()
    };
    let errors = [100, 1_600, 25_600].map(error);
    for pair in errors.windows(2) {
        let gain = pair[0] / pair[1];
        assert!((2.5..6.5).contains(&gain), "sixteen times the draws gain a factor {gain}, not about 4: {errors:?}");
    }
    assert!(errors[2] < 0.005, "{errors:?}");
}
