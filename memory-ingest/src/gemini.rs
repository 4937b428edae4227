//! Sessions and memories of Gemini CLI.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use memory_core::instance::history::RecordDraft;
use memory_core::{
    Category, ContentHash, Draft, NoteItem, Origin, Phase, Source, SourceError, SourceItem,
    SourceSessionItem,
};
use serde::Deserialize;
use serde_json::Value;

use crate::archive::file_name;
use crate::folder::{FolderEntry, has_extension};
use crate::json_elements::{JsonElements, parse};
use crate::lenient::{LenientList, LenientObject, Scalar};
use crate::note;
use crate::session_builder::{
    MAX_SESSION_BYTES, SessionBuilder, skipped_session, text_record, unique_sessions,
};
use crate::session_files::{SessionFiles, content_text, open_entry, project_name, role};
use crate::source_text;

/// The name of the source.
const NAME: &str = "gemini";

/// The file with the person's instructions and the saved memories.
const INSTRUCTIONS: &str = "GEMINI.md";

/// The heading of the saved memories.
const MEMORIES_HEADING: &str = "## Gemini Added Memories";

/// Sessions of Gemini CLI, its saved memories, and the person's instructions to it.
///
/// Reasoning, calls and outputs of tools, and the sessions of sub-agents are not read.
#[derive(Debug)]
pub struct Gemini(SessionFiles);

/// A line of a session: its metadata, a change of them, a message, or the removal of messages.
#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GeminiLine {
    session_id: Scalar,
    kind: Scalar,
    summary: Scalar,
    messages: LenientList<LenientObject<GeminiMessage>>,
    #[serde(rename = "$set")]
    change: LenientObject<GeminiMetadata>,
    #[serde(rename = "$rewindTo")]
    rewind_to: Scalar,
    id: Scalar,
    #[serde(rename = "type")]
    role: Scalar,
    timestamp: Scalar,
    content: Value,
    display_content: Value,
    model: Scalar,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GeminiMetadata {
    kind: Scalar,
    summary: Scalar,
    messages: LenientList<LenientObject<GeminiMessage>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct GeminiMessage {
    id: Scalar,
    #[serde(rename = "type")]
    role: Scalar,
    timestamp: Scalar,
    content: Value,
    display_content: Value,
    model: Scalar,
}

/// The state of a session while its lines are read.
#[derive(Default)]
struct GeminiSession {
    id: Option<String>,
    title: Option<String>,
    is_subagent: bool,
    project: Option<String>,
    /// The messages in order. Reports of the program are `None`.
    messages: Vec<Option<RecordDraft>>,
    /// The positions of the messages by their ids.
    positions: HashMap<String, usize>,
    /// Size of all messages in bytes, including those that were removed.
    bytes: usize,
    /// Whether messages were left out.
    is_cut: bool,
}

impl Gemini {
    /// Opens the folder of Gemini CLI, or one session.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let files = SessionFiles::open(path)?;
        if files.is_single()
            || files.folder.join("tmp").is_dir()
            || files.folder.join(INSTRUCTIONS).exists()
        {
            return Ok(Self(files));
        }
        let expected = "the folder of Gemini CLI, such as `~/.gemini`".into();
        Err(SourceError::NotRecognized {
            path: path.display().to_string(),
            expected,
        })
    }

    fn session(&self, entry: &FolderEntry) -> Vec<SourceSessionItem> {
        let file = match open_entry(entry) {
            Ok(file) => file,
            Err(skipped) => return vec![skipped],
        };
        let mut state = GeminiSession {
            project: self.project(&entry.path),
            ..GeminiSession::default()
        };
        let mut session = SessionBuilder::new(entry.path.clone(), note::stem(&entry.path), None);
        // Older versions wrote the whole session as one object, which may have any number of lines.
        let (label, elements) = if has_extension(&entry.path, &["json"]) {
            ("object", JsonElements::of_list(file))
        } else {
            ("line", JsonElements::of_lines(file))
        };
        for element in elements {
            match element.bytes.and_then(parse::<GeminiLine>) {
                Ok(line) => state.apply(line),
                Err(reason) => session.skip(&format!("{label} {} {reason}", element.number)),
            }
        }
        if state.is_subagent {
            return vec![skipped_session(
                entry.path.clone(),
                "is the session of a sub-agent",
            )];
        }
        session.set_id(state.id.as_deref());
        session.set_title(state.title.as_deref());
        if state.is_cut {
            session.skip("a message is beyond the first 256 MiB of the conversation");
        }
        for record in state.messages.into_iter().flatten() {
            session.push(record);
        }
        session.finish()
    }

    /// Returns the name of the project of the session at `path`, which is in the folder `chats` beside the file with its
    /// root.
    fn project(&self, path: &str) -> Option<String> {
        let (folder, _) = path.split_once("/chats/")?;
        let root =
            source_text::read_file(&self.0.folder.join(&format!("{folder}/.project_root"))).ok()?;
        project_name(root.text.lines().next().unwrap_or_default())
    }

    fn notes(&self) -> Vec<SourceItem> {
        let Some(entry) = self
            .0
            .folder
            .file(INSTRUCTIONS)
            .filter(|_| !self.0.is_single())
        else {
            return Vec::new();
        };
        let text = match note::read_text(&entry) {
            Ok(text) => text,
            Err(skipped) => return vec![skipped],
        };
        let mut warning = text
            .warning
            .map(|(line, reason)| format!("{INSTRUCTIONS}:{line}: {reason}"));
        let (instructions, memories) = split_memories(&text.text);
        let mut notes = BTreeMap::new();
        if !instructions.is_empty() {
            notes.insert(
                INSTRUCTIONS.to_owned(),
                (Some(Category::Preferences), instructions),
            );
        }
        for memory in memories {
            let hash = ContentHash::of(&memory).to_string();
            notes.insert(
                format!("memories/{}", hash.rsplit(':').next().unwrap_or_default()),
                (None, memory),
            );
        }
        let note = |(path, (category, text)): (String, (Option<Category>, String))| {
            let origin = Origin {
                source: NAME.into(),
                root: self.0.folder.name().into(),
                path,
                hash: None,
            };
            let draft = Draft {
                category,
                phase: Some(Phase::Inbox),
                source: NAME.into(),
                origin: Some(origin),
                ..Draft::new(&text)
            };
            SourceItem::Note(Box::new(NoteItem {
                warning: warning.take(),
                ..NoteItem::new(draft)
            }))
        };
        notes.into_iter().map(note).collect()
    }
}

