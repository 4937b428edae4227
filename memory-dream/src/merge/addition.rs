//! What is added to a text from another.

use super::passage::{Kind, Passage, passages};
use super::sentence::sentences;
use super::topics::Topics;

/// The pieces of one source that are added, each a paragraph or several that stand together.
#[derive(Debug)]
pub(super) struct Addition<'p, 'a> {
    passages: &'p [Passage<'a>],
    pieces: Vec<String>,
    /// The passage that was added last, if all of it was.
    last: Option<usize>,
    topics: Topics,
}

impl<'p, 'a> Addition<'p, 'a> {
    /// Returns one without any pieces.
    pub(super) fn of(passages: &'p [Passage<'a>]) -> Self {
        Self { passages, pieces: Vec::new(), last: None, topics: Topics::default() }
    }

    /// Returns the pieces.
    pub(super) fn pieces(self) -> Vec<String> {
        self.pieces
    }

    /// Adds the new sentences of a passage, or the whole of it, or the run of passages that it makes sense in; returns the number
    /// of the passage to go on with.
    pub(super) fn push(&mut self, number: usize, is_new: &[bool]) -> usize {
        let passage = &self.passages[number];
        self.announce(passage);
        if let Some(piece) = some_sentences(passage, is_new) {
            self.pieces.push(piece);
            self.note(number);
            if is_new.last() == Some(&false) {
                self.topics.note_statement();
            }
            self.last = None;
            return number + 1;
        }
        if says(passage.text, passage.keys.iter()) {
            self.whole(number);
            return number + 1;
        }
        // It is what it is only beside what stands around it.
        let is_near = |own: &Passage<'_>| own.run == passage.run;
        let start = self.passages.iter().position(is_near).unwrap_or(number);
        let end = start + self.passages[start..].iter().take_while(|own| is_near(own)).count();
        self.pieces.push(self.passages[start..end].iter().map(closed).collect::<Vec<_>>().join("\n"));
        (start..end).for_each(|number| self.note(number));
        end
    }

    /// Adds what a passage is under, unless it would be under that anyway.
    fn announce(&mut self, passage: &Passage<'_>) {
        let Some(number) = passage.under else { return };
        if self.topics.of(passage.kind) == Some(number) {
            return;
        }
        let topic = &self.passages[number];
        self.announce(topic);
        let last = sentences(topic.text).pop().map(|range| &topic.text[range]).filter(|_| topic.kind == Kind::Paragraph);
        match last.filter(|last| says(last, topic.keys.last().into_iter())) {
            Some(last) => {
                self.pieces.push(last.to_owned());
                self.note(number);
                self.last = None;
            }
            None => self.whole(number),
        }
    }

    fn whole(&mut self, number: usize) {
        let (passage, text) = (&self.passages[number], closed(&self.passages[number]));
        let stands_with = |last: usize| {
            let last_passage = &self.passages[last];
            // What was left out between two items of a list does not part them, unless it was something else.
            let are_items = || last < number && self.passages[last..=number].iter().all(|own| own.kind == Kind::Item);
            last_passage.run == passage.run && (last + 1 == number || are_items())
        };
        match self.pieces.last_mut().filter(|_| self.last.is_some_and(stands_with)) {
            Some(piece) => {
                piece.push('\n');
                piece.push_str(&text);
            }
            None => self.pieces.push(text),
        }
        self.note(number);
    }

    /// Remembers that a passage comes last and what is under it.
    fn note(&mut self, number: usize) {
        self.last = Some(number);
        self.topics.note(number, &self.passages[number]);
    }
}

fn closed(passage: &Passage<'_>) -> String {
    passage.unclosed.as_ref().map_or_else(|| passage.text.to_owned(), |closing| format!("{}\n{closing}", passage.text))
}

/// Returns those sentences of a paragraph that are new, if not all are and they can stand alone.
fn some_sentences(passage: &Passage<'_>, is_new: &[bool]) -> Option<String> {
    if passage.kind != Kind::Paragraph || !is_new.contains(&false) {
        return None;
    }
    let mut text = String::new();
    for (range, _) in sentences(passage.text).into_iter().zip(is_new).filter(|(_, is_new)| **is_new) {
        let separator = match text.trim_end_matches(['"', '\'', '”', '’', ')', '*', '_']).chars().next_back() {
            None | Some('。' | '！' | '？' | '；') => "",
            Some('.' | '!' | '?' | '…') => " ",
            Some(_) => "\n\n",
        };
        text.push_str(separator);
        text.push_str(&passage.text[range].split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let wanted = passage.keys.iter().zip(is_new).filter(|(_, is_new)| **is_new);
    // A sentence such as `1. Mix it` would begin a list, and belong to what announces one.
    let are_paragraphs = passages(&text).iter().all(|own| own.kind == Kind::Paragraph);
    (are_paragraphs && says(&text, wanted.map(|(key, _)| key))).then_some(text)
}

/// Tells whether a text, read alone, says just these sentences.
fn says<'k>(text: &str, wanted: impl Iterator<Item = &'k String>) -> bool {
    passages(text).iter().flat_map(|passage| &passage.keys).eq(wanted)
}
