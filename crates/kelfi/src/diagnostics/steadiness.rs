//! How far would the answer move with more simulations? From fits to halves of those there are.
//!
//! If the posterior mean from m simulations varies between sets of simulations with variance V ∝ 1/m, then that from a random half differs
//! from that from all by V on average (the delete-half jackknife), and that from four times as many by ¾ V; ln of the width likewise. Halves
//! learn their own hyperparameters: much of what another set of simulations would change is these, above all with few of them. Now and then
//! one of them finds quite different ones, as twice as many simulations would not: the half that differs most is left out of the average.
//! The moments of a half are those of draws of the posterior, weighted by how much more likely the half makes each.

use crate::checks::{Check, Status};
use crate::model::Model;
use crate::posterior::Representation;
use crate::random::{Purpose, stream};
use crate::{Error, Points, Posterior};
use rand::RngExt;
use rayon::prelude::*;

/// Times the simulations are split in two.
const SPLITS: usize = 3;
/// Fewer simulations are not split.
const FEWEST: usize = 24;
/// Halves of more simulations keep the hyperparameters of all: six searches would take longer than the fit, and find nearly the same.
const MOST_LEARNED: usize = 600;
/// Draws of the posterior that halves are judged by.
const DRAWS: usize = 500;
/// V over the average of five halves of three splits, the one that differs most left out. The two halves of a split differ alike, by squares
/// of a normal variable, of which the largest of three is 2.1 times the mean: 5 / (6 - 2.1), less with more parameters.
const OF_FIVE: f64 = 1.25;
/// V(m) - V(4m), in V(m).
const FOUR_TIMES: f64 = 0.75;

/// Eight draws leave mean and ln width of the posterior uncertain by 0.35. In the adversary suite with 100 simulations in one round that speaks
/// beside ten of thirteen wrong fits that no other check mentions, and beside 1 % of right ones; with all six halves, beside 2 %.
const LEAST_EFFECTIVE: f64 = 8.0;
/// Means and ln widths that would move by less hardly change with more simulations.
const LITTLE: f64 = 0.2;

/// Where halves have their hyperparameters from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halves {
    /// The fit to all: the user gave some of them, or they are unknown.
    Keep,
    /// Their own search.
    Learn,
}

/// How far the posterior would move with four times as many simulations.
#[derive(Debug, Clone, PartialEq)]
pub struct Steadiness {
    /// Of the means: root mean square over parameters, in posterior standard deviations.
    pub movement: f64,
    /// Its standard error.
    pub error: f64,
    /// Of ln of the standard deviations: root mean square over parameters.
    pub stretch: f64,
}

impl Steadiness {
    /// `None` where there are too few simulations, or none of the halves has a posterior.
    pub fn new(posterior: &Posterior, model: &dyn Model, how: Halves, seed: u64) -> Result<Option<Self>, Error> {
        let count = model.question().recorded.theta().rows();
        if count < FEWEST {
            return Ok(None);
        }
        let z = draws(posterior, seed)?;
        let theta = posterior.prior().from_latent_points(&z);
        let whole = Moments::of(&theta, &vec![1.0; theta.rows()]);
        let ln_whole = posterior.surrogate().ln_relative_values(&z);
        let fitted = |half: &[usize]| match how {
            Halves::Learn if count <= MOST_LEARNED => model.learned_anew(half, seed),
            _ => model.of_part(half),
        };
        let of_half = |half: &Vec<usize>| -> Option<Compared> {
            let surrogate = fitted(half).ok()?;
            let ratios: Vec<f64> = surrogate.ln_relative_values(&z).iter().zip(&ln_whole).map(|(half, whole)| half - whole).collect();
            let largest = ratios.iter().copied().filter(|r| r.is_finite()).fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = ratios.iter().map(|r| if r.is_finite() { (r - largest).exp() } else { 0.0 }).collect();
            largest.is_finite().then(|| Moments::of(&theta, &weights).compared_with(&whole))
        };
        let halves: Vec<Vec<usize>> = (0..SPLITS).flat_map(|split| split_in_two(count, seed, split as u64)).collect();
        let found: Vec<Compared> = halves.par_iter().map(of_half).collect::<Vec<_>>().into_iter().flatten().collect();
        if found.is_empty() {
            return Ok(None);
        }
        let found = without_the_most_different(found);
        let moved = |of: fn(&Compared) -> f64| (FOUR_TIMES * OF_FIVE * found.iter().map(of).sum::<f64>() / found.len() as f64).sqrt();
        let movement = moved(|c| c.squared_shift);
        // A split has about one degree of freedom: of a root of a mean of k squares the standard error is 1/√(2k) of it.
        let error = movement / (2.0 * SPLITS as f64).sqrt();
        Ok(Some(Self { movement, error, stretch: moved(|c| c.squared_ln_width) }))
    }

    /// In a sentence, the same wherever it is said.
    pub fn statement(&self) -> String {
        format!(
            "with four times as many simulations the posterior means would change by about {:.2} ± {:.2} posterior standard deviations, and the standard deviations by a factor of about {:.2}",
            self.movement,
            self.error,
            self.stretch.exp()
        )
    }

