//! Tests of the `default` instances of notes, banks and topics, inside and outside of a project.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;
use crate::serve_http::HttpServerProcess;

#[test]
fn an_error_of_a_bank_names_the_bank_the_key_and_the_scope() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("memory bank write b k 1");
    let own = sandbox.run_shell("memory bank read b zz --json");
    assert_eq!(
        sandbox
            .run_shell(r#"memory instance run bank read --json --input '{"bank":"b","key":"zz"}'"#),
        own
    );
    assert_snapshot!(own, @r#"
    {"error":{"code":"KEY_NOT_FOUND","message":"Key 'zz' does not exist in memory bank 'b'","bank":"b","key":"zz","scope":"user","hint":"`memory bank list BANK` lists the keys"}}
    --- exit 3
    "#);
}

#[test]
fn there_are_no_topics_outside_of_a_project() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run_shell("memo run topic view"), @"
    --- stderr
    error[invalid_input]: the current folder is not in a project
    hint: start it in a project folder, or use a topic instance with the field dir
    --- exit 2
    ");
    sandbox.run_shell("mkdir elsewhere link; ln -s ../elsewhere link/.memory");
    let linked = sandbox.run_shell("cd link && memo run topic view");
    assert!(
        linked.contains("~/link/.memory is a symlink, which may point outside the project"),
        "{linked}"
    );
}

#[test]
fn a_server_uses_the_project_in_which_it_was_started() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("mkdir -p p/.git/refs p/src home; cd p; memory topic write t1 --type user --name T1 --description d x");
    sandbox.run_shell("cd p; memory bank write pb k 1 --scope project");
    for arguments in [
        ["instance", "serve", "--addr", "127.0.0.1:0"].as_slice(),
        &["serve", "--http", "127.0.0.1:0", "--json"],
    ] {
        let server = HttpServerProcess::start_in_folder(&sandbox, "p/src", arguments);
        for (action, command) in [
            ("topic/default/view", "topic view"),
            ("bank/default/list", "bank list"),
        ] {
            let (status, answer) = server.post(&format!("/v1/run/{action}"), "", "{}");
            let (kind, action) = command.split_once(' ').expect("two words");
            let own = sandbox.run_shell(&format!("cd p/src; memo run {kind} {action}"));
            let answer = sandbox.normalise(&answer);
            assert_eq!(
                (status.as_str(), answer.trim_end()),
                ("HTTP/1.1 200 OK", own.trim_end())
            );
        }
        // Tools serve agents, and each agent has a project of its own.
        assert_eq!(
            server.post("/v1/tools/bank_list", "", "{}").1,
            r#"{"banks":[]}"#
        );
    }
}

#[test]
fn a_server_follows_the_folders_of_its_project() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("mkdir -p p/.git p/src");
    let server = HttpServerProcess::start_in_folder(
        &sandbox,
        "p/src",
        &["instance", "serve", "--addr", "127.0.0.1:0"],
    );
    let ask = |action: &str| server.post(&format!("/v1/run/{action}"), "", "{}").1;
    assert_eq!(ask("bank/default/list"), r#"{"banks":[]}"#);
    sandbox.run_shell("cd p/src; mkdir -p .memory/banks; memory bank write pb k 1");
    sandbox.run_shell("cd p/src; memory topic write t1 --type user --name T1 --description d x");
    assert!(ask("bank/default/list").contains(r#""pb""#));
    assert!(ask("topic/default/view").contains("T1"));
}

#[test]
fn a_server_outside_of_a_project_has_no_topics_of_its_own() {
    let sandbox = Sandbox::new();
    let server = HttpServerProcess::start_in_folder(
        &sandbox,
        "",
        &["instance", "serve", "--addr", "127.0.0.1:0"],
    );
    let (status, answer) = server.post("/v1/run/topic/default/view", "", "{}");
    assert_eq!(status, "HTTP/1.1 400 Bad Request");
    assert!(
        answer.contains("the current folder is not in a project") && !answer.contains("--dir"),
        "{answer}"
    );
}

#[test]
fn the_usual_folders_of_notes_and_banks_are_checked_like_others() {
    let sandbox = Sandbox::new();
    sandbox.run_shell("mkdir -p ok p/.git; memory write tea -q; memory bank write b k 1");
    let allowed = sandbox.path("ok").display().to_string();
    let server = HttpServerProcess::with(
        &sandbox,
        &["instance", "serve", "--addr", "127.0.0.1:0"],
        &[("MEMO_ALLOWED_PATHS", &allowed)],
    );
    for (kind, action) in [
        ("notes", "list"),
        ("bank", "list"),
        ("kv", "list"),
        ("history", "sessions"),
    ] {
        let command = format!("MEMO_ALLOWED_PATHS=$HOME/ok memo run {kind} {action} --json");
        assert!(
            sandbox.run_shell(&command).contains("PATH_REFUSED"),
            "{kind}"
        );
        let (status, answer) = server.post(&format!("/v1/run/{kind}/default/{action}"), "", "{}");
        assert_eq!(status, "HTTP/1.1 403 Forbidden", "{kind}: {answer}");
    }
    assert!(
        sandbox
            .run_shell("cd p; MEMO_ALLOWED_PATHS=$HOME/ok memo run topic view --json")
            .contains("PATH_REFUSED")
    );
    let all = sandbox.run_shell(
        "cd p; export MEMO_ALLOWED_PATHS=$HOME/.memory:$HOME/p; memo run notes list; memo run bank list; memo run topic view",
    );
    assert!(!all.contains("error"), "{all}");
}
