//! Recognizing the folders and session files of programs, and files by their first bytes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::{Map, Value};

use crate::archive::is_zip;
use crate::codex_sessions::is_session_file;
use crate::folder::has_extension;
use crate::front_matter::split_front_matter;
use crate::source_text;
use crate::text_files::TextFiles;

/// Maximum number of files or folders in a folder that are looked at.
const MAX_ENTRIES: usize = 1_000;

/// Number of files that are read.
const SAMPLE: usize = 20;

/// Maximum depth of folders that are searched for files.
const MAX_DEPTH: usize = 4;

/// Number of bytes at the start of a file that are looked at.
const HEAD_BYTES: u64 = 64 << 10;

/// Returns whether `path` is Claude Code's folder: by its name, its settings, or a transcript.
pub(crate) fn is_claude_folder(path: &Path) -> bool {
    let is_named = is_named(path, ".claude")
        && has_any(
            path,
            &["CLAUDE.md", "agent-memory", "agents", "projects", "rules"],
        );
    is_named
        || path.join("projects").is_dir() && path.join("settings.json").is_file()
        || has_transcripts(path)
}

/// Returns whether Claude Code's folder at `path` has transcripts, or `path` is one.
pub(crate) fn has_transcripts(path: &Path) -> bool {
    if path.is_file() {
        let is_entry =
            |line: &Map<String, Value>| line.contains_key("sessionId") && line.contains_key("uuid");
        return has_extension(&path.to_string_lossy(), &["jsonl"])
            && first_objects(path).iter().any(is_entry);
    }
    let projects = list(&path.join("projects"));
    projects.iter().any(|project| {
        list(project)
            .iter()
            .any(|file| has_extension(&file.to_string_lossy(), &["jsonl"]))
    })
}

/// Returns whether `path` is Codex's folder, or one of its sessions.
pub(crate) fn is_codex(path: &Path) -> bool {
    if path.is_file() {
        // The oldest versions wrote a session as one object.
        if has_extension(&path.to_string_lossy(), &["json"]) {
            let head = head(path);
            let has_key = |key: &str| memmem::find(&head, key.as_bytes()).is_some();
            return is_session_file(&path.to_string_lossy())
                && has_key("\"session\"")
                && has_key("\"items\"");
        }
        let is_start =
            |line: &Map<String, Value>| line.get("type").is_some_and(|kind| kind == "session_meta");
        return has_extension(&path.to_string_lossy(), &["jsonl"])
            && first_objects(path).first().is_some_and(is_start);
    }
    let is_named = is_named(path, ".codex") && has_any(path, &["sessions", "memories"]);
    is_named
        || path.join("sessions").is_dir() && path.join("config.toml").is_file()
        || !first_files(&path.join("sessions"), &is_session_file).is_empty()
        || has_any(
            path,
            &["memories/memory_summary.md", "memories/raw_memories.md"],
        )
}

/// Returns whether `path` is the folder of Gemini CLI, or one of its sessions.
pub(crate) fn is_gemini(path: &Path) -> bool {
    if path.is_file() {
        let is_start = |line: &Map<String, Value>| {
            line.contains_key("sessionId") && line.contains_key("projectHash")
                || line
                    .get("type")
                    .is_some_and(|kind| kind == "session_metadata")
        };
        return begins_with_json(path) && first_objects(path).first().is_some_and(is_start);
    }
    let has_chats = || {
        list(&path.join("tmp"))
            .iter()
            .any(|project| project.join("chats").is_dir())
    };
    is_named(path, ".gemini") && has_any(path, &["GEMINI.md", "tmp"])
        || path.join("tmp").is_dir() && path.join("settings.json").is_file()
        || has_chats()
}

/// Returns whether the Markdown files of the folder or archive at `path` have permalinks, as those of `basic-memory` do.
///
/// In other programs, a permalink is the path of a web page, with a `/` at its start, or belongs to an Obsidian vault.
pub(crate) fn has_permalinks(path: &Path) -> bool {
    sample_texts(path, &|path| has_extension(path, &["md"]))
        .iter()
        .any(|text| permalink(text).is_some_and(|permalink| !permalink.starts_with('/')))
}

