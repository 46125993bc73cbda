//! `kelfi ask`: the next parameters, to be simulated anywhere.

use crate::arguments::Ask;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::show;
use kelfi_run::seed::simulator_seed;
use kelfi_run::{Proposal, Seeds};
use serde_json::{Map, Value, json};

pub fn run(typed: &Ask) -> Result<(), Failure> {
    let (problem, directory) = if typed.place.is_dir() {
        let directory = Directory::at(&typed.place);
        (directory.problem()?, directory)
    } else {
        (Problem::load(&typed.place)?, Directory::of(&typed.place, typed.out.as_deref()))
    };
    let mut store = directory.open(&problem)?;
    let indices = store.ask(typed.count as usize)?;
    let proposals = store.hand_out(&indices, &|index| problem.theta(index))?;
    let seeds = Seeds::of(store.problem());
    drop(store);
    show::print(&if typed.json { as_json(&problem, seeds, &proposals) } else { as_csv(&problem, seeds, &proposals)? })
}

fn as_csv(problem: &Problem, seeds: Seeds, proposals: &[Proposal]) -> Result<String, Failure> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::unexpected(format!("the parameters cannot be written: {error}"));
    let header = ["index", "seed"].into_iter().chain(problem.prior.names().iter().map(String::as_str));
    csv.write_record(header).map_err(failed)?;
    for Proposal { index, parameters, .. } in proposals {
        let numbers = [index.to_string(), seeds.seed(problem.seed, *index).to_string()];
        let theta = parameters.iter().map(|value| format!("{value:?}"));
        csv.write_record(numbers.into_iter().chain(theta)).map_err(failed)?;
    }
    let bytes = csv.into_inner().map_err(|error| failed(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_json(problem: &Problem, seeds: Seeds, proposals: &[Proposal]) -> String {
    let task = |proposal: &Proposal| {
        let index = proposal.index;
        let parameters: Map<String, Value> =
            problem.prior.names().iter().cloned().zip(proposal.parameters.iter().copied().map(Value::from)).collect();
        let (seed, seed64) = (seeds.seed(problem.seed, index), simulator_seed(problem.seed, index));
        json!({ "index": index, "seed": seed, "seed64": seed64, "parameters": parameters })
    };
    format!("{:#}\n", Value::from(proposals.iter().map(task).collect::<Vec<_>>()))
}
