//! An evaluation of an embedding model on the memories of a user.
//!
//! The evaluation runs on copies of the memories in a temporary home.

use std::collections::BTreeMap;

use crate::{
    Change, Draft, Duplicates, Embedder, Filter, ListOrder, Memory, MemoryId, PageRequest,
    Progress, Query, Ranking, SecretPolicy, Services, StoreError, StoredMemory, Verb,
    commit::commit, embed, is_nonzero, search, secret,
};

/// Maximum number of memories to evaluate, newest first.
const MEMORIES: usize = 2000;

/// Maximum number of queries, spread evenly over the memories.
const QUESTIONS: usize = 300;

/// Number of hits to inspect; a memory at a higher rank counts as not found.
const HITS: usize = 10;

/// Minimum size in bytes of the letters in a query sentence, and in the remaining text of its memory.
const MIN_LETTERS: usize = 20;

/// Minimum number of queries for a verdict.
const MIN_QUESTIONS: u64 = 30;

/// Number of memories that are written in one operation.
const BATCH: usize = 250;

/// The effect of a model on the queries of one script.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelTest {
    /// Number of queries.
    pub questions: u64,
    /// Number of queries that the model cannot read.
    pub unreadable: u64,
    /// The quality of lexical search alone.
    pub words: SearchQuality,
    /// The quality of lexical search combined with the model.
    pub with_model: SearchQuality,
    /// Number of queries that rank their memory better with the model.
    pub better: u64,
    /// Number of queries that rank their memory worse with the model.
    pub worse: u64,
}

/// The quality of search results, as sums over queries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct SearchQuality {
    /// Number of queries that rank their memory among the first 10.
    pub found: u64,
    /// The sum of 1 / rank.
    pub reciprocal_ranks: f64,
}

/// The verdict about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelVerdict {
    /// The number of queries is too small for a verdict.
    TooFew,
    /// More queries improve than chance explains.
    Better,
    /// More queries get worse than chance explains.
    Worse,
    /// The difference may be due to chance.
    NoDifference,
}

impl ModelTest {
    /// Returns the verdict of a sign test on the queries with different ranks, at a level of about 5 %.
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are a few hundred questions"
    )]
    pub fn verdict(&self) -> ModelVerdict {
        let (better, worse) = (self.better as f64, self.worse as f64);
        if self.questions < MIN_QUESTIONS {
            ModelVerdict::TooFew
        } else if (better - worse).abs() <= 2.0 * (better + worse).sqrt() {
            ModelVerdict::NoDifference
        } else if worse < better {
            ModelVerdict::Better
        } else {
            ModelVerdict::Worse
        }
    }

    fn add(&mut self, is_unreadable: bool, words: Option<usize>, with_model: Option<usize>) {
        self.questions += 1;
        self.unreadable += u64::from(is_unreadable);
        self.words.add(words);
        self.with_model.add(with_model);
        let place = |rank: Option<usize>| rank.unwrap_or(usize::MAX);
        self.better += u64::from(place(with_model) < place(words));
        self.worse += u64::from(place(words) < place(with_model));
    }

    /// Adds the counts of the queries of another script.
    pub fn merge(&mut self, other: &Self) {
        self.questions += other.questions;
        self.unreadable += other.unreadable;
        self.words.merge(other.words);
        self.with_model.merge(other.with_model);
        self.better += other.better;
        self.worse += other.worse;
    }
}

impl SearchQuality {
    fn add(&mut self, rank: Option<usize>) {
        if let Some(rank) = rank {
            self.found += 1;
            #[expect(clippy::cast_precision_loss, reason = "ranks are small")]
            let reciprocal = 1.0 / rank as f64;
            self.reciprocal_ranks += reciprocal;
        }
    }

    fn merge(&mut self, other: Self) {
        self.found += other.found;
        self.reciprocal_ranks += other.reciprocal_ranks;
    }
}

/// Measures the model of `scratch`, an empty home, on the memories of `home`, which remains unchanged.
///
/// Copies of the memories without credentials are written to `scratch`, some of them without one of their sentences, which
/// then serves as the query. Returns the result of each script. The result is deterministic for the same memories and model.
///
/// # Errors
/// [`StoreError::NoModel`]; [`StoreError::Embed`] if the model fails; or an error of either store.
pub fn test_model(
    home: &Services,
    scratch: &Services,
    progress: &mut dyn FnMut(Progress),
) -> Result<BTreeMap<&'static str, ModelTest>, StoreError> {
    let embedder = scratch.embedder.as_deref().ok_or(StoreError::NoModel)?;
    home.store.refresh()?;
    let slice = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(MEMORIES),
    };
    let mut memories = home
        .store
        .list(&Filter::all(), &slice, home.clock.now())?
        .memories;
    // The copies are temporary, but a credential does not belong in another file even for a minute.
    memories.retain(|stored| !has_credential(&stored.memory));
    let questions = copy_memories(scratch, &memories)?;
    embed(scratch, progress, None)?;
    let words = Services {
        embedder: None,
        reranking: None,
        ..scratch.clone()
    };
    let with_model = Services {
        reranking: None,
        ..scratch.clone()
    };
    let mut tests: BTreeMap<&'static str, ModelTest> = BTreeMap::new();
    for (id, question) in &questions {
        let is_unreadable = !is_readable(embedder, question)?;
        let (words, with_model) = (
            find_rank(&words, question, *id)?,
            find_rank(&with_model, question, *id)?,
        );
        tests
            .entry(script(question))
            .or_default()
            .add(is_unreadable, words, with_model);
    }
    Ok(tests)
}

