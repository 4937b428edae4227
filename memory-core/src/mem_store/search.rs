//! The search in main memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::MemState;
use crate::query_parser::{Phrase, QueryWord, TextQuery, WordRole};
use crate::text::{Term, Token, snippet, tokenize};
use crate::{
    ContentHash, Hit, MatchCoverage, Memory, MemoryId, ScoreExplanation, SearchRequest,
    SearchResults, TextVector, embedded_text, is_nonzero,
};

/// Width of an excerpt in characters.
const SNIPPET: usize = 160;

/// Cosine in standard deviations above the mean from which a vector matches.
const NEAR: f32 = 2.0;

/// Number of vectors from which their mean and deviation are meaningful.
const MIN_SAMPLE: usize = 16;

/// The mean and deviation of the cosines of unrelated texts, for fewer vectors.
const USUAL_COSINES: (f32, f32) = (0.1, 0.12);

/// Returns the cosine of the passage that is most similar to a vector; `None` if all of them, or the vector, are zero.
pub(super) fn best_cosine(own: &TextVector, vector: &[f32]) -> Option<f32> {
    let passages = own.vectors.iter().filter(|passage| is_nonzero(passage));
    let cosine = |passage: &Vec<f32>| {
        passage
            .iter()
            .zip(vector)
            .map(|(one, other)| one * other)
            .sum()
    };
    passages
        .map(cosine)
        .filter(|_| is_nonzero(vector))
        .reduce(f32::max)
}

impl MemState {
    /// Returns the memories with words or a vector of the request, those with most matches first.
    pub(super) fn search(&self, asked: &SearchRequest<'_>, now: DateTime<Utc>) -> SearchResults {
        let cosines = self.cosines(asked);
        let terms: Vec<Term> = asked
            .question
            .words
            .iter()
            .map(|word| word.term.clone())
            .collect();
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        // A proposal has no words to search for.
        for stored in self
            .filtered(asked.filter, now)
            .into_iter()
            .filter(|stored| !stored.memory.is_proposal())
        {
            let near = cosines
                .get(&stored.memory.id)
                .copied()
                .filter(|cosine| NEAR <= *cosine)
                .unwrap_or_default();
            let Some((words, occurrences)) = count_matches(asked.question, &stored.memory) else {
                continue;
            };
            let score = occurrences + near;
            let relevance = score / (1.0 + score);
            if 0.0 < score && asked.ranking.threshold.unwrap_or_default() <= relevance {
                let excerpt = snippet(&stored.memory.content, &terms, &[], SNIPPET);
                let explanation = ScoreExplanation {
                    relevance,
                    ..ScoreExplanation::default()
                };
                hits.push((
                    words,
                    Hit {
                        stored,
                        score: relevance,
                        snippet: excerpt.text,
                        marks: excerpt.marks,
                        explanation,
                    },
                ));
            }
        }
        let best = hits
            .iter()
            .map(|(words, _)| *words)
            .max()
            .unwrap_or_default();
        let is_result = |words: usize| match asked.ranking.coverage {
            MatchCoverage::Any => true,
            MatchCoverage::Best => 0 < best && words == best,
            MatchCoverage::Rest => words == 0 || words < best,
        };
        let mut hits: Vec<Hit> = hits
            .into_iter()
            .filter(|(words, _)| is_result(*words))
            .map(|(_, hit)| hit)
            .collect();
        hits.sort_by(|left, right| {
            let newest = |hit: &Hit| (Reverse(hit.stored.memory.created_at), hit.stored.memory.id);
            right
                .score
                .total_cmp(&left.score)
                .then_with(|| newest(left).cmp(&newest(right)))
        });
        let total = hits.len() as u64;
        hits.truncate(asked.limit);
        SearchResults {
            hits,
            total,
            degraded: None,
        }
    }

    /// Returns the vector of a memory's current text.
    pub(super) fn vector(&self, identity: &str, memory: &Memory) -> Option<&TextVector> {
        let vector = self.vectors.get(identity)?.get(&memory.id)?;
        (vector.text == ContentHash::of(&embedded_text(memory))).then_some(vector)
    }

