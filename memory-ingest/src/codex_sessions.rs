//! Sessions of Codex.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};
use serde::Deserialize;
use serde_json::Value;

use crate::archive::file_name;
use crate::folder::{FolderEntry, has_extension};
use crate::json_elements::{JsonElements, parse};
use crate::lenient::{LenientList, LenientObject, Scalar};
use crate::note;
use crate::session_builder::{SessionBuilder, skipped_session, text_record, unique_sessions};
use crate::session_files::{
    SessionFiles, content_text, for_each_line, open_entry, project_name, role,
};

/// Sessions of Codex: the texts of the person and of the assistant.
///
/// Reasoning, calls and outputs of tools, and the sessions of sub-agents are not read.
#[derive(Debug)]
pub(crate) struct CodexSessions(SessionFiles);

/// A session of the oldest versions, which wrote it as one object.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct RolloutObject {
    session: LenientObject<RolloutLine>,
    items: LenientList<LenientObject<RolloutLine>>,
}

/// A line of a session. Older versions wrote the payload without an envelope.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct RolloutLine {
    timestamp: Scalar,
    #[serde(rename = "type")]
    kind: Scalar,
    payload: Option<LenientObject<RolloutPayload>>,
    id: Scalar,
    role: Scalar,
    content: Value,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct RolloutPayload {
    #[serde(rename = "type")]
    kind: Scalar,
    id: Scalar,
    cwd: Scalar,
    source: Value,
    model: Scalar,
    role: Scalar,
    /// The content of an item of the model.
    content: Value,
    /// The text of an event.
    message: Scalar,
    /// The type of the text of an event.
    #[serde(rename = "kind")]
    message_kind: Scalar,
    images: LenientList<Value>,
    local_images: LenientList<Value>,
}

/// Texts that the program adds in the name of the person.
const ADDED_TEXTS: [&str; 14] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<hook_prompt",
    "<image>",
    "<image name=",
    "</image>",
    "Another language model started to solve this problem",
];

/// The placeholder of an image.
const IMAGE: &str = "[image]";

/// A message in the order of the file.
#[derive(Debug)]
struct CodexMessage {
    is_user: bool,
    /// Whether it is an event, which is the text as it was shown, or an item of the model.
    is_event: bool,
    /// The text without images, which differ between events and items.
    text: String,
    /// Whether the text of an item is one element, as in texts that the program adds.
    is_element: bool,
}

impl CodexSessions {
    /// Opens Codex's folder, its folder `sessions`, or one session.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        SessionFiles::open(path).map(Self)
    }

    fn session(entry: &FolderEntry) -> Vec<SourceSessionItem> {
        let file = match open_entry(entry) {
            Ok(file) => file,
            Err(skipped) => return vec![skipped],
        };
        let (mut id, mut is_subagent, mut is_first) = (None, false, true);
        let (mut project, mut model) = (None, None);
        let mut messages: Vec<CodexMessage> = Vec::new();
        // The texts of events that the program added in the name of the person.
        let mut added = HashSet::new();
        let mut session = SessionBuilder::new(entry.path.clone(), note::stem(&entry.path), None);
        let mut use_line = |session: &mut SessionBuilder, line: RolloutLine| {
            let (is_bare, kind, at) = (line.payload.is_none(), line.kind, line.timestamp.time());
            let payload = line.payload.map_or_else(
                || RolloutPayload {
                    kind: kind.clone(),
                    id: line.id,
                    role: line.role,
                    content: line.content,
                    ..Default::default()
                },
                |payload| payload.0,
            );
            // A fork repeats the lines of its parent after its own first line.
            let is_meta = kind.text() == Some("session_meta") || is_bare && kind.text().is_none();
            if is_first && is_meta {
                id = payload.id.text().map(str::to_owned);
                is_subagent = payload.source.get("subagent").is_some();
            }
            is_first = false;
            if let Some(folder) = payload.cwd.text() {
                session.set_project(folder);
                project = project_name(folder).or(project.take());
            }
            model = payload.model.text().map(str::to_owned).or(model.take());
            if payload
                .message_kind
                .text()
                .is_some_and(|kind| kind != "plain")
            {
                added.extend(payload.message.text().map(text_key));
                return;
            }
            let Some((is_event, is_user, text)) =
                message_text(kind.text().filter(|_| !is_bare), &payload)
            else {
                return;
            };
            let model = model.as_deref().filter(|_| !is_user);
            let record = text_record(
                role(is_user),
                &text,
                at,
                &[("model", model), ("project", project.as_deref())],
            );
            if session.push(record) {
                messages.push(CodexMessage {
                    is_user,
                    is_event,
                    text: text_key(&text),
                    is_element: is_element(&text),
                });
            }
        };
        if has_extension(&entry.path, &["json"]) {
            for element in JsonElements::of_list(file) {
                match element.bytes.and_then(parse::<RolloutObject>) {
                    Ok(RolloutObject {
                        session: start,
                        items,
                    }) => {
                        session.set_updated_at(start.0.timestamp.time());
                        use_line(&mut session, start.0);
                        items
                            .0
                            .into_iter()
                            .for_each(|item| use_line(&mut session, item.0));
                    }
                    Err(reason) => session.skip(&format!("object {} {reason}", element.number)),
                }
            }
        } else {
            for_each_line(file, &mut session, &mut use_line);
        }
        if is_subagent {
            return vec![skipped_session(
                entry.path.clone(),
                "is the session of a sub-agent",
            )];
        }
        // The same message may occur as an event and as an item. Without an event, it may be a text that the program added.
        let has_event = items_with_event(&messages);
        let has_events_of_user = messages
            .iter()
            .any(|message| message.is_user && message.is_event);
        session.retain(&|position| {
            let message = &messages[position];
            let is_added = message.is_user
                && (added.contains(&message.text) || has_events_of_user && message.is_element);
            message.is_event || !has_event.contains(&position) && !is_added
        });
        session.set_id(id.as_deref());
        session.finish()
    }
}

