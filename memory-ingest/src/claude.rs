//! Claude Code's folder of instructions and memories.

use std::collections::HashMap;
use std::path::Path;

use memory_core::wikilink::WikilinkRule;
use memory_core::{Category, Scope, Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};
use crate::yaml::Yaml;

mod project;

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
        Ok(Self { folder: SourceFolder::open(path)? })
    }

    fn entries(&self) -> Vec<FolderEntry> {
        let mut entries = Vec::new();
        // In a project the files are in a folder of this name.
        for base in ["", ".claude/"] {
            entries.extend(self.folder.file(&format!("{base}CLAUDE.md")));
            entries.extend(self.folder.file(&format!("{base}CLAUDE.local.md")));
            for part in ["agent-memory", "agents", "rules"] {
                entries.extend(self.folder.files(&format!("{base}{part}")));
            }
            for project in self.folder.folders(&format!("{base}projects")) {
                entries.extend(self.folder.files(&format!("{project}/memory")));
            }
        }
        entries.retain(|entry| has_extension(&entry.path, &["md"]) || entry.place.is_err());
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        entries
    }

    fn finding(&self, entry: &FolderEntry, scopes: &mut HashMap<String, Scope>) -> SourceItem {
        let text = match note::read_text(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        if text.text.trim().is_empty() {
            return SourceItem::Skipped { path: entry.path.clone(), reason: "is empty".into() };
        }
        let mut note = SourceNote::new(self.name(), &self.folder, &entry.path, &text);
        note.draft.category = note_category(&note);
        if let Some(project) = project_folder(&entry.path) {
            let scope = || Scope::Project(project::name(&self.folder.join(project)));
            note.draft.scope = scopes.entry(project.to_owned()).or_insert_with(scope).clone();
        }
        note.into_finding()
    }
}

impl Source for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn rule(&self) -> WikilinkRule {
        WikilinkRule::Paths
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let mut scopes = HashMap::new();
        Box::new(self.entries().into_iter().map(move |entry| self.finding(&entry, &mut scopes)))
    }
}

/// Returns the folder of the project of a memory.
fn project_folder(path: &str) -> Option<&str> {
    let (project, _) = path.split_once("/memory/")?;
    let (parent, _) = project.rsplit_once('/')?;
    (parent == "projects" || parent.ends_with("/projects")).then_some(project)
}

/// Returns the category of a note from its type, in either form of the front matter.
fn note_category(note: &SourceNote) -> Option<Category> {
    let nested = || note.field("metadata").and_then(|metadata| metadata.get("type"));
    let kind = note.field("type").filter(|kind| kind.scalar().is_some()).or_else(nested).and_then(Yaml::scalar);
    // A description with a colon is not valid YAML, but the line of the type can still be read.
    let lines = || note.not_understood.lines().find_map(|line| line.trim().strip_prefix("type:"));
    match kind.or_else(lines)?.trim() {
        "user" => Some(Category::Preferences),
        "feedback" => Some(Category::Feedback),
        "project" => Some(Category::Project),
        "reference" => Some(Category::Knowledge),
        _ => None,
    }
}
