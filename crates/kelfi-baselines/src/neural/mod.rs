//! Small neural networks and the methods that use them.
//!
//! The networks are our own, some two hundred lines: the frameworks of the field take longer to compile than all of kelfi.

/// Gradient steps with a memory.
pub mod adam;
/// Outputs of a network as a Gaussian mixture.
pub mod head;
/// Mixture density networks.
pub mod mixture_density;
/// A feed-forward network with its gradient.
pub mod network;
/// A network that tells pairs (θ, x) of the model from shuffled ones.
pub mod ratio;
/// One loop for all of them.
pub mod training;
