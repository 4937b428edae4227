//! Tests of the agent loop in the examples, as a shell script.

use std::path::Path;
use std::process::Command;

use crate::model_server::ModelTestServer;
use crate::sandbox::Sandbox;
use crate::seven_prompts::{PROMPTS, SAID, check_requests, model_replies};

#[test]
fn a_script_is_an_agent_that_remembers_through_seven_prompts() {
    for program in ["bash", "jq", "curl"] {
        if Command::new(program).arg("--version").output().is_err() {
            memory_core::testing::leave_out(&format!("{program} is missing"));
            return;
        }
    }
    let (sandbox, server) = (Sandbox::new(), ModelTestServer::start(model_replies()));
    sandbox.file("prompts", PROMPTS);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/topics/agent_loop.sh");
    let line = format!(
        "OPENAI_BASE_URL={} MODEL=m TOPICS=notes {} < prompts 2>/dev/null",
        server.base_url(),
        script.display()
    );
    assert_eq!(sandbox.run_shell(&line), SAID);
    let asked: Vec<_> = server
        .requests()
        .into_iter()
        .map(|asked| asked.body)
        .collect();
    check_requests(&asked, &|name| {
        std::fs::read_to_string(sandbox.path("notes").join(name)).ok()
    });
}
