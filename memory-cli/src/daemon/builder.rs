//! Construction of the daemon, and its threads.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memory_agent::http::AccessToken;
use memory_agent::socket::InheritedListener;
use memory_core::{MemoryStore, StoreHealth, Tool};
use memory_dream::schedule::{CancellationToken, Schedule, ScheduleHistory, ScheduleRules};
use memory_store::disk::DirHandle;
use memory_store::{DaemonLock, EventLog, FileStore, FileStoreOptions, Freshness, LogFile};

use super::chores::HomeChores;
use super::daemon_log::DaemonLog;
use super::file_listener::{FileListener, ForeignWriteFlag};
use super::main_loop::{ChoreReport, DaemonEnd, run_chores, run_once};
use super::program_file::ProgramFile;
use super::servers::{DaemonServers, HttpBinding};
use crate::failure::{Failure, ProgramError};
use crate::home::{Home, KEPT};
use crate::http::ListenAddress;
use crate::shared_store::open_store;
use crate::wake_signal::WakeSignal;

/// The configuration of a [`Daemon`]; everything has a default.
///
/// [`Home::daemon`] creates it.
pub struct DaemonBuilder {
    home: Home,
    interval: Option<Duration>,
    log: LogTarget,
    http: Option<ListenAddress>,
    token: Option<AccessToken>,
    tools: Vec<Arc<dyn Tool>>,
    /// The listener of the service manager for the socket in the home.
    socket: Option<InheritedListener>,
}

/// The destination of the log.
enum LogTarget {
    /// The file `daemon.log` in the home.
    Home,
    /// A file.
    File(PathBuf),
    /// A writer.
    Writer(Box<dyn Write + Send>),
}

impl DaemonBuilder {
    pub(crate) fn new(home: Home) -> Self {
        Self {
            home,
            interval: None,
            log: LogTarget::Home,
            http: None,
            token: None,
            tools: Vec::new(),
            socket: None,
        }
    }

    /// Sets the interval of the maintenance; `daemon.interval` of the settings by default.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Writes the log to this file; `daemon.log` in the home by default.
    #[must_use]
    pub fn log_file(mut self, file: &Path) -> Self {
        self.log = LogTarget::File(file.to_owned());
        self
    }

    /// Writes the log to this writer, one line per write.
    #[must_use]
    pub fn log(mut self, writer: impl Write + Send + 'static) -> Self {
        self.log = LogTarget::Writer(Box::new(writer));
        self
    }

    /// Serves tools, instances and the Model Context Protocol (at `/mcp`) over HTTP at this address; port 0 selects a free port.
    ///
    /// Without a [`Self::token`], the address must be a loopback address, and only programs of the same user have access.
    #[must_use]
    pub fn http(self, address: SocketAddr) -> Self {
        self.listen_at(address.into())
    }

    pub(crate) fn listen_at(mut self, address: ListenAddress) -> Self {
        self.http = Some(address);
        self
    }

    /// Requires this token in HTTP requests.
    #[must_use]
    pub fn token(mut self, token: AccessToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Adds a custom tool, which the socket, HTTP and MCP serve like the other tools.
    ///
    /// Its name starts with a letter, continues with letters, digits, `_` and `-`, and differs from those of the other tools and from
    /// `ping` and `embed`; otherwise [`Self::start`] fails.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Serves agents on a listener of the service manager, if it listens at the socket of the home.
    pub(crate) fn socket(mut self, listener: Option<InheritedListener>) -> Self {
        self.socket = listener;
        self
    }

    /// Starts the daemon on threads of its own.
    ///
    /// With HTTP, it raises the limit of open files of the process, to 16,384 at most.
    ///
    /// # Errors
    /// If another daemon of the home is running, or the log, the HTTP address or a tool cannot be used.
    pub fn start(self) -> Result<Daemon, ProgramError> {
        Ok(self.start_threads()?)
    }

    fn start_threads(self) -> Result<Daemon, Failure> {
        let opened = self.open(true)?;
        let (stop, http) = (opened.stop_handle(), opened.http_address());
        let socket = opened
            .servers
            .as_ref()
            .and_then(DaemonServers::socket)
            .map(Path::to_owned);
        let work = move || opened.run((), None).map(drop);
        let thread = thread::Builder::new().name("daemon".into()).spawn(work);
        let thread = Some(thread.map_err(Failure::file("start the daemon"))?);
        Ok(Daemon {
            stop,
            http,
            socket,
            thread,
        })
    }

    /// Opens the log and, if `is_serving`, the socket and the HTTP listener. Only the chat proxy starts threads.
    pub(crate) fn open(self, is_serving: bool) -> Result<OpenedDaemon, Failure> {
        let pid = std::process::id();
        let root = self.home.store.root();
        let lock = DaemonLock::acquire(root, pid)?;
        let (log, log_file) = open_log(self.log, root)?;
        let anchor = DirHandle::of(root);
        let home = if is_serving {
            watch_files(&self.home)?
        } else {
            self.home
        };
        let (diary, past) = DaemonLog::open(Arc::clone(&home.store), log, pid)?;
        let schedule = build_schedule(&home, self.interval, &past);
        diary.info(&format!(
            "memory {} started, process {pid}",
            env!("CARGO_PKG_VERSION")
        ));
        let token = self.token;
        let http: Option<HttpBinding> = self.http.map(|address| (address, token));
        let tools = self.tools;
        let socket = self.socket;
        let servers = is_serving
            .then(|| DaemonServers::open(&home, http, socket, tools, &diary))
            .transpose()?;
        let stop = StopHandle::default();
        Ok(OpenedDaemon {
            home,
            diary: Arc::new(diary),
            schedule,
            servers,
            stop,
            anchor,
            log_file,
            _lock: lock,
        })
    }
}

impl std::fmt::Debug for DaemonBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DaemonBuilder")
            .field("home", &self.home.store.root())
            .finish_non_exhaustive()
    }
}

