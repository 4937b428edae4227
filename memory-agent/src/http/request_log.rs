//! Logs one record per request of a server in the foreground.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use memory_core::conversation::ConversationId;
use memory_core::text::to_one_line;

/// Receives a record of each request when it is finished.
pub trait RequestLog: Send + Sync {
    /// Receives a record. It contains no message text, no key, and no URL query.
    fn record(&self, request: &RequestRecord);
}

/// A finished request.
///
/// Its text form is `key=value`, separated by spaces; values with spaces are in double quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// The method.
    pub method: String,
    /// The path, without its query.
    pub path: String,
    /// The status of the response; `None` if the client disconnected before there was one.
    pub status: Option<u16>,
    /// Time until the last byte of the response was sent.
    pub elapsed: Duration,
    /// Time that recall needed, as part of `elapsed`.
    pub recall: Option<Duration>,
    /// The data of a chat request.
    pub chat: Option<ChatRecord>,
}

/// The data of a chat request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatRecord {
    /// The conversation.
    pub conversation: ConversationId,
    /// Number of memories that the model received.
    pub hits: usize,
    /// Number of stored turns: the user message and the model response.
    pub stored: StoredTurns,
}

/// The number of stored turns of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredTurns {
    /// This number of turns.
    Turns(usize),
    /// The turns could not be stored so far; a warning gives the reason.
    Failed,
}

impl fmt::Display for RequestRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.elapsed.as_millis();
        match &self.chat {
            Some(chat) => {
                let (id, hits) = (quote_value(chat.conversation.as_str()), chat.hits);
                write!(
                    formatter,
                    "id={id} hits={hits} ms={milliseconds} stored={}",
                    chat.stored
                )?;
            }
            None => write!(
                formatter,
                "method={} path={} ms={milliseconds}",
                quote_value(&self.method),
                quote_value(&self.path)
            )?,
        }
        match self.status {
            Some(status) => write!(formatter, " status={status}"),
            None => formatter.write_str(" status=none"),
        }
    }
}

impl fmt::Display for StoredTurns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(count) => count.fmt(formatter),
            Self::Failed => formatter.write_str("failed"),
        }
    }
}

/// Maximum length of a value, in characters.
const MAX_VALUE: usize = 120;

/// Formats a value as one word, or in double quotes if necessary.
fn quote_value(text: &str) -> String {
    let text = to_one_line(text, MAX_VALUE);
    let is_word = !text.is_empty()
        && !text
            .contains(|letter: char| letter.is_whitespace() || ['"', '=', '\\'].contains(&letter));
    if is_word {
        text
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// A running request; its record is logged when the last clone is dropped: after its response was sent, and its turns were stored.
#[derive(Debug, Clone)]
pub(super) struct RequestTrace(Arc<TraceState>);

struct TraceState {
    log: Arc<dyn RequestLog>,
    begun: Instant,
    record: Mutex<RequestRecord>,
}

impl RequestTrace {
    fn begin(log: Arc<dyn RequestLog>, request: &Request) -> Self {
        let (method, path) = (
            request.method().to_string(),
            request.uri().path().to_owned(),
        );
        let record = RequestRecord {
            method,
            path,
            status: None,
            elapsed: Duration::ZERO,
            recall: None,
            chat: None,
        };
        Self(Arc::new(TraceState {
            log,
            begun: Instant::now(),
            record: Mutex::new(record),
        }))
    }

    /// Marks the request as a chat and records its recall.
    pub(super) fn record_recall(
        &self,
        conversation: &ConversationId,
        hits: usize,
        recall: Duration,
    ) {
        let mut record = self.0.lock_record();
        record.recall = Some(recall);
        record.chat = Some(ChatRecord {
            conversation: conversation.clone(),
            hits,
            stored: StoredTurns::Turns(0),
        });
    }

    /// Records the number of stored turns.
    pub(super) fn record_stored(&self, stored: StoredTurns) {
        if let Some(chat) = &mut self.0.lock_record().chat {
            chat.stored = stored;
        }
    }
}

impl TraceState {
    fn lock_record(&self) -> MutexGuard<'_, RequestRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TraceState {
    fn drop(&mut self) {
        let mut record = self.lock_record();
        if record.elapsed.is_zero() {
            // No response was sent.
            record.elapsed = self.begun.elapsed();
        }
        self.log.record(&record);
    }
}

impl fmt::Debug for TraceState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RequestTrace")
    }
}

