//! The memories and projects of an export of Claude.ai as notes.

use std::collections::{BTreeMap, HashMap};

use memory_core::{
    Category, ContentHash, Draft, NoteItem, Origin, Phase, Scope, SourceItem, SpeakerRole,
};
use serde::Deserialize;
use serde_json::Value;

use super::{ExportFileKind, NAME};
use crate::archive::{Archive, ArchiveFile};
use crate::conversation_export::file_elements;
use crate::json_elements::parse;
use crate::lenient::{LenientList, LenientObject, Scalar};
use crate::note;

/// Maximum size of all notes in bytes. They are sorted in memory.
const MAX_NOTE_BYTES: usize = 128 << 20;

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct AccountMemories {
    account_uuid: Scalar,
    conversations_memory: Scalar,
    project_memories: LenientObject<BTreeMap<String, Scalar>>,
    memory_files: LenientList<Value>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct ClaudeProject {
    uuid: Scalar,
    name: Scalar,
    description: Scalar,
    prompt_template: Scalar,
    created_at: Scalar,
    updated_at: Scalar,
    is_starter_project: Scalar,
    docs: LenientList<LenientObject<ProjectDocument>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct ProjectDocument {
    uuid: Scalar,
    filename: Scalar,
    content: Scalar,
    created_at: Scalar,
}

/// The notes by path, and the reports.
#[derive(Default)]
struct NoteCollection {
    notes: BTreeMap<String, NoteItem>,
    skipped: Vec<SourceItem>,
    bytes: usize,
}

/// Returns the notes of an export, ordered by path, after the reports.
pub(super) fn read_items(archive: &Archive) -> Vec<SourceItem> {
    let mut collection = NoteCollection::default();
    let mut names = HashMap::new();
    for (path, project) in elements::<ClaudeProject>(archive, ExportFileKind::Projects, "project") {
        match project {
            Ok(project) => collection.add_project(&path, &project, &mut names),
            Err(reason) => collection.skip(path, reason),
        }
    }
    for (path, memories) in elements::<AccountMemories>(archive, ExportFileKind::Memories, "memory")
    {
        match memories {
            Ok(memories) => collection.add_memories(&path, &memories, &names),
            Err(reason) => collection.skip(path, reason),
        }
    }
    let notes = collection
        .notes
        .into_values()
        .map(|note| SourceItem::Note(Box::new(note)));
    collection.skipped.into_iter().chain(notes).collect()
}

/// Iterates over the elements of the files of a kind.
fn elements<'a, T: serde::de::DeserializeOwned>(
    archive: &'a Archive,
    kind: ExportFileKind,
    label: &'a str,
) -> impl Iterator<Item = (String, Result<T, String>)> + 'a {
    let files = archive
        .files
        .iter()
        .filter(move |file| ExportFileKind::of(&file.name) == Some(kind));
    let place = |file: &ArchiveFile, (path, bytes): (String, Result<Vec<u8>, String>)| {
        // A file with one account or project is its own position.
        let is_list = matches!(file.file_name(), "memories.json" | "projects.json");
        (
            if is_list { path } else { file.path() },
            bytes.and_then(parse),
        )
    };
    files.flat_map(move |file| file_elements(file, label).map(move |element| place(file, element)))
}

impl NoteCollection {
    fn skip(&mut self, path: String, reason: impl Into<String>) {
        self.skipped.push(SourceItem::Skipped {
            path,
            reason: reason.into(),
        });
    }

    /// Adds a note at `path` with this text, unless there is one.
    fn add(&mut self, path: String, text: &Scalar, fill: impl FnOnce(&mut NoteItem)) {
        let Some(text) = text.text().filter(|text| !text.trim().is_empty()) else {
            return;
        };
        self.bytes += text.len();
        if MAX_NOTE_BYTES < self.bytes {
            return self.skip(path, "is beyond 128 MiB of notes in the export");
        }
        if self.notes.contains_key(&path) {
            return self.skip(
                path,
                "is in the export more than once; the first is imported",
            );
        }
        let origin = Origin {
            source: NAME.into(),
            root: NAME.into(),
            path: path.clone(),
            hash: None,
        };
        let text = text.replace('\0', "\u{fffd}");
        let draft = Draft {
            phase: Some(Phase::Inbox),
            source: NAME.into(),
            origin: Some(origin),
            ..Draft::new(&text)
        };
        let mut note = NoteItem::new(draft);
        fill(&mut note);
        self.notes.insert(path, note);
    }

