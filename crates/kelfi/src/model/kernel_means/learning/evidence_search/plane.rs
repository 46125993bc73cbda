//! Two free variables: a coarse grid, then uphill from its best places.

use super::{Profile, Search};
use crate::Error;
use crate::model::kernel_means::constants::evidence::{
    COARSE_LENGTH_SCALES, COARSE_REGULARIZATIONS, COARSE_SIMULATIONS, FIRST_STEPS, GAIN, HOPELESS, SEARCHES, STEPS,
};
use crate::model::kernel_means::constants::learning::REGULARIZATIONS;
use crate::model::kernel_means::learning::learned::Counter;
use crate::model::kernel_means::learning::tolerance_scan::ToleranceScan;
use crate::optimise::{StopRule, Stopped, maximise};
use rayon::prelude::*;

impl Search<'_> {
    /// Two free variables: a coarse grid, then gradient searches from its best points.
    pub(super) fn plane(&self, counter: &mut Counter<'_>) -> Result<(Profile, Vec<Profile>, Stopped), Error> {
        let bounds = [self.setting.lengths, REGULARIZATIONS].map(|(low, high)| (low.ln(), high.ln()));
        let mut optima: Vec<(Profile, Stopped)> = Vec::new();
        let best = |optima: &[(Profile, Stopped)]| optima.iter().max_by(|a, b| a.0.value.total_cmp(&b.0.value)).cloned();
        let starts = self.coarse_starts(&bounds, counter)?;
        for place in starts {
            if optima.len() == SEARCHES {
                break;
            }
            let Some(start) = self.profile(&self.common(place[0]), place[1], counter)? else { continue };
            let Some((best, _)) = best(&optima) else {
                optima.push(self.climb(&start, &bounds, STEPS, counter)?);
                continue;
            };
            let (mut found, mut why) = self.climb(&start, &bounds, FIRST_STEPS, counter)?;
            if why == Stopped::Steps && found.value > best.value - HOPELESS {
                (found, why) = self.climb(&found, &bounds, STEPS - FIRST_STEPS, counter)?;
            }
            optima.push((found, why));
        }
        let (best, stopped) = best(&optima).ok_or_else(|| self.nowhere())?;
        let mut distinct: Vec<Profile> = Vec::new();
        for (found, _) in optima {
            if found.value >= best.value - HOPELESS && !distinct.iter().any(|other| same_place(other, &found)) {
                distinct.push(found);
            }
        }
        Ok((best, distinct, stopped))
    }

    /// Places (ln β₀, ln λ) of a coarse grid, best first by ln q(y) of a part of the simulations.
    fn coarse_starts(&self, bounds: &[(f64, f64); 2], counter: &mut Counter<'_>) -> Result<Vec<[f64; 2]>, Error> {
        let (recorded, z) = self.setting.head((2 * self.setting.len() / 3).clamp(COARSE_SIMULATIONS.0, COARSE_SIMULATIONS.1))?;
        let tolerances = ToleranceScan::new(self.setting, &recorded.discrepancies(&self.setting.question.observation)?);
        let at = |k: usize, count: usize, (low, high): (f64, f64)| low + (high - low) * (k as f64 + 0.5) / count as f64;
        let places: Vec<[f64; 2]> = (0..COARSE_LENGTH_SCALES * COARSE_REGULARIZATIONS)
            .map(|k| (k / COARSE_REGULARIZATIONS, k % COARSE_REGULARIZATIONS))
            .map(|(i, j)| [at(i, COARSE_LENGTH_SCALES, bounds[0]), at(j, COARSE_REGULARIZATIONS, bounds[1])])
            .collect();
        let value = |place: &[f64; 2]| match self.setting.operator_on(z.clone(), self.setting.length_scales(place[0].exp()), place[1].exp())
        {
            Ok(operator) => Ok(tolerances.best(operator.marginal_weights()).1),
            Err(error) if error.is_unsolvable() => Ok(f64::NEG_INFINITY),
            Err(error) => Err(error),
        };
        let mut valued: Vec<(f64, [f64; 2])> = Vec::with_capacity(places.len());
        for row in places.chunks(COARSE_REGULARIZATIONS) {
            row.iter().try_for_each(|_| counter.factored())?;
            counter.evaluations += row.len() * tolerances.len();
            let values: Vec<f64> = row.par_iter().map(value).collect::<Result<_, Error>>()?;
            valued.extend(values.into_iter().zip(row.iter().copied()));
        }
        valued.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(valued.into_iter().map(|(_, place)| place).collect())
    }

    /// A gradient search over (ln β₀, ln λ) from a known point.
    fn climb(
        &self,
        start: &Profile,
        bounds: &[(f64, f64); 2],
        steps: usize,
        counter: &mut Counter<'_>,
    ) -> Result<(Profile, Stopped), Error> {
        let mut best = start.clone();
        let mut failure = None;
        let slopes = |p: &Profile| vec![p.length_gradient.iter().sum(), p.regularization_gradient];
        let x = [start.ln_length_scales[0], start.ln_regularization];
        let function = |at: &[f64]| {
            if at == x {
                return (start.value, slopes(start));
            }
            match self.profile(&self.common(at[0]), at[1], counter) {
                Ok(Some(p)) => {
                    let result = (p.value, slopes(&p));
                    if p.value > best.value {
                        best = p;
                    }
                    result
                }
                Ok(None) => (f64::NEG_INFINITY, vec![0.0; at.len()]),
                Err(error) => {
                    failure = Some(error);
                    (f64::NAN, vec![0.0; at.len()])
                }
            }
        };
        let (low, high) = (bounds.map(|b| b.0), bounds.map(|b| b.1));
        let settings = StopRule { steps, gradient: 1e-4, gain: GAIN, longest: 1.5, first: 0.0 };
        let optimum = maximise(function, &x, &low, &high, settings);
        match failure {
            Some(error) => Err(error),
            None => Ok((best, optimum.stopped)),
        }
    }
}

fn same_place(a: &Profile, b: &Profile) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() < 0.05;
    close(a.ln_length_scales[0], b.ln_length_scales[0])
        && (a.ln_regularization - b.ln_regularization).abs() < 0.3
        && close(a.ln_epsilon[0], b.ln_epsilon[0])
}
