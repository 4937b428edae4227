//! Imports, exports and settings on the page of a real home.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::browser::Browser;
use super::home::{DESKTOP, WebHome};
use super::http_client::{PlainResponse, PlainSession, exchange};
use crate::import_programs::CONVERSATIONS;

/// Writes the archive of an export of ChatGPT with one conversation.
fn chatgpt_export(folder: &Path) -> PathBuf {
    let path = folder.join("chatgpt-export.zip");
    let mut archive = ZipWriter::new(File::create(&path).expect("a file"));
    archive
        .start_file("conversations.json", SimpleFileOptions::default())
        .expect("an entry");
    archive
        .write_all(CONVERSATIONS.as_bytes())
        .expect("it is written");
    archive.finish().expect("an archive");
    path
}

/// Sends files as the form of the page does.
fn upload(home: &WebHome, session: &PlainSession, files: &[(&str, &str)]) -> PlainResponse {
    let part = |(name, text): &(&str, &str)| {
        format!(
            "--edge\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n{text}\r\n"
        )
    };
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{}\r\n{}--edge--\r\n",
        session.csrf,
        files.iter().map(part).collect::<String>()
    );
    let request = format!(
        "POST /import/files HTTP/1.1\r\nConnection: close\r\nHost: {0}\r\nOrigin: http://{0}\r\nCookie: {1}\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: {2}\r\n\r\n{body}",
        home.authority(),
        session.cookie,
        body.len()
    );
    exchange(home.authority(), &request)
}

/// Returns the page of an import when nothing runs.
fn finished(session: &PlainSession, path: &str) -> String {
    loop {
        let page = session.get(path).body;
        if !page.contains("data-refresh") {
            return page;
        }
    }
}

#[test]
fn an_export_of_chatgpt_is_imported_by_drop_and_undone() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let home = WebHome::start();
    let page = home.sign_in(&browser, DESKTOP);
    let file = chatgpt_export(&home.sandbox.path(""));
    home.open(&page, "/import");
    let place = page.evaluate(
        "(() => { const area = document.getElementById('upload').getBoundingClientRect(); return [area.x + 20, area.y + 20]; })()",
    );
    let data = json!({ "items": [], "files": [file], "dragOperationsMask": 1 });
    let at = json!({ "x": place[0], "y": place[1], "data": data });
    page.load(|| {
        for kind in ["dragEnter", "dragOver", "drop"] {
            let mut event = at.clone();
            event["type"] = kind.into();
            page.call("Input.dispatchDragEvent", &event);
        }
    });
    page.wait_for_text("main", "Nothing is written yet");
    assert!(page.text("main").contains("ChatGPT") && page.text("main").contains("Tea"));
    page.save_screenshot("import-preview-1280-light");
    page.follow("button >> Import");
    page.wait_for_text("main", "The import is complete");
    let read = [
        "instance",
        "run",
        "history",
        "read",
        "-p",
        "session=chatgpt Tea (c-1)",
    ];
    let stored = home.sandbox.run(&read);
    assert!(stored.contains("How hot for sencha?"), "{stored}");
    page.follow("button >> Undo the import");
    let stored = home.sandbox.run(&read);
    assert!(!stored.contains("How hot for sencha?"), "{stored}");
}

#[test]
fn notes_are_chosen_imported_once_and_recognized_in_another_upload() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let files = [
        ("vault/.obsidian/app.json", "{}"),
        ("vault/Harbour crane.md", "The crane was built in 1932."),
        ("vault/empty.md", ""),
    ];
    for expected in [
        "Nothing is written yet",
        "There is nothing new in these files.",
    ] {
        let started = upload(&home, &session, &files);
        let path = started.header("location").expect("a path").to_owned();
        let page = finished(&session, &path);
        assert!(
            page.contains(expected) && page.contains("Obsidian"),
            "{page}"
        );
        session.post(&path, "action=import");
        finished(&session, &path);
    }
    let found = home.sandbox.run(&["search", "crane 1932", "--json"]);
    assert!(found.contains("The crane was built in 1932."), "{found}");
    let left: Vec<_> = std::fs::read_dir(std::env::temp_dir())
        .expect("a folder")
        .filter_map(|item| {
            item.ok()?
                .path()
                .join("upload/vault/Harbour crane.md")
                .exists()
                .then_some(())
        })
        .collect();
    assert_eq!(left, [(); 0]);
}

