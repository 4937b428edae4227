//! A database, with retries and timeouts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool::managed::{
    Manager, Object, Pool, PoolConfig, PoolError, QueueMode, TimeoutType, Timeouts,
};
use deadpool::{Runtime, Status};
use memory_core::DatabaseFigures;
use memory_core::instance::InstanceError;
use tokio::select;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Client;
use zeroize::Zeroizing;

use super::access::PrincipalToken;
use super::address::DatabaseAddress;
use super::connections::{
    BEGIN, CircuitBreaker, ConnectionManager, DatabaseRuntime, OutageFile, TextSource,
};
use super::error::{AddressOwner, DatabaseError, RetryAction};
use super::listener::{ListenerEvent, listen};
use super::migration::{INSTANCES, migrate};
use crate::error::io_error;
use crate::shared_log::random_token;

/// Maximum time for a statement to end after a cancel request.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait between two attempts.
const MAX_RETRY_WAIT: Duration = Duration::from_millis(500);

/// The limits of the connections and calls of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseLimits {
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum time to connect to a host, unless the address contains `connect_timeout`.
    pub connect: Duration,
    /// Maximum wait for a connection while all are in use.
    pub wait: Duration,
    /// Maximum run time of the statements of a call.
    pub statement: Duration,
    /// How long a call is retried after a temporary failure.
    ///
    /// Such a failure is a server that is not ready, or a conflict with concurrent changes.
    pub patience: Duration,
    /// How long all calls fail immediately after the server did not respond within the connect timeout.
    pub pause: Duration,
    /// How long after its last sign of life a server that refuses connections may be restarting.
    ///
    /// After that a call fails immediately.
    pub restart: Duration,
}

impl Default for DatabaseLimits {
    fn default() -> Self {
        Self {
            connections: 10,
            connect: Duration::from_secs(5),
            wait: Duration::from_secs(10),
            statement: Duration::from_secs(30),
            // pgbouncer rejects all clients for 15 s after a failed login at the server.
            patience: Duration::from_secs(20),
            pause: Duration::from_secs(5),
            restart: Duration::from_secs(2),
        }
    }
}

/// A database, and its connections, which are created on demand.
///
/// It may be used and dropped on any thread, including those of an async runtime. A call blocks the calling thread.
#[derive(Debug)]
pub struct Database {
    pool: Pool<ConnectionManager>,
    limits: DatabaseLimits,
    is_ready: OnceCell<()>,
    was_reached: AtomicBool,
    silence: CircuitBreaker,
    has_functions: AtomicBool,
    /// Number of repeated attempts.
    retries: AtomicU64,
    /// Number of failed calls by their code.
    errors: Mutex<BTreeMap<&'static str, u64>>,
    engine: OnceLock<DatabaseRuntime>,
    /// A random number, by which listeners recognize the notifications of this value.
    number: i64,
    /// The token of the principal that uses the memories, if any.
    token: Option<PrincipalToken>,
    /// Seconds by which the clock of the database is ahead of that of this machine.
    clock_difference: Arc<AtomicI64>,
    owner: AddressOwner,
}

impl Database {
    /// Returns the database at an address: a URL, or `name=value` pairs. It connects on first use.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`] if the address cannot be parsed. The error contains no part of it. Or if the system has no random numbers.
    pub fn new(address: &str, limits: DatabaseLimits) -> Result<Self, InstanceError> {
        Ok(Self {
            pool: build_pool(DatabaseAddress::parse(address)?, &limits),
            limits,
            is_ready: OnceCell::new(),
            was_reached: AtomicBool::new(false),
            silence: CircuitBreaker::default(),
            has_functions: AtomicBool::new(true),
            retries: AtomicU64::new(0),
            errors: Mutex::default(),
            engine: OnceLock::new(),
            number: random_token()?,
            token: None,
            clock_difference: Arc::default(),
            owner: AddressOwner::Instance,
        })
    }

