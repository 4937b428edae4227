//! JSON requests and responses of the `OpenAI` chat completions API.

use std::borrow::Cow;

use memory_core::secret::without_secrets;
use memory_core::{ChatAnswer, ChatRequest, ChatRole, TokenUsage};
use serde::Serialize;
use serde_json::Value;

use super::request::error_message;

/// The newer name of the field that limits the length of the response.
pub(super) const NEW_NAME: &str = "max_completion_tokens";

/// Maximum plausible token count; larger counts in a response are ignored.
const MOST_TOKENS: u64 = 1 << 32;

/// The name of the request field that limits the length of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitField {
    /// `max_tokens`, which most servers accept.
    OldName,
    /// `max_completion_tokens`, which `OpenAI` requires since its reasoning models.
    NewName,
}

/// A response without a usable text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ResponseDefect {
    /// The server or the model refuses to respond.
    Refused {
        /// The predicate of the error message, without its subject.
        what: String,
        tokens: TokenUsage,
    },
    /// The response contains no text, or only a part of it.
    Unreadable {
        /// The predicate of the error message, without its subject.
        what: String,
        hint: &'static str,
        tokens: TokenUsage,
    },
}

#[derive(Debug, Serialize)]
struct ChatRequestBody<'a> {
    model: &'a str,
    messages: Vec<ChatMessageBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
}

#[derive(Debug, Serialize)]
struct ChatMessageBody<'a> {
    role: &'static str,
    content: Cow<'a, str>,
}

/// Returns the JSON body of a request, without credentials.
pub(super) fn build_request(model: &str, request: &ChatRequest, limit: LimitField) -> Vec<u8> {
    let messages = request.messages.iter().map(|message| ChatMessageBody {
        role: role_name(message.role),
        content: without_secrets(&message.content),
    });
    let limited = |by: LimitField| (by == limit).then_some(request.max_tokens);
    let request = ChatRequestBody {
        model,
        messages: messages.collect(),
        max_tokens: limited(LimitField::OldName),
        max_completion_tokens: limited(LimitField::NewName),
        stream: false,
    };
    serde_json::to_vec(&request).expect("texts and numbers are JSON")
}

const fn role_name(role: ChatRole) -> &'static str {
    match role {
        ChatRole::System => "system",
        ChatRole::User => "user",
        ChatRole::Assistant => "assistant",
    }
}

/// Returns the text of the response to the request `asked`, with its token counts.
///
/// # Errors
/// If the response contains no text, or is truncated.
pub(super) fn parse_response(
    body: &[u8],
    asked: &ChatRequest,
) -> Result<ChatAnswer, ResponseDefect> {
    let unreadable = |what: String, hint, tokens| ResponseDefect::Unreadable { what, hint, tokens };
    let address = "check that the URL is that of a language model";
    let response: Value = serde_json::from_slice(body).map_err(|error| {
        let tokens = estimate_tokens(asked, &String::from_utf8_lossy(body));
        unreadable(
            format!("responded with invalid JSON ({error})"),
            address,
            tokens,
        )
    })?;
    let Some(choice) = response.pointer("/choices/0") else {
        if response.get("error").is_some_and(|error| !error.is_null()) {
            let said = error_message(body).map_or_else(String::new, |said| format!(": {said}"));
            return Err(ResponseDefect::Refused {
                what: format!("refused the request{said}"),
                tokens: token_counts(&response).unwrap_or_default(),
            });
        }
        let tokens = token_counts(&response).unwrap_or_else(|| estimate_tokens(asked, ""));
        return Err(unreadable(
            "responded without choices".into(),
            address,
            tokens,
        ));
    };
    let ResponseMessage {
        text,
        thoughts,
        refusal,
    } = parse_message(&choice["message"]);
    let tokens = token_counts(&response)
        .unwrap_or_else(|| estimate_tokens(asked, &format!("{text}{thoughts}")));
    if let Some(refusal) = refusal {
        let short: String = refusal.chars().take(200).collect();
        return Err(ResponseDefect::Refused {
            what: format!("refused the request: {short}"),
            tokens,
        });
    }
    let reason = choice["finish_reason"]
        .as_str()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let text = strip_thoughts(&text);
    match reason.as_str() {
        "content_filter" => Err(ResponseDefect::Refused {
            what: "refused the request: its content filter blocked the response".into(),
            tokens,
        }),
        "length" | "max_tokens" | "model_length" => {
            let what = format!("truncated its response after {} tokens", tokens.answer);
            Err(unreadable(
                what,
                "allow a longer response, or request less at once",
                tokens,
            ))
        }
        _ if text.trim().is_empty() => {
            let calls_tool = ["tool_calls", "function_call"]
                .iter()
                .any(|name| !choice["message"][name].is_null());
            let what = if calls_tool {
                "called a tool although none was offered"
            } else {
                "responded without text"
            };
            Err(unreadable(
                what.into(),
                "try again, or use another model",
                tokens,
            ))
        }
        _ => Ok(ChatAnswer {
            text: text.to_owned(),
            tokens,
        }),
    }
}

/// The content of a message in a response.
struct ResponseMessage {
    text: String,
    /// Reasoning text that the model returns apart from the response text.
    thoughts: String,
    refusal: Option<String>,
}

