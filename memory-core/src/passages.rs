//! Splits a text into passages, each of which is embedded.

use crate::Memory;
use crate::text::is_blankless;

/// Maximum number of passages of a memory. The rest of a longer text is not embedded.
pub const MAX_PASSAGES: usize = 64;

/// The weight of a word. A word of more than [`WORD_CHARACTERS`] characters counts as several.
const WORD: usize = 5;

/// Maximum number of characters of one word.
const WORD_CHARACTERS: usize = 20;

/// The weight of a character of a script without spaces between words.
const CHARACTER: usize = 2;

/// The weight of a passage: 100 words or 250 characters.
const TARGET: usize = 100 * WORD;

/// The range of weights of a passage. A text of the maximum weight is one passage.
const MIN: usize = 60 * WORD;
const MAX: usize = 130 * WORD;

/// A place where a text can be cut; later ones are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CutPlace {
    Inside,
    Word,
    /// The end of a sentence or of a line.
    Sentence,
    Paragraph,
}

/// Returns the passages of a text in order, at most [`MAX_PASSAGES`].
///
/// A passage has about 100 words, or 250 characters of a script without spaces, and ends at the end of a paragraph or of a
/// sentence if there is one near. A text of up to 130 words is one passage.
pub fn passages(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while found.len() < MAX_PASSAGES {
        let Some(end) = first_cut(rest) else {
            found.push(rest);
            break;
        };
        found.push(rest[..end].trim_end());
        rest = &rest[end..];
    }
    found
}

/// Returns the texts to embed of a memory: each passage with the title, if any.
pub fn embedded_passages(memory: &Memory) -> Vec<String> {
    with_title(memory.title.as_deref(), &memory.content)
}

fn with_title(title: Option<&str>, content: &str) -> Vec<String> {
    passages(content)
        .into_iter()
        .map(|passage| match title {
            Some(title) => format!("{title}\n\n{passage}"),
            None => passage.to_owned(),
        })
        .collect()
}

/// Returns where the first passage of a text ends, unless the text is one passage.
fn first_cut(text: &str) -> Option<usize> {
    let mut best: Option<(CutPlace, usize, usize)> = None;
    let (mut weight, mut run, mut lines) = (0, 0, 0);
    let (mut is_gap, mut is_ended) = (false, false);
    for (at, character) in text.char_indices() {
        if character.is_whitespace() {
            run = 0;
            is_gap = true;
            lines += usize::from(character == '\n');
            continue;
        }
        let is_character = is_blankless(character);
        let starts_part = is_character || run % WORD_CHARACTERS == 0;
        if starts_part && MIN <= weight {
            let place = match lines {
                2.. => CutPlace::Paragraph,
                1 => CutPlace::Sentence,
                _ if is_ended && (is_gap || is_character) => CutPlace::Sentence,
                _ if is_gap => CutPlace::Word,
                _ => CutPlace::Inside,
            };
            let distance = weight.abs_diff(TARGET);
            let is_better = best.is_none_or(|(former, least, _)| {
                former < place || (former == place && distance < least)
            });
            if is_better {
                best = Some((place, distance, at));
            }
        }
        if is_character {
            weight += CHARACTER;
            run = 0;
        } else {
            weight += if starts_part { WORD } else { 0 };
            run += 1;
        }
        if MAX < weight {
            return best.map(|(.., at)| at);
        }
        // Closing quotes and brackets belong to the sentence before them.
        is_ended = ".!?…;。！？；".contains(character)
            || (is_ended && !is_gap && "\"'”’)）」』]".contains(character));
        (is_gap, lines) = (false, 0);
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    fn lengths(text: &str) -> Vec<usize> {
        passages(text)
            .iter()
            .map(|passage| passage.split_whitespace().count())
            .collect()
    }

    #[test]
    fn a_text_of_up_to_130_words_is_one_passage() {
        assert_eq!(passages(""), [""]);
        assert_eq!(lengths(&words(130)), [130]);
        assert_eq!(lengths(&words(131)), [100, 31]);
    }

    #[test]
    fn a_passage_ends_where_a_paragraph_or_else_a_sentence_ends() {
        let sentences = format!("{}. {}", words(80), words(90));
        assert_eq!(lengths(&sentences), [80, 90]);
        let quoted = format!("{}.\" {}", words(80), words(90));
        assert_eq!(lengths(&quoted), [80, 90]);
        let paragraphs = format!("{}\n\n{}. {}", words(70), words(30), words(90));
        assert_eq!(lengths(&paragraphs), [70, 120]);
        let code = format!("{}\n{}", words(90), words(100));
        assert_eq!(lengths(&code), [90, 100]);
    }

    #[test]
    fn a_script_without_spaces_is_split_by_characters() {
        let counts = |text: &str| -> Vec<usize> {
            passages(text)
                .iter()
                .map(|part| part.chars().count())
                .collect()
        };
        assert_eq!(counts(&"字".repeat(325)), [325]);
        assert_eq!(counts(&"字".repeat(400)), [250, 150]);
        let sentence = format!("{}。", "字".repeat(59));
        assert_eq!(counts(&sentence.repeat(7)), [240, 180]);
    }

    #[test]
    fn a_run_without_spaces_is_cut_and_a_book_ends_at_the_last_passage() {
        assert_eq!(passages(&"x".repeat(2700)).len(), 2);
        let book = lengths(&words(20_000));
        assert_eq!((book.len(), book[63]), (MAX_PASSAGES, 100));
    }

    #[test]
    fn each_passage_has_the_title() {
        let texts = with_title(Some("Plan"), &words(131));
        assert_eq!(texts.len(), 2);
        assert!(texts.iter().all(|text| text.starts_with("Plan\n\nword")));
    }

    proptest! {
        #[test]
        fn passages_have_all_words_in_order(text in "([a-z]{1,40}|[一-丁]{1,9}|[.!?。\n \"]){0,400}") {
            let found = passages(&text);
            let strip = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(strip(&found.concat()), strip(&text));
            let weight = |text: &&str| text.split_whitespace().count();
            prop_assert!(found.iter().all(|passage| weight(passage) <= 131));
        }
    }
}
