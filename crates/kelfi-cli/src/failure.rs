//! Why the command ends without success: a message for the user and an exit code for scripts.

use std::path::Path;

/// The exit codes other than 0. Scripts rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Something nobody foresaw.
    Unexpected,
    /// Bad input; nothing was started.
    Input,
    /// The store is damaged or in use.
    Store,
    /// Too many simulations failed.
    Simulations,
    /// Inference refused.
    Inference,
    /// Finished and everything is written, but a check failed.
    Checks,
    /// Stopped by the user; can be continued.
    Interrupted,
}

impl Exit {
    /// The number the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Unexpected => 1,
            Self::Input => 2,
            Self::Store => 3,
            Self::Simulations => 4,
            Self::Inference => 5,
            Self::Checks => 6,
            Self::Interrupted => 130,
        }
    }
}

/// A message with the exit code that goes with it.
#[derive(Debug)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// One sentence of fact, one of advice.
    pub message: String,
}

impl Failure {
    /// Bad input.
    pub fn input(message: impl Into<String>) -> Self {
        Self { exit: Exit::Input, message: message.into() }
    }

    /// Too many failed simulations.
    pub fn simulations(message: impl Into<String>) -> Self {
        Self { exit: Exit::Simulations, message: message.into() }
    }

    /// Stopped by the user.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self { exit: Exit::Interrupted, message: message.into() }
    }

    /// Failed checks of a result that is there.
    pub fn checks(message: impl Into<String>) -> Self {
        Self { exit: Exit::Checks, message: message.into() }
    }

    /// Something nobody foresaw.
    pub fn unexpected(message: impl Into<String>) -> Self {
        Self { exit: Exit::Unexpected, message: message.into() }
    }

    /// The line on stderr.
    pub fn line(&self) -> String {
        match self.exit {
            // Everything asked for was done.
            Exit::Checks => self.message.clone(),
            _ => format!("error: {}", self.message),
        }
    }

    /// A file given by the user that cannot be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!("{} cannot be read: {error}\n  check the name and the file's permissions", path.display()))
    }
}

impl From<kelfi_run::Error> for Failure {
    fn from(error: kelfi_run::Error) -> Self {
        use kelfi_run::Error as E;
        let exit = match &error {
            E::Setting { .. }
            | E::Missing { .. }
            | E::ChangedProblem { .. }
            | E::Results { .. }
            | E::Conflict { .. }
            | E::NotWritable { .. } => Exit::Input,
            E::InUse { .. } | E::NotPlain { .. } | E::Damaged { .. } | E::NotAStore { .. } | E::Newer { .. } => Exit::Store,
            _ => Exit::Unexpected,
        };
        Self { exit, message: error.to_string() }
    }
}

impl From<kelfi::Error> for Failure {
    fn from(error: kelfi::Error) -> Self {
        let exit = match &error {
            kelfi::Error::Interrupted => Exit::Interrupted,
            kelfi::Error::AllFailed { .. } => Exit::Simulations,
            _ => Exit::Inference,
        };
        let message = match &error {
            kelfi::Error::Interrupted => "interrupted while learning\n  all simulations are kept; run again to continue".into(),
            other => other.to_string(),
        };
        Self { exit, message }
    }
}

impl From<kelfi_report::Error> for Failure {
    fn from(error: kelfi_report::Error) -> Self {
        match error {
            kelfi_report::Error::Inference(error) => error.into(),
            page => Self::unexpected(page.to_string()),
        }
    }
}
