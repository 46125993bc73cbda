//! Means, covariances, box probabilities and pair marginals in the user's units.
//!
//! Through a curved transform θ_d = T_d(z_d) the moments of each Gaussian component are one-dimensional integrals,
//! done by the trapezoid rule on a grid shared by all components: for a Gaussian times a smooth function its error
//! falls faster than any power of the step.

use crate::mixture::signed::{Part, SignedMixture};
use crate::mixture::weighted::WeightedDraws;
use crate::posterior::{Posterior, Representation};
use crate::prior::Coordinate;
use crate::{Error, Points, Prior};

/// Steps per standard deviation; the trapezoid rule's error for a Gaussian at this step is exp(-2π²·16) < 1e-130.
const STEPS_PER_STD: f64 = 4.0;
/// Half-width of the grid around each centre in standard deviations (tail mass 2e-23).
const REACH: f64 = 10.0;
const FAR: f64 = (1_u64 << 60) as f64;
const SQRT_2PI: f64 = 2.506_628_274_631_000_7;

/// E[θ] of the clipped density.
pub fn mean(posterior: &Posterior) -> Vec<f64> {
    match posterior.clipped() {
        Some(clipped) => clipped.draws.mean(posterior.prior()),
        None => signed_mean(posterior),
    }
}

/// Cov[θ] of the clipped density.
pub fn covariance(posterior: &Posterior) -> Points {
    match posterior.clipped() {
        Some(clipped) => clipped.draws.covariance(posterior.prior()),
        None => signed_covariance(posterior),
    }
}

/// E[θ], signed parts included.
pub fn signed_mean(posterior: &Posterior) -> Vec<f64> {
    match posterior.form() {
        Representation::Mixture(mixture) => mixture_moments(posterior.prior(), mixture).0,
        Representation::Draws(draws) => draws.mean(posterior.prior()),
        Representation::Chained(chained) => chained.draws().mean(posterior.prior()),
    }
}

/// Cov[θ], signed parts included.
pub fn signed_covariance(posterior: &Posterior) -> Points {
    match posterior.form() {
        Representation::Mixture(mixture) => mixture_moments(posterior.prior(), mixture).1,
        Representation::Draws(draws) => draws.covariance(posterior.prior()),
        Representation::Chained(chained) => chained.draws().covariance(posterior.prior()),
    }
}

/// Mass of a box under the clipped density.
pub fn box_probability(posterior: &Posterior, low: &[f64], high: &[f64]) -> Result<f64, Error> {
    require_box(posterior, low, high)?;
    match posterior.clipped() {
        None => Ok(signed_box_probability(posterior, low, high)?.clamp(0.0, 1.0)),
        // Shares below the ends are exact here.
        Some(clipped) if clipped.effective.is_infinite() => {
            let line = posterior.line(0)?;
            Ok(line.cdf(posterior.prior(), high[0])? - line.cdf(posterior.prior(), low[0])?)
        }
        Some(clipped) => Ok(clipped.draws.box_probability(posterior.prior(), low, high)),
    }
}

/// Signed mass of a box.
pub fn signed_box_probability(posterior: &Posterior, low: &[f64], high: &[f64]) -> Result<f64, Error> {
    require_box(posterior, low, high)?;
    let prior = posterior.prior();
    let dimension = prior.dimension();
    let monotone = (0..dimension).all(|d| matches!(prior.coordinate(d), Coordinate::Monotone));
    match posterior.form() {
        Representation::Mixture(mixture) if monotone => {
            let ends = |ends: &[f64]| -> Result<Vec<f64>, Error> {
                (0..dimension)
                    .map(|d| if ends[d].is_infinite() { Ok(ends[d]) } else { Ok(prior.coordinate_to_latent(d, ends[d])?.0) })
                    .collect()
            };
            Ok(mixture.box_probability(&ends(low)?, &ends(high)?))
        }
        Representation::Draws(draws) => Ok(draws.box_probability(prior, low, high)),
        Representation::Chained(chained) => Ok(chained.draws().box_probability(prior, low, high)),
        Representation::Mixture(_) => Err(Error::Unavailable {
            what: "the probability of a box".into(),
            reason: "this prior correlates its parameters; count samples inside the box instead".into(),
        }),
    }
}

