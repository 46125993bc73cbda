//! What a comparison found: every run, and means with standard errors over repeats.

use super::{ComparisonPlan, EXACT, Observations, Score, marginals, reference};
use serde::{Deserialize, Serialize};

/// A method of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodFacts {
    /// Its name.
    pub name: String,
    /// How it works.
    pub description: String,
    /// Who proposed it.
    pub reference: String,
}

/// One method at one budget on one observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The method's name.
    pub method: String,
    /// Calls it might make.
    pub budget: usize,
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Calls it made.
    pub calls: usize,
    /// Seconds for inference and samples, without the simulations.
    pub seconds: f64,
    /// How good the answer is.
    pub score: Option<Score>,
    /// Quantiles of every parameter at 2.5 %, 5 %, …, 97.5 %; none without an answer.
    pub quantiles: Vec<Vec<f64>>,
    /// Why there is none.
    pub failure: Option<String>,
    /// What a reader of the answer has to know: that a chain never moved, say.
    #[serde(default)]
    pub remark: Option<String>,
}

/// A mean over repeats with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error; `None` for a single value.
    pub standard_error: Option<f64>,
}

/// One line of the table: a method at a budget, over all repeats that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The method's name.
    pub method: String,
    /// Calls it might make.
    pub budget: usize,
    /// Repeats without an answer.
    pub failed: usize,
    /// In how many repeats the method remarked on its answer, and what it said first.
    pub remark: Option<String>,
    /// Mean of [`Score::error`].
    pub error: Option<Measured>,
    /// Root mean square of [`Score::error_in_sds`].
    pub error_in_sds: Option<f64>,
    /// Mean of [`Score::covered_50`].
    pub covered_50: Option<Measured>,
    /// Mean of [`Score::covered_95`].
    pub covered_95: Option<Measured>,
    /// Mean of [`Score::gain`].
    pub gain: Option<Measured>,
    /// Mean of [`Score::c2st`].
    pub c2st: Option<Measured>,
    /// Mean of [`Score::total_variation`].
    pub total_variation: Option<Measured>,
    /// Mean of [`Score::nmse`].
    pub nmse: Option<Measured>,
    /// Mean of [`Score::left_out`].
    pub left_out: Option<Measured>,
    /// Mean of [`Score::predictive`].
    pub predictive: Option<Measured>,
    /// Mean distance of its marginals from the median of the others', in standard deviations of those.
    pub apart: Option<Measured>,
    /// Mean of [`Score::width`].
    pub width: Option<Measured>,
    /// Mean number of calls made.
    pub calls: Option<Measured>,
    /// Mean seconds; `None` for the exact posterior, which is not inferred.
    pub seconds: Option<Measured>,
}

/// Methods side by side on one problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The problem's name.
    pub problem: String,
    /// What is simulated and what is asked.
    pub description: String,
    /// Number of parameters.
    pub parameters: usize,
    /// Number of statistics.
    pub statistics: usize,
    /// Where observations come from.
    pub observations: Observations,
    /// The seed.
    pub seed: u64,
    /// Repeats carried out.
    pub repeats: usize,
    /// Repeats planned.
    pub planned: usize,
    /// The budgets, as planned.
    pub budgets: Vec<usize>,
    /// The methods, in the order of the table; the exact posterior last, where it is known.
    pub methods: Vec<MethodFacts>,
    /// Every run, in order of repeat, budget and method.
    pub runs: Vec<Run>,
}

impl Comparison {
    pub(super) fn new(plan: &ComparisonPlan<'_>) -> Self {
        let facts = |name: &str, description: &str, reference: &str| MethodFacts {
            name: name.into(),
            description: description.into(),
            reference: reference.into(),
        };
        let mut methods: Vec<MethodFacts> = plan.methods.iter().map(|m| facts(m.name(), m.description(), m.reference())).collect();
        if reference::is_known(plan.problem) {
            methods.push(facts(EXACT, "samples from the exact posterior, which no method can beat on average", ""));
        }
        Self {
            problem: plan.problem.name().into(),
            description: plan.problem.description().into(),
            parameters: plan.problem.parameter_names().len(),
            statistics: plan.problem.statistic_names().len(),
            observations: plan.observations,
            seed: plan.seed,
            repeats: 0,
            planned: plan.repeats,
            budgets: plan.budgets.clone(),
            methods,
            runs: vec![],
        }
    }

