//! The assistants: their connection, what they did, and the review of their changes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use memory_agent::web::{
    Assistant, AssistantHost, ChangedSettingsFile, Connection, ConnectionChange, ConnectionPlan,
    ProjectRepositories,
};
use memory_core::topic::Topics;
use memory_core::{
    AgentName, Code, Draft, Embedder, RecallRecord, RecalledId, ReviewPolicy, SecretPolicy,
    Services, ToolError, WritePolicy, record_recall, write,
};

use super::server::WebTestServer;

/// Assistants whose settings are one text.
#[derive(Debug)]
pub(crate) struct FakeAssistants {
    pub(crate) connection: Mutex<Connection>,
    /// The text of the settings of Codex.
    pub(crate) text: Mutex<String>,
    pub(crate) review: Mutex<ReviewPolicy>,
    pub(crate) projects: Mutex<Vec<ProjectRepositories>>,
}

impl Default for FakeAssistants {
    fn default() -> Self {
        Self {
            connection: Mutex::new(Connection::Absent),
            text: Mutex::new("other = \"<x-trap>\"".into()),
            review: Mutex::default(),
            projects: Mutex::default(),
        }
    }
}

impl AssistantHost for FakeAssistants {
    fn assistants(&self) -> Result<Vec<Assistant>, ToolError> {
        let assistant = |name: &str, title: &str, is_present, connection| Assistant {
            name: name.into(),
            title: title.into(),
            is_present,
            connection,
        };
        let damaged = Err("cannot parse \"'><x-trap>&amp;".to_owned());
        Ok(vec![
            assistant(
                "codex",
                "Codex",
                true,
                Ok(*self.connection.lock().expect("no error")),
            ),
            assistant("cursor", "Cursor", true, damaged),
            assistant("zed", "Zed", false, Ok(Connection::Absent)),
        ])
    }

    fn plan_connection(
        &self,
        assistant: &str,
        change: ConnectionChange,
    ) -> Result<ConnectionPlan, ToolError> {
        if assistant == "zed" && change == (ConnectionChange::Connect { replaces: false }) {
            let message = "another program has the entry memory";
            return Err(ToolError::new(Code::Conflict, message, None));
        }
        let text = self.text.lock().expect("no error").clone();
        Ok(ConnectionPlan {
            files: vec![ChangedSettingsFile {
                path: PathBuf::from("/home/ada/.codex/config.toml"),
                change: "changed",
                diff: format!(" {text}\n+[mcp_servers.memory] \"'><x-trap>&amp;\n"),
            }],
            note: Some("approve the hooks".into()),
            fingerprint: text,
        })
    }

    fn change_connection(
        &self,
        _: &str,
        change: ConnectionChange,
        fingerprint: &str,
    ) -> Result<bool, ToolError> {
        let is_same = *self.text.lock().expect("no error") == fingerprint;
        if is_same {
            *self.connection.lock().expect("no error") = match change {
                ConnectionChange::Connect { .. } => Connection::Complete,
                ConnectionChange::Disconnect => Connection::Absent,
            };
        }
        Ok(is_same)
    }

    fn client_embedder(&self) -> Option<Arc<dyn Embedder>> {
        None
    }

    fn review(&self) -> Result<ReviewPolicy, ToolError> {
        Ok(self.review.lock().expect("no error").clone())
    }

    fn set_review(&self, agent: Option<&AgentName>, policy: WritePolicy) -> Result<(), ToolError> {
        let mut review = self.review.lock().expect("no error");
        match agent {
            Some(agent) => {
                review.rules = vec![format!("{agent} * {policy}").parse().expect("no error")];
            }
            None => review.default = policy,
        }
        Ok(())
    }

    fn projects(&self) -> Result<Vec<ProjectRepositories>, ToolError> {
        Ok(self.projects.lock().expect("no error").clone())
    }

    fn confirm_repository(&self, project: &str, repository: &str) -> Result<(), ToolError> {
        let mut projects = self.projects.lock().expect("no error");
        let found = projects.iter_mut().find(|own| own.name == project);
        let own = found.expect("a project");
        own.candidates.retain(|id| id != repository);
        own.repositories.push(repository.to_owned());
        Ok(())
    }

    fn project_topics(&self, _: &str) -> Result<Option<Topics>, ToolError> {
        Ok(None)
    }
}

/// Returns the value of a hidden field of a page.
fn field(page: &str, name: &str) -> String {
    let value = page.split(&format!("name=\"{name}\" value=\"")).nth(1);
    let value = value.and_then(|rest| rest.split('"').next());
    value
        .expect("the field")
        .replace("&#34;", "\"")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
}

