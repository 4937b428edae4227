//! Parses and edits chat requests as text, without reserializing them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use memory_core::conversation::{
    ConversationId, MAX_CONTENT, RecallResult, RecallRules, message_prefix,
};
use memory_core::json::JsonText;
use memory_core::{Code, LocalZone, ToolError, secret};

use super::json_ranges::{
    MemberRange, find, items, members, parse_lossy_string, parse_string, part_texts,
};

/// The request members that are read by the proxy and not forwarded.
const MEMORY_OPTIONS: [&str; 4] = [
    "memory_id",
    "memory_top_k",
    "memory_recency_weight",
    "memory_score_threshold",
];

/// Maximum number of memories per request.
const MAX_MEMORIES: usize = 1000;

/// A chat request: the original text, and the fields that the proxy needs.
#[derive(Debug)]
pub(super) struct CompletionRequest {
    text: String,
    /// The byte range of each member, and whether it belongs to the proxy.
    members: Vec<(Range<usize>, bool)>,
    pub conversation: ConversationId,
    pub rules: RecallRules,
    /// The requested model.
    pub model: Option<String>,
    /// Whether the response is to be streamed.
    pub is_stream: bool,
    /// The last user message, if there is one with text.
    pub latest: Option<LatestMessage>,
    /// The texts of all messages, which the model sees anyway.
    shown: HashSet<String>,
}

/// The last user message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LatestMessage {
    pub text: String,
    /// Whether no assistant message follows.
    ///
    /// Otherwise the request continues an exchange, and an earlier request stored the message.
    pub is_new: bool,
    content: MessageContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum MessageContent {
    /// A JSON string at this byte range, including the quotes.
    Text(Range<usize>),
    /// A list of parts; the first part starts at this offset.
    Parts(usize),
}

impl LatestMessage {
    /// Returns whether the text is short enough to be stored.
    pub(super) fn is_storable(&self) -> bool {
        self.text.len() <= MAX_CONTENT
    }
}

impl CompletionRequest {
    /// Parses a chat request; `rules` are the defaults for its memory options.
    ///
    /// Returns the text as the inner error if it is not a JSON object, so that the upstream server can report the
    /// problem.
    ///
    /// # Errors
    /// If a memory option of the request is invalid.
    pub(super) fn parse(
        text: String,
        rules: &RecallRules,
    ) -> Result<Result<Self, String>, ToolError> {
        let Some(own) = members(&text, 0..text.len()) else {
            return Ok(Err(text));
        };
        let (conversation, rules) = (
            parse_conversation(&text, &own)?,
            parse_rules(&text, &own, rules)?,
        );
        let model = find(&own, "model")
            .and_then(|place| parse_string(&text, place.clone()))
            .map(Cow::into_owned);
        let messages = find(&own, "messages")
            .and_then(|place| items(&text, place.clone()))
            .unwrap_or_default();
        let (latest, shown) = read_messages(&text, &messages);
        let members = own
            .iter()
            .map(|member| (member.begins..member.value.end, is_memory_option(member)))
            .collect();
        let is_stream = find(&own, "stream").is_some_and(|place| &text[place.clone()] == "true");
        Ok(Ok(Self {
            text,
            members,
            conversation,
            rules,
            model,
            is_stream,
            latest,
            shown,
        }))
    }

    /// Returns whether a message of the request already contains this text.
    pub(super) fn contains_text(&self, text: &str) -> bool {
        self.shown.contains(text)
    }

    /// Returns the request to forward.
    ///
    /// Memory options are removed, and the memories are inserted before the last user message. All other bytes are
    /// those of the original text.
    pub(super) fn with_memories(&self, recalled: &RecallResult, zone: &LocalZone) -> String {
        let injection = self.injection(recalled, zone);
        let mut out = String::with_capacity(
            self.text.len() + injection.as_ref().map_or(0, |(_, text)| text.len()),
        );
        let mut copy = |range: Range<usize>| match &injection {
            Some((place, new)) if range.start <= place.start && place.end <= range.end => {
                out.extend([
                    &self.text[range.start..place.start],
                    new,
                    &self.text[place.end..range.end],
                ]);
            }
            _ => out.push_str(&self.text[range]),
        };
        let first = self
            .members
            .first()
            .map_or(self.text.len(), |(range, _)| range.start);
        copy(0..first);
        let mut is_first = true;
        for (number, (range, is_ours)) in self.members.iter().enumerate() {
            if *is_ours {
                continue;
            }
            if !is_first {
                // The text between this member and the previous one: a comma, possibly with spaces.
                copy(self.members[number - 1].0.end..range.start);
            }
            is_first = false;
            copy(range.clone());
        }
        copy(
            self.members
                .last()
                .map_or(self.text.len(), |(range, _)| range.end)..self.text.len(),
        );
        out
    }

