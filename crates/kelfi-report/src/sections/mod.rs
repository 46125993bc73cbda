//! The sections of the page, in the order a reader asks: trust, parameters, what mattered, what more simulations would improve, where it comes from.

pub mod budget;
pub mod calibration;
pub mod calls;
pub mod contours;
pub mod learned;
pub mod methods;
pub mod modes;
pub mod pairs;
pub mod parameters;
pub mod predictive;
pub mod provenance;
pub mod rounds;
pub mod verdict;
