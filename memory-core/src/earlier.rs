//! Recognizes notes that a newer note replaces.
//!
//! The evidence: the newer note is by the person or an agent, says that something changed, and repeats two fifths of the content words of
//! the older one, which is a single sentence. On two labelled sets of 155 prompts, 6 of 54 replaced notes are given, and 27 without this.

use std::collections::HashSet;

use crate::query_parser::is_stop_token;
use crate::search::search_sentence;
use crate::standing::is_of_person_or_agent;
use crate::text::{TokenKind, fold, sentences, tokenize};
use crate::{Filter, Hit, Memory, MemoryId, Query, Ranking, Scope, Services, StoreError};

word_classes! {
    /// The words that say that something changed.
    WORDS = "language/shared/changes.json": ChangeWords {
        /// Words that say that something changed, without accents.
        changes,
        /// Phrases and, in scripts without spaces, parts of sentences that say the same.
        change_phrases,
    }
}

/// The maximum size of the older and of the newer note, in bytes. A longer text has several subjects.
const MAX_SIZES: [usize; 2] = [200, 600];

/// The share of the older note's content words that the newer one repeats.
const REPEATED: (usize, usize) = (2, 5);

/// The number of newer notes that are compared with a note.
const MAX_NEWER: usize = 20;

/// The number of hits that are compared with each other.
const MAX_COMPARED: usize = 30;

