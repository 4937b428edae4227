use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use memory_core::{Category, SourceError};
use memory_ingest::{SourceName, SourceOptions, open};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::sandbox::{IngestSandbox, SurveyNote, moment, survey_source};

const HOME: &str = "0123456789abcdef0123456789abcde0";
const TASK: &str = "0123456789abcdef0123456789abcde1";
const TASKS: &str = "0123456789abcdef0123456789abcde2";
const UNTITLED: &str = "0123456789abcdef0123456789abcde3";

fn files() -> Vec<(String, String)> {
    let home = format!(
        "# Home 家 🏠\n\n[Task](Home%20%E5%AE%B6/Tasks/Task%20{TASK}.md) [Tasks](Home%20%E5%AE%B6/Tasks%20{TASKS}.csv) \
         ![pic](Home%20%E5%AE%B6/pic%201.png) [self](https://www.notion.so/Home-{HOME}?pvs=4) [gone](Gone%20{}.md)\r\n",
        "f".repeat(32)
    );
    let task = format!(
        "# Task\n\nStatus: Done\nTags: red, two words\nCategory: Decision\nCreated: January 2, 2024 3:04 PM\n\
         Last edited time: February 3, 2024 10:05 AM\nURL: https://x.y\n\nbody [home](../../Home%20%E5%AE%B6%20{HOME}.md)\n\nNote: text\n"
    );
    let name = |path: &str, id: &str, extension: &str| format!("Export-1/{path} {id}{extension}");
    vec![
        (name("Home 家", HOME, ".md"), home),
        (name("Home 家/Tasks", TASKS, ".csv"), "Name\nTask\n".into()),
        (
            name("Home 家/Tasks", TASKS, "_all.csv"),
            "Name,Text\nTask,\"a ``` b, \"\"c\"\"\"\nOther,\n".into(),
        ),
        (name("Home 家/Tasks/Task", TASK, ".md"), task),
        (
            name("Home 家/Untitled", UNTITLED, ".md"),
            "# Untitled\n\nx".into(),
        ),
        (
            name("copy/Untitled", UNTITLED, ".md"),
            "# Untitled\n\ny".into(),
        ),
        ("Export-1/Home 家/pic 1.png".into(), "x".into()),
        ("Export-1/Home 家/readme.md".into(), "# No id\n".into()),
        ("Export-1/.DS_Store".into(), "x".into()),
    ]
}

fn write_zip(path: &Path, files: &[(String, Vec<u8>)]) -> PathBuf {
    let mut zip = ZipWriter::new(File::create(path).expect("a file can be made"));
    for (name, bytes) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default())
            .expect("a name is valid");
        zip.write_all(bytes).expect("there is room");
    }
    zip.finish().expect("there is room");
    path.to_owned()
}

#[test]
fn the_pages_of_the_rows_lead_to_their_database() {
    let (task, tasks) = (
        format!("P/Tasks/Task {TASK}.md"),
        format!("P/Tasks {TASKS}.csv"),
    );
    // Older exports have the ids in the names of folders, and a page may have the name of a database.
    let old = format!("P/Old {HOME}/Row {UNTITLED}.md");
    let database = format!("P/Old {HOME}.csv");
    let other = format!("P/Old {}.md", "a".repeat(32));
    let export = IngestSandbox::new(&[
        (task.as_str(), "# Task\n\nStatus: Done\n"),
        (tasks.as_str(), "Name,Status\nTask,Done\n"),
        (old.as_str(), "# Row\n"),
        (database.as_str(), "Name\nRow\n"),
        (other.as_str(), "# Old\n"),
    ]);
    let found = export.survey(SourceName::Notion);
    let links = |path: String| found.note(&path).links.clone();
    assert_eq!(
        links(format!("pages/{TASK}")),
        [format!("/databases/{TASKS}")]
    );
    assert_eq!(
        links(format!("pages/{UNTITLED}")),
        [format!("/databases/{HOME}")]
    );
    assert!(links(format!("pages/{}", "a".repeat(32))).is_empty());
}

