//! The problems by name.

use crate::banana::Banana;
use crate::bimodal::Bimodal;
use crate::blowfly::Blowfly;
use crate::exponential_gamma::ExponentialGamma;
use crate::g_and_k::GAndK;
use crate::linear_gaussian::LinearGaussian;
use crate::lotka_volterra::LotkaVolterra;
use crate::moving_average::MovingAverage;
use crate::problem::Problem;
use crate::queue::Queue;
use crate::ricker::Ricker;
use crate::sbibm;

/// Every problem with its default observation.
pub fn all() -> Vec<Box<dyn Problem>> {
    let mut problems: Vec<Box<dyn Problem>> = vec![
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
    problems.extend(sbibm::all().map(|task| Box::new(task) as Box<dyn Problem>));
    problems
}

/// The problem with this name; `-` may stand for `_`.
pub fn by_name(name: &str) -> Result<Box<dyn Problem>, UnknownProblem> {
    let wanted = name.replace('-', "_");
    let problems = all();
    let nearest = nearest(&wanted, problems.iter().map(|problem| problem.name()));
    problems.into_iter().find(|problem| problem.name() == wanted).ok_or(UnknownProblem { name: name.to_owned(), nearest })
}

/// A name that is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no problem named \"{name}\"\n  did you mean \"{nearest}\"?")]
pub struct UnknownProblem {
    /// The name asked for.
    pub name: String,
    /// The name in the catalogue that differs least from it.
    pub nearest: String,
}

/// The candidate that contains `name` or, failing that, is fewest edits away.
pub fn nearest(name: &str, candidates: impl Iterator<Item = &'static str>) -> String {
    let cost = |candidate: &str| if !name.is_empty() && candidate.contains(name) { 0 } else { edits(name, candidate) };
    candidates.min_by_key(|candidate| cost(candidate)).unwrap_or_default().to_owned()
}

/// Levenshtein's distance: insertions, deletions and replacements of a character.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
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
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let nearest = |name: &str| by_name(name).err().unwrap().nearest;
        assert_eq!(nearest("blowflies"), "blowfly");
        assert_eq!(nearest("two_moons"), "sbibm_two_moons");
        assert_eq!(nearest("lotka-voltera"), "lotka_volterra");
        assert_eq!(by_name("exponential-gamma").unwrap().name(), "exponential_gamma");
    }

    #[test]
    fn edits_are_counted_as_by_hand() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("same", "same"), 0);
    }
}
