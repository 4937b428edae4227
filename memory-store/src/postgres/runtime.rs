//! The thread of the connections, and blocking waits for futures.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Runtime};

/// A runtime with one thread, which serves all connections of a database.
///
/// A caller polls its future on its own thread and parks it, without `block_on`. Therefore the caller may run on a
/// thread of another runtime, and the engine may be dropped on any thread.
#[derive(Debug)]
pub(super) struct DatabaseRuntime {
    runtime: Option<Runtime>,
}

impl DatabaseRuntime {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_io().enable_time().build()?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Blocks until `future` is complete, and returns its output.
    pub(super) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = self.runtime.as_ref().expect("it is taken when this is dropped");
        let _inside = runtime.enter();
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
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

impl Drop for DatabaseRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A blocking shutdown is not allowed on a thread of another runtime.
            runtime.shutdown_background();
        }
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
