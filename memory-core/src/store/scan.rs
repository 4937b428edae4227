//! Lists, names and searches of a store without an index, which reads all memories.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::query_parser::{Phrase, QueryWord, TextQuery, WordRole};
use crate::text::{Term, Token, snippet, tokenize};
use crate::wikilink::{self, WikilinkCandidate, WikilinkNameKind, WikilinkTarget};
use crate::{
    Hit, ListOrder, MatchCoverage, Memory, MemoryId, MemoryPage, PageRequest, Scope,
    ScoreExplanation, SearchRequest, SearchResults, StoredMemory,
};

/// Returns one slice of `memories`, and their number.
pub(super) fn page(mut memories: Vec<StoredMemory>, slice: &PageRequest) -> MemoryPage {
    memories.sort_by(|left, right| {
        let (left, right) = (&left.memory, &right.memory);
        let order = match slice.order {
            ListOrder::Created => right.created_at.cmp(&left.created_at),
            ListOrder::Oldest => left
                .created_at
                .cmp(&right.created_at)
                .then_with(|| right.id.cmp(&left.id)),
            ListOrder::Updated => right.updated_at.cmp(&left.updated_at),
            ListOrder::Accessed => right.access_count.cmp(&left.access_count),
            ListOrder::Title => left
                .headline()
                .to_lowercase()
                .cmp(&right.headline().to_lowercase()),
            ListOrder::Useful => {
                let use_of =
                    |memory: &Memory| (memory.pinned, memory.access_count, memory.updated_at);
                use_of(right).cmp(&use_of(left))
            }
        };
        order.then_with(|| left.id.cmp(&right.id))
    });
    let total = memories.len() as u64;
    let memories = memories
        .into_iter()
        .skip(slice.offset)
        .take(slice.limit.unwrap_or(usize::MAX))
        .collect();
    MemoryPage {
        memories,
        total,
        degraded: None,
    }
}

/// Returns the names of a memory that equal `key`, of the kind that counts most. `exists` returns whether a memory exists.
pub(super) fn name_candidates(
    stored: &StoredMemory,
    key: &str,
    exists: impl Fn(&MemoryId) -> bool,
) -> Vec<WikilinkCandidate> {
    let (path, memory) = (&stored.path, &stored.memory);
    let candidate = |by| WikilinkCandidate {
        target: WikilinkTarget::Memory(memory.id),
        path: path.clone(),
        by,
    };
    let is_called = |name: &str| wikilink::lookup_keys(name).iter().any(|own| own == key);
    let is_former = |id: &MemoryId| id.to_string() == key && !exists(id);
    let kind = if memory.id.to_string() == key {
        WikilinkNameKind::Id
    } else if memory.supersedes.iter().any(is_former) {
        WikilinkNameKind::Former
    } else if is_called(path) {
        WikilinkNameKind::Path
    } else if memory.origins_named(key).next().is_some() {
        let origins = memory.origins_named(key).map(|origin| WikilinkCandidate {
            path: origin.path.clone(),
            ..candidate(WikilinkNameKind::Path)
        });
        return origins.collect();
    } else if memory.title_or_heading().is_some_and(is_called) {
        WikilinkNameKind::Title
    } else if memory.aliases.iter().any(|alias| is_called(alias)) {
        WikilinkNameKind::Alias
    } else {
        return Vec::new();
    };
    vec![candidate(kind)]
}

/// Returns whether the text of a memory has a wikilink with one of `keys`.
pub(super) fn has_wikilink(memory: &Memory, keys: &[String]) -> bool {
    wikilink::parse(&memory.content).iter().any(|link| {
        wikilink::lookup_keys(&link.target)
            .iter()
            .any(|key| keys.contains(key))
    })
}

/// Returns the words in the name of the speaker of a memory, in lower case.
pub(super) fn speaker_words(memory: &Memory) -> Vec<String> {
    let name = match &memory.scope {
        Scope::Conversation(_) => &memory.source,
        Scope::Agent(name) => name,
        Scope::Global | Scope::Project(_) | Scope::Private(_) | Scope::Team(_) => {
            return Vec::new();
        }
    };
    name.to_lowercase()
        .split(|letter: char| !letter.is_alphanumeric())
        .map(str::to_owned)
        .collect()
}

/// Width of an excerpt in characters.
const SNIPPET: usize = 160;

/// Cosine in standard deviations above the mean from which a vector matches.
const NEAR: f32 = 2.0;

/// Returns those of `memories` with words of the request or a high value in `cosines`, those with most matches first.
///
/// `cosines` are in standard deviations above the mean.
pub(crate) fn search(
    memories: Vec<StoredMemory>,
    asked: &SearchRequest<'_>,
    cosines: &BTreeMap<MemoryId, f32>,
) -> SearchResults {
    let terms: Vec<Term> = asked
        .question
        .words
        .iter()
        .map(|word| word.term.clone())
        .collect();
    let mut hits: Vec<(usize, Hit)> = Vec::new();
    // A proposal has no words to search for.
    for stored in memories
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
        corrected: None,
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
