//! Ranking of candidates by their relevance to a query.
//!
//! The evidence for a candidate is a list of features ([`evidence()`]), which are weighted ([`Weights`], one set per [`Shape`] of
//! collection) and summed ([`score()`]). Recent candidates gain ([`recency()`]), and repetitions of better candidates rank lower
//! ([`diverse()`]). If a model reranks the best candidates, its scores replace the sums ([`rerank()`]). All functions are pure.

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