/// Returns the texts of the first selected files of a folder or archive. A file that cannot be read has an empty one.
pub(crate) fn sample_texts(path: &Path, is_selected: &dyn Fn(&str) -> bool) -> Vec<String> {
    let files = if path.is_dir() {
        first_files(path, is_selected)
    } else if is_zip(path).unwrap_or(false) {
        let Ok(files) = TextFiles::open(path) else {
            return Vec::new();
        };
        let files = files.files().into_iter();
        let selected = files.filter(|file| is_selected(&file.path)).take(SAMPLE);
        let texts = selected.map(|file| file.read_text().map(|text| text.text));
        return texts.map(Result::unwrap_or_default).collect();
    } else {
        return Vec::new();
    };
    let texts = files.iter().map(|file| source_text::read_file(file));
    texts.map(|text| text.unwrap_or_default().text).collect()
}

fn permalink(text: &str) -> Option<String> {
    let fields = split_front_matter(text).fields.ok()?;
    let value = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .and_then(|(_, value)| value.scalar())
    };
    value("title").or(value("type"))?;
    value("permalink").map(str::to_owned)
}

/// Returns whether a file starts with a JSON object or list.
pub(crate) fn begins_with_json(path: &Path) -> bool {
    let head = head(path);
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Returns the bytes at the start of a file; none if it cannot be read.
pub(crate) fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    let is_read = path.is_file()
        && File::open(path)
            .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
            .is_ok();
    if is_read { head } else { Vec::new() }
}

/// Returns the objects in the first lines of a file.
///
/// A line that is longer than the start of the file that is read has no object.
fn first_objects(path: &Path) -> Vec<Map<String, Value>> {
    let Ok(file) = File::open(path) else {
        return Vec::new();
    };
    let lines = BufReader::new(file.take(HEAD_BYTES))
        .split(b'\n')
        .take(SAMPLE)
        .filter_map(Result::ok);
    lines
        .filter_map(|line| serde_json::from_slice(&line).ok())
        .collect()
}

/// Returns the first selected files in a folder and its folders, without hidden ones.
fn first_files(path: &Path, is_selected: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![path.to_owned()]);
    for _ in 0..MAX_DEPTH {
        let (files, inner): (Vec<_>, Vec<_>) = folders
            .iter()
            .take(MAX_ENTRIES)
            .flat_map(|folder| list(folder))
            .take(MAX_ENTRIES)
            .partition(|path| path.is_file());
        found.extend(
            files
                .into_iter()
                .filter(|file| is_selected(&file.to_string_lossy())),
        );
        if SAMPLE <= found.len() || inner.is_empty() {
            break;
        }
        folders = inner;
    }
    found.truncate(SAMPLE);
    found
}

/// Returns the first items of a folder that are not hidden, sorted by name.
pub(crate) fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(items) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let items = items
        .filter_map(Result::ok)
        .filter(|item| !item.file_name().as_encoded_bytes().starts_with(b"."));
    let mut paths: Vec<_> = items.take(MAX_ENTRIES).map(|item| item.path()).collect();
    paths.sort();
    paths
}

/// Returns whether the last part of a path is one of `names`.
pub(crate) fn is_named_any(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| is_named(path, name))
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|own| own == name)
}

fn has_any(path: &Path, parts: &[&str]) -> bool {
    parts.iter().any(|part| path.join(part).exists())
}

#[cfg(test)]
mod tests {
    use super::permalink;

    #[test]
    fn a_permalink_belongs_to_a_title_or_a_type() {
        assert_eq!(
            permalink("---\ntitle: A\npermalink: notes/a\n---\nx").as_deref(),
            Some("notes/a")
        );
        for text in [
            "---\npermalink: notes/a\n---\nx",
            "---\ntitle: A\n---\npermalink: a",
            "permalink: a",
            "---\ntitle: [\n---\n",
        ] {
            assert_eq!(permalink(text), None, "{text}");
        }
    }
}
