//! Merges texts.

use super::addition::Addition;
use super::known::{Known, topic};
use super::passage::passages;

/// Returns `kept` with the sentences of `others` that it lacks, and the pieces that were added.
///
/// The result starts with `kept`, byte for byte. New sentences follow in separate paragraphs. List items, quotes, tables and code are added
/// as a whole. Each piece is placed under its heading or announcement.
pub(super) fn joined(kept: &str, others: &[&str]) -> (String, Vec<String>) {
    let mut known = Known::default();
    known.add(kept);
    let (mut text, mut added) = (kept.to_owned(), Vec::new());
    for other in others {
        let pieces = news(&mut known, other);
        if added.is_empty() && !pieces.is_empty() {
            close(&mut text);
        }
        for piece in &pieces {
            append(&mut text, piece);
        }
        added.extend(pieces);
    }
    (text, added)
}

/// Returns the pieces of `source` that are not in `known`, and adds them to `known`.
fn news(known: &mut Known, source: &str) -> Vec<String> {
    let passages = passages(source);
    let mut addition = Addition::of(&passages);
    let mut next = 0;
    while let Some(passage) = passages.get(next) {
        let under = topic(&passages, passage);
        let is_new: Vec<_> = passage.keys.iter().map(|key| !known.says(under, key)).collect();
        if is_new.contains(&true) {
            let from = next;
            next = addition.push(from, &is_new);
            for own in &passages[from..next] {
                known.learn(topic(&passages, own), &own.keys);
            }
        } else {
            next += 1;
        }
    }
    addition.pieces()
}

/// Closes an open code block, comment or formula at the end of a text.
///
/// Appended pieces are always closed.
fn close(text: &mut String) {
    if let Some(closing) = passages(text).pop().and_then(|last| last.unclosed) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&closing);
    }
}

/// Appends `piece` as a separate paragraph.
fn append(text: &mut String, piece: &str) {
    while !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(piece);
}