    fn add_project(
        &mut self,
        path: &str,
        project: &ClaudeProject,
        names: &mut HashMap<String, String>,
    ) {
        let Some(id) = project.uuid.text().and_then(path_part) else {
            return self.skip(path.to_owned(), "has no valid id");
        };
        if project.is_starter_project.is_true() {
            return self.skip(
                format!("projects/{id}"),
                "is the example project of the program",
            );
        }
        let name = project
            .name
            .text()
            .map(note::one_line)
            .filter(|name| !name.is_empty());
        if let Some(name) = &name {
            names.entry(id.to_owned()).or_insert_with(|| name.clone());
        }
        let fill = |note: &mut NoteItem| {
            note.draft.scope = name.clone().map_or(Scope::Global, Scope::Project);
            note.draft.created_at = project.created_at.time();
            note.updated_at = project.updated_at.time();
            note.local_times = [&project.created_at, &project.updated_at]
                .into_iter()
                .filter_map(Scalar::day)
                .collect();
            note.front_matter = format!("claude_project: \"{id}\"\n");
        };
        self.add(
            format!("projects/{id}/description"),
            &project.description,
            |note| {
                fill(note);
                note.draft.title.clone_from(&name);
            },
        );
        self.add(
            format!("projects/{id}/instructions"),
            &project.prompt_template,
            |note| {
                fill(note);
                note.draft.category = Some(Category::Preferences);
            },
        );
        for LenientObject(document) in &project.docs.0 {
            let own = document.uuid.text().and_then(path_part).map(str::to_owned);
            // Documents with one text and other names or dates are separate notes.
            let hash = || {
                let name = document.filename.text().unwrap_or_default();
                let time = document.created_at.time();
                let text = document.content.text()?;
                let whole = ContentHash::of(&format!("{name}\0{time:?}\0{text}"));
                Some(whole.to_string().replace(':', "-"))
            };
            let Some(document_id) = own.or_else(hash) else {
                continue;
            };
            self.add(
                format!("projects/{id}/docs/{document_id}"),
                &document.content,
                |note| {
                    fill(note);
                    note.draft.title = document
                        .filename
                        .text()
                        .map(note::one_line)
                        .filter(|name| !name.is_empty());
                    note.draft.created_at = document.created_at.time();
                    note.updated_at = None;
                    note.local_times = document.created_at.day().into_iter().collect();
                },
            );
        }
    }

    fn add_memories(
        &mut self,
        path: &str,
        memories: &AccountMemories,
        names: &HashMap<String, String>,
    ) {
        let stem = note::stem(path).to_owned();
        let account = memories.account_uuid.text().unwrap_or(&stem);
        let Some(account) = path_part(account) else {
            return self.skip(path.to_owned(), "has no valid account");
        };
        // The program writes these texts about the person.
        let role = Some(SpeakerRole::Assistant);
        self.add(
            format!("memories/{account}/conversations"),
            &memories.conversations_memory,
            |note| note.draft.role = role,
        );
        for (project, text) in &memories.project_memories.0 {
            let Some(id) = path_part(project) else {
                self.skip(
                    path.to_owned(),
                    "has a memory of a project without a valid id",
                );
                continue;
            };
            self.add(format!("memories/{account}/projects/{id}"), text, |note| {
                note.draft.role = role;
                // A part of an export may lack the project.
                note.draft.scope =
                    Scope::Project(names.get(id).map_or(id, String::as_str).to_owned());
                note.front_matter = format!("claude_project: \"{id}\"\n");
            });
        }
        for file in &memories.memory_files.0 {
            let text_at = |keys: &[&str]| {
                keys.iter()
                    .find_map(|key| file.get(key)?.as_str())
                    .filter(|text| !text.is_empty())
            };
            let Some(text) = file
                .as_str()
                .or_else(|| text_at(&["content", "text", "body", "memory"]))
            else {
                self.skip(
                    path.to_owned(),
                    "has a memory file without a known field for its text",
                );
                continue;
            };
            let name = text_at(&[
                "path",
                "file_path",
                "file_name",
                "filename",
                "name",
                "title",
            ])
            .map(note::one_line);
            let id = text_at(&["uuid", "id"])
                .map(str::to_owned)
                .or_else(|| name.clone());
            let id = id
                .map(|id| id.trim_matches('/').to_owned())
                .filter(|id| !id.is_empty() && !id.contains(char::is_control));
            let id = id.unwrap_or_else(|| ContentHash::of(text).to_string().replace(':', "-"));
            let text_of = |key: &str| file.get(key).and_then(Value::as_str);
            let time = |key: &str| text_of(key).and_then(note::parse);
            let keys = ["created_at", "updated_at"];
            let days = keys
                .into_iter()
                .filter_map(|key| text_of(key).and_then(note::day_of));
            self.add(
                format!("memories/{account}/files/{id}"),
                &Scalar::Text(text.to_owned()),
                |note| {
                    note.draft.role = role;
                    note.draft.title = name;
                    note.draft.created_at = time("created_at");
                    note.updated_at = time("updated_at");
                    note.local_times = days.collect();
                },
            );
        }
    }
}

/// Returns an id if it may be a part of a path.
fn path_part(id: &str) -> Option<&str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.');
    (!id.is_empty() && id.len() <= 100 && id.chars().all(is_plain)).then_some(id)
}
