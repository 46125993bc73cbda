//! model.json: the saved model with its weights, how it was learned, and from what.

use crate::directory::Directory;
use crate::failure::{Exit, Failure};
use crate::reading;
use crate::seal::{self, Seal};
use kelfi::fit::ModelChoiceReport;
use kelfi::model::saved::SavedModel;
use kelfi::rounds::History;
use kelfi::words::shown;
use kelfi::{Fit, FitOptions, KernelMeansLikelihood, Question};
use kelfi_run::checksum::Checksum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file's name.
pub const NAME: &str = "model.json";

/// Everything the later stages need. Its fields contain those of the library's saved model, which reads it too.
#[derive(Debug, Serialize, Deserialize)]
pub struct ModelFile {
    /// What the library saves.
    #[serde(flatten)]
    pub saved: SavedModel,
    /// The weights of the simulations, where the model has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// How the hyperparameters were chosen.
    pub learned: Value,
    /// How the model was chosen, where that was left open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ModelChoiceReport>,
    /// The rounds it came from, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<History>,
    /// What was decided before the fit; the defaults in files from before it was written.
    #[serde(default)]
    pub settings: Option<FitOptions>,
    /// Fingerprint of simulations, observation, prior and settings: the same ones need not be learned from again.
    pub made_from: String,
    /// Seconds it took to learn.
    pub seconds: f64,
    /// The checksum of the file; the last field.
    #[serde(default)]
    pub checksum: String,
}

impl ModelFile {
    /// The file of a learned model.
    pub fn new(fit: &Fit, settings: &FitOptions, made_from: String, seconds: f64) -> Self {
        Self {
            saved: SavedModel::new(fit.model.as_ref()),
            weights: fit.model_as::<KernelMeansLikelihood>().map(KernelMeansLikelihood::weights),
            learned: fit.record(),
            comparison: fit.comparison.clone(),
            rounds: fit.history().cloned(),
            settings: Some(settings.clone()),
            made_from,
            seconds,
            checksum: seal::BLANK.into(),
        }
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, directory: &Directory) -> Result<(), Failure> {
        let text = serde_json::to_string(self).map_err(|error| Failure::unexpected(format!("the model cannot be written: {error}")))?;
        directory.write(NAME, seal::seal(&text).as_bytes())
    }

    /// Reads it back; `None` where there is none. One that was changed since it was written is refused.
    pub fn read(directory: &Directory) -> Result<Option<Self>, Failure> {
        let path = directory.file(NAME);
        if let Err(error) = std::fs::metadata(&path)
            && error.kind() == std::io::ErrorKind::NotFound
        {
            return Ok(None);
        }
        let text = reading::text(&path, reading::MADE_BY_PROGRAMS)?;
        if seal::examine(&text) == Seal::Broken {
            let message = format!(
                "{} has changed since it was written\n  make it again with `kelfi learn {}`",
                path.display(),
                directory.path().display()
            );
            return Err(Failure { exit: Exit::Store, message });
        }
        // The library's own reader refuses newer formats with advice.
        SavedModel::from_json(&text).map_err(|error| unreadable(&path, &error))?;
        serde_json::from_str(&text).map(Some).map_err(|error| unreadable(&path, &error))
    }
}

fn unreadable(path: &std::path::Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {}\n  make it again with `kelfi learn`", path.display(), shown(&error.to_string())))
}

/// Fingerprint of everything that decides what is learned.
pub fn fingerprint(question: &Question, settings: &FitOptions, rounds: bool) -> Result<String, Failure> {
    let Question { prior, recorded, observation } = question;
    let data = serde_json::to_string(&(env!("CARGO_PKG_VERSION"), recorded, observation, prior, settings, rounds))
        .map_err(|error| Failure::unexpected(format!("the simulations cannot be hashed: {error}")))?;
    Ok(Checksum::of(data.as_bytes()).hex())
}
