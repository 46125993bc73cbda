//! `kelfi ask`: the next parameters, to be simulated anywhere.

use crate::arguments::Ask;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::show;
use kelfi_run::task::simulator_seed;
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
    drop(store);
    show::print(&if typed.json { as_json(&problem, &indices) } else { as_csv(&problem, &indices)? })
}

fn as_csv(problem: &Problem, indices: &[u64]) -> Result<String, Failure> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::unexpected(format!("the parameters cannot be written: {error}"));
    let header = ["index", "seed"].into_iter().chain(problem.prior.names().iter().map(String::as_str));
    csv.write_record(header).map_err(failed)?;
    for &index in indices {
        let numbers = [index.to_string(), simulator_seed(problem.seed, index).to_string()];
        let theta = problem.theta(index).into_iter().map(|value| format!("{value:?}"));
        csv.write_record(numbers.into_iter().chain(theta)).map_err(failed)?;
    }
    let bytes = csv.into_inner().map_err(|error| failed(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_json(problem: &Problem, indices: &[u64]) -> String {
    let task = |&index: &u64| {
        let parameters: Map<String, Value> =
            problem.prior.names().iter().cloned().zip(problem.theta(index).into_iter().map(Value::from)).collect();
        json!({ "index": index, "seed": simulator_seed(problem.seed, index), "parameters": parameters })
    };
    format!("{:#}\n", Value::from(indices.iter().map(task).collect::<Vec<_>>()))
}
