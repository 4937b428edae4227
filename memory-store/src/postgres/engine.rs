//! Having connections work while somebody waits.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Runtime};

/// One thread that serves all connections of a database.
///
/// Whoever waits does so on their own thread, without entering a runtime as the blocking clients do: so they may be on a thread of
/// another runtime, and may let go of this anywhere.
#[derive(Debug)]
pub(super) struct Engine {
    runtime: Option<Runtime>,
}

impl Engine {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_io().enable_time().build()?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Waits for `future`.
    pub(super) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = self.runtime.as_ref().expect("it is taken when this is dropped");
        let _inside = runtime.enter();
        let waker = Waker::from(Arc::new(Waiting(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(value) => return value,
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A runtime must not be waited for on a thread of another one.
            runtime.shutdown_background();
        }
    }
}

struct Waiting(Thread);

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
