//! Gaussian process accelerated ABC (Wilkinson, AISTATS 2014): a process on the log likelihood; waves of simulations that rule out where it
//! is implausibly low; then a chain on what is left.

use super::gaussian_process::{GaussianProcess, learn};
use crate::chains::path::{Path, accept, go_on, ln_prior};
use crate::chains::pilot::{Pilot, Steps};
use crate::chains::synthetic::{Moments, require_settings};
use crate::yardstick::Units;
use kelfi::kernel::Family;
use kelfi::method::{Answer, Method, Task};
use kelfi::random::{Purpose, stream};
use kelfi::words::counted;
use kelfi::{Error, Points};

/// Steps of the chain at the end; none costs a call.
const CHAIN: usize = 5_000;
/// Prior draws looked at for each point of a wave.
const TRIED: usize = 200;
/// Log likelihoods this far below the best are cut off: what lies below does not matter, and would bend the process.
const DEPTH: f64 = 30.0;

/// Waves of a process on the log likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpaAbc {
    /// Waves, of equally many calls.
    pub waves: usize,
    /// S, calls for each estimate of the log likelihood.
    pub repeats: usize,
    /// ε, added to every variance as ε².
    pub tolerance: f64,
    /// z is implausible where mean + 3 sd of the process lies so far below the highest mean, in nats.
    pub implausible: f64,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for GpaAbc {
    /// Four waves, five calls for each synthetic likelihood, ten nats.
    fn default() -> Self {
        Self { waves: 4, repeats: 5, tolerance: 0.1, implausible: 10.0, units: Units::default() }
    }
}

impl Method for GpaAbc {
    fn name(&self) -> &'static str {
        "gpa-abc"
    }

    fn description(&self) -> &'static str {
        "a Gaussian process on the log synthetic likelihood, in waves that rule out the implausible (GPA-ABC; Wilkinson 2014)"
    }

    fn reference(&self) -> &'static str {
        "Wilkinson, AISTATS 2014"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        require_settings(self.repeats, self.tolerance)?;
        Error::require_positive("nats below which z is implausible", self.implausible)?;
        if self.waves == 0 {
            return Err(Error::invalid("number of waves", 0.0, "it must be at least 1"));
        }
        let pilot = Pilot::new(task, self.units)?;
        let each = task.calls.left() / self.repeats / self.waves;
        if each == 0 {
            return Err(Error::TooFew {
                what: "a Gaussian process in waves".into(),
                reason: format!(
                    "{} of {} calls each do not fit into the {} that the pilot leaves; allow at least {} calls",
                    counted(self.waves as u64, "wave"),
                    self.repeats,
                    task.calls.left(),
                    2 * self.waves * self.repeats
                ),
            });
        }
        let (mut z, mut values): (Vec<Vec<f64>>, Vec<f64>) = (vec![], vec![]);
        let mut process = None;
        for wave in 0..self.waves {
            go_on(task)?;
            let design = self.design(task, &pilot, process.as_ref(), each, wave as u64)?;
            let estimates = self.estimates(task, &pilot, &design)?;
            z.extend(design.iter().map(<[f64]>::to_vec));
            values.extend(estimates);
            process = Some(fit(&z, &values)?);
        }
        match process {
            Some(process) => chain(task, &pilot, &process, &z, &values),
            None => Path::new(pilot.start()).answer(task),
        }
    }
}

