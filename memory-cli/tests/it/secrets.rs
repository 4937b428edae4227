//! Tests that secrets do not remain in the memory of the process after their use.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

use memory_core::testing::wait_until;

use memory_core::testing::leave_out;

use crate::daemon::Daemon;
use crate::sandbox::Sandbox;

/// Capacity of a pipe, in bytes.
const PIPE_CAPACITY: usize = 64 * 1024;

const SECRET: &str = "postgres://agent:Vb7qLw2xRk9sTz4mNc8p@db.example/team";

/// The end of the secret, which remains if an allocator overwrites the start of freed memory.
const SECRET_TRACE: &[u8] = b"w2xRk9sTz4mNc8p@db.example";

/// Starts the program with a full pipe as its output; returns it once it blocks on that pipe.
///
/// Returns `None` if the system does not report the state of a blocked process.
fn run_until_blocked(
    sandbox: &Sandbox,
    arguments: &[&str],
    input: &str,
) -> Option<(Child, impl Read)> {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer
        .write_all(&vec![b' '; PIPE_CAPACITY])
        .expect("it takes so much");
    let mut command = sandbox.command(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .expect("the program starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(input.as_bytes())
        .expect("it reads");
    let place = format!("/proc/{}/wchan", child.id());
    let mut is_blocked = false;
    wait_until("the program blocks or has ended", || {
        let state = fs::read_to_string(&place);
        is_blocked = state
            .as_ref()
            .is_ok_and(|state| state.contains("pipe_write"));
        is_blocked || state.is_err() || child.try_wait().expect("its state").is_some()
    });
    is_blocked.then_some((child, reader))
}

/// Returns the number of occurrences of a text in the memory of a process.
fn count(child: &Child, text: &[u8]) -> std::io::Result<usize> {
    let memory = File::open(format!("/proc/{}/mem", child.id()))?;
    let mut found = 0;
    for line in fs::read_to_string(format!("/proc/{}/maps", child.id()))?.lines() {
        let (range, rights) = line.split_once(' ').expect("a range and rights");
        let (start, end) = range.split_once('-').expect("a range");
        let [start, end] =
            [start, end].map(|number| u64::from_str_radix(number, 16).expect("an address"));
        let mut bytes = vec![0; usize::try_from(end - start).expect("it fits")];
        if rights.starts_with("rw") && memory.read_exact_at(&mut bytes, start).is_ok() {
            found += bytes
                .windows(text.len())
                .filter(|window| *window == text)
                .count();
        }
    }
    Ok(found)
}

#[test]
fn a_secret_that_was_given_is_nowhere_in_memory_when_the_answer_is_printed() {
    let sandbox = Sandbox::new();
    let given = format!(r#"{{"driver":"file","dsn":"{SECRET}","dir":"~/Vb7q-and-no-secret"}}"#);
    let file = format!("@{}", sandbox.file("team.json", &given));
    for (input, typed) in [("-", given.as_str()), (file.as_str(), "")] {
        let arguments = [
            "instance", "connect", "history", "team", "--input", input, "--json",
        ];
        let Some((mut child, mut answer)) = run_until_blocked(&sandbox, &arguments, typed) else {
            return leave_out("this system does not tell for what a process waits");
        };
        let counted = count(&child, SECRET_TRACE);
        let heard = count(&child, b"the field dsn is only valid with driver=postgres");
        let mut printed = String::new();
        answer.read_to_string(&mut printed).expect("an answer");
        child.wait().expect("it ends");
        let (Ok(counted), Ok(heard)) = (counted, heard) else {
            return leave_out("this system does not let one look into another process");
        };
        assert!(
            printed.contains("the field dsn is only valid with driver=postgres"),
            "{printed}"
        );
        assert!(0 < heard, "what is in its memory is found");
        assert_eq!(counted, 0, "{input}");
    }
}

#[test]
fn a_program_that_dies_leaves_no_image_of_its_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("tea", &[]);
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -S -c $(ulimit -H -c) && exec \"$0\" serve --log -",
        env!("CARGO_BIN_EXE_memory"),
    ]);
    command.env("HOME", sandbox.path(""));
    let daemon = Daemon::run(command);
    daemon.wait_for_log("detecting file changes by");
    let Ok(limits) = fs::read_to_string(format!("/proc/{}/limits", daemon.child.id())) else {
        return leave_out("this system does not tell the limits of another process");
    };
    let core = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"))
        .expect("a limit");
    assert_eq!(core.split_whitespace().next(), Some("0"), "{core}");
}

#[test]
fn no_setting_and_no_argument_is_repeated_with_its_password() {
    let sandbox = Sandbox::new();
    let address = "postgres://ann:hunter2@localhost:1/x";
    let mut said = String::new();
    let settings = sandbox.run_json(&["config", "show"]);
    for setting in settings["settings"].as_array().expect("the settings") {
        let key = setting["key"].as_str().expect("a key");
        // The path of a file is no address.
        if [
            "root",
            "path",
            "embedding.model",
            "reranking.model",
            "trusted_folders",
        ]
        .iter()
        .any(|path| key.ends_with(path))
        {
            continue;
        }
        said += &sandbox.run(&["config", "set", key, address]);
        said += &sandbox.run(&["config", "show"]);
        std::fs::write(sandbox.path(".memory/config.yaml"), "").expect("the settings");
    }
    for key in [
        "llm.base_url",
        "embedding.base_url",
        "proxy.openai_base_url",
    ] {
        sandbox.run(&["config", "set", key, address]);
    }
    for arguments in [
        &["config", "show", "--json"][..],
        &["doctor", "--system"],
        &["status"],
        &["write", "tea"],
        &["embed"],
        &["search", "tea", "--smart"],
        &["proxy"],
        &["proxy", "--port", address],
        &["search", "tea", "--limit", address],
        &["serve", "--http", address],
        &["init", "--store", address],
        &["init", "--store", address, "--token", "@missing"],
        &["instance", "create", "kv", "team", "--dsn", address],
        &[address],
    ] {
        said += &sandbox.run(arguments);
    }
    assert!(!said.contains("hunter2"), "{said}");
    assert!(said.contains("[redacted: password in a URL]"), "{said}");
}
