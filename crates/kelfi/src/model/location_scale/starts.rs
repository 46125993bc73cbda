//! Length scales much shorter than usual: a mean that oscillates looks like noise to a search that begins with long ones.
//!
//! A few hundred nats are at stake where it matters, so it is enough to look at the likelihood of some simulations at a handful of short
//! length scales, none of them tuned. Only where one of these is already likelier than what was found is it searched from.

use super::constants::starts::{LOOKED_AT, MOST_ALONE, NOISES, SHORTER};
use super::curve::Bend;
use super::regression::RegressionHyperparameters;
use super::regression_search::{ln_evidence, start};
use crate::Points;

/// Where a search should begin as well, if somewhere: short length scales likelier than `found` before any tuning.
pub fn shorter(z: &Points, targets: &[f64], found: &RegressionHyperparameters) -> Option<RegressionHyperparameters> {
    let count = z.rows().min(LOOKED_AT);
    let (z, targets) = (z.select(&(0..count).collect::<Vec<_>>()), &targets[..count]);
    let scored = |h: RegressionHyperparameters| (ln_evidence(&z, targets, &h), h);
    let best = candidates(z.columns()).map(scored).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > ln_evidence(&z, targets, found)).then_some(best.1)
}

/// All length scales short, or, with few coordinates, one of them.
fn candidates(dimension: usize) -> impl Iterator<Item = RegressionHyperparameters> {
    let alone = if (2..=MOST_ALONE).contains(&dimension) { dimension } else { 0 };
    let shortened = move |which: Option<usize>, factor: f64, noise: f64| {
        let mut h = start(Bend::Bumps, dimension);
        h.length_scales.iter_mut().enumerate().filter(|(d, _)| which.is_none_or(|w| w == *d)).for_each(|(_, b)| *b *= factor);
        RegressionHyperparameters { curved: 1.0, linear: 0.1 * factor, noise, ..h }
    };
    let which = std::iter::once(None).chain((0..alone).map(Some));
    which.flat_map(move |which| SHORTER.into_iter().flat_map(move |factor| NOISES.map(|noise| shortened(which, factor, noise))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::location_scale::choice::choose_form;
    use crate::model::location_scale::regression_search::search;
    use crate::random::{Purpose, standard_normal, stream};
    use rand::RngExt;

    fn data(mean: fn(f64) -> f64, seed: u64) -> (Points, Vec<f64>) {
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let z: Vec<f64> = (0..200).map(|_| 3.0_f64.sqrt() * (2.0 * rng.random::<f64>() - 1.0)).collect();
        let targets = z.iter().map(|&z| mean(z) + 0.1 * standard_normal(&mut rng)).collect();
        (Points::from_column(z), targets)
    }

    #[test]
    fn a_fast_oscillation_is_found_where_the_usual_length_scales_see_noise() {
        for seed in 0..4 {
            let (z, targets) = data(|z| (12.0 * z).sin(), seed);
            let ones = vec![1.0; 200];
            let usual = choose_form(1, |begin| search(&z, &targets, &ones, begin));
            let best = match shorter(&z, &targets, &usual.0) {
                Some(begin) => search(&z, &targets, &ones, &begin),
                None => usual,
            };
            assert!(best.0.noise < 0.3 && best.0.length_scales[0] < 0.4, "{seed}: {:?}", best.0);
        }
    }

    #[test]
    fn nothing_is_tried_where_the_usual_length_scales_do() {
        for mean in [|z: f64| z, |z: f64| z.sin(), |_: f64| 0.0] {
            let (z, targets) = data(mean, 7);
            let usual = choose_form(1, |begin| search(&z, &targets, &[1.0; 200], begin)).0;
            assert_eq!(shorter(&z, &targets, &usual), None);
        }
    }
}