fn has_credential(memory: &Memory) -> bool {
    secret::reject_secrets(
        [memory.content.as_str()]
            .into_iter()
            .chain(memory.title.as_deref()),
    )
    .is_err()
}

/// Copies memories into an empty home, and returns the queries with the memory that each should find.
fn copy_memories(
    scratch: &Services,
    memories: &[StoredMemory],
) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let splits: Vec<Option<(String, String)>> = memories
        .iter()
        .map(|stored| leave_out_sentence(&stored.memory.content))
        .collect();
    let possible = splits.iter().flatten().count();
    let step = possible.div_ceil(QUESTIONS).max(1);
    let (mut questions, mut number) = (Vec::new(), 0);
    for (memories, splits) in memories.chunks(BATCH).zip(splits.chunks(BATCH)) {
        let mut set = scratch.change_set(Verb::Import);
        set.duplicates = Duplicates::Keep;
        for (stored, split) in memories.iter().zip(splits) {
            let is_asked = split.is_some() && number % step == 0;
            number += usize::from(split.is_some());
            let split = split.as_ref().filter(|_| is_asked);
            let content = split.map_or(stored.memory.content.as_str(), |(_, rest)| rest);
            let title = stored.memory.title.clone();
            let draft = Draft {
                title,
                created_at: Some(stored.memory.created_at),
                ..Draft::new(content)
            };
            let memory = draft.into_memory(stored.memory.id, set.operation.at);
            questions.extend(split.map(|(question, _)| (memory.id, question.clone())));
            set.changes.push(Change::Create {
                memory: Box::new(memory),
                front_matter: String::new(),
            });
        }
        // A memory without a credential has none without one of its sentences.
        commit(scratch, &set, SecretPolicy::Keep)?;
    }
    Ok(questions)
}

