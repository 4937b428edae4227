//! Every page that links reach, in a home full of text that could be taken for markup.

use std::collections::BTreeMap;
use std::path::Path;

use memory_agent::web::ProjectRepositories;
use memory_core::conversation::{ConversationEntry, ConversationStore, EntryChange, EntryRole};
use memory_core::secret::Checked;
use memory_core::topic::{self, TopicKind, TopicWriteRequest};
use memory_core::{Draft, SecretPolicy};

use super::activity::recall;
use super::server::WebTestServer;

const TRAP: &str = "\"'><x-trap>&amp;";

/// Writes the trap into each kind of document, by the forms of the page.
fn fill(server: &WebTestServer) {
    let note = server.write(Draft::new(&format!("{TRAP} note")).title(TRAP).source(TRAP));
    let inbox = server.write(Draft::new(&format!("call {TRAP} tomorrow")));
    recall(server, TRAP, &[&note, &inbox]);
    let scope = memory_core::Scope::Project(TRAP.into());
    server.write(Draft::new(&format!("always use {TRAP} in this project")).scope(scope));
    server
        .assistants
        .projects
        .lock()
        .expect("no panic")
        .push(ProjectRepositories {
            name: TRAP.into(),
            repositories: vec![TRAP.into()],
            candidates: vec![format!("{TRAP} 2")],
        });
    let forms: [(&str, &[(&str, &str)]); 6] = [
        (
            "/reminders",
            &[("text", &format!("call {TRAP} tomorrow at 9"))],
        ),
        (
            "/memories/searches",
            &[("name", TRAP), ("query", "q=x-trap")],
        ),
        (
            "/topics",
            &[
                ("name", "trap"),
                ("kind", "project"),
                ("description", TRAP),
                ("content", TRAP),
            ],
        ),
        (
            "/banks/user/settings",
            &[("key", TRAP), ("value", "\"<x-trap>\"")],
        ),
        (
            "/instances/kv/default",
            &[("key", "trap"), ("value", "<x-trap>")],
        ),
        (&format!("/memories/{note}/pin"), &[("pinned", "yes")]),
    ];
    for (path, fields) in forms {
        let response = server.post(path, fields);
        assert_eq!(response.status, 303, "{path}: {}", response.body);
    }
    let topic = TopicWriteRequest {
        name: "titled.md".parse().expect("a name"),
        title: Some(TRAP.into()),
        description: Some(TRAP.into()),
        kind: Some(TopicKind::User),
        content: Some(TRAP.into()),
        secrets: SecretPolicy::Refuse,
    };
    let topics = server.services.topics.as_ref().expect("topics");
    topic::write(topics, &topic).expect("it is written");
    let id = "work".parse().expect("a name");
    let turn = ConversationEntry::new(
        "t1".parse().expect("a name"),
        &id,
        EntryRole::User,
        TRAP,
        server.services.clock.now(),
    );
    server
        .conversations
        .commit(&id, Checked::allowed(&[EntryChange::Add(turn)]))
        .expect("it is written");
}

/// Previews the import of a file with the trap as its name.
fn preview_import(server: &WebTestServer, folder: &Path) {
    std::fs::write(folder.join("<x-trap>&.md"), TRAP).expect("a file");
    let path = folder.display().to_string();
    let started = server.post("/import", &[("path", &path)]);
    let job = &started.headers["location"];
    while server.get(job).body.contains("data-refresh") {}
}

/// Returns all pages that links reach, by path. Pages that differ in one parameter alone are followed up to ten times.
fn crawl(server: &WebTestServer) -> BTreeMap<String, String> {
    let mut waiting = vec!["/memories".to_owned()];
    let (mut seen, mut pages) = (BTreeMap::new(), BTreeMap::new());
    while let Some(path) = waiting.pop() {
        let page = server.get(&path);
        assert!([200, 303].contains(&page.status), "{path}: {}", page.body);
        for link in page.body.split(" href=\"/").skip(1) {
            let link = link.split('"').next().expect("a quotation mark");
            let link = link.replace("&#38;", "&").replace("&amp;", "&");
            let kind = link.split(['=', '#']).next().expect("a path").to_owned();
            let count: &mut usize = seen.entry(kind).or_default();
            let link = format!("/{}", link.split('#').next().expect("a path"));
            if *count < 10 && !link.starts_with("/assets/") && !waiting.contains(&link) {
                *count += usize::from(!pages.contains_key(&link) && link != path);
                waiting.extend((!pages.contains_key(&link) && link != path).then_some(link));
            }
        }
        pages.insert(path, page.body);
    }
    pages
}

#[test]
fn no_text_is_markup_and_every_form_has_the_token_of_the_session_on_every_page() {
    let server = WebTestServer::start();
    fill(&server);
    let files = tempfile::tempdir().expect("a folder");
    preview_import(&server, files.path());
    let pages = crawl(&server);
    for (path, page) in &pages {
        assert!(!page.to_lowercase().contains("<x-trap"), "{path}: {page}");
        let token = format!("name=\"csrf\" value=\"{}\"", server.csrf());
        for form in page.split("<form").skip(1) {
            let form = form.split("</form>").next().expect("a form");
            let is_post = form.split('>').next().expect("a tag").contains("post");
            assert_eq!(form.contains(&token), is_post, "{path}: {form}");
        }
    }
    for kind in [
        "/activity/",
        "/ask?agent=",
        "/assistants",
        "/assistants/codex/connect",
        "/banks/user/settings/entry?",
        "/charts",
        "/conversations/work",
        "/graph",
        "/import/",
        "/inbox",
        "/instances/kv/default/value?",
        "/memories/",
        "/projects/show?",
        "/reminders",
        "/sessions/show?",
        "/settings",
        "/topics/titled.md/edit",
        "/topics/trap.md",
    ] {
        let mut of_kind = pages.iter().filter(|(path, _)| path.starts_with(kind));
        let is_shown = of_kind.any(|(_, page)| page.contains("x-trap&"));
        assert!(is_shown, "{kind}: {:?}", pages.keys());
    }
}
