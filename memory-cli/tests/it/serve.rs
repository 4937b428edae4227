//! Tests of `memory daemon run` and `memory status`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use memory_core::testing::wait_until;
use serde_json::Value;

use crate::daemon::{DEADLINE, Daemon, connect, send_request};
use crate::sandbox::Sandbox;
use crate::tiny_bert::TinyBert;

/// Settings that write notifications of reminders to a file only.
const NOTIFY_BY_FILE: &str = "notification:\n  method: file\n";

/// Writes a file with an old date, as another program would.
fn write_old_file(sandbox: &Sandbox, number: u32, folder: &str, front: &str, text: &str) -> String {
    let id = format!("0000000{number}-0000-4000-8000-000000000000");
    let whole = format!(
        "---\nid: {id}\ncreated_at: 2024-05-07T10:00:00Z\nupdated_at: 2024-05-07T10:00:00Z\n{front}---\n{text}\n"
    );
    sandbox.file(&format!(".memory/categories/{folder}/{number}.md"), &whole)
}

#[test]
fn a_home_that_is_missing_is_made() {
    let sandbox = Sandbox::new();
    assert!(
        sandbox
            .run(&["serve", "--once", "--json"])
            .contains(r#""name":"lifecycle","ending":"nothing""#)
    );
    assert!(sandbox.path(".memory").is_dir());
    assert_eq!(sandbox.run(&["list"]), "--- stderr\nno matching memories\n");
}

#[test]
fn a_round_does_what_is_due_once_and_the_next_one_nothing() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    write_old_file(
        &sandbox,
        1,
        "inbox",
        "expires_at: 2024-05-08T10:00:00Z\n",
        "what nobody has filed for years",
    );
    write_old_file(
        &sandbox,
        2,
        "reminders",
        "due: 2024-05-08T10:00:00Z\n",
        "call Anna",
    );
    write_old_file(
        &sandbox,
        3,
        "people",
        "pinned: true\n",
        "Anna moved to Lisbon",
    );
    assert_snapshot!(sandbox.run(&["serve", "--once", "--json"]), @r#"{"chores":[{"name":"refresh","ending":"nothing"},{"name":"notify","ending":"done","said":"1 reminder shown by file"},{"name":"lifecycle","ending":"done","said":"1 moved to trash (operation [op1])"},{"name":"embed","ending":"done","said":"1 memory embedded"},{"name":"purge","ending":"nothing"}]}"#);
    assert_snapshot!(sandbox.run(&["status"]), @"
    daemon	not running; last stopped [time]
    page	`memory ui` opens it
    memories	2
    inbox	0
    reminders due	1
    trash	2 files, 331 bytes
    refresh	[time]	nothing	-	-
    notify	[time]	done	1 reminder shown by file	-
    lifecycle	[time]	done	1 moved to trash (operation [op1])	-
    embed	[time]	done	1 memory embedded	-
    purge	[time]	nothing	-	-
    ");
    assert!(
        sandbox
            .read_file(".memory/pending.md")
            .contains("call Anna")
    );
    assert_snapshot!(sandbox.run(&["log"]), @"
    [op1]	[time]	consolidate	daemon	1	
    [op2]	[time]	notify	daemon	1
    ");
    // Simulates the next round, after the interval.
    let place = sandbox.path(".memory/index/daemon.json");
    let mut state: Value =
        serde_json::from_slice(&fs::read(&place).expect("a file")).expect("JSON");
    state["last_write"] = "2024-05-07T10:00:00Z".into();
    for chore in state["chores"].as_array_mut().expect("chores") {
        chore["began_at"] = "2024-05-07T10:00:00Z".into();
    }
    fs::write(&place, state.to_string()).expect("a file");
    assert_snapshot!(sandbox.run(&["serve", "--once"]), @"
    refresh	nothing	
    notify	nothing	
    lifecycle	nothing	
    embed	nothing	
    purge	nothing	
    flush	done	1 change merged into the index
    dream-3	nothing
    ");
    let log = sandbox.read_file(".memory/daemon.log");
    assert!(
        log.contains("lifecycle: 1 moved to trash")
            && !log.contains("Anna")
            && !log.contains("nobody"),
        "{log}"
    );
}

#[test]
fn a_trash_that_is_old_enough_is_emptied() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "storage:\n  trash_retention: 0s\nnotification:\n  method: file\n",
    );
    let id = sandbox.write("tea", &[]);
    sandbox.run(&["delete", &id]);
    assert_eq!(sandbox.run_json(&["status"])["trash_files"], 1);
    let chores = sandbox.run_json(&["serve", "--once"]);
    let purge = chores["chores"]
        .as_array()
        .expect("chores")
        .iter()
        .find(|chore| chore["name"] == "purge")
        .expect("it is due");
    assert_eq!(purge["ending"], "done");
    assert_eq!(sandbox.run_json(&["status"])["trash_files"], 0);
    sandbox.file(
        ".memory/config.yaml",
        "storage:\n  trash_retention: never\n",
    );
    assert!(!sandbox.run(&["serve", "--once"]).contains("purge"));
}

#[test]
fn a_chore_that_fails_is_told_and_the_others_are_done() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "embedding:\n  model: /nowhere\nnotification:\n  method: file\n",
    );
    sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["serve", "--once"]), @"
    refresh	nothing	
    notify	nothing	
    lifecycle	nothing	
    embed	failed	[MODEL_FAILED] the embedding model returned no vectors: /nowhere does not exist
    purge	nothing	
    --- stderr
    error[model_failed]: 1 of 5 chores failed
    hint: all others succeeded; see the reported errors
    --- exit 1
    ");
}

