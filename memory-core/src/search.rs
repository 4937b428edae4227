//! The search use case, and the query vector that it needs.

use std::slice;

use chrono::{DateTime, Utc};

use crate::earlier::{MAX_COMPARED, order_versions, replacement_test};
use crate::embed::{count_memories, embed_few};
use crate::query_parser::{ParsedQuery, TextQuery, parse, parse_sentence, to_first_person};
use crate::spelling::{WordCorrection, correct_query, correctable_words};
use crate::text::WordOverlaps;
use crate::{
    EmbedError, Embedder, Embedding, Filter, Hit, Memory, Query, QueryVector, Ranking, Reranking,
    SearchRequest, SearchResults, Services, StoreError, is_nonzero, rank,
};

/// Minimum number of hits that are reordered for diversity.
///
/// All limits up to `WEIGHED - SPARE` reorder the same hits, so that the first hits do not depend on the limit.
const MIN_DIVERSIFIED: usize = 150;

/// Number of hits beyond the limit that are reordered for diversity.
const SPARE_HITS: usize = 100;

/// Returns the memories that match `query`, best first, reranked by a model if one is configured.
///
/// A failing model only lowers the quality of the result; the reason is in `degraded`.
///
/// # Errors
/// Returns [`StoreError::Invalid`] if the query contains no searchable word, and other errors if the store cannot search. An empty result
/// always means that no memory matches.
pub fn search(services: &Services, query: &Query) -> Result<SearchResults, StoreError> {
    let parsed = parse_words(query)?;
    services.store.refresh()?;
    search_parsed(services, query, parsed, Spelling::Corrected)
}

/// Searches as [`search()`] does, in the files that the last [`crate::MemoryStore::refresh`] detected.
pub(crate) fn search_refreshed(
    services: &Services,
    query: &Query,
) -> Result<SearchResults, StoreError> {
    search_parsed(services, query, parse_words(query)?, Spelling::Corrected)
}

/// Searches as [`search_refreshed()`] does for the words of a sentence, in which nothing is an operator or a filter, as they are spelled.
pub(crate) fn search_sentence(
    services: &Services,
    query: &Query,
) -> Result<SearchResults, StoreError> {
    let parsed = parse_sentence(&query.text, &query.filter);
    search_parsed(
        services,
        query,
        require_words(query, parsed)?,
        Spelling::Exact,
    )
}

