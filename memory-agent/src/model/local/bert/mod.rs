//! The BERT network, as described by Devlin et al. in 2018.

mod config;
mod encoder;
mod grid;
mod layer;
mod math;
mod weights;

pub(super) use config::Config;
pub(super) use encoder::{Encoder, Workspace, groups};
pub(super) use grid::Grid;
pub(super) use layer::Linear;
pub(super) use weights::{Table, Weights};
