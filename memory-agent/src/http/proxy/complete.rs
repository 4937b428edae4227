//! A chat, with what was remembered.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use memory_core::conversation::{EntryRole, RecallRules, Recalled, recall_beside};
use memory_core::{Code, ToolError};
use tokio::time::timeout;

use super::desk::ChatProxy;
use super::forward::{ask, passed};
use super::relayed::{Begun, Relayed};
use super::reply::{said, with_hits};
use super::request::{Asked, Latest};
use super::scribe::Said;
use super::upstream::passed_on;
use crate::http::answer::{Refusal, warn};

/// Says why there is nothing remembered.
const ERROR: HeaderName = HeaderName::from_static("memory-error");

/// Says how many memories the model was given.
const HITS: HeaderName = HeaderName::from_static("memory-hits");

/// A longer answer, in bytes, passes as it is.
const LONGEST: usize = 32 << 20;

/// Passes a chat on with what it calls to mind, and keeps what is said.
pub(super) async fn complete(State(proxy): State<Arc<ChatProxy>>, request: Request) -> Result<Response, Refusal> {
    let (mut parts, body) = request.into_parts();
    let whole = proxy.room.read(body, super::desk::LONGEST).await?;
    let asked = match String::from_utf8(whole.bytes.to_vec()) {
        Ok(text) => Asked::read(text, &proxy.rules.recall)?,
        Err(_) => Err(String::new()),
    };
    let Ok(asked) = asked else {
        // Whoever is behind us says what is wrong with it.
        return Ok(ask(&proxy, &parts, Body::from(whole.bytes.clone())).await.map_or_else(|instead| instead, passed));
    };
    let asked = Arc::new(asked);
    let (recalled, error) = match remember(&proxy, &asked).await {
        Ok(recalled) => (recalled, None),
        Err(error) => (Recalled::default(), Some(error)),
    };
    let error = error.or_else(|| proxy.scribe.trouble());
    // What is encoded could not be listened to.
    parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let answer = ask(&proxy, &parts, Body::from(asked.forwarded(&recalled))).await;
    drop(whole);
    let mut response = match answer {
        Ok(answer) => heard(&proxy, &parts.headers, &asked, &recalled, answer).await,
        Err(instead) => instead,
    };
    tell(response.headers_mut(), &recalled, error.as_ref());
    Ok(response)
}

/// Returns what a chat calls to mind, unless that takes too long.
async fn remember(proxy: &Arc<ChatProxy>, asked: &Arc<Asked>) -> Result<Recalled, ToolError> {
    let Some(Latest { text, .. }) = asked.latest.clone() else { return Ok(Recalled::default()) };
    let (own, asked) = (Arc::clone(proxy), Arc::clone(asked));
    let work = async {
        let place = Arc::clone(&own.workers).acquire_owned().await.expect("the workers are never closed");
        let work = move || {
            let _place = place;
            let rules: RecallRules = asked.rules;
            recall_beside(&own.conversations, &asked.conversation, &text, &rules, &|entry| asked.shows(&entry.content))
        };
        tokio::task::spawn_blocking(work).await
    };
    let internal = |what: String| ToolError::new(Code::Internal, what, None);
    match timeout(proxy.rules.patience, work).await {
        Ok(Ok(recalled)) => recalled.map_err(ToolError::from),
        Ok(Err(error)) => Err(internal(format!("what was to be remembered broke down: {error}"))),
        Err(_) => {
            let message = format!("nothing came to mind within {} ms", proxy.rules.patience.as_millis());
            Err(ToolError::new(Code::RequestTimeout, message, None))
        }
    }
}

fn tell(headers: &mut HeaderMap, recalled: &Recalled, error: Option<&ToolError>) {
    headers.insert(HITS, HeaderValue::from(recalled.memories.len()));
    if let Some(degraded) = &recalled.degraded {
        warn(headers, degraded);
    }
    if let Some(error) = error {
        headers.insert(ERROR, HeaderValue::from_static(error.code.as_str()));
        warn(headers, &error.message);
    }
}

/// Passes an answer on, and has what is said kept.
async fn heard(
    proxy: &Arc<ChatProxy>,
    headers: &HeaderMap,
    asked: &Asked,
    recalled: &Recalled,
    answer: Response<Incoming>,
) -> Response {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let is_plain = answer.headers().get(CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity");
    if answer.status() != StatusCode::OK || !is_plain {
        return passed(answer);
    }
    proxy.note(asked.model.as_deref(), headers);
    let question = asked.latest.as_ref().filter(|latest| latest.is_new).map(|latest| (EntryRole::User, latest.text.clone()));
    let conversation = asked.conversation.clone();
    if kind.starts_with("text/event-stream") {
        if let Some(question) = question {
            proxy.scribe.keep(Said { conversation: conversation.clone(), turns: vec![question] });
        }
        let own = Arc::clone(proxy);
        let then = move |said| own.scribe.keep(Said { conversation, turns: vec![(EntryRole::Assistant, said)] });
        let (mut parts, body) = answer.into_parts();
        parts.headers = passed_on(&parts.headers);
        return Response::from_parts(parts, Body::new(Relayed::new(body, Box::new(then))));
    }
    let (mut parts, mut body) = answer.into_parts();
    parts.headers = passed_on(&parts.headers);
    let mut read = Vec::new();
    let mut broken = None;
    while read.len() < LONGEST {
        match body.frame().await {
            None => break,
            Some(Ok(frame)) => frame.into_data().into_iter().for_each(|piece| read.extend_from_slice(&piece)),
            Some(Err(error)) => {
                broken = Some(error);
                break;
            }
        }
    }
    if broken.is_some() || !body.is_end_stream() {
        // It passes as it is: what came, and what comes.
        return Response::from_parts(parts, Body::new(Begun::new(read.into(), broken, body)));
    }
    let text = match String::from_utf8(read) {
        Ok(text) => text,
        Err(other) => return Response::from_parts(parts, Body::from(other.into_bytes())),
    };
    let Some(with_hits) = with_hits(&text, &recalled.memories) else { return Response::from_parts(parts, Body::from(text)) };
    let answer = said(&text).map(|words| (EntryRole::Assistant, words));
    let turns: Vec<_> = question.into_iter().chain(answer).collect();
    if !turns.is_empty() {
        proxy.scribe.keep(Said { conversation, turns });
    }
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(with_hits))
}
