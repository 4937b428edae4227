//! A Postgres server for tests.

use std::any::Any;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use memory_core::testing::{copy_folder, wait_until};
use tempfile::TempDir;

/// A server on a Unix socket in a temporary folder and on a local port.
///
/// If the tests run as root, it runs as another user. It is stopped and its folder deleted when it is dropped or the
/// process ends in any way.
pub(crate) struct PostgresServer {
    folder: PathBuf,
    programs: PathBuf,
    user: ServerUser,
    port: u16,
    /// Values that are dropped before the server.
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
    _watch: CleanupShell,
}

/// Returns the server that the tests share, each with a database of its own.
///
/// Without Postgres the test named by `claim` is skipped; with `MEMORY_TEST_REQUIRE_ALL=1` it fails.
pub(crate) fn shared_server(claim: &str) -> Option<&'static PostgresServer> {
    static SHARED: OnceLock<Option<PostgresServer>> = OnceLock::new();
    let found = SHARED.get_or_init(PostgresServer::start).as_ref();
    if found.is_none() {
        report_skipped(claim, "there is no initdb");
    }
    found
}

/// Reports that a test is skipped, or fails if that is not allowed.
pub(crate) fn report_skipped(claim: &str, why: &str) {
    memory_core::testing::leave_out(&format!("{claim}: {why}"));
}

impl PostgresServer {
    /// Starts a server, if Postgres is installed.
    pub(crate) fn start() -> Option<Self> {
        let programs = find_programs()?;
        let user = ServerUser::for_server();
        // The path of a socket has a small maximum length.
        let folder = TempDir::with_prefix("pg-").unwrap().keep();
        user.make_owner(&folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        match option_env!("CARGO_TARGET_TMPDIR") {
            Some(place) => copy_template(Path::new(place), &folder, &programs, &user),
            None => initialize(&folder, &programs, &user),
        }
        let port = free_port();
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{0}'\nmax_connections = 200\nfsync = on\n\
             ssl = on\nssl_cert_file = '{0}/server.crt'\nssl_key_file = '{0}/server.key'\n",
            folder.display()
        );
        append_text(&folder.join("data/postgresql.conf"), &settings);
        Some(Self::start_in(folder, programs, user, port))
    }

    /// Starts a server with its data in a folder.
    fn start_in(folder: PathBuf, programs: PathBuf, user: ServerUser, port: u16) -> Self {
        let script = format!(
            "{} -D {} -m immediate stop; rm -rf {}",
            user.command_words(&programs.join("pg_ctl")),
            folder.join("data").display(),
            folder.display()
        );
        let watch = CleanupShell::start("true", &script);
        let server = Self {
            folder,
            programs,
            user,
            port,
            kept: Mutex::default(),
            _watch: watch,
        };
        server.control(&["-w", "start"]);
        server
    }

    /// Runs `pg_ctl`, and waits until it ends.
    pub(crate) fn control(&self, arguments: &[&str]) {
        let is_done = self.run_control(arguments);
        assert!(
            is_done,
            "{}",
            fs::read_to_string(self.folder.join("log")).unwrap_or_default()
        );
    }

    fn run_control(&self, arguments: &[&str]) -> bool {
        let mut command = self.user.run(&self.programs.join("pg_ctl"));
        // A server that inherits our output would block readers of the output until it ends.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-l")
            .arg(self.folder.join("log"))
            .args(arguments);
        command.status().unwrap().success()
    }

    /// Kills the server and waits until it has ended, without a chance to write anything.
    pub(crate) fn kill(&self) {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap();
        let id = file.lines().next().unwrap();
        run_to_end(Command::new("kill").args(["-KILL", id]));
        let status = Path::new("/proc").join(id).join("status");
        // The entry of a process remains until its parent has read its exit status.
        wait_until("the killed server has ended", || {
            fs::read_to_string(&status).map_or(true, |status| status.contains("State:\tZ"))
        });
    }

