//! Handles chat completions: adds recalled memories and stores the turns.

use std::string::FromUtf8Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING,
};
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use memory_core::conversation::{
    ConversationEntry, Conversations, MAX_CONTENT, RecallResult, StandingRequest, add_standing,
    recall_with_unwritten,
};
use memory_core::text::format_error_chain;
use memory_core::{Code, PrincipalAccess, StoreError, ToolError};
use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::chat_proxy::ChatProxy;
use super::exchange::Exchange;
use super::forward::{check_loop, send_upstream, stream_response};
use super::relayed_body::{CUT_OFF, RecordedBody, UnparsedBody};
use super::reply::{ReplyOutcome, parse_reply, with_hits};
use super::request::{CompletionRequest, LatestMessage};
use super::upstream::response_headers;
use crate::http::auth::RequestCaller;
use crate::http::request_log::RequestTrace;
use crate::http::response::{ErrorResponse, add_warning};

/// Response header with the code of the error that prevented recall or storage.
const ERROR_HEADER: HeaderName = HeaderName::from_static("memory-error");

/// Response header with the number of memories that were given to the model.
const HITS_HEADER: HeaderName = HeaderName::from_static("memory-hits");

/// Longest response that is parsed, in bytes; a longer one is passed through unread.
const LONGEST: usize = 32 << 20;

/// Forwards a chat with the memories it recalls, and stores its turns.
pub(super) async fn complete_chat(
    proxy: Arc<ChatProxy>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let (mut parts, body) = request.into_parts();
    check_loop(&proxy, &parts.headers)?;
    let whole = proxy.room.read(body, super::chat_proxy::LONGEST).await?;
    let asked = match String::from_utf8(whole.bytes.to_vec()) {
        Ok(text) => CompletionRequest::parse(text, &proxy.rules.recall)?
            .map_err(|_| "it is not a JSON object"),
        Err(_) if parts.headers.contains_key(CONTENT_ENCODING) => Err("it is compressed"),
        Err(_) => Err("it is not UTF-8 text"),
    };
    let asked = match asked {
        Ok(asked) => Arc::new(asked),
        Err(why) => {
            // The request is forwarded unchanged, so that the upstream server reports the error.
            let body = Body::from(whole.bytes.clone());
            let mut response = send_upstream(&proxy, &parts, body)
                .await
                .map_or_else(|instead| instead, stream_response);
            let message = format!("the chat was forwarded unchanged, without memories: {why}");
            add_memory_headers(
                response.headers_mut(),
                &RecallResult::default(),
                Some(&ToolError::new(Code::InvalidInput, message, None)),
            );
            return Ok(response);
        }
    };
    let trace = parts.extensions.get::<RequestTrace>().cloned();
    let mut exchange = Exchange::begin(&proxy, &asked, trace.clone());
    let begun = Instant::now();
    let principal = RequestCaller::of(&parts.extensions).cloned();
    let (recalled, error) = match recall_memories(
        &proxy,
        &asked,
        proxy.conversations_for(&parts.headers),
        principal,
    )
    .await
    {
        Ok(recalled) => (recalled, None),
        Err(error) => (RecallResult::default(), Some(error)),
    };
    if let Some(trace) = &trace {
        trace.record_recall(&asked.conversation, recalled.hits(), begun.elapsed());
    }
    record_recall(&proxy, &asked, &recalled).await;
    exchange.store_question();
    // An encoded response could not be parsed.
    parts
        .headers
        .insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let zone = proxy.conversations.clock.zone();
    let body = Body::from(asked.with_memories(&recalled, &zone));
    let answer = send_upstream(&proxy, &parts, body).await;
    drop(whole);
    let (mut response, unheard) = match answer {
        Ok(answer) => {
            record_response(&proxy, &parts.headers, &asked, &recalled, answer, exchange).await
        }
        Err(instead) => {
            exchange.end(ReplyOutcome::Failed);
            (instead, None)
        }
    };
    let not_kept = || {
        proxy
            .scribe
            .storage_error(&asked.conversation)
            .or_else(|| too_long_error(&asked))
            .or_else(|| unheard.map(not_stored_error))
    };
    add_memory_headers(
        response.headers_mut(),
        &recalled,
        error.or_else(not_kept).as_ref(),
    );
    if let Some(before) = proxy.take_unstored_warning(&asked.conversation) {
        add_warning(response.headers_mut(), &before);
    }
    if let Some(degraded) = &recalled.degraded {
        proxy.report_once(degraded);
    }
    if let Some(why) = proxy.extraction_failure() {
        add_warning(response.headers_mut(), &why);
    }
    Ok(response)
}

