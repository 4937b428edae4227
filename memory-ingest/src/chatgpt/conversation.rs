//! A conversation of ChatGPT: a tree of messages, of which the branch that the person sees last is read.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::SourceSessionItem;
use memory_core::instance::history::RecordRole;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::lenient::{LenientList, LenientObject, Scalar};
use crate::page_links::page_links;
use crate::session_builder::{SessionBuilder, skipped_session, text_record, tool_calls};

/// A conversation.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
pub(super) struct ChatGptConversation {
    id: Scalar,
    conversation_id: Scalar,
    title: Scalar,
    current_node: Scalar,
    create_time: Scalar,
    update_time: Scalar,
    is_archived: Scalar,
    is_starred: Scalar,
    default_model_slug: Scalar,
    is_do_not_remember: Scalar,
    mapping: LenientObject<HashMap<String, LenientObject<TreeNode>>>,
}

/// A node of the tree. The root and other nodes have no message.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct TreeNode {
    parent: Scalar,
    message: Option<LenientObject<Box<ChatGptMessage>>>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct ChatGptMessage {
    id: Scalar,
    author: LenientObject<MessageAuthor>,
    create_time: Scalar,
    content: Value,
    metadata: LenientObject<MessageMetadata>,
    recipient: Scalar,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct MessageAuthor {
    role: Scalar,
    name: Scalar,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct MessageMetadata {
    is_visually_hidden_from_conversation: Scalar,
    model_slug: Scalar,
    attachments: LenientList<LenientObject<UploadedFile>>,
    content_references: LenientList<Value>,
    citations: LenientList<Value>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct UploadedFile {
    id: Scalar,
    name: Scalar,
}

/// Returns the conversation as a session, or the reason why it is left out. `path` is its position for reports.
pub(super) fn to_session(conversation: &ChatGptConversation, path: &str) -> Vec<SourceSessionItem> {
    let id = conversation
        .conversation_id
        .text()
        .or(conversation.id.text());
    let path = id.map_or_else(|| path.to_owned(), |id| format!("conversations/{id}"));
    if conversation.is_do_not_remember.is_true() {
        return vec![skipped_session(path, "is marked as not to be remembered")];
    }
    let branch = current_branch(conversation);
    // An export without ids is identified by its first message.
    let first = || branch.iter().find_map(|(_, message)| message.id.text());
    let id = id.or_else(first).unwrap_or_default();
    let mut session = SessionBuilder::new(path, id, conversation.title.text());
    session.set_updated_at(
        conversation
            .update_time
            .time()
            .or_else(|| newest_message(conversation)),
    );
    let created_at = conversation
        .create_time
        .time()
        .map(|at| at.to_rfc3339_opts(SecondsFormat::AutoSi, true));
    // The first message has the metadata of the conversation.
    let mut first_meta = vec![
        ("conversation_created_at", created_at.as_deref()),
        (
            "archived",
            conversation.is_archived.is_true().then_some("true"),
        ),
        (
            "starred",
            conversation.is_starred.is_true().then_some("true"),
        ),
        ("default_model", conversation.default_model_slug.text()),
    ];
    let mut last_call = None;
    for (node, message) in branch {
        if add_message(&mut session, node, message, &first_meta, &mut last_call) {
            first_meta.clear();
        }
    }
    session.finish()
}

/// Returns the messages from the root to the current node, with the ids of their nodes.
fn current_branch(conversation: &ChatGptConversation) -> Vec<(&str, &ChatGptMessage)> {
    let nodes = &conversation.mapping.0;
    let current = conversation
        .current_node
        .text()
        .and_then(|id| nodes.get_key_value(id));
    let mut next = current.or_else(|| newest_leaf(nodes));
    let (mut branch, mut seen) = (Vec::new(), HashSet::new());
    while let Some((id, LenientObject(node))) = next.filter(|(id, _)| seen.insert(*id)) {
        if let Some(LenientObject(message)) = &node.message {
            branch.push((id.as_str(), &**message));
        }
        next = node
            .parent
            .text()
            .and_then(|parent| nodes.get_key_value(parent));
    }
    branch.reverse();
    branch
}

/// Returns the time of the newest message of all branches.
fn newest_message(conversation: &ChatGptConversation) -> Option<DateTime<Utc>> {
    let messages = conversation
        .mapping
        .0
        .values()
        .filter_map(|node| node.0.message.as_ref());
    messages
        .filter_map(|message| message.0.create_time.time())
        .max()
}

/// Returns the node with the newest message among those without children.
fn newest_leaf(
    nodes: &HashMap<String, LenientObject<TreeNode>>,
) -> Option<(&String, &LenientObject<TreeNode>)> {
    let parents: HashSet<_> = nodes
        .values()
        .filter_map(|node| node.0.parent.text())
        .collect();
    let leaves = nodes
        .iter()
        .filter(|(id, _)| !parents.contains(id.as_str()));
    let time = |node: &TreeNode| {
        node.message
            .as_ref()
            .and_then(|message| message.0.create_time.time())
    };
    leaves.max_by_key(|(id, node)| (time(&node.0), *id))
}

/// Adds a message to the session, unless it is hidden or has no text; returns whether it was added.
///
/// `more_meta` is metadata beside that of the message. `last_call` is the id of the message with the call to which outputs of
/// tools belong.
fn add_message(
    session: &mut SessionBuilder,
    node: &str,
    message: &ChatGptMessage,
    more_meta: &[(&str, Option<&str>)],
    last_call: &mut Option<String>,
) -> bool {
    if message
        .metadata
        .0
        .is_visually_hidden_from_conversation
        .is_true()
    {
        return false;
    }
    let text = match message_text(message) {
        Ok(text) if text.trim().is_empty() => return false,
        Ok(text) => text,
        Err(reason) => {
            session.skip(&reason);
            return false;
        }
    };
    let Some(Ok(role)) = message.author.0.role.text().map(str::parse::<RecordRole>) else {
        session.skip("a message has no role");
        return false;
    };
    let id = message.id.text().unwrap_or(node);
    let own_meta = [
        ("message_id", Some(id)),
        ("model", message.metadata.0.model_slug.text()),
    ];
    let meta = [own_meta.as_slice(), more_meta].concat();
    let mut record = text_record(role, &text, message.create_time.time(), &meta);
    match record.role.as_str() {
        "assistant" => {
            *last_call = None;
            if let Some(tool) = message
                .recipient
                .text()
                .filter(|recipient| *recipient != "all")
            {
                *last_call = Some(id.to_owned());
                record.tool_calls = tool_calls([(id, tool, text.as_str())]);
                record.content = None;
            }
        }
        "tool" => {
            record.name = message.author.0.name.text().map(str::to_owned);
            record.tool_call_id.clone_from(last_call);
        }
        _ => *last_call = None,
    }
    session.push(record)
}

/// Returns the text of a message, which is empty if it is not part of the conversation, or the reason of a failure.
fn message_text(message: &ChatGptMessage) -> Result<String, String> {
    let content = &message.content;
    let text_at = |key: &str| {
        content
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let parts = || {
        content
            .get("parts")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let attachments = &message.metadata.0.attachments.0;
    let mut texts: Vec<String> = parts()
        .iter()
        .filter_map(|part| part_text(part, attachments))
        .collect();
    let kind = content
        .get("content_type")
        .and_then(Value::as_str)
        .unwrap_or("text");
    match kind {
        // Reasoning, and instructions that the person does not see in the conversation.
        "thoughts" | "reasoning_recap" | "user_editable_context" | "model_editable_context" => {
            return Ok(String::new());
        }
        "text" | "multimodal_text" => {}
        "tether_quote" => {
            let source: Vec<_> = ["title", "url"].into_iter().filter_map(text_at).collect();
            let quote = (!source.is_empty()).then(|| format!("[quote: {}]", source.join(", ")));
            texts.extend(quote.into_iter().chain(text_at("text").map(str::to_owned)));
        }
        "system_error" => texts.extend(
            ["name", "text"]
                .into_iter()
                .filter_map(text_at)
                .map(str::to_owned),
        ),
        _ => {
            texts.extend(
                ["text", "result", "summary"]
                    .into_iter()
                    .find_map(text_at)
                    .map(str::to_owned),
            );
            let is_known = matches!(
                kind,
                "code" | "execution_output" | "tether_browsing_display"
            );
            if texts.is_empty() && !is_known {
                return Err(format!(
                    "a message has content of the unknown type {kind:?}"
                ));
            }
        }
    }
    let assets: Vec<_> = parts()
        .iter()
        .filter_map(|part| part.get("asset_pointer").and_then(Value::as_str))
        .collect();
    for LenientObject(file) in attachments {
        let is_shown = file
            .id
            .text()
            .is_some_and(|id| assets.iter().any(|asset| asset.ends_with(id)));
        if let Some(name) = file.name.text().or(file.id.text()).filter(|_| !is_shown) {
            texts.push(format!("[file: {name}]"));
        }
    }
    Ok(with_citations(texts.join("\n"), &message.metadata.0))
}

/// Returns a text with links to the cited pages in place of the marks of citations, such as `citeturn0search0`.
fn with_citations(mut text: String, metadata: &MessageMetadata) -> String {
    // An older citation has the position of its mark, in characters. The last one comes first, so that positions remain valid.
    let position = |citation: &Value, key: &str| {
        citation
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|at| usize::try_from(at).ok())
    };
    let mut citations: Vec<_> = metadata
        .citations
        .0
        .iter()
        .filter_map(|own| {
            Some((
                position(own, "start_ix")?,
                position(own, "end_ix")?,
                page_links([page(own.get("metadata")?)?])?,
            ))
        })
        .collect();
    citations.sort_by(|left, right| right.cmp(left));
    for (start, end, links) in citations {
        let byte = |at: usize| {
            text.char_indices()
                .map(|(byte, _)| byte)
                .chain([text.len()])
                .nth(at)
        };
        let (Some(first), Some(last)) = (byte(start), byte(end)) else {
            continue;
        };
        if first < last && text[first..last].starts_with(CITATION_MARKS) {
            text.replace_range(first..last, &links);
        }
    }
    for reference in &metadata.content_references.0 {
        let mark = reference
            .get("matched_text")
            .and_then(Value::as_str)
            .filter(|mark| !mark.trim().is_empty());
        let Some((mark, links)) =
            mark.and_then(|mark| Some((mark, page_links(cited_pages(reference))?)))
        else {
            continue;
        };
        text = text.replacen(mark, &links, 1);
    }
    without_marks(&text)
}

/// The characters that begin the mark of a citation.
const CITATION_MARKS: [char; 2] = ['【', MARK_START];

/// The first, the last and the separating character of the marks that the program replaces when it shows a text.
const MARK_START: char = '\u{e200}';
const MARK_END: char = '\u{e201}';
const MARK_SEPARATOR: char = '\u{e202}';

/// Returns a text without the marks that no reference explains. A name or title in a mark remains.
fn without_marks(text: &str) -> String {
    static MARK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"( ?)\x{e200}([^\x{e200}\x{e201}\n]*)\x{e201}").expect("the pattern is right")
    });
    static REST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\x{e200}[a-z_]*|[\x{e201}\x{e202}](?:turn\d+[a-z_]+\d+)?")
            .expect("the pattern is right")
    });
    if !text.contains([MARK_START, MARK_END, MARK_SEPARATOR]) {
        return text.to_owned();
    }
    let text = MARK.replace_all(text, |mark: &Captures<'_>| match mark_text(&mark[2]) {
        shown if shown.is_empty() => String::new(),
        shown => format!("{}{shown}", &mark[1]),
    });
    // A mark may be cut off.
    REST.replace_all(&text, "").into_owned()
}

