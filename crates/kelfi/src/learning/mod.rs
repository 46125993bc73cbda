//! Choosing ε, β and λ.

/// The paper's objective ln q(y) and its gradient.
pub mod evidence;
