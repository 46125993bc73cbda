//! A statistic against a parameter, the location-scale model of it, and the posterior below.

use anyhow::Context;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Fit, FitOptions, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded,
    Simulations,
};
use kelfi_report::{Axis, Figure, Frame, Numbers, Svg};
use std::sync::Arc;

const OBSERVED: f64 = 1.2;
const GRID: usize = 160;

/// The mean of the simulator's statistic: it passes the observed value twice.
fn mean(theta: f64) -> f64 {
    0.8 * theta * theta + 0.3 * theta
}

/// Its standard deviation.
fn deviation(theta: f64) -> f64 {
    0.2 + 0.1 * theta.abs()
}

/// The picture.
pub fn picture() -> anyhow::Result<Figure> {
    let prior = Prior::independent(vec![("θ".into(), Marginal::Normal { mean: 0.0, std: 1.0 })])?;
    let theta = prior.draw(200, 1);
    let noisy =
        |(j, theta): (usize, &[f64])| mean(theta[0]) + deviation(theta[0]) * standard_normal(&mut stream(1, Purpose::Simulator, j as u64));
    let x = Points::from_column(theta.iter().enumerate().map(noisy).collect());
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta.clone(), x.clone())?));
    let (observation, settings) = (Observation::Statistics(vec![OBSERVED]), FitOptions::of(ModelChoice::Use(&LOCATION_SCALE), 1));
    let fit = Fit::new(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true)?;
    drawn(&fit, &prior, &theta, &x)
}

fn drawn(fit: &Fit, prior: &Prior, theta: &Points, x: &Points) -> anyhow::Result<Figure> {
    let grid = Points::from_column((0..=GRID).map(|k| -2.5 + 5.0 * k as f64 / GRID as f64).collect());
    let mut svg = Svg::new(560.0, 520.0);
    let edges = [60.0, 24.0, 545.0, 320.0];
    let upper = Frame { x: Axis::new(-2.5, 2.5, edges[0], edges[2]), y: Axis::new(-1.2, 5.2, edges[3], edges[1]), edges };
    let bands = bands(fit, prior, &grid)?;
    let at = |theta: f64, value: f64| (upper.x.at(theta), upper.y.inside(value));
    let line = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<(f64, f64)> {
        grid.iter().zip(&bands).map(|(theta, band)| at(theta[0], of(band))).collect()
    };
    for wide in [2.0, 1.0] {
        let (low, high) = (line(&|(mean, sd)| mean - wide * sd), line(&|(mean, sd)| mean + wide * sd));
        let corners: Vec<String> = low.iter().chain(high.iter().rev()).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        svg.path(if wide > 1.5 { "band" } else { "posterior-fill" }, &format!("M{}Z", corners.join("L")));
    }
    upper.draw(&mut svg, "", "statistic x");
    for (theta, x) in theta.iter().zip(x.iter()).filter(|(theta, _)| theta[0].abs() < 2.5) {
        let (px, py) = at(theta[0], x[0]);
        svg.disc("prior-solid", px, py, 1.8, "");
    }
    svg.polyline("posterior", &line(&|(mean, _)| *mean));
    svg.line("truth", edges[0], upper.y.at(OBSERVED), edges[2], upper.y.at(OBSERVED));
    svg.label("strong", edges[2] - 4.0, upper.y.at(OBSERVED) - 6.0, kelfi_report::Anchor::End, "observed", 20);
    let numbers = below(fit, &grid, &mut svg)?;
    let description =
        "Simulations, fitted mean with bands of one and two standard deviations, the observed value, and the posterior with two modes.";
    Ok(Figure::new("location-scale", "The location-scale model", "", description.into(), true, &svg, &numbers))
}

/// Mean and standard deviation of the statistic at every θ of the grid, as the model has them.
fn bands(fit: &Fit, prior: &Prior, grid: &Points) -> anyhow::Result<Vec<(f64, f64)>> {
    let model = fit.model_as::<LocationScaleLikelihood>().context("the model asked for")?;
    let z = prior.to_latent_points(grid)?;
    let (means, deviations) = model.statistics()[0].mean_and_deviation(&z);
    Ok(means.into_iter().zip(deviations).collect())
}

/// The posterior, the exact one and the prior.
fn below(fit: &Fit, grid: &Points, svg: &mut Svg) -> anyhow::Result<Numbers> {
    let density = fit.posterior.pdf(grid)?;
    let prior = |theta: f64| (-0.5 * theta * theta).exp() / std::f64::consts::TAU.sqrt();
    let joint = |theta: f64| (-0.5 * ((OBSERVED - mean(theta)) / deviation(theta)).powi(2)).exp() / deviation(theta) * prior(theta);
    let exact: Vec<f64> = grid.iter().map(|theta| joint(theta[0])).collect();
    let total = exact.iter().sum::<f64>() * 5.0 / GRID as f64;
    let exact: Vec<f64> = exact.iter().map(|value| value / total).collect();
    let top = density.iter().chain(&exact).fold(0.0_f64, |top, value| top.max(*value));
    let edges = [60.0, 368.0, 545.0, 480.0];
    let frame = Frame { x: Axis::new(-2.5, 2.5, edges[0], edges[2]), y: Axis::new(0.0, 1.1 * top, edges[3], edges[1]), edges };
    let place = |values: &[f64]| -> Vec<(f64, f64)> {
        grid.iter().zip(values).map(|(theta, value)| (frame.x.at(theta[0]), frame.y.at(*value))).collect()
    };
    frame.draw(svg, "parameter θ", "posterior density");
    svg.area("posterior-fill", &place(&density), edges[3]);
    svg.polyline("posterior", &place(&density));
    svg.polyline("truth", &place(&exact));
    svg.polyline("prior", &place(&grid.iter().map(|theta| prior(theta[0])).collect::<Vec<_>>()));
    let mut numbers = Numbers::new(&["theta", "posterior", "exact"]);
    grid.iter().zip(density.iter().zip(&exact)).for_each(|(theta, (ours, exact))| numbers.values(&[theta[0], *ours, *exact]));
    Ok(numbers)
}
