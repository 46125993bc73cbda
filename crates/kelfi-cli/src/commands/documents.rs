//! `kelfi completions` and `kelfi man`: made from the arguments themselves.

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::show;
use clap::CommandFactory;

/// Completions for a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "kelfi", &mut text);
    show::print(&String::from_utf8_lossy(&text))
}

/// The manual page, the commands' own pages after it.
pub fn man() -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    let mut text = Vec::new();
    let failed = |error: std::io::Error| Failure::unexpected(format!("the manual page cannot be written: {error}"));
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        clap_mangen::Man::new(subcommand.clone()).render(&mut text).map_err(failed)?;
    }
    show::print(&String::from_utf8_lossy(&text))
}
