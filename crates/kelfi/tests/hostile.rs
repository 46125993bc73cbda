//! Saved models of strangers: refused with a sentence or built, never a panic.

use kelfi::model::ModelFamily;
use kelfi::model::saved::SavedModel;
use kelfi::testing::Mutations;
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, Marginal, ModelChoice, Observation, Points, Prior, Question, Recorded, Simulations,
};
use std::sync::Arc;

fn saved(kind: &'static ModelFamily) -> String {
    let theta: Vec<f64> = (0..30).map(|j| ((j as f64 * 0.7).sin() * 2.0 * 1e6).round() / 1e6).collect();
    let x: Vec<Vec<f64>> = theta.iter().enumerate().map(|(j, t)| vec![t + 0.1 * (j as f64).cos(), t * t]).collect();
    let simulations = Simulations::new(Points::from_column(theta), Points::from_rows(&x).unwrap()).unwrap();
    let prior = Prior::independent(vec![("t".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let observation = Observation::Statistics(vec![0.3, 0.2]);
    let settings = FitOptions::of(ModelChoice::Use(kind), 1);
    let fit =
        Fit::new(&Question::new(&prior, &Recorded::Statistics(Arc::new(simulations)), &observation), &settings, &mut |_| true).unwrap();
    SavedModel::new(fit.model.as_ref()).to_json().unwrap()
}

#[test]
fn damaged_models_are_refused_with_a_sentence_or_built() {
    for kind in [&KERNEL_MEANS, &LOCATION_SCALE] {
        let good = saved(kind);
        SavedModel::from_json(&good).unwrap().build(None).unwrap();
        let (mut read, mut refused) = (0, 0);
        for bytes in Mutations::of(good.as_bytes(), 7).take(1_500) {
            let Ok(text) = String::from_utf8(bytes) else { continue };
            match SavedModel::from_json(&text).and_then(|model| model.build(None)) {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().split_whitespace().count() > 3, "{error}");
                }
            }
        }
        assert!(refused > 300 && read > 20, "{kind:?}: {read} read, {refused} refused");
    }
}
