//! What an application asks a language model, read and changed as text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use memory_core::conversation::{ConversationId, MAX_CONTENT, RecallRules, Recalled, introduction};
use memory_core::json::JsonText;
use memory_core::{Code, ToolError, secret};

use super::parts::{Member, find, items, members, readable, string, texts};

/// What the application says to us, and not to the model.
const OURS: [&str; 4] = ["memory_id", "memory_top_k", "memory_recency_weight", "memory_score_threshold"];

/// More memories than this are given to nobody.
const MOST: usize = 1000;

/// What an application asks: the text it sent, and what was read of it.
#[derive(Debug)]
pub(super) struct Asked {
    text: String,
    /// Where each member of it stands, and whether it is ours.
    members: Vec<(Range<usize>, bool)>,
    pub conversation: ConversationId,
    pub rules: RecallRules,
    /// Which model is asked.
    pub model: Option<String>,
    /// Whether the answer is to come in pieces.
    pub is_stream: bool,
    /// What the person said last, if it says anything.
    pub latest: Option<Latest>,
    /// What the model is shown anyway.
    shown: HashSet<String>,
}

/// What the person said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Latest {
    pub text: String,
    /// Whether the model has not answered it yet: what it was asked before, on the way to its answer, was kept then.
    pub is_new: bool,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// A text stands here, in its quotes.
    Text(Range<usize>),
    /// A list of parts; the first one begins here.
    Parts(usize),
}

impl Latest {
    /// Tells whether it is short enough to be kept.
    pub(super) fn can_be_kept(&self) -> bool {
        self.text.len() <= MAX_CONTENT
    }
}

impl Asked {
    /// Reads what was asked; `rules` hold where it says nothing else. Gives the text back if it is nothing that is ours to read: whoever
    /// is behind us tells what is wrong with it.
    ///
    /// # Errors
    /// When what it says to us is nothing that we know.
    pub(super) fn read(text: String, rules: &RecallRules) -> Result<Result<Self, String>, ToolError> {
        let Some(own) = members(&text, 0..text.len()) else { return Ok(Err(text)) };
        let (conversation, rules) = (conversation(&text, &own)?, with_wishes(&text, &own, rules)?);
        let model = find(&own, "model").and_then(|place| string(&text, place.clone())).map(Cow::into_owned);
        let messages = find(&own, "messages").and_then(|place| items(&text, place.clone())).unwrap_or_default();
        let (latest, shown) = said(&text, &messages);
        let members = own.iter().map(|member| (member.begins..member.value.end, is_ours(member))).collect();
        let is_stream = find(&own, "stream").is_some_and(|place| &text[place.clone()] == "true");
        Ok(Ok(Self { text, members, conversation, rules, model, is_stream, latest, shown }))
    }

    /// Tells whether the model is shown this text anyway.
    pub(super) fn shows(&self, text: &str) -> bool {
        self.shown.contains(text)
    }

    /// Returns what the model is asked: without what was said to us, and with what was remembered before what the person said last. All
    /// else is what was sent, byte for byte.
    pub(super) fn forwarded(&self, recalled: &Recalled) -> String {
        let injection = self.injection(recalled);
        let mut out = String::with_capacity(self.text.len() + injection.as_ref().map_or(0, |(_, text)| text.len()));
        let mut copy = |range: Range<usize>| match &injection {
            Some((place, new)) if range.start <= place.start && place.end <= range.end => {
                out.extend([&self.text[range.start..place.start], new, &self.text[place.end..range.end]]);
            }
            _ => out.push_str(&self.text[range]),
        };
        let first = self.members.first().map_or(self.text.len(), |(range, _)| range.start);
        copy(0..first);
        let mut is_first = true;
        for (number, (range, is_ours)) in self.members.iter().enumerate() {
            if *is_ours {
                continue;
            }
            if !is_first {
                // What stands between it and the one before: a comma, and perhaps spaces.
                copy(self.members[number - 1].0.end..range.start);
            }
            is_first = false;
            copy(range.clone());
        }
        copy(self.members.last().map_or(self.text.len(), |(range, _)| range.end)..self.text.len());
        out
    }

