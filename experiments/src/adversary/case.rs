//! A case of the suite: prior, simulator and likelihood, how the observation and the simulations come about, and what is known of the answer.

use anyhow::Result;
use kelfi::random::{Purpose, stream};
use kelfi::{Points, Prior, Recorded, Simulations};
use rand::Rng;
use std::sync::Arc;

/// One call: the statistics at θ. A value that is not finite makes it a failed simulation.
pub type Simulator = Box<dyn Fn(&[f64], &mut dyn Rng) -> Vec<f64> + Send + Sync>;
/// ln p(x | θ), or of the data behind sufficient statistics, up to a term free of θ; includes the chance that a call succeeds.
pub type LnLikelihood = Box<dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync>;
/// The parameters of m simulations, from m and a seed.
pub type Design = Box<dyn Fn(usize, u64) -> Points + Send + Sync>;

/// Where the observation comes from.
pub enum Observed {
    /// θ* from the prior, then a call at θ*: another one in each repeat.
    Drawn,
    /// The same, then changed by a mistake of the user.
    Altered(fn(&mut Vec<f64>)),
    /// This one in all repeats.
    Fixed(Vec<f64>),
}

/// What is known of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The posterior by the likelihood.
    Posterior,
    /// No noise at all: the posterior is the point that made the observation.
    Point,
    /// The model cannot have made the observation: every posterior is wrong, and a check has to say so.
    Nothing,
}

/// A problem of the suite.
pub struct Case {
    /// Name, as typed.
    pub name: &'static str,
    /// The family it belongs to; the registry knows.
    pub family: &'static str,
    /// One line on what is simulated.
    pub about: &'static str,
    /// Whether a user may expect it to work without a second thought.
    pub usual: bool,
    /// Prior over the parameters; N(0, I) in latent coordinates.
    pub prior: Prior,
    /// The simulator.
    pub simulate: Simulator,
    /// The likelihood.
    pub ln_likelihood: LnLikelihood,
    /// The observation.
    pub observed: Observed,
    /// Where simulations are made, if not at draws from the prior.
    pub design: Option<Design>,
    /// What is known.
    pub answer: Answer,
    /// Whether something is odd here that a check may rightly mention beside a right posterior.
    pub odd: bool,
}

impl Case {
    /// A case that a user may expect to work.
    pub fn usual(
        name: &'static str,
        about: &'static str,
        prior: Prior,
        simulate: impl Fn(&[f64], &mut dyn Rng) -> Vec<f64> + Send + Sync + 'static,
        ln_likelihood: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            family: "",
            about,
            usual: true,
            prior,
            simulate: Box::new(simulate),
            ln_likelihood: Box::new(ln_likelihood),
            observed: Observed::Drawn,
            design: None,
            answer: Answer::Posterior,
            odd: false,
        }
    }

    /// Not one of the usual ones.
    pub fn unusual(self) -> Self {
        Self { usual: false, ..self }
    }

    /// Not usual, and a check may rightly mention it.
    pub fn odd(self) -> Self {
        Self { odd: true, ..self.unusual() }
    }

    /// With this observation in every repeat.
    pub fn observing(self, y: &[f64]) -> Self {
        Self { observed: Observed::Fixed(y.to_vec()), ..self }
    }

    /// With an observation that no parameters can have made.
    pub fn spoiled(self, mistake: fn(&mut Vec<f64>)) -> Self {
        Self { observed: Observed::Altered(mistake), answer: Answer::Nothing, ..self.odd() }
    }

    /// With simulations at these parameters.
    pub fn designed(self, design: impl Fn(usize, u64) -> Points + Send + Sync + 'static) -> Self {
        Self { design: Some(Box::new(design)), ..self }
    }

    /// By another name, as another story.
    pub fn renamed(self, name: &'static str, about: &'static str) -> Self {
        Self { name, about, ..self }
    }

    /// θ* and y of a repeat; θ* is absent where y is fixed. A failed call is drawn again with its parameters.
    pub fn observation(&self, seed: u64) -> Result<(Option<Vec<f64>>, Vec<f64>)> {
        const ATTEMPTS: u64 = 1_000;
        if let Observed::Fixed(y) = &self.observed {
            return Ok((None, y.clone()));
        }
        for attempt in 0..ATTEMPTS {
            let mut rng = stream(seed, Purpose::Experiment, attempt);
            let theta = self.prior.draw_with(&mut rng);
            let mut y = (self.simulate)(&theta, &mut rng);
            if y.iter().all(|value| value.is_finite()) {
                if let Observed::Altered(mistake) = self.observed {
                    mistake(&mut y);
                }
                return Ok((Some(theta), y));
            }
        }
        anyhow::bail!("{}: {ATTEMPTS} calls failed", self.name)
    }

    /// `count` simulations.
    pub fn simulations(&self, count: usize, seed: u64) -> Result<Recorded, kelfi::Error> {
        let theta = self.design.as_ref().map_or_else(|| self.prior.draw(count, seed), |design| design(count, seed));
        self.simulated(theta, seed, 0)
    }

    /// Simulations at these parameters, the first of which is number `first` of a run.
    pub fn simulated(&self, theta: Points, seed: u64, first: usize) -> Result<Recorded, kelfi::Error> {
        let call = |(j, theta): (usize, &[f64])| (self.simulate)(theta, &mut stream(seed, Purpose::Simulator, (first + j) as u64));
        let x: Vec<Vec<f64>> = theta.iter().enumerate().map(call).collect();
        Ok(Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&x)?)?)))
    }
}
