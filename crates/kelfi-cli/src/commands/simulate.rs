//! `kelfi simulate`: only the simulations.

use crate::arguments::Simulate;
use crate::failure::Failure;
use crate::simulate;

pub fn run(typed: &Simulate) -> Result<(), Failure> {
    let (problem, directory) = super::problem(&typed.place, typed.simulating.simulations)?;
    if problem.simulator.is_none() {
        let path = problem.path.display();
        return Err(Failure::input(format!(
            "{path}:1: `simulator`: it is missing\n  add a section [simulator], or bring simulations with `kelfi import`"
        )));
    }
    simulate::check(&problem)?;
    let (mut store, _) = directory.open_mended(&problem)?;
    simulate::simulate(&problem, &mut store, &typed.simulating, typed.voice.quiet)?;
    super::say_counts(&store, &directory, &typed.voice, None)
}
