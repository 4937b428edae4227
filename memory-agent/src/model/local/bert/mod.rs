//! The BERT network, as described by Devlin et al. in 2018.

mod config;
mod encoder;
mod grid;
mod layer;
mod math;
mod weights;

pub(super) use config::BertConfig;
pub(super) use encoder::{Encoder, EncoderBuffers, split_batches};
pub(super) use grid::Grid;
pub(super) use layer::Linear;
pub(super) use weights::{ModelWeights, RowTensor};
