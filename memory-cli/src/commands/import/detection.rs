//! The detection of the formats of files and folders that are imported.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use memory_agent::json;
use memory_core::{Source, SourceError, SourceItem};
use memory_ingest::{ForeignFormat, Markdown, SourceName, SuggestedMap};
use serde::de::IgnoredAny;

use crate::commands::export_lines::ExportLines;
use crate::commands::ingest::SkippedSource;
use crate::commands::session_export;
use crate::failure::Failure;
use crate::print::escape_line;
use crate::topics::shell_quoted;

/// The format of the files at a path.
pub(crate) enum DetectedFormat {
    /// Files of programs, with their paths.
    Programs(Vec<(SourceName, PathBuf)>),
    /// Files that may be of several formats.
    Ambiguous(Vec<(SourceName, PathBuf)>),
    /// An export of the memories of this program.
    Memories,
    /// An export of the sessions of this program.
    Sessions,
}

/// Detects the format of the files at `path`.
pub(crate) fn detect(path: &Path) -> Result<DetectedFormat, Failure> {
    if !path.exists() {
        let path = path.display().to_string();
        return Err(SourceError::Missing { path }.into());
    }
    let sources = SourceName::detect(path);
    let of_path: Vec<_> = sources
        .iter()
        .map(|source| (*source, path.to_owned()))
        .collect();
    let is_folder = of_path.is_empty() && path.is_dir();
    let programs = if is_folder {
        SourceName::detect_programs(path)
    } else {
        Vec::new()
    };
    let is_hidden = |place: &Path| {
        let name = place
            .strip_prefix(path)
            .ok()
            .and_then(|below| below.iter().next());
        name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    // In the folder of a person, the programs have hidden folders, and anything may be beside them.
    let is_home = programs.iter().any(|(_, place)| is_hidden(place));
    let mut found = of_path;
    if is_home {
        found.extend(programs);
    }
    if path.is_dir() {
        let within = if is_folder {
            SourceName::detect_within(path)
        } else {
            SourceName::detect_beside(path, &sources)
        };
        let is_new = |place: &(SourceName, PathBuf)| !found.contains(place);
        let within: Vec<_> = within.into_iter().filter(is_new).collect();
        found.extend(within);
    }
    let folders_of_claude: Vec<_> = found
        .iter()
        .filter(|(source, _)| *source == SourceName::Claude)
        .map(|(_, place)| place.clone())
        .collect();
    found.retain(|(source, place)| {
        *source != SourceName::ClaudeSessions || !folders_of_claude.contains(place)
    });
    if found.is_empty() {
        return detect_file(path);
    }
    let is_ambiguous = |(source, place): &(SourceName, PathBuf)| {
        let mut others = found.iter().filter(|other| other.1 == *place);
        others.any(|(other, _)| {
            other != source && (place.is_file() || source.is_ambiguous_with(*other))
        })
    };
    let choices: Vec<_> = if is_home && 1 < found.len() {
        found.clone()
    } else {
        found
            .iter()
            .filter(|place| is_ambiguous(place))
            .cloned()
            .collect()
    };
    if choices.is_empty() {
        return Ok(DetectedFormat::Programs(found));
    }
    Ok(DetectedFormat::Ambiguous(choices))
}

/// Returns the error that the files at `path` may be of several formats.
pub(super) fn ambiguous(path: &Path, choices: &[(SourceName, PathBuf)]) -> Failure {
    let mut names: Vec<_> = choices.iter().map(|(source, _)| source.as_str()).collect();
    names.dedup();
    let commands: Vec<_> = choices
        .iter()
        .map(|(source, path)| format!("  `{}`", ingest_command(*source, path)))
        .collect();
    let problem = format!(
        "cannot import {}: it may be of several formats: {}",
        path.display(),
        names.join(", ")
    );
    Failure::usage(problem, format!("choose one:\n{}", commands.join("\n")))
}

/// Detects the format of a file that is of no other program, or returns the error that no format fits.
fn detect_file(path: &Path) -> Result<DetectedFormat, Failure> {
    if path.is_dir() && has_mostly_notes(path) && ForeignFormat::recognize(path).is_none() {
        let folder = (SourceName::Markdown, path.to_owned());
        return Ok(DetectedFormat::Programs(vec![folder]));
    }
    if path.is_dir() || is_empty(path) {
        return Err(unknown_format(path));
    }
    if session_export::is_export(path) {
        return Ok(DetectedFormat::Sessions);
    }
    if is_export(path) {
        return Ok(DetectedFormat::Memories);
    }
    match SourceName::of_text(path) {
        Some(source) => Ok(DetectedFormat::Programs(vec![(source, path.to_owned())])),
        None => Err(unknown_format(path)),
    }
}

/// Returns whether a folder has more Markdown and text files than others.
fn has_mostly_notes(path: &Path) -> bool {
    let Ok(folder) = Markdown::open(path) else {
        return false;
    };
    let (mut notes, mut others) = (0_usize, 0_usize);
    for item in folder.items() {
        match item {
            SourceItem::Note(_) => notes += 1,
            SourceItem::Attachment(_) | SourceItem::Skipped { .. } => others += 1,
        }
    }
    others < notes
}

/// Returns whether a file has no bytes, or a folder no items.
fn is_empty(path: &Path) -> bool {
    let has_no_items = || std::fs::read_dir(path).is_ok_and(|mut items| items.next().is_none());
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.len() == 0)
        || path.is_dir() && has_no_items()
}