/// A running daemon in this process; see [`Home::daemon`]. It stops when it is dropped.
#[derive(Debug)]
pub struct Daemon {
    stop: StopHandle,
    http: Option<SocketAddr>,
    socket: Option<PathBuf>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Daemon {
    /// Returns the address of the HTTP server, if there is one.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http
    }

    /// Returns the path of the socket; `None` if the socket could not be opened, which the log reports.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }

    /// Stops the daemon after the current operation and pending requests, and waits for its end.
    ///
    /// # Errors
    /// If the daemon stopped earlier, because the home was moved.
    pub fn stop(mut self) -> Result<(), ProgramError> {
        Ok(self
            .join()
            .map_err(Failure::file("run the daemon for the home"))?)
    }

    fn join(&mut self) -> io::Result<()> {
        self.stop.stop();
        // A panic of the thread was already reported.
        self.thread
            .take()
            .map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // The log has the error.
        let _ = self.join();
    }
}

/// A request to stop a daemon; all clones belong to the same daemon.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopHandle {
    /// The flag that chores check.
    cancelled: CancellationToken,
    /// The signal that wakes the main loop.
    main: Arc<WakeSignal>,
    /// The signal that wakes the file listener.
    listener: Arc<WakeSignal>,
    /// The signal that ends the servers.
    servers: Arc<WakeSignal>,
    /// The signal that wakes the transfer of operations from and to a shared database.
    replica: Arc<WakeSignal>,
}

impl StopHandle {
    /// Requests a stop.
    pub(crate) fn stop(&self) {
        self.cancelled.cancel();
        for signal in [&self.main, &self.listener, &self.servers, &self.replica] {
            signal.notify();
        }
    }
}

/// A guard that stops all threads when it is dropped.
struct StopGuard<'a>(&'a StopHandle);

impl Drop for StopGuard<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Maximum time between two transfers.
const TRANSFER_INTERVAL: Duration = Duration::from_secs(5);

/// Maximum time between two transfers while the database sends no notifications, as behind a pooler in transaction mode.
const POLLING_INTERVAL: Duration = Duration::from_secs(1);

/// Fetches the operations of other nodes from the shared database and sends the queued ones, until a stop request. The log gets one line
/// for each outage, and one for its end.
fn transfer_operations(store: &FileStore, diary: &DaemonLog, stop: &StopHandle) {
    let mut outage = None;
    while !stop.cancelled.is_cancelled() {
        let trouble = if let Err(error) = store.refresh() {
            Some(error.to_string())
        } else {
            let status = store.shared_store_status().ok().flatten();
            let trouble = status.and_then(|status| status.trouble);
            trouble.map(|why| format!("{why}; reads use this machine, and writes wait on it"))
        };
        outage = record_outage(store, diary, outage, trouble);
        let interval = if store.hears_news() || outage.is_some() {
            TRANSFER_INTERVAL
        } else {
            POLLING_INTERVAL
        };
        stop.replica.wait(Instant::now().checked_add(interval));
    }
}

/// An outage of the shared database, with the numbers of operations that were sent and fetched before.
struct Outage {
    begun: Instant,
    sent: u64,
    fetched: u64,
}

/// Logs the begin and the end of an outage, and returns the present one.
fn record_outage(
    store: &FileStore,
    diary: &DaemonLog,
    outage: Option<Outage>,
    trouble: Option<String>,
) -> Option<Outage> {
    let (sent, fetched) = store
        .replica_status()
        .map_or((0, 0), |status| (status.appended, status.pulled));
    match (outage, trouble) {
        (None, Some(trouble)) => {
            diary.warning(&format!("the shared database cannot be used: {trouble}"));
            let begun = Instant::now();
            Some(Outage {
                begun,
                sent,
                fetched,
            })
        }
        (Some(before), None) => {
            diary.info(&format!(
                "the shared database is back after {} s: {} operations sent, {} fetched",
                before.begun.elapsed().as_secs(),
                sent - before.sent,
                fetched - before.fetched
            ));
            None
        }
        (outage, _) => outage,
    }
}

