//! `kelfi simulate`: only the simulations.

use crate::arguments::Simulate;
use crate::failure::Failure;
use crate::simulate::{self, Wanted};
use crate::{rounds, threads};
use kelfi::rounds::HowMany;
use kelfi::{FitOptions, ModelChoice};

pub fn run(typed: &Simulate) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, typed.simulating.simulations)?;
    if problem.simulator.is_none() {
        let path = problem.path.display();
        return Err(Failure::input(format!(
            "{path}:1: `simulator`: it is missing\n  add a section [simulator], or bring simulations with `kelfi import`"
        )));
    }
    simulate::check(&problem)?;
    let (mut store, made) = directory.open_mended(&problem)?;
    let how_many = typed.simulating.rounds.unwrap_or(HowMany::Exactly(1));
    if how_many == HowMany::Exactly(1) {
        simulate::simulate(&problem, &mut store, &typed.simulating, &Wanted::UpTo(problem.simulations), typed.voice.quiet)?;
    } else {
        threads::use_threads(None)?;
        let settings = FitOptions::of(ModelChoice::Auto, problem.seed);
        rounds::simulate(&problem, &mut store, made, &settings, how_many, &typed.simulating, typed.voice.quiet)?;
    }
    super::say_counts(&store, &directory, &typed.voice, None)
}