#[test]
fn an_assistant_is_connected_after_the_person_saw_the_changed_lines() {
    let server = WebTestServer::start();
    let list = server.get("/assistants").body;
    assert!(
        list.contains("href=\"/assistants/codex/connect\"") && list.contains("not connected"),
        "{list}"
    );
    let plan = server.get("/assistants/codex/connect").body;
    for text in [
        "/home/ada/.codex/config.toml",
        "+[mcp_servers.memory]",
        "approve the hooks",
    ] {
        assert!(plan.contains(text), "{text} is missing in {plan}");
    }
    assert_eq!(
        *server.assistants.connection.lock().expect("no error"),
        Connection::Absent,
        "a look at the plan changes nothing"
    );
    let fields = [("fingerprint", &*field(&plan, "fingerprint"))];
    let list = server
        .post_and_follow("/assistants/codex/connect", &fields)
        .body;
    assert!(
        list.contains("notices it at its next start")
            && list.contains("href=\"/assistants/codex/disconnect\""),
        "{list}"
    );
    server.post_and_follow("/assistants/codex/disconnect", &fields);
    assert_eq!(
        *server.assistants.connection.lock().expect("no error"),
        Connection::Absent
    );
}

#[test]
fn a_plan_that_changed_since_is_shown_again_and_not_applied() {
    let server = WebTestServer::start();
    let plan = server.get("/assistants/codex/connect").body;
    let old = field(&plan, "fingerprint");
    *server.assistants.text.lock().expect("no error") = "newer".into();
    let page = server.post("/assistants/codex/connect", &[("fingerprint", &old)]);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("nothing was written"), "{}", page.body);
    assert_eq!(field(&page.body, "fingerprint"), "newer");
    assert_eq!(
        *server.assistants.connection.lock().expect("no error"),
        Connection::Absent
    );
}

#[test]
fn an_entry_of_another_program_is_replaced_only_if_the_person_says_so() {
    let server = WebTestServer::start();
    let page = server.get("/assistants/zed/connect").body;
    assert!(
        page.contains("another program has the entry memory")
            && page.contains("href=\"/assistants/zed/connect?replace=yes\"")
            && !page.contains("name=\"fingerprint\""),
        "{page}"
    );
    let page = server.get("/assistants/zed/connect?replace=yes").body;
    assert_eq!(field(&page, "replace"), "yes");
    assert_eq!(server.get("/assistants/other/connect").status, 404);
    assert_eq!(server.get("/assistants/codex/other").status, 404);
}

#[test]
fn each_agent_is_listed_with_what_it_received_and_wrote() {
    let server = WebTestServer::start();
    let id = server.write(Draft::new("tea"));
    for agent in ["codex", "my-bot"] {
        let services = Services {
            actor: agent.into(),
            ..server.services.clone()
        };
        write(&services, Draft::new(agent), SecretPolicy::Keep).expect("no error");
        let recall = RecallRecord {
            at: server.services.clock.now(),
            agent: agent.into(),
            session: None,
            project: None,
            interface: "hook".into(),
            tool: "prompt".into(),
            query: None,
            memories: vec![RecalledId::unranked(&id)],
            tokens: 70,
        };
        record_recall(server.recalls.as_ref(), recall);
    }
    let page = server.get("/assistants").body;
    for (text, count) in [
        ("<li>1 memory received</li>", 2),
        ("<li>70 tokens</li>", 2),
        ("href=\"/activity?by=codex\">1 written</a>", 1),
        ("href=\"/activity?by=my-bot\">1 written</a>", 1),
        ("href=\"/ask?agent=my-bot\"", 1),
        ("href=\"/sessions?agent=codex\"", 1),
        ("cannot parse", 1),
    ] {
        assert_eq!(page.matches(text).count(), count, "{text} in {page}");
    }
}

#[test]
fn a_switch_sets_the_review_of_one_agent_or_of_all_others() {
    let server = WebTestServer::start();
    let page = server.get("/assistants").body;
    assert!(!page.contains("aria-checked=\"true\""));
    let fields = [("agent", "codex"), ("policy", "propose")];
    let page = server.post_and_follow("/assistants/review", &fields).body;
    assert_eq!(page.matches("aria-checked=\"true\"").count(), 1, "{page}");
    assert!(page.contains("<code><bdi dir=\"auto\">codex * propose</bdi></code>"));
    let fields = [("agent", ""), ("policy", "propose")];
    let page = server.post_and_follow("/assistants/review", &fields).body;
    assert_eq!(page.matches("aria-checked=\"false\"").count(), 0, "{page}");
    let wrong = [("agent", "codex"), ("policy", "maybe")];
    assert_eq!(server.post("/assistants/review", &wrong).status, 400);
}
