//! What posterior and samples ask of the model of summaries.

use super::SummariesLikelihood;
use crate::checks::{Check, Status};
use crate::mixture::weighted::WeightedDraws;
use crate::model::Surrogate;
use crate::{Error, Points, Prior};

impl Surrogate for SummariesLikelihood {
    fn prior(&self) -> &Prior {
        &self.question.prior
    }

    fn ln_scale(&self) -> f64 {
        self.inner.ln_scale()
    }

    fn relative_values(&self, z: &Points) -> Vec<f64> {
        self.inner.relative_values(z)
    }

    fn ln_relative_values(&self, z: &Points) -> Vec<f64> {
        self.inner.ln_relative_values(z)
    }

    fn ln_cut_off(&self, z: &Points) -> Option<Vec<f64>> {
        self.inner.ln_cut_off(z)
    }

    fn promising(&self, count: usize) -> Points {
        self.inner.promising(count)
    }

    fn predictive(&self, recorded: &[f64], draws: Option<&WeightedDraws>) -> Result<f64, Error> {
        self.inner.predictive(recorded, draws)
    }

    fn simulated(&self) -> Option<Points> {
        self.inner.simulated()
    }

    /// Those of the model of the summaries. Whether the observation is possible is asked of the statistics too: an impossible one may have
    /// summaries like any other.
    fn checks(&self, draws: &Points) -> Vec<Check> {
        let mut found = self.inner.checks(draws);
        let of_statistics = match self.of_statistics() {
            Ok(model) => model.support_at(draws),
            Err(error) => {
                let why = error.to_string().replace("\n  ", "; ");
                Check::new("support", Status::Fail, 0.0, 0.0, format!("the statistics cannot be modelled at this observation: {why}"))
            }
        };
        for check in found.iter_mut().filter(|check| check.name == of_statistics.name) {
            let rank = |check: &Check| (check.status, -check.value);
            if rank(&of_statistics).partial_cmp(&rank(check)).is_some_and(std::cmp::Ordering::is_gt) {
                *check = of_statistics.clone();
            }
        }
        for check in &mut found {
            check.found = check.found.replace(" of statistic ", " of summary ");
        }
        found
    }

    fn on_parts(&self) -> Vec<Box<dyn Surrogate>> {
        self.inner.on_parts()
    }
}
