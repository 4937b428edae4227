//! The events of a Markdown text, within a budget of work.

use std::ops::Range;

use pulldown_cmark::{Event, OffsetIter, Options, Parser, RefDefs, Tag};

/// Maximum number of containers and of other elements around a part of a text.
///
/// Parsers of Markdown and HTML visit all of them for each line and each element.
const MAX_NESTING: usize = 100;

/// Maximum size in bytes of an address, and of a text without a blank line that may contain links and emphasis.
///
/// Parsers of Markdown take up to the square of its size.
const MAX_INLINE: usize = 16 << 10;

/// Maximum number of events for each byte of a text; the cells that are missing in a table are events too.
const MAX_EVENTS_PER_BYTE: usize = 4;

/// Minimum of the maximum number of events.
const MIN_EVENTS: usize = 1_000;

/// The events of a text with their spans, as far as the work for it is proportional to its size.
///
/// The text is checked before the parser sees it, and each event of the parser before the next one is requested. A text that exceeds a
/// limit has no meaning as Markdown, and is shown as it is.
///
/// ```
/// use memory_core::html::MarkdownEvents;
/// use pulldown_cmark::Options;
///
/// assert!(MarkdownEvents::new("> > - tea", Options::empty()).is_some());
/// assert!(MarkdownEvents::new(&">".repeat(200_000), Options::empty()).is_none());
/// ```
pub struct MarkdownEvents<'t> {
    events: OffsetIter<'t>,
    budget: MarkdownBudget,
    is_exhausted: bool,
}

impl std::fmt::Debug for MarkdownEvents<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("MarkdownEvents")
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl<'t> MarkdownEvents<'t> {
    /// Starts to parse `text`; `None` if it is nested too deep.
    pub fn new(text: &'t str, options: Options) -> Option<Self> {
        Some(Self {
            budget: MarkdownBudget::new(text)?,
            events: Parser::new_ext(text, options).into_offset_iter(),
            is_exhausted: false,
        })
    }

    /// Returns the definitions of links.
    pub fn definitions(&self) -> &RefDefs<'_> {
        self.events.reference_definitions()
    }

    /// Returns whether the text exceeds its budget; the events ended before the end of the text then.
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the number of elements that were visited for the events: for each event itself and all elements around it.
    #[cfg(test)]
    pub(super) fn steps(&self) -> usize {
        self.budget.steps
    }
}

impl<'t> Iterator for MarkdownEvents<'t> {
    type Item = (Event<'t>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_exhausted {
            return None;
        }
        let (event, span) = self.events.next()?;
        self.is_exhausted = !self.budget.allows(&event, &span);
        (!self.is_exhausted).then_some((event, span))
    }
}

/// The work that a parser may do for a text.
#[derive(Debug)]
struct MarkdownBudget {
    /// The parts of the text without a blank line that are longer than [`MAX_INLINE`], in order.
    long_parts: Vec<Range<usize>>,
    depth: usize,
    events: usize,
    max_events: usize,
    steps: usize,
}

impl MarkdownBudget {
    /// Returns the budget of `text`; `None` if its quotes and lists may be nested too deep for a parser.
    fn new(text: &str) -> Option<Self> {
        let mut long_parts = Vec::new();
        let mut part = 0..0;
        let mut end = 0;
        for line in text.split_inclusive(['\n', '\r']) {
            let start = end;
            end += line.len();
            let content = line.trim_end_matches(['\n', '\r']);
            if MAX_NESTING < line_nesting(content.as_bytes()) {
                return None;
            }
            // The line feed after a carriage return is no line of its own.
            let is_second_half = line == "\n" && text[..start].ends_with('\r');
            let is_blank = content.trim_matches([' ', '\t']).is_empty() && !is_second_half;
            if is_blank {
                part = end..end;
            } else {
                part.end = end;
                if MAX_INLINE < part.len() {
                    match long_parts.last_mut() {
                        Some(Range { start, end }) if *start == part.start => *end = part.end,
                        _ => long_parts.push(part.clone()),
                    }
                }
            }
        }
        Some(Self {
            long_parts,
            depth: 0,
            events: 0,
            max_events: (text.len() * MAX_EVENTS_PER_BYTE).max(MIN_EVENTS),
            steps: 0,
        })
    }

    /// Returns whether the parser may continue after `event`, which covers `span`.
    fn allows(&mut self, event: &Event<'_>, span: &Range<usize>) -> bool {
        self.events += 1;
        self.steps += 1 + self.depth;
        if self.max_events < self.events {
            return false;
        }
        match event {
            // These elements directly contain text.
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::TableCell | Tag::Item) => {
                self.start() && !self.is_long(span)
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.start() && dest_url.len() <= MAX_INLINE
            }
            Event::Start(_) => self.start(),
            Event::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                true
            }
            _ => true,
        }
    }

    fn start(&mut self) -> bool {
        self.depth += 1;
        self.depth <= MAX_NESTING
    }

    /// Returns whether the part of the text contains a long text without a blank line.
    fn is_long(&self, span: &Range<usize>) -> bool {
        if span.len() <= MAX_INLINE {
            return false;
        }
        let first = self
            .long_parts
            .partition_point(|part| part.end <= span.start);
        self.long_parts[first..]
            .iter()
            .take_while(|part| part.start < span.end)
            .any(|part| MAX_INLINE < part.end.min(span.end) - part.start.max(span.start))
    }
}

