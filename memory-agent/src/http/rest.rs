//! What is left of a request that is answered already.

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

/// What is left of a request that is answered already. Most clients read no answer before they have sent everything, and one that is
/// cut off meanwhile never hears why it was refused.
#[derive(Debug)]
pub(super) struct Rest {
    body: Shared,
    /// Whether the client sends nothing before it is asked to.
    waits: bool,
}

/// So much of it is read, in bytes: about as much as a body may hold that is not refused.
const POLITE: usize = 16 << 20;

/// A body that is read to its end by whoever comes last.
#[derive(Debug, Clone)]
struct Shared(Arc<Mutex<Incoming>>);

impl Rest {
    /// Returns a request to be answered, and what will be left of it.
    pub(super) fn of(request: Request<Incoming>) -> (Self, Request<Body>) {
        let waits = request.headers().contains_key(EXPECT);
        let (head, body) = request.into_parts();
        let body = Shared(Arc::new(Mutex::new(body)));
        (Self { body: body.clone(), waits }, Request::from_parts(head, Body::new(body)))
    }

    /// Lets the client send what is left, for so long.
    pub(super) async fn take(mut self, time: Duration) {
        if self.waits {
            return;
        }
        let next = |body: &mut Shared, context: &mut Context<'_>| Pin::new(body).poll_frame(context);
        let mut left = POLITE;
        let all = async {
            while let Some(Ok(frame)) = poll_fn(|context| next(&mut self.body, context)).await {
                // A frame that holds nothing took some bytes on the way as well.
                left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len).max(1));
                if left == 0 {
                    break;
                }
            }
        };
        // Whoever takes longer, or sends more, is cut off.
        let _ = timeout(time, all).await;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut *self.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().size_hint()
    }
}
