//! How far a fit has come, for progress bars, and whether to go on.

/// A step of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub done: usize,
    /// Steps expected in all.
    pub expected: usize,
    /// Best objective so far.
    pub best: f64,
}

/// Called after every step; answers whether to go on.
pub type OnProgress<'a> = &'a mut (dyn FnMut(Progress) -> bool + Send);
