//! Merges texts.

use super::addition::Addition;
use super::passage::parse_passages;
use super::sentence_set::{SentenceSet, passage_topic};

/// Returns `kept` with the sentences of `others` that it lacks, and the pieces that were added.
///
/// The result starts with `kept`, byte for byte. New sentences follow in separate paragraphs. List items, quotes, tables and code are added
/// as a whole. Each piece is placed under its heading or announcement.
pub(super) fn merge_texts(kept: &str, others: &[&str]) -> (String, Vec<String>) {
    let mut known = SentenceSet::default();
    known.add(kept);
    let (mut text, mut added) = (kept.to_owned(), Vec::new());
    for other in others {
        let pieces = take_new_pieces(&mut known, other);
        if added.is_empty() && !pieces.is_empty() {
            close_block(&mut text);
        }
        for piece in &pieces {
            append_paragraph(&mut text, piece);
        }
        added.extend(pieces);
    }
    (text, added)
}

/// Returns the pieces of `source` that are not in `known`, and adds them to `known`.
fn take_new_pieces(known: &mut SentenceSet, source: &str) -> Vec<String> {
    let passages = parse_passages(source);
    let mut addition = Addition::of(&passages);
    let mut next = 0;
    while let Some(passage) = passages.get(next) {
        let under = passage_topic(&passages, passage);
        let is_new: Vec<_> = passage.keys.iter().map(|key| !known.contains(under, key)).collect();
        if is_new.contains(&true) {
            let from = next;
            next = addition.add_passage(from, &is_new);
            for own in &passages[from..next] {
                known.add_sentences(passage_topic(&passages, own), &own.keys);
            }
        } else {
            next += 1;
        }
    }
    addition.into_pieces()
}

/// Closes an open code block, comment or formula at the end of a text.
///
/// Appended pieces are always closed.
fn close_block(text: &mut String) {
    if let Some(closing) = parse_passages(text).pop().and_then(|last| last.unclosed) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&closing);
    }
}

/// Appends `piece` as a separate paragraph.
fn append_paragraph(text: &mut String, piece: &str) {
    while !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
    text.push_str(piece);
}