/// An error unless the ends are a box of the parameters.
fn require_box(posterior: &Posterior, low: &[f64], high: &[f64]) -> Result<(), Error> {
    let dimension = posterior.prior().dimension();
    if low.len() != dimension || high.len() != dimension {
        return Err(Error::Shape {
            left: "the box".into(),
            left_rows: 2,
            left_columns: low.len().min(high.len()),
            right: "the parameters".into(),
            right_rows: 1,
            right_columns: dimension,
            advice: "give one lower and one upper end per parameter".into(),
        });
    }
    if let Some(value) = low.iter().chain(high).find(|value| value.is_nan()) {
        return Err(Error::invalid("end of the box", *value, "it must be a number; infinite ends are allowed"));
    }
    match (0..dimension).find(|&d| low[d] > high[d]) {
        None => Ok(()),
        Some(d) => {
            Err(Error::invalid(format!("lower end {} of the box", d + 1), low[d], format!("it must not exceed the upper end {}", high[d])))
        }
    }
}

/// Draws that a joint density of two parameters is estimated from, at most.
const PAIR_DRAWS: usize = 4_000;

/// The density of (θ_d, θ_e) under the clipped density.
pub fn pair_marginal(posterior: &Posterior, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
    let Some(clipped) = posterior.clipped() else {
        return Ok(signed_pair_marginal(posterior, d, e, pairs)?.into_iter().map(|value| value.max(0.0)).collect());
    };
    pair_density(posterior.prior(), &clipped.draws.resampled(PAIR_DRAWS), d, e, pairs)
}

/// The signed density of (θ_d, θ_e).
pub fn signed_pair_marginal(posterior: &Posterior, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
    let prior = posterior.prior();
    let mixture = match posterior.form() {
        Representation::Mixture(mixture) => mixture,
        Representation::Draws(draws) => return pair_density(prior, draws, d, e, pairs),
        Representation::Chained(chained) => return pair_density(prior, chained.draws(), d, e, pairs),
    };
    let (t, slopes) = along_lines(prior, d, e, pairs)?;
    let values = match (prior.coordinate(d), prior.coordinate(e)) {
        (Coordinate::Monotone, Coordinate::Monotone) => mixture.pair_values(d, e, &t),
        (a, b) => correlated_pair_values(mixture, &direction(&a, d, mixture.dimension()), &direction(&b, e, mixture.dimension()), &t),
    };
    Ok(sloped(values, slopes))
}

/// A kernel estimate from draws, in the coordinates of the lines: nothing leaks over the ends of a support.
fn pair_density(prior: &Prior, draws: &WeightedDraws, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
    let (t, slopes) = along_lines(prior, d, e, pairs)?;
    let along = |d: usize| direction(&prior.coordinate(d), d, prior.dimension());
    Ok(sloped(draws.pair_density(&along(d), &along(e), &t), slopes))
}

/// Positions on the lines of two parameters, and dt/dθ there.
fn along_lines(prior: &Prior, d: usize, e: usize, pairs: &Points) -> Result<(Points, Vec<f64>), Error> {
    let line = |d: usize, value: f64| match prior.coordinate(d) {
        Coordinate::Monotone => prior.coordinate_to_latent(d, value),
        Coordinate::Linear { offset, .. } => Ok((value - offset, 1.0)),
    };
    let mut t = Points::zeros(pairs.rows(), 2);
    let mut slopes = Vec::with_capacity(pairs.rows());
    for (row, pair) in pairs.iter().enumerate() {
        let (a, b) = (line(d, pair[0])?, line(e, pair[1])?);
        t.row_mut(row).copy_from_slice(&[a.0, b.0]);
        slopes.push(a.1 * b.1);
    }
    Ok((t, slopes))
}

/// Densities times slopes; outside the support, where the slope is 0, nothing.
fn sloped(values: Vec<f64>, slopes: Vec<f64>) -> Vec<f64> {
    values.into_iter().zip(slopes).map(|(value, slope)| if slope == 0.0 { 0.0 } else { value * slope }).collect()
}

