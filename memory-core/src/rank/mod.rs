//! How well a text answers a query.

mod bm25;
mod logit;

pub use bm25::{B, K1, idf, score};
pub use logit::{min_max, sigmoid};
