//! Skips the sentences of a text that are not addressed to the assistant: code, quotations and pasted text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::language::WORDS;
use crate::text::{QUOTATION_MARKS, fold, sentences};

/// The maximum size of a sentence, in bytes. A longer one is part of a document or code.
const MAX_SENTENCE: usize = 800;

/// Returns whether a character is a quotation mark; a single one may also be an apostrophe.
fn is_quotation_mark(character: char) -> bool {
    QUOTATION_MARKS.contains(&character) || matches!(character, '\'' | '‘')
}

/// Returns the sentences of `text` that are neither code nor quoted nor pasted nor of a log nor too long.
pub(super) fn plain_sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let pasted = pasted_start(text).unwrap_or(text.len());
    let closing_tags = find_closing_tags(text);
    let mut is_code = false;
    // The name of the element of a pasted document, such as `document` in `<document>`.
    let mut element: Option<&str> = None;
    sentences(text).into_iter().filter(move |span| {
        if pasted <= span.start {
            return false;
        }
        let sentence = &text[span.clone()];
        let begin = sentence.trim_start();
        if element.is_none() {
            let is_closed = |name: &&str| closing_tags.get(name).is_some_and(|at| span.start < *at);
            element = opened_element(begin).filter(is_closed);
        }
        if let Some(name) = element {
            if sentence.contains(&format!("</{name}")) {
                element = None;
            }
            return false;
        }
        let fences = sentence.matches("```").count() + sentence.matches("~~~").count();
        if 0 < fences {
            is_code ^= fences % 2 == 1;
            return false;
        }
        // A quotation mark after a line break belongs to the previous sentence.
        let is_after_quote =
            begin.len() == sentence.len() && text[..span.start].ends_with(is_quotation_mark);
        let quoted = begin
            .strip_prefix(is_quotation_mark)
            .or(is_after_quote.then_some(begin));
        !is_code
            && !begin.starts_with('>')
            && !is_of_log(begin)
            && !quoted.is_some_and(is_quoted_to_end)
            && sentence.len() <= MAX_SENTENCE
    })
}

/// The size of a message up to which a person may have typed all of it, in bytes.
const MAX_TYPED: usize = 4096;

/// The size of the start and of the end of a longer message that may be typed, in bytes.
const TYPED_END: usize = 1024;

/// Returns the parts of a message that may be the person's own words: all of it, or the start and the end of a long one, whose middle is
/// pasted. A message that asks for play has none.
fn own_parts(message: &str) -> Vec<Range<usize>> {
    if asks_for_play(message) {
        return Vec::new();
    }
    if message.len() <= MAX_TYPED {
        return std::iter::once(0..message.len()).collect();
    }
    let start = message.floor_char_boundary(TYPED_END);
    let end = message.ceil_char_boundary(message.len() - TYPED_END);
    vec![0..start, end..message.len()]
}

/// Returns the plain sentences of a message that may be the person's own words, see [`plain_sentences`] and [`own_parts`].
pub(crate) fn own_sentences(message: &str) -> Vec<Range<usize>> {
    let parts = own_parts(message);
    let is_own = |sentence: &Range<usize>| {
        parts
            .iter()
            .any(|part| part.start <= sentence.start && sentence.end <= part.end)
    };
    plain_sentences(message).filter(is_own).collect()
}

/// Returns whether a message asks for a play with roles, so that its sentences are no statements of the person.
pub(crate) fn asks_for_play(message: &str) -> bool {
    let head = &message[..message.floor_char_boundary(TYPED_END)];
    sentences(head).into_iter().any(|span| {
        let folded = fold(head[span].trim_start());
        let leads = WORDS.play_leads.iter();
        let begin = leads.fold(folded.replace(',', ""), |begin, lead| {
            let rest = begin.strip_prefix(lead);
            let rest = rest.and_then(|rest| rest.strip_prefix(' '));
            rest.unwrap_or(&begin).to_owned()
        });
        WORDS
            .play
            .iter()
            .any(|play| begin.starts_with(play) || !play.is_ascii() && begin.contains(play))
    })
}

