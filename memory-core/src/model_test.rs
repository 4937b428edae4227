//! Measuring whether a model that turns texts into vectors finds a person's own memories better.

use std::collections::BTreeMap;

use crate::{
    Change, Draft, Duplicates, Embedder, Filter, MemoryId, Order, Progress, Query, Ranking, Secrets, Services, Slice, StoreError,
    Stored, Verb, commit::commit, embed, has_direction, search,
};

/// Memories that are looked at, the newest.
const MEMORIES: usize = 2000;

/// Questions that are asked, spread evenly over the memories.
const QUESTIONS: usize = 300;

/// A hit further behind counts as not found.
const HITS: usize = 10;

/// Bytes of letters that a sentence needs to be a question, and the rest of its memory to be found.
const LETTERS: usize = 20;

/// Fewer questions tell nothing.
const ENOUGH: u64 = 30;

/// Memories that are written or embedded at once.
const BATCH: usize = 250;

/// What a model changes for the questions of one script.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelTest {
    /// The questions that were asked.
    pub questions: u64,
    /// The questions among them that the model cannot read.
    pub unreadable: u64,
    /// How well the words alone find.
    pub words: Findings,
    /// How well the words and the model find.
    pub with_model: Findings,
    /// Questions whose memory stands further in front with the model.
    pub better: u64,
    /// Questions whose memory stands further behind with it.
    pub worse: u64,
}

/// How well memories are found, as sums over questions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Findings {
    /// Questions whose memory is among the first 10.
    pub found: u64,
    /// The sum of 1 / rank.
    pub reciprocal_ranks: f64,
}

/// What a test says of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelVerdict {
    /// There are too few questions to tell.
    TooFew,
    /// More questions gain than chance explains.
    Better,
    /// More questions lose than chance explains.
    Worse,
    /// What changes may be chance.
    NoDifference,
}

