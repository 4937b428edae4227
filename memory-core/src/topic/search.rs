//! Full-text search over topics.

use std::collections::HashMap;

use super::{Topic, TopicError, Topics};
use crate::query_parser::{QueryWord, TextQuery, WordRole, parse};
use crate::rank::{B, K1, idf, saturation};
use crate::text::{
    Snippet, Term, Token, for_each_alef_token, for_each_styled_token, for_each_symbol, snippet,
    tokenize,
};
use crate::{Filter, StoreError, front_matter};

/// Weight of a word in the name, title or description, relative to the body.
const METADATA_WEIGHT: u32 = 3;

/// Length of the snippet around a match, in characters.
const SNIPPET_LENGTH: usize = 160;

/// A topic that matches a query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TopicHit {
    /// The topic.
    pub topic: Topic,
    /// Relevance, from 0 to 1.
    pub score: f32,
    /// The text around the match.
    pub snippet: Snippet,
}

/// Returns the first `limit` topics that match `question`, best first, and the total number of matches.
///
/// The query syntax is that of [`crate::search()`]. Its filters apply to memories only, so a query with a filter
/// matches no topic. Every file is read at the time of the search. A file that cannot be read as text is matched by its
/// name.
///
/// # Errors
/// [`StoreError::Invalid`] if the query has no search terms; or if the folder cannot be read.
pub fn search(
    topics: &Topics,
    question: &str,
    limit: usize,
) -> Result<(Vec<TopicHit>, usize), TopicError> {
    let parsed = parse(question, &Filter::default());
    if parsed.question.words.is_empty() {
        return Err(StoreError::Invalid {
            why: format!("nothing to search for: {question:?} contains no word"),
        }
        .into());
    }
    if parsed.filter != Filter::default() {
        return Ok((Vec::new(), 0));
    }
    let mut texts = Vec::new();
    for topic in topics.store.topics()?.topics {
        let text = topics
            .store
            .text(topic.name.path())
            .ok()
            .flatten()
            .map(|found| found.text)
            .unwrap_or_default();
        // `Topic` already contains the front matter.
        texts.push((topic, front_matter::split(&text).body.to_owned()));
    }
    Ok(rank_topics(&parsed.question, texts, limit))
}

/// A topic before scoring.
struct TopicCandidate {
    topic: Topic,
    text: String,
    length: u32,
    /// The weighted frequency of each query word in the topic.
    frequencies: Vec<u32>,
}

fn rank_topics(
    question: &TextQuery,
    texts: Vec<(Topic, String)>,
    limit: usize,
) -> (Vec<TopicHit>, usize) {
    let words: Vec<&QueryWord> = question
        .words
        .iter()
        .filter(|word| !matches!(word.role, WordRole::Aside | WordRole::Character))
        .collect();
    // If all words are stop words, they are the query.
    let words: Vec<&QueryWord> = if words.is_empty() {
        question.words.iter().collect()
    } else {
        words
    };
    let documents = texts.len() as u64;
    let candidates: Vec<TopicCandidate> = texts
        .into_iter()
        .filter_map(|(topic, text)| match_topic(question, &words, topic, text))
        .collect();
    let lengths: u32 = candidates
        .iter()
        .map(|candidate| candidate.length)
        .fold(0, u32::saturating_add);
    let average = lengths / u32::try_from(candidates.len().max(1)).unwrap_or(u32::MAX);
    let with = |at: usize| {
        candidates
            .iter()
            .filter(|candidate| candidate.frequencies[at] != 0)
            .count() as u64
    };
    let worths: Vec<f32> = (0..words.len())
        .map(|at| idf(documents, with(at)))
        .collect();
    let most: f32 = worths.iter().map(|worth| worth * (K1 + 1.0)).sum();
    let score = |candidate: &TopicCandidate| {
        let part = |(frequency, worth): (&u32, &f32)| {
            worth * saturation(*frequency, candidate.length, to_f32(average), B)
        };
        candidate
            .frequencies
            .iter()
            .zip(&worths)
            .map(part)
            .sum::<f32>()
            / most.max(f32::MIN_POSITIVE)
    };
    let mut hits: Vec<(f32, TopicCandidate)> = Vec::new();
    for candidate in candidates {
        if candidate
            .frequencies
            .iter()
            .any(|frequency| *frequency != 0)
        {
            hits.push((score(&candidate), candidate));
        }
    }
    hits.sort_by(|(one, first), (other, second)| {
        other
            .total_cmp(one)
            .then_with(|| first.topic.name.cmp(&second.topic.name))
    });
    let total = hits.len();
    let terms: Vec<Term> = words.iter().map(|word| word.term.clone()).collect();
    let hit = |(score, candidate): (f32, TopicCandidate)| {
        let shown = if candidate.text.trim().is_empty() {
            &candidate.topic.description
        } else {
            &candidate.text
        };
        TopicHit {
            score,
            snippet: snippet(shown, &terms, &[], SNIPPET_LENGTH),
            topic: candidate.topic,
        }
    };
    (hits.into_iter().take(limit).map(hit).collect(), total)
}