/// Returns the newest note that replaces a note, if any.
pub(crate) fn find_replacement(
    services: &Services,
    older: &Memory,
) -> Result<Option<Hit>, StoreError> {
    let Some(replaceable) = ReplaceableNote::of(older) else {
        return Ok(None);
    };
    let by_words = Services {
        embedder: None,
        reranking: None,
        ..services.clone()
    };
    let query = Query {
        text: older.content.clone(),
        filter: Filter {
            from: Some(older.created_at),
            ..Filter::default()
        },
        limit: MAX_NEWER,
        ranking: Ranking::default(),
    };
    let found = match search_sentence(&by_words, &query) {
        Ok(found) => found.hits,
        Err(StoreError::Invalid { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let newer = found
        .into_iter()
        .filter(|hit| !hit.explanation.is_turn && replaceable.is_replaced_by(&hit.stored.memory));
    Ok(newer.max_by_key(|hit| hit.stored.memory.created_at))
}

/// Returns whether a note says that what an older one states has changed.
///
/// The newer note is by the person or an agent, has a word of change, and repeats two fifths of the content words of the older one, which
/// is a single sentence. Both are of the same scope, or the newer one is of a project and the older one of all.
pub fn replaces_note(newer: &Memory, older: &Memory) -> bool {
    ReplaceableNote::of(older).is_some_and(|older| older.is_replaced_by(newer))
}

/// Returns for each memory the number of the newest one among all that replaces it, if any.
pub(crate) fn find_replaced(memories: &[&Memory]) -> Vec<Option<usize>> {
    let is_change = |number: &usize| {
        let text = &memories[*number].content;
        text.len() <= MAX_SIZES[1] && tells_change(text)
    };
    let changes: Vec<usize> = (0..memories.len()).filter(is_change).collect();
    let newest = |older: &&Memory| {
        let older = ReplaceableNote::of(older).filter(|_| !changes.is_empty())?;
        let newer = changes.iter().copied();
        newer
            .filter(|newer| older.is_replaced_by(memories[*newer]))
            .max_by_key(|newer| memories[*newer].created_at)
    };
    memories.iter().map(newest).collect()
}

/// Marks the hits that another hit replaces, and puts that hit before them.
pub(crate) fn order_versions(hits: &mut [Hit]) {
    let compared = hits.len().min(MAX_COMPARED);
    let is_note = |hit: &&Hit| !hit.explanation.is_turn;
    let notes: Vec<&Memory> = hits[..compared]
        .iter()
        .filter(is_note)
        .map(|hit| &hit.stored.memory)
        .collect();
    let replaced = find_replaced(&notes);
    let pairs: Vec<(MemoryId, MemoryId)> = notes
        .iter()
        .zip(replaced)
        .filter_map(|(older, newer)| Some((older.id, notes[newer?].id)))
        .collect();
    for (older, newer) in pairs {
        let place = |id| hits.iter().position(|hit| hit.stored.memory.id == id);
        let (Some(old_place), Some(new_place)) = (place(older), place(newer)) else {
            continue;
        };
        hits[old_place].explanation.replaced_by = Some(newer);
        if old_place < new_place {
            hits[old_place..=new_place].rotate_right(1);
        }
    }
}

/// A note that a newer one may replace.
struct ReplaceableNote<'m> {
    memory: &'m Memory,
    words: HashSet<String>,
    /// The number of words that are no numbers. A number is what changes, so a missing one is no sign of another subject.
    unnumbered: usize,
}

impl<'m> ReplaceableNote<'m> {
    fn of(memory: &'m Memory) -> Option<Self> {
        let words = content_words(&memory.content);
        let is_number = |word: &&String| word.chars().all(char::is_numeric);
        let unnumbered = words.iter().filter(|word| !is_number(word)).count();
        // A note of several sentences has other facts, too, and a pinned one is kept as it is.
        let is_single =
            memory.content.len() <= MAX_SIZES[0] && sentences(&memory.content).len() == 1;
        (is_single && !memory.pinned && 0 < unnumbered).then_some(Self {
            memory,
            words,
            unnumbered,
        })
    }

    fn is_replaced_by(&self, newer: &Memory) -> bool {
        self.memory.created_at < newer.created_at
            && newer.content.len() <= MAX_SIZES[1]
            && is_of_person_or_agent(newer)
            && is_near(newer, self.memory)
            && tells_change(&newer.content)
            && {
                let new = content_words(&newer.content);
                let repeated = self.words.intersection(&new).count();
                // One word in common is often only the name of a person or a thing.
                self.unnumbered.min(2) <= repeated
                    && REPEATED.0 * self.unnumbered <= REPEATED.1 * repeated
            }
    }
}

/// Returns whether both notes are of the same scope, or the newer one is of a project and the older one of all.
fn is_near(newer: &Memory, older: &Memory) -> bool {
    newer.scope == older.scope
        || older.scope == Scope::Global && matches!(newer.scope, Scope::Project(_))
}

/// Returns the content words of a text, without words of change, numbers of one or two digits, and years.
fn content_words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    tokenize(text, &mut |token| {
        let is_word = token.kind == TokenKind::Word;
        let spelled = &text[token.span.clone()];
        if (is_word || token.kind == TokenKind::Bigram)
            && !is_stop_token(spelled, is_word)
            && !tells_change(spelled)
            && !is_common_number(token.text)
        {
            words.insert(token.text.to_owned());
        }
    });
    words
}

fn is_common_number(term: &str) -> bool {
    let is_year = term.len() == 4 && (term.starts_with("19") || term.starts_with("20"));
    term.bytes().all(|letter| letter.is_ascii_digit()) && (term.len() < 3 || is_year)
}

fn tells_change(text: &str) -> bool {
    let folded = fold(text);
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    // In `to New York`, it is part of a name.
    let is_name = |at: usize| {
        let is_capitalised = |at: usize| {
            words
                .get(at)
                .is_some_and(|word| word.starts_with(char::is_uppercase))
        };
        0 < at && is_capitalised(at) && is_capitalised(at + 1)
    };
    words.iter().enumerate().any(|(at, word)| {
        let word = fold(word);
        WORDS.changes.contains(&word.as_str()) && !is_name(at)
    }) || WORDS
        .change_phrases
        .iter()
        .any(|phrase| folded.contains(*phrase))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, MemStore, SecretPolicy, SpeakerRole, write};

    /// Returns the text that replaces the first of `texts`, which are written on successive days.
    fn replacement(texts: &[&str]) -> Option<String> {
        let services = services(Arc::new(MemStore::default()));
        let mut stored = Vec::new();
        for (number, text) in (0..).zip(texts) {
            let draft = Draft {
                created_at: Some(chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::days(number)),
                ..Draft::new(text)
            };
            let written = write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
            stored.push(services.store.get(&written.id).expect("it is read").memory);
        }
        find_replacement(&services, &stored[0])
            .expect("it is read")
            .map(|hit| hit.stored.memory.content)
    }

    #[test]
    fn the_newest_note_that_tells_of_a_change_replaces_the_older_ones() {
        for texts in [
            [
                "The release of harbour is on 3 March.",
                "The release of harbour moved to 1 May.",
            ],
            [
                "Our jobs run on Celery.",
                "Dropped Celery, the jobs run on Dramatiq.",
            ],
            ["Jo's number: 555 0123.", "Jo has a new number, 555 0199."],
            ["周会每周一上午开。", "周会改到每周三上午开。"],
            [
                "Die Miete beträgt 900 Euro.",
                "Die Miete beträgt jetzt 950 Euro.",
            ],
        ] {
            assert_eq!(replacement(&texts).as_deref(), Some(texts[1]), "{texts:?}");
        }
        let thrice = [
            "The release of harbour is on 3 March.",
            "The release of harbour moved to 1 May.",
            "The harbour release moved again, to 9 June.",
        ];
        assert_eq!(replacement(&thrice).as_deref(), Some(thrice[2]));
    }

    #[test]
    fn a_search_puts_the_newer_note_first_and_marks_the_older_one() {
        let services = services(Arc::new(MemStore::default()));
        let put = |days, text: &str| {
            let draft = Draft {
                created_at: Some(chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::days(days)),
                ..Draft::new(text)
            };
            let written = write(&services, draft, SecretPolicy::Refuse).expect("it is kept");
            written.id
        };
        let new = put(
            2,
            "After a long debate the harbour release moved again, now to 9 June",
        );
        let old = put(1, "The harbour release is on 3 March");
        put(3, "The harbour release is fun");
        let found = crate::search(&services, &Query::new("harbour release 3 March"));
        let hits = found.expect("it is found").hits;
        let marked: Vec<_> = hits.iter().map(|hit| hit.explanation.replaced_by).collect();
        let place = |id| hits.iter().position(|hit| hit.stored.memory.id == id);
        assert!(place(new) < place(old), "{hits:?}");
        assert_eq!(marked.iter().flatten().collect::<Vec<_>>(), [&new]);
        assert_eq!(place(old), marked.iter().position(Option::is_some));
        let now = services.clock.now();
        let given = crate::ShownMemories::default();
        let start = crate::build_context(&services, "", 2_000, &given, &now).expect("it is built");
        let given: Vec<_> = start.memories.iter().map(|own| own.memory.id).collect();
        assert!(given.contains(&new) && !given.contains(&old), "{given:?}");
    }

    #[test]
    fn a_note_on_another_subject_or_without_a_change_replaces_nothing() {
        for texts in [
            [
                "The release of harbour is on 3 March.",
                "The release of harbour is fun.",
            ],
            [
                "Atlas keeps data for 400 days.",
                "The office moved to Lisbon.",
            ],
            [
                "We decided to move atlas to polars.",
                "Old partitions of atlas are moved to Glacier.",
            ],
            ["Jo likes tea.", "Now and then there is a new cake."],
            ["Max is diabetic.", "Max moved to Berlin."],
            [
                "Jo lives in Oslo. Jo is allergic to nuts.",
                "Jo moved and lives in Bergen now.",
            ],
            ["我妈妈喜欢喝茶。", "我妈妈喜欢看新闻。"],
            [
                "Anna flies to Boston in March.",
                "Anna flies to New York in June.",
            ],
            [
                "The trip to Oslo is in 2026.",
                "The new laptop was bought in 2026.",
            ],
        ] {
            assert_eq!(replacement(&texts), None, "{texts:?}");
        }
        let services = services(Arc::new(MemStore::default()));
        let draft = |days, role, text: &str| Draft {
            role,
            created_at: Some(chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::days(days)),
            ..Draft::new(text)
        };
        let of_tool = draft(1, Some(SpeakerRole::Tool), "The database is now db9");
        let older = write(
            &services,
            draft(0, None, "The database is db1"),
            SecretPolicy::Refuse,
        );
        write(&services, of_tool, SecretPolicy::Refuse).expect("it is kept");
        let older = services
            .store
            .get(&older.expect("it is kept").id)
            .expect("it is read");
        let found = find_replacement(&services, &older.memory).expect("it is read");
        assert_eq!(found, None, "a tool changes nothing of the person");
        let older = ["The release of harbour moved to 1 May.", "It rains."];
        assert_eq!(replacement(&older), None, "it does not replace itself");
    }
}
