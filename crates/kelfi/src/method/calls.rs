//! The simulator with a budget: a method gets so many calls and not one more.

use crate::random::{Purpose, stream};
use crate::{Error, Points, Prior, Simulations};
use rand::Rng;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One call: parameters to statistics; `None` if it failed.
pub type Simulator<'a> = dyn Fn(&[f64], &mut dyn Rng) -> Option<Vec<f64>> + Sync + 'a;

/// Simulations at draws of the prior, made when first asked for and handed to every method that asks.
pub struct PriorSimulations<'a> {
    prior: &'a Prior,
    simulator: &'a Simulator<'a>,
    statistics: usize,
    seed: u64,
    /// Their parameters, where these are no draws of the prior by this seed.
    given: Option<Points>,
    made: Mutex<Vec<Vec<f64>>>,
}

impl<'a> PriorSimulations<'a> {
    /// None yet. Row j will depend on (seed, j) only, so fewer are the first of more.
    pub fn new(prior: &'a Prior, simulator: &'a Simulator<'a>, statistics: usize, seed: u64) -> Self {
        Self { prior, simulator, statistics, seed, given: None, made: Mutex::new(vec![]) }
    }

    /// These and no others: what is left of a table after one was taken out, say.
    pub fn of_table(prior: &'a Prior, simulator: &'a Simulator<'a>, simulations: &Simulations, seed: u64) -> Self {
        let made = simulations.outputs().iter().map(<[f64]>::to_vec).collect();
        let given = Some(simulations.theta().clone());
        Self { prior, simulator, statistics: simulations.statistics(), seed, given, made: Mutex::new(made) }
    }

    /// The first `count`: parameters, and statistics with a row of NaN for each call that failed.
    pub fn first(&self, count: usize) -> (Points, Points) {
        let theta = match &self.given {
            Some(theta) => theta.select(&(0..count.min(theta.rows())).collect::<Vec<_>>()),
            None => self.prior.draw(count, self.seed),
        };
        let count = theta.rows();
        // A call that panicked left whole rows behind, so what a poisoned lock guards is still sound.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() < count {
            let missing: Vec<usize> = (made.len()..count).collect();
            let x = call(self.simulator, &theta.select(&missing), self.statistics, self.seed, made.len());
            made.extend(x.iter().map(<[f64]>::to_vec));
        }
        let values: Vec<f64> = made[..count].concat();
        (theta, Points::new(values, count, self.statistics).expect("every row has a value for each statistic"))
    }
}

/// A budget of calls and what is left of it.
pub struct Calls<'a> {
    simulator: &'a Simulator<'a>,
    ready: &'a PriorSimulations<'a>,
    seed: u64,
    budget: usize,
    made: AtomicUsize,
    elsewhere: AtomicUsize,
    nanoseconds: AtomicU64,
}

impl<'a> Calls<'a> {
    /// A budget of `budget` calls. Calls at parameters of one's own take their randomness from `seed`.
    pub fn new(simulator: &'a Simulator<'a>, ready: &'a PriorSimulations<'a>, budget: usize, seed: u64) -> Result<Self, Error> {
        if budget == 0 {
            return Err(Error::invalid("budget", 0.0, "it must be at least 1"));
        }
        let (made, elsewhere, nanoseconds) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
        Ok(Self { simulator, ready, seed, budget, made, elsewhere, nanoseconds })
    }

    /// Calls allowed in all.
    pub fn budget(&self) -> usize {
        self.budget
    }

