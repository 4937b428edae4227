//! Classification of queries by the kind and number of results that they expect.

use super::dates::SpelledWord;
use crate::language::{WORDS, contains_any, unspaced};
use crate::text::{TokenKind, fold, tokenize};

/// Returns whether the query is about the time of an event.
pub(super) fn asks_when(plain: &str, typed: &[SpelledWord]) -> bool {
    let pair = |first: &[&str], second: &[&str]| {
        typed.windows(2).any(|pair| {
            first.contains(&pair[0].lower.as_str()) && second.contains(&pair[1].lower.as_str())
        })
    };
    typed.iter().any(|word| word.lower == "when")
        || pair(&["how"], &["long"])
        || pair(&["what", "which"], &WORDS.dated)
        || contains_any(plain, &WORDS.when)
}

/// Returns whether the query is about a person, a place or the name of something.
pub(super) fn asks_which(plain: &str, typed: &[SpelledWord]) -> bool {
    let has = |word: &str| typed.iter().any(|typed| typed.lower == word);
    ["who", "where", "which", "name"].into_iter().any(has)
        || typed
            .windows(2)
            .any(|pair| pair[0].lower == "what" && pair[1].lower == "kind")
        || contains_any(plain, &WORDS.which)
}

/// Returns whether the query requests a summary, which covers the messages of both the person and the assistant.
pub(super) fn asks_summary(plain: &str, typed: &[SpelledWord]) -> bool {
    typed
        .iter()
        .any(|word| WORDS.summaries.contains(&word.lower.as_str()))
        || unspaced(&WORDS.summaries).any(|sign| plain.contains(sign))
}

/// Returns whether the query refers to a message of the assistant, such as `What did you recommend?`.
pub(super) fn asks_assistant(plain: &str, typed: &[SpelledWord]) -> bool {
    let words: Vec<&str> = typed.iter().map(|word| word.lower.as_str()).collect();
    let asks = words.iter().any(|word| WORDS.asking.contains(word));
    let follows = |place: usize| {
        let mut rest = words[place + 1..]
            .iter()
            .skip_while(|word| WORDS.before_stating.contains(word));
        rest.next()
            .is_some_and(|word| WORDS.stating_verbs.contains(word))
    };
    let is_request = |place: usize| {
        place
            .checked_sub(1)
            .is_some_and(|before| WORDS.requesting.contains(&words[before]))
    };
    let by_verb = asks
        && (0..words.len())
            .any(|place| words[place] == "you" && follows(place) && !is_request(place));
    let by_noun = asks
        && words
            .windows(2)
            .any(|pair| pair[0] == "your" && WORDS.stated_nouns.contains(&pair[1]));
    let by_han = ["你", "您"].iter().any(|you| {
        plain.match_indices(you).any(|(at, _)| {
            let rest: String = plain[at + you.len()..].chars().take(8).collect();
            unspaced(&WORDS.stating_verbs).any(|verb| rest.contains(verb))
                && (rest.contains(['过', '過', '的'])
                    || plain.contains("上次")
                    || plain.contains("之前"))
        })
    });
    by_verb || by_noun || by_han
}

/// Maximum length of a speaker name in characters; a longer label is part of the text.
const MAX_LABEL_LENGTH: usize = 30;

/// Returns the messages of a dialogue without speaker names, last message first.
///
/// Returns `None` if `text` is not a dialogue. Every non-empty line of a dialogue starts with a speaker name and a colon, or continues the
/// message before it. At least two lines must have a name.
pub(super) fn parse_dialogue(text: &str) -> Option<Vec<String>> {
    let mut messages: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match (strip_speaker(line), messages.last_mut()) {
            (Some(message), _) => messages.push(message.trim().to_owned()),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (None, None) => return None,
        }
    }
    messages.reverse();
    (1 < messages.len()).then_some(messages)
}

/// Returns the message after the speaker name, if the line starts with one.
fn strip_speaker(line: &str) -> Option<&str> {
    let (label, message) = line.split_once([':', '：'])?;
    let label = label.trim();
    let is_name = label.chars().count() <= MAX_LABEL_LENGTH
        && label.starts_with(char::is_alphabetic)
        && label.split_whitespace().count() <= 3
        && label.chars().all(|letter| {
            letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.' | '\'')
        });
    // `tag:work` is a filter, and `http://` is part of a URL.
    let is_message = message.is_empty()
        || message.starts_with(char::is_whitespace)
        || !label.is_ascii()
        || line.contains('：');
    (is_name && is_message).then_some(message)
}