/// Returns the error for a user message that is too long to be stored.
fn too_long_error(asked: &CompletionRequest) -> Option<ToolError> {
    let latest = asked
        .latest
        .as_ref()
        .filter(|latest| !latest.is_storable())?;
    let message = format!(
        "the message is not stored: it has {} bytes, more than {MAX_CONTENT}",
        latest.text.len()
    );
    Some(ToolError::new(Code::InvalidInput, message, None))
}

fn not_stored_error(why: &str) -> ToolError {
    ToolError::new(
        Code::ModelUnreadable,
        format!("the response is not stored: {why}"),
        None,
    )
}

/// Recalls memories for a chat, and adds standing instructions and preferences, within the time limit of the proxy.
///
/// If only the memories are found in time, they are returned alone, and the result reports what is missing.
async fn recall_memories(
    proxy: &Arc<ChatProxy>,
    asked: &Arc<CompletionRequest>,
    conversations: Conversations,
    principal: Option<PrincipalAccess>,
) -> Result<RecallResult, ToolError> {
    let Some(LatestMessage { text, .. }) = asked.latest.clone() else {
        return Ok(RecallResult::default());
    };
    let (own, asked) = (Arc::clone(proxy), Arc::clone(asked));
    let in_time = Arc::new(Mutex::new(None));
    let without_standing = Arc::clone(&in_time);
    let work = async {
        let place = Arc::clone(&own.workers)
            .acquire_owned()
            .await
            .expect("the workers are never closed");
        let work = move || {
            let _place = place;
            // Read before the store: a turn that is written in between is then found twice instead of not at all.
            let unwritten = own
                .scribe
                .unwritten_turns(&conversations, &asked.conversation);
            let is_known = |entry: &ConversationEntry| asked.contains_text(&entry.content);
            let (conversation, rules) = (&asked.conversation, &asked.rules);
            let mut recalled = recall_with_unwritten(
                &conversations,
                conversation,
                &text,
                rules,
                &unwritten,
                &is_known,
            )?;
            *without_standing
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(recalled.clone());
            let (message, top_k) = (&text, rules.top_k);
            let request = StandingRequest {
                conversation,
                message,
                top_k,
                unwritten: &unwritten,
                is_known: &is_known,
            };
            if let Err(error) = add_standing(
                &conversations,
                &|| own.open_home(principal.as_ref()),
                &request,
                &mut recalled,
            ) {
                recalled.degrade(&format!("{LACKING}: {}", format_error_chain(&error)));
            }
            Ok(recalled)
        };
        tokio::task::spawn_blocking(work).await
    };
    let internal = |what: String| ToolError::new(Code::Internal, what, None);
    match timeout(proxy.rules.patience, work).await {
        Ok(Ok(recalled)) => recalled.map_err(|error: StoreError| ToolError::from(error)),
        Ok(Err(error)) => Err(internal(format!("recall failed: {error}"))),
        Err(_) => {
            let why = format!(
                "recall timed out after {} ms",
                proxy.rules.patience.as_millis()
            );
            match in_time
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
            {
                Some(mut recalled) => {
                    RecallResult::degrade(&mut recalled, &format!("{LACKING}: {why}"));
                    Ok(recalled)
                }
                None => Err(ToolError::new(Code::RequestTimeout, why, None)),
            }
        }
    }
}

/// Records the memories of a chat in the recall ledger, within the time limit of the proxy.
async fn record_recall(
    proxy: &Arc<ChatProxy>,
    asked: &Arc<CompletionRequest>,
    recalled: &RecallResult,
) {
    if recalled.hits() == 0 || !proxy.has_recall_ledger() {
        return;
    }
    let (own, asked, recalled) = (Arc::clone(proxy), Arc::clone(asked), recalled.clone());
    let work = tokio::task::spawn_blocking(move || {
        if let Some(latest) = &asked.latest {
            own.record_recall(&asked.conversation, &latest.text, &recalled);
        }
    });
    // A disk that does not respond must not delay the chat.
    let _ = timeout(proxy.rules.patience, work).await;
}

/// The beginning of the warning that a result lacks standing texts.
const LACKING: &str = "standing instructions and preferences are left out";