#[test]
fn pages_and_databases_are_notes_with_links_by_id() {
    let files = files();
    let export = IngestSandbox::new(
        &files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect::<Vec<_>>(),
    );
    assert_eq!(
        SourceName::detect(&export.path().join("Export-1")),
        [SourceName::Notion]
    );
    let found = export.survey(SourceName::Notion);
    let paths = [
        format!("databases/{TASKS}"),
        "files/Export-1/Home 家/readme.md".to_owned(),
        format!("pages/{HOME}"),
        format!("pages/{TASK}"),
        format!("pages/{UNTITLED}"),
    ];
    assert_eq!(
        found.notes.iter().map(SurveyNote::path).collect::<Vec<_>>(),
        paths
    );
    let [database, _, home, task, untitled] = paths.each_ref().map(|path| found.note(path));
    assert_eq!(database.draft.title.as_deref(), Some("Tasks"));
    assert_eq!(
        database.draft.content,
        "````csv\nName,Text\nTask,\"a ``` b, \"\"c\"\"\"\nOther,\n````"
    );
    assert_eq!(home.draft.title.as_deref(), Some("Home 家 🏠"));
    assert_eq!(
        home.links[..2],
        [format!("/pages/{TASK}"), format!("/databases/{TASKS}")]
    );
    assert!(home.draft.content.ends_with("ffff.md)\r") || home.draft.content.ends_with("ffff.md)"));
    assert_eq!(task.draft.tags.as_slice(), ["red", "two words"]);
    assert_eq!(
        (task.draft.category, task.draft.created_at),
        (
            Some(Category::Decisions),
            Some(moment("2024-01-02T15:04:00Z"))
        )
    );
    assert_eq!(task.updated_at, Some(moment("2024-02-03T10:05:00Z")));
    assert!(
        task.draft.content.contains("Status: Done\n")
            && task.draft.content.contains("URL: https://x.y\n")
    );
    assert_eq!(
        task.front_matter,
        format!("notion_id: \"{TASK}\"\nnotion_path: \"Export-1/Home 家/Tasks\"\n")
    );
    assert_eq!(
        (
            untitled.draft.title.as_deref(),
            untitled.draft.content.as_str()
        ),
        (None, "# Untitled\n\nx")
    );
    assert_eq!(found.skipped.len(), 1);
    assert!(found.skipped[0].1.starts_with("has the id of another page"));
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (6, 1)
    );
    assert_eq!(
        (found.again.new, found.again.updated, found.again.unchanged),
        (0, 0, 5)
    );
}

#[test]
fn a_title_may_begin_with_a_point() {
    let files = [
        (
            format!(".NET v1.2 {HOME}.md"),
            format!("# .NET v1.2\n\n[c](.NET%20v1.2%20{HOME}/Task%20{TASK}.md)"),
        ),
        (
            format!(".NET v1.2 {HOME}/Task {TASK}.md"),
            format!("# Task\n\n[p](../.NET%20v1.2%20{HOME}.md)"),
        ),
        (format!("._Task {UNTITLED}.md"), "x".into()),
        (format!("__MACOSX/._Task {UNTITLED}.md"), "x".into()),
        (format!(".git/Task {UNTITLED}.md"), "x".into()),
    ];
    let texts: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let folder = IngestSandbox::new(&texts);
    let bytes = files[..4]
        .iter()
        .map(|(path, text)| (path.clone(), text.clone().into_bytes()));
    let archive = IngestSandbox::new(&[]);
    let zip = write_zip(
        &archive.path().join("export.zip"),
        &bytes.collect::<Vec<_>>(),
    );
    for path in [folder.path(), zip] {
        let found = survey_source(SourceName::Notion, &path);
        let titles: Vec<_> = found
            .notes
            .iter()
            .map(|note| note.draft.title.as_deref().unwrap_or_default())
            .collect();
        assert_eq!(titles, [".NET v1.2", "Task"], "{}", path.display());
        assert_eq!(found.report.links.unresolved, 0, "{}", path.display());
        let parents = "notion_path: \".NET v1.2\"\n";
        assert!(found.notes[1].front_matter.contains(parents));
    }
}

#[test]
fn the_download_is_an_archive_of_archives() {
    let folder = IngestSandbox::new(&[]);
    let parts: Vec<_> = files()
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    let part =
        std::fs::read(write_zip(&folder.path().join("part.zip"), &parts)).expect("it was written");
    std::fs::remove_file(folder.path().join("part.zip")).expect("it is there");
    let outer = write_zip(
        &folder.path().join("Export.zip"),
        &[("Export-Part-1.zip".to_owned(), part)],
    );
    for path in [outer.as_path(), &folder.path()] {
        let found = survey_source(SourceName::Notion, path);
        assert_eq!(
            (
                found.notes.len(),
                found.report.links.resolved,
                found.again.unchanged
            ),
            (5, 6, 5)
        );
    }
}

#[test]
fn other_files_are_not_recognized() {
    let folder = IngestSandbox::new(&[("a.md", "x"), ("b.csv", "x")]);
    let opened = open(
        SourceName::Notion,
        &folder.path(),
        &SourceOptions::default(),
    );
    assert!(matches!(opened, Err(SourceError::NotRecognized { .. })));
}

#[test]
fn a_bundle_in_an_archive_is_read_as_its_folder() {
    let folder = IngestSandbox::new(&[]);
    let file = |name: &str, text: &str| (format!("bundle/{name}"), text.as_bytes().to_vec());
    let index = file("index.md", "---\nokf_version: \"0.2\"\n---\n");
    let concept = file(
        "a/b.md",
        "---\ntype: Metric\n---\n[c](/c.md) [gone](/d.md)\n",
    );
    let path = write_zip(
        &folder.path().join("x.zip"),
        &[
            index,
            concept,
            file("c.md", "日本語"),
            file("../evil.md", "out"),
        ],
    );
    assert_eq!(SourceName::detect(&path), [SourceName::Okf]);
    let found = survey_source(SourceName::Okf, &path);
    assert_eq!(
        found.notes.iter().map(SurveyNote::path).collect::<Vec<_>>(),
        ["a/b.md", "c.md"]
    );
    assert_eq!(
        found.notes[0]
            .draft
            .origin
            .as_ref()
            .map(|origin| origin.root.as_str()),
        Some("bundle")
    );
    assert_eq!(
        (found.report.links.resolved, found.report.links.unresolved),
        (1, 1)
    );
    assert_eq!(found.skipped.len(), 1);
}
