//! Single-character terms of scripts without blanks.

use std::collections::{HashMap, HashSet};

use super::{QueryWord, WordRole};
use crate::text::{Term, TokenKind, tokenize};

/// Adds the single characters of scripts without blanks to the query words.
///
/// Does nothing unless `words` contains a bigram. Stops at `most` words; particles and duplicates are skipped.
pub(super) fn add_characters(plain: &str, ages: &HashMap<Term, u8>, most: usize, words: &mut Vec<QueryWord>) {
    if words.iter().all(|word| word.term.kind != TokenKind::Bigram) {
        return;
    }
    let mut known: HashSet<Term> = words.iter().map(|word| word.term.clone()).collect();
    tokenize(plain, &mut |token| {
        if token.kind != TokenKind::Character || most <= words.len() || is_particle(token.text) {
            return;
        }
        let term = Term { text: token.text.to_owned(), kind: token.kind };
        if known.insert(term.clone()) {
            let age = ages.get(&term).copied().unwrap_or_default();
            words.push(QueryWord { spelled: term.text.clone(), term, role: WordRole::Character, age, is_prefix: false });
        }
    });
}

/// Returns whether a character is a function character that is rarely part of a searched word.
fn is_particle(character: &str) -> bool {
    const PARTICLES: &str = "的了是我你您他她它们們这這那在有和就不也都与與及吗嗎呢吧啊么麼什怎之着著过過把被给給对對很还還";
    PARTICLES.contains(character)
}
