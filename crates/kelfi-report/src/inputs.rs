//! What a report is made from: plain data, wherever it was kept.

use kelfi::{Fit, FitOptions, Points};

/// How the calls of the simulator went, one entry a call; may hold more calls than inference used.
#[derive(Debug, Clone)]
pub struct Calls {
    /// Parameters of each call.
    pub theta: Points,
    /// The word of how it ended; "ok" for success.
    pub status: Vec<String>,
    /// How long it took, where known.
    pub seconds: Vec<Option<f64>>,
    /// What the simulator said, for failures.
    pub message: Vec<String>,
}

impl Calls {
    /// Whether call `j` succeeded.
    pub fn succeeded(&self, j: usize) -> bool {
        self.status[j] == "ok"
    }

    /// Number of calls.
    pub fn len(&self) -> usize {
        self.status.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.status.is_empty()
    }
}

/// Everything a report says something about. [`ReportInputs::new`] fills in what may be left out.
#[derive(Debug, Clone)]
pub struct ReportInputs<'a> {
    /// Name of the problem.
    pub title: String,
    /// One sentence on what is inferred from what.
    pub description: String,
    /// Posterior, model and what was learned.
    pub fit: &'a Fit,
    /// How the hyperparameters were learned; subsets are learned the same way, with the model that was used for all.
    pub settings: &'a FitOptions,
    /// Names of the statistics, in order.
    pub statistic_names: Vec<String>,
    /// Parameters that made the observation, where they are known.
    pub truth: Option<Vec<f64>>,
    /// Posterior samples to show; drawn if left out.
    pub samples: Option<Points>,
    /// How the calls of the simulator went, where that is known.
    pub calls: Option<Calls>,
    /// Subsets are learned afresh up to this many simulations.
    pub largest_refit: usize,
    /// Where the result comes from: version, date, seed, command, hashes, as names and values.
    pub provenance: Vec<(String, String)>,
    /// The problem file, as name and contents.
    pub problem_file: Option<(String, String)>,
}

impl<'a> ReportInputs<'a> {
    /// A report on a fit; everything else can be set afterwards.
    pub fn new(title: &str, fit: &'a Fit, settings: &'a FitOptions) -> Self {
        let statistics = fit.statistics().len();
        Self {
            title: title.into(),
            description: String::new(),
            fit,
            settings,
            statistic_names: (1..=statistics).map(|i| format!("statistic {i}")).collect(),
            truth: None,
            samples: None,
            calls: None,
            largest_refit: 500,
            provenance: vec![],
            problem_file: None,
        }
    }

    /// Names of the parameters.
    pub fn parameter_names(&self) -> &[String] {
        self.fit.posterior.prior().names()
    }

    /// Name of statistic `i`, also where too few were given.
    pub fn statistic(&self, i: usize) -> String {
        self.statistic_names.get(i).cloned().unwrap_or_else(|| format!("statistic {}", i + 1))
    }

    /// The true value of parameter `d`, if known.
    pub fn true_value(&self, d: usize) -> Option<f64> {
        self.truth.as_ref().and_then(|truth| truth.get(d).copied()).filter(|value| value.is_finite())
    }
}
