//! Transcripts of Claude Code.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use memory_core::{Source, SourceError, SourceItem, SourceSessionItem, wikilink};
use serde::Deserialize;
use serde_json::Value;

use crate::folder::{FolderEntry, has_extension};
use crate::lenient::{LenientObject, Scalar};
use crate::note;
use crate::session_builder::{SessionBuilder, text_record, unique_sessions};
use crate::session_files::{
    SessionFiles, content_text, for_each_line, open_entry, project_name, role,
};

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
    attachment: LenientObject<TranscriptAttachment>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct TranscriptMessage {
    model: Scalar,
    content: Value,
}

/// A part that the program adds to the conversation, such as a message that the person wrote while the program worked.
#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct TranscriptAttachment {
    #[serde(rename = "type")]
    kind: Scalar,
    prompt: Value,
    is_meta: Scalar,
}

/// Elements that the program adds to the messages of the person.
const ADDED_ELEMENTS: [&str; 10] = [
    "system-reminder",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "ide_opened_file",
    "ide_selection",
    "user-prompt-submit-hook",
];

/// Elements that contain the parts of a command of the person.
const COMMAND_NAME: &str = "command-name";
const COMMAND_MESSAGE: &str = "command-message";
const COMMAND_ARGUMENTS: &str = "command-args";
const SHELL_COMMAND: &str = "bash-input";

/// The beginning of the message that the person interrupted the program.
const INTERRUPTION: &str = "[Request interrupted by user";

/// The beginnings of the line that the program adds after a notification.
const NOTIFICATION_LINES: [&str; 2] = [
    "Read the output file to retrieve the result:",
    "Full transcript available at:",
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
        for_each_line(
            file,
            &mut session,
            &mut |session, mut entry: TranscriptEntry| {
                let owned = |scalar: &Scalar| scalar.text().map(str::to_owned);
                if entry.kind.text() == Some("attachment")
                    && entry.attachment.0.kind.text() == Some("queued_command")
                {
                    // The person wrote it while the program worked.
                    entry.kind = Scalar::Text("user".into());
                    entry.message.0.content = std::mem::take(&mut entry.attachment.0.prompt);
                }
                match entry.kind.text() {
                    Some("summary") => {
                        summary = owned(&entry.summary)
                            .zip(owned(&entry.leaf_uuid))
                            .or(summary.take());
                    }
                    Some("ai-title") => titles[1] = owned(&entry.ai_title),
                    Some("custom-title") => titles[2] = owned(&entry.custom_title),
                    // A resumed session may repeat messages.
                    Some(kind @ ("user" | "assistant"))
                        if entry
                            .uuid
                            .text()
                            .is_none_or(|uuid| seen.insert(uuid.to_owned())) =>
                    {
                        add_message(session, kind == "user", &entry);
                    }
                    _ => {}
                }
            },
        );
        // A summary may belong to another transcript.
        titles[0] = summary
            .filter(|(_, leaf)| seen.contains(leaf))
            .map(|(text, _)| text);
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
        &entry.attachment.0.is_meta,
    ];
    let message = &entry.message.0;
    let model = message.model.text();
    if flags.into_iter().any(Scalar::is_true) || model == Some("<synthetic>") {
        return;
    }
    let part = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") => part.get("text").and_then(Value::as_str).and_then(|text| {
            if is_user {
                typed_text(text)
            } else {
                Some(text.to_owned())
            }
        }),
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
    let folder = entry.cwd.text();
    let project = folder.and_then(project_name);
    if let Some(folder) = folder {
        session.set_project(folder);
    }
    let meta = [
        ("message_id", entry.uuid.text()),
        ("model", model),
        ("project", project.as_deref()),
    ];
    session.push(text_record(
        role(is_user),
        &text,
        entry.timestamp.time(),
        &meta,
    ));
}

/// Returns the text that a person typed, without the elements that the program added before it, or `None` if there is none.
fn typed_text(text: &str) -> Option<String> {
    let text = without_reminders(text);
    let mut rest = &*text;
    let (mut name, mut arguments, mut lines) = (None, None, Vec::new());
    while let Some((element, content, after)) = first_element(rest.trim_start()) {
        let content = Some(content.trim()).filter(|content| !content.is_empty());
        match element {
            COMMAND_NAME => name = content,
            COMMAND_ARGUMENTS => arguments = content,
            SHELL_COMMAND => lines.extend(content.map(|command| format!("!{command}"))),
            _ => {}
        }
        rest = after;
    }
    let command: Vec<_> = name.into_iter().chain(arguments).collect();
    if !command.is_empty() {
        lines.insert(0, command.join(" "));
    }
    // The text is as it was typed if nothing was added to it.
    let typed = if rest.len() == text.len() {
        rest
    } else {
        rest.trim_start()
    };
    if !typed.trim().is_empty() {
        lines.push(typed.to_owned());
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the name and the content of the element that the program added at the start of a text, and the text after it.
fn first_element(text: &str) -> Option<(&str, &str, &str)> {
    if let Some(after) = text.strip_prefix(INTERRUPTION) {
        let end = after.find([']', '\n'])?;
        return Some((
            INTERRUPTION,
            "",
            after[end..].strip_prefix(']').unwrap_or(&after[end..]),
        ));
    }
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    let is_command = [
        COMMAND_NAME,
        COMMAND_MESSAGE,
        COMMAND_ARGUMENTS,
        SHELL_COMMAND,
    ]
    .contains(&name);
    if !is_command && !ADDED_ELEMENTS.contains(&name) {
        return None;
    }
    // An element without an end contains the whole text.
    let (content, after) = rest.split_once(&format!("</{name}>")).unwrap_or((rest, ""));
    let line = after.trim_start();
    if name == "task-notification"
        && NOTIFICATION_LINES
            .iter()
            .any(|start| line.starts_with(start))
    {
        return Some((
            name,
            content,
            line.split_once('\n').map_or("", |(_, after)| after),
        ));
    }
    Some((name, content, after))
}

/// Returns a text without the reminders that the program added to it. In code they are a part of the text.
fn without_reminders(text: &str) -> Cow<'_, str> {
    const START: &str = "<system-reminder>";
    const END: &str = "</system-reminder>";
    if !text.contains(START) {
        return text.into();
    }
    let prose = wikilink::blank_code(text);
    let mut typed = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(start) = prose[at..].find(START).map(|start| at + start)
        && let Some(end) = text[start..].find(END).map(|end| start + end + END.len())
    {
        typed.push_str(text[at..start].trim_end());
        at = end;
    }
    typed.push_str(&text[at..]);
    typed.into()
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
        Box::new(unique_sessions(
            entries.into_iter().flat_map(|entry| Self::session(&entry)),
        ))
    }
}
