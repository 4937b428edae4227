//! What kind of answer a question asks for.

use super::dates::Typed;

/// Tells whether it asks when something was.
pub(super) fn asks_when(plain: &str, typed: &[Typed]) -> bool {
    const SIGNS: [&str; 9] = ["什么时候", "什麼時候", "何时", "何時", "哪天", "哪年", "几点", "幾點", "多久"];
    let pair = |first: &[&str], second: &[&str]| {
        typed.windows(2).any(|pair| first.contains(&pair[0].lower.as_str()) && second.contains(&pair[1].lower.as_str()))
    };
    typed.iter().any(|word| word.lower == "when")
        || pair(&["how"], &["long"])
        || pair(&["what", "which"], &["date", "day", "month", "year", "time"])
        || SIGNS.iter().any(|sign| plain.contains(sign))
}

/// Tells whether it asks for a person, a place or the name of something.
pub(super) fn asks_which(plain: &str, typed: &[Typed]) -> bool {
    const SIGNS: [&str; 9] = ["谁", "誰", "哪里", "哪裡", "哪儿", "哪个", "哪個", "叫什么", "叫什麼"];
    let has = |word: &str| typed.iter().any(|typed| typed.lower == word);
    ["who", "where", "which", "name"].into_iter().any(has)
        || typed.windows(2).any(|pair| pair[0].lower == "what" && pair[1].lower == "kind")
        || SIGNS.iter().any(|sign| plain.contains(sign))
}
