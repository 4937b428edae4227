//! Tests of the warnings of a proxy about waiting, omitted and unsaved data.

use memory_core::testing::wait_until;
use serde_json::json;

use super::process::ProxyProcess;
use super::stored_texts;
use super::upstream::{FakeUpstream, UpstreamReply, UpstreamRequest};
use crate::sandbox::Sandbox;

#[test]
fn what_waits_for_a_model_is_told_at_the_start() {
    let upstream =
        FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::Whole(503, "", String::new()));
    let sandbox = Sandbox::new();
    let begin = |more: &[&str]| {
        ProxyProcess::start(
            &sandbox,
            &upstream.base_url(),
            &[&["--no-git-versioning"], more].concat(),
        )
    };
    let proxy = begin(&[]);
    assert_eq!(proxy.begun["waiting"], json!(0));
    proxy.send_message("I live in Ghent.");
    proxy.send_message("I like tea.");
    assert_eq!(proxy.stop().0, Some(0));
    let proxy = begin(&[]);
    assert_eq!(proxy.begun["waiting"], json!(2));
    proxy.stop();
    assert_eq!(
        begin(&["--no-summarization"]).begun["waiting"],
        json!(0),
        "what asks no model does not wait for one"
    );
}

#[test]
fn turns_that_the_log_calls_stored_survive_a_kill() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let flags = ["--no-git-versioning", "--no-summarization"];
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &flags);
    std::thread::scope(|scope| {
        for number in 0..12 {
            let proxy = &proxy;
            scope.spawn(move || {
                let messages = json!([{ "role": "user", "content": "I live in Ghent." }]);
                let id = format!("c{number}");
                proxy.chat(&json!({ "model": "m", "memory_id": id, "messages": messages }))
            });
        }
    });
    let turns = |id: &str, role: &str| stored_texts(&sandbox, &format!("{id}/turns/{role}"));
    wait_until("a conversation is stored", || {
        !turns("c0", "assistant").is_empty()
    });
    let log = proxy.kill();
    for line in log.lines().filter(|line| line.contains("stored=2")) {
        let (_, rest) = line.split_once("id=").expect("an id");
        let (id, _) = rest.split_once(' ').expect("an id");
        assert_eq!(turns(id, "user"), ["I live in Ghent."], "{line}");
        assert_eq!(turns(id, "assistant"), ["Fine."], "{line}");
    }
}

#[test]
fn what_a_killed_process_left_is_committed_by_the_next() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let begin = || ProxyProcess::start(&sandbox, &upstream.base_url(), &["--no-summarization"]);
    let proxy = begin();
    proxy.send_message("Hi");
    proxy.kill();
    sandbox.file("mem/entries/default/facts/1.md", "likes tea");
    assert_eq!(begin().stop().0, Some(0));
    assert_eq!(
        sandbox.run_shell("cd mem && git status --porcelain entries"),
        ""
    );
    assert_eq!(
        sandbox.run_shell("cd mem && git ls-files entries/default/facts"),
        "entries/default/facts/1.md\n"
    );
}

#[test]
fn what_was_kept_by_somebody_who_was_killed_before_it_was_taken_up_is_taken_up_by_the_next() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let begin = || {
        ProxyProcess::start(
            &sandbox,
            &upstream.base_url(),
            &["--no-summarization", "--no-git-versioning"],
        )
    };
    let proxy = begin();
    // The start writes the first line of the queue beside the first requests.
    let jobs = sandbox.path("mem/.conversations/jobs.jsonl");
    wait_until("the queue has its first line", || jobs.exists());
    proxy.send_message("Hi");
    proxy.stop();
    let before = std::fs::read_to_string(&jobs).expect("a file");
    let (mark, of_turn) = before.split_once('\n').expect("lines");
    assert!(of_turn.contains("\"turn\""), "{before}");
    std::fs::write(&jobs, format!("{mark}\n")).expect("it is written");
    begin().stop();
    assert_eq!(std::fs::read_to_string(&jobs).expect("a file"), before);
}