    /// Uses the memories of the database with the token of a principal, which restricts them to its scopes.
    #[must_use]
    pub fn with_token(self, token: &str) -> Self {
        Self {
            token: Some(self.principal_token(token)),
            ..self
        }
    }

    /// Follows the address that `read` returns: new connections use it, and those to a former one are closed.
    #[must_use]
    pub fn following(
        self,
        read: impl Fn() -> Option<Zeroizing<String>> + Send + Sync + 'static,
    ) -> Self {
        let _ = self.pool.manager().source.set(TextSource(Arc::new(read)));
        // The present address is no change.
        self.pool.manager().follow_source();
        self
    }

    /// Follows the token that `read` returns: it is used when the database refuses the former one, if it is of the same principal.
    #[must_use]
    pub fn following_token(
        self,
        read: impl Fn() -> Option<Zeroizing<String>> + Send + Sync + 'static,
    ) -> Self {
        if let Some(token) = &self.token {
            token.follow(TextSource(Arc::new(read)));
        }
        self
    }

    /// Returns a token with this text for transactions on this database.
    pub(super) fn principal_token(&self, text: &str) -> PrincipalToken {
        PrincipalToken::new(text, Arc::clone(&self.clock_difference))
    }

    /// Returns the database of a home that shares its memories. The hints of errors then name the commands for homes.
    #[must_use]
    pub fn of_home(self) -> Self {
        Self {
            owner: AddressOwner::Home,
            ..self
        }
    }

    /// Shares the knowledge that the server does not respond with other processes, through the file `path`: after an attempt of one of them,
    /// calls fail at once for a while. With `is_brief`, this process does not wait long enough to record outages itself.
    #[must_use]
    pub fn sharing_outages(mut self, path: PathBuf, is_brief: bool) -> Self {
        self.silence.file = Some(OutageFile {
            path,
            is_read: true.into(),
            is_written: !is_brief,
        });
        self
    }

    /// From now on, attempts of other processes do not count.
    pub fn ignore_other_outages(&self) {
        if let Some(file) = &self.silence.file {
            file.is_read.store(false, Ordering::Relaxed);
        }
    }

    /// Returns the token of the principal that uses the memories, if any.
    pub(super) fn token(&self) -> Option<&PrincipalToken> {
        self.token.as_ref()
    }

    /// Connects to the database, and creates the tables that are missing.
    ///
    /// # Errors
    /// An error if the database cannot be reached, refuses the login, or has a newer version.
    pub fn prepare(&self) -> Result<(), InstanceError> {
        self.run(async |_| Ok(()))
    }

    /// Returns the time of the database.
    ///
    /// # Errors
    /// If the database cannot be reached.
    pub fn time(&self) -> Result<DateTime<Utc>, InstanceError> {
        self.run_without_instances(async |client| {
            let row = client.query_one("SELECT clock_timestamp()", &[]).await?;
            Ok(row.try_get(0)?)
        })
    }

    /// Returns `true` until a call finds that the database lacks the functions of the migrations.
    pub(super) fn has_functions(&self) -> bool {
        self.has_functions.load(Ordering::Relaxed)
    }

    /// Records that the database does not have the functions of the migrations.
    pub(super) fn mark_functions_missing(&self) {
        self.has_functions.store(false, Ordering::Relaxed);
    }

    /// Reports the notifications of other nodes to `heard` until the database is dropped. `own` is the number of this node.
    ///
    /// # Errors
    /// If the thread of the connections cannot be started.
    pub(super) fn listen(
        &self,
        own: i64,
        heard: Arc<dyn Fn(ListenerEvent) + Send + Sync>,
    ) -> Result<(), InstanceError> {
        self.engine()?.spawn(listen(self.pool.clone(), own, heard));
        Ok(())
    }

    /// Returns the number of this value in the notifications that it sends.
    pub(super) fn number(&self) -> i64 {
        self.number
    }

