//! A conversation of Claude.ai: a list of messages, of which those on the newest branch are read.

use std::collections::{HashMap, HashSet};

use memory_core::SourceSessionItem;
use memory_core::instance::history::RecordRole;
use serde::Deserialize;
use serde_json::Value;

use crate::lenient::{LenientList, LenientObject, Scalar};
use crate::page_links::page_links;
use crate::session_builder::{SessionBuilder, text_record, tool_calls};

/// The parent of the first message.
const NO_PARENT: &str = "00000000-0000-4000-8000-000000000000";

/// A conversation.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
pub(super) struct ClaudeConversation {
    uuid: Scalar,
    name: Scalar,
    summary: Scalar,
    updated_at: Scalar,
    current_leaf_message_uuid: Scalar,
    chat_messages: LenientList<LenientObject<ClaudeMessage>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct ClaudeMessage {
    uuid: Scalar,
    sender: Scalar,
    text: Scalar,
    content: LenientList<Value>,
    created_at: Scalar,
    parent_message_uuid: Scalar,
    model: Scalar,
    attachments: LenientList<LenientObject<AttachedFile>>,
    files: LenientList<LenientObject<AttachedFile>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct AttachedFile {
    file_name: Scalar,
    extracted_content: Scalar,
}

/// Returns the conversation as a session, or the reason why it is left out. `path` is its position for reports.
pub(super) fn to_session(conversation: ClaudeConversation, path: &str) -> Vec<SourceSessionItem> {
    let messages: Vec<_> = conversation
        .chat_messages
        .0
        .into_iter()
        .map(|message| message.0)
        .collect();
    let first = || messages.iter().find_map(|message| message.uuid.text());
    let own_id = conversation.uuid.text();
    let path = own_id.map_or_else(|| path.to_owned(), |id| format!("conversations/{id}"));
    // A conversation without an id is identified by its first message.
    let id = own_id.or_else(first).unwrap_or_default();
    let mut session = SessionBuilder::new(path, id, conversation.name.text());
    session.set_updated_at(conversation.updated_at.time());
    // The first message has the metadata of the conversation.
    let mut summary = conversation.summary.text();
    for message in newest_branch(&messages, conversation.current_leaf_message_uuid.text()) {
        if add_message(&mut session, message, summary) {
            summary = None;
        }
    }
    session.finish()
}

/// Returns the messages from the first to `leaf`, or to the newest one, without those that a regeneration or an edit
/// replaced.
///
/// Without complete links between the messages all are returned in the order of the list.
fn newest_branch<'a>(messages: &'a [ClaudeMessage], leaf: Option<&str>) -> Vec<&'a ClaudeMessage> {
    let positions: HashMap<_, _> = messages
        .iter()
        .enumerate()
        .filter_map(|(index, message)| Some((message.uuid.text()?, index)))
        .collect();
    let parent_of = |message: &'a ClaudeMessage| {
        message
            .parent_message_uuid
            .text()
            .filter(|parent| *parent != NO_PARENT)
    };
    let all = || messages.iter().collect();
    if !messages
        .iter()
        .any(|message| parent_of(message).is_some_and(|parent| positions.contains_key(parent)))
    {
        return all();
    }
    let newest =
        || (0..messages.len()).max_by_key(|index| (messages[*index].created_at.time(), *index));
    let mut next = leaf
        .and_then(|leaf| positions.get(leaf).copied())
        .or_else(newest);
    let (mut branch, mut seen) = (Vec::new(), HashSet::new());
    while let Some(index) = next {
        branch.push(&messages[index]);
        let parent = parent_of(&messages[index]);
        next = parent.and_then(|parent| positions.get(parent).copied());
        let is_broken = parent.is_some() && next.is_none();
        if is_broken || !seen.insert(index) {
            return all();
        }
    }
    branch.reverse();
    branch
}

/// Adds a message with the summary of the conversation, if there is one; returns whether the message was added.
fn add_message(
    session: &mut SessionBuilder,
    message: &ClaudeMessage,
    summary: Option<&str>,
) -> bool {
    let sender = message
        .sender
        .text()
        .map(|sender| if sender == "human" { "user" } else { sender }.parse::<RecordRole>());
    let Some(Ok(role)) = sender else {
        session.skip("a message has no sender");
        return false;
    };
    let meta = [
        ("message_id", message.uuid.text()),
        ("model", message.model.text()),
        ("summary", summary),
    ];
    let text = message_text(message);
    let calls: Vec<_> = message.content.0.iter().filter_map(tool_use).collect();
    let mut record = text_record(role, &text, message.created_at.time(), &meta);
    record.tool_calls = tool_calls(
        calls
            .iter()
            .map(|(id, name, input)| (*id, *name, input.as_str())),
    );
    if text.trim().is_empty() {
        record.content = None;
    }
    (record.content.is_some() || record.tool_calls.is_some()) && session.push(record)
}

/// Returns the text of a message with the texts of its attachments, and placeholders that name its files.
fn message_text(message: &ClaudeMessage) -> String {
    let blocks = &message.content.0;
    let mut texts: Vec<String> = Vec::new();
    // Citations split a text into adjacent blocks, also within a sentence.
    for run in blocks.split(|block| !is_text(block)) {
        let text: String = run.iter().filter_map(block_text).collect();
        texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    if blocks.is_empty() {
        texts.extend(message.text.text().map(str::to_owned));
    }
    let mut names = HashSet::new();
    for LenientObject(attachment) in &message.attachments.0 {
        let name = attachment.file_name.text().unwrap_or_default();
        names.insert(name);
        let label = if name.is_empty() {
            "[attachment]".to_owned()
        } else {
            format!("[attachment: {name}]")
        };
        texts.push(match attachment.extracted_content.text() {
            Some(content) => format!("{label}\n{content}"),
            None => label,
        });
    }
    for name in message
        .files
        .0
        .iter()
        .filter_map(|file| file.0.file_name.text())
    {
        if names.insert(name) {
            texts.push(format!("[file: {name}]"));
        }
    }
    texts.join("\n")
}

/// Returns whether a block is neither reasoning nor of a tool.
fn is_text(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
    !matches!(
        kind,
        "thinking" | "redacted_thinking" | "tool_use" | "tool_result"
    )
}

/// Returns the text of a block with links to the pages that it cites.
fn block_text(block: &Value) -> Option<String> {
    let text = block.get("text").and_then(Value::as_str)?;
    let citations = block
        .get("citations")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let Some(links) = page_links(citations.filter_map(cited_page)) else {
        return Some(text.to_owned());
    };
    let (text, space) = text.split_at(text.trim_end().len());
    Some(format!("{text} {links}{space}"))
}

/// Returns the title and the address of a cited page.
fn cited_page(citation: &Value) -> Option<(Option<&str>, &str)> {
    let address = citation
        .get("url")
        .or_else(|| citation.get("details")?.get("url"))?;
    Some((
        citation.get("title").and_then(Value::as_str),
        address.as_str()?,
    ))
}

/// Returns the id, the tool and the arguments of a call.
fn tool_use(block: &Value) -> Option<(&str, &str, String)> {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let is_call = text("type") == Some("tool_use");
    let input = block.get("input").map(Value::to_string).unwrap_or_default();
    text("name")
        .filter(|_| is_call)
        .map(|name| (text("id").unwrap_or_default(), name, input))
}
