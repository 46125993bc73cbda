//! The posterior after the rounds: the same kind of fit as after one.

use super::missed_mode;
use super::state::Rounds;
use crate::model::family::InRounds;
use crate::model::{OnProgress, Progress};
use crate::{Error, Fit};

/// How many steps there are is not known.
const UNKNOWN: Progress = Progress { done: 1, expected: 2, best: f64::NAN };

impl Rounds {
    /// The posterior from everything told so far, with the history and its checks. After one round it is that of [`Fit::new`].
    pub fn answer(&mut self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        if self.told.len() < 2 {
            return Fit::new(&self.question()?, &self.settings.fit, on_progress);
        }
        self.explore(&mut *on_progress)?;
        let Some(explored) = &self.explored else { unreachable!("it was explored") };
        let model = explored.model.clone()?;
        self.history.checks = self.history.movement_check().into_iter().collect();
        self.history.checks.extend(missed_mode::check(model.as_ref(), &explored.draws));
        let fit = Fit::of_model(model.clone(), self.settings.seed(), &mut || on_progress(UNKNOWN))?;
        if let InRounds::Locally(_) = model.family().in_rounds {
            fit.left_out()?;
        }
        Ok(fit.after_rounds(self.history.clone()))
    }
}
