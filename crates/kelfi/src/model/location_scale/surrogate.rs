//! What posterior and samples ask of the location-scale likelihood.

use super::LocationScaleLikelihood;
use super::curve::Bend;
use super::regression::Regression;
use super::regression_search::{search, start};
use crate::checks::{self, Check};
use crate::linalg::vector::dot;
use crate::mixture::weighted::WeightedDraws;
use crate::model::Surrogate;
use crate::simulations::Recorded;
use crate::{Error, Points, Prior};

impl Surrogate for LocationScaleLikelihood {
    fn prior(&self) -> &Prior {
        &self.question.prior
    }

    fn ln_scale(&self) -> f64 {
        self.ln_scale
    }

    fn relative_values(&self, z: &Points) -> Vec<f64> {
        self.ln_values(z).into_iter().map(|ln| (ln - self.ln_scale).exp()).collect()
    }

    fn ln_relative_values(&self, z: &Points) -> Vec<f64> {
        self.ln_values(z).into_iter().map(|ln| ln - self.ln_scale).collect()
    }

    fn ln_cut_off(&self, z: &Points) -> Option<Vec<f64>> {
        let of_region = |model: &Self, z: &Points| {
            let seen = model.seen(z);
            let (u, ln) = model.residuals_at(&seen);
            let below = model.fitted.residuals.shape.cut_off(&seen, &u);
            let ln_below = if model.repeats() == 1 {
                below.into_iter().map(f64::ln).collect()
            } else {
                let kept = model.fitted.residuals.shape.ln_densities(&seen, &u);
                cut_off_of_products(&kept, &below, model.repeats())
            };
            ln.into_iter().zip(ln_below).map(|(ln, below)| below + ln - self.ln_scale).collect()
        };
        Some(self.by_region(z, of_region))
    }

    fn ln_relative_gradients(&self, z: &Points) -> Option<(Vec<f64>, Points)> {
        if !self.regions().all(Self::has_gradients) {
            return None;
        }
        let (ln, gradients) = self.ln_values_and_gradients(z);
        Some((ln.into_iter().map(|ln| ln - self.ln_scale).collect(), gradients))
    }

    fn promising(&self, count: usize) -> Points {
        self.promising.select(&(0..count.min(self.promising.rows())).collect::<Vec<_>>())
    }

    /// The regression of the output, less its mean, on θ, averaged over draws of the posterior.
    fn predictive(&self, recorded: &[f64], draws: Option<&WeightedDraws>) -> Result<f64, Error> {
        if recorded.len() != self.question.recorded.theta().rows() {
            return Err(Error::Shape {
                left: "the recorded output".into(),
                left_rows: recorded.len(),
                left_columns: 1,
                right: "the simulations".into(),
                right_rows: self.question.recorded.theta().rows(),
                right_columns: 1,
                advice: "give one value per simulation".into(),
            });
        }
        Points::from_column(recorded.to_vec()).require_finite("the recorded output")?;
        if recorded.iter().all(|value| *value == recorded[0]) {
            return Ok(recorded[0]);
        }
        let draws = draws.ok_or_else(|| Error::Unavailable {
            what: "the predictive mean".into(),
            reason: "the location-scale model has no closed form of it; give draws of the posterior".into(),
        })?;
        let of_region = |model: &Self, z: &Points| match model.regressed(recorded) {
            Ok(regression) => regression.predict(&model.seen(z)).0,
            Err(_) => vec![f64::NAN; z.rows()],
        };
        self.regions().try_for_each(|model| model.regressed(recorded).map(|_| ()))?;
        Ok(dot(draws.weights(), &self.by_region(draws.z(), of_region)))
    }

    /// In a region of its own it is known that simulations leave out the rest of the prior: a check of the region says what that means.
    fn simulated(&self) -> Option<Points> {
        if self.fitted.hyperparameters.frame.is_some() {
            return None;
        }
        self.question.prior.to_latent_points(self.simulations.theta()).ok()
    }

    fn checks(&self, draws: &Points) -> Vec<Check> {
        let Recorded::Statistics(all) = &self.question.recorded else { return vec![] };
        let own = &self.own_points(draws);
        let mut found = vec![self.support(own), checks::failed_simulations(all.failures(), all.outputs().rows())];
        found.extend(self.dependence(own));
        found.extend(self.fitted.hyperparameters.found_repeats.map(|repeats| checks::found_repeats(repeats, all.statistics())));
        found.extend(self.shared_values());
        found.extend(self.missing_noise());
        found.push(self.tail(own));
        found.extend(self.edge(draws));
        found
    }

    fn on_parts(&self) -> Vec<Box<dyn Surrogate>> {
        self.parts().into_iter().map(|part| Box::new(part) as Box<dyn Surrogate>).collect()
    }
}

/// ln of what clipping takes off a product of as many densities as there are repeats: Π (p + n) - Π p, p the density kept and n what was cut.
fn cut_off_of_products(ln_kept: &[f64], below: &[f64], repeats: usize) -> Vec<f64> {
    let of_one = |(kept, below): (&[f64], &[f64])| {
        let ln_uncut: f64 = kept.iter().zip(below).map(|(ln, below)| ln_sum(*ln, below.ln())).sum();
        if ln_uncut == f64::NEG_INFINITY { ln_uncut } else { ln_uncut + (-(kept.iter().sum::<f64>() - ln_uncut).exp()).ln_1p() }
    };
    ln_kept.chunks(repeats).zip(below.chunks(repeats)).map(of_one).collect()
}

/// ln(eᵃ + eᵇ), of two zeros too.
fn ln_sum(a: f64, b: f64) -> f64 {
    let (more, less) = (a.max(b), a.min(b));
    if more == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

impl LocationScaleLikelihood {
    /// The regression of an output, recorded with every simulation, on θ in this region.
    fn regressed(&self, recorded: &[f64]) -> Result<Regression, Error> {
        let z = self.seen(&self.question.prior.to_latent_points(self.simulations.theta())?);
        let recorded = &self.inside_of(recorded);
        let some: Vec<usize> = (0..z.rows().min(500)).collect();
        let targets: Vec<f64> = some.iter().map(|&i| recorded[i]).collect();
        let begin = start(Bend::Bumps, z.columns());
        let chosen = search(&z.select(&some), &targets, &vec![1.0; some.len()], &begin).0;
        Regression::new(&z, recorded, &vec![1.0; z.rows()], &chosen, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_a_product_is_a_number_wherever_densities_vanish() {
        let nothing = f64::NEG_INFINITY;
        let cut = cut_off_of_products(&[0.5_f64.ln(), 0.25_f64.ln(), nothing, 0.0, nothing, nothing], &[0.0, 0.5, 0.5, 0.0, 0.0, 0.0], 2);
        // ½ · ¾ - ½ · ¼, ½ · 1 - 0, and nothing at all.
        assert!((cut[0] - 0.25_f64.ln()).abs() < 1e-12 && (cut[1] - 0.5_f64.ln()).abs() < 1e-12, "{cut:?}");
        assert_eq!(cut[2], nothing);
        assert_eq!(cut_off_of_products(&[-800.0, -3.0], &[0.0, 0.0], 2), [nothing]);
    }
}