impl ModelTest {
    /// Returns what the test says: the sign test on the questions that change, at about 5 %.
    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred questions")]
    pub fn verdict(&self) -> ModelVerdict {
        let (better, worse) = (self.better as f64, self.worse as f64);
        if self.questions < ENOUGH {
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

    /// Adds the questions of another script.
    pub fn merge(&mut self, other: &Self) {
        self.questions += other.questions;
        self.unreadable += other.unreadable;
        self.words.merge(other.words);
        self.with_model.merge(other.with_model);
        self.better += other.better;
        self.worse += other.worse;
    }
}

impl Findings {
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

/// Measures the model of `scratch`, a home without memories, on the memories of `home`, which stays as it is: copies of them are
/// put into `scratch`, some without one of their sentences, which is then asked for. Returns the figures of each script.
///
/// The same memories and the same model always give the same figures.
///
/// # Errors
/// [`StoreError::NoModel`]; [`StoreError::Embed`] when the model gives no vectors; else when memories cannot be read or kept.
pub fn test_model(
    home: &Services,
    scratch: &Services,
    progress: &mut dyn FnMut(Progress),
) -> Result<BTreeMap<&'static str, ModelTest>, StoreError> {
    let embedder = scratch.embedder.as_deref().ok_or(StoreError::NoModel)?;
    home.store.refresh()?;
    let slice = Slice { order: Order::Created, offset: 0, limit: Some(MEMORIES) };
    let memories = home.store.list(&Filter::everything(), &slice, home.clock.now())?.memories;
    let questions = copy(scratch, &memories)?;
    embed(scratch, progress, None)?;
    let words = Services { embedder: None, reranking: None, ..scratch.clone() };
    let with_model = Services { reranking: None, ..scratch.clone() };
    let mut tests: BTreeMap<&'static str, ModelTest> = BTreeMap::new();
    for (id, question) in &questions {
        let is_unreadable = !is_readable(embedder, question)?;
        let (words, with_model) = (rank(&words, question, *id)?, rank(&with_model, question, *id)?);
        tests.entry(script(question)).or_default().add(is_unreadable, words, with_model);
    }
    Ok(tests)
}

/// Puts copies of memories into an empty home; returns the questions and which memory each is about.
fn copy(scratch: &Services, memories: &[Stored]) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let splits: Vec<Option<(String, String)>> =
        memories.iter().map(|stored| leave_out_sentence(&stored.memory.content)).collect();
    let possible = splits.iter().flatten().count();
    let step = possible.div_ceil(QUESTIONS).max(1);
    let (mut questions, mut number) = (Vec::new(), 0);
    for (memories, splits) in memories.chunks(BATCH).zip(splits.chunks(BATCH)) {
        let mut operation = scratch.operation(Verb::Import);
        operation.duplicates = Duplicates::Keep;
        for (stored, split) in memories.iter().zip(splits) {
            let is_asked = split.is_some() && number % step == 0;
            number += usize::from(split.is_some());
            let split = split.as_ref().filter(|_| is_asked);
            let content = split.map_or(stored.memory.content.as_str(), |(_, rest)| rest);
            let title = stored.memory.title.clone();
            let draft = Draft { title, created_at: Some(stored.memory.created_at), ..Draft::new(content) };
            let memory = draft.into_memory(stored.memory.id, operation.at);
            questions.extend(split.map(|(question, _)| (memory.id, question.clone())));
            operation.changes.push(Change::Create { memory: Box::new(memory), front_matter: String::new() });
        }
        // They are kept already, whatever they hold.
        commit(scratch, &operation, Secrets::Keep)?;
    }
    Ok(questions)
}

/// Returns where the memory stands among the first hits.
fn rank(services: &Services, question: &str, id: MemoryId) -> Result<Option<usize>, StoreError> {
    let query = Query { text: question.into(), filter: Filter::default(), limit: HITS, ranking: Ranking::default() };
    let hits = match search(services, &query) {
        Ok(found) => found.hits,
        // Only words that say which memories are meant.
        Err(StoreError::Invalid { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(hits.iter().position(|hit| hit.stored.memory.id == id).map(|place| place + 1))
}

fn is_readable(embedder: &dyn Embedder, question: &str) -> Result<bool, StoreError> {
    Ok(embedder.embed(&[question])?.first().is_some_and(|vector| has_direction(vector)))
}

/// Returns the sentence in the middle of a text as a question, and the text without it, if both say something.
///
/// The question is words alone: a sign would be taken for a filter or an exclusion.
fn leave_out_sentence(text: &str) -> Option<(String, String)> {
    let ends_sentence = |character: char| matches!(character, '.' | '!' | '?' | '\n' | '。' | '！' | '？' | '；');
    let sentences: Vec<&str> = text.split_inclusive(ends_sentence).collect();
    let candidates = (0..sentences.len()).filter(|place| LETTERS <= letters(sentences[*place]));
    let place = candidates.min_by_key(|place| (2 * place + 1).abs_diff(sentences.len()))?;
    let rest = [sentences[..place].concat(), sentences[place + 1..].concat()].concat();
    let rest = rest.trim();
    if letters(rest) < LETTERS {
        return None;
    }
    let question: String =
        sentences[place].chars().map(|character| if character.is_alphanumeric() { character } else { ' ' }).collect();
    Some((question.split_whitespace().collect::<Vec<_>>().join(" "), rest.to_owned()))
}

fn letters(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphabetic()).map(char::len_utf8).sum()
}

/// Returns the script of most letters of a text, counted by their bytes.
fn script(text: &str) -> &'static str {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for character in text.chars().filter(|character| character.is_alphabetic()) {
        *counts.entry(script_of(character)).or_default() += character.len_utf8();
    }
    // Japanese is written in both.
    if let Some(kana) = counts.remove("Japanese") {
        *counts.entry("Japanese").or_default() += kana + counts.get("Chinese").copied().unwrap_or(0);
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or("other", |(script, _)| script)
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
    use crate::testing::{FakeEmbedder, FakeStore, services};
    use crate::write;

    #[test]
    fn the_middle_sentence_becomes_the_question() {
        for (text, expected) in [
            ("One sentence alone is no question.", None),
            (
                "Anna moved to Vienna in May. Her new flat is near the river! She likes it there very much.",
                Some(("Her new flat is near the river", "Anna moved to Vienna in May. She likes it there very much.")),
            ),
            (
                "我们决定下周三去上海开会。会议的题目是明年的预算。",
                Some(("我们决定下周三去上海开会", "会议的题目是明年的预算。")),
            ),
            ("Short. No. The -only \"long\" tag:sentence is this one here.", None),
            (
                "The first line has words\nthe -second \"line\" has tag:others",
                Some(("The first line has words", "the -second \"line\" has tag:others")),
            ),
        ] {
            let split = leave_out_sentence(text);
            let split = split.as_ref().map(|(question, rest)| (question.as_str(), rest.as_str()));
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
        let test = |questions, better, worse| ModelTest { questions, better, worse, ..ModelTest::default() }.verdict();
        assert_eq!(test(29, 29, 0), ModelVerdict::TooFew);
        assert_eq!(test(30, 20, 2), ModelVerdict::Better);
        assert_eq!(test(30, 2, 20), ModelVerdict::Worse);
        assert_eq!(test(300, 20, 12), ModelVerdict::NoDifference);
        assert_eq!(test(300, 0, 0), ModelVerdict::NoDifference);
    }

    #[test]
    fn the_figures_are_the_same_each_time_and_the_memories_stay() {
        let home = services(Arc::new(FakeStore::default()));
        for number in 0..40 {
            let text =
                format!("Note {number} is about thing{} here. It lies in the drawer number{number} of the house.", number * 7);
            write(&home, Draft::new(&text), Secrets::Refuse).expect("it is kept");
        }
        write(&home, Draft::new("用户喜欢深色模式和绿茶。会议的题目是明年的预算。"), Secrets::Refuse).expect("it is kept");
        let test = || {
            let scratch = Services { embedder: Some(Arc::new(FakeEmbedder)), ..services(Arc::new(FakeStore::default())) };
            test_model(&home, &scratch, &mut |_| ()).expect("it is measured")
        };
        let tests = test();
        assert_eq!(tests, test());
        assert_eq!(
            tests.iter().map(|(script, test)| (*script, test.questions)).collect::<Vec<_>>(),
            [("Chinese", 1), ("Latin", 40)]
        );
        assert!(tests.values().all(|test| test.words.found <= test.questions && test.unreadable == 0));
        let none = Services { embedder: None, ..services(Arc::new(FakeStore::default())) };
        assert!(matches!(test_model(&home, &none, &mut |_| ()), Err(StoreError::NoModel)));
    }
}