    /// Returns the cosine of each memory with the query, in standard deviations above the mean.
    fn cosines(&self, asked: &SearchRequest<'_>) -> BTreeMap<MemoryId, f32> {
        let Some(question) = asked.vector else {
            return BTreeMap::new();
        };
        let visible = self
            .files
            .values()
            .filter(|file| asked.filter.includes_scope(&file.memory.scope));
        let vectors = visible.filter_map(|file| self.vector(question.identity, &file.memory));
        // The order is fixed, so that floating-point sums are reproducible.
        let cosines: BTreeMap<MemoryId, f32> = vectors
            .filter_map(|own| Some((own.id, best_cosine(own, question.vector)?)))
            .collect();
        #[expect(
            clippy::cast_precision_loss,
            reason = "the mean needs no more than seven digits"
        )]
        let count = cosines.len().max(1) as f32;
        let mean = cosines.values().sum::<f32>() / count;
        let deviation = (cosines
            .values()
            .map(|cosine| (cosine - mean).powi(2))
            .sum::<f32>()
            / count)
            .sqrt()
            .max(1e-6);
        let (mean, deviation) = if cosines.len() < MIN_SAMPLE {
            USUAL_COSINES
        } else {
            (mean, deviation)
        };
        cosines
            .into_iter()
            .map(|(id, cosine)| (id, (cosine - mean) / deviation))
            .collect()
    }
}

/// Returns the number of content words of the query that a memory contains, and the number of occurrences of all its words; `None` if
/// a phrase is missing, or if an excluded word occurs.
fn count_matches(question: &TextQuery, memory: &Memory) -> Option<(usize, f32)> {
    let texts = || {
        [Some(&memory.content), memory.title.as_ref()]
            .into_iter()
            .flatten()
            .chain(&memory.tags)
            .chain(&memory.aliases)
    };
    let has_phrase = |phrase: &Phrase| texts().any(|text| phrase.occurs_in(text));
    if !question.phrases.iter().all(has_phrase) || question.without_phrases.iter().any(has_phrase) {
        return None;
    }
    let (mut count, mut is_excluded) = (0.0, false);
    let mut contained = vec![false; question.words.len()];
    for text in texts() {
        tokenize(text, &mut |token: Token<'_>| {
            let is = |term: &Term| term.kind == token.kind && term.text == token.text;
            let starts =
                |term: &Term| term.kind == token.kind && token.text.starts_with(&term.text);
            is_excluded |= question.without.iter().any(is);
            let mut is_match = false;
            for (word, contained) in question.words.iter().zip(&mut contained) {
                if is(&word.term) || (word.is_prefix && starts(&word.term)) {
                    (is_match, *contained) = (true, true);
                }
            }
            count += f32::from(u8::from(is_match));
        });
    }
    let is_content =
        |(word, contained): &(&QueryWord, &bool)| word.role == WordRole::Content && **contained;
    let words = question
        .words
        .iter()
        .zip(&contained)
        .filter(is_content)
        .count();
    (!is_excluded).then_some((words, count))
}

#[cfg(test)]
mod tests {
    use crate::{Draft, MemStore, Memories};

    #[test]
    fn phrases_prefixes_and_exclusions_narrow_a_search() {
        let memories = Memories::builder(MemStore::default()).build();
        for text in ["green tea in the morning", "tea that is green", "a teapot"] {
            memories.write(text).unwrap();
        }
        memories
            .write(Draft::new("a cup of coffee").tags(["morning"]))
            .unwrap();
        let contents = |query: &str| {
            let hits = memories.search(query).unwrap().hits;
            let mut contents: Vec<String> = hits
                .into_iter()
                .map(|hit| hit.memory.content.clone())
                .collect();
            contents.sort();
            contents
        };
        assert_eq!(contents("\"green tea\""), ["green tea in the morning"]);
        assert_eq!(contents("tea -morning"), ["tea that is green"]);
        assert_eq!(contents("teap*"), ["a teapot"]);
        assert_eq!(
            contents("morning"),
            ["a cup of coffee", "green tea in the morning"]
        );
    }

    #[test]
    fn an_excerpt_marks_the_words_of_the_query() {
        let memories = Memories::builder(MemStore::default()).build();
        memories
            .write(format!("{}\nThe user prefers dark mode", "word ".repeat(100)).as_str())
            .unwrap();
        let hit = memories.search("dark").unwrap().hits.remove(0);
        assert!(
            hit.snippet.ends_with("prefers dark mode"),
            "{}",
            hit.snippet
        );
        assert_eq!(hit.marks.len(), 1);
    }
}