impl GeminiSession {
    fn apply(&mut self, mut line: GeminiLine) {
        let owned = |scalar: &Scalar| scalar.text().map(str::to_owned);
        self.id = self.id.take().or(owned(&line.session_id));
        for (kind, summary) in [
            (&line.kind, &line.summary),
            (&line.change.0.kind, &line.change.0.summary),
        ] {
            self.is_subagent |= kind.text() == Some("subagent");
            self.title = owned(summary).or(self.title.take());
        }
        if let Some(id) = line.rewind_to.text() {
            let length = self.positions.get(id).copied().unwrap_or(0);
            self.messages.truncate(length);
            self.positions.retain(|_, position| *position < length);
        }
        let lists = [
            std::mem::take(&mut line.messages.0),
            std::mem::take(&mut line.change.0.messages.0),
        ];
        for messages in lists.into_iter().filter(|messages| !messages.is_empty()) {
            self.messages.clear();
            self.positions.clear();
            for message in messages {
                self.add(&message.0);
            }
        }
        if line
            .role
            .text()
            .is_some_and(|role| !matches!(role, "session_metadata" | "message_update"))
        {
            let GeminiLine {
                id,
                role,
                timestamp,
                content,
                display_content,
                model,
                ..
            } = line;
            self.add(&GeminiMessage {
                id,
                role,
                timestamp,
                content,
                display_content,
                model,
            });
        }
    }

    /// Adds a message, or replaces an earlier version of it.
    fn add(&mut self, message: &GeminiMessage) {
        let record = message.to_record(self.project.as_deref());
        let content = record.as_ref().and_then(|record| record.content.as_ref());
        self.bytes += content.map_or(0, |content| content.as_str().len());
        if MAX_SESSION_BYTES < self.bytes {
            self.is_cut = true;
            return;
        }
        let id = message.id.text().map(str::to_owned);
        if let Some(position) = id.as_ref().and_then(|id| self.positions.get(id)) {
            self.messages[*position] = record;
            return;
        }
        if let Some(id) = id {
            self.positions.insert(id, self.messages.len());
        }
        self.messages.push(record);
    }
}

