//! A pooler in front of the server, which reassigns connections after each transaction.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_store::postgres::Database;

use super::server::{CleanupShell, PostgresServer, free_port, report_skipped};

/// A pooler that is stopped on drop.
pub(super) struct Pooler {
    port: u16,
    _watch: CleanupShell,
}

impl Pooler {
    /// Starts a pooler with few connections to the server, if pgbouncer is installed.
    ///
    /// Without it, the test named by `claim` is skipped.
    pub(super) fn start(server: &PostgresServer, claim: &str) -> Option<Self> {
        let Some(program) = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].iter().find(|path| Path::new(path).exists()) else {
            report_skipped(claim, "there is no pgbouncer");
            return None;
        };
        let port = free_port();
        let settings = format!(
            "[databases]\n* = host={0} port={1}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\n\
             server_login_retry = 1\n",
            server.folder().display(),
            server.port()
        );
        // With `auth_type = any`, all clients log in as the user of this line.
        let settings = settings.replace("* = ", "* = user=postgres ");
        let file = server.folder().join(format!("pooler-{port}.ini"));
        fs::write(&file, settings).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let command = format!("{} -q {} & own=$!", server.user().command_words(Path::new(program)), file.display());
        let watch = CleanupShell::start(&command, "kill $own; wait $own");
        let pooler = Self { port, _watch: watch };
        pooler.wait_until_listening();
        Some(pooler)
    }

    fn wait_until_listening(&self) {
        let place = ([127, 0, 0, 1], self.port).into();
        // Each attempt waits by itself: only a connection shows that the pooler listens.
        let listens = |_: &u32| TcpStream::connect_timeout(&place, Duration::from_millis(10)).is_ok();
        assert!((0..1_000_000).any(|number| listens(&number)), "the pooler does not listen");
    }

    /// Opens a database through the pooler.
    pub(super) fn open(&self, name: &str) -> Arc<Database> {
        Arc::new(Database::new(&self.url(name), super::patient_limits()).unwrap())
    }

    /// Returns the address of a database through the pooler.
    pub(super) fn url(&self, name: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }
}
