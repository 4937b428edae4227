//! A database that is asked until it answers or must be given up.

use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{Manager, Object, Pool, PoolConfig, PoolError, QueueMode, TimeoutType, Timeouts};
use memory_core::instance::InstanceError;
use tokio::select;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Client;

use super::address::Address;
use super::connections::Connections;
use super::engine::Engine;
use super::migrate::migrate;
use super::silence::Silence;
use super::trouble::{Cure, Trouble};
use crate::error::io_error;

/// How long a statement that is asked to stop may take to do so.
const STOPPING: Duration = Duration::from_secs(5);

/// The longest wait before something is tried again.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// How much is asked of a database at once, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most connections.
    pub connections: usize,
    /// How long one may take to come about.
    pub connect: Duration,
    /// How long somebody waits for one that others use.
    pub wait: Duration,
    /// How long a statement may take.
    pub statement: Duration,
    /// How long is tried again what may work a little later: when the server says that it is not ready, or others change the same.
    pub patience: Duration,
    /// How long calls fail at once after the server did not answer for as long as a connection may take to come about.
    pub pause: Duration,
    /// How long after the last sign of life a server that nobody listens for any more is taken for one that is being restarted. Later, a
    /// call fails at once.
    pub restart: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10,
            connect: Duration::from_secs(5),
            wait: Duration::from_secs(10),
            statement: Duration::from_secs(30),
            // pgbouncer turns everybody away for 15 s after a server did not let it in.
            patience: Duration::from_secs(20),
            pause: Duration::from_secs(5),
            restart: Duration::from_secs(2),
        }
    }
}

/// A database, and the connections to it, which come about as they are needed.
///
/// It may be used and let go of on any thread, also on those that serve tasks; whoever asks it something waits on their own.
#[derive(Debug)]
pub struct Database {
    pool: Pool<Connections>,
    limits: Limits,
    is_ready: OnceCell<()>,
    was_reached: AtomicBool,
    silence: Silence,
    has_functions: AtomicBool,
    engine: OnceLock<Engine>,
}

impl Database {
    /// Returns the database at an address: a URL, or `name=value` pairs. It is not reached for before it is needed.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`] if that is no address. Nothing of it is repeated.
    pub fn at(address: &str, limits: Limits) -> Result<Self, InstanceError> {
        Ok(Self {
            pool: pool(Address::read(address)?, &limits),
            limits,
            is_ready: OnceCell::new(),
            was_reached: AtomicBool::new(false),
            silence: Silence::default(),
            has_functions: AtomicBool::new(true),
            engine: OnceLock::new(),
        })
    }

    /// Reaches the database, and makes the tables that it lacks.
    ///
    /// # Errors
    /// When it cannot be reached, does not let us in, or is one of a newer version.
    pub fn prepare(&self) -> Result<(), InstanceError> {
        self.ask(async |_| Ok(()))
    }

    /// Tells whether it has the functions of the migrations, as far as is known.
    pub(super) fn has_functions(&self) -> bool {
        self.has_functions.load(Ordering::Relaxed)
    }

    /// Says that it does not have them.
    pub(super) fn lacks_functions(&self) {
        self.has_functions.store(false, Ordering::Relaxed);
    }

    /// Does `work` on a connection, if need be again on another one: so it must be of no consequence to do it twice. The tables
    /// are there.
    pub(super) fn ask<T>(&self, work: impl AsyncFn(&Client) -> Result<T, Trouble>) -> Result<T, InstanceError> {
        self.engine()?.wait_for(self.try_until_done(work)).map_err(Trouble::told)
    }

