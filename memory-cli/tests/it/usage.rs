//! Tests of `memory usage` and of the settings of the language model.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

/// Returns the present day in the time zone of the program.
fn today(sandbox: &Sandbox) -> String {
    sandbox.run_json(&["usage"])["today"]["to"]
        .as_str()
        .expect("a day")
        .to_owned()
}

/// Writes today's usage records.
fn write_usage(sandbox: &Sandbox, spent: &[(&str, i64, i64, i64)], more: &str) {
    let day = today(sandbox);
    let line = |(purpose, calls, prompt, answer): &(&str, i64, i64, i64)| {
        format!(
            "{{\"day\":\"{day}\",\"purpose\":\"{purpose}\",\"calls\":{calls},\"prompt_tokens\":{prompt},\"answer_tokens\":{answer}}}\n"
        )
    };
    let lines: String = spent.iter().map(line).collect();
    sandbox.file(
        &format!(".memory/usage/{}.jsonl", &day[..7]),
        &format!("{lines}{more}"),
    );
}

#[test]
fn without_a_model_nothing_was_spent() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["usage"]), @"
    (all)	0	0	0	0
    (budget)	300	300000	-	-
    (left)	300	300000	-	-
    --- stderr
    no language model is configured; see `llm` in the file that `memory config init` creates
    ");
    assert_snapshot!(sandbox.run(&["usage", "--json"]), @r#"{"budget":{"calls":300,"tokens":300000},"left":{"calls":300,"tokens":300000},"today":{"from":"[day]","to":"[day]","calls":0,"prompt_tokens":0,"answer_tokens":0,"tokens":0,"purposes":[]},"lately":{"from":"[day]","to":"[day]","calls":0,"prompt_tokens":0,"answer_tokens":0,"tokens":0,"purposes":[]},"unreadable":0,"waiting":0}"#);
}

#[test]
fn what_was_spent_is_told_by_purpose_with_what_is_left() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "llm:\n  base_url: http://localhost:9/v1\n  model: m\n  tokens_a_day: 1000\n  calls_a_day: none\n",
    );
    write_usage(
        &sandbox,
        &[
            ("compress", 1, 500, 100),
            ("classify", 1, 40, 30),
            ("classify", 2, 60, 20),
            ("classify", 0, -10, -5),
        ],
        "",
    );
    assert_snapshot!(sandbox.run(&["usage"]), @"
    classify	3	135	3	135
    compress	1	600	1	600
    (all)	4	735	4	735
    (budget)	-	1000	-	-
    (left)	-	265	-	-
    ");
    assert_snapshot!(sandbox.run(&["usage", "--json"]), @r#"{"budget":{"calls":null,"tokens":1000},"left":{"calls":null,"tokens":265},"today":{"from":"[day]","to":"[day]","calls":4,"prompt_tokens":590,"answer_tokens":145,"tokens":735,"purposes":[{"purpose":"classify","calls":3,"prompt_tokens":90,"answer_tokens":45,"tokens":135},{"purpose":"compress","calls":1,"prompt_tokens":500,"answer_tokens":100,"tokens":600}]},"lately":{"from":"[day]","to":"[day]","calls":4,"prompt_tokens":590,"answer_tokens":145,"tokens":735,"purposes":[{"purpose":"classify","calls":3,"prompt_tokens":90,"answer_tokens":45,"tokens":135},{"purpose":"compress","calls":1,"prompt_tokens":500,"answer_tokens":100,"tokens":600}]},"unreadable":0,"waiting":0}"#);
}

#[test]
fn lines_that_cannot_be_read_are_told() {
    let sandbox = Sandbox::new();
    write_usage(&sandbox, &[("classify", 1, 40, 30)], "nonsense\n");
    assert_snapshot!(sandbox.run(&["usage"]), @"
    classify	1	70	1	70
    (all)	1	70	1	70
    (budget)	300	300000	-	-
    (left)	299	299930	-	-
    --- stderr
    warning: ~/.memory/usage: 1 line is unreadable and not counted
    no language model is configured; see `llm` in the file that `memory config init` creates
    ");
}

#[test]
fn a_key_is_never_shown_and_others_should_not_read_it_either() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "llm:\n  api_key: sk-0123456789\n");
    let shown = sandbox.run(&["config", "show"]);
    assert!(
        shown.contains("llm.api_key\t(hidden)\tfile\n") && !shown.contains("sk-0123456789"),
        "{shown}"
    );
    assert_snapshot!(sandbox.run(&["list"]), @"
    --- stderr
    warning: ~/.memory/config.yaml contains an API key (llm.api_key) and other users can read it; restrict access with `chmod 600`
    no matching memories
    ");
    let shown = sandbox.run_with(
        "MEMORY_LLM_API_KEY",
        "sk-9876543210",
        &["config", "show", "--json"],
    );
    assert!(
        shown.contains(r#"{"key":"llm.api_key","value":"(hidden)","from":"environment"}"#)
            && !shown.contains("sk-9"),
        "{shown}"
    );
    assert_snapshot!(sandbox.run_with("MEMORY_LLM_API_KEY", "two words", &["list"]), @"
    --- stderr
    error[config_invalid]: environment variable MEMORY_LLM_API_KEY contains no valid API key: a key is one word of ASCII characters
    hint: correct or unset MEMORY_LLM_API_KEY
    --- exit 2
    ");
}
