//! Tolerances of their own for statistics, length scales of their own for parameters: all at once.

use super::{Profile, Search};
use crate::Error;
use crate::model::kernel_means::constants::evidence::STEPS;
use crate::model::kernel_means::learning::choices::RegularizationChoice;
use crate::model::kernel_means::learning::layout::Layout;
use crate::model::kernel_means::learning::learned::Counter;
use crate::optimise::{StopRule, Stopped, maximise};
use std::sync::Arc;

impl Search<'_> {
    /// All of ln ε, ln β and ln λ at once, from the best common ones.
    pub(super) fn jointly(
        &self,
        start: &Profile,
        own_epsilon: bool,
        own_length: bool,
        counter: &mut Counter<'_>,
    ) -> Result<(Profile, Stopped), Error> {
        let layout = Layout::new(self, start, own_epsilon, own_length);
        let mut best = start.clone();
        let mut failure = None;
        let function = |x: &[f64]| {
            let (ln_epsilon, ln_lengths, ln_lambda) = layout.unpack(x, start);
            let (ln_lengths, ln_lambda) = (self.setting.rounded_length_scales(&ln_lengths), self.setting.rounded(ln_lambda));
            let scales: Vec<f64> = ln_lengths.iter().map(|b| b.exp()).collect();
            let lambda = self.setting.bound_regularization(&scales).unwrap_or(ln_lambda.exp());
            counter.evaluations += 1;
            let found = counter
                .factored()
                .and_then(|()| self.setting.operator(scales, lambda))
                .and_then(|operator| self.at(Arc::new(operator), &ln_lengths, lambda.ln(), ln_epsilon));
            match found {
                Ok(Some(p)) => {
                    let tied =
                        if self.setting.settings.regularization == RegularizationChoice::Tied { p.regularization_gradient } else { 0.0 };
                    let result = (p.value, layout.gradient(&p, tied));
                    if p.value > best.value {
                        best = p;
                    }
                    result
                }
                Ok(None) => (f64::NEG_INFINITY, vec![0.0; x.len()]),
                Err(error) if error.is_unsolvable() => (f64::NEG_INFINITY, vec![0.0; x.len()]),
                Err(error) => {
                    failure = Some(error);
                    (f64::NAN, vec![0.0; x.len()])
                }
            }
        };
        let optimum = maximise(
            function,
            &layout.start,
            &layout.low,
            &layout.high,
            StopRule { steps: 3 * STEPS, gradient: 1e-4, gain: 1e-5, longest: 1.0, first: 0.0 },
        );
        match failure {
            Some(error) => Err(error),
            None => Ok((best, optimum.stopped)),
        }
    }
}
