//! Tests of `memory config` and of the sources of settings.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn init_writes_a_file_and_never_over_one() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["config", "init"]), @"~/.memory/config.yaml");
    sandbox.file(".memory/config.yaml", "# mine\n");
    assert_snapshot!(sandbox.run(&["config", "init", "--json"]), @r#"{"path":"~/.memory/config.yaml","created":false}"#);
    assert_eq!(sandbox.read_file(".memory/config.yaml"), "# mine\n");
}

#[test]
fn show_tells_each_value_and_where_it_comes_from() {
    let sandbox = Sandbox::new();
    let text = "storage:\n  short_term_ttl: 30d\ndaemon:\n  upgrade_access_threshold: 5\ningestion:\n  logseq: {path: ~/graph, enabled: false}\n";
    sandbox.file("there/config.yaml", text);
    let root = sandbox.path("there").display().to_string();
    // The sources have equal keys, and most are not set.
    let shown = sandbox.run_with("MEMORY_ROOT", &root, &["config", "show"]);
    let shown = shown
        .lines()
        .filter(|line| !line.starts_with("ingestion.") || !line.ends_with("default"));
    assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @"
    storage.root	~/there	environment
    storage.store	-	default
    storage.default_scope	-	default
    storage.short_term_ttl	720h	file
    storage.trash_retention	90d	default
    recalls.enabled	true	default
    recalls.retention	90d	default
    recalls.max_size	64MB	default
    git.enabled	false	default
    daemon.interval	60s	default
    daemon.decay_threshold	720h	default
    daemon.upgrade_access_threshold	5	file
    notification.enabled	true	default
    notification.method	osascript	default
    timezone	-	default
    trusted_folders	-	default
    embedding.model	built-in	default
    embedding.base_url	-	default
    embedding.name	-	default
    embedding.api_key_env	-	default
    reranking.model	-	default
    reranking.normalise	sigmoid	default
    reranking.threshold	0.35	default
    reranking.candidates	50	default
    reranking.max_characters	2000	default
    reranking.timeout	10s	default
    llm.base_url	-	default
    llm.model	-	default
    llm.api_key	-	default
    llm.api_key_env	-	default
    llm.timeout	60s	default
    llm.calls_a_day	300	default
    llm.tokens_a_day	300000	default
    proxy.memory_path	-	default
    proxy.openai_base_url	-	default
    proxy.openai_api_key_env	-	default
    proxy.openai_api_key	-	default
    proxy.embedding_model	-	default
    proxy.embedding_base_url	-	default
    proxy.default_top_k	5	default
    proxy.max_entries	500	default
    proxy.mmr_lambda	0.7	default
    proxy.recency_weight	0.2	default
    proxy.score_threshold	0.35	default
    proxy.enable_summarization	true	default
    proxy.enable_git_versioning	true	default
    proxy.start_watcher	false	default
    proxy.memory_timeout	2s	default
    proxy.host	127.0.0.1	default
    proxy.port	8100	default
    proxy.log_level	info	default
    http.allowed_origins	-	default
    banks.compress_above	1MB	default
    banks.filter_timeout	5s	default
    banks.filter_memory	512MB	default
    banks.filter_total_memory	2048MB	default
    agents.project_writes	global	default
    agents.allow_secret	false	default
    review.policy	direct	default
    review.rules	-	default
    hooks.before_tool_call	-	default
    hooks.after_tool_call	-	default
    hooks.on_event	-	default
    ingestion.logseq.path	~/graph	file
    ingestion.logseq.enabled	false	file
    --- stderr
    settings file: ~/there/config.yaml
    ");
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let sandbox = Sandbox::new();
    sandbox.file("settings.yaml", "storage:\n  root: ~/by-file\n");
    let settings = sandbox.path("settings.yaml").display().to_string();
    let root = |variable: Option<&str>, flags: &[&str]| {
        let mut command = sandbox.command(&[&["config", "show", "--json"], flags].concat());
        command
            .env("MEMORY_CONFIG", &settings)
            .envs(variable.map(|value| ("MEMORY_ROOT", value)));
        let answer: serde_json::Value =
            serde_json::from_slice(&Sandbox::finish(command, "").stdout).expect("JSON");
        let setting = &answer["settings"][0];
        (
            setting["value"].as_str().unwrap_or_default().to_owned(),
            setting["from"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let home = sandbox.path("by-file").display().to_string();
    assert_eq!(root(None, &[]), (home, "file".into()));
    assert_eq!(
        root(Some("/by-environment"), &[]),
        ("/by-environment".into(), "environment".into())
    );
    assert_eq!(
        root(Some("/by-environment"), &["--root", "/by-flag"]),
        ("/by-flag".into(), "flag".into())
    );
}

#[test]
fn show_for_programs() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["config", "show", "--json"]), @r#"{"path":"~/.memory/config.yaml","exists":false,"settings":[{"key":"storage.root","value":"~/.memory","from":"default"},{"key":"storage.store","value":null,"from":"default"},{"key":"storage.default_scope","value":null,"from":"default"},{"key":"storage.short_term_ttl","value":"168h","from":"default"},{"key":"storage.trash_retention","value":"90d","from":"default"},{"key":"recalls.enabled","value":true,"from":"default"},{"key":"recalls.retention","value":"90d","from":"default"},{"key":"recalls.max_size","value":"64MB","from":"default"},{"key":"git.enabled","value":false,"from":"default"},{"key":"daemon.interval","value":"60s","from":"default"},{"key":"daemon.decay_threshold","value":"720h","from":"default"},{"key":"daemon.upgrade_access_threshold","value":3,"from":"default"},{"key":"notification.enabled","value":true,"from":"default"},{"key":"notification.method","value":"osascript","from":"default"},{"key":"timezone","value":null,"from":"default"},{"key":"trusted_folders","value":null,"from":"default"},{"key":"embedding.model","value":"built-in","from":"default"},{"key":"embedding.base_url","value":null,"from":"default"},{"key":"embedding.name","value":null,"from":"default"},{"key":"embedding.api_key_env","value":null,"from":"default"},{"key":"reranking.model","value":null,"from":"default"},{"key":"reranking.normalise","value":"sigmoid","from":"default"},{"key":"reranking.threshold","value":0.35,"from":"default"},{"key":"reranking.candidates","value":50,"from":"default"},{"key":"reranking.max_characters","value":2000,"from":"default"},{"key":"reranking.timeout","value":"10s","from":"default"},{"key":"llm.base_url","value":null,"from":"default"},{"key":"llm.model","value":null,"from":"default"},{"key":"llm.api_key","value":null,"from":"default"},{"key":"llm.api_key_env","value":null,"from":"default"},{"key":"llm.timeout","value":"60s","from":"default"},{"key":"llm.calls_a_day","value":300,"from":"default"},{"key":"llm.tokens_a_day","value":300000,"from":"default"},{"key":"proxy.memory_path","value":null,"from":"default"},{"key":"proxy.openai_base_url","value":null,"from":"default"},{"key":"proxy.openai_api_key_env","value":null,"from":"default"},{"key":"proxy.openai_api_key","value":null,"from":"default"},{"key":"proxy.embedding_model","value":null,"from":"default"},{"key":"proxy.embedding_base_url","value":null,"from":"default"},{"key":"proxy.default_top_k","value":5,"from":"default"},{"key":"proxy.max_entries","value":500,"from":"default"},{"key":"proxy.mmr_lambda","value":0.7,"from":"default"},{"key":"proxy.recency_weight","value":0.2,"from":"default"},{"key":"proxy.score_threshold","value":0.35,"from":"default"},{"key":"proxy.enable_summarization","value":true,"from":"default"},{"key":"proxy.enable_git_versioning","value":true,"from":"default"},{"key":"proxy.start_watcher","value":false,"from":"default"},{"key":"proxy.memory_timeout","value":"2s","from":"default"},{"key":"proxy.host","value":"127.0.0.1","from":"default"},{"key":"proxy.port","value":8100,"from":"default"},{"key":"proxy.log_level","value":"info","from":"default"},{"key":"http.allowed_origins","value":null,"from":"default"},{"key":"banks.compress_above","value":"1MB","from":"default"},{"key":"banks.filter_timeout","value":"5s","from":"default"},{"key":"banks.filter_memory","value":"512MB","from":"default"},{"key":"banks.filter_total_memory","value":"2048MB","from":"default"},{"key":"agents.project_writes","value":"global","from":"default"},{"key":"agents.allow_secret","value":false,"from":"default"},{"key":"review.policy","value":"direct","from":"default"},{"key":"review.rules","value":null,"from":"default"},{"key":"hooks.before_tool_call","value":null,"from":"default"},{"key":"hooks.after_tool_call","value":null,"from":"default"},{"key":"hooks.on_event","value":null,"from":"default"},{"key":"ingestion.claude.path","value":"~/.claude","from":"default"},{"key":"ingestion.claude.enabled","value":true,"from":"default"},{"key":"ingestion.claude.watch","value":false,"from":"default"},{"key":"ingestion.car-agent.path","value":"~/.car-agent","from":"default"},{"key":"ingestion.car-agent.enabled","value":true,"from":"default"},{"key":"ingestion.car-agent.watch","value":false,"from":"default"},{"key":"ingestion.fingersaver.path","value":"~/.fingersaver","from":"default"},{"key":"ingestion.fingersaver.enabled","value":true,"from":"default"},{"key":"ingestion.fingersaver.watch","value":false,"from":"default"},{"key":"ingestion.logseq.path","value":"~/logseq","from":"default"},{"key":"ingestion.logseq.enabled","value":true,"from":"default"},{"key":"ingestion.logseq.watch","value":false,"from":"default"},{"key":"ingestion.obsidian.path","value":"~/my-vault","from":"default"},{"key":"ingestion.obsidian.enabled","value":true,"from":"default"},{"key":"ingestion.obsidian.watch","value":false,"from":"default"},{"key":"ingestion.claude-sessions.path","value":"~/.claude","from":"default"},{"key":"ingestion.claude-sessions.enabled","value":false,"from":"default"},{"key":"ingestion.claude-sessions.watch","value":false,"from":"default"},{"key":"ingestion.codex.path","value":"~/.codex","from":"default"},{"key":"ingestion.codex.enabled","value":true,"from":"default"},{"key":"ingestion.codex.watch","value":false,"from":"default"},{"key":"ingestion.gemini.path","value":"~/.gemini","from":"default"},{"key":"ingestion.gemini.enabled","value":true,"from":"default"},{"key":"ingestion.gemini.watch","value":false,"from":"default"},{"key":"ingestion.basic-memory.path","value":"~/basic-memory","from":"default"},{"key":"ingestion.basic-memory.enabled","value":true,"from":"default"},{"key":"ingestion.basic-memory.watch","value":false,"from":"default"},{"key":"ingestion.mem0.path","value":"~/.mem0/history.db","from":"default"},{"key":"ingestion.mem0.enabled","value":true,"from":"default"},{"key":"ingestion.mem0.watch","value":false,"from":"default"},{"key":"ingestion.mcp-memory-service.path","value":"~/.local/share/mcp-memory/sqlite_vec.db","from":"default"},{"key":"ingestion.mcp-memory-service.enabled","value":true,"from":"default"},{"key":"ingestion.mcp-memory-service.watch","value":false,"from":"default"},{"key":"ingestion.claude-mem.path","value":"~/.claude-mem/claude-mem.db","from":"default"},{"key":"ingestion.claude-mem.enabled","value":true,"from":"default"},{"key":"ingestion.claude-mem.watch","value":false,"from":"default"},{"key":"ingestion.windsurf.path","value":"~/.codeium/windsurf","from":"default"},{"key":"ingestion.windsurf.enabled","value":true,"from":"default"},{"key":"ingestion.windsurf.watch","value":false,"from":"default"}],"unknown":[]}"#);
    assert_snapshot!(sandbox.run(&["config", "path"]), @"~/.memory/config.yaml");
    assert_snapshot!(sandbox.run(&["config", "path", "--json", "--root", "/x"]), @r#"{"path":"/x/config.yaml","exists":false}"#);
}

#[test]
fn a_key_that_means_nothing_is_named_and_does_no_harm() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "storage:\n  rot: ~/x\n");
    assert_snapshot!(sandbox.run(&["list"]), @"
    --- stderr
    warning: ~/.memory/config.yaml: unknown key storage.rot
    no matching memories
    ");
    assert_snapshot!(sandbox.run(&["list", "--quiet"]), @"");
}

#[test]
fn a_value_that_cannot_be_is_an_error() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["config", "set", "daemon.interval", "0s"]), @r#"
    --- stderr
    error[config_invalid]: cannot set daemon.interval
      because: "0s" is not an interval of at least 1s
    hint: nothing was changed; `memory config set daemon.interval ""` restores the default
    --- exit 2
    "#);
    sandbox.file(".memory/config.yaml", "daemon:\n  interval: soon\n");
    assert_snapshot!(sandbox.run(&["list"]), @r#"
    --- stderr
    error[config_invalid]: ~/.memory/config.yaml: invalid value of daemon.interval
      because: "soon" is not a duration such as 60s, 168h or 30d
    hint: correct or remove the line: every key has a default
    --- exit 2
    "#);
    sandbox.file(".memory/config.yaml", "daemon: [\n");
    assert_snapshot!(sandbox.run(&["list", "--json"]), @r#"
    {"error":{"code":"CONFIG_INVALID","message":"~/.memory/config.yaml is not valid YAML: did not find expected node content at line 2 column 1, while parsing a flow node","hint":"correct or remove the line: every key has a default"}}
    --- exit 2
    "#);
}

#[test]
fn a_setting_that_is_an_address_or_a_host_is_refused_unless_it_is_one() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["config", "set", "llm.base_url", "ftp://x"]), @r#"
    --- stderr
    error[config_invalid]: cannot set llm.base_url
      because: "ftp://x" is not the URL of a server, such as https://api.openai.com/v1 or http://localhost:11434/v1: http:// or https:// and a host, without a user name, query or fragment
    hint: nothing was changed; `memory config set llm.base_url ""` restores the default
    --- exit 2
    "#);
    for (key, value) in [
        ("proxy.openai_base_url", "not-a-url"),
        ("proxy.embedding_base_url", "localhost:11434"),
        ("embedding.base_url", "nope"),
        ("embedding.base_url", "http://"),
        ("llm.base_url", "https://me:hunter2@host/v1"),
        ("proxy.host", "not a host"),
        ("proxy.host", "http://localhost"),
        ("proxy.host", "256.0.0.1"),
    ] {
        let said = sandbox.run(&["config", "set", key, value]);
        assert!(
            said.contains("--- exit 2") && !said.contains("hunter2"),
            "{said}"
        );
    }
    assert!(!sandbox.path(".memory/config.yaml").exists());
    for (key, value) in [
        ("llm.base_url", "https://api.openai.com/v1"),
        ("proxy.openai_base_url", "http://127.0.0.1:8080"),
        ("proxy.host", "0.0.0.0"),
        ("proxy.host", "::1"),
    ] {
        let said = sandbox.run(&["config", "set", key, value]);
        assert!(!said.contains("--- exit"), "{said}");
    }
}

