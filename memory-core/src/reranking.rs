//! Reranking the best hits of a search with a model, and the interface of such models.
//!
//! No model is waited for without a timeout, and none is called without need. If a model fails, the result is the
//! one without it and reports the failure.

use std::fmt::Debug;
use std::sync::Arc;

use crate::rank::{RerankRules, RerankedCandidate, rerank};
use crate::{Hit, Ranking, RerankScore, SearchResults, embedded_text};

/// A reranking model with its parameters.
#[derive(Debug, Clone)]
pub struct Reranking {
    /// The model.
    pub reranker: Arc<dyn Reranker>,
    /// The parameters.
    pub rules: RerankRules,
}

impl Reranking {
    /// Reorders the best hits of `found` by the scores of the model for `question`.
    ///
    /// Hits with a relevance below the threshold are omitted, and so are the hits that the model has not scored. With a
    /// threshold of 0, the latter follow the others in their previous order.
    ///
    /// # Errors
    /// If the model fails, or does not return one finite number for each text.
    pub(crate) fn rerank_results(
        &self,
        question: &str,
        found: SearchResults,
        ranking: &Ranking,
    ) -> Result<SearchResults, RerankError> {
        let shown = &found.hits[..found.hits.len().min(self.rules.candidates)];
        if shown.is_empty() {
            return Ok(found);
        }
        let texts: Vec<String> = shown
            .iter()
            .map(|hit| truncate_chars(&embedded_text(&hit.stored.memory), self.rules.characters))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let scores = self.reranker.score(question, &texts)?;
        let recency: Vec<f32> = shown.iter().map(|hit| hit.explanation.recency).collect();
        let threshold = ranking.threshold.unwrap_or(self.rules.threshold);
        let reread = rerank(
            &scores,
            self.rules.normalise,
            threshold,
            &recency,
            ranking.recency,
        )
        .map_err(|why| RerankError { why, hint: None })?;
        let least = reread.last().map_or(0.0, |last| last.worth);
        let (mut read, unread) = split_hits(found.hits, scores.len());
        let mut hits: Vec<Hit> = reread
            .iter()
            .filter_map(|own| Some(apply_rerank(read[own.number].take()?, own, &scores)))
            .collect();
        let mut total = found.total;
        if 0.0 < threshold {
            total = hits.len() as u64;
        } else {
            // The previous scores are comparable only among these hits; scaling puts them below the reranked ones.
            hits.extend(unread.into_iter().map(|hit| Hit {
                score: least * hit.score,
                ..hit
            }));
        }
        Ok(SearchResults {
            hits,
            total,
            degraded: found.degraded,
            corrected: found.corrected,
        })
    }
}

fn split_hits(mut hits: Vec<Hit>, read: usize) -> (Vec<Option<Hit>>, Vec<Hit>) {
    let unread = hits.split_off(read);
    (hits.into_iter().map(Some).collect(), unread)
}

fn apply_rerank(mut hit: Hit, reread: &RerankedCandidate, scores: &[f32]) -> Hit {
    let before = hit.explanation.relevance;
    hit.score = reread.worth;
    hit.explanation.relevance = reread.relevance;
    hit.explanation.rerank = Some(RerankScore {
        score: scores[reread.number],
        before,
    });
    hit
}

