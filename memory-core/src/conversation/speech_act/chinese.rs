//! Classifies Chinese clauses.

use std::ops::Range;

use super::SpeechAct;
use crate::language::{WORDS, contains_any, starts_with_any, strip_any};

word_classes! {
    /// The words of Chinese speech acts.
    CHINESE = "../../language/zh/speech_act.json": ChineseWords {
        /// Verbs at the start of a Chinese request.
        verbs,
        /// Products of Chinese requests.
        products,
        /// Words of a Chinese request other than its verb, product and subject.
        frame,
        /// Words that may precede a clause without a change of its act.
        leads,
        fillers,
        remember_phrases,
        question_phrases,
        /// Prepositions at the start of a request that names the recipient or subject before the verb.
        prepositions,
        creation_verbs,
        subjects,
        predicates,
        /// Products of requests, without one-character words that are part of frequent other words.
        wished_products,
        /// Question words for the object of a request, and words with a question word that are no question.
        object_questions,
        non_questions,
        /// Verbs of wanting, and words behind: requests to the assistant, and the start of a product.
        wishes,
        asked,
        made,
        /// The start of a request that names the recipient or the assistant, and of one with a count.
        recipients,
        counted,
    }
}

/// Returns the speech act of a clause.
pub(super) fn classify(clause: &str) -> SpeechAct {
    let is_mark = |character: char| !character.is_alphanumeric();
    let mut text = clause.trim_matches(is_mark);
    if CHINESE.fillers.contains(&text) || CHINESE.leads.contains(&text) {
        return SpeechAct::Filler;
    }
    if starts_with_any(text, &CHINESE.remember_phrases) {
        return SpeechAct::Statement;
    }
    let is_polite = starts_with_any(text, &WORDS.polite);
    while let Some(lead) = CHINESE.leads.iter().find(|lead| text.starts_with(**lead)) {
        text = text[lead.len()..].trim_matches(is_mark);
    }
    if starts_with_any(text, &CHINESE.remember_phrases) {
        SpeechAct::Statement
    } else if is_polite || is_question(text) || is_wish(text) || is_command(text) {
        SpeechAct::Request
    } else if is_declaration(text) {
        SpeechAct::Statement
    } else {
        SpeechAct::Fragment
    }
}

/// Returns the words that only frame a request.
///
/// In a question with a question word, verbs and products are the subject, so they are not returned.
pub(super) fn framing_words(clause: &str) -> Vec<Range<usize>> {
    if classify(clause) != SpeechAct::Request {
        return Vec::new();
    }
    let all = |words: &[&str]| -> Vec<Range<usize>> {
        let places = words.iter().flat_map(|word| clause.match_indices(*word));
        places.map(|(at, word)| at..at + word.len()).collect()
    };
    let mut found = all(&CHINESE.frame);
    let asks_which = contains_any(clause, &CHINESE.object_questions);
    if !asks_which {
        found.extend(
            [&CHINESE.verbs, &CHINESE.products, &CHINESE.creation_verbs]
                .into_iter()
                .flat_map(|words| all(words)),
        );
    }
    found
}

fn is_question(text: &str) -> bool {
    let asks_what =
        contains_any(text, &["什么", "什麼"]) && !contains_any(text, &CHINESE.non_questions);
    asks_what || text.ends_with(['吗', '嗎', '呢']) || contains_any(text, &CHINESE.question_phrases)
}

/// Returns whether a clause expresses a request as a wish of the user.
fn is_wish(text: &str) -> bool {
    let Some(rest) = strip_any(text, &["我们", "我們", "我"]) else {
        return false;
    };
    let Some(wished) = strip_any(rest, &CHINESE.wishes) else {
        return false;
    };
    let wished = wished.trim_start_matches('要');
    let is_made =
        starts_with_any(wished, &CHINESE.made) && contains_any(wished, &CHINESE.wished_products);
    starts_with_any(wished, &CHINESE.asked) || is_made
}

fn is_command(text: &str) -> bool {
    // `写作是我的爱好` has a subject.
    let beginning: String = text.chars().skip(1).take(4).collect();
    let is_subject = contains_any(&beginning, &["是", "让我", "很", "对我"]);
    if starts_with_any(text, &CHINESE.verbs) {
        return !is_subject;
    }
    if starts_with_any(text, &CHINESE.recipients) {
        return true;
    }
    if starts_with_any(text, &CHINESE.prepositions) {
        return contains_any(text, &CHINESE.creation_verbs)
            || contains_any(text, &CHINESE.products);
    }
    let is_counted = starts_with_any(text, &CHINESE.counted);
    let is_named = CHINESE
        .products
        .iter()
        .any(|product| text.ends_with(product))
        && text.chars().count() <= 12;
    (is_counted && contains_any(text, &CHINESE.products) || is_named)
        && !contains_any(text, &CHINESE.predicates)
        && !starts_with_any(text, &["我家", "这", "那"])
}

/// Returns whether a clause has a subject and a verb.
fn is_declaration(text: &str) -> bool {
    if starts_with_any(text, &["它要", "它应该", "它需要", "它必须"]) {
        return false;
    }
    let Some(rest) = strip_any(text, &CHINESE.subjects) else {
        return false;
    };
    contains_any(rest, &CHINESE.predicates)
}