/// Returns the files and folders in the folder at `path` that are not imported, if `found` are in it.
pub(crate) fn unrecognized_items(
    path: &Path,
    found: &[(SourceName, PathBuf)],
    display: &dyn Fn(&Path) -> String,
) -> Vec<SkippedSource> {
    let is_whole = |(source, place): &(SourceName, PathBuf)| {
        place == path && *source != SourceName::Evernote && !source.reads_parts_in(place)
    };
    let mut wholes = found.iter().filter(|place| is_whole(place)).peekable();
    let has_whole = wholes.peek().is_some();
    if !path.is_dir() || wholes.any(|(source, _)| source.has_texts_in_folder()) {
        return Vec::new();
    }
    let is_imported = |item: &Path| {
        let is_notebook = item
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("enex"));
        found.iter().any(|(source, place)| {
            place.starts_with(item)
                || *source == SourceName::Evernote && is_notebook
                || place == path && source.recognizes(item)
        })
    };
    let items = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut items: Vec<_> = items
        .filter(|item| !item.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|item| item.path())
        .filter(|item| !is_imported(item))
        .collect();
    if has_whole {
        // The program may have other files of its own.
        items.retain(|item| is_single_file(item) || ForeignFormat::recognize(item).is_some());
    }
    items.sort();
    let mut skipped: Vec<_> = items
        .iter()
        .map(|item| SkippedSource {
            source: None,
            path: display(item),
            reason: skip_reason(item),
        })
        .collect();
    skipped.sort_by_key(|skipped| skipped.reason == UNKNOWN);
    skipped
}

/// Returns the reason why a file or folder among others is not imported.
fn skip_reason(item: &Path) -> String {
    let command = || {
        format!(
            "memory import {}",
            shell_quoted(&item.display().to_string())
        )
    };
    match ForeignFormat::recognize(item) {
        _ if is_empty(item) => "it is empty".to_owned(),
        Some(ForeignFormat {
            name,
            records: Some(_),
            ..
        }) => {
            format!("it is {name}; `{}` shows how to import it", command())
        }
        Some(ForeignFormat { name, advice, .. }) => format!("it is {name}; {advice}"),
        None if is_single_file(item) => format!("it is a single file; `{}` imports it", command()),
        None if SourceName::suggest_map(item).is_some() => {
            format!("it has records; `{}` shows how to import them", command())
        }
        None => UNKNOWN.to_owned(),
    }
}

/// Returns whether a path is a text, or an export of this program.
fn is_single_file(path: &Path) -> bool {
    let is_own = || is_export(path) || session_export::is_export(path);
    path.is_file() && (SourceName::of_text(path).is_some() || is_own())
}

/// The reason for skipping a file of an unknown format.
const UNKNOWN: &str = "its format is not recognized";

