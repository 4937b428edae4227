//! The body of a request, with a limit on the time that the server waits for the client.

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::EXPECT;
use axum::http::{Extensions, Request};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

/// The body of a request, which its handler reads; then the server drains the rest.
///
/// Most clients read no response before they have sent everything; if the connection is closed earlier, they never see
/// the reason of a rejection.
///
/// All waits for the client share one limit of time, whoever reads. After it, the body ends with [`LateBody`].
#[derive(Debug)]
pub(super) struct ClientBody<B = Incoming> {
    state: Arc<Mutex<ClientBodyState<B>>>,
    /// Whether the client sends no body before it receives `100 Continue`.
    awaits_continue: bool,
}

#[derive(Debug)]
struct ClientBodyState<B> {
    body: B,
    limit: Duration,
    /// The time that is left for further waits.
    left: Duration,
    waiting_since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
    /// Whether data that was received extends the time.
    is_upload: bool,
}

/// Maximum number of bytes to drain: about the largest body that is accepted.
const MAX_DRAINED: usize = 16 << 20;

/// The time that a received KiB of an upload adds: a client must send 16 KiB per second.
const TIME_PER_KIB: Duration = Duration::from_micros(62_500);

/// Lets the body of a request with these extensions take longer, see [`ClientBody::allow_upload`].
pub(crate) fn allow_upload(extensions: &Extensions) {
    if let Some(body) = extensions.get::<ClientBody>() {
        body.allow_upload();
    }
}

/// The error of a body that was not received in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body was not received within {} s", .0.as_secs())]
pub(super) struct LateBody(Duration);

impl LateBody {
    /// Returns the error if it is among the causes of `error`.
    pub(super) fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        match error.downcast_ref::<Self>() {
            Some(late) => Some(*late),
            None => Self::find(error.source()?),
        }
    }
}

/// The body of a request as the server reads it.
pub(super) trait ReceivedBody:
    HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static
{
}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + Unpin + 'static> ReceivedBody
    for B
{
}

impl<B> Clone for ClientBody<B> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            awaits_continue: self.awaits_continue,
        }
    }
}

impl<B: ReceivedBody> ClientBody<B> {
    /// Splits a request into its body, and the request for the handler, which reads the same body.
    pub(super) fn split(request: Request<B>, limit: Duration) -> (Self, Request<Body>) {
        let awaits_continue = request.headers().contains_key(EXPECT);
        let (mut head, body) = request.into_parts();
        let body = Self {
            state: Arc::new(Mutex::new(ClientBodyState {
                body,
                limit,
                left: limit,
                waiting_since: None,
                timer: Box::pin(sleep(limit)),
                is_upload: false,
            })),
            awaits_continue,
        };
        head.extensions.insert(body.clone());
        (body.clone(), Request::from_parts(head, Body::new(body)))
    }

    /// Lets the body take longer, while the client sends at least 1 KiB per [`TIME_PER_KIB`] and never stops for the whole limit.
    ///
    /// It is for a body of any length that is passed on.
    pub(super) fn allow_upload(&self) {
        self.lock().is_upload = true;
    }

    /// Reads and discards the unread body, as long as the time limit allows.
    ///
    /// A client that sends more than the maximum, or takes longer, is disconnected.
    pub(super) async fn drain(mut self) {
        if self.awaits_continue {
            return;
        }
        let mut left = MAX_DRAINED;
        while let Some(Ok(frame)) = poll_fn(|context| Pin::new(&mut self).poll_frame(context)).await
        {
            // An empty frame also takes some bytes on the wire.
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len).max(1));
            if left == 0 {
                break;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ClientBodyState<B>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: ReceivedBody> ClientBodyState<B> {
    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some(since) = self.waiting_since.take() {
                self.left = self.left.saturating_sub(since.elapsed());
            }
            if let (true, Some(Ok(frame))) = (self.is_upload, &frame) {
                self.extend(frame.data_ref().map_or(0, Bytes::len));
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            self.timer.as_mut().reset(now + self.left);
        }
        ready!(self.timer.as_mut().poll(context));
        self.left = Duration::ZERO;
        Poll::Ready(Some(Err(LateBody(self.limit).into())))
    }

    fn extend(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let more = TIME_PER_KIB.saturating_mul(bytes) / 1024;
        self.left = self.left.saturating_add(more).min(self.limit);
    }
}

impl<B: ReceivedBody> HttpBody for ClientBody<B> {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        self.lock().poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.lock().body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.lock().body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// A client that sends a number of frames of this length, each after one wait, and then nothing.
    struct FakeClient {
        frames: usize,
        length: usize,
        waits: Option<Pin<Box<Sleep>>>,
    }

    impl FakeClient {
        fn body(frames: usize, length: usize, limit: Duration) -> ClientBody<Self> {
            let waits = None;
            let request = Request::new(Self {
                frames,
                length,
                waits,
            });
            ClientBody::split(request, limit).0
        }
    }

    impl HttpBody for FakeClient {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            if self.frames == 0 {
                return Poll::Pending;
            }
            let wait = self
                .waits
                .get_or_insert_with(|| Box::pin(sleep(Duration::from_millis(2))));
            ready!(wait.as_mut().poll(context));
            self.waits = None;
            self.frames -= 1;
            let data = Bytes::from(vec![b'x'; self.length]);
            Poll::Ready(Some(Ok(Frame::data(data))))
        }
    }

    /// Reads a body to its end, and returns the number of its frames and its error.
    async fn read<B: ReceivedBody>(body: &ClientBody<B>) -> (usize, Option<LateBody>) {
        let mut body = body.clone();
        let mut frames = 0;
        loop {
            match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
                Some(Ok(_)) => frames += 1,
                Some(Err(error)) => return (frames, LateBody::find(error.as_ref())),
                None => return (frames, None),
            }
        }
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(test);
    }

    #[test]
    fn a_body_that_trickles_ends_although_each_wait_is_short() {
        run(async {
            let limit = Duration::from_millis(10);
            let body = FakeClient::body(usize::MAX, 1, limit);
            let (frames, late) = read(&body).await;
            assert_eq!(late, Some(LateBody(limit)));
            assert!(frames <= 5, "{frames} waits of 2 ms exceed the limit");
            let upload = FakeClient::body(usize::MAX, 1, limit);
            upload.allow_upload();
            assert_eq!(read(&upload).await.1, Some(LateBody(limit)));
        });
    }

    #[test]
    fn nothing_is_waited_for_after_the_limit_whoever_reads() {
        run(async {
            let body = FakeClient::body(0, 1, Duration::from_millis(1));
            assert_eq!(read(&body).await.0, 0);
            let mut drain = Box::pin(body.drain());
            let first = poll_fn(|context| Poll::Ready(drain.as_mut().poll(context))).await;
            assert!(first.is_ready());
        });
    }

    #[test]
    fn an_upload_lasts_as_long_as_it_goes_on() {
        run(async {
            let body = FakeClient::body(50, 1 << 20, Duration::from_millis(50));
            body.allow_upload();
            assert_eq!(read(&body).await.0, 50);
        });
    }
}
