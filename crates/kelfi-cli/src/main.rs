//! The `kelfi` command: arguments → settings → stages.

mod answer;
mod answers;
mod arguments;
mod commands;
mod counting;
mod date;
mod directory;
mod failure;
mod figures;
mod fingerprint;
#[cfg(test)]
mod hostile;
mod infer;
mod interrupt;
mod made;
mod model_file;
mod paragraph;
mod problem;
mod progress;
mod question;
mod reading;
mod report;
mod rounds;
mod seal;
mod seeds;
mod show;
mod simulate;
mod summary;
#[cfg(test)]
mod third_model;
mod threads;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match carry_out(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            show::say(&failure.line());
            ExitCode::from(failure.exit.code())
        }
    }
}

fn carry_out(arguments: &Arguments) -> Result<(), Failure> {
    interrupt::listen()?;
    match &arguments.command {
        Command::Run(run) => commands::run::run(run),
        Command::Init(init) => commands::init::run(init),
        Command::Check(check) => commands::check::run(check),
        Command::Simulate(simulate) => commands::simulate::run(simulate),
        Command::Import(import) => commands::import::run(import),
        Command::Export(export) => commands::export::run(export),
        Command::Ask(ask) => commands::ask::run(ask),
        Command::Tell(tell) => commands::tell::run(tell),
        Command::Infer(infer) => commands::infer::run(infer),
        Command::Learn(learn) => commands::learn::run(learn),
        Command::Sample(sample) => commands::sample::run(sample),
        Command::Report(report) => commands::report::run(report),
        Command::Inspect(inspect) => commands::inspect::run(inspect),
        Command::Problems(problems) => commands::problems::run(problems),
        Command::Methods(methods) => commands::methods::run(methods),
        Command::Compare(compare) => commands::compare::run(compare),
        Command::Completions { shell } => commands::documents::completions(*shell),
        Command::Man => commands::documents::man(),
    }
}