/// Returns whether a line is that of a log or a trace: it starts with a time, a level or a place in code.
fn is_of_log(line: &str) -> bool {
    let line = line.trim_start_matches(['[', '(']);
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let number = digits(line);
    let after = &line[number..];
    let starts_with_time = |text: &str| digits(text) == 2 && text[2..].starts_with(':');
    let is_date = number == 4 && after.starts_with(['-', '/']) && digits(&after[1..]) == 2;
    let behind_date = line.get(10..).unwrap_or_default();
    let is_time = is_date && starts_with_time(behind_date.trim_start_matches(['T', ' ']))
        || starts_with_time(line) && line.get(3..).is_some_and(starts_with_time);
    let first = line
        .split(|letter: char| !letter.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let levels = [
        "ERROR",
        "WARN",
        "WARNING",
        "INFO",
        "DEBUG",
        "TRACE",
        "FATAL",
        "Traceback",
        "Exception",
    ];
    is_time || levels.contains(&first) || line.starts_with("at ") && line.ends_with(')')
}

/// Returns whether a quotation contains all words of the sentence, given the text after its opening mark.
fn is_quoted_to_end(text: &str) -> bool {
    text.rfind(is_quotation_mark)
        .is_none_or(|end| !text[end..].contains(char::is_alphanumeric))
}

/// Returns the byte offset of the last closing tag of each element.
fn find_closing_tags(text: &str) -> HashMap<&str, usize> {
    let name = |at: usize| {
        let rest = &text[at + 2..];
        &rest[..rest
            .find(|letter| !is_tag_character(letter))
            .unwrap_or(rest.len())]
    };
    text.match_indices("</")
        .map(|(at, _)| (name(at), at))
        .collect()
}

/// Returns the name of the element that a sentence opens at its start.
fn opened_element(sentence: &str) -> Option<&str> {
    let (name, _) = sentence.strip_prefix('<')?.split_once(['>', ' ', '\n'])?;
    (name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(is_tag_character))
    .then_some(name)
}

fn is_tag_character(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

/// Returns whether a request is a single task: `Answer in one sentence: what is a monad?`, `Translate this: please use tabs`.
pub(super) fn is_task(sentence: &str, cue: usize) -> bool {
    let (before, after) = sentence.split_at(cue);
    let asks = sentence.trim_end().ends_with(['?', '？'])
        && (after.contains(": ") || after.contains('：'));
    asks || before
        .rsplit_once([':', '：'])
        .is_some_and(|(task, _)| names_task(&fold(task)))
}

fn names_task(folded: &str) -> bool {
    names_any(&WORDS.tasks, folded) || names_any(&WORDS.wording_tasks, folded)
}

/// Returns a prompt without the text that it gives for a task about its wording, as in `Translate: …` or `translate "…" to German`.
pub(crate) fn without_material(prompt: &str) -> Cow<'_, str> {
    let is_mark = |(at, mark): &(usize, char)| {
        let is_apostrophe =
            matches!(mark, '\'' | '\u{2019}') && prompt[..*at].ends_with(char::is_alphanumeric);
        matches!(mark, ':' | '：') || is_quotation_mark(*mark) && !is_apostrophe
    };
    let starts_task = |(at, _): &(usize, char)| {
        let before = &prompt[..*at];
        let sentence = sentences(before).pop().map_or(before, |last| &before[last]);
        asks_about_wording(&fold(sentence))
    };
    let mut marks = prompt.char_indices().filter(is_mark).take(MAX_MARKS);
    let Some((at, mark)) = marks.find(starts_task) else {
        return Cow::Borrowed(prompt);
    };
    let before = &prompt[..at];
    let closing = prompt[at + mark.len_utf8()..]
        .char_indices()
        .map(|(offset, closing)| (at + mark.len_utf8() + offset, closing))
        .find(|(end, closing)| {
            let behind = &prompt[end + closing.len_utf8()..];
            is_quotation_mark(*closing) && !behind.starts_with(char::is_alphanumeric)
        });
    match closing {
        Some((end, closing)) if is_quotation_mark(mark) => {
            Cow::Owned(format!("{before}{}", &prompt[end + closing.len_utf8()..]))
        }
        _ => Cow::Borrowed(before),
    }
}

/// Returns whether a folded sentence begins with a task about wording; in scripts without spaces, whether it has one.
fn asks_about_wording(folded: &str) -> bool {
    let mut words = folded
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let first = words.find(|word| !WORDS.task_leads.contains(word));
    WORDS.wording_tasks.iter().any(|task| {
        if task.is_ascii() {
            first == Some(*task)
        } else {
            folded.contains(task)
        }
    })
}

/// The number of first colons and quotation marks that may start the text of a task.
const MAX_MARKS: usize = 8;

fn names_any(tasks: &[&str], folded: &str) -> bool {
    let words: Vec<&str> = folded
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    tasks.iter().any(|task| {
        if task.is_ascii() {
            words.contains(task)
        } else {
            folded.contains(task)
        }
    })
}

fn ends_with_word(folded: &str, word: &str) -> bool {
    let before = folded.strip_suffix(word);
    before.is_some_and(|before| before.ends_with(' ') || !word.is_ascii())
}

/// Returns the byte offset at which text from elsewhere begins, such as an e-mail to summarize.
///
/// A line introduces it that ends with a colon and names a task, as in `Translate this text:`; that consists of a heading such as
/// `Context:`; or that announces the words of another person, as in `Anna wrote:`. Before a blank line, it needs no colon.
fn pasted_start(text: &str) -> Option<usize> {
    let mut lines = text.split_inclusive('\n').peekable();
    let mut end = 0;
    while let Some(line) = lines.next() {
        end += line.len();
        let trimmed = line.trim();
        if !line.ends_with('\n') {
            break;
        }
        let folded = fold(trimmed.trim_end_matches([':', '：', '?', '？', '.', '。']));
        let is_pasted = if trimmed.ends_with([':', '：']) {
            names_task(&folded)
                || WORDS.headings.contains(&folded.as_str())
                || WORDS
                    .saying
                    .iter()
                    .any(|verb| ends_with_word(&folded, verb))
        } else if ["subject:", "betreff:", "objet:"]
            .iter()
            .any(|name| trimmed.to_lowercase().starts_with(name))
        {
            true
        } else {
            names_any(&WORDS.material, &folded)
                && names_task(&folded)
                && lines.peek().is_some_and(|next| next.trim().is_empty())
        };
        if is_pasted {
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_task_about_wording_is_no_question() {
        for (prompt, question) in [
            (
                "Translate into Spanish: \"The dog may not eat chicken.\"",
                "Translate into Spanish",
            ),
            (
                "Please proofread “My number has changed.”",
                "Please proofread ",
            ),
            ("translate 'good morning' to French", "translate  to French"),
            (
                "Translate 'hello' to German, and tell me when the flight leaves",
                "Translate  to German, and tell me when the flight leaves",
            ),
            ("把这句话翻译成英文：我爸爸去医院。", "把这句话翻译成英文"),
            ("Korrigiere:\nIch habe ein neue Nummer", "Korrigiere"),
        ] {
            assert_eq!(without_material(prompt), question);
        }
        for prompt in [
            "What's in \"Lessons from the move\"?",
            "It fails: KeyError in translate.py",
            "Summarise for my files: client, date",
            "proofread what's on the sign",
            "Rewrite the auth module.\nUse our error conventions.",
            "修改部署脚本：使用生产数据库",
            "My Polish teacher asks: when is the lesson?",
            "Is it correct that \"harbour\" ships in May?",
        ] {
            assert_eq!(without_material(prompt), prompt);
        }
    }

    #[test]
    fn lines_of_logs_differ_from_sentences_with_a_date() {
        for line in [
            "2026-11-28T10:00:01Z started",
            "[2026-11-28 10:00:01] started",
            "10:00:01 started",
            "ERROR: no space",
            "at com.example.Main(Main.java:3)",
        ] {
            assert!(is_of_log(line), "{line}");
        }
        for line in [
            "2026-11-28: I moved to Ghent.",
            "10:30 is too early for me.",
            "Errors should be short.",
            "At noon I eat.",
        ] {
            assert!(!is_of_log(line), "{line}");
        }
    }

    #[test]
    fn the_middle_of_a_long_message_and_a_play_are_not_own_words() {
        let short = own_parts("I live in Ghent.");
        assert_eq!((short.len(), short[0].clone()), (1, 0..16));
        let long = own_parts(&"é".repeat(MAX_TYPED));
        assert_eq!(
            long,
            [0..TYPED_END, 2 * MAX_TYPED - TYPED_END..2 * MAX_TYPED]
        );
        for play in [
            "Please act as a pirate. I live in Tortuga.",
            "Stell dir vor, du bist ein Koch.",
            "你扮演海盗",
        ] {
            assert!(own_parts(play).is_empty(), "{play}");
        }
        for own in [
            "I imagine that we will move. I play the piano.",
            "Write a story about my dog. He is called Rex.",
        ] {
            assert!(!own_parts(own).is_empty(), "{own}");
        }
    }
}