#[test]
fn status_works_where_nobody_ever_served() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    assert_snapshot!(sandbox.run(&["status"]), @"
    daemon	not running
    page	`memory ui` opens it
    memories	1
    inbox	1
    reminders due	0
    trash	0 files, 0 bytes
    ");
    assert_snapshot!(sandbox.run(&["status", "--json"]), @r#"{"daemon":{"running":false},"memories":1,"inbox":1,"proposals":0,"overdue":[],"entries":0,"due":0,"trash_files":0,"trash_bytes":[n],"chores":[],"expiring":0}"#);
}

#[test]
fn a_daemon_hears_of_changes_is_alone_and_ends_when_told() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    let file = write_old_file(
        &sandbox,
        1,
        "knowledge",
        "pinned: true\n",
        "deploys on friday",
    );
    let mut daemon = Daemon::start(&sandbox);
    let pid = daemon.child.id();
    assert_snapshot!(sandbox.run(&["serve"]).replace(&pid.to_string(), "[pid]"), @"
    --- stderr
    error[daemon_running]: a daemon is already running for ~/.memory (process [pid])
    hint: `memory status` shows its state; SIGTERM stops it
    --- exit 4
    ");
    let status = sandbox.run_json(&["status"]);
    assert_eq!(
        (&status["daemon"]["running"], &status["daemon"]["pid"]),
        (&true.into(), &pid.into())
    );
    // An editor changes the file in place; its name and inode remain the same. The chores also read files: if they detect
    // the change first, there is no log line.
    let text = fs::read_to_string(&file).expect("a file");
    let until = Instant::now() + DEADLINE;
    for number in 1.. {
        fs::write(
            &file,
            text.replace("friday", &format!("monday or {number}")),
        )
        .expect("a file");
        let said = daemon.log.recv_timeout(Duration::from_secs(5));
        if said.is_ok_and(|line| line.contains("indexed 1 file changed by other programs")) {
            break;
        }
        assert!(Instant::now() < until, "nobody heard of it");
    }
    assert!(
        sandbox
            .run(&["search", "monday"])
            .contains("deploys on monday")
    );
    daemon.signal("-TERM");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
    let status = sandbox.run_json(&["status"]);
    assert_eq!(status["daemon"]["running"], false);
    assert!(
        status["daemon"]["stopped_at"].is_string() && status["chores"][0]["due_at"].is_null(),
        "{status}"
    );
}

#[test]
fn whoever_writes_puts_dreams_off() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    sandbox.write("tea", &[]);
    let _daemon = Daemon::start(&sandbox);
    let due = || {
        let status = sandbox.run_json(&["status"]);
        let dream = status["chores"]
            .as_array()?
            .iter()
            .find(|chore| chore["name"] == "dream-1")?
            .clone();
        Some(dream["due_at"].as_str()?.to_owned())
    };
    let mut before = None;
    wait_until("a dream is due", || {
        before = due();
        before.is_some()
    });
    sandbox.write("milk", &[]);
    wait_until("the dream is put off", || before < due());
}

