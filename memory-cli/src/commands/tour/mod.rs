//! The `memory tour` command.

mod sandbox;
mod steps;

pub(super) use steps::TourArgs;
