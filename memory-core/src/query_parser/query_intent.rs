//! Classification of queries by the kind of result that they expect.

use super::dates::SpelledWord;

/// Returns whether the query is about the time of an event.
pub(super) fn asks_when(plain: &str, typed: &[SpelledWord]) -> bool {
    const SIGNS: [&str; 9] = ["什么时候", "什麼時候", "何时", "何時", "哪天", "哪年", "几点", "幾點", "多久"];
    let pair = |first: &[&str], second: &[&str]| {
        typed.windows(2).any(|pair| first.contains(&pair[0].lower.as_str()) && second.contains(&pair[1].lower.as_str()))
    };
    typed.iter().any(|word| word.lower == "when")
        || pair(&["how"], &["long"])
        || pair(&["what", "which"], &["date", "day", "month", "year", "time"])
        || SIGNS.iter().any(|sign| plain.contains(sign))
}

/// Returns whether the query is about a person, a place or the name of something.
pub(super) fn asks_which(plain: &str, typed: &[SpelledWord]) -> bool {
    const SIGNS: [&str; 9] = ["谁", "誰", "哪里", "哪裡", "哪儿", "哪个", "哪個", "叫什么", "叫什麼"];
    let has = |word: &str| typed.iter().any(|typed| typed.lower == word);
    ["who", "where", "which", "name"].into_iter().any(has)
        || typed.windows(2).any(|pair| pair[0].lower == "what" && pair[1].lower == "kind")
        || SIGNS.iter().any(|sign| plain.contains(sign))
}

/// Returns whether the query requests a summary, which covers the messages of both the person and the assistant.
pub(super) fn asks_summary(plain: &str, typed: &[SpelledWord]) -> bool {
    const WORDS: [&str; 9] =
        ["summary", "summaries", "summarise", "summarised", "summarize", "summarized", "overview", "recap", "recapitulate"];
    const HAN: [&str; 6] = ["总结", "總結", "概括", "概述", "回顾", "回顧"];
    typed.iter().any(|word| WORDS.contains(&word.lower.as_str())) || HAN.iter().any(|sign| plain.contains(sign))
}

/// Returns whether the query refers to a message of the assistant, such as `What did you recommend?`.
pub(super) fn asks_assistant(plain: &str, typed: &[SpelledWord]) -> bool {
    const VERBS: [&str; 29] = [
        "recommend",
        "recommended",
        "suggest",
        "suggested",
        "say",
        "said",
        "tell",
        "told",
        "mention",
        "mentioned",
        "advise",
        "advised",
        "propose",
        "proposed",
        "explain",
        "explained",
        "describe",
        "described",
        "list",
        "listed",
        "give",
        "gave",
        "given",
        "provide",
        "provided",
        "write",
        "wrote",
        "answer",
        "answered",
    ];
    const NOUNS: [&str; 8] =
        ["recommendation", "recommendations", "suggestion", "suggestions", "advice", "answer", "explanation", "proposal"];
    /// Words that may occur between `you` and its verb.
    const BETWEEN: [&str; 7] = ["have", "had", "just", "previously", "already", "earlier", "once"];
    /// Words before `you` that request a new message, as in `Can you …`.
    const REQUESTS: [&str; 8] = ["can", "could", "would", "will", "please", "do", "should", "if"];
    const HAN: [&str; 14] =
        ["推荐", "推薦", "建议", "建議", "说过", "說過", "提到", "告诉", "告訴", "列出", "解释", "解釋", "介绍", "介紹"];
    /// Question words, and words that precede `you` in a question about an earlier message.
    const ASKING: [&str; 8] = ["what", "which", "who", "where", "when", "how", "did", "remind"];
    let words: Vec<&str> = typed.iter().map(|word| word.lower.as_str()).collect();
    let asks = words.iter().any(|word| ASKING.contains(word));
    let follows = |place: usize| {
        let mut rest = words[place + 1..].iter().skip_while(|word| BETWEEN.contains(word));
        rest.next().is_some_and(|word| VERBS.contains(word))
    };
    let is_request = |place: usize| place.checked_sub(1).is_some_and(|before| REQUESTS.contains(&words[before]));
    let by_verb = asks && (0..words.len()).any(|place| words[place] == "you" && follows(place) && !is_request(place));
    let by_noun = asks && words.windows(2).any(|pair| pair[0] == "your" && NOUNS.contains(&pair[1]));
    let by_han = ["你", "您"].iter().any(|you| {
        plain.match_indices(you).any(|(at, _)| {
            let rest: String = plain[at + you.len()..].chars().take(8).collect();
            HAN.iter().any(|verb| rest.contains(verb))
                && (rest.contains(['过', '過', '的']) || plain.contains("上次") || plain.contains("之前"))
        })
    });
    by_verb || by_noun || by_han
}