    /// Starts the server after a kill, as soon as its last processes have ended.
    pub(crate) fn start_again(&self) {
        wait_until("the server starts again", || {
            self.run_control(&["-w", "start"])
        });
    }

    /// Starts a standby of the server, to which each commit is copied before it is reported.
    pub(crate) fn start_standby(&self) -> Self {
        let folder = TempDir::with_prefix("pg-").unwrap().keep();
        self.user.make_owner(&folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let (data, port) = (folder.join("data"), free_port());
        let mut copy = self.user.run(&self.programs.join("pg_basebackup"));
        copy.args([
            "-U",
            "postgres",
            "-R",
            "-c",
            "fast",
            "-p",
            &self.port.to_string(),
            "-h",
        ])
        .arg(&self.folder);
        run_to_end(copy.arg("-D").arg(&data));
        let settings = format!(
            "port = {port}\nunix_socket_directories = '{}'\n",
            folder.display()
        );
        append_text(&data.join("postgresql.conf"), &settings);
        let standby = Self::start_in(
            folder,
            self.programs.clone(),
            ServerUser(self.user.0.clone()),
            port,
        );
        self.sql(
            "postgres",
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
        );
        self.sql("postgres", "SELECT pg_reload_conf()");
        wait_until("the standby is synchronous", || {
            self.sql("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
        });
        standby
    }

    /// Runs statements in a database, and returns the rows.
    pub(crate) fn sql(&self, database: &str, statements: &str) -> String {
        run_to_end(self.client("psql").args([
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            database,
            "-c",
            statements,
        ]))
    }

    /// Returns the command of a client program that connects to the server.
    pub(crate) fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .args(["-U", "postgres", "-p", &self.port.to_string(), "-h"])
            .arg(&self.folder);
        command
    }

    /// Creates a database, and returns its name.
    ///
    /// If the server supports it, the collation of the database differs from the order of bytes.
    pub(crate) fn database(&self) -> String {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "test_{}_{}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed)
        );
        let has_languages = self.sql(
            "postgres",
            "SELECT 15 <= current_setting('server_version_num')::integer / 10000",
        ) == "t";
        let language = if has_languages {
            " LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
        } else {
            ""
        };
        self.sql(
            "postgres",
            &format!("CREATE DATABASE {name} TEMPLATE template0{language}"),
        );
        name
    }

    /// Returns the address of a database over the socket.
    pub(crate) fn address(&self, database: &str) -> String {
        format!(
            "host={} port={} user=postgres dbname={database}",
            self.folder.display(),
            self.port
        )
    }

    /// Returns the address of a database over the network, with `more` appended.
    pub(crate) fn url(&self, user: &str, database: &str, more: &str) -> String {
        format!("postgres://{user}@localhost:{}/{database}{more}", self.port)
    }

    /// Stores a value until the server is dropped.
    pub(crate) fn keep_alive(&self, other: impl Send + 'static) {
        self.kept.lock().unwrap().push(Box::new(other));
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn user(&self) -> &ServerUser {
        &self.user
    }
}

/// The user who runs servers: another one if the tests run as root.
pub(crate) struct ServerUser(Option<(String, u32, u32)>);

impl ServerUser {
    fn for_server() -> Self {
        let id = |of: &[&str]| {
            Command::new("id")
                .args(of)
                .output()
                .ok()
                .and_then(|output| String::from_utf8(output.stdout).ok())
        };
        let number = |of: &[&str]| id(of)?.trim().parse().ok();
        if number(&["-u"]) != Some(0) {
            return Self(None);
        }
        let found = ["postgres", "nobody"].iter().find_map(|name| {
            Some((
                (*name).to_owned(),
                number(&["-u", name])?,
                number(&["-g", name])?,
            ))
        });
        Self(Some(found.unwrap()))
    }

    /// Returns the shell words that run a program as the user.
    pub(crate) fn command_words(&self, program: &Path) -> String {
        match &self.0 {
            Some((_, user, group)) => format!(
                "setpriv --reuid={user} --regid={group} --clear-groups {}",
                program.display()
            ),
            None => program.display().to_string(),
        }
    }

