//! Claude Code's folder of instructions and memories, and the projects that it names.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use memory_core::{Category, Scope, Source, SourceError, SourceItem};
use serde::Deserialize;

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};
use crate::program_folder::is_claude_folder;
use crate::yaml::Yaml;

/// The names of files with instructions.
const INSTRUCTIONS: [&str; 2] = ["CLAUDE.md", "CLAUDE.local.md"];

/// The folders with instructions of others, and with former states of files.
const UNREAD_FOLDERS: [&str; 2] = ["file-history", "plugins"];

/// Claude Code's folder of instructions and memories.
///
/// It yields the user's instructions, rules and sub-agents, the memory of sub-agents, and the auto memory of projects.
/// Transcripts, plans, plugins and file history are not read.
#[derive(Debug)]
pub struct Claude {
    folder: SourceFolder,
}

impl Claude {
    /// Opens the folder at `path`: `~/.claude`, its replacement, or the folder of a project.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            folder: SourceFolder::open(path)?,
        })
    }

    /// Returns whether `path` is Claude Code's folder and has instructions or memories.
    pub(crate) fn recognizes(path: &Path) -> bool {
        path.is_dir()
            && is_claude_folder(path)
            && Self::open(path).is_ok_and(|claude| !claude.entries().is_empty())
    }

    fn entries(&self) -> Vec<FolderEntry> {
        let mut entries = Vec::new();
        // In a project the files are in a folder of this name.
        for base in ["", ".claude/"] {
            for name in INSTRUCTIONS {
                entries.extend(self.folder.file(&format!("{base}{name}")));
            }
            for part in ["agent-memory", "agents", "rules"] {
                entries.extend(self.folder.files(&format!("{base}{part}")));
            }
            for project in self.folder.folders(&format!("{base}projects")) {
                entries.extend(self.folder.files(&format!("{project}/memory")));
            }
        }
        // A folder may have instructions of its own.
        for folder in [".claude", ""]
            .map(|part| self.folder.inner_folders(part))
            .concat()
        {
            for name in INSTRUCTIONS {
                entries.extend(self.folder.file(&format!("{folder}/{name}")));
            }
        }
        entries.retain(|entry| has_extension(&entry.path, &["md"]) || entry.place.is_err());
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        entries.dedup_by(|left, right| left.path == right.path);
        entries
    }

    fn finding(
        &self,
        entry: &FolderEntry,
        projects: &mut HashMap<String, (String, Option<PathBuf>)>,
    ) -> SourceItem {
        let skipped = |reason: &str| SourceItem::Skipped {
            path: entry.path.clone(),
            reason: reason.to_owned(),
        };
        if is_nested(&entry.path)
            && entry
                .path
                .split('/')
                .any(|part| UNREAD_FOLDERS.contains(&part))
        {
            return skipped("is part of a plugin, or a former state of a file");
        }
        let text = match note::read_text(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        if text.text.trim().is_empty() {
            return skipped("is empty");
        }
        let mut note = SourceNote::new(self.name(), self.folder.name(), &entry.path, &text);
        if is_nested(&entry.path) && note.draft.title.as_deref() == Some(note::stem(&entry.path)) {
            note.draft.title = Some(note::one_line(&entry.path));
        }
        note.draft.category = note_category(&note);
        let Some(project) = project_folder(&entry.path) else {
            return note.into_finding();
        };
        let (name, folder) = projects
            .entry(project.to_owned())
            .or_insert_with(|| name_and_folder(&self.folder.join(project)))
            .clone();
        note.draft.scope = Scope::Project(name);
        note::in_project(note.into_finding(), folder)
    }
}

impl Source for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut projects = HashMap::new();
        Box::new(
            self.entries()
                .into_iter()
                .map(move |entry| self.finding(&entry, &mut projects)),
        )
    }
}

/// Returns whether a file has the instructions of a folder below Claude Code's folder or below a project.
fn is_nested(path: &str) -> bool {
    path.rsplit_once('/')
        .is_some_and(|(folder, name)| folder != ".claude" && INSTRUCTIONS.contains(&name))
}

