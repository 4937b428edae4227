//! Tests of topics stored as files.

mod foreign_files;

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use memory_core::secret::Checked;
use memory_core::testing::{FakeClock, topics};
use memory_core::topic::{
    TopicChangeResult, TopicError, TopicKind, TopicPath, TopicWriteRequest, TopicWriteResult,
    Topics, delete, file, history, list, purge, read, rebuild, undo, update, view, write,
};
use memory_core::{Clock, Code, SecretPolicy};

use super::TopicFolder;

struct TestTopics {
    home: tempfile::TempDir,
    topics: Topics,
}

impl TestTopics {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let (topics, _) = topics(Arc::new(TopicFolder::new(home.path())));
        Self { home, topics }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn put_file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), bytes).unwrap();
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, content: &str) -> Result<TopicWriteResult, TopicError> {
        write(&self.topics, &request(name, content))
    }

    fn last(&self) -> String {
        history(&self.topics).unwrap()[0].operation.id.to_string()
    }
}

fn request(name: &str, content: &str) -> TopicWriteRequest {
    TopicWriteRequest {
        name: name.parse().unwrap(),
        title: Some("A name".into()),
        description: Some("What it is".into()),
        kind: Some(TopicKind::User),
        content: Some(content.into()),
        secrets: SecretPolicy::Refuse,
    }
}

fn path(text: &str) -> TopicPath {
    text.parse().unwrap()
}

const THEIRS: &str = "\u{feff}---\r\n# by hand\r\nowner: Anna # not you\r\nname: 'Old'\r\ntype: decision\r\nupdated: 2020-01-01\r\n---\r\n\r\none\r\ntwo\r\n";