    /// Runs `work` on a connection, after the tables of instances were created.
    ///
    /// After some failures `work` runs again on another connection, so it must be idempotent.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass closures")]
    pub(super) fn run<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, InstanceError> {
        self.run_without_instances(async |client| {
            self.is_ready
                .get_or_try_init(|| migrate(client, &INSTANCES))
                .await?;
            work(client).await
        })
    }

    /// Runs `work` on a connection, as [`Database::run`] does, without the tables of instances.
    pub(super) fn run_without_instances<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, InstanceError> {
        self.engine()?
            .wait_for(self.run_with_retries(work))
            .map_err(|error| error.into_instance_error(self.owner))
            .inspect_err(|error| {
                *self
                    .errors
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .entry(error.code().as_str())
                    .or_default() += 1;
            })
    }

    /// Returns figures of the connections, and of the calls so far.
    pub fn figures(&self) -> DatabaseFigures {
        let Status {
            max_size,
            size,
            available,
            waiting,
        } = self.pool.status();
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        DatabaseFigures {
            connections: size,
            idle: available.min(size),
            max_connections: max_size,
            waiting,
            retries: self.retries.load(Ordering::Relaxed),
            errors: errors.iter().map(|(code, count)| (*code, *count)).collect(),
        }
    }

    fn engine(&self) -> Result<&DatabaseRuntime, InstanceError> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let started = DatabaseRuntime::start()
            .map_err(|error| io_error("start a thread for the database", error))?;
        Ok(self.engine.get_or_init(|| started))
    }

    async fn run_with_retries<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut since = None;
        let mut wait = Duration::from_millis(5);
        loop {
            let trouble = match self.run_once(&work).await {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            let helps = match trouble.retry_action() {
                RetryAction::None => false,
                RetryAction::AwaitRestart => self
                    .pool
                    .manager()
                    .last_alive()
                    .is_some_and(|last| last.elapsed() < self.limits.restart),
                RetryAction::Reconnect => self.was_reached.load(Ordering::Relaxed),
                RetryAction::Repeat => true,
            };
            let since = *since.get_or_insert_with(Instant::now);
            if !helps || self.limits.patience <= since.elapsed() + wait {
                return Err(trouble);
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            sleep(random_wait(wait)).await;
            wait = (wait * 2).min(MAX_RETRY_WAIT);
        }
    }

    async fn run_once<T>(
        &self,
        work: &impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if !self.silence.allows_call(Instant::now(), self.limits.pause) {
            return Err(DatabaseError::Silent(self.connect_timeout()));
        }
        let begun = Instant::now();
        let connection = self
            .pool
            .get()
            .await
            .map_err(|error| self.pool_error(error))
            .inspect_err(|trouble| {
                if trouble.is_unreachable() && !self.was_alive_since(begun) {
                    self.silence.record_failure(Instant::now());
                }
            })?;
        let done = self.run_within_limit(&connection, async {
            self.was_reached.store(true, Ordering::Relaxed);
            work(&connection).await
        });
        let done = done.await;
        if matches!(done, Err(DatabaseError::Unresponsive(_))) {
            self.silence.record_failure(Instant::now());
            // The other connections lead to the same server.
            self.pool.retain(|_, _| false);
        } else {
            // In any case the connection has worked until now.
            self.silence.record_success();
            self.pool.manager().record_alive();
        }
        if done.as_ref().is_err_and(DatabaseError::ends_connection) {
            drop(Object::take(connection));
        }
        done
    }

    /// Runs `work` within the time limit.
    ///
    /// After the limit the server receives a cancel request. Then either `work` fails as cancelled, or it has just
    /// completed.
    async fn run_within_limit<T>(
        &self,
        connection: &Client,
        work: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let mut work = pin!(work);
        let answered = async {
            select! {
                biased;
                done = &mut work => done,
                () = self.wait_until_unresponsive() => Err(DatabaseError::Unresponsive(self.connect_timeout())),
            }
        };
        if let Ok(done) = timeout(self.limits.statement, answered).await {
            return done;
        }
        let stopped = timeout(CANCEL_TIMEOUT, async {
            let tls = self.pool.manager().tls_connector()?;
            connection.cancel_token().cancel_query(tls).await?;
            (&mut work).await
        });
        let limit = self.limits.statement;
        match stopped.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(trouble)) => Err(DatabaseError::Slow {
                limit,
                is_undone: trouble.is_cancelled(),
            }),
            Err(_) => Err(DatabaseError::Slow {
                limit,
                is_undone: false,
            }),
        }
    }

    /// Returns once the server no longer responds, and never while it does.
    ///
    /// It no longer responds if no connection has worked for as long as a connect may take, and a new connect fails
    /// too. This distinguishes a slow statement from a lost server.
    async fn wait_until_unresponsive(&self) {
        let begun = Instant::now();
        let half = self.connect_timeout() / 2;
        // With several hosts, the first ones may be down while another one works.
        let limit = if self.pool.manager().host_count() < 2 {
            half
        } else {
            self.connect_timeout()
        };
        let mut wait = half;
        loop {
            sleep(wait).await;
            let is_gone = match timeout(limit, self.pool.manager().create()).await {
                Ok(connected) => connected.is_err_and(|trouble| trouble.is_unreachable()),
                Err(_) => true,
            };
            if is_gone && !self.was_alive_since(begun) {
                return;
            }
            wait = self.connect_timeout();
        }
    }

    fn was_alive_since(&self, moment: Instant) -> bool {
        self.pool
            .manager()
            .last_alive()
            .is_some_and(|last| moment < last)
    }

    fn connect_timeout(&self) -> Duration {
        self.pool.timeouts().create.unwrap_or(self.limits.connect)
    }

    fn pool_error(&self, error: PoolError<DatabaseError>) -> DatabaseError {
        match error {
            PoolError::Backend(trouble) => trouble,
            PoolError::Timeout(TimeoutType::Wait) => DatabaseError::Busy(self.limits.wait),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => {
                DatabaseError::Silent(self.connect_timeout())
            }
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                unreachable!("the pool is never closed, has a runtime, and no hooks")
            }
        }
    }
}

