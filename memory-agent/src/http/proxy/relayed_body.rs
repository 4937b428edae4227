//! Response bodies that are passed on while their text is recorded.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use memory_core::{Code, ToolError};

use super::exchange::Exchange;
use super::reply::{ReplyOutcome, ReplyParser};
use super::turn_writer::PendingWrite;
use crate::{exact_json, json};

/// The message of a response that ends before it is complete.
pub(super) const CUT_OFF: &str =
    "the model server closed the connection before its answer was complete";

/// An event stream that is passed on byte for byte and parsed at the same time.
///
/// A stream that breaks off ends in an error event and breaks off for the client as well; a client that disconnects cancels the
/// upstream request.
pub(super) struct RecordedBody {
    body: Incoming,
    /// Whether the end of the connection is the end of the body, so that nothing else shows that the body is complete.
    ends_with_connection: bool,
    heard: ReplyParser,
    /// Present until the response of the model is complete.
    exchange: Option<Exchange>,
    last: HeldFrame,
    /// The error that follows the error event.
    cut: Option<BoxError>,
    broken: DeferredError,
}

/// An error of the body that is reported after all earlier data was sent.
#[derive(Debug, Default)]
struct DeferredError(Option<BoxError>);

impl DeferredError {
    /// Stores the error for the next poll, so that the server first flushes the data it already has.
    fn defer<T>(&mut self, error: BoxError, context: &Context<'_>) -> Poll<T> {
        self.0 = Some(error);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

type WriteFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

type FrameResult = Option<Result<Frame<Bytes>, BoxError>>;

/// The last frame of a response, held back until the turns of the response are written.
#[derive(Default)]
struct HeldFrame(Option<(FrameResult, WriteFuture)>);

impl HeldFrame {
    /// Returns the frame if it does not have to wait; otherwise holds it back.
    fn poll_after(
        &mut self,
        frame: FrameResult,
        pending: Option<PendingWrite>,
        context: &mut Context<'_>,
    ) -> Poll<FrameResult> {
        let Some(pending) = pending else {
            return Poll::Ready(frame);
        };
        self.0 = Some((frame, Box::pin(pending.wait())));
        self.poll(context).unwrap_or(Poll::Pending)
    }

    /// Polls the frame that is held back, if there is one.
    fn poll(&mut self, context: &mut Context<'_>) -> Option<Poll<FrameResult>> {
        let (_, written) = self.0.as_mut()?;
        match written.as_mut().poll(context) {
            Poll::Ready(()) => self.0.take().map(|(frame, _)| Poll::Ready(frame)),
            Poll::Pending => Some(Poll::Pending),
        }
    }
}

impl RecordedBody {
    pub(super) fn new(body: Incoming, ends_with_connection: bool, exchange: Exchange) -> Self {
        Self {
            body,
            ends_with_connection,
            heard: ReplyParser::default(),
            exchange: Some(exchange),
            last: HeldFrame::default(),
            cut: None,
            broken: DeferredError::default(),
        }
    }

    /// Breaks the stream off, after an error event if none of its own is incomplete.
    fn break_off(
        &mut self,
        error: BoxError,
        is_between_events: bool,
        context: &Context<'_>,
    ) -> Poll<FrameResult> {
        let is_incomplete = self.exchange.take().is_some();
        // A body of a known length has no room for another event.
        if !is_incomplete || !is_between_events || self.body.size_hint().upper().is_some() {
            return self.broken.defer(error, context);
        }
        self.cut = Some(error);
        let error = ToolError::new(Code::ModelFailed, CUT_OFF, None);
        let event = format!(
            "data: {}\n\n",
            exact_json::to_text(&json::tool_error(&error))
        );
        Poll::Ready(Some(Ok(Frame::data(event.into()))))
    }

    /// Parses a chunk of the response.
    fn parse_chunk(&mut self, piece: &Bytes) -> Option<PendingWrite> {
        let mut outcome = self.heard.push_chunk(piece);
        // With a known length, the server does not poll for the end of the body.
        if outcome.is_none() && self.body.is_end_stream() {
            outcome = self.heard.finish();
        }
        self.end_exchange(outcome)
    }

    fn end_exchange(&mut self, outcome: Option<ReplyOutcome>) -> Option<PendingWrite> {
        let outcome = outcome?;
        self.exchange.take()?.end_late(outcome)
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        // Some clients disconnect after the last event, before the end of the stream.
        if self.exchange.is_some() {
            let outcome = self.heard.cancel();
            self.end_exchange(outcome);
        }
    }
}

impl HttpBody for RecordedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<FrameResult> {
        if let Some(error) = self.broken.0.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(error) = self.cut.take() {
            return self.broken.defer(error, context);
        }
        if let Some(last) = self.last.poll(context) {
            return last;
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let is_between_events = self.heard.is_between_events();
        let pending = match frame {
            Some(Err(error)) => return self.break_off(error.into(), is_between_events, context),
            Some(Ok(ref frame)) => frame.data_ref().and_then(|piece| self.parse_chunk(piece)),
            None => {
                let outcome = self.heard.finish();
                if self.ends_with_connection && !self.heard.has_end() && self.exchange.is_some() {
                    return self.break_off(CUT_OFF.into(), is_between_events, context);
                }
                self.end_exchange(outcome)
            }
        };
        let frame = frame.map(|frame| frame.map_err(BoxError::from));
        self.last.poll_after(frame, pending, context)
    }

    fn is_end_stream(&self) -> bool {
        // The end must be polled until the exchange has ended, because polling records it.
        self.exchange.is_none()
            && self.last.0.is_none()
            && self.cut.is_none()
            && self.broken.0.is_none()
            && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response that is passed on unparsed: the part read so far, followed by the rest or an error.
pub(super) struct UnparsedBody {
    read: Option<Bytes>,
    ends: Option<BoxError>,
    broken: DeferredError,
    rest: Incoming,
    /// Present until the end of the body, with the reason why the response is not stored.
    exchange: Option<(Exchange, &'static str)>,
    last: HeldFrame,
}

impl UnparsedBody {
    pub(super) fn new(
        read: Vec<u8>,
        broken: Option<BoxError>,
        rest: Incoming,
        exchange: Exchange,
        why: &'static str,
    ) -> Self {
        let read = (!read.is_empty()).then(|| read.into());
        let (broken, ends) = (DeferredError::default(), broken);
        Self {
            read,
            ends,
            broken,
            rest,
            exchange: Some((exchange, why)),
            last: HeldFrame::default(),
        }
    }

    fn end_exchange(&mut self) -> Option<PendingWrite> {
        let (exchange, why) = self.exchange.take()?;
        exchange.end(ReplyOutcome::Unheard(why))
    }
}

impl HttpBody for UnparsedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<FrameResult> {
        if let Some(read) = self.read.take() {
            return Poll::Ready(Some(Ok(Frame::data(read))));
        }
        if let Some(error) = self.broken.0.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(error) = self.ends.take() {
            self.exchange = None;
            return self.broken.defer(error, context);
        }
        if let Some(last) = self.last.poll(context) {
            return last;
        }
        let frame = ready!(Pin::new(&mut self.rest).poll_frame(context));
        let pending = match frame {
            Some(Err(error)) => {
                self.exchange = None;
                return self.broken.defer(error.into(), context);
            }
            Some(Ok(_)) if !self.rest.is_end_stream() => None,
            Some(Ok(_)) | None => self.end_exchange(),
        };
        let frame = frame.map(|frame| frame.map_err(BoxError::from));
        self.last.poll_after(frame, pending, context)
    }
}
