//! The projects, and what belongs to each of them.

use memory_agent::web::ProjectRepositories;
use memory_core::{Draft, RecallRecord, RecalledId, Scope, record_recall};

use super::server::WebTestServer;

fn recall_in(server: &WebTestServer, project: &str, agent: &str) {
    let recall = RecallRecord {
        at: server.services.clock.now(),
        agent: agent.into(),
        session: Some(format!("session of {agent}")),
        project: Some(project.into()),
        interface: "hook".into(),
        tool: "prompt".into(),
        query: None,
        memories: vec![RecalledId::unranked("1")],
        tokens: 5,
    };
    record_recall(server.recalls.as_ref(), recall);
}

#[test]
fn a_project_is_known_by_its_memories_its_sessions_or_its_repositories() {
    let server = WebTestServer::start();
    assert!(server.get("/projects").body.contains("No projects"));
    server.write(Draft::new("tea").scope(Scope::Project("of memories".into())));
    recall_in(&server, "of sessions", "codex");
    let known = ProjectRepositories {
        name: "of repositories".into(),
        candidates: vec!["remote:example.org/a".into()],
        ..ProjectRepositories::default()
    };
    server.assistants.projects.lock().unwrap().push(known);
    let page = server.get("/projects").body;
    for text in [
        "of memories",
        "1 memory<",
        "of sessions",
        "1 session<",
        "of repositories",
        "a repository waits",
    ] {
        assert!(page.contains(text), "{text} is missing in {page}");
    }
    assert_eq!(server.get("/projects/show?project=other").status, 404);
}

#[test]
fn the_page_of_a_project_has_its_rules_memories_sessions_and_agents_only() {
    let server = WebTestServer::start();
    let scope = Scope::Project("a/b c".into());
    server.write(Draft::new("Always run the tests before a commit.").scope(scope.clone()));
    server.write(Draft::new("The server listens on port 80.").scope(scope));
    server.write(Draft::new("Of another one").scope(Scope::Project("x".into())));
    recall_in(&server, "a/b c", "codex");
    recall_in(&server, "x", "cursor");
    let page = server.get("/projects/show?project=a%2Fb%20c").body;
    let rules = page.split("id=\"rules\"").nth(1).unwrap();
    let rules = rules.split("</section>").next().unwrap();
    assert!(
        rules.contains("run the tests") && !rules.contains("port 80"),
        "{rules}"
    );
    assert!(
        page.contains("port 80") && page.contains("All 2 memories"),
        "{page}"
    );
    assert!(page.contains("codex") && !page.contains("cursor") && !page.contains("Of another"));
    let links: Vec<&str> = page
        .split("href=\"")
        .filter_map(|part| part.split('"').next())
        .filter(|link| link.contains("a%2Fb%20c"))
        .collect();
    for (start, text) in [
        ("/memories?scope=", "port 80"),
        ("/sessions?project=", "codex"),
    ] {
        let link = links
            .iter()
            .find(|link| link.starts_with(start))
            .expect(start);
        let list = server.get(&link.replace("&#38;", "&")).body;
        let others = ["Of another", "show?agent=cursor"];
        assert!(
            list.contains(text) && !others.iter().any(|other| list.contains(other)),
            "{list}"
        );
    }
}

#[test]
fn a_repository_that_waits_is_confirmed() {
    let server = WebTestServer::start();
    let known = ProjectRepositories {
        name: "web".into(),
        candidates: vec!["remote:example.org/web".into()],
        ..ProjectRepositories::default()
    };
    server.assistants.projects.lock().unwrap().push(known);
    let page = server.get("/projects/show?project=web").body;
    assert!(page.contains("It belongs to the project"), "{page}");
    let fields = [("project", "web"), ("repository", "remote:example.org/web")];
    let page = server.post_and_follow("/projects/repository", &fields).body;
    assert!(
        page.contains("remote:example.org/web") && !page.contains("It belongs to the project"),
        "{page}"
    );
}
