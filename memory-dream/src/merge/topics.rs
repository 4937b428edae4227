//! Tracks the headings and announcements that apply to a passage.

use super::passage::{Passage, PassageKind};

/// The headings and announcements that apply to the next passage, by passage index.
#[derive(Debug, Clone, Default)]
pub(super) struct PassageTopics {
    heading: Option<usize>,
    /// The paragraph that announced a list, code, a quote or a table.
    announcement: Option<usize>,
    /// The item that announced code, a quote or a table.
    item: Option<usize>,
}

impl PassageTopics {
    /// Returns the passage that a passage of this kind would be under.
    pub(super) fn of(&self, kind: PassageKind) -> Option<usize> {
        match kind {
            PassageKind::Heading => None,
            PassageKind::Paragraph | PassageKind::Rule => self.heading,
            PassageKind::Item => self.announcement.or(self.heading),
            PassageKind::Quote | PassageKind::Table | PassageKind::Verbatim => self.item.or(self.announcement).or(self.heading),
        }
    }

    /// Records the next passage.
    pub(super) fn record_passage(&mut self, number: usize, passage: &Passage<'_>) {
        match passage.kind {
            PassageKind::Heading => *self = Self { heading: (!passage.keys.is_empty()).then_some(number), ..Self::default() },
            PassageKind::Paragraph => (self.announcement, self.item) = (passage.announces.then_some(number), None),
            PassageKind::Item => self.item = passage.announces.then_some(number),
            PassageKind::Quote | PassageKind::Table | PassageKind::Verbatim | PassageKind::Rule => {}
        }
    }

    /// Records a paragraph that announces nothing.
    pub(super) fn record_statement(&mut self) {
        (self.announcement, self.item) = (None, None);
    }
}