/// Returns whether a query expects several results: a list, a summary, an order or a count.
///
/// ```
/// use memory_core::query_parser::expects_several_results;
///
/// assert!(expects_several_results("In what order did I visit the museums?"));
/// assert!(!expects_several_results("When did I visit the museum?"));
/// ```
pub fn expects_several_results(text: &str) -> bool {
    let mut words = Vec::new();
    tokenize(text, &mut |token| {
        if token.kind == TokenKind::Word {
            words.push(fold(&text[token.span.clone()]));
        }
    });
    let classes = [&WORDS.lists, &WORDS.summaries];
    words
        .iter()
        .any(|word| classes.iter().any(|class| class.contains(&word.as_str())))
        || words.windows(3).any(|three| {
            three[0] == "how"
                && three[1] == "many"
                && !WORDS.time_units.contains(&three[2].as_str())
        })
        || classes
            .into_iter()
            .flat_map(|class| unspaced(class))
            .any(|sign| text.contains(sign))
}

/// Returns a query about the speaker `name` with the name replaced by first-person pronouns.
///
/// For `anna`, `Where does Anna's brother live?` becomes `Where does my brother live?`. Speakers write about themselves in the first
/// person, and an embedding model rates a text as more similar if it has the same form. `name` must be in lower case. The pronouns are
/// English, the language of most models; for other languages the caller must also search with the original text.
pub fn to_first_person(text: &str, name: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut done = 0;
    tokenize(text, &mut |token| {
        if token.kind != TokenKind::Word || token.span.start < done {
            return;
        }
        let word = fold(&text[token.span.clone()]);
        let pronoun = match word.strip_suffix("'s") {
            Some(owner) if owner == name => "my",
            _ if word == name => "I",
            _ => return,
        };
        said.push_str(&text[done..token.span.start]);
        said.push_str(pronoun);
        done = token.span.end;
    });
    said.push_str(&text[done..]);
    said
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_message_comes_first_and_names_are_left_out() {
        let talk =
            "Bart: I won the race!\nAssistant: Congratulations.\nHow far was it?\nBart: A mile.";
        assert_eq!(
            parse_dialogue(talk).unwrap(),
            [
                "A mile.",
                "Congratulations. How far was it?",
                "I won the race!"
            ]
        );
        assert_eq!(
            parse_dialogue("小明：我去跑步了\n助手：真棒").unwrap(),
            ["真棒", "我去跑步了"]
        );
    }

    #[test]
    fn other_texts_are_no_dialogue() {
        for text in [
            "What did Anna paint?",
            "Note: buy milk",
            "tag:a\ntag:b",
            "http://a\nhttp://b",
            "first\nAnna: yes\nBen: no",
            "",
        ] {
            assert_eq!(parse_dialogue(text), None, "{text}");
        }
    }

    #[test]
    fn lists_summaries_orders_and_counts_ask_for_several() {
        for text in [
            "Summarize my trip",
            "how many times did we meet?",
            "List the books I read",
            "我去过哪些城市？",
            "请总结一下",
        ] {
            assert!(expects_several_results(text), "{text}");
        }
        for text in [
            "Who paid?",
            "How many days are left?",
            "Where is the listed building?",
            "我的狗叫什么？",
        ] {
            assert!(!expects_several_results(text), "{text}");
        }
    }

    #[test]
    fn who_is_named_speaks_of_themselves() {
        assert_eq!(
            to_first_person("What did ANNA paint for Anna’s brother?", "anna"),
            "What did I paint for my brother?"
        );
        assert_eq!(
            to_first_person("Annabel met Anna.", "anna"),
            "Annabel met I."
        );
    }

    proptest! {
        #[test]
        fn who_is_not_named_changes_nothing(text in any::<String>()) {
            prop_assert_eq!(to_first_person(&text, "\u{1}"), text);
        }
    }
}