    /// Returns what takes the place of what.
    fn injection(&self, recalled: &Recalled) -> Option<(Range<usize>, String)> {
        let latest = self.latest.as_ref()?;
        let introduction = introduction(recalled);
        if introduction.is_empty() {
            return None;
        }
        Some(match &latest.content {
            Content::Text(place) => {
                let text = JsonText::string(&format!("{introduction}\n")).into_string();
                // What was sent stays as it was spelled.
                let at = place.start + 1;
                (at..at, text[1..text.len() - 1].to_owned())
            }
            Content::Parts(at) => {
                let text = JsonText::string(&introduction);
                (*at..*at, format!(r#"{{"type":"text","text":{text}}},"#))
            }
        })
    }
}

fn is_ours(member: &Member) -> bool {
    OURS.iter().any(|own| member.key == *own)
}

fn conversation(text: &str, own: &[Member]) -> Result<ConversationId, ToolError> {
    let Some(place) = find(own, OURS[0]).filter(|place| !matches!(&text[(*place).clone()], "null" | "\"\"")) else {
        return Ok(ConversationId::unnamed());
    };
    let id = string(text, place.clone()).ok_or_else(|| refused(OURS[0], "it is no text"))?;
    let id: ConversationId = id.parse().map_err(|_| refused(OURS[0], "it is no line of up to 512 bytes"))?;
    match secret::refuse([id.as_str()]) {
        Ok(()) => Ok(id),
        Err(error) => Err(ToolError { code: error.code(), ..refused(OURS[0], &error.to_string()) }),
    }
}

fn with_wishes(text: &str, own: &[Member], rules: &RecallRules) -> Result<RecallRules, ToolError> {
    let said = |key| find(own, key).map(|place| &text[place.clone()]).filter(|said| *said != "null");
    let share = |key, usual: f32| match said(key) {
        None => Ok(usual),
        Some(said) => {
            let share = said.parse::<f32>().ok().filter(|share| (0.0..=1.0).contains(share));
            share.ok_or_else(|| refused(key, "it is no number from 0 to 1"))
        }
    };
    let top_k = match said(OURS[1]) {
        None => rules.top_k,
        Some(said) => said.parse().map_err(|_| refused(OURS[1], "it is no whole number from 0 on"))?,
    };
    Ok(RecallRules {
        top_k: top_k.min(MOST),
        recency_weight: share(OURS[2], rules.recency_weight)?,
        score_threshold: share(OURS[3], rules.score_threshold)?,
        ..*rules
    })
}

/// Says what is wrong with something that was said to us, also in the words of the protocol.
fn refused(key: &str, why: &str) -> ToolError {
    let hint = Some(format!("leave {key} out, or correct it"));
    let about = vec![("type", "invalid_request_error".to_owned()), ("param", key.to_owned())];
    ToolError { about, ..ToolError::new(Code::InvalidInput, format!("{key} cannot be used: {why}"), hint) }
}

/// Returns what the person said last, and the texts of all messages.
fn said(text: &str, messages: &[Range<usize>]) -> (Option<Latest>, HashSet<String>) {
    let (mut latest, mut is_new, mut is_found, mut is_prefill) = (None, true, false, true);
    let mut shown = HashSet::new();
    for message in messages.iter().rev() {
        let Some(own) = members(text, message.clone()) else { continue };
        let role = find(&own, "role").and_then(|place| string(text, place.clone())).unwrap_or_default();
        let content = find(&own, "content").and_then(|place| content(text, place));
        // Words at the end are the beginning of the answer that is asked for.
        is_prefill &= role == "assistant" && !calls(text, &own);
        is_new &= is_found || is_prefill || role != "assistant";
        if let Some((words, place)) = content.filter(|(words, _)| !words.trim().is_empty()) {
            if role == "user" && !is_found {
                latest = Some(Latest { text: words.clone(), is_new, content: place });
            }
            shown.insert(words.trim().to_owned());
        }
        is_found |= role == "user";
    }
    (latest, shown)
}

/// Tells whether a message of the model calls tools.
fn calls(text: &str, own: &[Member]) -> bool {
    ["tool_calls", "function_call"].iter().filter_map(|key| find(own, key)).any(|place| {
        let calls = &text[place.clone()];
        calls != "null" && items(text, place.clone()).is_none_or(|calls| !calls.is_empty())
    })
}

/// Returns the words of a message.
fn content(text: &str, place: &Range<usize>) -> Option<(String, Content)> {
    if let Some(words) = readable(text, place.clone()) {
        return Some((words.into_owned(), Content::Text(place.clone())));
    }
    let first = items(text, place.clone())?.first()?.start;
    Some((texts(text, place.clone())?.join("\n"), Content::Parts(first)))
}

#[cfg(test)]
mod tests;
