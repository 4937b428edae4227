//! How well a text answers a query.

mod bm25;

pub use bm25::{B, K1, idf, score};
