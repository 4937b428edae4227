//! The `view` command: shows a folder or a file, and the paths of the file tool.

use memory_core::topic::{PathEntry, TopicPath, Topics, file};
use memory_core::{Code, ToolError};

use super::super::topic::tool_error;
use super::texts;

/// Maximum depth of a folder listing.
const MAX_DEPTH: usize = 2;

/// Maximum number of lines of a file that is shown.
const MAX_LINES: usize = 999_999;

pub(super) fn view(
    topics: &Topics,
    place: &FilesPath<'_>,
    range: Option<[i64; 2]>,
) -> Result<String, ToolError> {
    if let Some(entries) = file::entries(topics, place.path.as_ref()).map_err(tool_error)? {
        return Ok(list_folder(place, &entries));
    }
    let Some(path) = &place.path else {
        return Ok(list_folder(place, &[]));
    };
    let text = file::read(topics, path)
        .map_err(tool_error)?
        .ok_or_else(|| texts::view_error(place.given))?;
    let lines = text.lines().count();
    if MAX_LINES < lines {
        return Err(texts::too_long_error(place.given));
    }
    let (first, last) = match range {
        None => (1, lines),
        Some(range) => line_range(range, lines).ok_or_else(|| texts::range_error(range, lines))?,
    };
    Ok(format!(
        "Here's the content of {} with line numbers:\n{}",
        place.given,
        texts::numbered_lines(&text, first, last)
    ))
}

/// Returns the requested line range, if it is valid.
fn line_range([first, last]: [i64; 2], lines: usize) -> Option<(usize, usize)> {
    let first = usize::try_from(first)
        .ok()
        .filter(|first| (1..=lines.max(1)).contains(first))?;
    let last = if last == -1 {
        lines
    } else {
        usize::try_from(last).ok()?.min(lines)
    };
    (first <= last.max(1)).then_some((first, last))
}

fn list_folder(place: &FilesPath<'_>, entries: &[PathEntry]) -> String {
    let given = place.given.trim_end_matches('/');
    let above = place
        .path
        .as_ref()
        .map_or(0, |path| path.as_str().split('/').count());
    let depth = |entry: &PathEntry| entry.path.as_str().split('/').count() - above;
    let is_shown = |entry: &&PathEntry| {
        depth(entry) <= MAX_DEPTH
            && !entry
                .path
                .as_str()
                .split('/')
                .any(|part| part == "node_modules")
    };
    let whole: u64 = entries
        .iter()
        .filter(|entry| !entry.is_folder)
        .map(|entry| entry.size)
        .sum();
    let line = |entry: &PathEntry| format!("{}\t{ROOT}/{}", format_size(entry.size), entry.path);
    let heading = format!(
        "Here're the files and directories up to 2 levels deep in {given}, excluding hidden items and node_modules:"
    );
    let lines = [heading, format!("{}\t{given}", format_size(whole))];
    lines
        .into_iter()
        .chain(entries.iter().filter(is_shown).map(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Formats a size in bytes for people: `512B`, `5.5K`, `1.2M`.
fn format_size(bytes: u64) -> String {
    let mut unit = 1_u64;
    let mut names = ["B", "K", "M", "G"].into_iter();
    let mut name = names.next().unwrap_or_default();
    for next in names {
        if bytes / unit < 1024 {
            break;
        }
        (unit, name) = (unit * 1024, next);
    }
    let tenths = (bytes * 10 + unit / 2) / unit;
    if tenths.is_multiple_of(10) {
        format!("{}{name}", tenths / 10)
    } else {
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    }
}

/// The folder that the model sees.
const ROOT: &str = "/memories";

/// A path below [`ROOT`], in its original and its parsed form.
#[derive(Debug)]
pub(super) struct FilesPath<'p> {
    pub given: &'p str,
    /// The path relative to [`ROOT`]; `None` for the folder itself.
    pub path: Option<TopicPath>,
}

impl<'p> FilesPath<'p> {
    /// Parses a path.
    pub(super) fn of(given: &'p str) -> Result<Self, ToolError> {
        let below = given
            .strip_prefix(ROOT)
            .map(|below| below.strip_suffix('/').unwrap_or(below));
        let path = match below {
            Some("") => None,
            Some(below) if below.starts_with('/') => Some(below[1..].parse().map_err(tool_error)?),
            _ => {
                let message = format!(
                    "Path must start with {ROOT}, got: {}",
                    memory_core::text::to_one_line(given, 80)
                );
                return Err(ToolError::new(Code::PathRefused, message, None));
            }
        };
        Ok(Self { given, path })
    }

    /// Returns the path of a file or folder to be changed, which cannot be the root folder.
    pub(super) fn file(&self) -> Result<&TopicPath, ToolError> {
        let refused = || {
            ToolError::new(
                Code::PathRefused,
                format!("{ROOT} itself cannot be changed"),
                None,
            )
        };
        self.path.as_ref().ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::format_size;

    #[test]
    fn sizes_are_what_people_read() {
        let sizes = [0, 512, 1024, 5632, 1_258_291, 3 << 30].map(format_size);
        assert_eq!(sizes, ["0B", "512B", "1K", "5.5K", "1.2M", "3G"]);
    }
}
