//! Skips the sentences of a text that are not addressed to the assistant: code, quotations and pasted text.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::{fold, sentences};

/// The maximum size of a sentence, in bytes. A longer one is part of a document or code.
const MAX_SENTENCE: usize = 800;

const QUOTATION_MARKS: [char; 10] = [
    '"', '\u{201c}', '\u{201d}', '\u{201e}', '«', '»', '「', '」', '\'', '\u{2018}',
];

/// Returns the sentences of `text` that are neither code nor quoted nor pasted nor too long.
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
            begin.len() == sentence.len() && text[..span.start].ends_with(QUOTATION_MARKS);
        let quoted = begin
            .strip_prefix(QUOTATION_MARKS)
            .or(is_after_quote.then_some(begin));
        !is_code
            && !begin.starts_with('>')
            && !quoted.is_some_and(is_quoted_to_end)
            && sentence.len() <= MAX_SENTENCE
    })
}

/// Returns whether a quotation contains all words of the sentence, given the text after its opening mark.
fn is_quoted_to_end(text: &str) -> bool {
    text.rfind(QUOTATION_MARKS)
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

/// Verbs of tasks about a text that the person did not write, or that is not addressed to the assistant.
const TASKS: [&str; 34] = [
    "translate",
    "summarize",
    "summarise",
    "proofread",
    "rewrite",
    "rephrase",
    "paraphrase",
    "review",
    "analyze",
    "analyse",
    "correct",
    "shorten",
    "classify",
    "improve",
    "polish",
    "extract",
    "ubersetze",
    "ubersetz",
    "fasse",
    "korrigiere",
    "prufe",
    "uberarbeite",
    "analysiere",
    "traduis",
    "traduisez",
    "resume",
    "resumez",
    "corrige",
    "corrigez",
    "翻译",
    "总结",
    "润色",
    "修改",
    "分析",
];

fn names_task(folded: &str) -> bool {
    let words: Vec<&str> = folded
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    TASKS.iter().any(|task| {
        if task.is_ascii() {
            words.contains(task)
        } else {
            folded.contains(task)
        }
    })
}

/// Returns the byte offset at which text from elsewhere begins, such as an e-mail to summarize.
///
/// A line introduces it that ends with a colon and names a task, as in `Translate this text:`; that consists of a heading such as
/// `Context:`; or that announces the words of another person, as in `Anna wrote:`. Before a blank line, it needs no colon.
fn pasted_start(text: &str) -> Option<usize> {
    const HEADINGS: [&str; 14] = [
        "context",
        "document",
        "documents",
        "source",
        "sources",
        "search results",
        "article",
        "transcript",
        "excerpt",
        "kontext",
        "quellen",
        "contexte",
        "上下文",
        "资料",
    ];
    const SAYING: [&str; 7] = [
        " wrote",
        " schrieb",
        " said",
        " a ecrit",
        "写道",
        "的邮件",
        "说",
    ];
    const THIS: [&str; 14] = [
        "this",
        "following",
        "below",
        "diese",
        "diesen",
        "folgende",
        "folgenden",
        "ce",
        "cette",
        "suivant",
        "以下",
        "下面",
        "这段",
        "这封",
    ];
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
                || HEADINGS.contains(&folded.as_str())
                || SAYING.iter().any(|end| folded.ends_with(end))
        } else if ["subject:", "betreff:", "objet:"]
            .iter()
            .any(|name| trimmed.to_lowercase().starts_with(name))
        {
            true
        } else {
            let is_this = THIS.iter().any(|word| {
                if word.is_ascii() {
                    folded.split(' ').any(|own| own == *word)
                } else {
                    folded.contains(word)
                }
            });
            is_this
                && names_task(&folded)
                && lines.peek().is_some_and(|next| next.trim().is_empty())
        };
        if is_pasted {
            return Some(end);
        }
    }
    None
}
