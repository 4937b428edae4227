//! Unified diffs of configuration files.

use std::path::Path;

use memory_core::secret::redact;
use similar::TextDiff;

/// Returns a unified diff with three lines of context; empty if the texts are equal.
///
/// Credentials are redacted.
pub(crate) fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path.display().to_string() } else { "/dev/null".to_owned() };
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    let lines = TextDiff::from_lines(old, new).unified_diff().header(&name(before), &name(after)).to_string();
    redact(&lines).map_or(lines, |redacted| redacted.text)
}
