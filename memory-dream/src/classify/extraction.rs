//! Extracts features from a note: its words, its shape and the times that it names.

use chrono::{DateTime, NaiveDate, Utc};
use memory_core::datetime::{DatePrecision, find_dates};
use memory_core::text::{TokenKind, is_han, is_sentence_end, tokenize};

use super::feature::{ClassifierInput, FeatureKind, FeaturePart, Features, fnv_hash};
use super::lexicon::{WordClass, class_of_han, class_of_stem};
use crate::language::{WORDS, has_beginning};

/// Number of bytes of a text that are read; the start of a note determines its category.
const MAX_READ_BYTES: usize = 6_000;

/// Returns the features of a note.
pub fn extract_features(note: &ClassifierInput<'_>) -> Features {
    let mut features = Features::default();
    let content = text_start(note.content);
    for text in note.title.map(text_start).into_iter().chain([content]) {
        add_words(text, &mut features);
    }
    add_shape_cues(content, &mut features);
    add_time_cues(content, &mut features);
    features
}

fn text_start(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_READ_BYTES)]
}

/// Adds the features of the words of `text`.
fn add_words(text: &str, features: &mut Features) {
    let sentences = split_sentences(text);
    let many = if sentences.ends.len() < 2 {
        "one sentence"
    } else {
        "many sentences"
    };
    if !sentences.pieces.is_empty() {
        features.add_cue(many);
    }
    let mut start = 0;
    for &end in &sentences.ends {
        add_sentence(&sentences.pieces[start..end], start == 0, features);
        start = end;
    }
}

/// A word, or a character of a script without spaces.
#[derive(Debug)]
struct NoteWord {
    stem: String,
    /// The word in lower case, if its written form is not the stem.
    form: Option<String>,
    class: Option<WordClass>,
    is_word: bool,
    stem_hash: u32,
    form_hash: u32,
}

impl NoteWord {
    fn new(stem: &str, form: Option<String>, class: Option<WordClass>, is_word: bool) -> Self {
        let stem_hash = fnv_hash(stem);
        let form_hash = form.as_deref().map_or(stem_hash, fnv_hash);
        Self {
            stem: stem.to_owned(),
            form,
            class,
            is_word,
            stem_hash,
            form_hash,
        }
    }

    fn stem(&self) -> FeaturePart<'_> {
        FeaturePart {
            text: &self.stem,
            hash: self.stem_hash,
        }
    }

    fn form(&self) -> FeaturePart<'_> {
        FeaturePart {
            text: self.form.as_deref().unwrap_or(&self.stem),
            hash: self.form_hash,
        }
    }

    /// Returns the class, for classes that matter more than the individual word, else the written form.
    fn role(&self) -> FeaturePart<'_> {
        const NUMBER: FeaturePart<'static> = FeaturePart::of("a number");
        match self.class {
            Some(
                class @ (WordClass::Name
                | WordClass::Kin
                | WordClass::Job
                | WordClass::Trait
                | WordClass::Tool
                | WordClass::Moment),
            ) => class.part(),
            _ if self
                .stem
                .starts_with(|character: char| character.is_ascii_digit()) =>
            {
                NUMBER
            }
            _ => self.form(),
        }
    }
}

#[derive(Debug, Default)]
struct NoteSentences {
    pieces: Vec<NoteWord>,
    /// The index in `pieces` at which each sentence ends.
    ends: Vec<usize>,
}

fn split_sentences(text: &str) -> NoteSentences {
    let mut found = NoteSentences::default();
    let mut after = 0;
    tokenize(text, &mut |token| {
        if token.kind == TokenKind::Bigram {
            return;
        }
        let is_first = found.pieces.len() == found.ends.last().copied().unwrap_or(0);
        let gap = text.get(after..token.span.start).unwrap_or_default();
        let is_first = if !is_first && gap.contains(is_sentence_end) {
            found.ends.push(found.pieces.len());
            true
        } else {
            is_first
        };
        after = token.span.end;
        let written = &text[token.span];
        let is_word = token.kind == TokenKind::Word;
        let class = if is_word {
            class_of_stem(token.text)
        } else {
            None
        };
        let is_name = is_word
            && !is_first
            && (class.is_none() || class == Some(WordClass::Name))
            && is_capitalised(written);
        let class = if is_name {
            Some(WordClass::Name)
        } else {
            class
        };
        let form = (is_word && written != token.text).then(|| written.to_lowercase());
        found
            .pieces
            .push(NoteWord::new(token.text, form, class, is_word));
    });
    if !found.pieces.is_empty() {
        found.ends.push(found.pieces.len());
    }
    found
}

