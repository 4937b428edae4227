//! How well a text answers a question.
//!
//! What speaks for a candidate is gathered as numbers ([`evidence()`]), weighed ([`Weights`], of which each [`Shape`] of collections has its own) and summed up ([`score()`]); what
//! is recent gains ([`recency()`]), and what repeats a better one is put back ([`diverse()`]). Where a model reads the best again,
//! its scores take the place of the sums ([`rerank()`]). All of it is pure.

mod bm25;
mod diversity;
mod evidence;
mod facts;
mod logit;
mod recency;
mod rerank;
mod score;
mod weights;

pub use bm25::{B, K1, idf, idf_share, saturation};
pub use diversity::{NEAR_DUPLICATE, diverse, duplicates_last};
pub use evidence::{Candidate, Evidence, Seat, Statistics, evidence, worths};
pub use facts::Facts;
pub use logit::{min_max, sigmoid};
pub use recency::{FADES_IN, recency};
pub use rerank::{Normalise, RerankRules, Reread, rerank};
pub use score::{Scored, score};
pub use weights::{PARTS, Part, Ranker, Shape, Weights};
