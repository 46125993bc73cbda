//! The problems by name.

use crate::banana::Banana;
use crate::bimodal::Bimodal;
use crate::blowfly::Blowfly;
use crate::exponential_gamma::ExponentialGamma;
use crate::g_and_k::GAndK;
use crate::linear_gaussian::LinearGaussian;
use crate::lotka_volterra::LotkaVolterra;
use crate::moving_average::MovingAverage;
use crate::problem::BenchmarkProblem;
use crate::queue::Queue;
use crate::ricker::Ricker;
use crate::sbibm;
use kelfi::words::{did_you_mean, shown};

/// Every problem with its default observation.
pub fn all() -> Vec<Box<dyn BenchmarkProblem>> {
    let mut problems: Vec<Box<dyn BenchmarkProblem>> = vec![
        Box::new(ExponentialGamma::standard()),
        Box::new(Blowfly::new()),
        Box::new(LotkaVolterra::new()),
        Box::new(Bimodal::default()),
        Box::new(Banana::default()),
        Box::new(LinearGaussian::standard()),
        Box::new(MovingAverage::new()),
        Box::new(Ricker::new()),
        Box::new(GAndK::new()),
        Box::new(Queue::new()),
    ];
    problems.extend(sbibm::all().map(|task| Box::new(task) as Box<dyn BenchmarkProblem>));
    problems
}

/// The problem with this name; `-` may stand for `_`.
pub fn by_name(name: &str) -> Result<Box<dyn BenchmarkProblem>, UnknownProblem> {
    let wanted = name.replace('-', "_");
    let problems = all();
    let unknown = UnknownProblem::new(name, &problems.iter().map(|problem| problem.name()).collect::<Vec<_>>());
    problems.into_iter().find(|problem| problem.name() == wanted).ok_or(unknown)
}

/// A name that is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no problem named \"{name}\"\n  {advice}")]
pub struct UnknownProblem {
    /// The name asked for, safe to show.
    pub name: String,
    /// The one that was probably meant, and those there are.
    pub advice: String,
}

impl UnknownProblem {
    /// With what was probably meant of the names there are.
    pub fn new(name: &str, known: &[&str]) -> Self {
        Self { name: shown(name).into_owned(), advice: did_you_mean(name, known.iter().copied(), "known") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_found_by_its_own_name_and_names_are_distinct() {
        let problems = all();
        assert_eq!(problems.len(), 18);
        for problem in &problems {
            assert_eq!(by_name(problem.name()).unwrap().name(), problem.name());
            assert_eq!(problems.iter().filter(|other| other.name() == problem.name()).count(), 1);
        }
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_one_that_was_meant_and_another_word_with_what_there_is() {
        let advice = |name: &str| by_name(name).err().unwrap().advice;
        assert!(advice("blowflies").starts_with("did you mean `blowfly`? known: "));
        assert!(advice("two_moons").starts_with("did you mean `sbibm_two_moons`?"));
        assert!(advice("lotka-voltera").starts_with("did you mean `lotka_volterra`?"));
        assert!(advice("tomorrow").starts_with("known: exponential_gamma, blowfly, "), "{}", advice("tomorrow"));
        assert_eq!(by_name("exponential-gamma").unwrap().name(), "exponential_gamma");
    }
}
