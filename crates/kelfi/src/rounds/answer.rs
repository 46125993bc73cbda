//! The posterior after the rounds: the same kind of fit as after one.

use super::explored::Modelled;
use super::missed_mode;
use super::state::Rounds;
use crate::model::kernel_means::learning::learned::OnProgress;
use crate::{Error, Fit};

impl Rounds {
    /// The posterior from everything told so far, with the history and its checks. After one round it is that of [`Fit::new`].
    pub fn answer(&mut self, on_progress: OnProgress<'_>) -> Result<Fit, Error> {
        if self.told.len() < 2 {
            return Fit::new(&self.recorded()?, &self.observation, &self.prior, &self.settings.fit, on_progress);
        }
        self.explore(&mut *on_progress)?;
        let Some(explored) = &self.explored else { unreachable!("it was explored") };
        let fit = match &explored.model {
            Modelled::LocationScale(model) => {
                self.history.checks = self.history.movement_check().into_iter().collect();
                self.history.checks.extend(missed_mode::check(model, &explored.draws));
                Fit::of_location_scale(model.clone(), self.settings.seed(), on_progress)?
            }
            Modelled::KernelMeans(found) => {
                self.history.checks = self.history.movement_check().into_iter().collect();
                Fit::of_kernel_means((**found).clone(), &self.observation, self.settings.seed())
            }
        };
        Ok(fit.after_rounds(self.history.clone()))
    }
}