/// Returns the rank of the memory among the first hits, counted from 1.
fn find_rank(
    services: &Services,
    question: &str,
    id: MemoryId,
) -> Result<Option<usize>, StoreError> {
    let query = Query {
        text: question.into(),
        filter: Filter::default(),
        limit: HITS,
        ranking: Ranking::default(),
    };
    let hits = match search(services, &query) {
        Ok(found) => found.hits,
        // The query consists of filter words only.
        Err(StoreError::Invalid { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(hits
        .iter()
        .position(|hit| hit.stored.memory.id == id)
        .map(|place| place + 1))
}

fn is_readable(embedder: &dyn Embedder, question: &str) -> Result<bool, StoreError> {
    Ok(embedder
        .embed(&[question])?
        .first()
        .is_some_and(|vector| is_nonzero(vector)))
}

/// Returns the middle sentence of a text as a query, and the text without it.
///
/// Returns `None` unless both have enough letters. Punctuation is removed from the query, because it could be parsed as
/// a filter or an exclusion.
fn leave_out_sentence(text: &str) -> Option<(String, String)> {
    let ends_sentence = |character: char| {
        matches!(
            character,
            '.' | '!' | '?' | '\n' | '。' | '！' | '？' | '；'
        )
    };
    let sentences: Vec<&str> = text.split_inclusive(ends_sentence).collect();
    let candidates = (0..sentences.len()).filter(|place| MIN_LETTERS <= letters(sentences[*place]));
    let place = candidates.min_by_key(|place| (2 * place + 1).abs_diff(sentences.len()))?;
    let rest = [sentences[..place].concat(), sentences[place + 1..].concat()].concat();
    let rest = rest.trim();
    if letters(rest) < MIN_LETTERS {
        return None;
    }
    let question: String = sentences[place]
        .chars()
        .map(|character| {
            if character.is_alphanumeric() {
                character
            } else {
                ' '
            }
        })
        .collect();
    Some((
        question.split_whitespace().collect::<Vec<_>>().join(" "),
        rest.to_owned(),
    ))
}

fn letters(text: &str) -> usize {
    text.chars()
        .filter(|character| character.is_alphabetic())
        .map(char::len_utf8)
        .sum()
}

/// Returns the script with the most letters in a text, weighted by their bytes.
fn script(text: &str) -> &'static str {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for character in text.chars().filter(|character| character.is_alphabetic()) {
        *counts.entry(script_of(character)).or_default() += character.len_utf8();
    }
    // Japanese uses both kana and Chinese characters.
    if let Some(kana) = counts.remove("Japanese") {
        *counts.entry("Japanese").or_default() +=
            kana + counts.get("Chinese").copied().unwrap_or(0);
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map_or("other", |(script, _)| script)
}

fn script_of(letter: char) -> &'static str {
    match u32::from(letter) {
        ..=0x24F | 0x1E00..=0x1EFF | 0xFF21..=0xFF5A => "Latin",
        0x370..=0x3FF | 0x1F00..=0x1FFF => "Greek",
        0x400..=0x52F => "Cyrillic",
        0x590..=0x5FF => "Hebrew",
        0x600..=0x6FF | 0x750..=0x77F => "Arabic",
        0x900..=0x97F => "Devanagari",
        0xE00..=0xE7F => "Thai",
        0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7AF => "Korean",
        0x3040..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F => "Japanese",
        0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF => "Chinese",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{FakeEmbedder, services};
    use crate::{MemStore, write};

    #[test]
    fn the_middle_sentence_becomes_the_question() {
        for (text, expected) in [
            ("One sentence alone is no question.", None),
            (
                "Anna moved to Vienna in May. Her new flat is near the river! She likes it there very much.",
                Some((
                    "Her new flat is near the river",
                    "Anna moved to Vienna in May. She likes it there very much.",
                )),
            ),
            (
                "我们决定下周三去上海开会。会议的题目是明年的预算。",
                Some(("我们决定下周三去上海开会", "会议的题目是明年的预算。")),
            ),
            (
                "Short. No. The -only \"long\" tag:sentence is this one here.",
                None,
            ),
            (
                "The first line has words\nthe -second \"line\" has tag:others",
                Some((
                    "The first line has words",
                    "the -second \"line\" has tag:others",
                )),
            ),
        ] {
            let split = leave_out_sentence(text);
            let split = split
                .as_ref()
                .map(|(question, rest)| (question.as_str(), rest.as_str()));
            assert_eq!(split, expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_of_the_script_of_most_letters() {
        for (text, expected) in [
            ("the dark mode", "Latin"),
            ("深色模式 in VS", "Chinese"),
            ("ダークモードを好む 深色", "Japanese"),
            ("тёмная тема", "Cyrillic"),
            ("다크 모드", "Korean"),
            ("42", "other"),
        ] {
            assert_eq!(script(text), expected, "{text}");
        }
    }

    #[test]
    fn a_verdict_needs_questions_and_more_than_chance() {
        let test = |questions, better, worse| {
            ModelTest {
                questions,
                better,
                worse,
                ..ModelTest::default()
            }
            .verdict()
        };
        assert_eq!(test(29, 29, 0), ModelVerdict::TooFew);
        assert_eq!(test(30, 20, 2), ModelVerdict::Better);
        assert_eq!(test(30, 2, 20), ModelVerdict::Worse);
        assert_eq!(test(300, 20, 12), ModelVerdict::NoDifference);
        assert_eq!(test(300, 0, 0), ModelVerdict::NoDifference);
    }

    #[test]
    fn the_figures_are_the_same_each_time_and_the_memories_stay() {
        let home = services(Arc::new(MemStore::default()));
        for number in 0..40 {
            let text = format!(
                "Note {number} is about thing{} here. It lies in the drawer number{number} of the house.",
                number * 7
            );
            write(&home, Draft::new(&text), SecretPolicy::Refuse).expect("it is kept");
        }
        write(
            &home,
            Draft::new("用户喜欢深色模式和绿茶。会议的题目是明年的预算。"),
            SecretPolicy::Refuse,
        )
        .expect("it is kept");
        let test = || {
            let scratch = Services {
                embedder: Some(Arc::new(FakeEmbedder)),
                ..services(Arc::new(MemStore::default()))
            };
            test_model(&home, &scratch, &mut |_| ()).expect("it is measured")
        };
        let tests = test();
        assert_eq!(tests, test());
        assert_eq!(
            tests
                .iter()
                .map(|(script, test)| (*script, test.questions))
                .collect::<Vec<_>>(),
            [("Chinese", 1), ("Latin", 40)]
        );
        assert!(
            tests
                .values()
                .all(|test| test.words.found <= test.questions && test.unreadable == 0)
        );
        let none = Services {
            embedder: None,
            ..services(Arc::new(MemStore::default()))
        };
        assert!(matches!(
            test_model(&home, &none, &mut |_| ()),
            Err(StoreError::NoModel)
        ));
    }

    #[test]
    fn a_memory_with_a_credential_is_not_copied() {
        let home = services(Arc::new(MemStore::default()));
        let key = ["AKIA", "Z7QW3ERTY5UIOP2A"].concat();
        for text in [
            "The harbour opens early. The boats leave at seven o'clock.",
            &format!("The key for the backup is {key}. It is rotated in May."),
        ] {
            write(&home, Draft::new(text), SecretPolicy::Keep).expect("it is kept");
        }
        let scratch = Services {
            embedder: Some(Arc::new(FakeEmbedder)),
            ..services(Arc::new(MemStore::default()))
        };
        test_model(&home, &scratch, &mut |_| ()).expect("it is measured");
        let page = PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: None,
        };
        let copies = scratch
            .store
            .list(&Filter::all(), &page, scratch.clock.now())
            .expect("they are listed");
        let texts: Vec<&str> = copies
            .memories
            .iter()
            .map(|stored| stored.memory.content.as_str())
            .collect();
        assert_eq!(texts, ["The boats leave at seven o'clock."]);
    }
}
