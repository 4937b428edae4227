//! Tests of `memory model`.

use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use memory_core::testing::wait_until;
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::tiny_bert::TinyBert;

fn row<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let models = answer["models"].as_array().expect("a list");
    models
        .iter()
        .find(|model| model["name"] == name)
        .unwrap_or_else(|| panic!("{name} is listed"))
}

#[test]
fn models_are_listed_with_what_is_known_of_them() {
    let sandbox = Sandbox::new();
    let answer = sandbox.run_json(&["model", "list"]);
    let known = row(&answer, "all-MiniLM-L6-v2");
    assert_eq!(
        (known["license"].as_str(), known["size_mb"].as_u64()),
        (Some("Apache-2.0"), Some(91))
    );
    assert_eq!(
        known["sha256"],
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    );
    assert_eq!(
        (&known["folder"], &known["in_use"]),
        (&Value::Null, &Value::Bool(false))
    );
    assert!(
        row(&answer, "potion-multilingual-128M")["sha256"].is_null(),
        "no hash is made up"
    );

    TinyBert::encoder(1).write(&sandbox.path("models/all-MiniLM-L6-v2"));
    TinyBert::encoder(2).write(&sandbox.path("models/mine"));
    TinyBert::encoder(3)
        .write(&sandbox.path(".cache/huggingface/hub/models--someone--theirs/snapshots/0a1b"));
    std::fs::create_dir_all(sandbox.path("models/empty")).expect("a folder");
    sandbox.run(&["model", "use", "mine"]);
    let answer = sandbox.run_json(&["model", "list"]);
    assert!(
        row(&answer, "all-MiniLM-L6-v2")["folder"]
            .as_str()
            .is_some_and(|folder| folder.ends_with("models/all-MiniLM-L6-v2"))
    );
    assert_eq!(
        (
            &row(&answer, "mine")["in_use"],
            &row(&answer, "mine")["license"]
        ),
        (&Value::Bool(true), &Value::Null)
    );
    assert!(
        row(&answer, "theirs")["folder"]
            .as_str()
            .is_some_and(|folder| folder.ends_with("snapshots/0a1b"))
    );
    assert!(!answer.to_string().contains("models/empty"));
    let text = sandbox.run(&["model", "list"]);
    assert!(
        text.lines()
            .any(|line| line.starts_with("mine\t-\t-\t-\t-\t") && line.ends_with("\tyes")),
        "{text}"
    );
}