    pub(super) fn add(&mut self, runs: Vec<Run>) {
        self.repeats += 1;
        self.runs.extend(runs);
    }

    /// Runs of one method at one budget, by repeat.
    pub fn runs_of<'a>(&'a self, method: &'a str, budget: usize) -> impl Iterator<Item = &'a Run> + Clone {
        self.runs.iter().filter(move |run| run.method == method && run.budget == budget)
    }

    /// One row for each budget and method.
    pub fn summary(&self) -> Vec<Row> {
        let pairs = self.budgets.iter().flat_map(|&budget| self.methods.iter().map(move |method| (method, budget)));
        pairs.map(|(method, budget)| self.row(&method.name, budget)).collect()
    }

    fn row(&self, method: &str, budget: usize) -> Row {
        let scores: Vec<&Score> = self.runs_of(method, budget).filter_map(|run| run.score.as_ref()).collect();
        let mean = |of: fn(&Score) -> Option<f64>| measured(&scores.iter().filter_map(|score| of(score)).collect::<Vec<_>>());
        let squares: Vec<f64> = scores.iter().filter_map(|score| score.error_in_sds).map(|z| z * z).collect();
        let seconds: Vec<f64> = self.runs_of(method, budget).map(|run| run.seconds).collect();
        Row {
            method: method.into(),
            budget,
            failed: self.runs_of(method, budget).filter(|run| run.score.is_none()).count(),
            remark: self.remark(method, budget),
            error: mean(|s| s.error),
            error_in_sds: measured(&squares).map(|m| m.mean.sqrt()),
            covered_50: mean(|s| s.covered_50),
            covered_95: mean(|s| s.covered_95),
            gain: mean(|s| s.gain),
            c2st: mean(|s| s.c2st),
            total_variation: mean(|s| s.total_variation),
            nmse: mean(|s| s.nmse),
            left_out: mean(|s| s.left_out),
            predictive: mean(|s| s.predictive),
            apart: measured(&self.runs_of(method, budget).filter_map(|run| self.apart(run)).collect::<Vec<_>>()),
            calls: measured(&self.runs_of(method, budget).map(|run| run.calls as f64).collect::<Vec<_>>()).filter(|_| method != EXACT),
            width: mean(|s| Some(s.width)),
            seconds: measured(&seconds).filter(|_| method != EXACT),
        }
    }
}

impl Comparison {
    fn remark(&self, method: &str, budget: usize) -> Option<String> {
        let remarks: Vec<&String> = self.runs_of(method, budget).filter_map(|run| run.remark.as_ref()).collect();
        remarks.first().map(|first| format!("in {} of {} repeats: {first}", remarks.len(), self.repeats))
    }

    /// How far a run's marginals are from the median of the other methods' at the same budget in the same repeat. The prior and the exact
    /// posterior have no say; two others are the least.
    fn apart(&self, run: &Run) -> Option<f64> {
        let others: Vec<&Vec<Vec<f64>>> = self
            .runs
            .iter()
            .filter(|other| (other.budget, other.repeat) == (run.budget, run.repeat))
            .filter(|other| other.method != run.method && ![EXACT, "prior"].contains(&other.method.as_str()))
            .filter(|other| !other.quantiles.is_empty())
            .map(|other| &other.quantiles)
            .collect();
        if run.quantiles.is_empty() || others.len() < 2 {
            return None;
        }
        Some(marginals::apart(&run.quantiles, &marginals::consensus(&others)?))
    }
}

/// Mean and standard error s/√n; `None` without values.
fn measured(values: &[f64]) -> Option<Measured> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    match values.len() {
        0 => None,
        1 => Some(Measured { mean, standard_error: None }),
        _ => Some(Measured { mean, standard_error: Some((variance / n).sqrt()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_standard_errors_are_as_by_hand() {
        assert_eq!(measured(&[]), None);
        assert_eq!(measured(&[3.0]), Some(Measured { mean: 3.0, standard_error: None }));
        // Variance 4 with divisor 2, over 3 values.
        let found = measured(&[1.0, 3.0, 5.0]).unwrap();
        assert_eq!((found.mean, found.standard_error), (3.0, Some((4.0_f64 / 3.0).sqrt())));
    }
}
