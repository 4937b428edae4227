//! The import of files, and the export.

use memory_core::Filter;

use super::server::{WebTestServer, encode_form};
use crate::http::server::HttpTestResponse;

/// Returns a form with files, as a browser sends it.
fn multipart(fields: &[(&str, &str)], files: &[(&str, &str)]) -> String {
    let fields = fields.iter().map(|(name, value)| {
        format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    });
    let files = files.iter().map(|(name, text)| {
        format!(
            "--edge\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{text}\r\n"
        )
    });
    fields.chain(files).collect::<String>() + "--edge--\r\n"
}

fn send(server: &WebTestServer, path: &str, body: &str) -> HttpTestResponse {
    let headers = [
        ("Cookie", server.cookie()),
        ("Content-Type", "multipart/form-data; boundary=edge"),
    ];
    server.send("POST", path, &headers, body)
}

/// Uploads files, and returns the path of their import.
fn upload(server: &WebTestServer, files: &[(&str, &str)]) -> String {
    let body = multipart(&[("csrf", server.csrf())], files);
    let response = send(server, "/import/files", &body);
    assert_eq!(response.status, 303, "{}", response.body);
    response.headers["location"].clone()
}

/// Returns the page of an import that waits for the person or is complete.
fn finished(server: &WebTestServer, path: &str) -> String {
    loop {
        let page = server.get(path).body;
        if !page.contains("data-refresh") {
            return page;
        }
    }
}

fn count(server: &WebTestServer) -> usize {
    let store = &server.services.store;
    store
        .memories(&Filter::default(), server.services.clock.now())
        .count()
}

/// Returns whether the folder of each upload is removed.
fn are_removed(server: &WebTestServer) -> bool {
    let uploads = server.uploads.lock().expect("no panic");
    !uploads.is_empty() && uploads.iter().all(|folder| !folder.exists())
}

#[test]
fn files_are_imported_after_a_look_at_the_outcome_and_one_undo_reverts_it() {
    let server = WebTestServer::start();
    let path = upload(
        &server,
        &[
            ("vault/a.md", "Tea"),
            ("vault/sub/b.md", "Coffee"),
            ("", ""),
        ],
    );
    let page = finished(&server, &path);
    assert!(
        page.contains("Import <bdi dir=\"auto\">vault</bdi>"),
        "{page}"
    );
    assert!(
        page.contains("vault/a.md") && page.contains("vault/sub/b.md"),
        "{page}"
    );
    assert!(page.contains("Nothing is written yet"), "{page}");
    assert_eq!(count(&server), 0);
    assert!(!are_removed(&server));
    assert_eq!(server.post(&path, &[("action", "import")]).status, 303);
    let page = finished(&server, &path);
    assert!(page.contains("The import is complete"), "{page}");
    assert_eq!(count(&server), 2);
    assert!(are_removed(&server));
    let operations = page
        .split("name=\"operation\" value=\"")
        .nth(1)
        .expect("an undo");
    let operations = operations.split('"').next().expect("a value");
    server.post_and_follow("/undo", &[("operation", operations), ("next", "/import")]);
    assert_eq!(count(&server), 0);
    server.post(&path, &[("action", "import")]);
    assert!(finished(&server, &path).contains("The import is complete"));
    assert_eq!(count(&server), 0, "an import is made once");
}

#[test]
fn an_import_is_stopped_and_what_was_imported_before_stays_until_its_undo() {
    let server = WebTestServer::start();
    let files = [("a.md", "Tea"), ("endless", "Coffee"), ("z.md", "Milk")];
    let path = upload(&server, &files);
    finished(&server, &path);
    server.post(&path, &[("action", "import")]);
    let page = server.get(&path).body;
    assert!(page.contains("value=\"stop\">Stop</button>"), "{page}");
    assert_eq!(server.post(&path, &[("action", "stop")]).status, 303);
    let page = finished(&server, &path);
    assert!(page.contains("You stopped the import"), "{page}");
    assert_eq!(count(&server), 1);
    let operations = page.split("name=\"operation\" value=\"").nth(1);
    let operations = operations.and_then(|rest| rest.split('"').next());
    let operations = operations.expect("an undo");
    server.post_and_follow("/undo", &[("operation", operations), ("next", "/import")]);
    assert_eq!(count(&server), 0);
}

#[test]
fn an_import_that_is_stopped_while_it_reads_imported_nothing() {
    let server = WebTestServer::start();
    let path = upload(&server, &[("endless", "Coffee"), ("z.md", "Milk")]);
    finished(&server, &path);
    server.post(&path, &[("action", "import")]);
    let page = server.get(&path).body;
    assert!(
        page.contains("role=\"status\">Reading the files<"),
        "{page}"
    );
    server.post(&path, &[("action", "stop")]);
    let page = finished(&server, &path);
    assert!(
        page.contains("You stopped the import; nothing was imported."),
        "{page}"
    );
    assert!(!page.contains("Nothing was found") && !page.contains("action=\"/undo\""));
    assert_eq!(count(&server), 0);
}

#[test]
fn the_names_of_files_lead_nowhere_else() {
    let server = WebTestServer::start();
    let name = "../../../escaped.md";
    let page = finished(
        &server,
        &upload(&server, &[(name, "x"), ("/etc/other.md", "y")]),
    );
    assert!(
        page.contains(">escaped.md<") && page.contains(">etc/other.md<"),
        "{page}"
    );
}

