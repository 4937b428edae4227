//! A pooler in front of the server, which reassigns connections after each transaction.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::testing::wait_until;
use memory_core::{
    Code, Draft, MemoryStore, MemoryStoreExt, SecretPolicy, delete, undo_last_change, write,
};
use memory_store::postgres::Database;

use super::access::{SharedDatabase, scopes, write_into};
use super::replicas::{Node, open};
use super::server::{CleanupShell, PostgresServer, free_port, report_skipped, shared_server};
use crate::home::TestHome;

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
        Self::start_as(server, "postgres", claim)
    }

    /// Starts a pooler whose connections to the server have this user.
    fn start_as(server: &PostgresServer, user: &str, claim: &str) -> Option<Self> {
        let Some(program) = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .iter()
            .find(|path| Path::new(path).exists())
        else {
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
        let settings = settings.replace("* = ", &format!("* = user={user} "));
        let file = server.folder().join(format!("pooler-{port}.ini"));
        fs::write(&file, settings).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let command = format!(
            "{} -q {} & own=$!",
            server.user().command_words(Path::new(program)),
            file.display()
        );
        let watch = CleanupShell::start(&command, "kill $own; wait $own");
        let pooler = Self {
            port,
            _watch: watch,
        };
        pooler.wait_until_listening();
        Some(pooler)
    }

    fn wait_until_listening(&self) {
        let place = ([127, 0, 0, 1], self.port).into();
        wait_until("the pooler listens", || {
            TcpStream::connect_timeout(&place, Duration::from_millis(10)).is_ok()
        });
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

#[test]
fn principals_behind_a_pooler_in_transaction_mode_write_read_and_are_revoked() {
    let claim = "principals behind a pooler";
    let Some(shared) = SharedDatabase::new(claim) else {
        return;
    };
    let Some(pooler) = Pooler::start_as(shared.server, &shared.node_role(), claim) else {
        return;
    };
    let [ada, bob] = ["ada", "bob"].map(|name| {
        let database = Database::new(&pooler.url(&shared.name), super::patient_limits()).unwrap();
        Node::new(Arc::new(
            database.with_token(&shared.add(name, &["team:web"])),
        ))
    });
    // All nodes use the same two connections, in turns and at the same time.
    std::thread::scope(|threads| {
        for (node, name) in [(&ada, "ada"), (&bob, "bob")] {
            threads.spawn(move || {
                for number in 0..6 {
                    let id = write_into(
                        node,
                        &format!("note {number} of {name}"),
                        &format!("private:{name}"),
                    );
                    write_into(
                        node,
                        &format!("note {number} of {name} for the team"),
                        "team:web",
                    );
                    delete(&node.services, &id).unwrap();
                    undo_last_change(&node.services, &id).unwrap();
                }
            });
        }
    });
    let expected = |name: &str| {
        [
            vec![format!("private:{name}"); 6],
            vec!["team:web".to_owned(); 12],
        ]
        .concat()
    };
    assert_eq!(
        (scopes(&ada), scopes(&bob)),
        (expected("ada"), expected("bob"))
    );
    assert!(
        bob.files()
            .values()
            .all(|bytes| !String::from_utf8_lossy(bytes).contains("private:ada"))
    );
    // No connection retains a token, whichever of them the pooler assigns.
    for _ in 0..4 {
        let mut psql = shared.server.client("psql");
        let port = pooler.port.to_string();
        psql.args([
            "-XAtq",
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "any",
            "-d",
            &shared.name,
            "-c",
        ]);
        let found = super::server::run_to_end(
            psql.arg("SELECT principal IS NULL, cardinality(scopes) FROM memory_node_access()"),
        );
        assert_eq!(found, "t|0");
    }
    shared.principals.revoke(&"ada".parse().unwrap()).unwrap();
    let refused = write(&ada.services, Draft::new("too late"), SecretPolicy::Refuse).unwrap_err();
    assert_eq!(refused.code(), Code::Unauthorized);
    assert_eq!(
        ada.services.store.refresh().unwrap_err().code(),
        Code::Unauthorized
    );
    write_into(&bob, "a last note", "team:web");
    assert_eq!(scopes(&bob).len(), 19);
}

#[test]
fn a_node_behind_a_pooler_expects_no_notifications_and_fetches_at_each_read() {
    let claim = "notifications behind a pooler";
    let Some(server) = shared_server(claim) else {
        return;
    };
    let Some(pooler) = Pooler::start(server, claim) else {
        return;
    };
    let (database, name) = super::open(server);
    let writer = Node::new(database);
    let homes = [TestHome::new(), TestHome::new()];
    let direct = open(
        homes[0].path(),
        super::reopen(server, &name),
        Duration::from_hours(1),
    );
    let (sender, news) = std::sync::mpsc::channel();
    let sender = std::sync::Mutex::new(sender);
    assert!(direct.listen_for_news(move || sender.lock().unwrap().send(()).unwrap_or_default()));
    // Its own notification.
    news.recv().unwrap();
    let reader = open(homes[1].path(), pooler.open(&name), Duration::ZERO);
    assert!(reader.listen_for_news(|| ()));
    // The node behind the pooler sends one after its LISTEN.
    news.recv().unwrap();
    reader.refresh().unwrap();
    for number in 0..3 {
        let text = format!("note {number}");
        let id = writer.write(&text);
        news.recv().unwrap();
        // A node that expects notifications would fetch operations only every 2 s.
        assert_eq!(reader.get_by(&id).unwrap().memory.content, text);
    }
    assert!(direct.hears_news());
    assert!(!reader.hears_news());
}
