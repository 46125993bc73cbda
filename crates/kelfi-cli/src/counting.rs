//! What a command does, counted in tests: nothing is to be done twice.

/// Work that takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Reading the whole store.
    Read,
    /// Learning a model.
    Learn,
    /// Building a learned model and its posterior again.
    Rebuild,
    /// Drawing samples.
    Sample,
    /// Finding the numbers of the summary.
    Summarise,
    /// Making the report.
    Report,
}

#[cfg(test)]
thread_local! {
    static DONE: std::cell::RefCell<Vec<Work>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Notes that this is done, where somebody counts.
pub fn note(work: Work) {
    #[cfg(test)]
    DONE.with_borrow_mut(|done| done.push(work));
    #[cfg(not(test))]
    let _ = work;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    const PROBLEM: &str = "seed = 1\nsimulations = 40\n\n[simulator]\nbuiltin = \"exponential_gamma\"\n";

    /// What `kelfi run` with these options does.
    fn done_by(directory: &std::path::Path, options: &[&str]) -> Vec<Work> {
        let problem = directory.join("p.toml");
        let typed = ["kelfi", "run", problem.to_str().unwrap(), "-q"].into_iter().chain(options.iter().copied());
        let Command::Run(run) = Arguments::parse_from(typed).command else { panic!("it is a run") };
        DONE.take();
        if let Err(failure) = crate::commands::run::on_these_threads(&run) {
            assert_eq!(failure.exit, crate::failure::Exit::Checks, "{}", failure.message);
        }
        DONE.take()
    }

    #[test]
    fn a_run_reads_every_simulation_once_and_an_unchanged_one_does_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("p.toml"), PROBLEM).unwrap();
        let everything = [Work::Read, Work::Learn, Work::Sample, Work::Summarise, Work::Report];
        assert_eq!(done_by(directory.path(), &[]), everything);
        let report = std::fs::read(directory.path().join("p/report.html")).unwrap();
        assert_eq!(done_by(directory.path(), &[]), [Work::Read], "nothing has changed");
        assert_eq!(std::fs::read(directory.path().join("p/report.html")).unwrap(), report);
        assert_eq!(done_by(directory.path(), &["-n", "50"]), everything, "what was there is not read again");
        assert_eq!(
            done_by(directory.path(), &["--samples", "100", "-n", "50"]),
            [Work::Read, Work::Rebuild, Work::Sample, Work::Summarise, Work::Report]
        );
        std::fs::write(directory.path().join("p/report.html"), "edited").unwrap();
        assert!(done_by(directory.path(), &["--samples", "100", "-n", "50"]).contains(&Work::Report), "the page is made again");
    }
}
