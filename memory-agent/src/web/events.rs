//! A stream of server-sent events that reports operations of all processes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hyper::body::Frame;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::request::WebRequest;
use super::sessions::WebSession;
use super::state::WebState;

/// Interval between two checks for new operations.
const INTERVAL: Duration = Duration::from_secs(1);

/// Number of checks without an event after which a comment is sent, so that a lost connection is detected.
const CHECKS_PER_COMMENT: u32 = 15;

/// Sends the event `change` with the current mark whenever it differs from the last one, at first from the field `since`.
pub(super) async fn stream(request: WebRequest) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    let (web, session, since) = (
        Arc::clone(&request.web),
        Arc::clone(&request.session),
        request.query.get("since").to_owned(),
    );
    tokio::spawn(async move {
        tokio::select! {
            () = send_changes(&web, &session, since, &sender) => {}
            () = sender.closed() => {}
            () = web.end.cancelled() => {}
        }
    });
    let mut response = Response::new(Body::new(ChannelBody(receiver)));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

async fn send_changes(
    web: &Arc<WebState>,
    session: &Arc<WebSession>,
    since: String,
    sender: &mpsc::Sender<io::Result<Bytes>>,
) {
    let (mut last, mut checks) = (since, 0);
    loop {
        let (own, its_session) = (Arc::clone(web), Arc::clone(session));
        let find_mark = move || {
            let is_active = own.is_active(&its_session);
            is_active.then(|| own.change_mark())
        };
        // After a panic, which is already reported, the mark is unknown and the stream ends.
        let Ok(Some(mark)) = spawn_blocking(find_mark).await else {
            return;
        };
        let event = if mark == last {
            checks += 1;
            if checks < CHECKS_PER_COMMENT {
                sleep(INTERVAL).await;
                continue;
            }
            Bytes::from_static(b":\n\n")
        } else {
            Bytes::from(format!("event: change\ndata: {mark}\n\n"))
        };
        (last, checks) = (mark, 0);
        if sender.send(Ok(event)).await.is_err() {
            return;
        }
        sleep(INTERVAL).await;
    }
}

/// A response body of parts that are sent while they are made; an error ends it early.
pub(super) struct ChannelBody(pub(super) mpsc::Receiver<io::Result<Bytes>>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0
            .poll_recv(context)
            .map(|part| part.map(|part| part.map(Frame::data)))
    }
}
