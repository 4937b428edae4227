//! Transcripts of Claude Code.

use std::collections::HashSet;
use std::path::Path;

use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};
use serde::Deserialize;
use serde_json::Value;

use crate::folder::{FolderEntry, has_extension};
use crate::lenient::{LenientObject, Scalar};
use crate::note;
use crate::session_builder::{SessionBuilder, text_record, unique_sessions};
use crate::session_files::{SessionFiles, content_text, for_each_line, open_entry, project_name, role};

/// Transcripts of Claude Code: the texts of the person and of the assistant.
///
/// Results of tools, reasoning, and the transcripts of sub-agents are not read.
#[derive(Debug)]
pub struct ClaudeSessions(SessionFiles);

/// A line of a transcript.
#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct TranscriptEntry {
    #[serde(rename = "type")]
    kind: Scalar,
    uuid: Scalar,
    leaf_uuid: Scalar,
    timestamp: Scalar,
    cwd: Scalar,
    is_sidechain: Scalar,
    is_meta: Scalar,
    is_compact_summary: Scalar,
    is_visible_in_transcript_only: Scalar,
    is_api_error_message: Scalar,
    custom_title: Scalar,
    ai_title: Scalar,
    summary: Scalar,
    message: LenientObject<TranscriptMessage>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct TranscriptMessage {
    model: Scalar,
    content: Value,
}

/// Elements that the program adds to the messages of the person.
const ADDED_ELEMENTS: [&str; 11] = [
    "<system-reminder>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
];

impl ClaudeSessions {
    /// Opens Claude Code's folder, its folder `projects`, the folder of a project in it, or one transcript.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        SessionFiles::open(path).map(Self)
    }

    fn session(entry: &FolderEntry) -> Vec<SourceSessionItem> {
        let file = match open_entry(entry) {
            Ok(file) => file,
            Err(skipped) => return vec![skipped],
        };
        let mut session = SessionBuilder::new(entry.path.clone(), note::stem(&entry.path), None);
        let mut seen = HashSet::new();
        // Titles by increasing precedence: a summary, a title by the program, a title by the person.
        let mut titles: [Option<String>; 3] = [const { None }; 3];
        let mut summary = None;
        for_each_line(file, &mut session, &mut |session, entry: TranscriptEntry| {
            let owned = |scalar: &Scalar| scalar.text().map(str::to_owned);
            match entry.kind.text() {
                Some("summary") => summary = owned(&entry.summary).zip(owned(&entry.leaf_uuid)).or(summary.take()),
                Some("ai-title") => titles[1] = owned(&entry.ai_title),
                Some("custom-title") => titles[2] = owned(&entry.custom_title),
                // A resumed session may repeat messages.
                Some(kind @ ("user" | "assistant")) if entry.uuid.text().is_none_or(|uuid| seen.insert(uuid.to_owned())) => {
                    add_message(session, kind == "user", &entry);
                }
                _ => {}
            }
        });
        // A summary may belong to another transcript.
        titles[0] = summary.filter(|(_, leaf)| seen.contains(leaf)).map(|(text, _)| text);
        session.set_title(titles.into_iter().rev().flatten().next().as_deref());
        session.finish()
    }
}

fn add_message(session: &mut SessionBuilder, is_user: bool, entry: &TranscriptEntry) {
    let flags = [
        &entry.is_sidechain,
        &entry.is_meta,
        &entry.is_compact_summary,
        &entry.is_visible_in_transcript_only,
        &entry.is_api_error_message,
    ];
    let message = &entry.message.0;
    let model = message.model.text();
    if flags.into_iter().any(Scalar::is_true) || model == Some("<synthetic>") {
        return;
    }
    let part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") => part
            .get("text")
            .and_then(Value::as_str)
            .and_then(|text| if is_user { typed_text(text) } else { Some(text.to_owned()) }),
        Some(kind @ ("image" | "document")) => Some(format!("[{kind}]")),
        _ => None,
    };
    let text = match &message.content {
        Value::String(text) if is_user => typed_text(text).unwrap_or_default(),
        content => content_text(content, &part),
    };
    if text.trim().is_empty() {
        return;
    }
    let project = entry.cwd.text().and_then(project_name);
    let meta = [("message_id", entry.uuid.text()), ("model", model), ("project", project.as_deref())];
    session.push(text_record(role(is_user), &text, entry.timestamp.time(), &meta));
}

/// Returns the text that a person typed, or `None` for a text that the program added.
fn typed_text(text: &str) -> Option<String> {
    let text = &without_reminders(text);
    let start = text.trim_start();
    if ADDED_ELEMENTS.iter().any(|element| start.starts_with(element)) {
        return None;
    }
    if start.starts_with("<command-") {
        let name = element_text(text, "command-name")?;
        let arguments = element_text(text, "command-args").filter(|arguments| !arguments.is_empty());
        return Some(arguments.map_or_else(|| name.to_owned(), |arguments| format!("{name} {arguments}")));
    }
    if start.starts_with("<bash-input>") {
        return element_text(text, "bash-input").map(|command| format!("!{command}"));
    }
    (!start.is_empty()).then(|| text.to_owned())
}

/// Returns a text without the reminders that the program added to it.
fn without_reminders(text: &str) -> String {
    const START: &str = "<system-reminder>";
    const END: &str = "</system-reminder>";
    let mut typed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(START)
        && let Some((_, after)) = after.split_once(END)
    {
        typed.push_str(before.trim_end());
        rest = after;
    }
    typed.push_str(rest);
    typed
}

/// Returns the text of an element such as `<name>text</name>`.
fn element_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

impl Source for ClaudeSessions {
    fn name(&self) -> &'static str {
        "claude-sessions"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(std::iter::empty())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        // The transcripts of sub-agents are in deeper folders, or have names that begin with `agent-`.
        let is_session = |path: &str| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            has_extension(name, &["jsonl"]) && !folder.contains('/') && !name.starts_with("agent-")
        };
        let entries = self.0.entries(&["projects", ""], &is_session);
        Box::new(unique_sessions(entries.into_iter().flat_map(|entry| Self::session(&entry))))
    }
}
