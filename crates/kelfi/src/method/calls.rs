//! The simulator with a budget: a method gets so many calls and not one more.

use crate::random::{Purpose, stream};
use crate::{Error, Points, Prior, Simulations};
use rand::Rng;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One call: parameters to statistics; `None` if it failed.
pub type Simulator<'a> = dyn Fn(&[f64], &mut dyn Rng) -> Option<Vec<f64>> + Sync + 'a;

/// Simulations at draws of the prior, made once and handed to every method that asks for some.
#[derive(Debug, Clone)]
pub struct PriorSimulations {
    /// Parameters, one call a row.
    pub theta: Points,
    /// Statistics; a failed call is a row of NaN.
    pub x: Points,
}

impl PriorSimulations {
    /// `count` draws of the prior with a call at each. Row j depends on (seed, j) only, so fewer are the first of more.
    pub fn new(prior: &Prior, simulator: &Simulator<'_>, statistics: usize, count: usize, seed: u64) -> Self {
        let theta = prior.draw(count, seed);
        let x = call(simulator, &theta, statistics, seed, 0);
        Self { theta, x }
    }
}

/// A budget of calls and what is left of it.
pub struct Calls<'a> {
    simulator: &'a Simulator<'a>,
    ready: &'a PriorSimulations,
    seed: u64,
    budget: usize,
    made: AtomicUsize,
}

impl<'a> Calls<'a> {
    /// A budget of `budget` calls; at least so many simulations must be `ready`. Further calls take their randomness from `seed`.
    pub fn new(simulator: &'a Simulator<'a>, ready: &'a PriorSimulations, budget: usize, seed: u64) -> Result<Self, Error> {
        if budget == 0 || budget > ready.theta.rows() {
            let requirement = format!("it must lie between 1 and the {} simulations made ready", ready.theta.rows());
            return Err(Error::invalid("budget", budget as f64, requirement));
        }
        Ok(Self { simulator, ready, seed, budget, made: AtomicUsize::new(0) })
    }

    /// Calls allowed in all.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Calls made so far.
    pub fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    /// The whole budget at once, at draws of the prior: the same simulations for every method.
    pub fn all_from_prior(&self) -> Result<Simulations, Error> {
        self.from_prior(self.budget)
    }

    /// The first `count` simulations at draws of the prior.
    pub fn from_prior(&self, count: usize) -> Result<Simulations, Error> {
        self.spend(count)?;
        let first: Vec<usize> = (0..count).collect();
        Simulations::new(self.ready.theta.select(&first), self.ready.x.select(&first))
    }

    /// A call at each row of `theta`: statistics, with a row of NaN for each that failed.
    pub fn at(&self, theta: &Points) -> Result<Points, Error> {
        let before = self.spend(theta.rows())?;
        Ok(call(self.simulator, theta, self.ready.x.columns(), self.seed, before))
    }

    /// Takes `count` calls from the budget; the number of calls made before.
    fn spend(&self, count: usize) -> Result<usize, Error> {
        let affordable = |made: usize| made.checked_add(count).filter(|&after| after <= self.budget);
        self.made.fetch_update(Ordering::SeqCst, Ordering::SeqCst, affordable).map_err(|made| {
            let requirement = format!("{made} of {} calls are made already; ask for no more than what is left", self.budget);
            Error::invalid("number of calls", count as f64, requirement)
        })
    }
}

/// Row j takes the stream of (seed, first + j): the same bits for any number of threads.
fn call(simulator: &Simulator<'_>, theta: &Points, statistics: usize, seed: u64, first: usize) -> Points {
    let one = |row: usize| simulator(theta.row(row), &mut stream(seed, Purpose::Simulator, (first + row) as u64));
    let outputs: Vec<Option<Vec<f64>>> = (0..theta.rows()).into_par_iter().map(one).collect();
    let mut x = Points::zeros(theta.rows(), statistics);
    for (row, output) in outputs.into_iter().enumerate() {
        match output {
            Some(values) if values.len() == statistics => x.row_mut(row).copy_from_slice(&values),
            _ => x.row_mut(row).fill(f64::NAN),
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marginal;
    use rand::RngExt;

    fn noisy(theta: &[f64], rng: &mut dyn Rng) -> Option<Vec<f64>> {
        (theta[0] > -1.0).then(|| vec![theta[0] + rng.random::<f64>()])
    }

    #[test]
    fn no_method_gets_more_calls_than_its_budget_and_fewer_are_the_first_of_more() {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let ready = PriorSimulations::new(&prior, &noisy, 1, 50, 3);
        let fewer = PriorSimulations::new(&prior, &noisy, 1, 20, 3);
        assert_eq!(fewer.theta.values(), &ready.theta.values()[..20]);
        let calls = Calls::new(&noisy, &ready, 30, 3).unwrap();
        assert_eq!(calls.from_prior(20).unwrap().len(), 20);
        // The calls that follow are those the table would have had next.
        let next = calls.at(&ready.theta.select(&[20, 21])).unwrap();
        assert_eq!(next.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>(), {
            ready.x.values()[20..22].iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        });
        assert!(calls.at(&prior.draw(9, 1)).unwrap_err().to_string().contains("22 of 30"));
        assert_eq!(calls.made(), 22, "what was refused was not made");
        assert!(calls.at(&prior.draw(8, 1)).is_ok() && calls.at(&prior.draw(1, 1)).is_err());
        assert!(Calls::new(&noisy, &ready, 0, 3).is_err() && Calls::new(&noisy, &ready, 51, 3).is_err());
    }
}