/// The direction in z along which parameter `d` is seen.
pub(super) fn direction(coordinate: &Coordinate, d: usize, dimension: usize) -> Vec<f64> {
    match coordinate {
        Coordinate::Linear { coefficients, .. } => coefficients.clone(),
        Coordinate::Monotone => (0..dimension).map(|k| f64::from(u8::from(k == d))).collect(),
    }
}

/// The signed density of (aᵀz, bᵀz): each component is a bivariate Gaussian, whitened by its 2 × 2 Cholesky factor.
fn correlated_pair_values(mixture: &SignedMixture, a: &[f64], b: &[f64], pairs: &Points) -> Vec<f64> {
    let mut total = vec![0.0; pairs.rows()];
    for part in mixture.parts() {
        let moment = |p: &[f64], q: &[f64]| part.std.iter().zip(p.iter().zip(q)).map(|(s, (p, q))| s * s * p * q).sum::<f64>();
        let l11 = moment(a, a).sqrt();
        let l21 = moment(a, b) / l11;
        let l22 = (moment(b, b) - l21 * l21).max(f64::MIN_POSITIVE).sqrt();
        let whiten = |u: f64, v: f64| vec![u / l11, (v - l21 * u / l11) / l22];
        let dot = crate::linalg::vector::dot;
        let unit = SignedMixture::new(vec![Part {
            std: vec![1.0, 1.0],
            centres: part.centres.map_rows(2, |c| whiten(dot(a, c), dot(b, c))),
            weights: part.weights.clone(),
        }]);
        let values = unit.values(&pairs.map_rows(2, |p| whiten(p[0], p[1])));
        total.iter_mut().zip(values).for_each(|(total, value)| *total += value / (l11 * l22));
    }
    total
}

/// Mean and covariance of θ under the mixture.
fn mixture_moments(prior: &Prior, mixture: &SignedMixture) -> (Vec<f64>, Points) {
    let dimension = prior.dimension();
    if let Coordinate::Linear { .. } = prior.coordinate(0) {
        return linear_moments(prior, mixture);
    }
    // Deviations from the prior's median: squares of a mean far from zero would cancel the variance away.
    let lines: Vec<Deviation<'_>> = (0..dimension).map(|d| Deviation::new(prior, mixture, d)).collect();
    let mut mean = vec![0.0; dimension];
    let mut second = Points::zeros(dimension, dimension);
    for part in mixture.parts() {
        let moments: Vec<(Vec<f64>, Vec<f64>)> = lines.iter().map(|line| component_moments(line, part)).collect();
        for (j, w) in part.weights.iter().enumerate() {
            for d in 0..dimension {
                mean[d] += w * moments[d].0[j];
                second.row_mut(d)[d] += w * moments[d].1[j];
                for e in (0..dimension).filter(|&e| e != d) {
                    second.row_mut(d)[e] += w * moments[d].0[j] * moments[e].0[j];
                }
            }
        }
    }
    for d in 0..dimension {
        for e in 0..dimension {
            let covariance = second.row(d)[e] - mean[d] * mean[e];
            second.row_mut(d)[e] = (covariance * lines[d].unit * lines[e].unit).clamp(-f64::MAX, f64::MAX);
        }
    }
    (lines.iter().zip(mean).map(|(line, mean)| line.back(mean)).collect(), second)
}

/// How far θ_d lies from its prior median as a function of z_d, in a unit that keeps squares finite.
struct Deviation<'a> {
    prior: &'a Prior,
    d: usize,
    median: f64,
    unit: f64,
}

