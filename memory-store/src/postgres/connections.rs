//! Connections: their creation, their thread, transactions on them, and servers that have stopped responding.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use memory_core::{Code, SystemClock};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use tokio_postgres::Client;
use tokio_postgres::config::SslNegotiation;
use tokio_postgres_rustls::MakeRustlsConnect;
use zeroize::Zeroizing;

use super::address::DatabaseAddress;
use super::error::{DatabaseError, database_error};
use super::tls::tls_connector;

/// Returns the address of a database or a token, which a person may change while programs run; `None` if it cannot be read.
#[derive(Clone)]
pub(super) struct TextSource(pub(super) Arc<dyn Fn() -> Option<Zeroizing<String>> + Send + Sync>);

impl fmt::Debug for TextSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TextSource")
    }
}

/// Minimum time between two checks of the address while connections are open.
const ADDRESS_INTERVAL: Duration = Duration::from_secs(2);

/// The address that new connections use.
#[derive(Debug)]
struct CurrentAddress {
    address: Arc<DatabaseAddress>,
    /// The text that the source returned last.
    text: Option<Zeroizing<String>>,
    changed: Option<std::time::Instant>,
    checked: std::time::Instant,
}

/// The connection manager of the pool.
#[derive(Debug)]
pub(super) struct ConnectionManager {
    current: Mutex<CurrentAddress>,
    pub(super) source: OnceLock<TextSource>,
    /// The last time at which a connection worked or was lost.
    last_alive: Arc<Mutex<Option<Instant>>>,
}

impl ConnectionManager {
    /// Returns the manager for an address. It does not connect yet.
    pub(super) fn new(address: DatabaseAddress) -> Self {
        Self {
            current: Mutex::new(CurrentAddress {
                address: Arc::new(address),
                text: None,
                changed: None,
                checked: std::time::Instant::now(),
            }),
            source: OnceLock::new(),
            last_alive: Arc::default(),
        }
    }

    /// Returns the current address.
    pub(super) fn address(&self) -> Arc<DatabaseAddress> {
        Arc::clone(&self.current().address)
    }

    fn current(&self) -> MutexGuard<'_, CurrentAddress> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adopts the address of the source, if it changed. One that cannot be read or parsed changes nothing.
    pub(super) fn follow_source(&self) {
        let Some(TextSource(read)) = self.source.get() else {
            return;
        };
        let read = read();
        let mut current = self.current();
        let now = std::time::Instant::now();
        current.checked = now;
        if read.is_none() || read == current.text {
            return;
        }
        let is_first = current.text.is_none();
        if let Some(Ok(address)) = read.as_ref().map(|text| DatabaseAddress::parse(text)) {
            current.address = Arc::new(address);
            current.text = read;
            if !is_first {
                current.changed = Some(now);
            }
        }
    }

    /// Returns the number of hosts in the address.
    pub(super) fn host_count(&self) -> usize {
        let address = self.address();
        let hosts = address.config.get_hosts().len();
        hosts.max(address.config.get_hostaddrs().len())
    }

    /// Records that a connection has worked until now.
    pub(super) fn record_alive(&self) {
        record_alive(&self.last_alive);
    }

