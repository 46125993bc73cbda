//! The conformance kit of methods of inference: what a comparison on equal terms relies on.

use crate::method::calls::PriorSimulations;
use crate::method::{Answer, Calls, Method, Task};
use crate::random::standard_normal;
use crate::{Error, Marginal, Points, Prior};
use rand::Rng;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls of the kit's usual task, and samples looked at.
const BUDGET: usize = 100;
const SAMPLES: usize = 200;
const SEED: u64 = 7;
/// The observation (x₁, x₂); no other than this one is asked about.
const OBSERVATION: [f64; 2] = [0.4, 0.6];

/// Whether a method keeps to its budget to the call, gives the same bits for any number of threads, answers inside the prior's support with
/// finite densities, refuses a budget of nothing, takes failing simulators and a budget of one call with an answer or an error that says
/// something, and ends when told to.
///
/// The message names the broken promise. Infers nine times with at most 100 calls of a simulator that costs nothing.
pub fn check_method(method: &dyn Method) -> Result<(), String> {
    let sometimes = |theta: &[f64], rng: &mut dyn Rng| if theta[0] > 0.8 { None } else { good(theta, rng) };
    let nan = |theta: &[f64], rng: &mut dyn Rng| if theta[0] > 0.8 { Some(vec![f64::NAN; 2]) } else { good(theta, rng) };
    let never = |_: &[f64], _: &mut dyn Rng| -> Option<Vec<f64>> { None };
    named(method)?;
    sound("an ordinary task", &answered(method, &good, BUDGET, 1)?)?;
    same_bits(method, &good)?;
    refuses_nothing(&good)?;
    for (what, simulator) in [("failing now and then", &sometimes as &Simulates), ("NaN now and then", &nan)] {
        sound(what, &answered(method, simulator, BUDGET, 1).map_err(|error| format!("with a simulator {what}: {error}"))?)?;
    }
    for (what, simulator, budget) in [("a simulator that always fails", &never as &Simulates, BUDGET), ("one call", &good, 1)] {
        answer_or_sentence(method, what, simulator, budget)?;
    }
    ends_when_told(method, &good)
}

/// Both parameters with noise.
fn good(theta: &[f64], rng: &mut dyn Rng) -> Option<Vec<f64>> {
    Some(vec![theta[0] + 0.5 * standard_normal(rng), theta[1] + 0.2 * standard_normal(rng)])
}

type Simulates = dyn Fn(&[f64], &mut dyn Rng) -> Option<Vec<f64>> + Sync;

/// One normal and one bounded parameter.
fn prior() -> Result<Prior, Error> {
    Prior::independent(vec![
        ("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 }),
        ("b".into(), Marginal::Uniform { low: -1.0, high: 2.0 }),
    ])
}

fn named(method: &dyn Method) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if method.name().is_empty() || !method.name().chars().all(plain) {
        return Err(format!("its name {:?} must be lower-case letters, digits and hyphens", method.name()));
    }
    let blank = [method.description(), method.reference()].iter().any(|text| text.trim().is_empty() || text.contains('\n'));
    if blank { Err("its description and its reference must be one line each".into()) } else { Ok(()) }
}

/// What a method gave, and whether the counts of calls agree.
struct Given {
    answer: Result<Answer, Error>,
    samples: Option<Points>,
    prior: Prior,
    /// Calls at parameters of the method's own.
    elsewhere: usize,
}

fn asked(method: &dyn Method, simulator: &Simulates, budget: usize, threads: usize, go_on: bool) -> Result<Given, String> {
    let said = |error: Error| error.to_string();
    let made = AtomicUsize::new(0);
    let counted = |theta: &[f64], rng: &mut dyn Rng| {
        made.fetch_add(1, Ordering::SeqCst);
        simulator(theta, rng)
    };
    let prior = prior().map_err(said)?;
    let ready = PriorSimulations::new(&prior, &counted, OBSERVATION.len(), SEED);
    let calls = Calls::new(&counted, &ready, budget, SEED).map_err(said)?;
    let task = Task { prior: &prior, observation: &OBSERVATION, calls: &calls, seed: SEED, go_on: &|| go_on };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| format!("no threads could be had: {error}"))?;
    let answer = pool.install(|| method.infer(&task));
    let made = made.load(Ordering::SeqCst);
    if made > budget || made != calls.made() {
        return Err(format!("the simulator was called {made} times and {} were counted, of a budget of {budget}", calls.made()));
    }
    let samples = answer.as_ref().ok().map(|answer| answer.samples(SAMPLES, SEED)).transpose().map_err(said)?;
    let elsewhere = calls.made_elsewhere();
    Ok(Given { answer, samples, prior, elsewhere })
}

fn answered(method: &dyn Method, simulator: &Simulates, budget: usize, threads: usize) -> Result<Given, String> {
    let given = asked(method, simulator, budget, threads, true)?;
    match &given.answer {
        Ok(_) => Ok(given),
        Err(error) => Err(format!("{budget} calls gave no answer: {error}")),
    }
}