/// A daemon that is ready to run.
pub(crate) struct OpenedDaemon {
    home: Home,
    diary: Arc<DaemonLog>,
    schedule: Schedule,
    servers: Option<DaemonServers>,
    stop: StopHandle,
    anchor: Option<DirHandle>,
    log_file: Option<PathBuf>,
    _lock: DaemonLock,
}

impl OpenedDaemon {
    /// Returns a handle that stops the daemon.
    pub(crate) fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Returns the log.
    pub(crate) fn diary(&self) -> Arc<DaemonLog> {
        Arc::clone(&self.diary)
    }

    /// Returns the file of the log; `None` if it is another writer.
    pub(crate) fn log_file(&self) -> Option<&Path> {
        self.log_file.as_deref()
    }

    /// Returns the address of the HTTP server, if there is one.
    pub(crate) fn http_address(&self) -> Option<SocketAddr> {
        self.servers.as_ref().and_then(DaemonServers::address)
    }

    /// Returns why there is no socket; `None` if there is one.
    pub(crate) fn no_socket(&self) -> Option<&str> {
        self.servers
            .as_ref()
            .and_then(|servers| servers.no_socket.as_deref())
    }

    /// Returns a flag that is true while HTTP is served.
    pub(crate) fn serving_flag(&self) -> Arc<AtomicBool> {
        self.servers
            .as_ref()
            .map(DaemonServers::serving_flag)
            .unwrap_or_default()
    }

    /// Runs until a stop request, or until `program` was replaced. `guard` is dropped when the last chore has ended, which may be
    /// before the last request.
    ///
    /// # Errors
    /// If the home was moved.
    pub(crate) fn run<G>(self, guard: G, program: Option<&ProgramFile>) -> io::Result<DaemonEnd> {
        let Self {
            home,
            diary,
            schedule,
            servers,
            stop,
            anchor,
            log_file: _,
            _lock,
        } = self;
        let chores = HomeChores::of(&home);
        let woken = ForeignWriteFlag::default();
        let written = || {
            chores
                .update_index_page()
                .and(chores.commit_in_background())
        };
        let done = thread::scope(|scope| {
            let _guard = guard;
            let _stop = StopGuard(&stop);
            let listener = FileListener {
                store: &home.store,
                diary: &diary,
                bell: Arc::clone(&stop.listener),
                woken: (&woken, &stop.main),
                written: &written,
                stop: stop.cancelled.clone(),
            };
            scope.spawn(move || listener.run());
            let replica = Arc::clone(&stop.replica);
            if home.store.listen_for_news(move || replica.notify()) {
                let (store, diary, stop) = (&home.store, &diary, &stop);
                scope.spawn(move || transfer_operations(store, diary, stop));
            }
            if let Some(servers) = servers {
                let (end, diary) = (&stop.servers, &diary);
                scope.spawn(move || servers.serve(end, diary));
            }
            run_chores(
                schedule,
                &chores,
                &diary,
                (&stop.main, &woken),
                &stop.cancelled,
                (anchor.as_ref(), program),
            )
        });
        if let Err(why) = &done {
            diary.info(&format!(
                "{why}: restart `memory daemon run` at the new location of the home"
            ));
        }
        record_end(&diary);
        done
    }

    /// Runs each chore that is due now once, and returns the results.
    pub(crate) fn run_once(self) -> Vec<ChoreReport> {
        let reports = run_once(
            self.schedule,
            &HomeChores::of(&self.home),
            &self.diary,
            &self.stop.cancelled,
        );
        record_end(&self.diary);
        reports
    }
}

fn record_end(diary: &DaemonLog) {
    diary.info("memory stopped");
    diary.record_end();
}

fn open_log(target: LogTarget, root: &Path) -> Result<(EventLog, Option<PathBuf>), Failure> {
    let file = match target {
        LogTarget::Writer(writer) => return Ok((EventLog::new(writer), None)),
        LogTarget::File(file) => file,
        LogTarget::Home => root.join("daemon.log"),
    };
    let log =
        LogFile::open(&file).map_err(Failure::file(format!("write to {}", file.display())))?;
    Ok((EventLog::new(Box::new(log)), Some(file)))
}

fn build_schedule(home: &Home, interval: Option<Duration>, past: &ScheduleHistory) -> Schedule {
    let settings = &home.settings;
    let rules = ScheduleRules {
        interval: interval.unwrap_or(settings.interval.value),
        embeds: settings.embedding.has_model(),
        ingests: settings.places.iter().any(|place| place.watch.value),
        purges: settings.trash_retention.value.is_some()
            || settings.recalls.retention.value.is_some(),
    };
    Schedule::new(rules, past)
}

/// Reopens the store for a process that watches the files.
///
/// The store then relies on notifications to detect edits in place.
fn watch_files(home: &Home) -> Result<Home, Failure> {
    let options = FileStoreOptions {
        freshness: Freshness::Heard,
        kept: KEPT,
        ..FileStoreOptions::default()
    };
    let store = Arc::new(open_store(&home.settings, options)?);
    let mut home = home.clone();
    home.services.store = store.clone();
    home.services.history = store.clone();
    home.store = store;
    Ok(home)
}
