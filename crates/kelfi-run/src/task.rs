//! One call of a simulator: what goes in, what comes out, and what every kind of simulator offers the runner.

pub use crate::seed::simulator_seed;
use crate::{Cancellation, Status};
use kelfi::Outputs;
use kelfi::words::counted;

/// What one call is given. The seed is a pure function of (run seed, index), and θ is what the store keeps for the index, so kills,
/// retries and the number of jobs cannot change them.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Position j of the simulation in the run.
    pub index: u64,
    /// The simulator's own seed for this call; see [`crate::Seeds`].
    pub seed: u64,
    /// The same with all 64 bits.
    pub seed64: u64,
    /// θ_j, in the order of the parameter names.
    pub parameters: Vec<f64>,
}

/// What one call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The statistics in order, or the numbers of all rows; present exactly if the status is ok.
    pub statistics: Option<Vec<f64>>,
    /// For a failure: one line of fact, then the tail of what the program wrote to stderr. Empty for a success.
    pub message: String,
}

impl Outcome {
    /// A success.
    pub fn ok(statistics: Vec<f64>) -> Self {
        Self { status: Status::Ok, statistics: Some(statistics), message: String::new() }
    }

    /// A failure with its one line of fact.
    pub fn failed(status: Status, message: impl Into<String>) -> Self {
        Self { status, statistics: None, message: message.into() }
    }

    /// `values` as statistics with these names: ok, or wrong count, or non-finite naming the first offender.
    pub fn from_values(values: Vec<f64>, names: &[String]) -> Self {
        Self::of(Outputs::Statistics, values, names)
    }

    /// The same of any outputs: numbers, row after row, with a name for each column.
    pub fn of(outputs: Outputs, values: Vec<f64>, names: &[String]) -> Self {
        if !outputs.fits(values.len(), names.len()) {
            return Self::failed(
                Status::WrongCount,
                format!("{} printed, {} expected", counted(values.len() as u64, "number"), outputs.expected(names.len())),
            );
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) if outputs.in_rows() => {
                let (row, name) = (at / names.len() + 1, &names[at % names.len()]);
                Self::failed(Status::NonFinite, format!("`{name}` is {} in row {row}", values[at]))
            }
            Some(at) => Self::failed(Status::NonFinite, format!("statistic `{}` is {}", names[at], values[at])),
            None => Self::ok(values),
        }
    }
}

/// Anything that can be called for a task: a program, or a function of this process.
pub trait Simulate: Sync {
    /// The names of the statistics a call gives, in order.
    fn statistics(&self) -> &[String];

    /// The state one of the parallel jobs keeps between its calls (a long-lived program, say).
    fn session(&self) -> Box<dyn Session + Send + '_>;

    /// How many file descriptors one of the parallel jobs needs.
    fn descriptors(&self) -> usize {
        0
    }
}

/// Whether the calls of a session so far can be relied upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Every outcome belongs to its task.
    Certain,
    /// That will be known later; until then the outcomes since the last certainty are not to be recorded.
    Pending,
    /// An outcome since the last certainty may belong to another task: all of them are to be made again by [`Session::call_alone`].
    Doubtful,
}

/// One of the parallel jobs' side of a simulator.
pub trait Session {
    /// One call. Returns [`Status::Interrupted`] if `cancellation` asked to stop now.
    fn call(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome;

    /// Asked after every call, and with `last` when there are no more: whether outcomes may be recorded.
    fn settle(&mut self, last: bool, cancellation: &Cancellation) -> Settled {
        let _ = (last, cancellation);
        Settled::Certain
    }

    /// One call whose outcome is certain by itself.
    fn call_alone(&mut self, task: &Task, cancellation: &Cancellation) -> Outcome {
        self.call(task, cancellation)
    }
}

/// A function of this process as a simulator.
pub struct Function<F> {
    statistics: Vec<String>,
    function: F,
}

impl<F: Fn(&Task) -> Vec<f64> + Sync> Function<F> {
    /// `function` gives one value for each of the named statistics.
    pub fn new(statistics: Vec<String>, function: F) -> Self {
        Self { statistics, function }
    }
}

impl<F: Fn(&Task) -> Vec<f64> + Sync> Simulate for Function<F> {
    fn statistics(&self) -> &[String] {
        &self.statistics
    }

    fn session(&self) -> Box<dyn Session + Send + '_> {
        Box::new(self)
    }
}

impl<F: Fn(&Task) -> Vec<f64> + Sync> Session for &Function<F> {
    fn call(&mut self, task: &Task, _: &Cancellation) -> Outcome {
        Outcome::from_values((self.function)(task), &self.statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_gives_nan_or_too_few_values_fails_with_the_name_of_the_statistic() {
        let names: Vec<String> = vec!["mean".into(), "sd".into()];
        let outcome = Outcome::from_values(vec![1.0, f64::NAN], &names);
        assert_eq!((outcome.status, outcome.message.as_str()), (Status::NonFinite, "statistic `sd` is NaN"));
        assert_eq!(Outcome::from_values(vec![1.0], &names).status, Status::WrongCount);
        assert_eq!(Outcome::from_values(vec![1.0, 2.0], &names), Outcome::ok(vec![1.0, 2.0]));
    }
}