fn parse_message(message: &Value) -> ResponseMessage {
    let mut said = ResponseMessage {
        text: String::new(),
        thoughts: String::new(),
        refusal: None,
    };
    match &message["content"] {
        Value::String(text) => said.text.push_str(text),
        Value::Array(parts) => {
            for part in parts {
                let of = |name: &str| part[name].as_str();
                match of("type") {
                    Some("text" | "output_text") => {
                        said.text.push_str(of("text").unwrap_or_default());
                    }
                    Some("refusal") => said.refusal = of("refusal").map(str::to_owned),
                    Some(_) | None => said
                        .thoughts
                        .push_str(of("text").or(part.as_str()).unwrap_or_default()),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
    for name in ["reasoning_content", "reasoning"] {
        said.thoughts
            .push_str(message[name].as_str().unwrap_or_default());
    }
    let refusal = message["refusal"]
        .as_str()
        .filter(|refusal| !refusal.is_empty());
    said.refusal = refusal.map(str::to_owned).or(said.refusal);
    said
}

/// Removes a leading `<think>` block from a response. If the block is not closed, the result is empty.
fn strip_thoughts(text: &str) -> &str {
    let begun = text.trim_start().strip_prefix("<think>");
    begun.map_or(text, |thoughts| {
        thoughts
            .split_once("</think>")
            .map_or("", |(_, said)| said.trim_start())
    })
}

/// Returns the token counts of a response, if it contains them. A prompt count of 0 means unknown.
fn token_counts(response: &Value) -> Option<TokenUsage> {
    let count = |name: &str| {
        response["usage"][name]
            .as_u64()
            .filter(|count| *count < MOST_TOKENS)
    };
    let prompt = count("prompt_tokens").filter(|count| 0 < *count)?;
    Some(TokenUsage {
        prompt,
        answer: count("completion_tokens")?,
        estimated: false,
    })
}

fn estimate_tokens(asked: &ChatRequest, text: &str) -> TokenUsage {
    let longest = asked.estimate();
    TokenUsage {
        answer: TokenUsage::of(text).min(longest.answer),
        ..longest
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{ChatMessage, Purpose};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample_request() -> ChatRequest {
        let message = |role, content: &str| ChatMessage {
            role,
            content: content.into(),
        };
        let messages = vec![
            message(ChatRole::System, "Be brief."),
            message(ChatRole::User, "好吗？"),
            message(ChatRole::Assistant, "好。"),
        ];
        ChatRequest {
            purpose: Purpose::of("test"),
            messages,
            max_tokens: 10,
        }
    }

    #[test]
    fn what_is_sent_is_what_every_server_knows() {
        let sent = |limit| {
            serde_json::from_slice::<Value>(&build_request("m", &sample_request(), limit))
                .expect("it is JSON")
        };
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "好吗？"},
            {"role": "assistant", "content": "好。"},
        ]);
        assert_eq!(
            sent(LimitField::OldName),
            json!({"model": "m", "messages": messages, "max_tokens": 10, "stream": false})
        );
        assert_eq!(sent(LimitField::NewName)[NEW_NAME], 10);
        assert_eq!(sent(LimitField::NewName).get("max_tokens"), None);
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        assert_eq!(
            strip_thoughts("yes <think>no</think>"),
            "yes <think>no</think>"
        );
        assert_eq!(strip_thoughts("\n<think>\nno\n</think>\n\nyes"), "yes");
        assert_eq!(strip_thoughts("<think>so many"), "");
    }

    #[test]
    fn tokens_are_told_or_estimated() {
        let of = |usage: Value| {
            let body =
                json!({"choices": [{"message": {"content": "Yes, it is."}}], "usage": usage});
            parse_response(body.to_string().as_bytes(), &sample_request())
                .expect("it is an answer")
                .tokens
        };
        assert_eq!(
            of(json!({"prompt_tokens": 7, "completion_tokens": 90})),
            TokenUsage {
                prompt: 7,
                answer: 90,
                estimated: false
            }
        );
        let estimated = TokenUsage {
            prompt: 3 + 3 + 2 + 3 * 8,
            answer: 4,
            estimated: true,
        };
        for odd in [
            json!(null),
            json!({}),
            json!({"prompt_tokens": 0, "completion_tokens": 0}),
            json!([1]),
        ] {
            assert_eq!(of(odd), estimated);
        }
        assert_eq!(
            of(json!({"prompt_tokens": -1, "completion_tokens": 2})),
            estimated
        );
        assert_eq!(
            of(json!({"prompt_tokens": u64::MAX, "completion_tokens": 2})),
            estimated
        );
        assert_eq!(
            of(json!({"prompt_tokens": "7", "completion_tokens": 2.5})),
            estimated
        );
    }

    proptest! {
        #[test]
        fn no_body_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..100), content in "\\PC{0,9}", reason in "[a-z_]{0,9}") {
            let _ = parse_response(&body, &sample_request());
            for message in [json!(content), json!({"content": content}), json!({"content": [content, {"type": content}]})] {
                let body = json!({"choices": [{"message": message, "finish_reason": reason}]}).to_string();
                if let Ok(answer) = parse_response(body.as_bytes(), &sample_request()) {
                    prop_assert!(!answer.text.trim().is_empty());
                }
            }
        }
    }
}