    /// Independent draws of the posterior that tell mean and ln width as well as these simulations do: 1/V.
    pub fn effective(&self) -> f64 {
        FOUR_TIMES / (self.movement.powi(2) + self.stretch.powi(2)).max(1e-12)
    }
}

/// How many independent draws of the posterior would tell its means and widths as well as the simulations do; `carried_by` is
/// (Σκ)²/Σκ², how many simulations carry the answer of the kernel means model.
pub fn effective_simulations(steadiness: Option<&Steadiness>, carried_by: Option<f64>, simulations: usize) -> Check {
    let mut said = vec![];
    said.extend(carried_by.map(|effective| format!("the result depends on only about {effective:.1} of {simulations} simulations")));
    said.push(
        steadiness.map_or(
            "there are too few simulations to tell how much the result would change with more of them".into(),
            Steadiness::statement,
        ),
    );
    let effective = steadiness.map_or(0.0, Steadiness::effective);
    let status = match carried_by {
        Some(effective) if effective < 2.0 => Status::Fail,
        _ if effective < LEAST_EFFECTIVE => Status::Warn,
        _ => Status::Ok,
    };
    let remark = match (status, steadiness) {
        (Status::Ok, Some(steady)) if steady.movement.max(steady.stretch) < LITTLE => "more simulations would change little",
        (Status::Ok, _) => "more simulations would make them more precise",
        _ => "they are not stable yet",
    };
    let message = format!("{}; {remark}", said.join("; "));
    Check::new("effective_simulations", status, effective, LEAST_EFFECTIVE, message)
}

/// Draws in z coordinates.
fn draws(posterior: &Posterior, seed: u64) -> Result<Points, Error> {
    if let Representation::Chained(chained) = posterior.form() {
        let all = chained.draws().z();
        return Ok(all.select(&(0..all.rows()).step_by((all.rows() / DRAWS).max(1)).collect::<Vec<_>>()));
    }
    posterior.prior().to_latent_points(&crate::samples::independent(posterior, DRAWS, seed)?.samples)
}

/// The two halves of a random order.
fn split_in_two(count: usize, seed: u64, split: u64) -> [Vec<usize>; 2] {
    let mut rng = stream(seed, Purpose::Parts, split);
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let mut halves = [order[..count / 2].to_vec(), order[count / 2..].to_vec()];
    halves.iter_mut().for_each(|half| half.sort_unstable());
    halves
}

/// Mean and variance of every parameter.
struct Moments {
    means: Vec<f64>,
    variances: Vec<f64>,
}

/// A half beside the whole, on average over parameters: squared shift in posterior variances, squared ln of the ratio of standard deviations.
struct Compared {
    squared_shift: f64,
    squared_ln_width: f64,
}

/// All but one, where there are several.
fn without_the_most_different(mut found: Vec<Compared>) -> Vec<Compared> {
    found.sort_by(|a, b| a.total().total_cmp(&b.total()));
    if found.len() > 1 {
        found.pop();
    }
    found
}

/// Weights on one draw leave no width; a hundredth of the posterior's is as narrow as counts.
const NARROWEST: f64 = 1e-4;

impl Compared {
    fn total(&self) -> f64 {
        self.squared_shift + self.squared_ln_width
    }
}

impl Moments {
    fn of(theta: &Points, weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let expectation = |f: &dyn Fn(&[f64]) -> f64| theta.iter().zip(weights).map(|(theta, w)| w / total * f(theta)).sum::<f64>();
        let means: Vec<f64> = (0..theta.columns()).map(|d| expectation(&|theta| theta[d])).collect();
        let variances = (0..theta.columns()).map(|d| expectation(&|theta| (theta[d] - means[d]).powi(2))).collect();
        Self { means, variances }
    }

    fn compared_with(&self, whole: &Self) -> Compared {
        let count = self.means.len() as f64;
        let shift = |d: usize| (self.means[d] - whole.means[d]).powi(2) / whole.variances[d].max(f64::MIN_POSITIVE);
        let ln_ratio = |d: usize| 0.5 * (self.variances[d] / whole.variances[d].max(f64::MIN_POSITIVE)).max(NARROWEST).ln();
        Compared {
            squared_shift: (0..self.means.len()).map(shift).sum::<f64>() / count,
            squared_ln_width: (0..self.means.len()).map(|d| ln_ratio(d).powi(2)).sum::<f64>() / count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_that_differs_most_in_mean_and_width_together_is_left_out() {
        let half = |squared_shift: f64, squared_ln_width: f64| Compared { squared_shift, squared_ln_width };
        let kept = |found: Vec<Compared>| without_the_most_different(found).iter().map(Compared::total).collect::<Vec<_>>();
        assert_eq!(kept(vec![half(0.5, 0.0), half(0.25, 2.0), half(0.125, 0.0)]), [0.125, 0.5]);
        assert_eq!(kept(vec![half(0.5, 0.0)]), [0.5]);
    }
}
