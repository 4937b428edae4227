//! Extracts the text of a model response, from a complete body or from a stream.

use std::borrow::Cow;
use std::fmt;

use memory_core::conversation::RecallResult;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::event_stream::EventStreamParser;
use super::json_ranges::{find, items, members, parse_lossy_string, part_texts};
use crate::exact_json::replace_lone_surrogates;
use crate::json;

/// The response member with the standing texts and the recalled memories.
const HITS_KEY: &str = "memory_hits";

/// Maximum length of a stored response, in bytes.
const MAX_REPLY: usize = 1 << 20;

/// The outcome of a model response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplyOutcome {
    /// The model completed its response with this text, which is empty if it called tools.
    Said(String),
    /// The response is complete, but its text cannot be stored, for this reason.
    Unheard(&'static str),
    /// The response is incomplete or an error.
    Failed,
}

pub(super) const TOO_LONG: &str = "it is longer than 1 MiB";
const UNREADABLE: &str = "a part of it cannot be parsed";
const UNFINISHED: &str = "it ended without a finish reason";

/// Returns the outcome of a complete response body.
pub(super) fn parse_reply(answer: &str) -> ReplyOutcome {
    let Some(own) = members(answer, 0..answer.len()) else {
        return ReplyOutcome::Unheard("it is not a JSON object");
    };
    let words = || {
        let first = items(answer, find(&own, "choices")?.clone())?
            .into_iter()
            .next()?;
        let choice = members(answer, first)?;
        let message = members(answer, find(&choice, "message")?.clone())?;
        let content = find(&message, "content")?;
        let said = parse_lossy_string(answer, content.clone()).map(Cow::into_owned);
        said.or_else(|| part_texts(answer, content.clone()).map(|texts| texts.concat()))
    };
    match words() {
        None if find(&own, "error").is_some_and(|place| &answer[place.clone()] != "null") => {
            ReplyOutcome::Failed
        }
        Some(said) if MAX_REPLY < said.len() => ReplyOutcome::Unheard(TOO_LONG),
        said => ReplyOutcome::Said(said.unwrap_or_default()),
    }
}

/// Adds the memories that the model received to a response as its last member; `None` if it is not an object.
///
/// A response that already has a member of this name is returned unchanged.
pub(super) fn with_hits(answer: &str, recalled: &RecallResult) -> Option<String> {
    let own = members(answer, 0..answer.len())?;
    if find(&own, HITS_KEY).is_some() {
        return Some(answer.to_owned());
    }
    let end = answer.rfind('}')?;
    let comma = if own.is_empty() { "" } else { "," };
    Some(format!(
        "{}{comma}\"{HITS_KEY}\":{}{}",
        &answer[..end],
        json::recalled_memories(recalled),
        &answer[end..]
    ))
}

/// Parser of a streamed response.
#[derive(Debug, Default)]
pub(super) struct ReplyParser {
    events: EventStreamParser,
    said: StreamedReply,
}

#[derive(Debug, Default)]
struct StreamedReply {
    text: String,
    /// Whether the stream contained its end marker or a finish reason.
    is_whole: bool,
    /// Whether the stream contained an error.
    is_error: bool,
    /// Why the text cannot be stored, if so.
    odd: Option<&'static str>,
    /// Whether further input is ignored.
    has_ended: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(default)]
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    content: Option<DeltaText<'a>>,
}

/// The content of a delta: a string, or the texts of a list of parts.
struct DeltaText<'a>(Cow<'a, str>);

#[derive(Deserialize)]
struct DeltaPart<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for DeltaText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DeltaTextVisitor)
    }
}

struct DeltaTextVisitor;

impl<'de> Visitor<'de> for DeltaTextVisitor {
    type Value = DeltaText<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(DeltaText(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(DeltaText(Cow::Borrowed(text)))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut parts: S) -> Result<Self::Value, S::Error> {
        let mut all = String::new();
        while let Some(part) = parts.next_element::<DeltaPart<'de>>()? {
            all.push_str(&part.text.unwrap_or_default());
        }
        Ok(DeltaText(Cow::Owned(all)))
    }
}

impl ReplyParser {
    /// Parses the next chunk; returns the outcome once, when the response is complete.
    pub(super) fn push_chunk(&mut self, piece: &[u8]) -> Option<ReplyOutcome> {
        let before = self.said.has_ended;
        self.events
            .push_chunk(piece, &mut |data| self.said.push_event(data));
        if before || !self.said.has_ended {
            None
        } else {
            Some(self.said.outcome())
        }
    }

    /// Parses the end of the stream; returns the outcome if it was not returned before.
    pub(super) fn finish(&mut self) -> Option<ReplyOutcome> {
        let before = self.said.has_ended;
        self.events.finish(&mut |data| self.said.push_event(data));
        if self.events.is_over() {
            self.said.odd = Some(UNREADABLE);
        }
        if before {
            None
        } else {
            Some(self.said.outcome())
        }
    }

    /// Returns whether the input ends between two events.
    pub(super) fn is_between_events(&self) -> bool {
        self.events.is_between_events()
    }

    /// Returns whether the stream contained its end or an error.
    pub(super) fn has_end(&self) -> bool {
        self.said.is_whole || self.said.is_error
    }

    /// Ends parsing because the client disconnected.
    ///
    /// Like [`ReplyParser::end`], but an incomplete response has failed.
    pub(super) fn cancel(&mut self) -> Option<ReplyOutcome> {
        let outcome = self.finish();
        outcome.map(|outcome| {
            if self.said.is_whole {
                outcome
            } else {
                ReplyOutcome::Failed
            }
        })
    }
}

impl StreamedReply {
    fn push_event(&mut self, data: &[u8]) {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            (self.is_whole, self.has_ended) = (true, true);
        }
        if self.has_ended || data.is_empty() {
            return;
        }
        let text = str::from_utf8(data).map(replace_lone_surrogates);
        let Ok(Ok(chunk)) = text.as_deref().map(serde_json::from_str::<Chunk>) else {
            self.odd = Some(UNREADABLE);
            return;
        };
        self.is_error |= chunk.error.is_some();
        for choice in chunk
            .choices
            .into_iter()
            .flatten()
            .filter(|choice| choice.index.unwrap_or(0) == 0)
        {
            self.is_whole |= choice.finish_reason.is_some_and(|reason| !reason.is_null());
            let words = choice
                .delta
                .and_then(|delta| delta.content)
                .map_or(Cow::Borrowed(""), |words| words.0);
            if MAX_REPLY < self.text.len() + words.len() {
                self.odd = Some(TOO_LONG);
            } else {
                self.text.push_str(&words);
            }
        }
    }

    fn outcome(&mut self) -> ReplyOutcome {
        match self.odd {
            _ if self.is_error => ReplyOutcome::Failed,
            Some(why) => ReplyOutcome::Unheard(why),
            None if !self.is_whole => ReplyOutcome::Unheard(UNFINISHED),
            None => ReplyOutcome::Said(std::mem::take(&mut self.text)),
        }
    }
}

/// Returns the outcome of a response that is streamed in these chunks, for fuzzing.
///
/// # Panics
/// If the outcome is not returned exactly once.
#[cfg(feature = "testing")]
pub fn streamed_outcome(pieces: &[&[u8]]) -> String {
    let mut heard = ReplyParser::default();
    let mut told: Vec<ReplyOutcome> = pieces
        .iter()
        .filter_map(|piece| heard.push_chunk(piece))
        .collect();
    told.extend(heard.finish());
    assert_eq!(told.len(), 1, "{told:?}");
    format!("{told:?}")
}

#[cfg(test)]
mod tests;