#[test]
fn a_model_is_used_once_it_runs_and_given_up_again() {
    let sandbox = Sandbox::new();
    TinyBert::encoder(1).write(&sandbox.path("model"));
    let folder = sandbox.path("model").display().to_string();
    sandbox.file(
        ".memory/config.yaml",
        "# mine\nembedding:\n  base_url: http://localhost:9/v1 # far away\n",
    );
    let answer = sandbox.run_json(&["model", "use", &folder]);
    assert_eq!(answer["dimensions"], 32);
    assert!(
        answer["identity"]
            .as_str()
            .is_some_and(|identity| identity.starts_with("model@"))
    );
    sandbox.write("a red apple", &[]);
    assert_eq!(sandbox.run_json(&["embed"])["embedded"], 1);

    sandbox.file("broken/config.json", "{}");
    let refused = sandbox.run_json(&[
        "model",
        "use",
        &sandbox.path("broken").display().to_string(),
    ]);
    assert_eq!(refused["error"]["code"], "MODEL_FAILED");
    assert_eq!(
        sandbox.run_json(&["embed", "--status"])["model"],
        answer["identity"],
        "the settings stay"
    );
    assert_snapshot!(sandbox.run(&["model", "use", "nowhere"]), @"
    --- stderr
    error[usage]: folder nowhere not found
    hint: `memory model list --help` explains where models are downloaded and which folders are searched
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["model", "use", "all-MiniLM-L6-v2"]), @"
    --- stderr
    error[usage]: all-MiniLM-L6-v2 was not found in any folder
    hint: `memory model list --help` explains where models are downloaded and which folders are searched
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["model", "use"]), @"
    --- stderr
    error[usage]: the following required arguments were not provided:
      <FOLDER|NAME>

    Usage: memory model use <FOLDER|NAME>

    For more information, try '--help'.
    --- exit 2
    ");

    assert_snapshot!(sandbox.run(&["model", "use", "built-in"]), @"
    built-in
    --- stderr
    run `memory embed` to compute the vectors of existing memories
    ");
    sandbox.write("My dog is called Rex", &[]);
    let found = sandbox.run_json(&["search", "what pet do I have"]);
    assert_eq!(
        found["hits"][0]["memory"]["content"], "My dog is called Rex",
        "its vector was computed when it was written"
    );
    sandbox.write("The ferry to Calais takes ninety minutes", &[]);
    let given = sandbox.run(&["agent", "--prompt", "what pet do I have"]);
    assert!(
        given.contains("Rex") && !given.contains("ferry"),
        "a model receives only what is near: {given}"
    );

    assert_snapshot!(sandbox.run(&["model", "use", "--none"]), @"
    --- stderr
    searches use words only; existing vectors are retained
    ");
    assert_eq!(
        sandbox.run_json(&["embed"])["error"]["code"],
        "CONFIG_INVALID"
    );
    assert_eq!(
        sandbox.read_file(".memory/config.yaml"),
        "# mine\nembedding:\n  model: none\n  base_url: http://localhost:9/v1 # far away\n"
    );
}

#[test]
fn a_test_measures_words_and_model_on_ones_own_memories() {
    let sandbox = Sandbox::new();
    TinyBert::encoder(1).write(&sandbox.path("model"));
    let folder = sandbox.path("model").display().to_string();
    assert_snapshot!(sandbox.run(&["model", "test", &folder]), @"
    --- stderr
    no memory has two sentences to test with
    ");
    for number in 0..4 {
        let text = format!(
            "The apple of tree {number} is red and sweet. Cherry number {number} is another kind of fruit."
        );
        sandbox.write(&text, &[]);
    }
    sandbox.write(
        "Привет, как твои дела сегодня? Сегодня мы встречаемся с друзьями.",
        &[],
    );
    let journal = sandbox.run_json(&["log"]);
    let answer = sandbox.run_json(&["model", "test", &folder]);
    assert_eq!(
        (answer["questions"].as_u64(), answer["verdict"].as_str()),
        (Some(5), Some("too_few"))
    );
    let scripts: Vec<_> = answer["scripts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|script| script["script"].clone())
        .collect();
    assert_eq!(scripts, ["Cyrillic", "Latin"]);
    assert_eq!(answer["scripts"][0]["unreadable"], 1);
    assert_eq!(
        answer["scripts"][0]["words"], answer["scripts"][0]["with_model"],
        "its words decide"
    );
    assert_eq!(
        sandbox.run_json(&["model", "test", &folder])["scripts"],
        answer["scripts"]
    );
    assert_eq!(sandbox.run_json(&["log"]), journal, "nothing changed");
    let text = sandbox.run(&["model", "test", &folder]);
    assert!(
        text.contains("Latin: too few questions: at least"),
        "{text}"
    );
    assert_eq!(
        sandbox.run_json(&["model", "test"])["questions"],
        5,
        "the built-in model is in use"
    );
}

#[test]
fn a_signal_leaves_no_copies_behind() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "The apple of the tree is red and sweet. The cherry is another kind of fruit.",
        &[],
    );
    // A server that accepts connections and never answers.
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    sandbox.file(
        ".memory/config.yaml",
        &format!("embedding:\n  base_url: http://{address}/v1\n  name: silent\n"),
    );
    let mut command = sandbox.command(&["model", "test"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    server.set_nonblocking(true).expect("it does not block");
    let mut request = None;
    wait_until("it asks for vectors", || {
        request = server.accept().ok();
        assert!(
            child.try_wait().expect("it can be waited for").is_none(),
            "it asks for vectors before it ends"
        );
        request.is_some()
    });
    let index = sandbox.path(".memory/index");
    assert_eq!(
        files_ending_in(&index, ".md"),
        1,
        "the copy exists while it runs"
    );
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill runs")
            .success()
    );
    let status = child.wait().expect("it ends");
    assert_eq!(status.signal(), Some(15), "{status}");
    assert_eq!(files_ending_in(&index, ".md"), 0);
}

fn files_ending_in(folder: &Path, ending: &str) -> usize {
    let entries = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let count = |path: std::path::PathBuf| {
        if path.is_dir() {
            files_ending_in(&path, ending)
        } else {
            usize::from(path.to_string_lossy().ends_with(ending))
        }
    };
    entries.map(count).sum()
}

#[test]
fn a_model_without_valid_weights_is_not_used() {
    let sandbox = Sandbox::new();
    let mut model = TinyBert::encoder(1);
    model
        .tensors
        .iter_mut()
        .for_each(|tensor| tensor.numbers.fill(f32::NAN));
    model.write(&sandbox.path("model"));
    let folder = sandbox.path("model").display().to_string();
    let refused = sandbox.run_json(&["model", "use", &folder]);
    assert_eq!(refused["error"]["code"], "MODEL_FAILED");
    assert_eq!(
        sandbox.run_json(&["model", "list"])["models"][0]["in_use"],
        true,
        "the built-in model is still in use"
    );
}
