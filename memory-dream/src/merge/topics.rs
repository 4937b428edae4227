//! What a passage is under.

use super::passage::{Kind, Passage};

/// What the next passage is under, each by its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Topics {
    heading: Option<usize>,
    /// The paragraph that announced a list, code, a quote or a table.
    announcement: Option<usize>,
    /// The item that announced code, a quote or a table.
    item: Option<usize>,
}

impl Topics {
    /// Returns what a passage of this kind would be under.
    pub(super) fn of(&self, kind: Kind) -> Option<usize> {
        match kind {
            Kind::Heading => None,
            Kind::Paragraph | Kind::Rule => self.heading,
            Kind::Item => self.announcement.or(self.heading),
            Kind::Quote | Kind::Table | Kind::Verbatim => self.item.or(self.announcement).or(self.heading),
        }
    }

    /// Notes that this passage comes next.
    pub(super) fn note(&mut self, number: usize, passage: &Passage<'_>) {
        match passage.kind {
            Kind::Heading => *self = Self { heading: (!passage.keys.is_empty()).then_some(number), ..Self::default() },
            Kind::Paragraph => (self.announcement, self.item) = (passage.announces.then_some(number), None),
            Kind::Item => self.item = passage.announces.then_some(number),
            Kind::Quote | Kind::Table | Kind::Verbatim | Kind::Rule => {}
        }
    }

    /// Notes that a paragraph comes next that announces nothing.
    pub(super) fn note_statement(&mut self) {
        (self.announcement, self.item) = (None, None);
    }
}
