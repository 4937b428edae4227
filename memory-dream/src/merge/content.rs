//! One text that says all that several say.

use super::addition::Addition;
use super::known::{Known, topic};
use super::passage::passages;

/// Returns `kept` with all that `others` say and it does not, and what that is, piece by piece.
///
/// `kept` comes first, byte for byte. Sentences that are new follow in paragraphs of their own; an item of a list, a quote, a
/// table or code is added as a whole, and each under its heading or announcement.
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

/// Returns what `source` says that is not known yet, and makes it known.
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

/// Closes what is open at the end of a text. What is appended later is closed.
fn close(text: &mut String) {
    if let Some(closing) = passages(text).pop().and_then(|last| last.unclosed) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&closing);
    }
}

/// Appends `piece` as a paragraph of its own.
fn append(text: &mut String, piece: &str) {
    while !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(piece);
}
