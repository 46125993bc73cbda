//! Reference posteriors in one or two dimensions: the normalised density on a grid of cells, by the midpoint rule.

use crate::problem::BenchmarkProblem;
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points, Prior};
use rand::RngExt;
use rayon::prelude::*;

/// `cells` equal cells between `low` and `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Number of cells.
    pub cells: usize,
}

impl Axis {
    /// Width of a cell.
    pub fn width(&self) -> f64 {
        (self.high - self.low) / self.cells as f64
    }

    /// Middle of cell `index`.
    pub fn middle(&self, index: usize) -> f64 {
        self.low + (index as f64 + 0.5) * self.width()
    }
}

/// A normalised density, constant in each cell of a grid. The last axis runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct GridDensity {
    axes: Vec<Axis>,
    density: Vec<f64>,
    ln_total: f64,
}

impl GridDensity {
    /// exp(`ln_density`) normalised over the grid.
    pub fn new(axes: Vec<Axis>, ln_density: impl Fn(&[f64]) -> f64 + Sync) -> Result<Self, Error> {
        if axes.is_empty() || axes.iter().any(|axis| axis.cells == 0 || axis.width().is_nan() || axis.width() <= 0.0) {
            return Err(Error::Empty { what: "the grid".into(), advice: "give each axis cells and low < high".into() });
        }
        let total: usize = axes.iter().map(|axis| axis.cells).product();
        let ln_values: Vec<f64> = (0..total).into_par_iter().map(|cell| ln_density(&middle(&axes, cell))).collect();
        let peak = ln_values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !peak.is_finite() {
            return Err(Error::Unavailable {
                what: "the density on this grid".into(),
                reason: format!("it is zero or not a number in all {total} cells; move the grid to where the density is"),
            });
        }
        let volume: f64 = axes.iter().map(Axis::width).product();
        let relative: Vec<f64> = ln_values.iter().map(|value| (value - peak).exp()).collect();
        let mass = relative.iter().sum::<f64>() * volume;
        let density = relative.iter().map(|value| value / mass).collect();
        Ok(Self { axes, density, ln_total: peak + mass.ln() })
    }

    /// p(θ | x) of a problem with a likelihood, on `cells` cells an axis placed where the posterior is.
    pub fn posterior(problem: &dyn BenchmarkProblem, x: &[f64], cells: usize) -> Result<Self, Error> {
        Self::located(problem, cells, |theta| problem.ln_likelihood(theta, x))
    }

    /// p(θ | raw observed data) of a problem with a raw likelihood.
    pub fn raw_posterior(problem: &dyn BenchmarkProblem, cells: usize) -> Result<Self, Error> {
        Self::located(problem, cells, |theta| problem.ln_raw_likelihood(theta))
    }

    fn located(problem: &dyn BenchmarkProblem, cells: usize, ln_likelihood: impl Fn(&[f64]) -> Option<f64> + Sync) -> Result<Self, Error> {
        let prior = problem.prior();
        if prior.dimension() > 2 {
            return Err(Error::invalid("number of parameters", prior.dimension() as f64, "quadrature serves one or two"));
        }
        let unavailable = Error::Unavailable {
            what: format!("the likelihood of {}", problem.name()),
            reason: "`reference` says what is known of this problem instead".into(),
        };
        ln_likelihood(prior.draw(1, 0).row(0)).ok_or(unavailable)?;
        let ln_likelihood = |theta: &[f64]| ln_likelihood(theta).filter(|value| !value.is_nan()).unwrap_or(f64::NEG_INFINITY);
        let axes = locate(prior, cells, &ln_likelihood)?;
        Self::new(axes, |theta| match prior.ln_density(theta) {
            Ok(ln_prior) if ln_prior > f64::NEG_INFINITY => ln_prior + ln_likelihood(theta),
            _ => f64::NEG_INFINITY,
        })
    }

    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Density in each cell, the last axis fastest.
    pub fn values(&self) -> &[f64] {
        &self.density
    }

    /// ln ∫ of what was normalised: the evidence, if the likelihood and the prior were normalised.
    pub fn ln_total(&self) -> f64 {
        self.ln_total
    }

    /// Middles of the cells, in the order of `values`.
    pub fn points(&self) -> Points {
        let values: Vec<f64> = (0..self.density.len()).flat_map(|cell| middle(&self.axes, cell)).collect();
        Points::new(values, self.density.len(), self.axes.len()).expect("a coordinate for each cell and axis")
    }

    /// Volume of a cell.
    pub fn cell_volume(&self) -> f64 {
        self.axes.iter().map(Axis::width).product()
    }

    /// ½ ∫ |p − q| for another normalised density q. What q has outside the grid, where p is 0, is counted too.
    pub fn total_variation(&self, other: impl Fn(&[f64]) -> f64 + Sync) -> f64 {
        let q: Vec<f64> = (0..self.density.len()).into_par_iter().map(|cell| other(&middle(&self.axes, cell))).collect();
        let volume = self.cell_volume();
        let inside: f64 = self.density.iter().zip(&q).map(|(p, q)| (p - q).abs()).sum::<f64>() * volume;
        let outside = (1.0 - q.iter().sum::<f64>() * volume).max(0.0);
        0.5 * (inside + outside)
    }

    /// Mean of each coordinate.
    pub fn mean(&self) -> Vec<f64> {
        self.expectation(|theta, d| theta[d])
    }

