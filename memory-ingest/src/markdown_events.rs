//! The events of a Markdown text, within a budget of work.

use std::ops::Range;

use memory_core::text::{MarkdownBudget, MarkdownEvent};
use pulldown_cmark::{Event, OffsetIter, Options, Parser, RefDefs, Tag};

/// The events of a text with their spans, as far as its [`MarkdownBudget`] allows.
pub(crate) struct MarkdownEvents<'t> {
    events: OffsetIter<'t>,
    budget: MarkdownBudget,
    is_exhausted: bool,
}

impl<'t> MarkdownEvents<'t> {
    /// Starts to parse `text`; `None` if it is nested too deep.
    pub(crate) fn new(text: &'t str, options: Options) -> Option<Self> {
        Some(Self {
            budget: MarkdownBudget::new(text)?,
            events: Parser::new_ext(text, options).into_offset_iter(),
            is_exhausted: false,
        })
    }

    /// Returns the definitions of links.
    pub(crate) fn definitions(&self) -> &RefDefs<'_> {
        self.events.reference_definitions()
    }

    /// Returns whether the text exceeds its budget; the events ended before the end of the text then.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }
}

impl<'t> Iterator for MarkdownEvents<'t> {
    type Item = (Event<'t>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_exhausted {
            return None;
        }
        let (event, span) = self.events.next()?;
        let step = match &event {
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::TableCell | Tag::Item) => {
                MarkdownEvent::TextStart(span.clone())
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                MarkdownEvent::LinkStart(dest_url)
            }
            Event::Start(_) => MarkdownEvent::Start,
            Event::End(_) => MarkdownEvent::End,
            _ => MarkdownEvent::Other,
        };
        self.is_exhausted = !self.budget.allows(&step);
        (!self.is_exhausted).then_some((event, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of steps to read `text`.
    fn steps(text: &str) -> usize {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_WIKILINKS;
        MarkdownEvents::new(text, options).map_or(0, |mut events| {
            events.by_ref().for_each(drop);
            events.budget.steps()
        })
    }

    #[test]
    fn the_steps_for_each_construct_are_proportional_to_its_size() {
        for construct in [
            ">",
            "> ",
            "- ",
            "* a\n",
            "1. ",
            "> - ",
            "[^a]: ",
            "[^a]: b\n",
            "[^a]",
            "# a\n",
            "*",
            "*a ",
            "*a* ",
            "**a *b ",
            "`",
            "`a` ",
            "[",
            "[a](",
            "[a](b) ",
            "[a](b \"",
            "![a](b)",
            "[![a](b)](c) ",
            "[[a]]",
            "[a][a]",
            "[a]: b\n\n",
            "<http://a.b> ",
            "<a",
            "<!--",
            "<div>\n\n",
            "&",
            "\\",
            "|",
            "|a|b|\n",
            "|a|b|\n|-|-|\n|c|\n\n",
            "```\n",
            "    a\n",
            "a\n",
            "a\n\n",
            "\r",
        ] {
            for end in [
                "",
                "\n",
                "\n\n",
                "\n[a]:",
                &construct.chars().rev().collect::<String>(),
            ] {
                let text = |size: usize| {
                    let count = size / construct.len();
                    construct.repeat(count) + &end.repeat(count)
                };
                let (small, large) = (1 << 12, 1 << 15);
                let (few, many) = (steps(&text(small)), steps(&text(large)));
                let most = 2 * large / small * few.max(small);
                assert!(many <= most, "{construct:?} {end:?}: {few} {many}");
            }
        }
    }
}
