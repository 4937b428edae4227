//! A source with predefined findings.

use crate::wikilink::WikilinkRule;
use crate::{Draft, NoteItem, Origin, Source, SourceItem};

/// A source with predefined findings.
#[derive(Debug, Clone, Default)]
pub struct FakeSource(Vec<SourceItem>);

impl FakeSource {
    /// Returns a source with these findings.
    pub fn with_items(items: Vec<SourceItem>) -> Self {
        Self(items)
    }

    /// Returns a source with one note per pair of path and text.
    ///
    /// The links of a note are parsed from its text.
    pub fn with_notes(notes: &[(&str, &str)]) -> Self {
        Self(notes.iter().map(|(path, text)| note(path, text)).collect())
    }
}

fn note(path: &str, text: &str) -> SourceItem {
    let stem = path
        .rsplit('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".md");
    let origin = Origin {
        source: "fake".into(),
        root: "/fake".into(),
        path: path.to_owned(),
        hash: None,
    };
    let draft = Draft {
        title: Some(stem.to_owned()),
        source: "fake".into(),
        origin: Some(origin),
        ..Draft::new(text)
    };
    let links = crate::wikilink::parse(text)
        .into_iter()
        .map(|link| link.target)
        .collect();
    SourceItem::Note(Box::new(NoteItem {
        links,
        ..NoteItem::new(draft)
    }))
}

impl Source for FakeSource {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.0.iter().cloned())
    }
}
