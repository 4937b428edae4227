//! TCP connections that acknowledge received data immediately.
//!
//! The chat proxy uses them on both sides: for its clients and for the upstream server.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

/// A TCP connection that acknowledges received data immediately.
///
/// A peer that writes the head and the body of a message separately, with Nagle's algorithm enabled, sends the body
/// only after the head is acknowledged. Linux delays that acknowledgement by 40 ms on a connection on which requests
/// and responses alternate.
#[derive(Debug)]
pub(super) struct QuickAck(TokioIo<TcpStream>);

impl QuickAck {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(TokioIo::new(stream))
    }

    /// Sends a pending acknowledgement. The system resets the option, so it is set after each read.
    #[cfg(target_os = "linux")]
    fn acknowledge(&self) {
        // Without the option, the connection is as slow as usual.
        let _ = rustix::net::sockopt::set_tcp_quickack(self.0.inner(), true);
    }
}

impl Read for QuickAck {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        #[cfg(target_os = "linux")]
        if let Poll::Ready(Ok(())) = &read {
            self.acknowledge();
        }
        read
    }
}

impl Write for QuickAck {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl Connection for QuickAck {
    fn connected(&self) -> Connected {
        self.0.connected()
    }
}

/// Opens connections that acknowledge immediately.
#[derive(Debug, Clone)]
pub(super) struct QuickAckConnector(pub(super) HttpConnector);

impl Service<Uri> for QuickAckConnector {
    type Response = QuickAck;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.0.call(uri);
        Box::pin(async move { connecting.await.map(QuickAck) })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::net::sockopt::tcp_quickack;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn what_was_read_is_acknowledged_at_once_however_often_both_sides_took_turns() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let mut peer = TcpStream::connect(listener.local_addr().expect("an address"))
                .await
                .expect("a connection");
            let (stream, _) = listener.accept().await.expect("a connection");
            let mut own = TokioIo::new(QuickAck::new(stream));
            let mut text = [0; 4];
            for turn in 0..5 {
                peer.write_all(b"asks").await.expect("it takes it");
                own.read_exact(&mut text).await.expect("it is there");
                assert_eq!(tcp_quickack(own.inner().0.inner()), Ok(true), "turn {turn}");
                own.write_all(b"says").await.expect("it takes it");
                peer.read_exact(&mut text).await.expect("it is there");
            }
            assert_eq!(&text, b"says");
        });
    }
}