/// Returns whether a file has the name of a session.
pub(crate) fn is_session_file(path: &str) -> bool {
    file_name(path).starts_with("rollout-") && has_extension(path, &["jsonl", "json"])
}

/// Returns the positions of the items that occur as an event as well, each with an event of its own.
///
/// The nearest event with the same text is that of an item.
fn items_with_event(messages: &[CodexMessage]) -> HashSet<usize> {
    let mut equal = HashMap::<_, Vec<usize>>::new();
    for (position, message) in messages.iter().enumerate() {
        equal
            .entry((message.is_user, message.text.as_str()))
            .or_default()
            .push(position);
    }
    let mut paired = HashSet::new();
    for positions in equal.values() {
        let mut neighbours: Vec<_> = positions
            .windows(2)
            .map(|pair| (pair[0], pair[1]))
            .collect();
        neighbours.sort_by_key(|(first, second)| second - first);
        for (first, second) in neighbours {
            let is_pair = messages[first].is_event != messages[second].is_event;
            if is_pair && !paired.contains(&first) && !paired.contains(&second) {
                paired.extend([first, second]);
            }
        }
        let rest = |is_event: bool| {
            positions
                .iter()
                .filter(move |position| messages[**position].is_event == is_event)
                .copied()
                .collect::<Vec<_>>()
        };
        let unpaired = |positions: Vec<usize>| {
            positions
                .into_iter()
                .filter(|position| !paired.contains(position))
        };
        let pairs: Vec<_> = unpaired(rest(true)).zip(unpaired(rest(false))).collect();
        paired.extend(pairs.into_iter().map(|(_, item)| item));
    }
    paired.retain(|position| !messages[*position].is_event);
    paired
}

/// Returns a text by which an event and an item are compared.
fn text_key(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .map(str::trim_end)
        .filter(|line| *line != IMAGE)
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Returns whether a text is one element such as `<name>text</name>`.
fn is_element(text: &str) -> bool {
    let text = text.trim();
    let name = text
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .map(|(name, _)| name);
    let name = name.and_then(|name| name.split_whitespace().next());
    name.is_some_and(|name| text.ends_with(&format!("</{name}>")))
}

/// Returns whether a line is an event, whether the person is its author, and its text.
fn message_text(envelope: Option<&str>, payload: &RolloutPayload) -> Option<(bool, bool, String)> {
    let kind = payload.kind.text()?;
    let found = match (envelope, kind) {
        (Some("event_msg"), "user_message" | "agent_message") => {
            let images = payload.images.0.len() + payload.local_images.0.len();
            let text = payload.message.text().unwrap_or_default().to_owned();
            let texts = std::iter::once(text).filter(|text| !text.is_empty());
            let texts: Vec<_> = texts.chain((0..images).map(|_| IMAGE.to_owned())).collect();
            (true, kind == "user_message", texts.join("\n"))
        }
        (Some("response_item") | None, "message") => {
            let is_user = match payload.role.text()? {
                "user" => true,
                "assistant" => false,
                _ => return None,
            };
            (
                false,
                is_user,
                content_text(&payload.content, &|part| part_text(part, is_user)),
            )
        }
        _ => return None,
    };
    (!found.2.trim().is_empty()).then_some(found)
}

fn part_text(part: &Value, is_user: bool) -> Option<String> {
    if part.get("type").and_then(Value::as_str) == Some("input_image") {
        return Some(IMAGE.into());
    }
    let text = part.get("text").and_then(Value::as_str)?;
    let is_added = is_user
        && ADDED_TEXTS
            .iter()
            .any(|added| text.trim_start().starts_with(added));
    (!is_added).then(|| text.to_owned())
}

impl Source for CodexSessions {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(std::iter::empty())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        let entries = self.0.entries(&["sessions", ""], &is_session_file);
        Box::new(unique_sessions(
            entries.into_iter().flat_map(|entry| Self::session(&entry)),
        ))
    }
}