impl GpaAbc {
    /// Draws of the prior that are not implausible, the pilot's nearest first; in later waves the plausible ones furthest up.
    fn design(&self, task: &Task<'_>, pilot: &Pilot, process: Option<&GaussianProcess>, count: usize, wave: u64) -> Result<Points, Error> {
        let Some(process) = process else {
            let nearest: Vec<usize> = (0..count).map(|i| i % pilot.z.rows()).collect();
            return Ok(pilot.z.select(&nearest));
        };
        let drawn = task.prior.latent().draws(TRIED * count, task.seed.wrapping_add(wave), Purpose::Candidates);
        let near = task.prior.latent().draws(pilot.z.rows(), task.seed.wrapping_add(wave), Purpose::Search);
        // Half of the candidates lie around the pilot's nearest: a narrow posterior is seldom hit by the prior.
        let spread = 0.3;
        let moved =
            pilot.z.iter().zip(near.iter()).map(|(z, noise)| z.iter().zip(noise).map(|(z, e)| z + spread * e).collect::<Vec<f64>>());
        let rows: Vec<Vec<f64>> = moved.chain(drawn.iter().map(<[f64]>::to_vec)).collect();
        let candidates = Points::from_rows(&rows)?;
        let (means, variances) = process.predict(&candidates);
        let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let upper = |i: usize| means[i] + 3.0 * variances[i].sqrt();
        let mut order: Vec<usize> = (0..rows.len()).filter(|&i| upper(i) > best - self.implausible).collect();
        if order.len() < count {
            order = (0..rows.len()).collect();
            order.sort_by(|&i, &j| upper(j).total_cmp(&upper(i)).then(i.cmp(&j)));
        }
        // Evenly over the plausible ones, which are in random order already.
        let step = order.len().div_ceil(count).max(1);
        let chosen: Vec<usize> = (0..count).map(|k| order[(k * step) % order.len()]).collect();
        Ok(candidates.select(&chosen))
    }

    /// ln of the synthetic likelihood at each z.
    fn estimates(&self, task: &Task<'_>, pilot: &Pilot, design: &Points) -> Result<Vec<f64>, Error> {
        let repeated: Vec<usize> = (0..design.rows()).flat_map(|i| std::iter::repeat_n(i, self.repeats)).collect();
        let x = task.calls.at(&task.prior.from_latent_points(&design.select(&repeated)))?;
        let of_one = |i: usize| {
            let rows: Vec<usize> = (i * self.repeats..(i + 1) * self.repeats).collect();
            Moments::new(&pilot.yardstick, &x.select(&rows), self.tolerance).ln_density_at_zero(None)
        };
        Ok((0..design.rows()).map(of_one).collect())
    }
}

/// Values cut off far below the best.
fn shallow(values: &[f64]) -> Vec<f64> {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().map(|v| v.max(best - DEPTH)).collect()
}

fn fit(z: &[Vec<f64>], values: &[f64]) -> Result<GaussianProcess, Error> {
    let points = Points::from_rows(z)?;
    let values = shallow(values);
    if values.iter().any(|v| !v.is_finite()) {
        return Err(Error::AllFailed { count: values.len() });
    }
    GaussianProcess::new(&points, &values, learn(&points, &values, Family::Gaussian)?)
}

/// A chain on the process's mean; where it knows nothing it counts as cut off.
fn chain(task: &Task<'_>, pilot: &Pilot, process: &GaussianProcess, z: &[Vec<f64>], values: &[f64]) -> Result<Answer, Error> {
    let mut walk = pilot.steps(Steps::FromPilot)?;
    let floor = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - DEPTH;
    let ln = |z: &[f64]| -> Result<f64, Error> {
        let (means, variances) = process.predict(&Points::from_rows(&[z])?);
        let unknown = variances[0] > 0.9 * process.hyperparameters().amplitude;
        Ok(ln_prior(task, z)? + if unknown { floor } else { means[0] })
    };
    let best = (0..z.len()).max_by(|&i, &j| values[i].total_cmp(&values[j]).then(j.cmp(&i))).unwrap_or(0);
    let mut path = Path::new(z[best].clone());
    let mut here = ln(path.here())?;
    for index in 0..CHAIN {
        if index % 100 == 0 {
            go_on(task)?;
        }
        let mut rng = stream(task.seed, Purpose::Chains, index as u64);
        let to = walk.step(path.here(), &mut rng);
        let there = ln(&to)?;
        let accepted = accept(there, here, &mut rng);
        walk.adapt(accepted);
        if accepted {
            here = there;
        }
        path.step(accepted.then_some(to));
    }
    path.answer(task)
}