/// Returns an upper bound of the number of quotes, lists and footnotes that begin in a line or around what begins in it.
///
/// A list that began in an earlier line continues only after two columns of blanks.
fn line_nesting(line: &[u8]) -> usize {
    let (mut at, mut blanks, mut marks, mut nesting) = (0, 0, 0, 0);
    while let Some(byte) = line.get(at) {
        let length = match byte {
            b' ' => {
                blanks += 1;
                at += 1;
                continue;
            }
            b'\t' => {
                blanks += 4;
                at += 1;
                continue;
            }
            b'>' => 1,
            b'[' if line.get(at + 1) == Some(&b'^') => {
                let label = line[at..].windows(2).position(|pair| pair == b"]:");
                let Some(label) = label else { break };
                label + 2
            }
            _ => {
                let digits = line[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                let mark = line.get(at + digits);
                let is_mark = if digits == 0 {
                    matches!(mark, Some(b'-' | b'+' | b'*'))
                } else {
                    matches!(mark, Some(b'.' | b')'))
                };
                let ends = line
                    .get(at + digits + 1)
                    .is_none_or(|next| matches!(next, b' ' | b'\t'));
                if !is_mark || !ends {
                    break;
                }
                digits + 1
            }
        };
        at += length;
        marks += 1;
        nesting = marks + blanks / 2;
    }
    nesting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nesting(line: &str) -> usize {
        line_nesting(line.as_bytes())
    }

    #[test]
    fn the_marks_of_quotes_lists_and_footnotes_count_as_containers() {
        for (line, count) in [
            ("", 0),
            ("tea", 0),
            ("                         tea", 0),
            (">>> tea", 3),
            ("> > > tea", 4),
            ("- + * 1. 2) tea", 7),
            ("-", 1),
            ("-tea", 0),
            ("12345.6", 0),
            ("    - tea", 3),
            ("\t\t- tea", 5),
            ("[^a]: > [^b]: tea", 4),
            ("[^a] tea", 0),
        ] {
            assert_eq!(nesting(line), count, "{line:?}");
        }
    }

    #[test]
    fn a_text_that_is_nested_too_deep_has_no_budget() {
        for mark in [">", "> ", "- ", "+ ", "* ", "1. ", "9) ", "[^a]: ", "> - "] {
            assert!(
                MarkdownBudget::new(&mark.repeat(200_000)).is_none(),
                "{mark}"
            );
            assert!(MarkdownBudget::new(&mark.repeat(20)).is_some(), "{mark}");
        }
        let steps: String = (0..200).map(|step| "  ".repeat(step) + "- tea\n").collect();
        assert!(MarkdownBudget::new(&steps).is_none());
    }

    #[test]
    fn only_a_long_text_without_a_blank_line_is_too_long() {
        let words = "tea ".repeat(MAX_INLINE / 4 - 1);
        for (text, is_allowed) in [
            (words.clone(), true),
            (format!("{words}green tea"), false),
            (format!("{words}\ngreen tea"), false),
            (format!("{words}\r\ngreen tea"), false),
            (format!("{words}\n \t\ntea"), true),
            (format!("{words}\r\n\r\ntea"), true),
            (format!("{words}\r\rtea"), true),
        ] {
            let mut budget = MarkdownBudget::new(&text).unwrap();
            let whole = budget.allows(&Event::Start(Tag::Paragraph), &(0..text.len()));
            assert_eq!(whole, is_allowed, "{}", text.len());
        }
        let text = format!("{words}{words}\n\ntea");
        let mut budget = MarkdownBudget::new(&text).unwrap();
        let end = text.len() - 3..text.len();
        assert!(
            budget.allows(&Event::Start(Tag::Paragraph), &end),
            "the other paragraph is short"
        );
        let text = format!("[a](<{}>)", words.repeat(2));
        let mut events = MarkdownEvents::new(&text, Options::empty()).unwrap();
        assert!(events.by_ref().count() <= 1 && events.is_exhausted());
    }

    #[test]
    fn events_and_open_elements_are_limited() {
        let mut budget = MarkdownBudget::new("tea").unwrap();
        let allowed = (0..2 * MIN_EVENTS)
            .take_while(|_| budget.allows(&Event::SoftBreak, &(0..0)))
            .count();
        assert_eq!(allowed, MIN_EVENTS);
        let mut budget = MarkdownBudget::new("tea").unwrap();
        let opened = (0..2 * MAX_NESTING)
            .take_while(|_| budget.allows(&Event::Start(Tag::Emphasis), &(0..0)))
            .count();
        assert_eq!(opened, MAX_NESTING);
        assert_eq!(
            budget.steps,
            (0..=MAX_NESTING).map(|depth| 1 + depth).sum::<usize>()
        );
    }
}
