//! The conformance kit of priors.

use crate::prior::uniform::uniform;
use crate::prior::{Coordinate, LatentPrior};
use crate::random::{Purpose, stream};
use crate::{Points, Prior};

/// Draws compared with densities and transforms.
const DRAWS: usize = 4000;
/// A share of `DRAWS` may be this many standard errors off; one failure in 10¹⁰ for a prior that is right.
const STANDARD_ERRORS: f64 = 6.5;
/// Error allowed in z after z → θ → z, at |z| ≤ 4 where θ can hold it.
const ROUND_TRIP: f64 = 1e-6;

/// Whether `prior` keeps the promises the rest of the library relies on; the message says which one it breaks and where.
///
/// It checks that names are there and differ; that draws are finite, repeatable and have finite density; that θ → z → θ is
/// the identity and z follows the latent prior; that the density is that of the draws and normalised; that each parameter
/// depends on z as it says; and that the saved form gives the same prior.
///
/// ```
/// use kelfi::prior::{Marginal, Prior};
/// let prior = Prior::independent(vec![("rate".into(), Marginal::LogUniform { low: 0.01, high: 10.0 })])?;
/// kelfi::testing::check_prior(&prior).expect("a sound prior");
/// # Ok::<(), kelfi::Error>(())
/// ```
pub fn check_prior(prior: &Prior) -> Result<(), String> {
    check_names(prior)?;
    let theta = check_draws(prior)?;
    let z = check_transform(prior, &theta)?;
    check_latent_prior(prior, &z)?;
    check_density(prior, &theta, &z)?;
    check_coordinates(prior, &z)?;
    check_saved_form(prior)
}

/// Names exist and differ.
fn check_names(prior: &Prior) -> Result<(), String> {
    let names = prior.names();
    let repeated = (0..names.len()).find(|&d| names[..d].contains(&names[d]) || names[d].trim().is_empty());
    match repeated {
        _ if names.is_empty() => Err("the prior has no parameter".into()),
        Some(d) => Err(format!("the name of parameter {d}, '{}', is empty or repeats an earlier one", names[d])),
        None => Ok(()),
    }
}

/// Draws are finite, depend on (seed, index) only and have finite density.
fn check_draws(prior: &Prior) -> Result<Points, String> {
    let theta = prior.draw(DRAWS, 1);
    theta.require_finite("the table of draws").map_err(|error| error.to_string())?;
    if prior.draw(10, 1).iter().ne(theta.iter().take(10)) {
        return Err("the first 10 draws change with the number of draws asked for".into());
    }
    for (j, row) in theta.iter().enumerate() {
        match prior.ln_density(row) {
            Ok(value) if !value.is_finite() => return Err(format!("draw {j}, {row:?}, has ln density {value}")),
            Err(error) if !matches!(prior, Prior::Samples(_)) => return Err(format!("draw {j}, {row:?}, has no density: {error}")),
            _ => {}
        }
    }
    Ok(theta)
}

/// θ → z succeeds for every draw, and z → θ → z is the identity.
fn check_transform(prior: &Prior, theta: &Points) -> Result<Points, String> {
    let z = prior.to_latent_points(theta).map_err(|error| error.to_string())?;
    for (j, row) in z.iter().enumerate() {
        let again = prior.to_latent(&prior.from_latent(row)).map_err(|error| error.to_string())?;
        for d in 0..row.len() {
            // Beyond |z| = 4 rounding of θ may be what is seen.
            if row[d].abs() < 4.0 && (again[d] - row[d]).abs() > ROUND_TRIP {
                return Err(format!("draw {j}: z → θ → z takes z[{d}] = {} to {}", row[d], again[d]));
            }
        }
    }
    Ok(z)
}

/// z of draws and draws of the latent prior fall equally often below common thresholds.
fn check_latent_prior(prior: &Prior, z: &Points) -> Result<(), String> {
    let latent = prior.latent();
    if latent.dimension() != prior.dimension() {
        return Err(format!("the latent prior has {} coordinates, the prior {}", latent.dimension(), prior.dimension()));
    }
    let twin = latent.draws(DRAWS, 2, Purpose::Experiment);
    // The draws that stand for a custom prior are themselves random: their own error is added.
    let effective = match &latent {
        LatentPrior::Draws(points) if matches!(prior, Prior::Custom(_)) => 1.0 / (2.0 / DRAWS as f64 + 1.0 / points.rows() as f64),
        _ => 0.5 * DRAWS as f64,
    };
    for d in 0..prior.dimension() {
        for threshold in [-1.5, -0.5, 0.0, 0.5, 1.5] {
            let share = |points: &Points| points.iter().filter(|row| row[d] <= threshold).count() as f64 / DRAWS as f64;
            let (ours, theirs) = (share(z), share(&twin));
            let p = 0.5 * (ours + theirs);
            if (ours - theirs).abs() > STANDARD_ERRORS * (p * (1.0 - p) / effective).sqrt() {
                return Err(format!("P(z[{d}] ≤ {threshold}) is {ours} by draws of θ and {theirs} by draws of the latent prior"));
            }
        }
    }
    Ok(())
}

/// The density is that of the draws, normalised: pointwise where z has a density, otherwise by the mass of a box.
fn check_density(prior: &Prior, theta: &Points, z: &Points) -> Result<(), String> {
    match prior {
        Prior::Samples(_) => Ok(()),
        Prior::Custom(_) => check_box(prior, theta),
        _ => z.iter().take(500).try_for_each(|row| check_change_of_variables(prior, row)),
    }
}