#[test]
fn an_undo_creates_no_hidden_file_whatever_the_log_contains() {
    for hidden in [".git/config", "notes/.git/config"] {
        let fixture = TestTopics::new();
        fixture.write("plan", "the plan").unwrap();
        delete(&fixture.topics, "plan").unwrap();
        let log = ".trash/2026-05.jsonl";
        fixture.put_file(
            log,
            fixture
                .file(log)
                .replace(r#""path":"plan.md""#, &format!(r#""path":"{hidden}""#)),
        );
        let refused = undo(&fixture.topics, &fixture.last()).unwrap_err();
        assert_eq!(refused.code(), Code::FileDamaged, "{refused}");
        assert!(!fixture.path().join(hidden).exists());
    }
}

#[test]
fn a_change_leaves_all_else_of_a_file_byte_for_byte() {
    let folder = TestTopics::new();
    folder.put_file("a.md", THEIRS);
    update(&folder.topics, "a", "two", "2", SecretPolicy::Refuse).unwrap();
    let today = folder.topics.clock.now().date_naive().to_string();
    let expected = THEIRS.replace("two", "2").replace("2020-01-01", &today);
    assert_eq!(folder.file("a.md"), expected);
    let next = TopicWriteRequest {
        kind: None,
        title: None,
        ..request("a", "three\nfour")
    };
    write(&folder.topics, &next).unwrap();
    let expected = expected.replace(
        "---\r\n\r\none\r\n2\r\n",
        "description: What it is\r\n---\r\n\r\nthree\r\nfour\r\n",
    );
    assert_eq!(folder.file("a.md"), expected);
    assert_eq!(
        folder.file("MEMORY.md"),
        "# Memory\n\n## Other\n- [Old](a.md) - What it is\n"
    );
    undo(&folder.topics, &folder.last()).unwrap();
    undo(
        &folder.topics,
        &history(&folder.topics).unwrap()[2].operation.id.to_string(),
    )
    .unwrap();
    assert_eq!(folder.file("a.md"), THEIRS);
}

#[test]
fn files_of_all_kinds_are_listed_and_what_is_wrong_with_them_is_told() {
    let folder = TestTopics::new();
    folder.put_file("plain.md", "no front matter\n");
    folder.put_file("open.md", "---\nname: x\n");
    folder.put_file("bytes.md", b"---\nname: \xff\xfe\n---\n");
    folder.put_file(
        "colon.md",
        "---\nname: N\ndescription: Fix: use X\ntype: feedback\n---\n",
    );
    folder.put_file(
        "long.md",
        format!(
            "---\ntags: [{}a]\nname: Long\ntype: user\n---\n",
            "a, ".repeat(20_000)
        ),
    );
    folder.put_file(
        "深色.md",
        format!("---\nname: 深色\ntype: user\n---\n{}", "深".repeat(100_000)),
    );
    folder.put_file("a:b.md", "x");
    folder.put_file(".hidden.md", "x");
    folder.put_file("notes.txt", "x");
    symlink("/etc/passwd", folder.path().join("link.md")).unwrap();
    std::fs::create_dir(folder.path().join("folder.md")).unwrap();
    let listing = list(&folder.topics).unwrap();
    let told: Vec<String> = listing
        .topics
        .iter()
        .map(|topic| {
            format!(
                "{} [{}] {}: {}",
                topic.name,
                topic.title,
                topic.kind,
                topic.problem.as_deref().unwrap_or("fine")
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @"
    bytes.md [bytes] other: the text is not UTF-8 but another encoding
    colon.md [N] feedback: the front matter is not valid YAML (line 3): mapping values are not allowed in this context
    long.md [Long] user: fine
    open.md [open] other: the front matter that starts in line 1 has no closing line
    plain.md [plain] other: fine
    深色.md [深色] user: fine
    ");
    let misnamed: Vec<_> = listing
        .misnamed
        .iter()
        .map(|(name, why)| format!("{name}: {why}"))
        .collect();
    insta::assert_snapshot!(misnamed.join("\n"), @r#"
    a:b.md: "a:b.md" is not a path within the folder: it contains a :, which separates a drive or a stream on some systems
    link.md: it is a symlink or not a regular file
    "#);
    insta::assert_snapshot!(view(&folder.topics).unwrap(), @"
    # Memory

    ## User
    - [Long](long.md) - long
    - [深色](深色.md) - 深色

    ## Feedback
    - [N](colon.md) - Fix: use X

    ## Other
    - [bytes](bytes.md) - bytes
    - [open](open.md) - open
    - [plain](plain.md) - plain
    ");
    assert_eq!(
        read(&folder.topics, "bytes").unwrap_err().code(),
        Code::FileDamaged
    );
    let part = TopicWriteRequest {
        kind: None,
        ..request("open", "new")
    };
    assert_eq!(
        write(&folder.topics, &part).unwrap_err().code(),
        Code::FileDamaged
    );
    assert_eq!(folder.file("open.md"), "---\nname: x\n");
    delete(&folder.topics, "bytes").unwrap();
    assert!(!folder.path().join("bytes.md").exists());
    undo(&folder.topics, &folder.last()).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("bytes.md")).unwrap(),
        b"---\nname: \xff\xfe\n---\n"
    );
}

#[test]
fn nothing_is_read_or_written_through_a_symlink() {
    let folder = TestTopics::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("target.md");
    std::fs::write(&target, "theirs").unwrap();
    symlink(&target, folder.path().join("a.md")).unwrap();
    symlink(elsewhere.path(), folder.path().join("notes")).unwrap();
    symlink(&target, folder.path().join("dangling.md")).unwrap();
    let results = [
        read(&folder.topics, "a").map(drop),
        folder.write("a", "x").map(drop),
        update(&folder.topics, "a", "theirs", "ours", SecretPolicy::Refuse).map(drop),
        delete(&folder.topics, "a").map(drop),
        file::read(&folder.topics, &path("notes/target.md")).map(drop),
        file::create(
            &folder.topics,
            &path("notes/new.md"),
            "x",
            SecretPolicy::Refuse,
        ),
        file::delete(&folder.topics, &path("notes/target.md")),
        file::delete(&folder.topics, &path("notes")),
        file::rename(&folder.topics, &path("a.md"), &path("b.md")),
        file::entries(&folder.topics, Some(&path("notes/sub"))).map(drop),
    ];
    for (at, result) in results.into_iter().enumerate() {
        let code = result.expect_err(&at.to_string()).code();
        assert!(matches!(code, Code::PathRefused), "{at}: {code}");
    }
    folder.write("b", "x").unwrap();
    assert_eq!(
        file::rename(&folder.topics, &path("b.md"), &path("dangling.md"))
            .unwrap_err()
            .code(),
        Code::PathRefused
    );
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "theirs");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    assert_eq!(
        file::entries(&folder.topics, None).unwrap().unwrap().len(),
        2,
        "the index and b.md"
    );
}

#[test]
fn nothing_of_ours_is_written_through_a_symlink_that_somebody_put_there() {
    for name in [
        ".next/operation",
        ".next/0",
        ".index.tmp",
        ".index.json",
        ".index.json.tmp",
        ".lock",
        ".trash/1970-01.jsonl",
        ".uses.json",
        "MEMORY.md",
        ".trash",
        ".next",
    ] {
        let folder = TestTopics::new();
        folder.put_file("a.md", "x");
        let elsewhere = tempfile::tempdir().unwrap();
        let target = elsewhere.path().join("target");
        let is_folder = name.ends_with("trash") || name.ends_with("next");
        if is_folder {
            std::fs::create_dir(&target).unwrap();
        } else {
            std::fs::write(&target, "theirs").unwrap();
        }
        let place = folder.path().join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(&target, &place).unwrap();
        // The operation may succeed or fail; the other file must be preserved.
        let done = folder.write("a", "y");
        let _ = read(&folder.topics, "a");
        if is_folder {
            assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0, "{name}");
        } else {
            assert_eq!(
                std::fs::read_to_string(&target).unwrap(),
                "theirs",
                "{name}"
            );
        }
        if name == "MEMORY.md" {
            assert!(done.unwrap().stale_index.is_some());
        }
    }
}

#[test]
fn a_writer_that_takes_no_lock_is_not_overwritten() {
    let folder = TestTopics::new();
    folder.put_file("a.md", "1\n");
    let place = folder.path().join("a.md");
    let mut asked = 0;
    let operation = folder.topics.operation(memory_core::Verb::Update);
    let changed = folder
        .topics
        .store
        .change(&path("a.md"), &operation, &mut |seen| {
            asked += 1;
            let count: u32 = seen.unwrap().text.trim().parse().unwrap();
            if asked == 1 {
                // Another program writes the file during the first attempt.
                std::fs::write(&place, "7\n").unwrap();
            }
            Ok(memory_core::topic::TopicChange::Text(Checked::allowed(
                format!("{}\n", count + 1),
            )))
        });
    assert_eq!(
        (changed.unwrap(), folder.file("a.md").as_str(), asked),
        (TopicChangeResult::Yes { stale_index: None }, "8\n", 2)
    );
    let operation = folder.topics.operation(memory_core::Verb::Update);
    let mut number = 100;
    let changed = folder
        .topics
        .store
        .change(&path("a.md"), &operation, &mut |_| {
            number += 1;
            std::fs::write(&place, format!("{number}\n")).unwrap();
            Ok(memory_core::topic::TopicChange::Text(Checked::allowed(
                "0\n".into(),
            )))
        });
    assert_eq!(
        (changed.unwrap_err().code(), folder.file("a.md").as_str()),
        (Code::Conflict, "103\n")
    );
    assert_eq!(
        history(&folder.topics).unwrap().len(),
        1,
        "what was not carried out is not told of"
    );
}

#[test]
fn a_folder_that_may_not_be_written_is_read_and_named() {
    let folder = TestTopics::new();
    folder.write("a", "x").unwrap();
    let rights = |mode| {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(0o500);
    let may_write_all_the_same = std::fs::write(folder.path().join("probe"), "").is_ok();
    let refused = folder.write("b", "x");
    let reading = read(&folder.topics, "a");
    rights(0o700);
    if may_write_all_the_same {
        // For root no permission is denied.
        std::fs::remove_file(folder.path().join("probe")).unwrap();
        return;
    }
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    assert_eq!(
        refused.to_string(),
        format!("cannot write to {}", folder.path().display())
    );
    assert!(reading.unwrap().text.ends_with("\nx\n"));
    assert!(!folder.path().join("b.md").exists() && folder.file("MEMORY.md").contains("(a.md)"));
}

#[test]
fn two_files_with_one_name_are_two_topics() {
    let folder = TestTopics::new();
    folder.put_file("Prefs.md", "---\nname: Same\ntype: user\n---\n1\n");
    folder.put_file("prefs.md", "---\nname: Same\ntype: user\n---\n2\n");
    if !folder.file("Prefs.md").contains('1') {
        // This file system does not distinguish the names.
        return;
    }
    assert!(
        read(&folder.topics, "prefs.md")
            .unwrap()
            .text
            .ends_with("2\n")
    );
    assert!(read(&folder.topics, "Prefs").unwrap().text.ends_with("1\n"));
    for reference in ["Same", "PREFS"] {
        let error = read(&folder.topics, reference).unwrap_err();
        assert_eq!(error.code(), Code::MemoryAmbiguous);
        assert!(
            error
                .to_string()
                .ends_with("matches 2 topics: Prefs.md, prefs.md"),
            "{error}"
        );
    }
    rebuild(&folder.topics).unwrap();
    assert_eq!(
        folder.file("MEMORY.md"),
        "# Memory\n\n## User\n- [Same](Prefs.md) - Prefs\n- [Same](prefs.md) - prefs\n"
    );
}

#[test]
fn ten_thousand_files_have_an_index_that_is_short_and_right() {
    let folder = TestTopics::new();
    for number in 0..10_000 {
        folder.put_file(
            &format!("t{number}.md"),
            format!(
                "---\nname: T{number}\ndescription: {}\ntype: user\n---\n",
                "word ".repeat(30)
            ),
        );
    }
    read(&folder.topics, "t7777").unwrap();
    folder.write("new", "x").unwrap();
    let index = folder.file("MEMORY.md");
    assert!(index.lines().count() < 200 && index.len() < 25_000);
    assert!(
        index.contains("(t7777.md)") && index.contains("(new.md)"),
        "what was used is shown"
    );
    let shown = index.lines().filter(|line| line.starts_with("- [")).count();
    assert!(index.ends_with(&format!(
        "- ({} more files, less used: list the files to see them)\n",
        10_001 - shown
    )));
    assert_eq!(view(&folder.topics).unwrap(), index);
}

#[test]
fn what_was_before_goes_for_good_by_whole_months() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    folder.write("a", "2").unwrap();
    let now = folder.topics.clock.now();
    assert_eq!(purge(&folder.topics, now).unwrap(), (0, 0));
    let (files, _) = purge(&folder.topics, now + chrono::TimeDelta::days(40)).unwrap();
    assert_eq!((files, history(&folder.topics).unwrap().len()), (2, 0));
    assert!(folder.file("a.md").ends_with("\n2\n"));
}

#[test]
fn a_topic_is_updated_on_the_day_of_its_zone() {
    for (hours, day) in [(-11, "2026-05-06"), (14, "2026-05-08")] {
        let home = tempfile::tempdir().unwrap();
        let zone = FakeClock::in_zone(hours).zone();
        let (topics, _) = topics(Arc::new(TopicFolder::new(home.path()).in_zone(zone)));
        write(&topics, &request("a", "text")).unwrap();
        let text = std::fs::read_to_string(home.path().join("a.md")).unwrap();
        assert!(text.contains(&format!("updated: {day}\n")), "{text}");
    }
}