    fn engine(&self) -> Result<&Engine, InstanceError> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        let started = Engine::start().map_err(|error| io_error("start a thread for the database", error))?;
        Ok(self.engine.get_or_init(|| started))
    }

    async fn try_until_done<T>(&self, work: impl AsyncFn(&Client) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut since = None;
        let mut wait = Duration::from_millis(5);
        loop {
            let trouble = match self.try_once(&work).await {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            let helps = match trouble.cure() {
                Cure::None => false,
                Cure::AwaitRestart => self.pool.manager().last_alive().is_some_and(|last| last.elapsed() < self.limits.restart),
                Cure::Reconnect => self.was_reached.load(Ordering::Relaxed),
                Cure::Repeat => true,
            };
            let since = *since.get_or_insert_with(Instant::now);
            if !helps || self.limits.patience <= since.elapsed() + wait {
                return Err(trouble);
            }
            sleep(scattered(wait)).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn try_once<T>(&self, work: &impl AsyncFn(&Client) -> Result<T, Trouble>) -> Result<T, Trouble> {
        if !self.silence.admits(Instant::now(), self.limits.pause) {
            return Err(Trouble::Silent(self.connect_limit()));
        }
        let begun = Instant::now();
        let connection = self.pool.get().await.map_err(|error| self.not_reached(error)).inspect_err(|trouble| {
            if trouble.is_unreachable() && !self.was_alive_since(begun) {
                self.silence.begin(Instant::now());
            }
        })?;
        let done = self.within_limit(&connection, async {
            self.is_ready.get_or_try_init(|| migrate(&connection)).await?;
            self.was_reached.store(true, Ordering::Relaxed);
            work(&connection).await
        });
        let done = done.await;
        if matches!(done, Err(Trouble::Unresponsive(_))) {
            self.silence.begin(Instant::now());
            // The others end at the same server.
            self.pool.retain(|_, _| false);
        } else {
            // Whatever came of it, there was a connection until now.
            self.silence.end();
            self.pool.manager().note_alive();
        }
        if done.as_ref().is_err_and(Trouble::ends_connection) {
            drop(Object::take(connection));
        }
        done
    }

    /// Does `work`. If it takes too long, the server is asked to stop it, and may say that it has, or that it was just done.
    async fn within_limit<T>(&self, connection: &Client, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        let mut work = pin!(work);
        let answered = async {
            select! {
                biased;
                done = &mut work => done,
                () = self.silent() => Err(Trouble::Unresponsive(self.connect_limit())),
            }
        };
        if let Ok(done) = timeout(self.limits.statement, answered).await {
            return done;
        }
        let stopped = timeout(STOPPING, async {
            let tls = self.pool.manager().tls()?;
            connection.cancel_token().cancel_query(tls).await?;
            (&mut work).await
        });
        let limit = self.limits.statement;
        match stopped.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(trouble)) => Err(Trouble::Slow { limit, is_undone: trouble.is_cancelled() }),
            Err(_) => Err(Trouble::Slow { limit, is_undone: false }),
        }
    }

    /// Returns once the server has given no sign of life for as long as a connection may take to come about, and accepts no other one;
    /// never while it does. So a slow statement is told from a server that is gone.
    async fn silent(&self) {
        let begun = Instant::now();
        let half = self.connect_limit() / 2;
        // Of several hosts, the first ones may be gone while another one works.
        let limit = if self.pool.manager().hosts() < 2 { half } else { self.connect_limit() };
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
            wait = self.connect_limit();
        }
    }

    fn was_alive_since(&self, moment: Instant) -> bool {
        self.pool.manager().last_alive().is_some_and(|last| moment < last)
    }

    fn connect_limit(&self) -> Duration {
        self.pool.timeouts().create.unwrap_or(self.limits.connect)
    }

    fn not_reached(&self, error: PoolError<Trouble>) -> Trouble {
        match error {
            PoolError::Backend(trouble) => trouble,
            PoolError::Timeout(TimeoutType::Wait) => Trouble::Busy(self.limits.wait),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => Trouble::Silent(self.connect_limit()),
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                unreachable!("the pool is never closed, has a runtime, and no hooks")
            }
        }
    }
}

fn pool(address: Address, limits: &Limits) -> Pool<Connections> {
    let connections = Connections::to(address);
    let (address, hosts) = (&connections.address, connections.hosts());
    let each = address.config.get_connect_timeout().copied().unwrap_or(limits.connect);
    let config = PoolConfig {
        max_size: limits.connections,
        timeouts: Timeouts {
            wait: Some(limits.wait),
            create: Some(each * u32::try_from(hosts).unwrap_or(u32::MAX)),
            recycle: None,
        },
        // Those that were used last are the least likely to have been dropped on the way.
        queue_mode: QueueMode::Lifo,
    };
    let pool = Pool::builder(connections).config(config).runtime(Runtime::Tokio1).build();
    pool.expect("the pool has a runtime for its timeouts")
}

/// Returns a time up to `most`, so that those who were in each other's way are not so again.
fn scattered(most: Duration) -> Duration {
    let mut share = [0];
    // Without chance, they wait alike.
    let _ = getrandom::fill(&mut share);
    most.mul_f32(0.5 + f32::from(share[0]) / 510.0)
}

/// Does `work` in a transaction in which `held` is done first, so that it sees what those did who held the same; all in one round trip.
pub(super) async fn together<H, T>(
    client: &Client,
    held: impl Future<Output = Result<H, tokio_postgres::Error>>,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, tokio_postgres::Error> {
    let begun = client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED");
    // Each is sent when it is first asked for its outcome, so they arrive in this order; after one that fails, the end undoes all.
    let (begun, held, done, committed) = tokio::join!(biased; begun, held, work, client.batch_execute("COMMIT"));
    begun?;
    held?;
    let done = done?;
    committed?;
    Ok(done)
}

/// Does `work` in a transaction, which is undone if it fails.
pub(super) async fn transaction<T>(client: &Client, work: impl AsyncFnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    match work().await {
        Ok(done) => {
            client.batch_execute("COMMIT").await?;
            Ok(done)
        }
        Err(trouble) => {
            // What went wrong is what is told.
            let _ = client.batch_execute("ROLLBACK").await;
            Err(trouble)
        }
    }
}
