//! Benchmark of sessions in a Postgres database: `postgres ADDRESS`.
//!
//! `ADDRESS` is that of an empty database. The program compares appends with bare `INSERT` statements over a pool of the same kind, which
//! run alternately, and measures reading the end of a session with a million records.

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};
use memory_core::instance::InstanceError;
use memory_core::instance::history::{
    MessageStore, RecordDraft, RecordFilter, SessionRecord, Window, WindowEnd,
};
use memory_core::secret::Checked;
use memory_core::{IdSource, Operation, Verb};
use memory_store::RandomIds;
use memory_store::postgres::{Database, DatabaseLimits, PostgresMessages};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Statement};

/// Number of rounds; in each, all kinds of writes run one after the other.
const ROUNDS: usize = 25;

/// Number of writes per round and connection.
const WRITES_PER_ROUND: usize = 80;

const BARE_INSERT: &str =
    "INSERT INTO bare (session, position, role, said_at, text) VALUES ($1, $2, $3, $4, $5)";

const BARE_TABLE: &str = "
    DROP TABLE IF EXISTS bare;
    CREATE TABLE bare (session text NOT NULL, position bigint NOT NULL, role text NOT NULL, said_at timestamptz NOT NULL,
        text text NOT NULL, PRIMARY KEY (session, position))";

const MILLION_RECORDS: &str = "
    DELETE FROM memory_records WHERE session = 'million';
    DELETE FROM memory_sessions WHERE session = 'million';
    INSERT INTO memory_sessions VALUES ('million', 1000000, 1000000, true);
    INSERT INTO memory_records (session, position, role, said_at, said_nanos, operation, operation_at, nth, text)
    SELECT 'million', n, CASE WHEN n < 20 THEN 'summary' WHEN n % 2 = 0 THEN 'user' ELSE 'assistant' END, now(), 0, 'bench', now(), n,
        '{\"role\":\"user\",\"content\":\"' || repeat('word ', 20) || n || '\"}' FROM generate_series(0, 999999) n;
    ANALYZE memory_records";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address] = arguments.as_slice() else {
        return Err("usage: postgres ADDRESS".into());
    };
    let database = Arc::new(Database::new(address, DatabaseLimits::default())?);
    database.prepare()?;
    let store = PostgresMessages::new(database);
    let pool = BarePool::open(address)?;
    pool.run(BARE_TABLE)?;
    println!(
        "| connections | append p50 | bare INSERT p50 | ratio | prepared INSERT p50 | ratio | to one session |\n|---:|---:|---:|---:|---:|---:|---:|"
    );
    for connections in [1, 8] {
        let (mut appended, mut bare, mut prepared, mut crowded) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let own = |number: usize| format!("{connections} {number}");
            appended.extend(measure_concurrent(connections, |number, _| {
                append_record(&store, &own(number))
            })?);
            bare.extend(measure_concurrent(connections, |number, time| {
                pool.insert(&own(number), round * WRITES_PER_ROUND + time, false)
            })?);
            prepared.extend(measure_concurrent(connections, |number, time| {
                pool.insert(
                    &format!("p {}", own(number)),
                    round * WRITES_PER_ROUND + time,
                    true,
                )
            })?);
            crowded.extend(measure_concurrent(connections, |_, _| {
                append_record(&store, "all")
            })?);
        }
        let [appended, bare, prepared, crowded] =
            [appended, bare, prepared, crowded].map(|mut times| median_milliseconds(&mut times));
        println!(
            "| {connections} | {appended:.2} ms | {bare:.2} ms | {:.2} | {prepared:.2} ms | {:.2} | {crowded:.2} ms |",
            appended / bare,
            appended / prepared
        );
    }
    pool.run(MILLION_RECORDS)?;
    pool.run("VACUUM ANALYZE memory_records")?;
    let only = |role: &str| {
        Ok::<_, InstanceError>(RecordFilter {
            roles: vec![role.parse()?],
            ..RecordFilter::default()
        })
    };
    println!("\n| of 1,000,000 records | p50 | p99 |\n|---|---:|---:|");
    for (what, filter) in [
        ("the last 20", RecordFilter::default()),
        ("the last 20 of every second record", only("user")?),
        (
            "the last 20 summaries, all among the first 20 records",
            only("summary")?,
        ),
    ] {
        let mut times = Vec::new();
        for _ in 0..500 {
            let start = Instant::now();
            let window = Window {
                offset: 0,
                limit: Some(20),
                end: WindowEnd::Last,
            };
            let count = store
                .records(&"million".parse()?, &filter, window)?
                .flatten()
                .count();
            times.push(start.elapsed());
            assert_eq!(count, 20, "all of them are there");
        }
        let middle = median_milliseconds(&mut times);
        println!(
            "| {what} | {middle:.2} ms | {:.2} ms |",
            to_milliseconds(times[times.len() * 99 / 100])
        );
    }
    Ok(())
}

