//! The posterior after the rounds: the same kind of fit as after one.

use super::missed_mode;
use super::state::Rounds;
use crate::fit::compare;
use crate::model::family::{InRounds, all};
use crate::model::{OnProgress, Progress};
use crate::{Error, Fit, Model, ModelChoice};
use std::sync::Mutex;

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
        self.history.checks = self.history.movement_check().into_iter().collect();
        self.history.checks.extend(missed_mode::check(explored.model.as_ref(), &explored.draws));
        let fit = Fit::of_model(explored.model.clone(), self.settings.seed(), &mut || on_progress(UNKNOWN))?;
        let fit = match explored.model.family().in_rounds {
            InRounds::Locally(_) => {
                fit.left_out()?;
                self.or_better(fit, explored.model.as_ref(), on_progress)?
            }
            _ => fit,
        };
        Ok(fit.after_rounds(self.history.clone()))
    }

    /// The fit, or another kind of model in the same local coordinates that predicts the parameters of left-out simulations better, where the
    /// kind was left open. Which simulations are made does not depend on it.
    fn or_better(&self, fit: Fit, model: &dyn Model, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        let rivals = all().into_iter().filter(|rival| rival.in_auto && rival.margin > 0.0 && (rival.can_pay)(model.question()));
        if self.settings.fit.model != ModelChoice::Auto {
            return Ok(fit);
        }
        let (seed, on_progress) = (self.settings.seed(), Mutex::new(on_progress));
        let go_on = || (on_progress.lock().unwrap_or_else(std::sync::PoisonError::into_inner))(UNKNOWN);
        let mut fits = vec![fit];
        for rival in rivals {
            let InRounds::Locally(learn_in) = rival.in_rounds else { continue };
            let learned = learn_in(model.frame(), model.question(), seed, &go_on);
            match learned
                .and_then(|model| Fit::of_model(model, seed, &mut || go_on()))
                .and_then(|fit| fit.left_out().map(|_| ()).map(|()| fit.clone()))
            {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => {}
                Ok(fit) => fits.push(fit),
            }
        }
        if fits.len() == 1 { Ok(fits.remove(0)) } else { compare(fits) }
    }
}