/// Returns whether a word starts with an upper-case and a lower-case letter.
fn is_capitalised(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(char::is_uppercase)
        && characters.next().is_some_and(char::is_lowercase)
}

/// Adds the features of one sentence.
fn add_sentence(pieces: &[NoteWord], is_first: bool, features: &mut Features) {
    let classes = word_classes(pieces);
    for &class in &classes {
        features.add(FeatureKind::Cue, &[class.part()]);
    }
    for pair in classes.windows(2) {
        features.add(FeatureKind::Order, &[pair[0].part(), pair[1].part()]);
    }
    if let (true, Some(class)) = (
        is_first,
        pieces
            .first()
            .and_then(|first| first.class)
            .or(classes.first().copied()),
    ) {
        features.add(
            FeatureKind::Cue,
            &[FeaturePart::of("first of all"), class.part()],
        );
    }
    for piece in pieces {
        features.add(FeatureKind::Word, &[piece.stem()]);
        if piece.is_word {
            features.add(FeatureKind::Form, &[piece.form()]);
        }
    }
    for pair in pieces.windows(2) {
        let kind = if pair[0].is_word || pair[1].is_word {
            FeatureKind::Pair
        } else {
            FeatureKind::Form
        };
        features.add(kind, &[pair[0].role(), pair[1].role()]);
    }
    for triple in pieces.windows(3) {
        let kind = if triple.iter().all(|piece| piece.is_word) {
            FeatureKind::Triple
        } else {
            FeatureKind::Pair
        };
        features.add(
            kind,
            &[triple[0].role(), triple[1].role(), triple[2].role()],
        );
    }
    if let [first, rest @ ..] = pieces {
        features.add(FeatureKind::Start, &[first.role()]);
        if let Some(second) = rest.first() {
            features.add(FeatureKind::Start, &[first.role(), second.role()]);
        }
        if first.is_word
            && let Some(ending) = ENDINGS
                .into_iter()
                .find(|ending| first.form().text.ends_with(ending))
        {
            features.add(
                FeatureKind::Start,
                &[FeaturePart::of("…"), FeaturePart::of(ending)],
            );
        }
    }
    if let [.., before, last] = pieces {
        features.add(FeatureKind::End, &[last.role()]);
        features.add(FeatureKind::End, &[before.role(), last.role()]);
    }
}

/// The endings of verb forms and adverbs that become features.
const ENDINGS: [&str; 4] = ["ed", "ing", "ly", "s"];

/// Returns the classes of the words of a sentence, in order.
fn word_classes(pieces: &[NoteWord]) -> Vec<WordClass> {
    let mut found: Vec<WordClass> = Vec::new();
    // The Han characters of the sentence, with a space for each other piece, to match words of several characters.
    let mut run = String::new();
    let mut starts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        starts.push(run.len());
        run.push_str(if !piece.is_word && piece.stem.starts_with(is_han) {
            &piece.stem
        } else {
            " "
        });
    }
    let mut free = 0;
    for (piece, &start) in pieces.iter().zip(&starts) {
        if piece.is_word {
            found.extend(piece.class);
        } else if free <= start
            && let Some((class, length)) = class_of_han(&run[start..])
        {
            found.push(class);
            free = start + length;
        }
    }
    found.dedup();
    found
}

