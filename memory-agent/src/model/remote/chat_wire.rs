//! JSON requests and responses of the `OpenAI` chat completions API.

use memory_core::{Answer, ChatRequest, Role, Tokens};
use serde::Serialize;
use serde_json::Value;

use super::complaint::complaint;

/// The newer name of the field that limits the length of the response.
pub(super) const NEW_NAME: &str = "max_completion_tokens";

/// Maximum plausible token count; larger counts in a response are ignored.
const MOST_TOKENS: u64 = 1 << 32;

/// The name of the request field that limits the length of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// `max_tokens`, which most servers accept.
    OldName,
    /// `max_completion_tokens`, which `OpenAI` requires since its reasoning models.
    NewName,
}

/// A response without a usable text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Odd {
    /// The server or the model refuses to respond.
    Refused {
        /// The predicate of the error message, without its subject.
        what: String,
        tokens: Tokens,
    },
    /// The response contains no text, or only a part of it.
    Unreadable {
        /// The predicate of the error message, without its subject.
        what: String,
        hint: &'static str,
        tokens: Tokens,
    },
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// Returns the JSON body of a request.
pub(super) fn request(model: &str, request: &ChatRequest, limit: Limit) -> Vec<u8> {
    let messages = request.messages.iter().map(|message| Message { role: role(message.role), content: &message.content });
    let limited = |by: Limit| (by == limit).then_some(request.max_tokens);
    let request = Request {
        model,
        messages: messages.collect(),
        max_tokens: limited(Limit::OldName),
        max_completion_tokens: limited(Limit::NewName),
        stream: false,
    };
    serde_json::to_vec(&request).expect("texts and numbers are JSON")
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Returns the text of the response to the request `asked`, with its token counts.
///
/// # Errors
/// If the response contains no text, or is truncated.
pub(super) fn answer(body: &[u8], asked: &ChatRequest) -> Result<Answer, Odd> {
    let unreadable = |what: String, hint, tokens| Odd::Unreadable { what, hint, tokens };
    let address = "check that the URL is that of a language model";
    let response: Value = serde_json::from_slice(body).map_err(|error| {
        let tokens = estimate(asked, &String::from_utf8_lossy(body));
        unreadable(format!("responded with invalid JSON ({error})"), address, tokens)
    })?;
    let Some(choice) = response.pointer("/choices/0") else {
        if response.get("error").is_some_and(|error| !error.is_null()) {
            let said = complaint(body).map_or_else(String::new, |said| format!(": {said}"));
            return Err(Odd::Refused { what: format!("refused the request{said}"), tokens: told(&response).unwrap_or_default() });
        }
        let tokens = told(&response).unwrap_or_else(|| estimate(asked, ""));
        return Err(unreadable("responded without choices".into(), address, tokens));
    };
    let Said { text, thoughts, refusal } = said(&choice["message"]);
    let tokens = told(&response).unwrap_or_else(|| estimate(asked, &format!("{text}{thoughts}")));
    if let Some(refusal) = refusal {
        let short: String = refusal.chars().take(200).collect();
        return Err(Odd::Refused { what: format!("refused the request: {short}"), tokens });
    }
    let reason = choice["finish_reason"].as_str().unwrap_or_default().to_ascii_lowercase();
    let text = after_thoughts(&text);
    match reason.as_str() {
        "content_filter" => {
            Err(Odd::Refused { what: "refused the request: its content filter blocked the response".into(), tokens })
        }
        "length" | "max_tokens" | "model_length" => {
            let what = format!("truncated its response after {} tokens", tokens.answer);
            Err(unreadable(what, "allow a longer response, or request less at once", tokens))
        }
        _ if text.trim().is_empty() => {
            let calls_tool = ["tool_calls", "function_call"].iter().any(|name| !choice["message"][name].is_null());
            let what = if calls_tool { "called a tool although none was offered" } else { "responded without text" };
            Err(unreadable(what.into(), "try again, or use another model", tokens))
        }
        _ => Ok(Answer { text: text.to_owned(), tokens }),
    }
}

/// The content of a message in a response.
struct Said {
    text: String,
    /// Reasoning text that the model returns apart from the response text.
    thoughts: String,
    refusal: Option<String>,
}

fn said(message: &Value) -> Said {
    let mut said = Said { text: String::new(), thoughts: String::new(), refusal: None };
    match &message["content"] {
        Value::String(text) => said.text.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                let of = |name: &str| part[name].as_str();
                match of("type") {
                    Some("text" | "output_text") => said.text.push_str(of("text").unwrap_or_default()),
                    Some("refusal") => said.refusal = of("refusal").map(str::to_owned),
                    Some(_) | None => said.thoughts.push_str(of("text").or(part.as_str()).unwrap_or_default()),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
    for name in ["reasoning_content", "reasoning"] {
        said.thoughts.push_str(message[name].as_str().unwrap_or_default());
    }
    let refusal = message["refusal"].as_str().filter(|refusal| !refusal.is_empty());
    said.refusal = refusal.map(str::to_owned).or(said.refusal);
    said
}

/// Removes a leading `<think>` block from a response. If the block is not closed, the result is empty.
fn after_thoughts(text: &str) -> &str {
    let begun = text.trim_start().strip_prefix("<think>");
    begun.map_or(text, |thoughts| thoughts.split_once("</think>").map_or("", |(_, said)| said.trim_start()))
}

/// Returns the token counts of a response, if it contains them. A prompt count of 0 means unknown.
fn told(response: &Value) -> Option<Tokens> {
    let count = |name: &str| response["usage"][name].as_u64().filter(|count| *count < MOST_TOKENS);
    let prompt = count("prompt_tokens").filter(|count| 0 < *count)?;
    Some(Tokens { prompt, answer: count("completion_tokens")?, estimated: false })
}

fn estimate(asked: &ChatRequest, text: &str) -> Tokens {
    let longest = asked.estimate();
    Tokens { answer: Tokens::of(text).min(longest.answer), ..longest }
}

#[cfg(test)]
mod tests {
    use memory_core::{Message, Purpose};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn asked() -> ChatRequest {
        let message = |role, content: &str| Message { role, content: content.into() };
        let messages = vec![message(Role::System, "Be brief."), message(Role::User, "好吗？"), message(Role::Assistant, "好。")];
        ChatRequest { purpose: Purpose::of("test"), messages, max_tokens: 10 }
    }

    #[test]
    fn what_is_sent_is_what_every_server_knows() {
        let sent = |limit| serde_json::from_slice::<Value>(&request("m", &asked(), limit)).expect("it is JSON");
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "好吗？"},
            {"role": "assistant", "content": "好。"},
        ]);
        assert_eq!(sent(Limit::OldName), json!({"model": "m", "messages": messages, "max_tokens": 10, "stream": false}));
        assert_eq!(sent(Limit::NewName)[NEW_NAME], 10);
        assert_eq!(sent(Limit::NewName).get("max_tokens"), None);
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        assert_eq!(after_thoughts("yes <think>no</think>"), "yes <think>no</think>");
        assert_eq!(after_thoughts("\n<think>\nno\n</think>\n\nyes"), "yes");
        assert_eq!(after_thoughts("<think>so many"), "");
    }

    #[test]
    fn tokens_are_told_or_estimated() {
        let of = |usage: Value| {
            let body = json!({"choices": [{"message": {"content": "Yes, it is."}}], "usage": usage});
            answer(body.to_string().as_bytes(), &asked()).expect("it is an answer").tokens
        };
        assert_eq!(of(json!({"prompt_tokens": 7, "completion_tokens": 90})), Tokens { prompt: 7, answer: 90, estimated: false });
        let estimated = Tokens { prompt: 3 + 3 + 2 + 3 * 8, answer: 4, estimated: true };
        for odd in [json!(null), json!({}), json!({"prompt_tokens": 0, "completion_tokens": 0}), json!([1])] {
            assert_eq!(of(odd), estimated);
        }
        assert_eq!(of(json!({"prompt_tokens": -1, "completion_tokens": 2})), estimated);
        assert_eq!(of(json!({"prompt_tokens": u64::MAX, "completion_tokens": 2})), estimated);
        assert_eq!(of(json!({"prompt_tokens": "7", "completion_tokens": 2.5})), estimated);
    }

    proptest! {
        #[test]
        fn no_body_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..100), content in "\\PC{0,9}", reason in "[a-z_]{0,9}") {
            let _ = answer(&body, &asked());
            for message in [json!(content), json!({"content": content}), json!({"content": [content, {"type": content}]})] {
                let body = json!({"choices": [{"message": message, "finish_reason": reason}]}).to_string();
                if let Ok(answer) = answer(body.as_bytes(), &asked()) {
                    prop_assert!(!answer.text.trim().is_empty());
                }
            }
        }
    }
}