/// p(z) = p(θ) |det dθ/dz|. θ_d depends on z_1 … z_d only, so the determinant is the product of dθ_d/dz_d, by differences.
fn check_change_of_variables(prior: &Prior, z: &[f64]) -> Result<(), String> {
    const STEP: f64 = 1e-4;
    const TOLERANCE: f64 = 1e-3;
    let theta = prior.from_latent(z);
    let mut ln_volume = 0.0;
    for d in 0..z.len() {
        let (mut left, mut right) = (z.to_vec(), z.to_vec());
        left[d] -= STEP;
        right[d] += STEP;
        let change = prior.from_latent(&right)[d] - prior.from_latent(&left)[d];
        // Too close to an end of the support for θ to show its slope.
        if change <= 1e-11 * theta[d].abs() {
            return Ok(());
        }
        ln_volume += (change / (2.0 * STEP)).ln();
    }
    let ours = prior.ln_density(&theta).map_err(|error| error.to_string())? + ln_volume;
    match prior.latent().ln_density(z) {
        Some(latent) if (ours - latent).abs() > TOLERANCE * z.len() as f64 => {
            Err(format!("at θ = {theta:?} the density gives ln p(z) = {ours}, the latent prior {latent}"))
        }
        _ => Ok(()),
    }
}

/// ∫ p over a box that holds about half the draws, by uniform points, against the share of draws inside.
fn check_box(prior: &Prior, theta: &Points) -> Result<(), String> {
    const POINTS: usize = 20_000;
    let sides = middle_box(theta);
    let volume: f64 = sides.iter().map(|(low, high)| high - low).product();
    let mut masses = Vec::with_capacity(POINTS);
    for j in 0..POINTS {
        let mut rng = stream(3, Purpose::Experiment, j as u64);
        let point: Vec<f64> = sides.iter().map(|(low, high)| low + (high - low) * uniform(&mut rng)).collect();
        let ln_density = prior.ln_density(&point).map_err(|error| error.to_string())?;
        if ln_density.is_nan() {
            return Err(format!("ln density is NaN at θ = {point:?}"));
        }
        masses.push(volume * ln_density.exp());
    }
    let mass = masses.iter().sum::<f64>() / POINTS as f64;
    let variance = masses.iter().map(|value| (value - mass).powi(2)).sum::<f64>() / POINTS as f64;
    let inside = |row: &[f64]| row.iter().zip(&sides).all(|(value, (low, high))| value > low && value < high);
    let share = theta.iter().filter(|row| inside(row)).count() as f64 / DRAWS as f64;
    let error = (variance / POINTS as f64 + share * (1.0 - share) / DRAWS as f64).sqrt();
    if (mass - share).abs() > STANDARD_ERRORS * error {
        return Err(format!("the density gives the box {sides:?} the mass {mass}, but {share} of the draws fall inside"));
    }
    Ok(())
}

/// Per coordinate the central quantiles that together hold about half the draws.
fn middle_box(theta: &Points) -> Vec<(f64, f64)> {
    let tail = 0.5 * (1.0 - 0.5_f64.powf(1.0 / theta.columns() as f64));
    let of_coordinate = |d: usize| {
        let mut column = theta.column(d);
        column.sort_by(f64::total_cmp);
        let cut = (tail * column.len() as f64) as usize;
        (column[cut], column[column.len() - 1 - cut])
    };
    (0..theta.columns()).map(of_coordinate).collect()
}

/// Each θ_d depends on z as [`Prior::coordinate`] says.
fn check_coordinates(prior: &Prior, z: &Points) -> Result<(), String> {
    let theta = |row: &[f64]| prior.from_latent(row);
    for (j, row) in z.iter().take(50).enumerate() {
        for d in 0..prior.dimension() {
            let mut moved = row.to_vec();
            moved[d] += 0.25;
            let sound = match prior.coordinate(d) {
                Coordinate::Monotone => {
                    (0..row.len()).all(|e| if e == d { theta(&moved)[e] >= theta(row)[e] } else { theta(&moved)[e] == theta(row)[e] })
                }
                Coordinate::Linear { coefficients, offset } => {
                    let terms: Vec<f64> = coefficients.iter().zip(row).map(|(c, z)| c * z).collect();
                    let scale = offset.abs() + terms.iter().map(|term| term.abs()).sum::<f64>();
                    (theta(row)[d] - offset - terms.iter().sum::<f64>()).abs() <= 1e-12 * scale
                }
            };
            if !sound {
                return Err(format!("draw {j}: parameter {} does not depend on z as coordinate({d}) says", prior.names()[d]));
            }
        }
    }
    Ok(())
}

/// What is written and read again gives the same coordinates.
fn check_saved_form(prior: &Prior) -> Result<(), String> {
    let written = serde_json::to_string(prior).map_err(|error| format!("the prior cannot be saved: {error}"))?;
    let read: Prior = serde_json::from_str(&written).map_err(|error| format!("the saved prior cannot be read: {error}"))?;
    let z = vec![0.7; prior.dimension()];
    if read.names() == prior.names() && read.from_latent(&z) == prior.from_latent(&z) {
        Ok(())
    } else {
        Err("the prior changes when it is saved and loaded".into())
    }
}