#[test]
fn an_unknown_format_or_table_leads_to_a_next_step_on_the_page() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let import = |name: &str, text: &str| {
        let started = upload(&home, &session, &[(name, text)]);
        let path = started.header("location").expect("a path").to_owned();
        (finished(&session, &path), path)
    };
    let (page, _) = import("picture.bin", "\u{1}\u{2}\u{3}");
    assert!(
        page.contains("picture.bin") && !page.contains("<code>memory"),
        "{page}"
    );
    let (page, path) = import("notes.csv", "note,when\nThe lamp is green,2026-05-01\n");
    assert!(page.contains("What do the columns contain?"), "{page}");
    session.post(
        &path,
        "action=read&field%3Acontent=note&field%3Acreated=when",
    );
    assert!(finished(&session, &path).contains("The lamp is green"));
    session.post(&path, "action=import");
    assert!(finished(&session, &path).contains("The import is complete"));
    let (page, path) = import(
        "memories.jsonl",
        "{\"content\":\"The tower is old\"}\nbroken\n",
    );
    assert!(
        page.contains("Memories of this program") && page.contains("line 2"),
        "{page}"
    );
    session.post(&path, "action=import");
    finished(&session, &path);
    let found = home.sandbox.run(&["search", "tower lamp", "--json"]);
    assert!(
        found.contains("The tower is old") && found.contains("The lamp is green"),
        "{found}"
    );
}

#[test]
fn an_export_has_the_bytes_of_the_command_line() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let file = session.get("/export/file?format=jsonl");
    // The command escapes hidden characters for terminals.
    let values = |text: &str| -> Vec<Value> {
        let lines = text.lines().map(serde_json::from_str::<Value>);
        lines.collect::<Result<_, _>>().expect("JSON lines")
    };
    assert_eq!(
        values(&file.body),
        values(&home.sandbox.run_raw(&["export"]))
    );
    let name = file.header("content-disposition").expect("a name");
    assert!(
        name.starts_with("attachment; filename=\"") && name.ends_with("-memories.jsonl\""),
        "{name}"
    );
    let people = session.get("/export/file?format=jsonl&category=knowledge&history=yes");
    let expected = home
        .sandbox
        .run_raw(&["export", "--category", "knowledge", "--history"]);
    assert_eq!(values(&people.body), values(&expected));
    assert_eq!(
        session.get("/export/file?format=html").body,
        home.sandbox.run_raw(&["export", "--format", "html"])
    );
    let sessions = session.get("/export/file?format=sessions").body;
    let expected = home.sandbox.run_raw(&["export", "--sessions"]);
    assert_eq!(values(&sessions), values(&expected));
    let archive = session.get("/export/file?format=obsidian");
    assert!(archive.body.starts_with("PK") && archive.head.contains("application/zip"));
    assert_eq!(session.get("/export/file?format=none").status, 400);
}

#[test]
fn settings_are_changed_in_their_file_which_keeps_its_comments() {
    let home = WebHome::start();
    let session = PlainSession::sign_in(&home);
    let file = home.sandbox.path(".memory/config.yaml");
    std::fs::write(&file, "# mine\ndaemon:\n  interval: 2m # often\n").expect("a file");
    let page = session.get("/settings").body;
    assert!(
        page.contains("value=\"2m\"") && page.contains("Interval of the maintenance."),
        "{page}"
    );
    let saved = session.post("/settings", "key=daemon.interval&daemon.interval=5m");
    assert_eq!(saved.status, 303, "{}", saved.body);
    let text = || std::fs::read_to_string(&file).expect("a file");
    assert_eq!(text(), "# mine\ndaemon:\n  interval: 5m # often\n");
    session.post("/settings/back", "");
    assert_eq!(text(), "# mine\ndaemon:\n  interval: 2m # often\n");
    let refused = session.post("/settings", "key=daemon.interval&daemon.interval=soon");
    assert_eq!(refused.status, 422);
    assert!(
        refused.body.contains("value=\"soon\"") && !refused.body.contains("memory config"),
        "{}",
        refused.body
    );
    for form in [
        "reset=hooks.on_event",
        "key=hooks.on_event&hooks.on_event=touch+x",
    ] {
        session.post("/settings", form);
    }
    assert_eq!(text(), "# mine\ndaemon:\n  interval: 2m # often\n");
    let rules = "# mine\nreview:\n  rules:\n    # of cursor\n    - cursor global propose # why\n";
    std::fs::write(&file, rules).expect("a file");
    let page = session.get("/settings").body;
    assert!(
        page.contains(">\ncursor global propose</textarea>"),
        "{page}"
    );
    let save = |value: &str| {
        let form = format!("key=review.rules&review.rules={value}");
        session.post("/settings", &form)
    };
    assert_eq!(
        save("cursor+global+propose%0D%0Acodex+*+propose").status,
        303
    );
    assert_eq!(text(), format!("{rules}    - codex * propose\n"));
    session.post("/settings/back", "");
    assert_eq!(text(), rules);
    let refused = save("codex+everywhere");
    assert!(
        refused.status == 422 && refused.body.contains(">\ncodex everywhere</textarea>"),
        "{}",
        refused.body
    );
    assert_eq!(text(), rules);
    session.post("/settings", "reset=review.rules");
    let emptied = "# mine\nreview:\n  rules:\n    # of cursor\n    # why\n";
    assert_eq!(text(), emptied);
    session.post("/settings/back", "");
    let back = emptied.replace("rules:\n", "rules:\n    - cursor global propose\n");
    assert_eq!(text(), back);
}
