//! Builds the text that a merge adds from one source.

use super::passage::{Passage, PassageKind, PassageTopics, parse_passages};
use super::sentence::sentence_ranges;

/// The pieces of one source to add; each is one or more adjacent paragraphs.
#[derive(Debug)]
pub(super) struct Addition<'p, 'a> {
    passages: &'p [Passage<'a>],
    pieces: Vec<String>,
    /// The passage that was added last, if it was added completely.
    last: Option<usize>,
    topics: PassageTopics,
}

impl<'p, 'a> Addition<'p, 'a> {
    /// Creates an addition without pieces.
    pub(super) fn of(passages: &'p [Passage<'a>]) -> Self {
        Self {
            passages,
            pieces: Vec::new(),
            last: None,
            topics: PassageTopics::default(),
        }
    }

    /// Returns the pieces.
    pub(super) fn into_pieces(self) -> Vec<String> {
        self.pieces
    }

    /// Adds the new content of a passage and returns the number of the next passage to process.
    ///
    /// Adds only the new sentences if they are clear without the others, else the whole passage. If the passage parses differently in
    /// isolation, adds the whole run of passages that contains it.
    pub(super) fn add_passage(&mut self, number: usize, is_new: &[bool]) -> usize {
        let passage = &self.passages[number];
        self.add_topic(passage);
        if let Some(piece) = new_sentences(passage, is_new) {
            self.pieces.push(piece);
            self.record_passage(number);
            if is_new.last() == Some(&false) {
                self.topics.record_statement();
            }
            self.last = None;
            return number + 1;
        }
        if consists_of(passage.text, passage.keys.iter()) {
            self.add_whole(number);
            return number + 1;
        }
        // Without the surrounding lines, Markdown would parse the passage differently.
        let is_near = |own: &Passage<'_>| own.run == passage.run;
        let start = self.passages.iter().position(is_near).unwrap_or(number);
        let end = start
            + self.passages[start..]
                .iter()
                .take_while(|own| is_near(own))
                .count();
        self.pieces.push(
            self.passages[start..end]
                .iter()
                .map(closed_text)
                .collect::<Vec<_>>()
                .join("\n"),
        );
        (start..end).for_each(|number| self.record_passage(number));
        end
    }

    /// Adds the heading or announcement of a passage, unless the passage would be under it already.
    fn add_topic(&mut self, passage: &Passage<'_>) {
        let Some(number) = passage.under else { return };
        if self.topics.of(passage.kind) == Some(number) {
            return;
        }
        let topic = &self.passages[number];
        self.add_topic(topic);
        let last = sentence_ranges(topic.text)
            .pop()
            .map(|range| &topic.text[range])
            .filter(|_| topic.kind == PassageKind::Paragraph);
        match last.filter(|last| consists_of(last, topic.keys.last().into_iter())) {
            Some(last) => {
                self.pieces.push(last.to_owned());
                self.record_passage(number);
                self.last = None;
            }
            None => self.add_whole(number),
        }
    }

    fn add_whole(&mut self, number: usize) {
        let (passage, text) = (&self.passages[number], closed_text(&self.passages[number]));
        let stands_with = |last: usize| {
            let last_passage = &self.passages[last];
            // A gap between two items of a list does not separate them, unless it contained a passage of another kind.
            let are_items = || {
                last < number
                    && self.passages[last..=number]
                        .iter()
                        .all(|own| own.kind == PassageKind::Item)
            };
            last_passage.run == passage.run && (last + 1 == number || are_items())
        };
        match self
            .pieces
            .last_mut()
            .filter(|_| self.last.is_some_and(stands_with))
        {
            Some(piece) => {
                piece.push('\n');
                piece.push_str(&text);
            }
            None => self.pieces.push(text),
        }
        self.record_passage(number);
    }

    /// Records the passage added last and updates the topics.
    fn record_passage(&mut self, number: usize) {
        self.last = Some(number);
        self.topics.record_passage(number, &self.passages[number]);
    }
}

fn closed_text(passage: &Passage<'_>) -> String {
    passage.unclosed.as_ref().map_or_else(
        || passage.text.to_owned(),
        |closing| format!("{}\n{closing}", passage.text),
    )
}

/// Returns the new sentences of a paragraph, unless all are new or they parse differently in isolation.
fn new_sentences(passage: &Passage<'_>, is_new: &[bool]) -> Option<String> {
    if passage.kind != PassageKind::Paragraph || !is_new.contains(&false) {
        return None;
    }
    let mut text = String::new();
    for (range, _) in sentence_ranges(passage.text)
        .into_iter()
        .zip(is_new)
        .filter(|(_, is_new)| **is_new)
    {
        let separator = match text
            .trim_end_matches(['"', '\'', '”', '’', ')', '*', '_'])
            .chars()
            .next_back()
        {
            None | Some('。' | '！' | '？' | '；') => "",
            Some('.' | '!' | '?' | '…') => " ",
            Some(_) => "\n\n",
        };
        text.push_str(separator);
        text.push_str(
            &passage.text[range]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    let wanted = passage
        .keys
        .iter()
        .zip(is_new)
        .filter(|(_, is_new)| **is_new);
    // A sentence such as `1. Mix it` would start a list, and would then belong to the announcement of a list.
    let are_paragraphs = parse_passages(&text)
        .iter()
        .all(|own| own.kind == PassageKind::Paragraph);
    (are_paragraphs && consists_of(&text, wanted.map(|(key, _)| key))).then_some(text)
}

/// Returns whether a text, parsed in isolation, consists of exactly these sentences.
fn consists_of<'k>(text: &str, wanted: impl Iterator<Item = &'k String>) -> bool {
    parse_passages(text)
        .iter()
        .flat_map(|passage| &passage.keys)
        .eq(wanted)
}
