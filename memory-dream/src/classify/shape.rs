//! Features of the shape of a note: code, paths, lists and signs.

use super::feature::Features;

/// Adds the features of the shape of `text`.
pub(super) fn add_shape_cues(text: &str, features: &mut Features) {
    let mut add = |cue: &str| features.add_cue(cue);
    let start =
        text.trim_start_matches(|character: char| character.is_whitespace() || matches!(character, '-' | '*' | '#' | '>'));
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
    let colon = text.find([':', '：']).filter(|&place| !text[place..].starts_with("://"));
    if let Some(place) = colon {
        add(if text[..place].chars().count() <= 24 { "a label" } else { "a colon" });
    }
    let lines = text.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let (mut bullets, mut headings) = (0, 0);
    for line in lines {
        bullets += usize::from(line.starts_with("- ") || line.starts_with("* ") || line.starts_with("1. "));
        headings += usize::from(line.starts_with('#'));
    }
    if 0 < headings {
        add("a heading");
    }
    if 1 < bullets {
        add("a list");
    }
    text.split_whitespace().filter_map(chunk_kind).for_each(&mut add);
    let (words, han) = text.chars().fold((0, 0), |(words, han), character| {
        (words + usize::from(character == ' '), han + usize::from(super::feature::is_han(character)))
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
    let inner =
        chunk.trim_matches(|character: char| !character.is_alphanumeric() && !matches!(character, '/' | '-' | '~' | '.' | '_'));
    let letters = || inner.bytes().any(|byte| byte.is_ascii_alphabetic());
    if inner.contains("://") {
        Some("a web address")
    } else if inner.contains('@') && inner.contains('.') && letters() {
        Some("a mail address")
    } else if inner.contains('/') && letters() && !inner.contains(|character: char| !character.is_ascii()) {
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
    let Some((name, extension)) = word.rsplit_once('.') else { return false };
    !name.is_empty() && (2..=5).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_version(word: &str) -> bool {
    let digits = word.trim_start_matches(['v', 'V']).trim_end_matches(['+', 'x']);
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.contains('.') && digits.starts_with(|first: char| first.is_ascii_digit()) && digits.split('.').all(is_number)
}
