//! Tests of searches with a reranking model.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::tiny_bert::TinyBert;

/// Returns a home with memories and a reranking model; `settings` are further lines of its settings.
fn home_with_reranker(settings: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    TinyBert::cross_encoder(1, 1).write(&sandbox.path("model"));
    sandbox.file(
        ".memory/config.yaml",
        &format!("reranking:\n  model: ~/model\n{settings}"),
    );
    for text in [
        "a red apple",
        "which fruit is red?",
        "red and green",
        "a cherry is red, and so is an apple",
        "深色 red",
    ] {
        sandbox.write(text, &[]);
    }
    sandbox
}

fn numbers(answer: &Value, which: impl Fn(&Value) -> &Value) -> Vec<f64> {
    answer["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| which(hit).as_f64().expect("a number"))
        .collect()
}

fn search_scores(sandbox: &Sandbox, flags: &[&str]) -> (Vec<f64>, Vec<f64>) {
    let answer =
        sandbox.run_json(&[&["search", "red", "--explain", "--recency", "0"], flags].concat());
    assert_eq!(answer["degraded"], Value::Null);
    let relevance = numbers(&answer, |hit| &hit["explain"]["relevance"]);
    (
        numbers(&answer, |hit| &hit["explain"]["rerank"]["score"]),
        relevance,
    )
}

#[test]
fn the_order_is_that_of_the_model() {
    let sandbox = home_with_reranker("");
    let (scores, relevance) = search_scores(&sandbox, &["--threshold", "0"]);
    assert!(
        scores.len() == 5 && scores.is_sorted_by(|one, other| other < one),
        "{scores:?}"
    );
    for (score, relevance) in scores.iter().zip(&relevance) {
        assert!(
            (1.0 / (1.0 + (-score).exp()) - relevance).abs() < 1e-5,
            "{score} {relevance}"
        );
    }
    let (above, beyond) = (relevance[1].to_string(), f64::midpoint(relevance[0], 1.0));
    assert_eq!(search_scores(&sandbox, &["--threshold", &above]).0.len(), 2);
    assert_eq!(
        sandbox.run_json(&["search", "red", "--threshold", &beyond.to_string()])["total"],
        0
    );
    let shown = sandbox.run(&[
        "search",
        "red",
        "--explain",
        "--threshold",
        "0",
        "--limit",
        "1",
    ]);
    assert!(shown.contains(" by the reranking model ("), "{shown}");
}

#[test]
fn settings_say_how_it_is_used() {
    let (_, relevance) = search_scores(
        &home_with_reranker("  normalise: min-max\n  threshold: 0\n"),
        &[],
    );
    assert_eq!(
        (
            relevance.len(),
            relevance[0].to_bits(),
            relevance[4].to_bits()
        ),
        (5, 1_f64.to_bits(), 0_f64.to_bits())
    );
    let sandbox = home_with_reranker("  threshold: 0\n  candidates: 2\n");
    let answer = sandbox.run_json(&["search", "red", "--explain"]);
    let read = answer["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| hit["explain"]["rerank"].is_object());
    assert_eq!(read.collect::<Vec<_>>(), [true, true, false, false, false]);
    assert!(numbers(&answer, |hit| &hit["score"]).is_sorted_by(|one, other| other <= one));
    assert_eq!(
        home_with_reranker("  threshold: 1\n").run_json(&["search", "red"])["total"],
        0
    );
}

#[test]
fn a_model_that_is_not_whole_leaves_the_answer_as_it_is_without_it() {
    let sandbox = home_with_reranker("");
    let weights = sandbox.path("model/model.safetensors");
    let bytes = std::fs::read(&weights).expect("a file");
    let degraded = |about: &str| {
        let answer = sandbox.run_json(&["search", "red"]);
        assert_eq!(answer["total"], 5);
        let degraded = answer["degraded"].as_str().expect("it says so");
        assert!(
            degraded.starts_with("the reranking model returned no scores: ")
                && degraded.contains(about),
            "{degraded}"
        );
        assert!(
            degraded.ends_with("; the results are not reranked"),
            "{degraded}"
        );
    };
    std::fs::write(&weights, &bytes[..bytes.len() / 2]).expect("a file");
    degraded("model.safetensors");
    std::fs::remove_file(&weights).expect("a file");
    degraded("model.safetensors does not exist");
    std::fs::remove_dir_all(sandbox.path("model")).expect("a folder");
    degraded("~/model".trim_start_matches("~/"));
    // A search without hits does not open the model.
    assert_eq!(
        sandbox.run_json(&["search", "--words", "zeppelin"])["degraded"],
        Value::Null
    );
}

#[test]
fn the_environment_names_the_model_too() {
    let sandbox = home_with_reranker("");
    let nowhere = sandbox.path("nowhere").display().to_string();
    let answer = sandbox.run_with(
        "MEMORY_RERANKING_MODEL",
        &nowhere,
        &["search", "red", "--json"],
    );
    assert!(
        answer.contains("nowhere") && answer.contains("\"total\":5"),
        "{answer}"
    );
}

#[test]
fn settings_that_cannot_be_are_errors() {
    for (setting, wanted) in [
        (
            "normalise: softmax",
            "a score normalization (sigmoid or min-max)",
        ),
        ("threshold: 2", "a number from 0 to 1"),
        ("candidates: 0", "a whole number of at least 1"),
        ("timeout: soon", "a duration such as"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.file(".memory/config.yaml", &format!("reranking:\n  {setting}\n"));
        let said = sandbox.run(&["search", "red"]);
        assert!(
            said.starts_with("--- stderr\nerror[config_invalid]") && said.contains(wanted),
            "{said}"
        );
    }
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "reranking:\n  threshold: high\n");
    assert_snapshot!(sandbox.run(&["search", "red"]), @r#"
    --- stderr
    error[config_invalid]: ~/.memory/config.yaml: invalid value of reranking.threshold
      because: "high" is not a number from 0 to 1
    hint: correct or remove the line: every key has a default
    --- exit 2
    "#);
}