    /// Standard deviation of each coordinate.
    pub fn std(&self) -> Vec<f64> {
        let mean = self.mean();
        self.expectation(|theta, d| (theta[d] - mean[d]).powi(2)).into_iter().map(f64::sqrt).collect()
    }

    /// Density of coordinate `d` alone.
    pub fn marginal(&self, d: usize) -> Self {
        let mut density = vec![0.0; self.axes[d].cells];
        let others = self.cell_volume() / self.axes[d].width();
        for (cell, p) in self.density.iter().enumerate() {
            density[indices(&self.axes, cell)[d]] += p * others;
        }
        Self { axes: vec![self.axes[d]], density, ln_total: self.ln_total }
    }

    /// Independent draws: a cell by its mass, then a uniform place in it.
    pub fn sample(&self, count: usize, seed: u64) -> Points {
        let mut cumulative: Vec<f64> = self.density.to_vec();
        for cell in 1..cumulative.len() {
            cumulative[cell] += cumulative[cell - 1];
        }
        let top = cumulative[cumulative.len() - 1];
        let mut samples = Points::zeros(count, self.axes.len());
        for index in 0..count {
            let mut rng = stream(seed, Purpose::Samples, index as u64);
            let level = rng.random::<f64>() * top;
            let cell = cumulative.partition_point(|&value| value <= level).min(cumulative.len() - 1);
            for (d, value) in middle(&self.axes, cell).into_iter().enumerate() {
                samples.row_mut(index)[d] = value + (rng.random::<f64>() - 0.5) * self.axes[d].width();
            }
        }
        samples
    }

    fn expectation(&self, f: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
        let volume = self.cell_volume();
        let mut sums = vec![0.0; self.axes.len()];
        for (cell, p) in self.density.iter().enumerate() {
            let theta = middle(&self.axes, cell);
            (0..sums.len()).for_each(|d| sums[d] += p * volume * f(&theta, d));
        }
        sums
    }
}

/// Finds the posterior in z coordinates, where the prior is N(0, I) and no scale is extreme, by closing in on the cells
/// within 40 nats of the highest; then gives the box in θ. Boxes map to boxes for priors of independent parameters.
fn locate(prior: &Prior, cells: usize, ln_likelihood: &(impl Fn(&[f64]) -> f64 + Sync)) -> Result<Vec<Axis>, Error> {
    const REACH: f64 = 8.0;
    const COARSE: usize = 101;
    const DEPTH: f64 = 40.0;
    const ROUNDS: usize = 30;
    let dimension = prior.dimension();
    let mut axes = vec![Axis { low: -REACH, high: REACH, cells: COARSE }; dimension];
    for _ in 0..ROUNDS {
        let ln_posterior = |z: &[f64]| {
            let ln_prior = -0.5 * z.iter().map(|z| z * z).sum::<f64>();
            ln_likelihood(&prior.from_latent(z)) + ln_prior
        };
        let coarse = GridDensity::new(axes.clone(), ln_posterior)?;
        let peak = coarse.density.iter().copied().fold(0.0, f64::max);
        let floor = peak * (-DEPTH).exp();
        let inside: Vec<Vec<usize>> =
            (0..coarse.density.len()).filter(|&cell| coarse.density[cell] > floor).map(|cell| indices(&axes, cell)).collect();
        let closer: Vec<Axis> = (0..dimension).map(|d| around(&axes[d], inside.iter().map(|index| index[d]))).collect();
        let shrunk = closer.iter().zip(&axes).any(|(new, old)| new.high - new.low < 0.9 * (old.high - old.low));
        axes = closer;
        if !shrunk {
            break;
        }
    }
    Ok(to_theta(prior, &axes, cells))
}

/// The axis cut to these cells and one more on each side, if there is one.
fn around(axis: &Axis, inside: impl Iterator<Item = usize> + Clone) -> Axis {
    let first = inside.clone().min().unwrap_or(0).saturating_sub(1);
    let last = (inside.max().unwrap_or(axis.cells - 1) + 1).min(axis.cells - 1);
    Axis { low: axis.low + first as f64 * axis.width(), high: axis.low + (last + 1) as f64 * axis.width(), cells: axis.cells }
}

/// The smallest box around the images of a z box's corners.
fn to_theta(prior: &Prior, axes: &[Axis], cells: usize) -> Vec<Axis> {
    let mut boxes = vec![Axis { low: f64::INFINITY, high: f64::NEG_INFINITY, cells }; axes.len()];
    for corner in 0..1_usize << axes.len() {
        let z: Vec<f64> = axes.iter().enumerate().map(|(d, axis)| if corner >> d & 1 == 0 { axis.low } else { axis.high }).collect();
        for (axis, value) in boxes.iter_mut().zip(prior.from_latent(&z)) {
            axis.low = axis.low.min(value);
            axis.high = axis.high.max(value);
        }
    }
    boxes
}

fn indices(axes: &[Axis], cell: usize) -> Vec<usize> {
    let mut rest = cell;
    let mut indices = vec![0; axes.len()];
    for d in (0..axes.len()).rev() {
        indices[d] = rest % axes[d].cells;
        rest /= axes[d].cells;
    }
    indices
}

fn middle(axes: &[Axis], cell: usize) -> Vec<f64> {
    indices(axes, cell).into_iter().zip(axes).map(|(index, axis)| axis.middle(index)).collect()
}
