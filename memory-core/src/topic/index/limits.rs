//! The size limits of an index.

use super::page::{IndexLineKind, IndexPage};
use super::topic_index::TopicIndex;
use crate::topic::INDEX_FILE;

/// An index has fewer lines than this.
pub const INDEX_LINES: usize = 200;

/// An index has fewer bytes than this.
pub const INDEX_BYTES: usize = 25_000;

/// Returns whether an index is within the limits.
pub(super) fn fits(text: &str) -> bool {
    text.len() < INDEX_BYTES && text.lines().count() < INDEX_LINES
}

/// Returns the index within the limits: all generated lines, and the first lines of the user that fit.
///
/// A line with the number of omitted lines replaces the rest.
pub(in crate::topic) fn truncate_index(index: &TopicIndex) -> String {
    if fits(&index.text) {
        return index.text.clone();
    }
    let page = IndexPage::of(index);
    let is_ours = |what: IndexLineKind| matches!(what, IndexLineKind::Ours | IndexLineKind::Title | IndexLineKind::Heading(_));
    let theirs = page.lines.iter().filter(|line| !is_ours(line.what)).count();
    let shortened = |kept: usize| {
        let (mut text, mut seen) = (page.mark.to_owned(), 0);
        for line in &page.lines {
            if is_ours(line.what) {
                text.push_str(line.text);
                continue;
            }
            seen += 1;
            if seen <= kept {
                text.push_str(line.text);
            } else if seen == kept + 1 {
                let left = theirs - kept;
                let plural = if left == 1 { "" } else { "s" };
                text.extend([&format!("({left} more line{plural} in {INDEX_FILE})"), page.newline]);
            }
        }
        text
    };
    (0..theirs.min(INDEX_LINES)).rev().map(shortened).find(|text| fits(text)).unwrap_or_else(|| shortened(0))
}
