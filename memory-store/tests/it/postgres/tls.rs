//! Encryption, and verification of the server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use memory_core::Code;
use memory_store::postgres::{Database, DatabaseLimits};

use super::server::{PostgresServer, report_skipped, run_to_end, shared_server};

#[test]
fn every_mode_trusts_whom_it_should_and_nobody_else() {
    let Some(server) = shared_server("TLS") else {
        return;
    };
    let name = server.database();
    let (own, other) = (
        server.folder().join("ca.crt"),
        server.folder().join("other.crt"),
    );
    let reach = |host: &str, more: &str| {
        let address = server
            .url("postgres", &name, &format!("?{more}"))
            .replace("localhost", host);
        let more = address
            .replace("OWN", &own.display().to_string())
            .replace("OTHER", &other.display().to_string());
        Database::new(
            &more,
            DatabaseLimits {
                connections: 1,
                ..DatabaseLimits::default()
            },
        )
        .unwrap()
    };
    for (host, more) in [
        ("localhost", ""),
        ("localhost", "sslmode=prefer"),
        ("localhost", "sslmode=require"),
        ("127.0.0.1", "sslmode=require&sslrootcert=OWN"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=OWN"),
        ("localhost", "sslmode=verify-full&sslrootcert=OWN"),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=OWN&channel_binding=prefer",
        ),
    ] {
        let database = reach(host, more);
        database
            .prepare()
            .unwrap_or_else(|error| panic!("{more}: {error:?}"));
        let encrypted =
            "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'memory'
            AND datname = current_database()";
        assert_eq!(server.sql(&name, encrypted), "1", "{more}");
        drop(database);
        // The connection ends only when the server has noticed that it was closed.
        server.sql(
            &name,
            "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = 'memory'
            AND datname = current_database()",
        );
    }
    reach("localhost", "sslmode=disable").prepare().unwrap();
    for (host, more) in [
        ("localhost", "sslmode=verify-full&sslrootcert=OTHER"),
        ("localhost", "sslmode=verify-ca&sslrootcert=OTHER"),
        ("localhost", "sslmode=require&sslrootcert=OTHER"),
        ("localhost", "sslmode=verify-full"),
        ("localhost", "sslmode=verify-ca&sslrootcert=system"),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=OWN"),
    ] {
        let error = reach(host, more).prepare().unwrap_err();
        assert_eq!(error.code(), Code::DatabaseUnreachable, "{more}");
        assert!(
            error.to_string().contains("cannot be verified"),
            "{more}: {error}"
        );
    }
    let error = reach(
        "localhost",
        "sslmode=verify-full&sslrootcert=/nowhere/ca.crt",
    )
    .prepare()
    .unwrap_err();
    assert_eq!(error.code(), Code::ConfigInvalid);
    let error = reach(
        "localhost",
        "sslmode=verify-full&sslrootcert=OWN"
            .replace("OWN", "/dev/null")
            .as_str(),
    )
    .prepare()
    .unwrap_err();
    assert_eq!(error.code(), Code::ConfigInvalid);
}

#[test]
fn a_self_signed_certificate_is_its_own_authority_if_the_address_names_it() {
    let claim = "a server with a self-signed certificate";
    let Some(server) = PostgresServer::start() else {
        report_skipped(claim, "there is no initdb");
        return;
    };
    let (folder, name) = (server.folder(), server.database());
    let authority = folder.join("authority.crt");
    fs::rename(folder.join("ca.crt"), &authority).unwrap();
    let reach = |host: &str, mode: &str, roots: &Path| {
        let more = format!("?sslmode={mode}&sslrootcert={}", roots.display());
        let address = server
            .url("postgres", &name, &more)
            .replace("localhost", host);
        let reached = Database::new(&address, DatabaseLimits::default())
            .unwrap()
            .prepare();
        reached.map_err(|error| error.code())
    };
    let refused = Err(Code::DatabaseUnreachable);
    let own = folder.join("own.crt");
    let openssl = |arguments: &str| {
        let mut openssl = Command::new("openssl");
        run_to_end(
            openssl
                .current_dir(folder)
                .args(arguments.split_whitespace()),
        );
    };
    // The second one states that it is the certificate of no authority, and the third one has expired.
    for (flags, days, accepted) in [
        ("", 9, Ok(())),
        ("-addext basicConstraints=critical,CA:FALSE", 9, Ok(())),
        ("", -1, refused),
    ] {
        openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
             -addext subjectAltName=DNS:localhost -keyout server.key -out signed.crt {flags}"
        ));
        openssl(&format!(
            "x509 -in signed.crt -signkey server.key -days {days} -out server.crt"
        ));
        fs::copy(folder.join("server.crt"), &own).unwrap();
        for file in ["server.key", "server.crt"] {
            fs::set_permissions(folder.join(file), fs::Permissions::from_mode(0o600)).unwrap();
            server.user().make_owner(&folder.join(file));
        }
        server.control(&["-w", "restart"]);
        assert_eq!(reach("localhost", "verify-full", &own), accepted, "{flags}");
        assert_eq!(reach("127.0.0.1", "verify-ca", &own), accepted, "{flags}");
        assert_eq!(reach("127.0.0.1", "verify-full", &own), refused, "{flags}");
        assert_eq!(
            reach("localhost", "verify-ca", &authority),
            refused,
            "{flags}"
        );
    }
}

#[test]
fn a_server_without_encryption_is_refused_by_whoever_wants_it() {
    let claim = "a server without TLS";
    let Some(server) = shared_server(claim) else {
        return;
    };
    let Some(pooler) = super::pooler::Pooler::start(server, claim) else {
        return;
    };
    let name = server.database();
    pooler.open(&name).prepare().unwrap();
    let error = Database::new(
        &format!("{}?sslmode=require", pooler.url(&name)),
        DatabaseLimits::default(),
    )
    .unwrap()
    .prepare()
    .unwrap_err();
    assert_eq!(error.code(), Code::DatabaseUnreachable);
}