impl GeminiMessage {
    fn to_record(&self, project: Option<&str>) -> Option<RecordDraft> {
        let is_user = match self.role.text()? {
            "user" => true,
            "gemini" => false,
            _ => return None,
        };
        // The content includes the files that the person names; the other text is as the person typed it.
        let texts =
            [&self.display_content, &self.content].map(|content| content_text(content, &part_text));
        let text = texts.into_iter().find(|text| !text.trim().is_empty())?;
        let meta = [
            ("message_id", self.id.text()),
            ("model", self.model.text()),
            ("project", project),
        ];
        Some(text_record(
            role(is_user),
            &text,
            self.timestamp.time(),
            &meta,
        ))
    }
}

/// Returns the text of a part, or a placeholder for a file.
fn part_text(part: &Value) -> Option<String> {
    if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        return (!is_thought).then(|| text.to_owned());
    }
    let data = part.get("inlineData").or_else(|| part.get("fileData"))?;
    let kind = data
        .get("mimeType")
        .and_then(Value::as_str)
        .and_then(|kind| kind.split('/').next());
    let label = kind
        .filter(|kind| matches!(*kind, "image" | "audio" | "video"))
        .unwrap_or("file");
    let name = data
        .get("displayName")
        .or_else(|| data.get("fileUri"))
        .and_then(Value::as_str)
        .map(file_name);
    Some(name.map_or_else(|| format!("[{label}]"), |name| format!("[{label}: {name}]")))
}

/// Splits the instructions file into the text of the person and the saved memories.
fn split_memories(text: &str) -> (String, Vec<String>) {
    let (mut instructions, mut memories) = (Vec::new(), Vec::<String>::new());
    let mut is_memories = false;
    for line in text.lines() {
        if line.starts_with("## ") || line.starts_with("# ") {
            is_memories = line.trim_end() == MEMORIES_HEADING;
            if is_memories {
                continue;
            }
        }
        match (is_memories, line.strip_prefix("- "), memories.last_mut()) {
            (false, ..) => instructions.push(line),
            (true, Some(memory), _) => memories.push(memory.trim().to_owned()),
            (true, None, Some(memory)) if !line.trim().is_empty() => {
                memory.push('\n');
                memory.push_str(line.trim_end());
            }
            (true, None, _) if !line.trim().is_empty() => memories.push(line.trim().to_owned()),
            (true, None, _) => {}
        }
    }
    memories.retain(|memory| !memory.is_empty());
    (instructions.join("\n").trim().to_owned(), memories)
}

impl Source for Gemini {
    fn name(&self) -> &'static str {
        NAME
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.notes().into_iter())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        // Sub-agents have files with other names in folders below.
        let is_session = |path: &str| {
            let parts: Vec<_> = path.split('/').collect();
            matches!(parts.as_slice(), [_, "chats", name] if name.starts_with("session-") && has_extension(name, &["json", "jsonl"]))
        };
        let mut entries = self.0.entries(&["tmp"], &is_session);
        // A session that a newer version continues is in a file of each format; the newer one is complete.
        entries.sort_by_key(|entry| (has_extension(&entry.path, &["json"]), entry.path.clone()));
        Box::new(unique_sessions(
            entries.into_iter().flat_map(|entry| self.session(&entry)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::split_memories;

    #[test]
    fn saved_memories_are_separated_from_instructions() {
        let text = "# Mine\nBe brief.\n\n## Gemini Added Memories\n- likes tea\n  with milk\n- 喜欢 😀\r\n\n## Other\ntext\n";
        let (instructions, memories) = split_memories(text);
        assert_eq!(instructions, "# Mine\nBe brief.\n\n## Other\ntext");
        assert_eq!(memories, ["likes tea\n  with milk", "喜欢 😀"]);
        assert_eq!(split_memories(""), (String::new(), Vec::new()));
    }
}
