//! Kernel ABC, the kernel Bayes' rule and Gaussian processes agree with NumPy from the formulas and with scikit-learn, on fixed data.
//!
//! `experiments/peers/arena_values.py` made `peers/values.json`.

use kelfi::Points;
use kelfi::kernel::{Family, Kernel};
use kelfi_baselines::kernel::{kernel_abc, kernel_bayes, median_kernel};
use kelfi_baselines::process::gaussian_process::{GaussianProcess, ProcessHyperparameters, learn, ln_evidence};
use serde_json::Value;

/// Two implementations in double precision with condition numbers up to some 10⁶.
const AGREEMENT: f64 = 1e-6;

fn values() -> Value {
    serde_json::from_str(include_str!("peers/values.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn points(value: &Value) -> Points {
    Points::from_rows(&value.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>()).unwrap()
}

fn agree(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (k, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() < AGREEMENT * (1.0 + b.abs()), "{what} {k}: {a} {b}");
    }
}

#[test]
fn kernel_abc_weights_are_those_of_numpy() {
    let peer = values();
    let (x, y) = (points(&peer["x"]), numbers(&peer["y"]));
    let kernel = median_kernel(&x, 1.0).unwrap();
    agree("median", kernel.length_scales(), &[peer["median_of_x"].as_f64().unwrap(); 3]);
    let ridge = peer["kernel_abc"]["ridge"].as_f64().unwrap();
    agree("weights", &kernel_abc::weights(&kernel, ridge, &x, &y).unwrap(), &numbers(&peer["kernel_abc"]["weights"]));
}

#[test]
fn kernel_bayes_weights_are_those_of_the_published_formula_in_numpy() {
    let peer = values();
    let (z, x, y) = (points(&peer["z"]), points(&peer["x"]), numbers(&peer["y"]));
    let kernels = (median_kernel(&z, 1.0).unwrap(), median_kernel(&x, 1.0).unwrap());
    let [prior_ridge, ridge] = ["prior_ridge", "ridge"].map(|name| peer["kernel_bayes"][name].as_f64().unwrap());
    let ours = kernel_bayes::posterior_weights(&kernels, &z, &x, &y, prior_ridge, ridge).unwrap();
    agree("weights", &ours, &numbers(&peer["kernel_bayes"]["weights"]));
}

#[test]
fn gaussian_processes_predict_and_weigh_as_those_of_scikit_learn() {
    let peer = values();
    let (z, targets) = (points(&peer["z"]), points(&peer["x"]).column(2));
    let of = &peer["processes"];
    let queries = points(&of["queries"]);
    for (name, family) in Family::ALL.iter().map(|family| (family.name(), *family)) {
        let theirs = &of[name];
        let fixed = ProcessHyperparameters {
            kernel: Kernel::new(family, numbers(&of["lengths"])).unwrap(),
            amplitude: of["amplitude"].as_f64().unwrap(),
            noise: of["noise"].as_f64().unwrap(),
        };
        let (value, gradient) = ln_evidence(&z, &targets, &fixed).unwrap();
        agree(name, &[value], &[theirs["ln_evidence"].as_f64().unwrap()]);
        agree(&format!("gradient of {name}"), &gradient, &numbers(&theirs["gradient"]));
        let process = GaussianProcess::new(&z, &targets, fixed).unwrap();
        let (means, variances) = process.predict(&queries);
        agree(&format!("means of {name}"), &means, &numbers(&theirs["means"]));
        agree(&format!("variances of {name}"), &variances, &numbers(&theirs["variances"]));
        let joint = process.joint(queries.row(0), queries.row(1)).unwrap();
        agree(&format!("covariance of {name}"), &[joint.covariance], &[theirs["covariance_of_first_two"].as_f64().unwrap()]);
    }
}

#[test]
fn the_evidence_learned_is_the_largest_that_scikit_learn_finds() {
    /// Our search stops when a step gains less than this order of nats.
    const NATS: f64 = 1e-2;
    let peer = values();
    let (z, targets) = (points(&peer["z"]), points(&peer["x"]).column(2));
    for (name, family) in Family::ALL.iter().map(|family| (family.name(), *family)) {
        let ours = ln_evidence(&z, &targets, &learn(&z, &targets, family).unwrap()).unwrap().0;
        let theirs = peer["processes"][name]["largest_ln_evidence"].as_f64().unwrap();
        assert!((ours - theirs).abs() < NATS, "{name}: {ours} {theirs}");
    }
}
