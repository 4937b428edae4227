//! How long an index may be.

/// An index has fewer lines than this.
pub const INDEX_LINES: usize = 200;

/// An index has fewer bytes than this.
pub const INDEX_BYTES: usize = 25_000;

/// Tells whether an index is short enough.
pub(super) fn fits(text: &str) -> bool {
    text.len() < INDEX_BYTES && text.lines().count() < INDEX_LINES
}

/// Returns as much of an index as fits, and says in its last line how much that leaves out.
pub(in crate::topic) fn cut(text: &str) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let shortened = |kept: usize| {
        let left = lines.len() - kept;
        format!("{}({left} more lines in {})\n", lines[..kept].concat(), crate::topic::INDEX_FILE)
    };
    let most = lines.len().min(INDEX_LINES);
    (0..most).rev().map(shortened).find(|text| fits(text)).unwrap_or_else(|| shortened(0))
}