    /// Returns the byte range to replace and its new text.
    fn injection(
        &self,
        recalled: &RecallResult,
        zone: &LocalZone,
    ) -> Option<(Range<usize>, String)> {
        let latest = self.latest.as_ref()?;
        let introduction = message_prefix(recalled, zone);
        if introduction.is_empty() {
            return None;
        }
        Some(match &latest.content {
            MessageContent::Text(place) => {
                let text = JsonText::string(&format!("{introduction}\n")).into_string();
                // Inserts at the start of the string, so that the original text keeps its spelling.
                let at = place.start + 1;
                (at..at, text[1..text.len() - 1].to_owned())
            }
            MessageContent::Parts(at) => {
                let text = JsonText::string(&introduction);
                (*at..*at, format!(r#"{{"type":"text","text":{text}}},"#))
            }
        })
    }
}

fn is_memory_option(member: &MemberRange) -> bool {
    MEMORY_OPTIONS.iter().any(|own| member.key == *own)
}

fn parse_conversation(text: &str, own: &[MemberRange]) -> Result<ConversationId, ToolError> {
    let Some(place) = find(own, MEMORY_OPTIONS[0])
        .filter(|place| !matches!(&text[(*place).clone()], "null" | "\"\""))
    else {
        return Ok(ConversationId::default_conversation());
    };
    let id = parse_string(text, place.clone())
        .ok_or_else(|| option_error(MEMORY_OPTIONS[0], "it is not a string"))?;
    let id: ConversationId = id.parse().map_err(|_| {
        option_error(
            MEMORY_OPTIONS[0],
            "it is not a single line of at most 512 bytes",
        )
    })?;
    match secret::reject_secrets([id.as_str()]) {
        Ok(()) => Ok(id),
        Err(error) => Err(ToolError {
            code: error.code(),
            ..option_error(MEMORY_OPTIONS[0], &error.to_string())
        }),
    }
}

fn parse_rules(
    text: &str,
    own: &[MemberRange],
    rules: &RecallRules,
) -> Result<RecallRules, ToolError> {
    let said = |key| {
        find(own, key)
            .map(|place| &text[place.clone()])
            .filter(|said| *said != "null")
    };
    let share = |key, usual: f32| match said(key) {
        None => Ok(usual),
        Some(said) => {
            let share = said
                .parse::<f32>()
                .ok()
                .filter(|share| (0.0..=1.0).contains(share));
            share.ok_or_else(|| option_error(key, "it is not a number from 0 to 1"))
        }
    };
    let top_k = match said(MEMORY_OPTIONS[1]) {
        None => rules.top_k,
        Some(said) => said
            .parse()
            .map_err(|_| option_error(MEMORY_OPTIONS[1], "it is not an integer of at least 0"))?,
    };
    Ok(RecallRules {
        top_k: top_k.min(MAX_MEMORIES),
        recency_weight: share(MEMORY_OPTIONS[2], rules.recency_weight)?,
        score_threshold: share(MEMORY_OPTIONS[3], rules.score_threshold)?,
        ..*rules
    })
}

/// Returns the error for an invalid memory option, including the fields of an OpenAI error.
fn option_error(key: &str, why: &str) -> ToolError {
    let hint = Some(format!("correct {key} or omit it"));
    let about = vec![
        ("type", "invalid_request_error".to_owned()),
        ("param", key.to_owned()),
    ];
    ToolError {
        about,
        ..ToolError::new(
            Code::InvalidInput,
            format!("{key} cannot be used: {why}"),
            hint,
        )
    }
}

/// Returns the last user message, and the texts of all messages.
fn read_messages(
    text: &str,
    messages: &[Range<usize>],
) -> (Option<LatestMessage>, HashSet<String>) {
    let (mut latest, mut is_new, mut is_found, mut is_prefill) = (None, true, false, true);
    let mut shown = HashSet::new();
    for message in messages.iter().rev() {
        let Some(own) = members(text, message.clone()) else {
            continue;
        };
        let role = find(&own, "role")
            .and_then(|place| parse_string(text, place.clone()))
            .unwrap_or_default();
        let content = find(&own, "content").and_then(|place| message_text(text, place));
        // Assistant messages at the end are a prefill of the requested response.
        is_prefill &= role == "assistant" && !has_tool_calls(text, &own);
        is_new &= is_found || is_prefill || role != "assistant";
        if let Some((words, place)) = content.filter(|(words, _)| !words.trim().is_empty()) {
            if role == "user" && !is_found {
                latest = Some(LatestMessage {
                    text: words.clone(),
                    is_new,
                    content: place,
                });
            }
            shown.insert(words.trim().to_owned());
        }
        is_found |= role == "user";
    }
    (latest, shown)
}

/// Returns whether an assistant message calls tools.
fn has_tool_calls(text: &str, own: &[MemberRange]) -> bool {
    ["tool_calls", "function_call"]
        .iter()
        .filter_map(|key| find(own, key))
        .any(|place| {
            let calls = &text[place.clone()];
            calls != "null" && items(text, place.clone()).is_none_or(|calls| !calls.is_empty())
        })
}

/// Returns the text of a message and its position.
fn message_text(text: &str, place: &Range<usize>) -> Option<(String, MessageContent)> {
    if let Some(words) = parse_lossy_string(text, place.clone()) {
        return Some((words.into_owned(), MessageContent::Text(place.clone())));
    }
    let first = items(text, place.clone())?.first()?.start;
    Some((
        part_texts(text, place.clone())?.join("\n"),
        MessageContent::Parts(first),
    ))
}

#[cfg(test)]
mod tests;