/// Returns the first `characters` characters of a text.
fn truncate_chars(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// A model that reads a query together with each text and scores the relevance of the text.
///
/// It is more accurate than the angle between two vectors, but slower, so only the best hits of a search are
/// scored.
pub trait Reranker: Debug + Send + Sync {
    /// Returns an identifier of the model; scores of different models are never compared.
    fn identity(&self) -> &str;

    /// Returns one finite score for each text, in order: the raw logit of the model.
    ///
    /// A higher score is better. The score of a text does not depend on the other texts, except for rounding.
    /// [`sigmoid()`](crate::rank::sigmoid) and [`min_max()`](crate::rank::min_max) map scores to the range 0 to 1.
    ///
    /// # Errors
    /// If the model does not respond, or does not return one finite number for each text.
    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError>;
}

/// The error that a reranking model returned no scores.
#[derive(Debug, thiserror::Error)]
#[error("the reranking model returned no scores: {why}")]
pub struct RerankError {
    /// The reason.
    pub why: String,
    /// Advice for the user.
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::rank::ScoreNormalization;
    use crate::testing::services;
    use crate::{Draft, Filter, MemStore, Query, SecretPolicy, Services, search, write};

    /// A model that parses the score from the last word of a text, and records its input.
    #[derive(Debug, Default)]
    struct LastWordReranker {
        shown: Mutex<Vec<(String, Vec<String>)>>,
        /// The result to return instead, if any.
        instead: Option<Result<Vec<f32>, &'static str>>,
    }

    impl Reranker for LastWordReranker {
        fn identity(&self) -> &'static str {
            "last-word"
        }

        fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let scores = texts
                .iter()
                .map(|text| {
                    text.rsplit(' ')
                        .next()
                        .and_then(|word| word.parse().ok())
                        .unwrap_or(-9.0)
                })
                .collect();
            self.shown
                .lock()
                .expect("nobody panics")
                .push((query.to_owned(), texts));
            self.instead
                .clone()
                .unwrap_or(Ok(scores))
                .map_err(|why| RerankError {
                    why: why.into(),
                    hint: None,
                })
        }
    }

    struct RerankHome {
        services: Services,
        model: Arc<LastWordReranker>,
    }

    impl RerankHome {
        /// Returns a home in which lexical search ranks `texts` in the given order.
        fn new(
            texts: &[&str],
            rules: RerankRules,
            instead: Option<Result<Vec<f32>, &'static str>>,
        ) -> Self {
            let model = Arc::new(LastWordReranker {
                instead,
                ..LastWordReranker::default()
            });
            let reranking = Some(Reranking {
                reranker: Arc::clone(&model) as Arc<dyn Reranker>,
                rules,
            });
            let services = Services {
                reranking,
                ..services(Arc::new(MemStore::default()))
            };
            for (number, text) in texts.iter().enumerate() {
                let text = format!("{}{text}", "tea ".repeat(texts.len() - number));
                write(&services, Draft::new(&text), SecretPolicy::Refuse).expect("it is kept");
            }
            Self { services, model }
        }

        fn ask(&self, text: &str, limit: usize, ranking: Ranking) -> SearchResults {
            let query = Query {
                text: text.into(),
                filter: Filter::default(),
                limit,
                ranking,
            };
            search(&self.services, &query).expect("it is answered")
        }

        fn order(&self, limit: usize, threshold: Option<f32>) -> Vec<String> {
            last_words(&self.ask(
                "tea",
                limit,
                Ranking {
                    threshold,
                    ..Ranking::default()
                },
            ))
        }
    }

    fn last_words(found: &SearchResults) -> Vec<String> {
        let last = |hit: &Hit| {
            hit.stored
                .memory
                .content
                .rsplit(' ')
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        found.hits.iter().map(last).collect()
    }

    const TEXTS: [&str; 4] = ["-3", "2", "-0.5", "5"];

    fn home(rules: RerankRules) -> RerankHome {
        RerankHome::new(&TEXTS, rules, None)
    }

    #[test]
    fn the_order_is_the_models_and_what_it_finds_irrelevant_is_left_out() {
        let home = home(RerankRules::default());
        let found = home.ask("tea", 10, Ranking::default());
        assert_eq!(
            (last_words(&found), found.total, found.degraded),
            (vec!["5".into(), "2".into(), "-0.5".into()], 3, None)
        );
        let best = &found.hits[0].explanation;
        let said = best.rerank.expect("the model has read it");
        assert!(
            said.score.to_bits() == 5_f32.to_bits()
                && said.before < best.relevance
                && 0.99 < best.relevance
        );
        assert_eq!(home.order(2, None), ["5", "2"]);
    }

    #[test]
    fn the_threshold_of_a_question_wins() {
        let home = home(RerankRules::default());
        assert_eq!(home.order(10, Some(0.0)), ["5", "2", "-0.5", "-3"]);
        assert_eq!(home.order(10, Some(0.9)), ["5"]);
        assert!(
            home.ask(
                "tea",
                10,
                Ranking {
                    threshold: Some(1.0),
                    ..Ranking::default()
                }
            )
            .hits
            .is_empty()
        );
        let among = RerankRules {
            normalise: ScoreNormalization::MinMax,
            ..RerankRules::default()
        };
        assert_eq!(self::home(among).order(10, Some(1.0)), ["5"]);
    }

    #[test]
    fn what_it_has_not_read_comes_last_or_not_at_all() {
        let home = home(RerankRules {
            candidates: 2,
            ..RerankRules::default()
        });
        assert_eq!(home.order(10, None), ["2"]);
        let found = home.ask(
            "tea",
            10,
            Ranking {
                threshold: Some(0.0),
                ..Ranking::default()
            },
        );
        assert_eq!(
            (last_words(&found), found.total),
            (vec!["2".into(), "-3".into(), "-0.5".into(), "5".into()], 4)
        );
        assert!(
            found
                .hits
                .is_sorted_by(|one, other| other.score <= one.score)
        );
        assert!(found.hits[2].explanation.rerank.is_none());
    }

    #[test]
    fn a_model_that_fails_leaves_the_answer_as_it_is_without_it() {
        for wrong in [
            Err("it is asleep"),
            Ok(vec![1.0]),
            Ok(vec![f32::NAN; 4]),
            Ok(vec![1.0; 5]),
        ] {
            let home = RerankHome::new(&TEXTS, RerankRules::default(), Some(wrong));
            let found = home.ask("tea", 2, Ranking::default());
            assert_eq!(
                (last_words(&found), found.total),
                (vec!["-3".into(), "2".into()], 4)
            );
            let degraded = found.degraded.expect("it says so");
            assert!(
                degraded.ends_with("the results are not reranked"),
                "{degraded}"
            );
            // The threshold then applies to the relevance of the store, which is 0.8, 0.75, 0.67 and 0.5.
            assert_eq!(home.order(10, Some(0.7)), ["-3", "2"]);
        }
    }

    #[test]
    fn it_is_shown_the_question_and_the_beginnings_of_texts() {
        let home = home(RerankRules {
            characters: 9,
            ..RerankRules::default()
        });
        home.ask("a tea -coffee scope:global", 10, Ranking::default());
        let shown = home.model.shown.lock().expect("nobody panics");
        let beginnings = ["tea tea t", "tea tea t", "tea tea -", "tea 5"].map(str::to_owned);
        assert_eq!(*shown, [("a tea".to_owned(), beginnings.to_vec())]);
    }

    #[test]
    fn it_is_not_asked_where_there_is_nothing_to_read() {
        let home = home(RerankRules::default());
        assert_eq!(home.ask("coffee", 10, Ranking::default()).total, 0);
        assert_eq!(home.ask("tea", 0, Ranking::default()).total, 4);
        assert!(home.model.shown.lock().expect("nobody panics").is_empty());
    }

    #[test]
    fn newness_and_diversity_count_afterwards() {
        let home = RerankHome::new(
            &["green 3", "green 3.1", "black 2"],
            RerankRules::default(),
            None,
        );
        assert_eq!(home.order(10, None), ["3.1", "3", "2"]);
        let diverse = Ranking {
            diversity: 0.5,
            ..Ranking::default()
        };
        assert_eq!(last_words(&home.ask("tea", 10, diverse)), ["3.1", "2", "3"]);
    }
}