#[test]
fn an_empty_value_brings_back_the_default() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".memory/config.yaml",
        "timezone: Asia/Tokyo\nproxy:\n  port: 9000\n",
    );
    assert_snapshot!(sandbox.run(&["config", "set", "proxy.port", ""]), @"
    proxy.port	8100
    --- stderr
    proxy.port has its default again
    ");
    sandbox.run(&["config", "set", "proxy.port", "9000"]);
    assert_snapshot!(sandbox.run(&["config", "get", "proxy.port"]), @"proxy.port	9000	file");
    assert_snapshot!(sandbox.run(&["config", "get", "proxy.port", "--json"]), @r#"{"key":"proxy.port","value":9000,"from":"file"}"#);
    assert_snapshot!(sandbox.run(&["config", "unset", "proxy.port"]), @"
    proxy.port	8100
    --- stderr
    proxy.port has its default again
    ");
    assert_snapshot!(sandbox.run(&["config", "get", "proxy.prt"]), @"
    --- stderr
    error[usage]: unknown setting proxy.prt
    hint: list the settings with `memory config show`
    --- exit 2
    ");
    let unknown = sandbox.run(&["config", "unset", "proxy.prt"]);
    assert!(unknown.contains("unknown setting proxy.prt"), "{unknown}");
    assert_snapshot!(sandbox.run(&["config", "set", "timezone", "", "--json"]), @r#"{"path":"~/.memory/config.yaml","key":"timezone","value":null}"#);
    assert_eq!(sandbox.read_file(".memory/config.yaml"), "");
}

#[test]
fn a_list_has_each_value_once_and_what_is_stored_is_printed() {
    let sandbox = Sandbox::new();
    let set = |value: &str| sandbox.run(&["config", "set", "review.rules", value]);
    assert_snapshot!(set("* global propose, * global  propose,"), @"review.rules	* global propose");
    let stored = "review:\n  rules:\n    - \"* global propose\"\n";
    assert_eq!(sandbox.read_file(".memory/config.yaml"), stored);
    let refused = set("none, codex * direct");
    assert!(
        refused.contains("\"none\" is not a value of a list with others")
            && refused.contains("exit 2"),
        "{refused}"
    );
    assert_eq!(sandbox.read_file(".memory/config.yaml"), stored);
    let none = set(" , ,");
    assert!(
        none.contains("review.rules has its default again"),
        "{none}"
    );
    assert_eq!(
        sandbox.read_file(".memory/config.yaml"),
        "review:\n  rules:\n"
    );
}

#[test]
fn a_missing_file_of_settings_that_the_environment_names_is_reported() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["list"]);
    command.env("MEMORY_CONFIG", sandbox.path("none.yaml"));
    let output = Sandbox::finish(command, "");
    let said = String::from_utf8_lossy(&output.stderr);
    let warning = "none.yaml, which MEMORY_CONFIG names, does not exist";
    assert!(output.status.success() && said.contains(warning), "{said}");
}