    /// Returns the last time at which a connection worked or was lost.
    pub(super) fn last_alive(&self) -> Option<Instant> {
        *self
            .last_alive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the TLS connector. The file of authorities is read each time, since it may change.
    pub(super) fn tls_connector(&self) -> Result<MakeRustlsConnect, DatabaseError> {
        let DatabaseAddress {
            config,
            trust,
            roots,
        } = &*self.address();
        // The TLS library panics before 1970.
        if SystemClock::is_wrong() {
            return Err(DatabaseError::Other(database_error(
                "the database cannot be reached",
                Code::WrongClock,
                "set the clock",
                Some(SystemClock::WRONG.to_owned()),
            )));
        }
        let is_direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
        tls_connector(*trust, roots.as_deref(), is_direct).map_err(DatabaseError::Authorities)
    }
}

fn record_alive(last_alive: &Mutex<Option<Instant>>) {
    *last_alive.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

impl Manager for ConnectionManager {
    type Type = Client;
    type Error = DatabaseError;

    async fn create(&self) -> Result<Client, DatabaseError> {
        self.follow_source();
        let connecting = (self.address(), self.tls_connector()?);
        let (client, connection) = connecting.0.config.connect(connecting.1).await?;
        // The task ends with the client. An earlier error is reported to the next caller of the client.
        let last_alive = Arc::clone(&self.last_alive);
        tokio::spawn(async move {
            // A connection that was closed on this side is no sign of life of the server.
            if connection.await.is_err() {
                record_alive(&last_alive);
            }
        });
        Ok(client)
    }

    async fn recycle(&self, client: &mut Client, used: &Metrics) -> RecycleResult<DatabaseError> {
        if ADDRESS_INTERVAL <= self.current().checked.elapsed() {
            self.follow_source();
        }
        let changed = self.current().changed;
        if client.is_closed() {
            Err(RecycleError::message("the connection was lost"))
        } else if changed.is_some_and(|changed| used.created < changed) {
            Err(RecycleError::message("the address was changed"))
        } else {
            Ok(())
        }
    }
}

/// Runs `work` in a transaction, which is rolled back if `work` fails.
pub(super) async fn run_transaction<T>(
    client: &Client,
    work: impl AsyncFnOnce() -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    client.batch_execute(BEGIN).await?;
    end_transaction(client, work().await).await
}

/// The statement that begins a transaction.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Commits the transaction of a successful result, or rolls it back, and returns the result.
pub(super) async fn end_transaction<T>(
    client: &Client,
    done: Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    match done {
        Ok(done) => {
            client.batch_execute("COMMIT").await?;
            Ok(done)
        }
        Err(trouble) => {
            // The first error is returned, not one of the rollback.
            let _ = client.batch_execute("ROLLBACK").await;
            Err(trouble)
        }
    }
}

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
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Runs `future` in the background, until it is complete or the runtime is dropped.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(future);
        }
    }

    /// Blocks until `future` is complete, and returns its output.
    pub(super) fn wait_for<T>(&self, future: impl Future<Output = T>) -> T {
        let runtime = self
            .runtime
            .as_ref()
            .expect("it is taken when this is dropped");
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

/// The number of pauses for which an attempt of another process counts.
const OTHER_PAUSES: u32 = 4;

/// The state of a server that may have stopped responding.
///
/// While it does not respond, one call tries it again after each pause, and all other calls fail immediately.
#[derive(Debug, Default)]
pub(super) struct CircuitBreaker {
    /// The time at which a call last found the server unresponsive, or started to try it again.
    tried: Mutex<Option<Instant>>,
    /// The file in which processes share this time, if they do.
    pub(super) file: Option<OutageFile>,
}

/// A file that exists while the server does not respond. Its modification time is that of the last attempt of any process.
#[derive(Debug)]
pub(super) struct OutageFile {
    pub path: PathBuf,
    /// Whether the attempts of other processes count.
    pub is_read: AtomicBool,
    /// Whether this process records its own attempts.
    pub is_written: bool,
}

impl OutageFile {
    /// Returns whether the last attempt was within `pause`. If it was earlier, the attempt of the caller is recorded.
    fn has_recent_attempt(&self, pause: Duration) -> bool {
        let read = || fs::metadata(&self.path).ok()?.modified().ok();
        let Some(last) = read().filter(|_| self.is_read.load(Ordering::Relaxed)) else {
            return false;
        };
        // A time in the future is that of another clock.
        let is_recent = last.elapsed().is_ok_and(|age| age < pause);
        if !is_recent {
            self.record_attempt();
        }
        is_recent
    }

    fn record_attempt(&self) {
        if self.is_written {
            // Without the file, each process waits for the server itself.
            let _ = fs::write(&self.path, "");
        }
    }

    fn remove(&self) {
        if self.is_written {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl CircuitBreaker {
    /// Returns whether a call may try the server at `now`: not less than `pause` after the last attempt.
    pub(super) fn allows_call(&self, now: Instant, pause: Duration) -> bool {
        let mut tried = self.lock();
        match *tried {
            Some(last) if now < last + pause => false,
            Some(_) => {
                *tried = Some(now);
                true
            }
            None => self
                .file
                .as_ref()
                .is_none_or(|file| !file.has_recent_attempt(pause * OTHER_PAUSES)),
        }
    }

    /// Records that the server did not respond.
    pub(super) fn record_failure(&self, now: Instant) {
        *self.lock() = Some(now);
        self.file.iter().for_each(OutageFile::record_attempt);
    }

    /// Records that the server responded.
    pub(super) fn record_success(&self) {
        let was_silent = self.lock().take().is_some();
        if let Some(file) = self
            .file
            .as_ref()
            .filter(|file| was_silent || file.path.exists())
        {
            file.remove();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_at_a_time_tries_a_silent_server_again() {
        let (silence, start) = (CircuitBreaker::default(), Instant::now());
        let second = Duration::from_secs(1);
        let admits = |seconds: u32| silence.allows_call(start + second * seconds, second * 5);
        assert!(admits(0) && admits(0));
        silence.record_failure(start);
        assert!(!admits(1) && !admits(4));
        assert!(admits(5), "one call tries it");
        assert!(!admits(5) && !admits(9), "the others fail meanwhile");
        silence.record_success();
        assert!(admits(9) && admits(9));
    }

    #[test]
    fn an_attempt_of_another_process_counts_until_the_server_responds() {
        let folder = tempfile::tempdir().unwrap();
        let open = |is_read: bool, is_written: bool| CircuitBreaker {
            file: Some(OutageFile {
                path: folder.path().join("outage"),
                is_read: is_read.into(),
                is_written,
            }),
            ..CircuitBreaker::default()
        };
        let (now, pause) = (Instant::now(), Duration::from_secs(5));
        let brief = open(true, false);
        brief.record_failure(now);
        assert!(
            open(true, true).allows_call(now, pause),
            "a brief attempt is no evidence"
        );
        let first = open(true, true);
        first.record_failure(now);
        assert!(!open(true, true).allows_call(now, pause));
        assert!(!open(true, false).allows_call(now, pause));
        assert!(open(false, true).allows_call(now, pause));
        let later = open(true, true);
        assert!(later.allows_call(now, Duration::ZERO), "the pause is over");
        first.record_success();
        assert!(open(true, true).allows_call(now, pause));
    }
}
