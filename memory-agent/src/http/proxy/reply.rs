//! What a language model answers, heard as it passes.

use std::borrow::Cow;

use memory_core::conversation::Remembered;
use serde::Deserialize;
use serde_json::Value;

use super::events::Events;
use super::parts::{find, items, members, string};
use crate::json;

/// Where an answer tells what was remembered.
const HITS: &str = "memory_hits";

/// More of an answer, in bytes, is not kept.
const LONGEST: usize = 1 << 20;

/// Returns what the model says in a whole answer.
pub(super) fn said(answer: &str) -> Option<String> {
    let own = members(answer, 0..answer.len())?;
    let first = items(answer, find(&own, "choices")?.clone())?.into_iter().next()?;
    let choice = members(answer, first)?;
    let message = members(answer, find(&choice, "message")?.clone())?;
    string(answer, find(&message, "content")?.clone()).map(Cow::into_owned).filter(|said| said.len() <= LONGEST)
}

/// Returns an answer with what was remembered as its last member, unless it tells something of that name itself; nothing if it is no
/// object.
pub(super) fn with_hits(answer: &str, memories: &[Remembered]) -> Option<String> {
    let own = members(answer, 0..answer.len())?;
    if find(&own, HITS).is_some() {
        return Some(answer.to_owned());
    }
    let end = answer.rfind('}')?;
    let comma = if own.is_empty() { "" } else { "," };
    Some(format!("{}{comma}\"{HITS}\":{}{}", &answer[..end], json::remembered(memories), &answer[end..]))
}

/// What is heard of an answer that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Heard {
    events: Events,
    said: Said,
}

#[derive(Debug, Default)]
struct Said {
    text: String,
    /// It said that it was all.
    is_whole: bool,
    /// Something in it could not be read, or is an error.
    is_broken: bool,
    /// Nothing comes any more.
    has_ended: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
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
    content: Option<Cow<'a, str>>,
}

impl Heard {
    /// Takes the next piece; returns what the model said, once, when it has said all.
    pub(super) fn take(&mut self, piece: &[u8]) -> Option<String> {
        let before = self.said.has_ended;
        self.events.take(piece, &mut |data| self.said.hear(data));
        if before || !self.said.has_ended { None } else { self.said.whole() }
    }

    /// Takes the end; returns what the model said, unless that was told before or is not all of it.
    pub(super) fn end(&mut self) -> Option<String> {
        let before = self.said.has_ended;
        self.events.end(&mut |data| self.said.hear(data));
        if before { None } else { self.said.whole() }
    }
}

impl Said {
    fn hear(&mut self, data: &[u8]) {
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            (self.is_whole, self.has_ended) = (true, true);
        }
        if self.has_ended || data.is_empty() {
            return;
        }
        let Ok(chunk) = serde_json::from_slice::<Chunk>(data) else {
            self.is_broken = true;
            return;
        };
        self.is_broken |= chunk.error.is_some();
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.is_whole |= choice.finish_reason.is_some_and(|reason| !reason.is_null());
            let words = choice.delta.and_then(|delta| delta.content).unwrap_or_default();
            if LONGEST < self.text.len() + words.len() {
                self.is_broken = true;
            } else {
                self.text.push_str(&words);
            }
        }
    }

    fn whole(&mut self) -> Option<String> {
        let is_fine = self.is_whole && !self.is_broken;
        is_fine.then(|| std::mem::take(&mut self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(stream: &str) -> Option<String> {
        let mut heard = Heard::default();
        let mut told: Vec<String> = stream.as_bytes().chunks(7).filter_map(|piece| heard.take(piece)).collect();
        told.extend(heard.end());
        assert!(told.len() < 2, "{told:?}");
        told.pop()
    }

    fn chunk(content: &str) -> String {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{content}}}}}]}}\r\n\r\n")
    }

    #[test]
    fn an_answer_is_heard_when_it_is_whole() {
        let words = [r#""Hel""#, "null", r#""l\u006f 世""#, r#""界""#].map(chunk).concat();
        let finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n";
        let second = "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n";
        for end in ["data: [DONE]\n\n", "data: [DONE]", finish, &format!(": keep-alive\n\n{second}{finish}data: [DONE]\n\n")] {
            assert_eq!(heard(&format!("{words}{end}")).as_deref(), Some("Hello 世界"), "{end}");
        }
    }

    #[test]
    fn what_breaks_off_or_cannot_be_read_is_not_kept() {
        let words = chunk("\"Hello\"");
        for odd in ["", "data: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n", "data: {\"id\": not\n\ndata: [DONE]\n\n"] {
            assert_eq!(heard(&format!("{words}{odd}")), None, "{odd}");
        }
    }

    #[test]
    fn a_whole_answer_is_read_and_added_to() {
        let answer = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi \u4e16"}}],"n":1.50}"#;
        assert_eq!(said(answer).as_deref(), Some("Hi 世"));
        assert_eq!(with_hits(answer, &[]), Some(format!("{},\"memory_hits\":[]}}", answer.trim_end_matches('}'))));
        assert_eq!(with_hits("{ }\n", &[]).as_deref(), Some("{ \"memory_hits\":[]}\n"));
        assert_eq!(with_hits("{\"memory_hits\":3}", &[]).as_deref(), Some("{\"memory_hits\":3}"));
        for none in ["", "<html>", "[]", "{\"a\":"] {
            assert_eq!(with_hits(none, &[]), None);
        }
        for silent in ["{}", r#"{"choices":[]}"#, r#"{"choices":[{"message":{"content":null,"tool_calls":[]}}]}"#] {
            assert_eq!(said(silent), None);
        }
    }
}