/// Returns the newest note that replaces a note, if any.
pub(crate) fn find_replacement(
    services: &Services,
    older: &Memory,
) -> Result<Option<Hit>, StoreError> {
    let Some(replaces) = replacement_test(older) else {
        return Ok(None);
    };
    let by_words = Services {
        embedder: None,
        reranking: None,
        ..services.clone()
    };
    let query = Query {
        text: older.content.clone(),
        filter: Filter::default(),
        limit: MAX_COMPARED,
        ranking: Ranking::default(),
    };
    let hits = match search_sentence(&by_words, &query) {
        Ok(found) => found.hits,
        Err(StoreError::Invalid { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let newer = hits
        .into_iter()
        .filter(|hit| !hit.explanation.is_turn && replaces(&hit.stored.memory));
    Ok(newer.max_by_key(|hit| hit.stored.memory.last_stated_at()))
}

/// Parses a query; a query without a searchable word is an error.
pub(crate) fn parse_words(query: &Query) -> Result<ParsedQuery, StoreError> {
    require_words(query, parse(&query.text, &query.filter))
}

fn require_words(query: &Query, parsed: ParsedQuery) -> Result<ParsedQuery, StoreError> {
    if parsed.question.words.is_empty() {
        let has_bounds = query.filter.from.is_some() || query.filter.until.is_some();
        let why = if has_bounds || query.text.contains(char::is_alphanumeric) {
            "contains only filters; add a word to search for, or list the memories"
        } else {
            "contains no letter, digit or symbol"
        };
        return Err(StoreError::Invalid {
            why: format!("nothing to search for: {:?} {why}", query.text),
        });
    }
    Ok(parsed)
}

/// Whether misspelled words of a query are corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Corrected,
    Exact,
}

/// Returns the corrections of the words of a query that no memory in the scopes of `filter` contains.
pub(crate) fn find_corrections(
    services: &Services,
    question: &TextQuery,
    filter: &Filter,
) -> Result<Vec<WordCorrection>, StoreError> {
    if correctable_words(question).is_empty() {
        return Ok(Vec::new());
    }
    let within = match (&filter.scope, &filter.within) {
        (Some(scope), Some(within)) if !within.contains(scope) => return Ok(Vec::new()),
        (Some(scope), _) => Some(slice::from_ref(scope)),
        (None, within) => within.as_deref(),
    };
    services.store.correct_words(question, within)
}

fn search_parsed(
    services: &Services,
    query: &Query,
    parsed: ParsedQuery,
    spelling: Spelling,
) -> Result<SearchResults, StoreError> {
    let ParsedQuery {
        mut question,
        filter,
        misread,
    } = parsed;
    let mut troubles = Vec::new();
    let corrections = match spelling {
        Spelling::Corrected => find_corrections(services, &question, &filter)?,
        Spelling::Exact => Vec::new(),
    };
    let mut corrected = correct_query(&question, &corrections, true);
    let mut text = query.text.as_str();
    if let Some((with, _)) = &corrected {
        question = with.clone();
        text = &with.text;
    }
    let embedder = current_embedder(services).filter(|_| !question.is_exact());
    let vector = embedder.and_then(|embedder| {
        let vector = embed_query(services, embedder, text, &question);
        let vector = vector.unwrap_or_else(|why| {
            troubles.push(format!("{why}; searched by words only"));
            None
        });
        troubles.extend(missing_vectors(services, embedder, vector.is_some()));
        vector
    });
    let vector = vector.as_deref().zip(embedder);
    let vector = vector.map(|(vector, embedder)| QueryVector {
        identity: embedder.identity(),
        vector,
    });
    let repeats = query.ranking.diversity < 1.0;
    let limit = if repeats {
        query.limit.saturating_add(SPARE_HITS).max(MIN_DIVERSIFIED)
    } else {
        query.limit
    };
    let now = services.clock.now();
    let answer = |question: &TextQuery, troubles: &mut Vec<String>| {
        let asked = SearchRequest {
            question,
            filter: &filter,
            limit,
            ranking: query.ranking,
            vector,
        };
        match services.reranking.as_ref().filter(|_| 0 < query.limit) {
            Some(reranking) => search_reranked(services, reranking, &asked, now, troubles),
            None => search_store(services, &asked, now, troubles),
        }
    };
    let mut found = answer(&question, &mut troubles)?;
    if found.total == 0 && !question.phrases.is_empty() {
        question.phrases.clear();
        found = answer(&question, &mut troubles)?;
        if 0 < found.total {
            let without = if question.without.is_empty() && question.without_phrases.is_empty() {
                ""
            } else {
                " and none of the excluded words"
            };
            troubles.push(format!(
                "no memory contains the quoted phrase{without}; searched for its words instead"
            ));
        }
    }
    if found.total == 0 && corrected.is_none() {
        corrected = correct_query(&question, &corrections, false);
    }
    found.corrected = corrected.map(|(_, corrected)| corrected);
    if repeats {
        found.hits = diversify(found.hits, query);
    }
    found.hits.truncate(query.limit);
    order_versions(&mut found.hits);
    let is_cut = 0 < question.left_out;
    let cut = is_cut.then(|| {
        format!(
            "the query is too long: its last {} words were ignored",
            question.left_out
        )
    });
    let reasons: Vec<String> = found
        .degraded
        .into_iter()
        .chain(cut)
        .chain(troubles)
        .chain(misread)
        .collect();
    found.degraded = Some(reasons.join("; ")).filter(|reasons| !reasons.is_empty());
    Ok(found)
}

/// Searches the store; falls back to a search by words if the vectors cause an error.
fn search_store(
    services: &Services,
    asked: &SearchRequest<'_>,
    now: DateTime<Utc>,
    troubles: &mut Vec<String>,
) -> Result<SearchResults, StoreError> {
    match services.store.search(asked, now) {
        // A search by words does not depend on the vectors.
        Err(error) if asked.vector.is_some() => {
            let found = services.store.search(
                &SearchRequest {
                    vector: None,
                    ..asked.clone()
                },
                now,
            )?;
            let trouble = format!("the vectors cannot be used: {error}; searched by words only");
            troubles.retain(|told| *told != trouble);
            troubles.push(trouble);
            Ok(found)
        }
        found => found,
    }
}

/// Reranks the best hits with the model; if the model fails, returns the order without it.
fn search_reranked(
    services: &Services,
    reranking: &Reranking,
    asked: &SearchRequest<'_>,
    now: DateTime<Utc>,
    troubles: &mut Vec<String>,
) -> Result<SearchResults, StoreError> {
    // The threshold applies to the model's relevance, not to the score before reranking.
    let ranking = Ranking {
        threshold: None,
        ..asked.ranking
    };
    let pool = SearchRequest {
        limit: asked.limit.max(reranking.rules.candidates),
        ranking,
        ..asked.clone()
    };
    let found = search_store(services, &pool, now, troubles)?;
    match reranking.rerank_results(&asked.question.text, found, &asked.ranking) {
        Ok(found) => Ok(found),
        Err(error) => {
            troubles.push(format!("{error}; the results are not reranked"));
            search_store(services, asked, now, troubles)
        }
    }
}

/// Reorders the hits so that repetitions of better hits rank lower.
fn diversify(hits: Vec<Hit>, query: &Query) -> Vec<Hit> {
    let worth: Vec<f32> = hits.iter().map(|hit| hit.score).collect();
    let texts: Vec<&str> = hits
        .iter()
        .map(|hit| hit.stored.memory.content.as_str())
        .collect();
    let overlaps = WordOverlaps::of(&texts);
    let overlap = |one: usize, other: usize| overlaps.similarity(one, other);
    let order = rank::select_diverse(&worth, query.ranking.diversity, query.limit, &overlap);
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|number| hits[number].take())
        .collect()
}

/// Returns the configured model, or the one before it while that one has vectors of more memories.
fn current_embedder(services: &Services) -> Option<&dyn Embedder> {
    let embedder = services.embedder.as_deref()?;
    let missing = |of: &dyn Embedder| services.store.count_without_vector(of.identity()).ok();
    let has_more = |before: &&dyn Embedder| {
        services
            .store
            .has_vectors(Some(before.identity()))
            .unwrap_or_default()
            && !embedder.identity().is_empty()
            && missing(*before) < missing(embedder)
    };
    Some(embedder.predecessor().filter(has_more).unwrap_or(embedder))
}

/// Returns the vector of the query, or `None` without stored vectors, or if the model knows no word of the query.
///
/// If the query names exactly one speaker, the vector is the mean of that of the text and that of the text in the first person.
///
/// # Errors
/// The reason why the model or the store fails.
fn embed_query(
    services: &Services,
    embedder: &dyn Embedder,
    text: &str,
    question: &TextQuery,
) -> Result<Option<Embedding>, String> {
    // A home that cannot be written has the vectors that it has.
    let _ = embed_few(services, embedder);
    let has_vectors = |identity| {
        let answer = services.store.has_vectors(identity);
        answer.map_err(|error| format!("the vectors cannot be used: {error}"))
    };
    // The identity may require opening the model, so it is requested last. If the model cannot be opened, it has no identity, and
    // `embed` returns the reason.
    if !has_vectors(None)?
        || (!embedder.identity().is_empty() && !has_vectors(Some(embedder.identity()))?)
    {
        return Ok(None);
    }
    let speakers = services.store.speakers(&question.names, None);
    let speakers = speakers.map_err(|error| format!("cannot read the speaker names: {error}"))?;
    // A query that names several speakers is not rewritten.
    let first_person = if let [only] = speakers.as_slice() {
        Some(to_first_person(text, only))
    } else {
        None
    };
    let texts: Vec<&str> = [text].into_iter().chain(first_person.as_deref()).collect();
    let vectors = embedder.embed(&texts).map_err(|error| error.to_string())?;
    let is_sound =
        |vector: &Embedding| !vector.is_empty() && vector.iter().all(|part| part.is_finite());
    if vectors.len() != texts.len() || !vectors.iter().all(is_sound) {
        let why = "it returned no vector, or one with a value that is not a finite number".into();
        return Err(EmbedError { why, hint: None }.to_string());
    }
    Ok(Some(mean_vector(vectors)).filter(|vector| is_nonzero(vector)))
}

/// Returns a message if some memories have no vector, so that a search by meaning does not find them.
///
/// A model that was never used is silent, unless it needs no setup.
fn missing_vectors(
    services: &Services,
    embedder: &dyn Embedder,
    has_vector: bool,
) -> Option<String> {
    if !has_vector && !embedder.is_instant() {
        return None;
    }
    let configured = services.embedder.as_deref()?;
    let missing = services
        .store
        .count_without_vector(configured.identity())
        .ok()
        .filter(|missing| 0 < *missing)?;
    let all = count_memories(services.store.as_ref(), services.clock.now())
        .ok()?
        .max(missing);
    let (vector, found) = if configured.identity() == embedder.identity() {
        ("vector", "by their words only")
    } else {
        ("vector of the configured model", "with the model before it")
    };
    Some(format!(
        "{missing} of {all} memories have no {vector} yet and are found {found}; `memory embed` computes the vectors"
    ))
}

/// Returns the normalized mean of the vectors, or the first one if the mean is zero.
fn mean_vector(vectors: Vec<Embedding>) -> Embedding {
    let mut middle = vectors.first().cloned().unwrap_or_default();
    for vector in &vectors[1..] {
        middle
            .iter_mut()
            .zip(vector)
            .for_each(|(sum, part)| *sum += part);
    }
    let length = middle.iter().map(|part| part * part).sum::<f32>().sqrt();
    if vectors.len() == 1 || length < 1e-3 {
        return vectors.into_iter().next().unwrap_or_default();
    }
    middle.into_iter().map(|part| part / length).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::testing::services;
    use crate::{
        ContentHash, Draft, EmbedError, Embedding, Filter, MemStore, Ranking, Scope, SecretPolicy,
        TextVector, query_parser, write,
    };

    /// A model that returns vectors of NaN.
    #[derive(Debug)]
    struct NanEmbedder;

    impl Embedder for NanEmbedder {
        fn identity(&self) -> &'static str {
            "broken"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            Ok(vec![vec![f32::NAN; 4]; texts.len()])
        }
    }

    #[test]
    fn a_filter_that_is_none_is_told_and_the_words_are_looked_for() {
        let services = services(Arc::new(MemStore::default()));
        write(&services, Draft::new("green tea"), SecretPolicy::Refuse).expect("it is kept");
        let query = Query {
            text: "tea scope:kitchen".into(),
            filter: Filter::default(),
            limit: 10,
            ranking: Ranking::default(),
        };
        let found = search(&services, &query).expect("the words are looked for");
        let told = "\"scope:kitchen\" is searched as plain text because it is not a scope";
        assert_eq!((found.total, found.degraded.as_deref()), (1, Some(told)));
    }

    #[test]
    fn a_vector_that_is_no_vector_leaves_the_words_and_is_told() {
        let home = services(Arc::new(MemStore::default()));
        let services = Services {
            embedder: Some(Arc::new(NanEmbedder)),
            ..home
        };
        let id = write(&services, Draft::new("green tea"), SecretPolicy::Refuse)
            .expect("it is kept")
            .id;
        let kept = TextVector {
            id,
            text: ContentHash::of("green tea"),
            vectors: vec![vec![1.0, 0.0, 0.0, 0.0]],
        };
        services
            .store
            .store_vectors("broken", &[kept])
            .expect("it is kept");
        let query = Query {
            text: "tea".into(),
            filter: Filter::default(),
            limit: 10,
            ranking: Ranking::default(),
        };
        let found = search(&services, &query).expect("the words are looked for");
        assert_eq!(found.total, 1);
        assert!(found.degraded.is_some_and(|why| why.contains("words only")));
    }

    /// A model that records the embedded texts.
    #[derive(Debug, Default)]
    struct RecordingEmbedder(Mutex<Vec<String>>);

    impl Embedder for RecordingEmbedder {
        fn identity(&self) -> &'static str {
            "attentive"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            self.0
                .lock()
                .expect("nobody panics")
                .extend(texts.iter().map(|text| (*text).to_owned()));
            Ok(vec![vec![1.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn the_one_speaker_who_is_named_is_made_to_ask_themselves() {
        let attentive = Arc::new(RecordingEmbedder::default());
        let services = Services {
            embedder: Some(Arc::clone(&attentive) as _),
            ..services(Arc::new(MemStore::default()))
        };
        for speaker in ["Anna", "Bob"] {
            let scope = Scope::Conversation("holidays".into());
            let text = format!("{speaker} likes the sea");
            let draft = Draft {
                source: speaker.into(),
                scope,
                ..Draft::new(&text)
            };
            let id = write(&services, draft, SecretPolicy::Refuse)
                .expect("it is kept")
                .id;
            let kept = TextVector {
                id,
                text: ContentHash::of(&text),
                vectors: vec![vec![1.0, 0.0]],
            };
            services
                .store
                .store_vectors("attentive", &[kept])
                .expect("it is kept");
        }
        for text in ["Where was Anna?", "Where was Carl?", "Did Anna meet Bob?"] {
            let question = query_parser::parse(text, &Filter::default()).question;
            assert_eq!(
                embed_query(&services, attentive.as_ref(), text, &question),
                Ok(Some(vec![1.0, 0.0]))
            );
        }
        let shown = attentive.0.lock().expect("nobody panics");
        assert_eq!(
            *shown,
            [
                "Where was Anna?",
                "Where was I?",
                "Where was Carl?",
                "Did Anna meet Bob?"
            ]
        );
    }

    /// A model that knows no words.
    #[derive(Debug)]
    struct ZeroEmbedder;

    impl Embedder for ZeroEmbedder {
        fn identity(&self) -> &'static str {
            "blind"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            Ok(vec![vec![0.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn a_question_that_the_model_cannot_read_has_no_vector() {
        let services = Services {
            embedder: Some(Arc::new(ZeroEmbedder)),
            ..services(Arc::new(MemStore::default()))
        };
        let id = write(&services, Draft::new("sea"), SecretPolicy::Refuse)
            .expect("it is kept")
            .id;
        let kept = TextVector {
            id,
            text: ContentHash::of("sea"),
            vectors: vec![vec![1.0, 0.0]],
        };
        services
            .store
            .store_vectors("blind", &[kept])
            .expect("it is kept");
        let question = query_parser::parse("sea", &Filter::default()).question;
        let vector = embed_query(&services, &ZeroEmbedder, "sea", &question);
        assert_eq!(vector, Ok(None));
    }

    /// A model that was configured after another one.
    #[derive(Debug)]
    struct SecondEmbedder(RecordingEmbedder);

    impl Embedder for SecondEmbedder {
        fn identity(&self) -> &'static str {
            "second"
        }

        fn predecessor(&self) -> Option<&dyn Embedder> {
            Some(&self.0)
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            Ok(vec![vec![0.0, 1.0]; texts.len()])
        }
    }

    #[test]
    fn the_model_before_answers_until_the_new_one_has_as_many_vectors() {
        let services = Services {
            embedder: Some(Arc::new(SecondEmbedder(RecordingEmbedder::default()))),
            ..services(Arc::new(MemStore::default()))
        };
        let id = write(&services, Draft::new("sea"), SecretPolicy::Refuse)
            .expect("it is kept")
            .id;
        let query = Query {
            text: "where is the ocean".into(),
            filter: Filter::default(),
            limit: 10,
            ranking: Ranking::default(),
        };
        for (identity, vector, note) in [
            ("attentive", vec![1.0, 0.0], true),
            ("second", vec![0.0, 1.0], false),
        ] {
            let kept = TextVector {
                id,
                text: ContentHash::of("sea"),
                vectors: vec![vector],
            };
            let stored = services.store.store_vectors(identity, &[kept]);
            assert_eq!(stored.expect("it is kept"), 1);
            let current = current_embedder(&services).map(Embedder::identity);
            assert_eq!(current, Some(identity));
            let found = search(&services, &query).expect("it is searched");
            assert_eq!(found.degraded.is_some(), note, "{:?}", found.degraded);
        }
    }

    #[test]
    fn the_middle_has_length_one_and_opposites_have_none() {
        let length = mean_vector(vec![vec![1.0, 0.0], vec![0.6, 0.8]])
            .iter()
            .map(|part| part * part)
            .sum::<f32>();
        assert!((length - 1.0).abs() < 1e-6);
        assert_eq!(
            mean_vector(vec![vec![1.0, 0.0], vec![-1.0, 0.0]]),
            [1.0, 0.0]
        );
    }
}