fn add_memory_headers(headers: &mut HeaderMap, recalled: &RecallResult, error: Option<&ToolError>) {
    headers.insert(HITS_HEADER, HeaderValue::from(recalled.hits()));
    if let Some(degraded) = &recalled.degraded {
        add_warning(headers, degraded);
    }
    if let Some(error) = error {
        headers.insert(ERROR_HEADER, HeaderValue::from_static(error.code.as_str()));
        add_warning(headers, &error.message);
    }
}

/// Passes a response on and stores its text; also returns why the text cannot be stored, if so.
async fn record_response(
    proxy: &ChatProxy,
    headers: &HeaderMap,
    asked: &CompletionRequest,
    recalled: &RecallResult,
    answer: Response<Incoming>,
    exchange: Exchange,
) -> (Response, Option<&'static str>) {
    if !answer.status().is_success() {
        exchange.end(ReplyOutcome::Failed);
        return (stream_response(answer), None);
    }
    proxy.record_model(asked.model.as_deref(), headers);
    let is_encoded = answer
        .headers()
        .get(CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity");
    let kind = answer
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let ends_with_connection = !answer.headers().contains_key(CONTENT_LENGTH)
        && !answer.headers().contains_key(TRANSFER_ENCODING);
    let (mut parts, mut body) = answer.into_parts();
    parts.headers = response_headers(&parts.headers);
    if is_encoded {
        let why = "it is compressed although no encoding was accepted";
        return (
            Response::from_parts(
                parts,
                Body::new(UnparsedBody::new(Vec::new(), None, body, exchange, why)),
            ),
            Some(why),
        );
    }
    // Streams are passed on without buffering.
    if kind.starts_with("text/event-stream") || asked.is_stream && !kind.contains("json") {
        return (
            Response::from_parts(
                parts,
                Body::new(RecordedBody::new(body, ends_with_connection, exchange)),
            ),
            None,
        );
    }
    let (read, rest) = read_start(&mut body).await;
    let unfinished = match rest {
        // An object whose end is missing was cut off.
        BodyRemainder::Nothing if ends_with_connection && is_cut_object(&read) => {
            Some(("it was cut off", Some(CUT_OFF.into())))
        }
        BodyRemainder::Nothing => None,
        BodyRemainder::More => Some(("it is longer than 32 MiB", None)),
        BodyRemainder::Broken(error) => Some(("it was cut off", Some(error.into()))),
    };
    if let Some((why, broken)) = unfinished {
        // The response is passed on unparsed: the bytes read so far, and the rest.
        return (
            Response::from_parts(
                parts,
                Body::new(UnparsedBody::new(read, broken, body, exchange, why)),
            ),
            Some(why),
        );
    }
    let text = String::from_utf8(read);
    let outcome = text
        .as_deref()
        .map_or(ReplyOutcome::Unheard("it is not UTF-8 text"), parse_reply);
    let why = if let ReplyOutcome::Unheard(why) = outcome {
        Some(why)
    } else {
        None
    };
    if let Some(pending) = exchange.end(outcome) {
        pending.wait().await;
    }
    let body = match text
        .as_ref()
        .ok()
        .and_then(|text| with_hits(text, recalled))
    {
        Some(with_hits) => {
            parts.headers.remove(CONTENT_LENGTH);
            Body::from(with_hits)
        }
        None => Body::from(text.map_or_else(FromUtf8Error::into_bytes, String::into_bytes)),
    };
    (Response::from_parts(parts, body), why)
}

/// Returns whether a text starts as a JSON object and ends within it.
fn is_cut_object(text: &[u8]) -> bool {
    let is_object = text.trim_ascii_start().first() == Some(&b'{');
    let parsed = serde_json::from_slice::<IgnoredAny>(text);
    is_object && parsed.is_err_and(|error| error.is_eof())
}

/// State of a response body after reading its start.
enum BodyRemainder {
    Nothing,
    More,
    Broken(hyper::Error),
}

/// Reads the start of a response, up to the maximum length that is parsed.
async fn read_start(body: &mut Incoming) -> (Vec<u8>, BodyRemainder) {
    let mut read = Vec::new();
    while read.len() < LONGEST {
        match body.frame().await {
            None => return (read, BodyRemainder::Nothing),
            Some(Ok(frame)) => frame
                .into_data()
                .into_iter()
                .for_each(|piece| read.extend_from_slice(&piece)),
            Some(Err(error)) => return (read, BodyRemainder::Broken(error)),
        }
    }
    (read, BodyRemainder::More)
}
