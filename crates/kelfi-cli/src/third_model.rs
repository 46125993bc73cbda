//! A model that nothing else knows of goes through fit, save, load, report and command: the proof that models are known by their trait alone.

use crate::arguments::{Arguments, Command};
use clap::Parser;
use kelfi::model::family::{self, InRounds, Words};
use kelfi::model::saved::SavedModel;
use kelfi::model::{FitOptions, Model, ModelFamily, OnProgress};
use kelfi::samples::independent;
use kelfi::{Error, Fit, ModelChoice, Observation, Points, Prior, Question, Recorded, Simulations, Surrogate};
use kelfi_report::{Report, ReportInputs};
use serde_json::{Value, json};
use std::any::Any;
use std::sync::{Arc, Once};

/// q(y|θ) = exp(-½ |z - c|²/s²), c and s those of the simulations nearest to the observation.
#[derive(Debug)]
struct Nearest {
    question: Question,
    centre: Vec<f64>,
    width: f64,
}

impl Surrogate for Nearest {
    fn prior(&self) -> &Prior {
        &self.question.prior
    }
    fn relative_values(&self, z: &Points) -> Vec<f64> {
        let squared = |z: &[f64]| z.iter().zip(&self.centre).map(|(z, c)| (z - c).powi(2)).sum::<f64>();
        z.iter().map(|z| (-0.5 * squared(z) / self.width.powi(2)).exp()).collect()
    }
    fn promising(&self, _count: usize) -> Points {
        Points::from_rows(&[&self.centre]).expect("one row")
    }
}

impl Model for Nearest {
    fn family(&self) -> &'static ModelFamily {
        &NEAREST
    }
    fn question(&self) -> &Question {
        &self.question
    }
    fn saved_hyperparameters(&self) -> Value {
        json!({ "width": self.width })
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn learn(question: &Question, _settings: &FitOptions, _on_progress: OnProgress<'_>) -> Result<Arc<dyn Model>, Error> {
    load(question, &json!({ "width": 0.3 }), None)
}

fn load(question: &Question, saved: &Value, _learned: Option<&Value>) -> Result<Arc<dyn Model>, Error> {
    let distances = question.recorded.discrepancies(&question.observation)?;
    let ones = vec![1.0; distances.components()];
    let mut order: Vec<usize> = (0..distances.simulations()).collect();
    order.sort_by(|&i, &j| distances.distance_of(i, &ones).total_cmp(&distances.distance_of(j, &ones)));
    let near = question.prior.to_latent_points(&question.recorded.theta().select(&order[..10]))?;
    let centre = (0..near.columns()).map(|d| near.column(d).iter().sum::<f64>() / 10.0).collect();
    let width = saved["width"].as_f64().ok_or(Error::Format { reason: "it has no width".into() })?;
    Ok(Arc::new(Nearest { question: question.clone(), centre, width }))
}

static NEAREST: ModelFamily = ModelFamily {
    name: "nearest",
    title: "nearest",
    summary: "A Gaussian around the nearest simulations",
    format: 3,
    in_auto: false,
    takes_settings: false,
    learn,
    load,
    takes: |_| true,
    in_rounds: InRounds::Not,
    refuses: |_| None,
    words: Words {
        failures: "A failure is far from everything",
        left_out: "with the same width",
        predicted: "{} outputs",
        at_bound: "",
        tolerances_have_a_trend: false,
    },
};

fn known() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| family::add(&NEAREST).unwrap());
}

fn question() -> Question {
    let prior = Prior::independent(vec![("a".into(), kelfi::Marginal::Normal { mean: 0.0, std: 2.0 })]).unwrap();
    let theta = prior.draw(60, 1);
    let x = theta.map_rows(1, |t| vec![t[0] + 0.1 * (7.0 * t[0]).sin()]);
    Question::new(&prior, &Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap())), &Observation::Statistics(vec![1.0]))
}

#[test]
fn it_is_fitted_saved_loaded_and_reported() {
    known();
    let settings = FitOptions::of(ModelChoice::named("nearest").unwrap(), 1);
    let fit = Fit::new(&question(), &settings, &mut |_| true).unwrap();
    assert!((fit.posterior.mean()[0] - 1.0).abs() < 0.5, "{:?}", fit.posterior.mean());
    let calibration = fit.checks().into_iter().find(|check| check.name == "calibration").unwrap();
    assert!(calibration.found.contains("leave-one-out posteriors of the nearest model"), "{}", calibration.found);
    let text = SavedModel::new(fit.model.as_ref()).to_json().unwrap();
    let again = Fit::load(&SavedModel::from_json(&text).unwrap(), Some(&fit.record()), 1, &mut || true).unwrap();
    let samples = |fit: &Fit| independent(&fit.posterior, 50, 1).unwrap().samples;
    assert_eq!(samples(&again), samples(&fit));
    let html = Report::new(&ReportInputs::new("third", &fit, &settings)).unwrap().to_html().unwrap();
    assert!(html.contains("The nearest model was used, as requested."));
    let elsewhere = fit.condition(&Observation::Statistics(vec![-2.0]), 1).unwrap();
    assert!(elsewhere.posterior.mean()[0] < fit.posterior.mean()[0] - 1.0);
}

#[test]
fn the_command_takes_it_like_any_other() {
    known();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let problem = "name = \"third\"\n[simulator]\nbuiltin = \"linear_gaussian\"\n";
    std::fs::write(place("p.toml"), problem).unwrap();
    let typed = ["kelfi", "run", &place("p.toml"), "-n", "200", "--model", "nearest", "-q", "-o", &place("run")];
    let Command::Run(run) = Arguments::parse_from(typed).command else { panic!("it is a run") };
    if let Err(failure) = crate::commands::run::on_these_threads(&run) {
        assert_eq!(failure.exit, crate::failure::Exit::Checks, "{}", failure.message);
    }
    let summary: Value = serde_json::from_str(&std::fs::read_to_string(place("run/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["hyperparameters"]["model"], "nearest");
    assert_eq!((&summary["simulations"]["ok"], summary.get("rounds")), (&200.into(), None), "one round: it cannot say where to simulate");
    assert!(std::fs::read_to_string(place("run/report.html")).unwrap().contains("nearest model"));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    known();
    assert!(family::add(&NEAREST).unwrap_err().to_string().contains("nearest"));
    assert!(family::named("neerest").unwrap_err().to_string().contains("did you mean nearest?"));
}
