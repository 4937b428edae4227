//! Tests of the program at the command line: its standard output, standard error and exit code.

mod add;
mod agent;
mod architecture;
mod bank;
mod bank_answers;
mod bank_jq;
mod client_files;
mod client_programs;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod clock;
mod completion;
mod config;
mod conversations;
mod daemon;
mod dream;
mod dream_faults;
mod edit_commands;
mod embed;
mod errors;
mod export;
#[path = "../../../memory-store/tests/it/faulty_disk.rs"]
#[expect(
    dead_code,
    reason = "what is made durable is counted, and every fault is tried, where files are written"
)]
mod faulty_disk;
mod foreign_folders;
mod formats;
mod help;
mod import_detection;
mod import_extraction;
mod import_programs;
mod inbox;
mod index_page;
mod ingest;
mod install;
mod install_among_others;
mod install_clients;
mod instance;
mod instance_connect;
mod instance_default;
mod instance_examples;
mod library;
mod maintenance;
mod mcp_answers;
mod mcp_clients;
mod model;
#[path = "../../../memory-agent/tests/it/model/server.rs"]
#[expect(
    dead_code,
    reason = "what goes wrong on the way to a model is tested where models are asked"
)]
mod model_server;
mod packaging;
mod pin;
mod plugin;
#[path = "../../../memory-store/tests/it/postgres/server.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "what a database does is tested where it is asked, and so is this written"
)]
mod postgres_server;
#[path = "../../../memory-store/tests/it/power_cut.rs"]
mod power_cut;
mod principal_http;
mod projects;
mod proxy;
mod readme;
mod real_faults;
mod recalls;
mod remind;
mod rerank;
mod sandbox;
mod search;
mod secrets;
mod security;
mod serve;
mod serve_http;
mod service;
mod settings_page;
#[path = "../../../examples/tests/it/seven_prompts.rs"]
mod seven_prompts;
mod shared_store;
mod source_names;
mod team;
mod team_rescue;
#[cfg(target_os = "linux")]
mod terminal;
#[path = "../../../memory-agent/tests/it/model/tiny_bert.rs"]
#[expect(dead_code, reason = "models are tested where they are run")]
mod tiny_bert;
mod topic;
mod topic_loop;
mod topic_mcp;
mod tour;
mod undo_and_restore;
mod usage;
mod versions;
mod web;
mod when;
mod write_and_read;
mod year;
