//! Drains the unread body of a request after its response.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use axum::http::header::EXPECT;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::timeout;

/// The unread body of a request that already has its response.
///
/// Most clients read no response before they have sent everything; if the connection is closed earlier, they never see
/// the reason of a rejection.
#[derive(Debug)]
pub(super) struct BodyDrain {
    body: SharedBody,
    /// Whether the client sends no body before it receives `100 Continue`.
    waits: bool,
}

/// Maximum number of bytes to drain: about the largest body that is accepted.
const MAX_DRAINED: usize = 16 << 20;

/// A body that the handler and the drain can both read.
#[derive(Debug, Clone)]
struct SharedBody(Arc<Mutex<Incoming>>);

impl BodyDrain {
    /// Splits a request into the drain of its body and the request for the handler.
    pub(super) fn of(request: Request<Incoming>) -> (Self, Request<Body>) {
        let waits = request.headers().contains_key(EXPECT);
        let (head, body) = request.into_parts();
        let body = SharedBody(Arc::new(Mutex::new(body)));
        (
            Self {
                body: body.clone(),
                waits,
            },
            Request::from_parts(head, Body::new(body)),
        )
    }

    /// Reads and discards the unread body, for at most `time`.
    pub(super) async fn drain(mut self, time: Duration) {
        if self.waits {
            return;
        }
        let next =
            |body: &mut SharedBody, context: &mut Context<'_>| Pin::new(body).poll_frame(context);
        let mut left = MAX_DRAINED;
        let all = async {
            while let Some(Ok(frame)) = poll_fn(|context| next(&mut self.body, context)).await {
                // An empty frame also takes some bytes on the wire.
                left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len).max(1));
                if left == 0 {
                    break;
                }
            }
        };
        // A client that sends more or takes longer is disconnected.
        let _ = timeout(time, all).await;
    }
}

impl SharedBody {
    fn lock(&self) -> MutexGuard<'_, Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut *self.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}
