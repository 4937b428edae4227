//! Ranking of candidates by their relevance to a query.
//!
//! The evidence for a candidate is a list of features ([`compute_features()`]), which are weighted ([`RankWeights`], one set per [`CollectionKind`] of
//! collection) and summed ([`score_candidates()`]). Recent candidates gain ([`recency()`]), and repetitions of better candidates rank lower
//! ([`select_diverse()`]). If a model reranks the best candidates, its scores replace the sums ([`rerank()`]). All functions are pure.
//!
//! The weights are fitted by `benches/retrieval`, and `--explain` prints the same numbers. Both sets of weights
//! have a logistic curve of their own, so that their relevances are comparable. Conversations with an assistant
//! have a set of their own: the long messages of the assistant repeat the words of every question, and the short
//! ones of the user contain the answers.
//!
//! Neighbours in a conversation count only for a query where those of the best matches match more than a turn
//! does on average, so coherent conversations gain and other collections do not lose. The same applies to
//! sessions, except in conversations with an assistant, where sessions always count, because a session has one
//! subject there.

mod bm25;
mod diversity;
mod features;
mod logit;
mod rerank;
mod text_properties;
mod weights;

pub use bm25::{B, K1, idf, idf_share, saturation};
pub use diversity::{NEAR_DUPLICATE, duplicates_last, select_diverse};
pub use features::{CorpusStatistics, RankCandidate, TurnPosition, compute_features, word_weights};
pub use logit::{FADES_IN, min_max, recency, sigmoid};
pub use rerank::{RerankRules, RerankedCandidate, ScoreNormalization, rerank};
pub use text_properties::TextProperties;
pub use weights::{
    CandidateScore, CollectionKind, PARTS, RankFeature, RankFeatures, RankWeights, Ranker,
    score_candidates,
};