fn build_pool(address: DatabaseAddress, limits: &DatabaseLimits) -> Pool<ConnectionManager> {
    let connections = ConnectionManager::new(address);
    let (address, hosts) = (connections.address(), connections.host_count());
    let each = address
        .config
        .get_connect_timeout()
        .copied()
        .unwrap_or(limits.connect);
    let config = PoolConfig {
        max_size: limits.connections,
        timeouts: Timeouts {
            wait: Some(limits.wait),
            create: Some(each * u32::try_from(hosts).unwrap_or(u32::MAX)),
            recycle: None,
        },
        // Recently used connections are the least likely to have been dropped by the network.
        queue_mode: QueueMode::Lifo,
    };
    let pool = Pool::builder(connections)
        .config(config)
        .runtime(Runtime::Tokio1)
        .build();
    pool.expect("the pool has a runtime for its timeouts")
}

/// Returns a random wait between half of `most` and `most`.
///
/// Calls that conflicted are thus unlikely to conflict again.
fn random_wait(most: Duration) -> Duration {
    let mut share = [0];
    // If the system has no random numbers, the wait is half of `most`.
    let _ = getrandom::fill(&mut share);
    most.mul_f32(0.5 + f32::from(share[0]) / 510.0)
}

/// Runs `held` and then `work` in one transaction and one round trip.
///
/// `held` locks a row, so `work` sees the changes of all earlier holders of this lock.
pub(super) async fn run_with_row_lock<H, T>(
    client: &Client,
    held: impl Future<Output = Result<H, tokio_postgres::Error>>,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    let begun = client.batch_execute(BEGIN);
    // Each statement is sent when its future is first polled, so they arrive in this order. If one fails, the COMMIT
    // rolls back.
    let (begun, held, done, committed) =
        tokio::join!(biased; begun, held, work, client.batch_execute("COMMIT"));
    begun?;
    held?;
    let done = done?;
    committed?;
    Ok(done)
}
