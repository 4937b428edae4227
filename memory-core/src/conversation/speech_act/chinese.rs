//! Classifies Chinese clauses.

use std::ops::Range;

use super::SpeechAct;

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
    let is_polite = ["请", "請", "麻烦", "麻煩", "劳驾", "拜托"]
        .iter()
        .any(|own| text.starts_with(own));
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
    let asks_which = contains_any(clause, &["什么", "什麼", "哪", "谁", "誰", "多少"]);
    if !asks_which {
        found.extend(
            [&CHINESE.verbs, &CHINESE.products, &CHINESE.creation_verbs]
                .into_iter()
                .flat_map(|words| all(words)),
        );
    }
    found
}

fn starts_with_any(text: &str, with: &[&str]) -> bool {
    with.iter().any(|own| text.starts_with(own))
}

fn contains_any(text: &str, any: &[&str]) -> bool {
    any.iter().any(|own| text.contains(own))
}

fn is_question(text: &str) -> bool {
    let asks_what = contains_any(text, &["什么", "什麼"])
        && !contains_any(text, &["没什么", "沒什麼", "什么都", "什麼都", "什么也"]);
    asks_what || text.ends_with(['吗', '嗎', '呢']) || contains_any(text, &CHINESE.question_phrases)
}

/// Returns whether a clause expresses a request as a wish of the user.
fn is_wish(text: &str) -> bool {
    let verbs = [
        "想", "要", "需要", "希望", "还想", "很想", "好想", "就想", "也想", "还要",
    ];
    let Some(rest) = ["我们", "我們", "我"]
        .iter()
        .find_map(|subject| text.strip_prefix(subject))
    else {
        return false;
    };
    let Some(wished) = verbs.iter().find_map(|verb| rest.strip_prefix(verb)) else {
        return false;
    };
    let wished = wished.trim_start_matches('要');
    let is_made = starts_with_any(
        wished,
        &["一", "听", "聽", "看", "读", "讀", "几", "首", "篇"],
    ) && contains_any(wished, &CHINESE.wished_products);
    starts_with_any(
        wished,
        &["你", "请你", "让你", "知道", "了解", "问", "問", "请教"],
    ) || is_made
}

fn is_command(text: &str) -> bool {
    // `写作是我的爱好` has a subject.
    let beginning: String = text.chars().skip(1).take(4).collect();
    let is_subject = contains_any(&beginning, &["是", "让我", "很", "对我"]);
    if starts_with_any(text, &CHINESE.verbs) {
        return !is_subject;
    }
    if starts_with_any(
        text,
        &[
            "给我",
            "給我",
            "为我",
            "替我",
            "跟我",
            "和我聊",
            "陪我",
            "让我们",
            "我们来",
            "咱们",
            "你来",
            "你给",
            "你帮",
            "你写",
            "能不能",
        ],
    ) {
        return true;
    }
    if starts_with_any(text, &CHINESE.prepositions) {
        return contains_any(text, &CHINESE.creation_verbs)
            || contains_any(text, &CHINESE.products);
    }
    let is_counted = starts_with_any(
        text,
        &[
            "一首", "一篇", "一个", "一個", "一段", "一封", "一则", "一句", "再一", "另一", "来",
        ],
    );
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
    let Some(rest) = CHINESE
        .subjects
        .iter()
        .find_map(|subject| text.strip_prefix(subject))
    else {
        return false;
    };
    contains_any(rest, &CHINESE.predicates)
}