impl<'a> Deviation<'a> {
    /// A family that spans hundreds of orders of magnitude gets its largest deviation as unit, the others 1.
    fn new(prior: &'a Prior, mixture: &SignedMixture, d: usize) -> Self {
        const SQUARE_IS_FINITE: f64 = 1e140;
        let median = prior.coordinate_from_latent(d, 0.0);
        let ends = mixture
            .parts()
            .iter()
            .flat_map(|part| part.centres.iter().flat_map(|c| [c[d] - REACH * part.std[d], c[d] + REACH * part.std[d]]));
        let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end), high.max(end)));
        let farthest = [low, high].map(|end| (0.5 * prior.coordinate_from_latent(d, end) - 0.5 * median).abs());
        let farthest = farthest[0].max(farthest[1]);
        Self { prior, d, median, unit: if farthest > SQUARE_IS_FINITE { farthest } else { 1.0 } }
    }

    fn at(&self, z: f64) -> f64 {
        self.prior.coordinate_from_latent(self.d, z) / self.unit - self.median / self.unit
    }

    fn back(&self, deviation: f64) -> f64 {
        ((self.median / self.unit + deviation) * self.unit).clamp(-f64::MAX, f64::MAX)
    }

    /// dθ/dz where it is constant.
    fn slope(&self) -> Option<f64> {
        let linear = match self.prior {
            Prior::Independent(prior) => matches!(prior.marginals()[self.d], crate::prior::Marginal::Normal { .. }),
            _ => true,
        };
        // Far out, where a median large beside the spread no longer costs digits of the difference.
        linear.then(|| self.at(FAR) / FAR)
    }
}

/// E[T_d(z)] and E[T_d(z)²] under each component of the part, T_d the deviation of θ_d.
fn component_moments(line: &Deviation<'_>, part: &Part) -> (Vec<f64>, Vec<f64>) {
    let std = part.std[line.d];
    let centres = part.centres.column(line.d);
    if let Some(slope) = line.slope() {
        return centres.iter().map(|c| (slope * c, slope * slope * (c * c + std * std))).unzip();
    }
    let step = std / STEPS_PER_STD;
    let reach = (REACH * STEPS_PER_STD) as usize;
    let low = centres.iter().copied().fold(f64::INFINITY, f64::min) - REACH * std;
    let high = centres.iter().copied().fold(f64::NEG_INFINITY, f64::max) + REACH * std;
    let nodes = ((high - low) / step).ceil() + 1.0;
    // Where components lie far apart beside their width, nodes of their own are fewer than a shared grid.
    let shared: Option<Vec<f64>> =
        (nodes <= ((2 * reach + 1) * centres.len()) as f64).then(|| (0..nodes as usize).map(|k| line.at(low + k as f64 * step)).collect());
    let sum = |c: f64, start: f64, values: &[f64]| {
        let (mut first, mut second) = (0.0, 0.0);
        for (k, theta) in values.iter().enumerate() {
            let share = (-0.5 * ((start + k as f64 * step - c) / std).powi(2)).exp() / (SQRT_2PI * STEPS_PER_STD);
            first += share * theta;
            second += share * theta * theta;
        }
        (first, second)
    };
    let one = |c: f64| match &shared {
        Some(values) => {
            let nearest = ((c - low) / step) as usize;
            let from = nearest.saturating_sub(reach);
            sum(c, low + from as f64 * step, &values[from..(nearest + reach + 1).min(values.len())])
        }
        None => {
            let start = c - reach as f64 * step;
            let own: Vec<f64> = (0..=2 * reach).map(|k| line.at(start + k as f64 * step)).collect();
            sum(c, start, &own)
        }
    };
    centres.into_iter().map(one).unzip()
}

/// Moments of θ = offset + C z, straight from those of z.
fn linear_moments(prior: &Prior, mixture: &SignedMixture) -> (Vec<f64>, Points) {
    let dimension = prior.dimension();
    let (z_mean, z_covariance) = (mixture.mean(), mixture.covariance());
    let rows: Vec<(Vec<f64>, f64)> = (0..dimension)
        .map(|d| match prior.coordinate(d) {
            Coordinate::Linear { coefficients, offset } => (coefficients, offset),
            Coordinate::Monotone => (direction(&Coordinate::Monotone, d, dimension), 0.0),
        })
        .collect();
    let dot = crate::linalg::vector::dot;
    let mean = rows.iter().map(|(c, offset)| offset + dot(c, &z_mean)).collect();
    let mut covariance = Points::zeros(dimension, dimension);
    for d in 0..dimension {
        let carried: Vec<f64> = (0..dimension).map(|k| dot(&rows[d].0, &z_covariance.column(k))).collect();
        for e in 0..dimension {
            covariance.row_mut(d)[e] = dot(&carried, &rows[e].0);
        }
    }
    (mean, covariance)
}
