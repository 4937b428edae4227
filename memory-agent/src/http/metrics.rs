//! Collects metrics of requests and actions for Prometheus.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memory_core::ReplicaStatus;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// The media type of [`Metrics::text`].
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Histogram buckets, from 0.1 milliseconds to 10 seconds.
const BUCKETS: [f64; 11] = [
    0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0,
];

/// All metrics of the server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    actions: Family<ActionLabels, Counter>,
    running: Gauge,
    connections: Gauge,
    instances: Gauge,
    memory: Gauge,
    files: Gauge,
    replica: ReplicaMetrics,
}

/// The metrics of the replica of a shared database, which are copied from the store for each request.
///
/// Without a replica, the families have no members, and the text contains no values of them.
#[derive(Debug, Default)]
struct ReplicaMetrics {
    lag: Family<NoLabels, Gauge<f64, AtomicU64>>,
    operations: Family<OperationLabels, Counter>,
    conflicts: Family<NoLabels, Counter>,
    retries: Family<NoLabels, Counter>,
    errors: Family<CodeLabels, Counter>,
    connections: Family<ConnectionLabels, Gauge>,
}

/// The labels of a family that has at most one member.
type NoLabels = [(&'static str, &'static str); 0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    direction: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabels {
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ConnectionLabels {
    state: &'static str,
}

impl ReplicaMetrics {
    fn register(registry: &mut Registry) -> Self {
        let new = Self::default();
        let lag = "Time since the last contact with the database";
        registry.register_with_unit("memory_replica_lag", lag, Unit::Seconds, new.lag.clone());
        registry.register(
            "memory_replica_operations",
            "Operations of the shared log",
            new.operations.clone(),
        );
        registry.register(
            "memory_replica_conflicts",
            "Own operations that were planned again",
            new.conflicts.clone(),
        );
        registry.register(
            "memory_database_retries",
            "Repeated attempts of calls",
            new.retries.clone(),
        );
        registry.register("memory_database_errors", "Failed calls", new.errors.clone());
        registry.register(
            "memory_database_connections",
            "Connections, and calls that wait for one",
            new.connections.clone(),
        );
        new
    }

    fn set(&self, status: &ReplicaStatus) {
        if let Some(lag) = status.since_contact {
            self.lag.get_or_create(&[]).set(lag.as_secs_f64());
        }
        let set = |counter: &Counter, count: u64| counter.inner().store(count, Ordering::Relaxed);
        for (direction, count) in [("pulled", status.pulled), ("appended", status.appended)] {
            set(
                &self
                    .operations
                    .get_or_create(&OperationLabels { direction }),
                count,
            );
        }
        set(&self.conflicts.get_or_create(&[]), status.conflicts);
        let database = &status.database;
        set(&self.retries.get_or_create(&[]), database.retries);
        for (code, count) in &database.errors {
            set(&self.errors.get_or_create(&CodeLabels { code }), *count);
        }
        let used = database.connections.saturating_sub(database.idle);
        let counts = [
            ("used", used),
            ("idle", database.idle),
            ("waiting", database.waiting),
            ("max", database.max_connections),
        ];
        for (state, count) in counts {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.connections
                .get_or_create(&ConnectionLabels { state })
                .set(count);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabels {
    backend: &'static str,
    action: &'static str,
    code: &'static str,
}

/// Decrements a gauge when dropped.
#[derive(Debug)]
pub(super) struct GaugeGuard(Gauge);

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(super) fn new() -> Self {
        let mut registry = Registry::default();
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("memory_build", "Build information", build);
        let requests = Family::default();
        registry.register(
            "memory_http_requests",
            "Answered requests",
            requests.clone(),
        );
        let seconds =
            Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        registry.register_with_unit(
            "memory_http_request",
            "Duration of requests",
            Unit::Seconds,
            seconds.clone(),
        );
        let actions = Family::default();
        registry.register(
            "memory_actions",
            "Actions on instances, by result",
            actions.clone(),
        );
        let mut gauge = |name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let running = gauge("memory_http_requests_in_flight", "Requests in flight");
        let connections = gauge("memory_http_connections", "Open connections");
        let instances = gauge("memory_instances_open", "Open instances");
        let memory = gauge("process_resident_memory_bytes", "Memory of the process");
        let files = gauge("process_open_fds", "File descriptors of the process");
        let replica = ReplicaMetrics::register(&mut registry);
        Self {
            registry,
            requests,
            seconds,
            actions,
            running,
            connections,
            instances,
            memory,
            files,
            replica,
        }
    }

    /// Counts a request as in flight until the returned guard is dropped.
    pub(super) fn start_request(&self) -> GaugeGuard {
        self.running.inc();
        GaugeGuard(self.running.clone())
    }

    /// Counts a connection as open until the returned guard is dropped.
    pub(super) fn start_connection(&self) -> GaugeGuard {
        self.connections.inc();
        GaugeGuard(self.connections.clone())
    }

    /// Counts a request that has its response.
    pub(super) fn record_request(&self, route: &str, method: &str, status: u16, took: Duration) {
        let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
        // A client may invent methods, and must not create a time series for each.
        let method = methods
            .into_iter()
            .find(|known| *known == method)
            .unwrap_or("other");
        self.requests
            .get_or_create(&RequestLabels {
                route: route.to_owned(),
                method,
                status,
            })
            .inc();
        self.seconds
            .get_or_create(&RouteLabels {
                route: route.to_owned(),
            })
            .observe(took.as_secs_f64());
    }

    /// Counts an action; `code` is `ok` or the error code.
    pub(super) fn record_action(
        &self,
        backend: &'static str,
        action: &'static str,
        code: &'static str,
    ) {
        self.actions
            .get_or_create(&ActionLabels {
                backend,
                action,
                code,
            })
            .inc();
    }

    /// Returns all metrics in the `OpenMetrics` text format.
    pub(super) fn text(&self, instances: usize, replica: Option<&ReplicaStatus>) -> String {
        if let Some(status) = replica {
            self.replica.set(status);
        }
        self.instances
            .set(i64::try_from(instances).unwrap_or(i64::MAX));
        if let Some(bytes) = resident_bytes() {
            self.memory.set(bytes);
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            self.files
                .set(i64::try_from(files.count()).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a text takes everything");
        text
    }
}

/// Returns the resident memory of the process in bytes, if the system reports it.
fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .parse::<i64>()
        .ok()?
        .checked_mul(1024)
}