#[test]
fn a_fact_that_cannot_be_read_is_told_of() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.file(
        "mem/entries/default/facts/odd.md",
        "---\nid: [\n---\nlikes tea\n",
    );
    let proxy = ProxyProcess::start(
        &sandbox,
        &upstream.base_url(),
        &["--no-summarization", "--no-git-versioning"],
    );
    for _ in 0..3 {
        let answer = proxy.send_message("Hi");
        let warning = answer.header("memory-warning").unwrap_or_default();
        assert!(
            warning.starts_with("entries/default/facts/odd.md was skipped: "),
            "{:?}",
            answer.headers
        );
    }
    let (_, complaints) = proxy.stop();
    assert_eq!(
        complaints.matches("odd.md was skipped").count(),
        1,
        "{complaints}"
    );
    assert_eq!(stored_texts(&sandbox, "default/turns/user").len(), 3);
}

#[test]
fn an_embedding_model_that_refuses_is_told_of() {
    let upstream = FakeUpstream::start(|asked: &UpstreamRequest| {
        if asked.line.ends_with("/embeddings") {
            UpstreamReply::Whole(
                400,
                "Content-Type: application/json\r\n",
                r#"{"error":{"message":"there is no such model"}}"#.into(),
            )
        } else {
            UpstreamReply::completion("Fine.")
        }
    });
    let sandbox = Sandbox::new();
    let flags = [
        "--no-summarization",
        "--no-git-versioning",
        "--embedding-model",
        "none",
    ];
    let proxy = ProxyProcess::start(&sandbox, &upstream.base_url(), &flags);
    // Vectors are computed in the background after each answer; without the wait, the loop might outrun them.
    let embeddings = || {
        upstream
            .client_requests()
            .iter()
            .filter(|asked| asked.line.ends_with("/embeddings"))
            .count()
    };
    let say = || {
        let before = embeddings();
        let answer = proxy.send_message("Hi");
        while embeddings() == before {
            upstream.wait_for_request();
        }
        answer
    };
    let mut answers = std::iter::repeat_with(say).take(1000);
    let warned = answers.find_map(|answer| answer.header("memory-warning").map(str::to_owned));
    assert!(
        warned
            .as_ref()
            .is_some_and(|why| why.contains("recall uses words only")),
        "{warned:?}"
    );
    let (_, complaints) = proxy.stop();
    assert_eq!(
        complaints.matches("recall uses words only").count(),
        1,
        "{complaints}"
    );
}

#[test]
fn git_keeps_conversations_by_default_and_nothing_else_of_a_home() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    sandbox.write("A note.", &[]);
    sandbox.file(".memory/master.key", "secret");
    let begin = |sandbox: &Sandbox| {
        let base_url = upstream.base_url();
        sandbox.command(&[
            "proxy",
            "--json",
            "--port",
            "0",
            "--openai-base-url",
            &base_url,
            "--no-summarization",
        ])
    };
    let proxy = ProxyProcess::of(begin(&sandbox));
    proxy.send_message("I like tea.");
    assert_eq!(proxy.stop().0, Some(0));
    let files = sandbox.run_shell("git -C .memory ls-files");
    assert!(
        files
            .lines()
            .any(|file| file.starts_with("entries/default/turns/user/")),
        "{files}"
    );
    assert!(
        files
            .lines()
            .all(|file| file.starts_with("entries/") || file == ".gitignore"),
        "{files}"
    );
    assert_eq!(
        sandbox.run_shell("git -C .memory status --porcelain -- master.key index"),
        "",
        "a person adds no key by mistake"
    );
}

#[test]
fn without_git_a_proxy_works_and_says_so_once() {
    let upstream = FakeUpstream::start(|_: &UpstreamRequest| UpstreamReply::completion("Fine."));
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&[
        "proxy",
        "--json",
        "--port",
        "0",
        "--openai-base-url",
        &upstream.base_url(),
        "--no-summarization",
    ]);
    command.env("PATH", sandbox.path("nothing"));
    let proxy = ProxyProcess::of(command);
    for number in 0..3 {
        let answer = proxy.send_message(&format!("I like tea {number}."));
        assert_eq!(
            (
                answer.status,
                answer.header("memory-error"),
                answer.header("memory-warning")
            ),
            (Some(200), None, None)
        );
    }
    let (code, complaints) = proxy.stop();
    assert_eq!(code, Some(0));
    assert_eq!(
        complaints.matches("git is not installed").count(),
        1,
        "{complaints}"
    );
}
