//! A stream that is passed on as it comes, and listened to.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

use super::exchange::Exchange;
use super::reply::Heard;

/// A stream of events that is passed on as it comes, byte for byte, and listened to. Its end waits until what was said is kept, for a time.
/// One that breaks off ends broken; whoever stops reading lets go of the server as well.
pub(super) struct Relayed {
    body: Incoming,
    heard: Heard,
    /// As long as the model has not said all.
    exchange: Option<Exchange>,
    held: Option<Held>,
    broken: Broken,
}

/// The end of a stream, and until when it is held.
struct Held {
    kept: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// The last piece, if there is one.
    piece: Option<Bytes>,
}

/// That something broke off, which is told once all that came before was sent.
#[derive(Debug, Default)]
struct Broken(Option<hyper::Error>);

impl Broken {
    /// Returns that it is told the next time: whoever sends looks away for a moment, and sends what is there.
    fn later<T>(&mut self, error: hyper::Error, context: &Context<'_>) -> Poll<T> {
        self.0 = Some(error);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Relayed {
    pub(super) fn new(body: Incoming, exchange: Exchange) -> Self {
        Self { body, heard: Heard::default(), exchange: Some(exchange), held: None, broken: Broken::default() }
    }

    /// Listens to a piece, and returns what of it is sent now; nothing if all of it waits.
    fn hear(&mut self, mut piece: Bytes) -> Option<Bytes> {
        let mut said = self.heard.take(&piece);
        // Whoever knows how long a body is does not ask for its end.
        if said.is_none() && self.body.is_end_stream() {
            said = self.heard.end();
        }
        let exchange = self.exchange.take_if(|_| said.is_some());
        let Some(exchange) = exchange else { return Some(piece) };
        let last = piece.split_off(last_event(&piece));
        self.held = Some(Held { kept: Box::pin(exchange.end(said)), piece: Some(last) });
        Some(piece).filter(|piece| !piece.is_empty())
    }
}

/// Returns where the line begins that tells that it was all; 0 if none does.
fn last_event(piece: &[u8]) -> usize {
    let done = piece.windows(6).rposition(|part| part == b"[DONE]").unwrap_or(0);
    piece[..done].iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1)
}

impl Drop for Relayed {
    fn drop(&mut self) {
        // Some do not wait for the end once they have heard all.
        if let Some(exchange) = self.exchange.take() {
            drop(exchange.end(self.heard.end()));
        }
    }
}

impl HttpBody for Relayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(error) = self.broken.0.take() {
            return Poll::Ready(Some(Err(error)));
        }
        loop {
            if let Some(held) = &mut self.held {
                ready!(held.kept.as_mut().poll(context));
                let piece = held.piece.take();
                self.held = None;
                return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => {
                        if let Some(now) = self.hear(piece) {
                            return Poll::Ready(Some(Ok(Frame::data(now))));
                        }
                    }
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => {
                    self.exchange = None;
                    return self.broken.later(error, context);
                }
                None => match self.exchange.take() {
                    Some(exchange) => {
                        let kept = exchange.end(self.heard.end());
                        self.held = Some(Held { kept: Box::pin(kept), piece: None });
                    }
                    None => return Poll::Ready(None),
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // That it is told to be over is how the end is heard.
        self.exchange.is_none() && self.held.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.held.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

/// What was read of an answer, and what follows: the rest, or that it breaks off.
#[derive(Debug)]
pub(super) struct Begun {
    read: Option<Bytes>,
    ends: Option<hyper::Error>,
    broken: Broken,
    rest: Incoming,
}

impl Begun {
    pub(super) fn new(read: Bytes, broken: Option<hyper::Error>, rest: Incoming) -> Self {
        Self { read: Some(read), ends: broken, broken: Broken::default(), rest }
    }
}

impl HttpBody for Begun {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(read) = self.read.take() {
            return Poll::Ready(Some(Ok(Frame::data(read))));
        }
        if let Some(error) = self.broken.0.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(error) = self.ends.take() {
            return self.broken.later(error, context);
        }
        Pin::new(&mut self.rest).poll_frame(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_that_tells_the_end_waits() {
        for (now, later) in [
            ("data: {}\n\n", "data: [DONE]\n\n"),
            ("data: {}\r\n\r\n", "data: [DONE]\r\n\r\n"),
            ("", "data: [DONE]\n\n"),
            ("", "NE]\n\n"),
            ("data: {\"a\":\"[DONE]\"}\n\n", "data: [DONE]"),
        ] {
            let piece = format!("{now}{later}");
            assert_eq!(&piece[last_event(piece.as_bytes())..], later);
        }
    }
}