/// Returns the text that a mark shows: the name of an entity or the title of a list, without the kind of the mark and ids.
fn mark_text(mark: &str) -> String {
    static ID: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^(turn\d+[a-z_]+\d+[, ]*)*$|^L\d+(-L?\d+)?$|^\{")
            .expect("the pattern is right")
    });
    let parts = mark
        .split(MARK_SEPARATOR)
        .skip(1)
        .filter(|part| !ID.is_match(part));
    let shown = parts.map(|part| match serde_json::from_str(part) {
        Ok(Value::Array(items)) => items
            .get(1)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        _ => part.to_owned(),
    });
    shown
        .filter(|part| !part.trim().is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the pages of a reference, with their titles.
fn cited_pages(reference: &Value) -> Vec<(Option<&str>, &str)> {
    let items = |key: &str| {
        reference
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let mut pages: Vec<_> = page(reference).into_iter().collect();
    for item in items("items") {
        pages.extend(page(item));
        pages.extend(
            item.get("supporting_websites")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(page),
        );
    }
    if pages.is_empty() {
        pages.extend(items("safe_urls").filter_map(|address| Some((None, address.as_str()?))));
    }
    pages
}

/// Returns the title and the address of a page.
fn page(value: &Value) -> Option<(Option<&str>, &str)> {
    Some((
        value.get("title").and_then(Value::as_str),
        value.get("url")?.as_str()?,
    ))
}

/// Returns the text of a part, or a placeholder with the name of the file, or its id if it is not among the attachments.
fn part_text(part: &Value, attachments: &[LenientObject<UploadedFile>]) -> Option<String> {
    if let Some(text) = part.as_str() {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    let kind = part.get("content_type").and_then(Value::as_str)?;
    let asset = |part: &Value| {
        part.get("asset_pointer")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let nested = || {
        ["audio_asset_pointer", "video_container_asset_pointer"]
            .iter()
            .find_map(|key| asset(part.get(key)?))
    };
    let name = asset(part).or_else(nested).unwrap_or_default();
    let id = name.rsplit("://").next().unwrap_or_default();
    let mut uploaded = attachments
        .iter()
        .filter(|file| file.0.id.text().is_some_and(|own| id.ends_with(own)));
    let name = uploaded.find_map(|file| file.0.name.text()).unwrap_or(id);
    let label = match kind {
        kind if kind.contains("image") => "image",
        kind if kind.contains("audio") => "audio",
        kind if kind.contains("video") => "video",
        _ => "file",
    };
    Some(if name.is_empty() {
        format!("[{label}]")
    } else {
        format!("[{label}: {name}]")
    })
}
