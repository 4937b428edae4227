//! Tests of `memory embed` and of searches with a model.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::sandbox::Sandbox;
use crate::tiny_bert::TinyBert;

#[test]
fn without_a_model_it_says_how_to_name_one() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "embedding:\n  model: none\n");
    assert_snapshot!(sandbox.run(&["embed"]), @"
    --- stderr
    error[config_invalid]: no embedding model is configured
    hint: run `memory model use built-in`, or see `memory embed --help` for other models
    --- exit 2
    ");
    assert_snapshot!(sandbox.run(&["embed", "--status", "--json"]), @r#"
    {"error":{"code":"CONFIG_INVALID","message":"no embedding model is configured","hint":"run `memory model use built-in`, or see `memory embed --help` for other models"}}
    --- exit 2
    "#);
}

#[test]
fn a_model_that_is_not_there_stops_embedding_and_no_search() {
    let sandbox = Sandbox::new();
    TinyBert::encoder(1).write(&sandbox.path("model"));
    sandbox.file(".memory/config.yaml", "embedding:\n  model: ~/nowhere\n");
    sandbox.write("dark mode", &[]);
    // Without any vectors, a missing model does not degrade a search.
    let answer = sandbox.run_json(&["search", "dark"]);
    assert_eq!(
        (&answer["total"], &answer["degraded"]),
        (&1.into(), &serde_json::Value::Null)
    );
    let model = sandbox.path("model").display().to_string();
    sandbox.run_with("MEMORY_EMBEDDING_MODEL", &model, &["embed"]);
    let answer = sandbox.run_json(&["search", "dark"]);
    assert_eq!(answer["total"], 1);
    let degraded = answer["degraded"].as_str().expect("it says so");
    assert!(
        degraded.contains("nowhere") && degraded.ends_with("; searched by words only"),
        "{degraded}"
    );
    assert_eq!(
        sandbox.run_json(&["embed"])["error"]["code"],
        "MODEL_FAILED"
    );
    // A command that needs no model does not open it.
    assert_eq!(sandbox.run_json(&["list"])["total"], 1);
}

#[test]
fn an_address_without_a_name_is_no_model() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "embedding:\n  base_url: http://localhost:9/v1\n",
    );
    assert_snapshot!(sandbox.run(&["embed", "--status"]), @"
    --- stderr
    error[model_failed]: the embedding model returned no vectors: embedding.base_url is set, but embedding.name is not
    hint: set embedding.name in config.yaml
    --- exit 1
    ");
}

/// Returns the folder of the model all-MiniLM-L6-v2.
///
/// It is `MEMORY_TEST_MODEL`, else a folder in the build's temporary files.
fn find_model() -> Option<PathBuf> {
    let cached = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-MiniLM-L6-v2");
    let folder = std::env::var_os("MEMORY_TEST_MODEL").map_or_else(cached, PathBuf::from);
    if folder.join("model.safetensors").is_file() {
        return Some(folder);
    }
    memory_core::testing::leave_out(&format!("{} holds no model", folder.display()));
    None
}

#[test]
fn a_paraphrase_is_found_by_the_built_in_model_until_another_has_read_the_memories() {
    let Some(model) = find_model() else { return };
    let sandbox = Sandbox::new();
    for text in [
        "The meeting with Anna moved to Thursday at 14:30.",
        "Deploy with `make release` from the main branch only.",
        "Milk, eggs and flour are on the shopping list.",
        "Grandmother was born in a village near the sea.",
        "The printer on the second floor needs new toner.",
        "Tax papers lie in the blue folder.",
        "The train to Vienna leaves from platform nine.",
        "Tomatoes want sun and a lot of water.",
    ] {
        sandbox.write(text, &[]);
    }
    let id = sandbox.write(
        "The physician prescribed pills against the pain in my back.",
        &[],
    );
    let model = model.display().to_string();
    let run = |arguments: &[&str]| sandbox.run_with("MEMORY_EMBEDDING_MODEL", &model, arguments);
    let question = ["search", "which medicine did a doctor give us", "--json"];
    assert!(run(&question).contains("physician"));
    assert_snapshot!(run(&["embed", "--status"]), @"
    embedded	0
    left	9
    ");
    assert_snapshot!(run(&["embed"]), @"
    embedded	9
    left	0
    ");
    let answer = run(&question);
    let first = answer
        .find("\"id\"")
        .map(|start| &answer[start..])
        .unwrap_or_default();
    assert!(first.contains("physician") && !id.is_empty(), "{answer}");
    assert!(run(&["embed", "--json"]).ends_with(",\"embedded\":0,\"unreadable\":0,\"left\":0}\n"));
}
