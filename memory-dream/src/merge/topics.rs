//! Tracks the headings and announcements that apply to a passage.

use super::passage::{Kind, Passage};

/// The headings and announcements that apply to the next passage, by passage index.
#[derive(Debug, Clone, Default)]
pub(super) struct Topics {
    heading: Option<usize>,
    /// The paragraph that announced a list, code, a quote or a table.
    announcement: Option<usize>,
    /// The item that announced code, a quote or a table.
    item: Option<usize>,
}

impl Topics {
    /// Returns the passage that a passage of this kind would be under.
    pub(super) fn of(&self, kind: Kind) -> Option<usize> {
        match kind {
            Kind::Heading => None,
            Kind::Paragraph | Kind::Rule => self.heading,
            Kind::Item => self.announcement.or(self.heading),
            Kind::Quote | Kind::Table | Kind::Verbatim => self.item.or(self.announcement).or(self.heading),
        }
    }

    /// Records the next passage.
    pub(super) fn note(&mut self, number: usize, passage: &Passage<'_>) {
        match passage.kind {
            Kind::Heading => *self = Self { heading: (!passage.keys.is_empty()).then_some(number), ..Self::default() },
            Kind::Paragraph => (self.announcement, self.item) = (passage.announces.then_some(number), None),
            Kind::Item => self.item = passage.announces.then_some(number),
            Kind::Quote | Kind::Table | Kind::Verbatim | Kind::Rule => {}
        }
    }

    /// Records a paragraph that announces nothing.
    pub(super) fn note_statement(&mut self) {
        (self.announcement, self.item) = (None, None);
    }
}
