//! Tests of the library: a program that embeds a home, the daemon, the proxy and the setup of clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use memory_cli::install::{Client, ClientFileChange, ClientSetup, InstallLevel};
use memory_cli::{Environment, Home};

/// A loopback address with a free port.
fn free_port() -> std::net::SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

#[test]
fn a_daemon_in_the_process_serves_the_home_until_it_is_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::open(&folder.path().join("home")).expect("a home");
    home.memories()
        .write("The user prefers dark mode")
        .expect("it is written");
    let daemon = home.daemon().http(free_port()).start().expect("it starts");
    let second = home.daemon().start().expect_err("one daemon runs per home");
    assert_eq!(second.code(), "DAEMON_RUNNING");
    let socket = daemon.socket().expect("a socket").to_owned();
    let mut stream = UnixStream::connect(&socket).expect("it accepts");
    writeln!(
        stream,
        r#"{{"id":1,"method":"memory_search","params":{{"query":"dark mode"}}}}"#
    )
    .expect("it reads");
    let mut line = String::new();
    BufReader::new(&stream)
        .read_line(&mut line)
        .expect("an answer");
    assert!(line.contains("The user prefers dark mode"), "{line}");
    drop(stream);
    daemon.stop().expect("it stops");
    assert!(
        UnixStream::connect(&socket).is_err(),
        "the socket is closed"
    );
    drop(
        home.daemon()
            .start()
            .expect("another daemon starts after the first one"),
    );
    home.daemon()
        .start()
        .expect("a dropped daemon has stopped")
        .stop()
        .expect("it stops");
}

#[test]
fn a_home_takes_its_settings_from_its_folder_and_not_from_the_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("home");
    std::fs::create_dir(&root).expect("a folder");
    std::fs::write(
        root.join("config.yaml"),
        "storage:\n  short_term_ttl: soon\n",
    )
    .expect("a file");
    let error = Home::open(&root).expect_err("the setting is invalid");
    assert_eq!(
        (error.code(), error.hint().is_some()),
        ("CONFIG_INVALID", true)
    );
    let error =
        Home::open_with(None, &Environment::default()).expect_err("there is no home folder");
    assert!(error.to_string().contains("home folder"), "{error}");
    let environment = Environment::default().with_home(folder.path());
    assert_eq!(
        Home::open_with(None, &environment).expect("a home").root(),
        folder.path().join(".memory")
    );
}

#[test]
fn the_project_is_that_of_the_folder_of_the_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join(".git")).expect("a folder");
    let environment = Environment::default()
        .with_home(folder.path())
        .with_folder(&project);
    let found = Home::open_with(None, &environment)
        .expect("a home")
        .project();
    assert_eq!(
        (found.name.as_deref(), found.topics),
        (Some("project"), Some(project.join(".memory")))
    );
    assert_eq!(
        found.banks,
        [
            project.join(".memory/banks"),
            folder.path().join(".memory/banks")
        ]
    );
    let nowhere = Home::open(&folder.path().join("home"))
        .expect("a home")
        .project();
    assert_eq!((nowhere.name, nowhere.topics), (None, None));
}

#[test]
fn a_planned_installation_writes_nothing_until_it_is_applied() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new("/usr/local/bin/memory");
    let environment = Environment::default()
        .with_home(folder.path())
        .with_folder(folder.path())
        .with_program(program);
    let setup = |client: &str| {
        let client = Client::named(client).expect("a client");
        ClientSetup::new(client, InstallLevel::User, None, &environment).expect("a setup")
    };
    for client in Client::ALL {
        let mut changes = setup(client.name).plan_install().expect("a plan");
        assert!(
            changes
                .iter()
                .all(|change| change.diff().contains(program.to_str().expect("text"))),
            "{}",
            client.name
        );
        assert!(
            changes.iter().all(|change| !change.path.exists()),
            "{}",
            client.name
        );
        setup(client.name)
            .apply(&mut changes)
            .expect("it is written");
        assert!(
            changes
                .iter()
                .all(|change| change.change == ClientFileChange::Created && change.path.is_file())
        );
        let mut removed = setup(client.name).plan_uninstall().expect("a plan");
        setup(client.name)
            .apply(&mut removed)
            .expect("it is removed");
        assert!(
            removed.iter().all(|change| !change.path.exists()),
            "{}",
            client.name
        );
    }
    assert!(Client::named("no-such-client").is_none());
}

#[test]
fn a_proxy_needs_a_model_server_and_stops_when_it_is_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::open(&folder.path().join("home")).expect("a home");
    let error = home
        .proxy()
        .address(free_port())
        .start()
        .expect_err("no model server is configured");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("proxy.openai_base_url")),
        "{error}"
    );
    let proxy = home
        .proxy()
        .model_server("http://localhost:9/v1")
        .address(free_port())
        .start()
        .expect("it starts");
    let mut connection = std::net::TcpStream::connect(proxy.address()).expect("it listens");
    drop(proxy);
    // Another test may listen on the same port by now, so the connection is observed.
    assert!(
        !matches!(connection.read(&mut [0]), Ok(1)),
        "the proxy closes its connections"
    );
}