/// Logs each request, including rejected ones. Handlers find the trace in the request extensions.
pub(super) async fn trace(
    State(log): State<Arc<dyn RequestLog>>,
    mut request: Request,
    next: Next,
) -> Response {
    let trace = RequestTrace::begin(log, &request);
    request.extensions_mut().insert(trace.clone());
    let response = next.run(request).await;
    trace.0.lock_record().status = Some(response.status().as_u16());
    response.map(|body| Body::new(TracedBody { body, trace }))
}

/// A response body that keeps the trace of its request until it is sent.
struct TracedBody {
    body: Body,
    trace: RequestTrace,
}

impl Drop for TracedBody {
    fn drop(&mut self) {
        let state = &self.trace.0;
        state.lock_record().elapsed = state.begun.elapsed();
    }
}

impl HttpBody for TracedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower_service::Service;

    use super::*;

    /// Stores the path and the status of each record.
    #[derive(Default)]
    struct RecordingLog(Mutex<Vec<(String, Option<u16>)>>);

    impl RequestLog for RecordingLog {
        fn record(&self, request: &RequestRecord) {
            self.0
                .lock()
                .expect("no thread panics")
                .push((request.path.clone(), request.status));
        }
    }

    #[test]
    fn a_request_is_recorded_once_its_answer_is_sent_to_the_end() {
        let records = Arc::new(RecordingLog::default());
        let log: Arc<dyn RequestLog> = records.clone();
        let mut router: Router = Router::new()
            .route("/slow", get(|| async { "all of it" }))
            .layer(from_fn_with_state(log, trace));
        let request = Request::builder()
            .uri("/slow")
            .body(Body::empty())
            .expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let Ok(mut response) = router.call(request).await;
            assert_eq!(response.body().size_hint().exact(), Some(9));
            let frame = response
                .body_mut()
                .frame()
                .await
                .expect("a frame")
                .expect("it is read");
            assert_eq!(frame.into_data().ok().as_deref(), Some(&b"all of it"[..]));
            assert!(
                records.0.lock().expect("no thread panics").is_empty(),
                "the answer is not over"
            );
            drop(response);
        });
        assert_eq!(
            *records.0.lock().expect("no thread panics"),
            [("/slow".to_owned(), Some(200))]
        );
    }

    fn record(chat: Option<ChatRecord>, path: &str, status: Option<u16>) -> String {
        let elapsed = Duration::from_micros(13_700);
        RequestRecord {
            method: "GET".into(),
            path: path.into(),
            status,
            elapsed,
            recall: None,
            chat,
        }
        .to_string()
    }

    fn chat(id: &str, stored: StoredTurns) -> ChatRecord {
        ChatRecord {
            conversation: id.parse().expect("an id"),
            hits: 2,
            stored,
        }
    }

    #[test]
    fn a_record_is_one_line_of_keys_and_values() {
        assert_eq!(
            record(Some(chat("default", StoredTurns::Turns(2))), "/", Some(200)),
            "id=default hits=2 ms=13 stored=2 status=200"
        );
        assert_eq!(
            record(Some(chat("a b\"c", StoredTurns::Failed)), "/", None),
            r#"id="a b\"c" hits=2 ms=13 stored=failed status=none"#
        );
        assert_eq!(
            record(None, "/v1/models", Some(403)),
            "method=GET path=/v1/models ms=13 status=403"
        );
        let odd = record(
            Some(chat("x\u{2028}stored=9", StoredTurns::Turns(0))),
            "/",
            Some(200),
        );
        assert_eq!(
            (odd.lines().count(), odd.matches("hits=").count()),
            (1, 1),
            "{odd}"
        );
        assert!(record(None, &"/x".repeat(400), Some(200)).len() < 300);
    }
}