/// Samples inside the prior's support, and finite densities there.
fn sound(what: &str, given: &Given) -> Result<(), String> {
    let (Ok(answer), Some(samples)) = (&given.answer, &given.samples) else { return Ok(()) };
    if samples.rows() != SAMPLES {
        return Err(format!("{what}: {} samples instead of {SAMPLES}", samples.rows()));
    }
    for theta in samples.iter() {
        let ln_prior = given.prior.ln_density(theta).unwrap_or(f64::NAN);
        if !ln_prior.is_finite() {
            return Err(format!("{what}: the sample {theta:?} lies outside the prior's support"));
        }
        match answer.gain(theta) {
            Ok(gain) if gain.is_finite() => (),
            Ok(gain) => return Err(format!("{what}: ln of posterior over prior density is {gain} at its own sample {theta:?}")),
            Err(error) => return Err(format!("{what}: no density at its own sample {theta:?}: {error}")),
        }
    }
    Ok(())
}

fn same_bits(method: &dyn Method, simulator: &Simulates) -> Result<(), String> {
    let bits = |threads: usize| -> Result<Vec<u64>, String> {
        let given = answered(method, simulator, BUDGET, threads)?;
        Ok(given.samples.iter().flat_map(|samples| samples.values().iter().map(|v| v.to_bits())).collect())
    };
    let alone = bits(1)?;
    if alone != bits(1)? {
        return Err("the same seed gives other samples the second time".into());
    }
    if alone != bits(4)? { Err("four threads give other samples than one".into()) } else { Ok(()) }
}

fn refuses_nothing(simulator: &Simulates) -> Result<(), String> {
    let prior = prior().map_err(|error| error.to_string())?;
    let ready = PriorSimulations::new(&prior, simulator, OBSERVATION.len(), SEED);
    match Calls::new(simulator, &ready, 0, SEED) {
        Ok(_) => Err("a budget of no calls is accepted".into()),
        Err(_) => Ok(()),
    }
}

fn answer_or_sentence(method: &dyn Method, what: &str, simulator: &Simulates, budget: usize) -> Result<(), String> {
    let given = asked(method, simulator, budget, 1, true).map_err(|error| format!("with {what}: {error}"))?;
    match &given.answer {
        Err(error) if error.to_string().trim().len() < 10 => Err(format!("with {what} the error says too little: {:?}", error.to_string())),
        Err(_) => Ok(()),
        Ok(_) => sound(what, &given),
    }
}

/// Told to stop at once it says so, unless it had an answer anyway, and chooses no parameters to simulate at.
fn ends_when_told(method: &dyn Method, simulator: &Simulates) -> Result<(), String> {
    let given = asked(method, simulator, BUDGET, 1, false)?;
    match given.answer {
        _ if given.elsewhere > 0 => Err(format!("told to stop it still makes {} calls of its own", given.elsewhere)),
        Ok(_) | Err(Error::Interrupted) => Ok(()),
        Err(error) => Err(format!("told to stop it says: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Particles;

    /// What a method may get wrong.
    #[derive(Clone, Copy, PartialEq)]
    enum Fault {
        Nothing,
        ThreadsMatter,
        Unmindful,
        Nameless,
        Deaf,
    }

    struct Sloppy(Fault);

    impl Method for Sloppy {
        fn name(&self) -> &'static str {
            if self.0 == Fault::Nameless { "Sloppy Method" } else { "sloppy" }
        }

        fn description(&self) -> &'static str {
            "a method with a fault"
        }

        fn reference(&self) -> &'static str {
            "nobody"
        }

        fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
            let simulations = task.calls.from_prior(task.calls.budget() - usize::from(self.0 == Fault::Deaf))?;
            let weight = |x: &[f64]| if x[0].is_finite() { (-(x[0] - task.observation[0]).powi(2)).exp() } else { 0.0 };
            let mut weights: Vec<f64> = simulations.outputs().iter().map(weight).collect();
            match self.0 {
                Fault::ThreadsMatter => weights[0] += rayon::current_num_threads() as f64,
                Fault::Deaf => drop(task.calls.at(&task.prior.draw(1, 1))?),
                Fault::Unmindful if simulations.failed().contains(&true) => return Err(Error::AllFailed { count: 0 }),
                _ => (),
            }
            Ok(Answer::Particles(Particles::new(task.prior, simulations.theta(), &weights)?))
        }
    }

    #[test]
    fn a_sound_method_passes_and_each_fault_is_named() {
        assert_eq!(check_method(&Sloppy(Fault::Nothing)), Ok(()));
        for (fault, said) in [
            (Fault::ThreadsMatter, "four threads"),
            (Fault::Unmindful, "failing now and then"),
            (Fault::Nameless, "its name"),
            (Fault::Deaf, "still makes 1 calls"),
        ] {
            let message = check_method(&Sloppy(fault)).unwrap_err();
            assert!(message.contains(said), "{message}");
        }
    }
}