/// Returns the error that no format fits.
fn unknown_format(path: &Path) -> Failure {
    let shown = path.display();
    if is_empty(path) {
        let problem = format!("cannot import {shown}: it is empty");
        return Failure::usage(problem, "check the path, or export again");
    }
    let foreign = ForeignFormat::recognize(path);
    let records = foreign.as_ref().and_then(|format| format.records.clone());
    let records = records.unwrap_or_else(|| path.to_owned());
    let Some(SuggestedMap { keys, fields }) = SourceName::suggest_map(&records) else {
        if let Some(ForeignFormat { name, advice, .. }) = foreign {
            return Failure::usage(format!("cannot import {shown}: it is {name}"), advice);
        }
        let problem = format!("the format of {shown} is not recognized");
        let has_notes = path.is_dir()
            && Markdown::open(path).is_ok_and(|folder| {
                folder
                    .items()
                    .any(|item| matches!(item, SourceItem::Note(_)))
            });
        return if has_notes {
            let command = ingest_command(SourceName::Markdown, path);
            Failure::usage(
                problem,
                format!("`{command}` imports its Markdown and text files"),
            )
        } else {
            Failure::usage(
                problem,
                "convert it to Markdown, text, JSON or CSV, and import the result",
            )
        };
    };
    let is_table = SourceName::of_records(&records) == Some(SourceName::Csv);
    // Numbers and dates are no names of columns.
    let is_value = |key: &String| !key.trim().is_empty() && !key.contains(char::is_alphabetic);
    if is_table && keys.iter().any(is_value) {
        let name = |(number, key): (usize, &String)| {
            let field = fields.iter().find(|(_, own)| own == key);
            field.map_or_else(
                || format!("column{}", number + 1),
                |(field, _)| (*field).to_string(),
            )
        };
        let names: Vec<_> = keys.iter().enumerate().map(name).collect();
        return Failure::usage(
            format!(
                "cannot import {}: its first line is a record, and not the names of its columns",
                records.display()
            ),
            format!(
                "insert a line with the name of each column, such as {}, and import it again",
                names.join(",")
            ),
        );
    }
    let keys: Vec<_> = keys.iter().map(|key| escape_line(key)).collect();
    let label = if is_table { "columns" } else { "keys" };
    let kind = foreign.map_or_else(String::new, |format| format!(", {},", format.name));
    let problem = format!(
        "cannot import {}{kind} without --map; its {label} are: {}",
        records.display(),
        keys.join(", ")
    );
    let map: Vec<_> = fields
        .iter()
        .map(|(field, key)| format!("--map {field}={}", shell_quoted(key)))
        .collect();
    let path = shell_quoted(&records.display().to_string());
    Failure::usage(
        problem,
        format!(
            "map them to the fields of memories: `memory import {path} {}`",
            map.join(" ")
        ),
    )
}

/// Returns the command that imports the files at `path` as those of `source`.
pub(super) fn ingest_command(source: SourceName, path: &Path) -> String {
    format!(
        "memory import --source {source} --path {}",
        shell_quoted(&path.display().to_string())
    )
}

/// Maximum number of damaged records before the first one that shows the format of a file.
const MAX_DAMAGED: usize = 20;

/// Returns whether the first record of a file that is JSON is a memory of an export.
fn is_export(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| begins_with_memory(BufReader::new(file)))
}

fn begins_with_memory(input: impl BufRead) -> bool {
    let mut lines = ExportLines::new(input);
    for _ in 0..MAX_DAMAGED {
        let Some((_, text)) = lines.next() else {
            return false;
        };
        if let Ok(text) = text
            && serde_json::from_str::<IgnoredAny>(&text).is_ok()
        {
            // Lists of texts are common, such as the messages of a chat.
            let is_ours = !lines.is_list() || text.contains("\"content_hash\"");
            return is_ours && json::parse_exported(&text).is_ok();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_recognized_behind_damaged_records() {
        let hash = memory_core::ContentHash::of("a");
        let listed = format!("[{{\"content\":\"a\",\"content_hash\":\"{hash}\"}},\n");
        for (text, expected) in [
            ("{\"content\":\"a\"}\n", true),
            (&listed, true),
            ("[{\"content\":\"a\"}]\n", false),
            ("{\"content\":\"cu\n{\"content\":\"a\"}\n", true),
            ("", false),
            ("no JSON\n", false),
            ("{\"text\":\"a\"}\n{\"content\":\"a\"}\n", false),
            ("no JSON\n".repeat(30).as_str(), false),
        ] {
            assert_eq!(begins_with_memory(text.as_bytes()), expected, "{text}");
        }
        assert!(begins_with_memory(
            &b"{\"content\":\"\xff\"}\n{\"content\":\"a\"}\n"[..]
        ));
    }
}