/// Adds the features of the shape of `text`.
fn add_shape_cues(text: &str, features: &mut Features) {
    let mut add = |cue: &str| features.add_cue(cue);
    let start = text.trim_start_matches(|character: char| {
        character.is_whitespace() || matches!(character, '-' | '*' | '#' | '>')
    });
    match start.chars().next() {
        Some('`') => add("begins with code"),
        Some(character) if character.is_ascii_digit() => add("begins with a number"),
        Some('“' | '"' | '「' | '\'') => add("begins with a quote"),
        _ => {}
    }
    match text.trim_end().chars().next_back() {
        Some('?' | '？') => add("ends in a question"),
        Some('!' | '！') => add("ends in a call"),
        Some('.' | '。') => add("ends in a full stop"),
        _ => {}
    }
    if text.contains("```") {
        add("a block of code");
    }
    if text.contains(['→', '⇒']) || text.contains("->") || text.contains("=>") {
        add("an arrow");
    }
    if text.contains(" - ") || text.contains(['—', '–']) {
        add("a dash");
    }
    if text.contains(['“', '"', '「']) {
        add("a quote");
    }
    if text.contains('=') {
        add("an equation");
    }
    if text.contains(" + ") {
        add("a sum");
    }
    let colon = text
        .find([':', '：'])
        .filter(|&place| !text[place..].starts_with("://"));
    if let Some(place) = colon {
        add(if text[..place].chars().count() <= 24 {
            "a label"
        } else {
            "a colon"
        });
    }
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.is_empty());
    let (mut bullets, mut headings) = (0, 0);
    for line in lines {
        bullets += usize::from(
            line.starts_with("- ") || line.starts_with("* ") || line.starts_with("1. "),
        );
        headings += usize::from(line.starts_with('#'));
    }
    if 0 < headings {
        add("a heading");
    }
    if 1 < bullets {
        add("a list");
    }
    text.split_whitespace()
        .filter_map(chunk_kind)
        .for_each(&mut add);
    let (words, han) = text.chars().fold((0, 0), |(words, han), character| {
        (
            words + usize::from(character == ' '),
            han + usize::from(is_han(character)),
        )
    });
    if 0 < han {
        add("Han");
    }
    add(match words + han / 2 {
        0..4 => "very short",
        4..8 => "short",
        8..16 => "a line",
        16..40 => "some lines",
        _ => "long",
    });
}

/// Returns the kind of a chunk between spaces; `None` for an ordinary word.
fn chunk_kind(chunk: &str) -> Option<&'static str> {
    let is_code = chunk.contains('`');
    let inner = chunk.trim_matches(|character: char| {
        !character.is_alphanumeric() && !matches!(character, '/' | '-' | '~' | '.' | '_')
    });
    let letters = || inner.bytes().any(|byte| byte.is_ascii_alphabetic());
    if inner.contains("://") {
        Some("a web address")
    } else if inner.contains('@') && inner.contains('.') && letters() {
        Some("a mail address")
    } else if inner.contains('/')
        && letters()
        && !inner.contains(|character: char| !character.is_ascii())
    {
        Some("a path")
    } else if inner.starts_with("--") && letters() {
        Some("an option")
    } else if has_extension(inner) {
        Some("a file")
    } else if inner.contains('_') && letters() {
        Some("a name of code")
    } else if is_code {
        Some("code")
    } else if is_version(inner) {
        Some("a version")
    } else {
        None
    }
}

fn has_extension(word: &str) -> bool {
    let Some((name, extension)) = word.rsplit_once('.') else {
        return false;
    };
    !name.is_empty()
        && (2..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_version(word: &str) -> bool {
    let digits = word
        .trim_start_matches(['v', 'V'])
        .trim_end_matches(['+', 'x']);
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.contains('.')
        && digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.split('.').all(is_number)
}

/// Number of bytes that are read for times; the start of a note determines its category.
const MAX_TIME_BYTES: usize = 160;

/// Adds the features of the times that `text` names.
fn add_time_cues(text: &str, features: &mut Features) {
    let text = &text[..text.floor_char_boundary(MAX_TIME_BYTES)];
    let found = if may_have_time(text) {
        find_dates(text, &REFERENCE_TIME)
    } else {
        Vec::new()
    };
    let mut add = |cue: &str| features.add_cue(cue);
    match found.len() {
        0 => return add("no time"),
        1 => {}
        2 => add("two times"),
        _ => add("many times"),
    }
    for reading in found {
        add(match (reading.kind, reading.repeats) {
            (_, true) => "a time again and again",
            (DatePrecision::Date, false) => "a day",
            (DatePrecision::Time, false) => "a time of day",
            (DatePrecision::DateTime, false) => "a day and its time",
        });
        if reading.span.start == 0 {
            add("a time first");
        }
    }
}

/// An arbitrary reference time: the features depend only on the form of the times.
const REFERENCE_TIME: DateTime<Utc> = match NaiveDate::from_ymd_opt(2026, 1, 15) {
    Some(day) => day.and_hms_opt(12, 0, 0).expect("noon").and_utc(),
    None => panic!("a day of the calendar"),
};

/// Returns whether a text may contain a time.
///
/// The check avoids parsing, which takes as long as all other features.
fn may_have_time(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) || has_beginning(text, &WORDS.classified_times)
}