/// Returns the folder of the project of a memory, or of the instructions in this folder.
fn project_folder(path: &str) -> Option<&str> {
    let in_memory = path.split_once("/memory/");
    let (project, _) = in_memory.or_else(|| path.rsplit_once('/').filter(|_| is_nested(path)))?;
    let (parent, _) = project.rsplit_once('/')?;
    (parent == "projects" || parent.ends_with("/projects")).then_some(project)
}

/// Returns the category of a note from its type, in either form of the front matter.
fn note_category(note: &SourceNote) -> Option<Category> {
    let nested = || {
        note.field("metadata")
            .and_then(|metadata| metadata.get("type"))
    };
    let kind = note
        .field("type")
        .filter(|kind| kind.scalar().is_some())
        .or_else(nested)
        .and_then(Yaml::scalar);
    // A description with a colon is not valid YAML, but the line of the type can still be read.
    let lines = || {
        note.not_understood
            .lines()
            .find_map(|line| line.trim().strip_prefix("type:"))
    };
    match kind.or_else(lines)?.trim() {
        "user" => Some(Category::Preferences),
        "feedback" => Some(Category::Feedback),
        "project" => Some(Category::Project),
        "reference" => Some(Category::Knowledge),
        _ => None,
    }
}

/// Maximum number of transcripts, and of lines of each, that are searched.
const MAX_TRANSCRIPTS: usize = 5000;
const MAX_LINES: usize = 200;

/// Maximum length of a line in bytes. A longer line is skipped, since `cwd` is in short lines too.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The part of a transcript line that is read.
#[derive(Deserialize)]
struct TranscriptLine {
    cwd: Option<String>,
}

/// Returns the name of the project of this folder in `projects/`.
///
/// The name of the folder is the path of the project with every character except letters and digits replaced by `-`,
/// which cannot be reversed. Transcripts contain the original path. Without a transcript the name of the folder is
/// used.
fn name_and_folder(folder: &Path) -> (String, Option<PathBuf>) {
    let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
    let slug = folder_name
        .strip_prefix('-')
        .filter(|rest| rest.contains(char::is_alphanumeric))
        .unwrap_or(&folder_name)
        .to_owned();
    let transcripts = list_transcripts(folder);
    if MAX_TRANSCRIPTS < transcripts.len() {
        return (slug, None);
    }
    let mut folders: Vec<String> = transcripts
        .iter()
        .filter_map(|path| working_folder(path))
        .collect();
    folders.sort();
    folders.dedup();
    if 1 < folders.len() {
        folders.retain(|path| is_folder_of(path, &folder_name));
    }
    match folders.as_slice() {
        [path] => (last_component(path), Some(path.into())),
        _ => (slug, None),
    }
}

/// Returns whether the program keeps the memories of the folder `path` under the name `name`, in which other characters than letters and
/// digits are hyphens. Several folders may have the same name.
fn is_folder_of(path: &str, name: &str) -> bool {
    let slug = path.replace(|own: char| !own.is_ascii_alphanumeric(), "-");
    slug == name
}

fn list_transcripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_transcript = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
            && path.symlink_metadata().is_ok_and(|found| found.is_file())
    };
    let mut paths: Vec<_> = listed
        .filter_map(|item| Some(item.ok()?.path()))
        .filter(is_transcript)
        .collect();
    paths.sort();
    paths
}

/// Returns the first `cwd` of a transcript that ends in a name.
fn working_folder(transcript: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(transcript).ok()?);
    for _ in 0..MAX_LINES {
        let mut line = Vec::new();
        if reader
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .ok()?
            == 0
        {
            return None;
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE_BYTES {
            reader.skip_until(b'\n').ok()?;
            continue;
        }
        let read: Option<TranscriptLine> = serde_json::from_slice(&line).ok();
        if let Some(path) = read
            .and_then(|line| line.cwd)
            .filter(|path| !last_component(path).is_empty())
        {
            return Some(path);
        }
    }
    None
}

fn last_component(path: &str) -> String {
    let parts: &[char] = if path.contains('/') { &['/'] } else { &['\\'] };
    let part = path
        .trim_end_matches(parts)
        .rsplit(parts)
        .next()
        .unwrap_or_default();
    part.replace(char::is_control, " ").trim().to_owned()
}