#[test]
fn files_are_refused_without_the_token_and_elsewhere() {
    let server = WebTestServer::start();
    let files = [("a.md", "Tea")];
    for fields in [
        &[][..],
        &[("csrf", "wrong")],
        &[("other", ""), ("csrf", server.csrf())],
    ] {
        let refused = send(&server, "/import/files", &multipart(fields, &files));
        assert_eq!(refused.status, 403, "{fields:?}");
    }
    let kind = [("Content-Type", "multipart/form-data; boundary=edge")];
    let body = multipart(&[("csrf", server.csrf())], &files);
    let refused = server.send("POST", "/import/files", &kind, &body);
    assert_eq!(refused.status, 401, "nobody is signed in");
    let long = "x".repeat(1000);
    let refused = send(
        &server,
        "/import/files",
        &multipart(&[("csrf", &long)], &files),
    );
    assert_eq!(refused.status, 400);
    let own = multipart(&[("csrf", server.csrf())], &files);
    assert_eq!(send(&server, "/import", &own).status, 400);
    assert_eq!(send(&server, "/import/files", "--edge").status, 400);
    let form = encode_form(&[("csrf", server.csrf())]);
    let cookie = [("Cookie", server.cookie())];
    let without_files = server.send("POST", "/import/files", &cookie, &form);
    assert_eq!(without_files.status, 422);
    assert!(server.uploads.lock().expect("no panic").is_empty());
}

#[test]
fn a_form_that_is_cut_off_or_empty_imports_nothing() {
    let server = WebTestServer::start();
    let whole = multipart(&[("csrf", server.csrf())], &[("a.md", "Tea")]);
    let cut = send(
        &server,
        "/import/files",
        whole.trim_end_matches("--edge--\r\n"),
    );
    assert_eq!(cut.status, 400, "{}", cut.body);
    let empty = multipart(&[("csrf", server.csrf())], &[("", "")]);
    let page = send(&server, "/import/files", &empty);
    assert!(
        page.body.contains("Choose at least one file first."),
        "{}",
        page.body
    );
    assert!(are_removed(&server));
    assert_eq!(server.get("/import/none").status, 404);
}

#[test]
fn the_person_chooses_a_format_or_the_columns_if_they_are_unknown() {
    let server = WebTestServer::start();
    let path = upload(&server, &[("ambiguous", "Tea")]);
    assert!(finished(&server, &path).contains("Which format is it?"));
    server.post(&path, &[("action", "read"), ("format", "text")]);
    assert!(finished(&server, &path).contains("Nothing is written yet"));
    let path = upload(&server, &[("table.csv", "words\nTea")]);
    let page = finished(&server, &path);
    assert!(page.contains("<option value=\"words\" selected>"), "{page}");
    assert!(!page.contains("<x-trap"), "{page}");
    server.post(&path, &[("action", "import")]);
    assert_eq!(count(&server), 0, "an import follows a look at its outcome");
    server.post(&path, &[("action", "read"), ("field:content", "words")]);
    let page = finished(&server, &path);
    assert!(
        page.contains("Nothing is written yet") && !page.contains("<x-trap"),
        "{page}"
    );
    let left = server.post_and_follow(&path, &[("action", "discard")]);
    assert_eq!((left.status, server.get(&path).status), (200, 404));
    assert!(are_removed(&server));
}

#[test]
fn a_path_is_imported_as_it_is_and_an_error_names_it() {
    let server = WebTestServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.md"), "Tea").expect("a file");
    let path = folder.path().display().to_string();
    let started = server.post("/import", &[("path", &path)]);
    let job = started.headers["location"].clone();
    let page = finished(&server, &job);
    assert!(
        page.contains("Nothing is written yet") && page.contains(&path),
        "{page}"
    );
    server.post(&job, &[("action", "import")]);
    assert!(finished(&server, &job).contains("The import is complete"));
    assert!(
        folder.path().join("a.md").exists(),
        "the files of the person remain"
    );
    for (typed, expected) in [
        ("", "Enter the path"),
        ("/nothing/<x-trap>", "There is no file or folder /nothing/"),
    ] {
        let page = server.post("/import", &[("path", typed)]).body;
        assert!(
            page.contains(expected) && !page.contains("<x-trap"),
            "{page}"
        );
    }
    let page = finished(&server, &upload(&server, &[("broken", "x")]));
    assert!(
        page.contains("cannot read broken"),
        "the temporary folder is not named: {page}"
    );
}

#[test]
fn an_export_is_a_file_for_the_browser() {
    let server = WebTestServer::start();
    let page = server.get("/export").body;
    assert!(
        page.contains("<option value=\"lines\">Lines</option>"),
        "{page}"
    );
    let file = server.get("/export/file?format=lines&category=people&from=2026-05-01&history=yes");
    assert_eq!(
        file.body,
        "lines Some(People) Some(2026-05-01T00:00:00Z) true"
    );
    for (name, value) in [
        ("content-disposition", "attachment; filename=\"a.jsonl\""),
        ("content-type", "application/jsonl"),
        ("x-content-type-options", "nosniff"),
        ("content-length", "50"),
    ] {
        assert_eq!(file.headers[name], value, "{name}");
    }
    for query in ["from=May", "category=none"] {
        let refused = server.get(&format!("/export/file?format=lines&{query}"));
        assert_eq!(refused.status, 422, "{query}");
    }
    let signed_out = server.send("GET", "/export/file?format=lines", &[], "");
    assert_eq!(signed_out.status, 303);
}
