//! The kernel means likelihood as one of the models.

use super::learning::{Learned, learn, local_score, report};
use super::{Hyperparameters, KernelMeansLikelihood, shares};
use crate::model::family::{InRounds, Words};
use crate::model::saved::read;
use crate::model::{Chosen, FitOptions, LeftOut, Model, ModelFamily, OnProgress, PredictedOutputs, Scores, Shares, StatisticReport};
use crate::question::Question;
use crate::simulations::scales::statistic_scales;
use crate::simulations::{Observation, Recorded};
use crate::{Error, Points, Surrogate};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::Arc;

/// The paper's model.
pub static KERNEL_MEANS: ModelFamily = ModelFamily {
    name: "kernel-means",
    title: "kernel means",
    summary: "The kernel means likelihood",
    format: 1,
    in_auto: true,
    takes_settings: true,
    learn: learned_from,
    load,
    takes: |_| true,
    in_rounds: InRounds::WhereUnsure,
    refuses: |_| None,
    words: Words {
        failures: "A failure counts as an output that does not match",
        left_out: "with the same tolerances, length scales and λ",
        predicted: "The recorded simulations are weighted to represent new runs at posterior parameters (about {} effective simulations; failed runs are left out).",
        at_bound: "Look at the profile below: if the curve is flat, the choice hardly matters; if it is still rising at the edge, simulate more.",
        tolerances_have_a_trend: true,
    },
};

fn learned_from(question: &Question, settings: &FitOptions, on_progress: OnProgress<'_>) -> Result<Arc<dyn Model>, Error> {
    Ok(Arc::new(learn(question, &settings.learn, on_progress)?.0))
}

fn load(question: &Question, hyperparameters: &Value, learned: Option<&Value>) -> Result<Arc<dyn Model>, Error> {
    let model = KernelMeansLikelihood::new(question, &read::<Hyperparameters>(hyperparameters)?)?;
    Ok(match learned {
        Some(record) => Arc::new(model.with_record(read::<Learned>(record)?)),
        None => Arc::new(model),
    })
}

impl Model for KernelMeansLikelihood {
    fn family(&self) -> &'static ModelFamily {
        &KERNEL_MEANS
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn at(&self, observation: &Observation) -> Result<Arc<dyn Model>, Error> {
        Ok(Arc::new(self.condition(observation)?))
    }

    fn left_out(&self, draws: &Points, seed: u64) -> Result<LeftOut, Error> {
        Ok(LeftOut { scores: self.scores(draws, seed)?, shares: self.shares(draws, seed)? })
    }

    fn scores(&self, _draws: &Points, seed: u64) -> Result<Scores, Error> {
        let (local, scored) = local_score(self, seed)?;
        Ok(Scores { indices: local.indices, weights: local.weights, scores: scored.of_each })
    }

    fn shares(&self, _draws: &Points, _seed: u64) -> Result<Shares, Error> {
        shares(self)
    }

    fn score(&self) -> Option<(f64, f64)> {
        self.learned().and_then(|learned| learned.score.zip(learned.score_standard_error))
    }

    fn statistic_reports(&self) -> Vec<StatisticReport> {
        match (self.learned(), self.recorded()) {
            (Some(learned), _) => learned.statistics.clone(),
            (None, Recorded::Statistics(simulations)) => report(&statistic_scales(simulations), &self.hyperparameters()),
            (None, Recorded::DataSets(_)) => vec![],
        }
    }

    fn at_bound(&self) -> Option<Vec<String>> {
        self.learned().map(|learned| learned.at_bound.clone())
    }

    fn carried_by(&self) -> Option<f64> {
        Some(self.effective_kappa())
    }

    fn predicted(&self, _draws: &Points) -> Result<PredictedOutputs, Error> {
        self.predicted_outputs()
    }

    fn upper_values(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        Ok(self.value(theta)?.iter().zip(self.uncertainty(theta)?).map(|(q, sd)| q + sd).collect())
    }

    fn chosen(&self) -> Chosen {
        let (found, dimension) = (self.hyperparameters(), self.prior().dimension());
        let scales = if found.length_scale.len() == 1 { vec![found.length_scale[0]; dimension] } else { found.length_scale };
        Chosen {
            objective: self.learned().map_or_else(Default::default, |learned| learned.objective),
            length_scale: scales.into_iter().map(Some).collect(),
            regularization: found.regularization,
            low_rank: self.solver_report(),
        }
    }

    fn saved_hyperparameters(&self) -> Value {
        json!(self.hyperparameters())
    }

    fn record(&self) -> Option<Value> {
        self.learned().map(|learned| json!(learned))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
