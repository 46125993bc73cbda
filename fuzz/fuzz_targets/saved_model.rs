//! Saved models and posteriors, built where they are small enough to be quick.
#![no_main]

use kelfi::model::saved::SavedModel;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(model) = SavedModel::from_json(text)
        && model.recorded.theta().rows() <= 100
    {
        let _ = model.build();
    }
});