/// Calls `once` `WRITES_PER_ROUND` times on each of several threads and returns the durations.
fn measure_concurrent(
    connections: usize,
    once: impl Fn(usize, usize) -> Outcome<()> + Sync,
) -> Outcome<Vec<Duration>> {
    let on_one = |number: usize| {
        let time = |time: usize| {
            let start = Instant::now();
            once(number, time).map(|()| start.elapsed())
        };
        (0..WRITES_PER_ROUND).map(time).collect::<Outcome<Vec<_>>>()
    };
    thread::scope(|scope| {
        let on_one = &on_one;
        let threads: Vec<_> = (0..connections)
            .map(|number| scope.spawn(move || on_one(number)))
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a thread panicked")??);
        }
        Ok(all)
    })
}

fn append_record(store: &PostgresMessages, session: &str) -> Outcome<()> {
    let now = chrono::DateTime::UNIX_EPOCH;
    let record = SessionRecord::new(
        &RecordDraft::from_text("user".parse()?, &"word ".repeat(20)),
        now,
    )?;
    let operation = Operation {
        id: RandomIds.operation_id(),
        verb: Verb::Set,
        by: String::new(),
        at: now,
    };
    store.append(&session.parse()?, Checked::allowed(&[record]), &operation)?;
    Ok(())
}

/// A connection pool of the same kind as the store's, without further logic.
struct BarePool {
    runtime: Runtime,
    pool: Pool<BareManager>,
}

struct BareManager(Config);

/// A connection with its prepared statement, which is created on first use.
struct BareConnection {
    client: Client,
    planned: OnceCell<Statement>,
}

impl Manager for BareManager {
    type Type = BareConnection;
    type Error = tokio_postgres::Error;

    async fn create(&self) -> Result<BareConnection, tokio_postgres::Error> {
        let (client, connection) = self.0.connect(NoTls).await?;
        tokio::spawn(async { drop(connection.await) });
        Ok(BareConnection {
            client,
            planned: OnceCell::new(),
        })
    }

    async fn recycle(
        &self,
        _: &mut BareConnection,
        _: &Metrics,
    ) -> RecycleResult<tokio_postgres::Error> {
        Ok(())
    }
}

impl BarePool {
    fn open(address: &str) -> Outcome<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let pool = Pool::builder(BareManager(address.parse()?))
            .max_size(10)
            .build()?;
        Ok(Self { runtime, pool })
    }

    fn run(&self, statements: &str) -> Outcome<()> {
        self.runtime.block_on(async {
            let connection = self.pool.get().await.map_err(|error| error.to_string())?;
            connection.client.batch_execute(statements).await?;
            Ok(())
        })
    }

    fn insert(&self, session: &str, position: usize, is_prepared: bool) -> Outcome<()> {
        let now = chrono::DateTime::UNIX_EPOCH;
        let text = SessionRecord::new(
            &RecordDraft::from_text("user".parse()?, &"word ".repeat(20)),
            now,
        )?
        .text()
        .to_string();
        let position = i64::try_from(position)?;
        self.runtime.block_on(async {
            let connection = self.pool.get().await.map_err(|error| error.to_string())?;
            let client = &connection.client;
            if is_prepared {
                let planned = connection
                    .planned
                    .get_or_try_init(|| client.prepare(BARE_INSERT))
                    .await?;
                client
                    .execute(planned, &[&session, &position, &"user", &now, &text])
                    .await?;
                return Ok(());
            }
            let values: [(&(dyn ToSql + Sync), Type); 5] = [
                (&session, Type::TEXT),
                (&position, Type::INT8),
                (&"user", Type::TEXT),
                (&now, Type::TIMESTAMPTZ),
                (&text, Type::TEXT),
            ];
            client.execute_typed(BARE_INSERT, &values).await?;
            Ok(())
        })
    }
}

fn to_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn median_milliseconds(times: &mut [Duration]) -> f64 {
    times.sort();
    to_milliseconds(times[times.len() / 2])
}
