//! Distinguishes the statements of a message from its requests.
//!
//! A turn of the user that states something is a fact that was not extracted. Requests, questions and pleasantries repeat the words of
//! facts without being facts, so recall ranks them separately. The rules cover English and Chinese. A text in another language is a
//! statement unless it ends in a question mark.

mod chinese;
mod english;

use std::ops::Range;

use crate::language::WORDS;
use crate::standing::own_sentences;
use crate::text::{fold, is_han, push_range, sentences};

/// The speech act of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpeechAct {
    /// A request or a question.
    Request,
    /// A statement with its own subject and verb, which counts as one even next to a request.
    Statement,
    /// A clause without content: a greeting, thanks, a confirmation.
    Filler,
    /// A clause with the act of the rest of its sentence; a statement if it is alone.
    Fragment,
}

/// Returns the ranges of the statements in a user's message, in order.
///
/// Text after a request with a colon belongs to the request. Code, quotations and pasted text are no statements.
pub(super) fn statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for sentence in own_sentences(text) {
        let written = &text[sentence.clone()];
        let clauses = clauses(text, sentence.clone());
        let is_question = written
            .trim_end()
            .trim_end_matches(['"', '”', ')', '）', '!', '！'])
            .ends_with(['?', '？']);
        let last = clauses.len().saturating_sub(1);
        let act_of = |(number, clause): (usize, &Range<usize>)| {
            let act = classify_clause(&text[clause.clone()]);
            if is_question && number == last {
                SpeechAct::Request
            } else {
                act
            }
        };
        let acts: Vec<SpeechAct> = clauses.iter().enumerate().map(act_of).collect();
        if acts.contains(&SpeechAct::Request) {
            for (clause, act) in clauses.iter().zip(&acts) {
                if *act == SpeechAct::Statement {
                    found.push(clause.clone());
                }
                let is_introduction = text[..clause.end].ends_with([':', '：']);
                if *act == SpeechAct::Request && is_introduction {
                    return found;
                }
            }
        } else if acts.iter().any(|act| *act != SpeechAct::Filler) {
            found.push(sentence);
        }
    }
    found
}

/// Returns whether a message only greets, thanks or acknowledges, and answers no question.
pub fn is_courtesy(text: &str) -> bool {
    let words = |clause: &str| -> Vec<String> {
        let words = clause.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
        words.filter(|word| !word.is_empty()).map(fold).collect()
    };
    let is_without_content = |clause: Range<usize>| {
        let clause = &text[clause];
        let words = words(clause);
        words
            .iter()
            .all(|word| WORDS.courtesies.contains(&word.as_str()))
            || classify_clause(clause) == SpeechAct::Filler
                && !words.iter().any(|word| {
                    WORDS.answers.contains(&word.as_str())
                        || word
                            .chars()
                            .any(|own| is_han(own) && WORDS.answers.contains(&&*own.to_string()))
                })
    };
    clauses_in(text, 0..text.len())
        .into_iter()
        .all(is_without_content)
}

/// Returns the words that only frame the requests of a text.
///
/// These are verbs such as `write`, products and courtesies.
pub(crate) fn framing_words(text: &str) -> Vec<Range<usize>> {
    let clauses = sentences(text)
        .into_iter()
        .flat_map(|sentence| clauses(text, sentence));
    let mut found = Vec::new();
    for clause in clauses {
        let written = &text[clause.clone()];
        let own = if written.chars().any(is_han) {
            chinese::framing_words(written)
        } else {
            english::framing_words(written)
        };
        found.extend(
            own.into_iter()
                .map(|range| clause.start + range.start..clause.start + range.end),
        );
    }
    found
}

/// Returns the clauses of a part of a text.
pub(super) fn clauses_in(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let begin = part.start;
    let sentences = sentences(&text[part])
        .into_iter()
        .map(|own| begin + own.start..begin + own.end);
    sentences
        .flat_map(|sentence| clauses(text, sentence))
        .collect()
}

fn classify_clause(clause: &str) -> SpeechAct {
    if clause.chars().any(is_han) {
        chinese::classify(clause)
    } else {
        english::classify(clause)
    }
}

/// Returns the clauses of a sentence, each with its final punctuation.
fn clauses(text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut begin = sentence.start;
    let written = &text[sentence.clone()];
    for (at, character) in written.char_indices() {
        let next = written[at + character.len_utf8()..].chars().next();
        let is_mark = match character {
            '，' | '：' | '—' | '–' | '（' | '）' | '(' | ')' => true,
            ',' | ':' => next.is_none_or(|next| next.is_whitespace() || is_han(next)),
            '-' => {
                next.is_some_and(char::is_whitespace)
                    && written[..at].ends_with(char::is_whitespace)
            }
            _ => false,
        };
        let end = sentence.start + at + character.len_utf8();
        if is_mark
            || (character.is_whitespace() && english::begins_clause(&text[end..sentence.end]))
        {
            push_range(text, begin..end, &mut found);
            begin = end;
        }
    }
    push_range(text, begin..sentence.end, &mut found);
    found
}

#[cfg(test)]
mod tests;