#[test]
fn agents_reach_the_daemon_as_the_readme_says() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    let mut daemon = Daemon::start(&sandbox);
    let place = sandbox.path(".memory/memory.sock");
    assert_eq!(
        fs::metadata(&place).expect("a socket").permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        sandbox.run_json(&["status"])["daemon"]["socket"],
        place.display().to_string()
    );
    let mut agent = connect(&sandbox);
    let page = include_str!("../../../docs/src/socket.md");
    let mut asked = 0;
    let mut answer = String::new();
    for line in page.lines() {
        if let Some(request) = line.strip_prefix("> {") {
            answer = send_request(&mut agent, &format!("{{{request}"));
            asked += 1;
        } else if let Some(said) = line.strip_prefix("< ") {
            assert_eq!(answer, said);
        }
    }
    assert_eq!(asked, 3);
    daemon.signal("-TERM");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
    assert!(!place.exists());
}

#[test]
fn the_daemon_serves_the_page_at_one_address_with_a_new_code_each_time() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    let mut daemon = Daemon::start(&sandbox);
    let [first, second] = [0, 1].map(|_| sandbox.run_json(&["ui", "--no-open", "--port", "0"]));
    assert_eq!(
        (&first["url"], first["pid"].clone()),
        (&second["url"], Value::Null),
        "the daemon serves the page"
    );
    let code = first["code"].as_str().expect("a code");
    assert!(code.len() == 9 && second["code"] != code);
    let address = first["url"]
        .as_str()
        .and_then(|url| url.strip_prefix("http://")?.strip_suffix('/'))
        .expect("an address");
    assert!(
        daemon.wait_for_log("page: http://").ends_with(address),
        "the log has the address and no code"
    );
    let mut stream = TcpStream::connect(address).expect("the page");
    stream
        .write_all(
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
        )
        .expect("a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    assert!(
        response.starts_with("HTTP/1.1 303") && response.contains("location: /sign-in?next=%2F"),
        "{response}"
    );
    daemon.signal("-TERM");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
}

#[test]
fn an_agent_that_writes_puts_dreams_off() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", NOTIFY_BY_FILE);
    sandbox.write("tea", &[]);
    let _daemon = Daemon::start(&sandbox);
    let mut agent = connect(&sandbox);
    let last_write = || {
        let state = fs::read(sandbox.path(".memory/index/daemon.json")).expect("a file");
        serde_json::from_slice::<Value>(&state).expect("JSON")["last_write"].clone()
    };
    let before = last_write();
    let answer = send_request(
        &mut agent,
        r#"{"id":1,"method":"memory_write","params":{"content":"milk"}}"#,
    );
    assert!(answer.contains("\"created\":true"), "{answer}");
    wait_until("the daemon records the write", || last_write() != before);
    assert!(sandbox.run(&["list"]).contains("milk"));
}