    fn run(&self, program: &Path) -> Command {
        let words = self.command_words(program);
        let mut words = words.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir("/");
        command
    }

    /// Makes the user the owner of a file or folder.
    pub(crate) fn make_owner(&self, path: &Path) {
        if let Some((_, user, group)) = self.0 {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
}

/// A shell that runs a command when it is dropped or this process ends.
pub(crate) struct CleanupShell(Child);

impl CleanupShell {
    /// Runs `beginning` immediately and `end` at the end.
    pub(crate) fn start(beginning: &str, end: &str) -> Self {
        let mut shell = Command::new("sh");
        // A signal to the process group of the tests, such as Ctrl-C, must not end the shell.
        shell
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/");
        Self(
            shell
                .arg("-c")
                .arg(format!("{beginning}; read _; {end}"))
                .spawn()
                .unwrap(),
        )
    }
}

impl Drop for CleanupShell {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// Returns a port that is not in use.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Runs a program, and returns its output.
pub(crate) fn run_to_end(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn append_text(path: &Path, text: &str) {
    fs::write(path, fs::read_to_string(path).unwrap() + text).unwrap();
}

/// Returns the folder of the newest Postgres.
fn find_programs() -> Option<PathBuf> {
    let of_system = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .map(|version| version.unwrap().path().join("bin"));
    let mut found: Vec<PathBuf> = of_system
        .filter(|folder| folder.join("initdb").exists())
        .collect();
    found.sort();
    let of_path = || {
        std::env::split_paths(&std::env::var_os("PATH")?)
            .find(|folder| folder.join("initdb").exists())
    };
    found.pop().or_else(of_path)
}

/// Makes `folder` a copy of an initialized folder in `place`, which all test processes share and the first one creates.
fn copy_template(place: &Path, folder: &Path, programs: &Path, user: &ServerUser) {
    let version = run_to_end(Command::new(programs.join("initdb")).arg("--version"));
    let owner = fs::metadata(folder).unwrap().uid();
    let mut hasher = DefaultHasher::new();
    // This file has the settings.
    (include_str!("server.rs"), version, owner).hash(&mut hasher);
    let template = place.join(format!("postgres-{:016x}", hasher.finish()));
    fs::create_dir_all(place).unwrap();
    let lock = File::create(template.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    if !template.exists() {
        // The user of the server may have no access to `place`.
        initialize(folder, programs, user);
        let incomplete = template.with_extension("incomplete");
        let _ = fs::remove_dir_all(&incomplete);
        copy_folder(folder, &incomplete);
        fs::rename(&incomplete, &template).unwrap();
        return;
    }
    drop(lock);
    copy_folder(&template, folder);
}

/// Creates certificates and the data of a server.
fn initialize(folder: &Path, programs: &Path, user: &ServerUser) {
    create_certificates(folder, user);
    let data = folder.join("data");
    let mut initdb = user.run(&programs.join("initdb"));
    run_to_end(
        initdb
            .args([
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "-N",
                "-D",
            ])
            .arg(&data),
    );
    let rules = "local all,replication all trust\nhost all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n";
    fs::write(data.join("pg_hba.conf"), rules).unwrap();
}

/// Creates two authorities: `ca.crt` signs the certificate of `localhost`, `other.crt` signs nothing.
fn create_certificates(folder: &Path, user: &ServerUser) {
    let openssl = |arguments: &str| {
        let mut openssl = Command::new("openssl");
        run_to_end(openssl.current_dir(folder).args(arguments.split(' ')));
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 {key} -days 3650 -subj /CN={name} -keyout {name}.key -out {name}.crt"
        ));
    }
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(&format!(
        "req {key} -subj /CN=localhost -keyout server.key -out server.csr"
    ));
    openssl(
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile names -out server.crt",
    );
    for name in ["server.key", "server.crt"] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        user.make_owner(&folder.join(name));
    }
}
