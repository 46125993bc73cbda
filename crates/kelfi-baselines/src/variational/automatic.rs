//! Automatic variational ABC (Moreno et al., 2016): the gradient goes through the simulator, with common random numbers. Where simulators
//! cannot be differentiated by their code, differences of simulations with the same random numbers take the place of derivatives.

use super::family::{Average, GaussianFamily};
use crate::chains::mcmc_abc::Tolerance;
use crate::chains::path::go_on;
use crate::chains::pilot::Pilot;
use crate::neural::adam::Adam;
use crate::yardstick::{Units, squared_length};
use kelfi::method::{Answer, Method, Task};
use kelfi::{Error, Points};

/// Draws of q for one gradient.
const DRAWS: usize = 5;
const RATE: f64 = 0.1;
/// Half the distance between two simulations of a difference, in prior standard deviations: small beside a posterior, large beside steps of
/// discrete statistics.
const APART: f64 = 0.05;
/// Slopes longer than this are shortened to it.
const STEEPEST: f64 = 50.0;

/// Variational Bayes with gradients through the simulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutomaticVariational {
    /// ε.
    pub tolerance: Tolerance,
    /// Units of the statistics.
    pub units: Units,
}

impl Default for AutomaticVariational {
    /// The tolerance within which a twentieth of the pilot lies.
    fn default() -> Self {
        Self { tolerance: Tolerance::Share(0.05), units: Units::Spread }
    }
}

impl Method for AutomaticVariational {
    fn name(&self) -> &'static str {
        "av-abc"
    }

    fn description(&self) -> &'static str {
        "variational Gaussian with gradients through the simulator, by common random numbers (AV-ABC; Moreno et al. 2016)"
    }

    fn reference(&self) -> &'static str {
        "Moreno et al., arXiv:1606.08549, 2016"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let pilot = Pilot::new(task, self.units)?;
        let epsilon = self.tolerance.of(&pilot)?;
        let dimension = pilot.z.columns();
        let steps = task.calls.left() / (DRAWS * 2 * dimension);
        let mut q = GaussianFamily::around(task, &pilot)?;
        let mut adam = Adam::new(q.parameters.len(), RATE);
        let mut average = Average::new(&q);
        for step in 0..steps {
            go_on(task)?;
            let (noise, z) = q.draws(DRAWS, task.seed, step as u64);
            let slopes: Vec<Vec<f64>> = z.iter().map(|z| slope(task, &pilot, z, epsilon)).collect::<Result<_, Error>>()?;
            let gain = q.from_slopes(&noise, &slopes);
            let loss: Vec<f64> = q.divergence_gradient().iter().zip(&gain).map(|(kl, gain)| kl - gain).collect();
            adam.step(&mut q.parameters, &loss);
            if 2 * step >= steps {
                average.add(&q);
            }
        }
        average.or(q).answer(task)
    }
}

/// ∇_z of −½ |x(z, u) − y|²/ε² at one u, by central differences: 2D calls. Zero along coordinates in which a call failed.
fn slope(task: &Task<'_>, pilot: &Pilot, z: &[f64], epsilon: f64) -> Result<Vec<f64>, Error> {
    let moved = |d: usize, by: f64| {
        let mut z = z.to_vec();
        z[d] += by;
        z
    };
    let rows: Vec<Vec<f64>> = (0..z.len()).flat_map(|d| [moved(d, APART), moved(d, -APART)]).collect();
    let x = task.calls.with_common_numbers(&task.prior.from_latent_points(&Points::from_rows(&rows)?))?;
    let differences = pilot.yardstick.differences(&x);
    let value = |row: usize| -0.5 * squared_length(differences.row(row)) / (epsilon * epsilon);
    let mut slope: Vec<f64> = (0..z.len()).map(|d| (value(2 * d) - value(2 * d + 1)) / (2.0 * APART)).collect();
    slope.iter_mut().filter(|s| !s.is_finite()).for_each(|s| *s = 0.0);
    let length = squared_length(&slope).sqrt();
    if length > STEEPEST {
        slope.iter_mut().for_each(|s| *s *= STEEPEST / length);
    }
    Ok(slope)
}
