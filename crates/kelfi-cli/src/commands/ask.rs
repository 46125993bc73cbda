//! `kelfi ask`: the next parameters, to be simulated anywhere.

use crate::arguments::Ask;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::made::Made;
use crate::problem::ProblemFile;
use crate::{rounds, show, threads};
use kelfi::rounds::HowMany;
use kelfi::{FitOptions, ModelChoice};
use kelfi_run::seed::simulator_seed;
use kelfi_run::{Proposal, Seeds, Store};
use serde_json::{Map, Value, json};

pub fn run(typed: &Ask) -> Result<(), Failure> {
    let (problem, directory) = if typed.place.is_dir() {
        let directory = Directory::at(&typed.place);
        (directory.problem()?, directory)
    } else {
        (ProblemFile::load(&typed.place)?, Directory::of(&typed.place, typed.out.as_deref()))
    };
    let mut store = directory.open(&problem)?;
    let end = if typed.rounds == HowMany::Exactly(1) { u64::MAX } else { end_of_round(&problem, &mut store, typed.rounds)? };
    let indices = store.ask_below(typed.count as usize, end)?;
    if indices.is_empty() {
        return Err(nothing_to_ask(&store, &problem)?);
    }
    let proposals = store.hand_out(&indices, &|index| problem.theta(index))?;
    let seeds = Seeds::of(store.problem());
    drop(store);
    show::print(&if typed.json { as_json(&problem, seeds, &proposals) } else { as_csv(&problem, seeds, &proposals)? })
}

/// The index where the present round ends; the next one is proposed where it was told completely.
fn end_of_round(problem: &ProblemFile, store: &mut Store, how_many: HowMany) -> Result<u64, Failure> {
    let first = rounds::first_round(problem, how_many);
    if !store.missing(first)?.is_empty() {
        return Ok(first);
    }
    let made = Made::read(store)?;
    threads::use_threads(None)?;
    let settings = FitOptions::of(ModelChoice::Auto, problem.seed);
    let mut told = rounds::told(problem, store, &made, &settings, how_many)?;
    let proposals = match rounds::of_round(store, &made, told.rounds_told())? {
        open if !open.is_empty() => open,
        _ => rounds::ask(&mut told, store, true)?.unwrap_or_default(),
    };
    Ok(proposals.iter().map(|proposal| proposal.index + 1).max().unwrap_or(0))
}

/// Why there is nothing to hand out.
fn nothing_to_ask(store: &Store, problem: &ProblemFile) -> Result<Failure, Failure> {
    let out = store.outstanding()?.len();
    Ok(Failure::input(match out {
        0 => format!(
            "nothing is left to simulate: all {} simulations of all rounds have been told\n  `kelfi learn` computes the posterior; increase `simulations` in the problem file for more",
            problem.simulations
        ),
        _ => format!(
            "this round still lacks {}\n  the next round depends on them: tell them first, or make them here with `kelfi run --withdraw`",
            kelfi::words::counted(out as u64, "result")
        ),
    }))
}

fn as_csv(problem: &ProblemFile, seeds: Seeds, proposals: &[Proposal]) -> Result<String, Failure> {
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

fn as_json(problem: &ProblemFile, seeds: Seeds, proposals: &[Proposal]) -> String {
    let task = |proposal: &Proposal| {
        let index = proposal.index;
        let parameters: Map<String, Value> =
            problem.prior.names().iter().cloned().zip(proposal.parameters.iter().copied().map(Value::from)).collect();
        let (seed, seed64) = (seeds.seed(problem.seed, index), simulator_seed(problem.seed, index));
        json!({ "index": index, "seed": seed, "seed64": seed64, "parameters": parameters })
    };
    format!("{:#}\n", Value::from(proposals.iter().map(task).collect::<Vec<_>>()))
}
