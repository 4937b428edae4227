//! The health of a store, for load balancers and monitoring.

use std::fmt::Debug;
use std::time::Duration;

use crate::Code;

/// The health of a store of memories.
pub trait StoreHealth: Debug + Send + Sync {
    /// Checks that the store can be read and written now. A store in a database connects to it, and may wait for it.
    ///
    /// # Errors
    /// The code of the reason why the store cannot be used.
    fn check_ready(&self) -> Result<(), Code>;

    /// Returns the state of the replica of a shared database, or `None` if there is none.
    fn replica_status(&self) -> Option<ReplicaStatus>;
}

/// The state of a replica. All counts begin when the store is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// The time since the last contact with the database, if there was one. The replica lags at most by this.
    pub since_contact: Option<Duration>,
    /// Number of operations of the database that were applied to the replica, also when it was created.
    pub pulled: u64,
    /// Number of own operations that were added to the database.
    pub appended: u64,
    /// Number of own operations that were planned again because of operations of other nodes.
    pub conflicts: u64,
    /// The figures of the database.
    pub database: DatabaseFigures,
}

/// The figures of the connections to a database, and of its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseFigures {
    /// Number of open connections.
    pub connections: usize,
    /// Number of open connections that are not in use.
    pub idle: usize,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Number of calls that wait for a connection.
    pub waiting: usize,
    /// Number of repeated attempts of calls.
    pub retries: u64,
    /// Number of failed calls by their error code.
    pub errors: Vec<(&'static str, u64)>,
}