/// Counts the query words in a topic.
///
/// Returns `None` if the topic contains an excluded word or phrase, or lacks a phrase of the query.
fn match_topic(
    question: &TextQuery,
    words: &[&QueryWord],
    topic: Topic,
    text: String,
) -> Option<TopicCandidate> {
    let of_itself = format!(
        "{}\n{}\n{}",
        topic.name.stem().replace(['_', '-'], " "),
        topic.title,
        topic.description
    );
    let mut counts: HashMap<Term, u32> = HashMap::new();
    let mut length = 0_u32;
    for (part, times) in [(text.as_str(), 1), (of_itself.as_str(), METADATA_WEIGHT)] {
        let mut count = |token: Token<'_>| *counts.entry(Term::from(&token)).or_default() += times;
        tokenize(part, &mut |token| {
            length = length.saturating_add(1);
            count(token);
        });
        for_each_symbol(part, &mut count);
        for_each_styled_token(part, &mut count);
        for_each_alef_token(part, &mut count);
    }
    let stands = |phrase: &crate::query_parser::Phrase| {
        phrase.occurs_in(&text) || phrase.occurs_in(&of_itself)
    };
    if question
        .without
        .iter()
        .any(|term| counts.contains_key(term))
        || question.without_phrases.iter().any(stands)
        || !question.phrases.iter().all(stands)
    {
        return None;
    }
    let frequency = |word: &&QueryWord| {
        if !word.is_prefix {
            return counts.get(&word.term).copied().unwrap_or_default();
        }
        let longer = counts.iter().filter(|(term, _)| {
            term.kind == word.term.kind && term.text.starts_with(&word.term.text)
        });
        longer.map(|(_, count)| *count).fold(0, u32::saturating_add)
    };
    let frequencies = words.iter().map(frequency).collect();
    Some(TopicCandidate {
        topic,
        text,
        length,
        frequencies,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an average beyond seven digits is as good as one rounded to them"
)]
fn to_f32(number: u32) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::SecretPolicy;
    use crate::testing::{FakeTopics, topics};
    use crate::topic::{TopicKind, TopicWriteRequest, write};

    fn found(question: &str) -> Vec<String> {
        let (topics, _) = topics(Arc::new(FakeTopics::default()));
        for (name, description, content) in [
            (
                "user_prefs",
                "Editor settings",
                "Always TypeScript in strict mode. 深色主题",
            ),
            (
                "project_auth",
                "Auth service",
                "PostgreSQL was decided; the editor does not matter",
            ),
            (
                "feedback_testing",
                "Testing conventions",
                "Run pytest before committing",
            ),
        ] {
            let (title, description, kind) =
                (None, Some(description.to_owned()), Some(TopicKind::User));
            let (name, content) = (name.parse().unwrap(), content.to_owned());
            write(
                &topics,
                &TopicWriteRequest {
                    name,
                    title,
                    description,
                    kind,
                    content: Some(content),
                    secrets: SecretPolicy::Refuse,
                },
            )
            .unwrap();
        }
        let (hits, total) = search(&topics, question, 10).unwrap();
        assert_eq!(hits.len(), total);
        assert!(hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        hits.iter()
            .map(|hit| hit.topic.name.stem().to_owned())
            .collect()
    }

    #[test]
    fn topics_are_found_by_any_of_their_words_best_first() {
        assert_eq!(
            found("which editors"),
            ["user_prefs", "project_auth"],
            "what it says of itself counts more"
        );
        assert_eq!(found("postgresql"), ["project_auth"]);
        assert_eq!(found("深色"), ["user_prefs"]);
        assert_eq!(found("commit*"), ["feedback_testing"]);
        assert_eq!(found("\"strict mode\""), ["user_prefs"]);
        assert_eq!(found("editor -postgresql"), ["user_prefs"]);
        assert_eq!(found("auth"), ["project_auth"], "its file is a name too");
        assert_eq!(found("nothing of that"), [""; 0]);
    }
}