    /// Calls made so far.
    pub fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }

    /// Calls made at parameters of the method's own.
    pub fn made_elsewhere(&self) -> usize {
        self.elsewhere.load(Ordering::SeqCst)
    }

    /// Time spent simulating.
    pub fn simulating(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::SeqCst))
    }

    /// Calls that may still be made.
    pub fn left(&self) -> usize {
        self.budget - self.made()
    }

    /// The whole budget at once, at draws of the prior: the same simulations for every method.
    pub fn all_from_prior(&self) -> Result<Simulations, Error> {
        self.from_prior(self.budget)
    }

    /// The first `count` simulations at draws of the prior.
    pub fn from_prior(&self, count: usize) -> Result<Simulations, Error> {
        self.spend(count)?;
        let (theta, x) = self.timed(|| self.ready.first(count));
        Simulations::new(theta, x)
    }

    /// A call at each row of `theta`: statistics, with a row of NaN for each that failed.
    pub fn at(&self, theta: &Points) -> Result<Points, Error> {
        let before = self.spend(theta.rows())?;
        self.elsewhere.fetch_add(theta.rows(), Ordering::SeqCst);
        Ok(self.timed(|| call(self.simulator, theta, self.ready.statistics, self.seed, before)))
    }

    /// A call at each row of `theta`, all with the random numbers of one stream: differences between rows are those of θ alone.
    pub fn with_common_numbers(&self, theta: &Points) -> Result<Points, Error> {
        let before = self.spend(theta.rows())?;
        self.elsewhere.fetch_add(theta.rows(), Ordering::SeqCst);
        let rows: Vec<usize> = vec![before; theta.rows()];
        Ok(self.timed(|| call_with(self.simulator, theta, self.ready.statistics, self.seed, &rows)))
    }

    fn timed<T>(&self, simulate: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let simulated = simulate();
        self.nanoseconds.fetch_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::SeqCst);
        simulated
    }

    /// Takes `count` calls from the budget; the number of calls made before.
    fn spend(&self, count: usize) -> Result<usize, Error> {
        let affordable = |made: usize| made.checked_add(count).filter(|&after| after <= self.budget);
        self.made.fetch_update(Ordering::SeqCst, Ordering::SeqCst, affordable).map_err(|made| {
            let requirement = format!("{made} of {} calls have been made; request no more than the rest", self.budget);
            Error::invalid("number of calls", count as f64, requirement)
        })
    }
}

/// Row j takes the stream of (seed, first + j): the same bits for any number of threads.
fn call(simulator: &Simulator<'_>, theta: &Points, statistics: usize, seed: u64, first: usize) -> Points {
    let streams: Vec<usize> = (first..first + theta.rows()).collect();
    call_with(simulator, theta, statistics, seed, &streams)
}

/// Row j takes the stream of (seed, streams_j).
fn call_with(simulator: &Simulator<'_>, theta: &Points, statistics: usize, seed: u64, streams: &[usize]) -> Points {
    let one = |row: usize| simulator(theta.row(row), &mut stream(seed, Purpose::Simulator, streams[row] as u64));
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
        let ready = PriorSimulations::new(&prior, &noisy, 1, 3);
        let calls = Calls::new(&noisy, &ready, 30, 3).unwrap();
        assert_eq!(calls.from_prior(20).unwrap().len(), 20);
        let (theta, x) = ready.first(50);
        let (fewer, as_before) = PriorSimulations::new(&prior, &noisy, 1, 3).first(20);
        assert_eq!(fewer.values(), &theta.values()[..20]);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(as_before.values()), bits(&x.values()[..20]));
        // The calls that follow are those the table would have had next.
        let next = calls.at(&theta.select(&[20, 21])).unwrap();
        assert_eq!(bits(next.values()), bits(&x.values()[20..22]));
        assert!(calls.at(&prior.draw(9, 1)).unwrap_err().to_string().contains("22 of 30"));
        assert_eq!(calls.made(), 22, "what was refused was not made");
        assert!(calls.at(&prior.draw(8, 1)).is_ok() && calls.at(&prior.draw(1, 1)).is_err());
        assert_eq!((calls.left(), calls.made_elsewhere()), (0, 10));
        assert!(Calls::new(&noisy, &ready, 0, 3).is_err());
    }

    #[test]
    fn calls_with_common_numbers_differ_by_their_parameters_alone() {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let ready = PriorSimulations::new(&prior, &noisy, 1, 3);
        let calls = Calls::new(&noisy, &ready, 4, 3).unwrap();
        let x = calls.with_common_numbers(&Points::from_column(vec![0.0, 1.0])).unwrap();
        assert!((x.row(1)[0] - x.row(0)[0] - 1.0).abs() < 1e-12);
        assert_eq!(calls.made(), 2);
    }
}