#[test]
fn hooks_of_the_settings_stand_before_agents() {
    let sandbox = Sandbox::new();
    let hook = r#"hooks:
  before_tool_call: "grep -q secret && echo '{\"block\": \"not that\"}' || true"
"#;
    sandbox.file(".memory/config.yaml", &format!("{NOTIFY_BY_FILE}{hook}"));
    let _daemon = Daemon::start(&sandbox);
    let mut agent = connect(&sandbox);
    let refused = send_request(
        &mut agent,
        r#"{"id":1,"method":"memory_write","params":{"content":"a secret"}}"#,
    );
    assert!(
        refused.contains("-32000")
            && refused.contains("CALL_BLOCKED")
            && refused.contains("not that"),
        "{refused}"
    );
    assert!(send_request(&mut agent, r#"{"id":2,"method":"memory_list"}"#).contains("\"total\":0"));
}

#[test]
fn where_a_socket_cannot_be_the_daemon_goes_on_without() {
    let sandbox = Sandbox::new();
    let name = "a".repeat(100);
    sandbox.file(&format!("{name}/config.yaml"), NOTIFY_BY_FILE);
    let root = sandbox.path(&name).display().to_string();
    let daemon = Daemon::run(sandbox.command(&["serve", "--log", "-", "--root", &root]));
    let said = daemon.wait_for_log("socket: ");
    assert!(
        said.contains("cannot open: ") && said.contains("is longer than the 10"),
        "{said}"
    );
    daemon.wait_for_log("detecting file changes by");
    assert!(
        sandbox
            .run(&["status", "--root", &root])
            .contains("socket	none; see daemon.log")
    );
}

#[test]
fn a_daemon_that_was_killed_makes_way() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    let mut daemon = Daemon::start(&sandbox);
    daemon.child.kill().expect("it is killed");
    daemon.wait_for_exit();
    let shown = sandbox.run(&["status"]);
    assert!(
        shown.contains("not running; the last run, started [time], was interrupted"),
        "{shown}"
    );
    assert!(
        Sandbox::finish(sandbox.command(&["serve", "--once"]), "")
            .status
            .success()
    );
}

/// Returns a home with a model that never answers, and a daemon that waits for it.
fn start_with_hanging_model() -> (Sandbox, TcpListener, Daemon) {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let settings =
        format!("{NOTIFY_BY_FILE}embedding:\n  base_url: http://{address}/v1\n  name: none\n");
    sandbox.file(".memory/config.yaml", &settings);
    sandbox.write("tea", &[]);
    let daemon = Daemon::start(&sandbox);
    // The connection remains open without a response.
    let (asked, _) = listener.accept().expect("it asks");
    drop(std::thread::spawn(move || {
        let mut lines = BufReader::new(asked).lines();
        while lines.next().is_some() {}
    }));
    (sandbox, listener, daemon)
}

#[test]
fn a_daemon_ends_soon_in_the_middle_of_a_slow_chore() {
    let (sandbox, _listener, mut daemon) = start_with_hanging_model();
    let began = Instant::now();
    daemon.signal("-TERM");
    assert_eq!(daemon.wait_for_exit().code(), Some(0));
    // The timeout of the model is longer than this.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(sandbox.run_json(&["status"])["daemon"]["running"], false);
    assert!(sandbox.run(&["doctor"]).contains("no problems found"));
}

#[test]
fn a_second_signal_ends_a_daemon_at_once() {
    let (_sandbox, _listener, mut daemon) = start_with_hanging_model();
    daemon.signal("-INT");
    daemon.wait_for_log("SIGINT: stopping");
    daemon.signal("-INT");
    assert_eq!(daemon.wait_for_exit().signal(), Some(2));
}

#[test]
fn a_search_asks_the_daemon_for_the_vector_of_its_question() {
    let sandbox = Sandbox::new();
    TinyBert::encoder(1).write(&sandbox.path("model"));
    sandbox.file(
        ".memory/config.yaml",
        &format!("embedding:\n  model: ~/model\n{NOTIFY_BY_FILE}"),
    );
    sandbox.write("dark mode", &[]);
    sandbox.run(&["embed"]);
    let with_own = sandbox.run_json(&["search", "dark", "--explain"]);
    let _daemon = Daemon::start(&sandbox);
    // The daemon opens the model on the first request.
    assert!(
        send_request(
            &mut connect(&sandbox),
            r#"{"id": 1, "method": "embed", "params": {"texts": ["x"]}}"#
        )
        .contains("\"vectors\":[[")
    );
    fs::rename(sandbox.path("model"), sandbox.path("elsewhere")).expect("it is moved");
    let with_its = sandbox.run_json(&["search", "dark", "--explain"]);
    assert_eq!(
        with_its["degraded"],
        Value::Null,
        "nobody else has a model any more"
    );
    assert_eq!(
        with_its["hits"][0]["explain"]["relevance"],
        with_own["hits"][0]["explain"]["relevance"]
    );
}
