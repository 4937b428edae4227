//! Tests that files and lines of a person or of another program are preserved.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use memory_core::secret::Checked;
use memory_core::topic::{
    TopicChange, TopicError, TopicKind, TopicStore, TopicText, TopicWriteRequest, delete,
    external_operation, file, history, last, purge, read, rebuild, record_external_changes, undo,
    update, view,
};
use memory_core::{Code, SecretPolicy, Verb};

use super::{TestTopics, TopicFolder, path, request};

const BY_HAND: &str = "# Memory\n\n## User\n- [x](y.md) - z\n\n## Project\n\n(empty)\n";

#[test]
fn an_index_that_somebody_else_made_is_kept_whole_and_its_lines_stay() {
    let folder = TestTopics::new();
    folder.put_file("MEMORY.md", BY_HAND);
    folder.write("a", "1").unwrap();
    let ours = "- [A name](a.md) - What it is\n";
    assert_eq!(
        folder.file("MEMORY.md"),
        BY_HAND.replace("## User\n", &format!("## User\n{ours}"))
    );
    let trashed = folder.topics.store.trashed().unwrap();
    let told: Vec<_> = trashed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        (told, folder.file(&trashed[0].trash).as_str()),
        (vec!["MEMORY.md"], BY_HAND)
    );
    folder.write("b", "1").unwrap();
    assert_eq!(folder.topics.store.trashed().unwrap().len(), 1, "once");
    assert_eq!(
        history(&folder.topics).unwrap().len(),
        2,
        "it is no operation by itself"
    );
    undo(&folder.topics, &folder.last()).unwrap();
    delete(&folder.topics, "a").unwrap();
    assert_eq!(folder.file("MEMORY.md"), BY_HAND);
    // A rebuild of the index preserves the lines as well.
    let folder = TestTopics::new();
    folder.put_file("MEMORY.md", BY_HAND);
    folder.put_file("a.md", "text");
    rebuild(&folder.topics).unwrap();
    assert_eq!(
        folder.file("MEMORY.md"),
        format!("{BY_HAND}\n## Other\n- [a](a.md) - a\n")
    );
    assert_eq!(folder.topics.store.trashed().unwrap().len(), 1);
}

#[test]
fn lines_of_ours_that_a_person_changed_stay() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    folder.write("b", "1").unwrap();
    let noted = folder.file("MEMORY.md").replace(
        "(b.md) - What it is",
        "(b.md) - What it is  <- see also wiki",
    );
    folder.put_file("MEMORY.md", &noted);
    folder.write("a", "2").unwrap();
    assert_eq!(folder.file("MEMORY.md"), noted);
    delete(&folder.topics, "a").unwrap();
    let kept = "# Memory\n\n## User\n- [A name](b.md) - What it is  <- see also wiki\n";
    assert_eq!(
        (
            folder.file("MEMORY.md").as_str(),
            view(&folder.topics).unwrap().as_str()
        ),
        (kept, kept)
    );
}

#[test]
fn an_index_that_is_as_we_would_make_it_is_ours_whoever_made_it() {
    let topic = "---\nname: A\ndescription: d\ntype: user\n---\n\nx\n";
    let made = "# Memory\n\n## User\n- [A](a.md) - d\n";
    for (files, index) in [
        (&["a.md"][..], made),
        (&[], "# Memory\n\n(empty)\n"),
        (&["a.md"], "# Memory\n\n(empty)\n"),
    ] {
        let folder = TestTopics::new();
        for name in files {
            folder.put_file(name, topic);
        }
        folder.put_file("MEMORY.md", index);
        folder.put_file("a.md", topic);
        folder.write("b", "1").unwrap();
        delete(&folder.topics, "a").unwrap();
        assert_eq!(
            folder.file("MEMORY.md"),
            "# Memory\n\n## User\n- [A name](b.md) - What it is\n"
        );
    }
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    // No other program has edited the index, so the record of the generated lines may be lost.
    std::fs::remove_file(folder.path().join(".index.json")).unwrap();
    delete(&folder.topics, "a").unwrap();
    assert_eq!(folder.file("MEMORY.md"), "# Memory\n\n(empty)\n");
}

fn mode(folder: &TestTopics, name: &str) -> u32 {
    folder.path().join(name).metadata().unwrap().mode() & 0o777
}

#[test]
fn a_file_keeps_its_mode_and_owner_whatever_is_done_to_it() {
    if cfg!(portable_system) {
        // The portable implementation sets no modes.
        return;
    }
    let folder = TestTopics::new();
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(
            folder.path().join(name),
            std::fs::Permissions::from_mode(mode),
        )
        .unwrap();
    };
    folder.write("a", "1").unwrap();
    assert_eq!(
        (mode(&folder, "a.md"), mode(&folder, "MEMORY.md")),
        (0o600, 0o600)
    );
    set("a.md", 0o640);
    set("MEMORY.md", 0o644);
    // Only root may change the owner of a file.
    let is_given = chown(folder.path().join("a.md"), Some(1234), Some(1235)).is_ok();
    update(&folder.topics, "a", "1", "2", SecretPolicy::Refuse).unwrap();
    undo(
        &folder.topics,
        last(&folder.topics).unwrap().unwrap().operation.id.as_str(),
    )
    .unwrap();
    delete(&folder.topics, "a").unwrap();
    undo(
        &folder.topics,
        last(&folder.topics).unwrap().unwrap().operation.id.as_str(),
    )
    .unwrap();
    file::rename(&folder.topics, &path("a.md"), &path("b.md")).unwrap();
    assert_eq!(
        (mode(&folder, "b.md"), mode(&folder, "MEMORY.md")),
        (0o640, 0o644)
    );
    if is_given {
        let found = folder.path().join("b.md").metadata().unwrap();
        assert_eq!((found.uid(), found.gid()), (1234, 1235));
    }
}

#[test]
fn a_file_that_may_only_be_read_is_not_replaced() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    let set = |mode: u32| {
        std::fs::set_permissions(
            folder.path().join("a.md"),
            std::fs::Permissions::from_mode(mode),
        )
        .unwrap();
    };
    set(0o400);
    if std::fs::OpenOptions::new()
        .write(true)
        .open(folder.path().join("a.md"))
        .is_ok()
    {
        // For root no permission is denied.
        return;
    }
    for refused in [
        folder.write("a", "2").map(drop),
        delete(&folder.topics, "a").map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied);
        assert_eq!(
            refused.to_string(),
            format!("cannot write to {}/a.md", folder.path().display())
        );
    }
    set(0o000);
    assert!(
        view(&folder.topics)
            .unwrap()
            .contains("- [A name](a.md) - What it is\n"),
        "its line stays as it is"
    );
    assert_eq!(
        read(&folder.topics, "a").unwrap_err().to_string(),
        "cannot read a.md"
    );
    set(0o600);
    assert!(folder.file("a.md").ends_with("\n1\n"));
}

fn make_pipe(place: &Path) {
    let made = std::process::Command::new("mkfifo")
        .arg(place)
        .status()
        .unwrap();
    assert!(made.success());
}

#[test]
fn what_is_no_file_is_neither_read_nor_replaced_nor_deleted() {
    let folder = TestTopics::new();
    make_pipe(&folder.path().join("pipe.md"));
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket.md")).unwrap();
    for name in ["pipe", "socket"] {
        for result in [
            read(&folder.topics, name).map(drop),
            folder.write(name, "x").map(drop),
            update(&folder.topics, name, "a", "b", SecretPolicy::Refuse).map(drop),
            delete(&folder.topics, name).map(drop),
        ] {
            let refused = result.unwrap_err();
            let told = format!(
                "{name}.md is damaged: not a regular file, but a pipe, a socket or a device"
            );
            assert_eq!(
                (refused.code(), refused.to_string()),
                (Code::FileDamaged, told)
            );
        }
        assert!(folder.path().join(format!("{name}.md")).exists());
    }
    assert_eq!(view(&folder.topics).unwrap(), "# Memory\n\n(empty)\n");
}

#[test]
fn a_folder_is_no_topic_to_be_deleted() {
    let folder = TestTopics::new();
    std::fs::create_dir(folder.path().join("notes.md")).unwrap();
    folder.put_file("notes.md/a.txt", "x");
    assert_eq!(
        delete(&folder.topics, "notes").unwrap_err().to_string(),
        "notes.md is a folder"
    );
    assert_eq!(folder.file("notes.md/a.txt"), "x");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    file::delete(&folder.topics, &path("empty")).unwrap();
    assert!(
        history(&folder.topics).unwrap().is_empty(),
        "an empty folder held nothing that could come back"
    );
    folder.write("b", "x").unwrap();
    let below = file::create(
        &folder.topics,
        &path("b.md/c.txt"),
        "x",
        SecretPolicy::Refuse,
    )
    .unwrap_err();
    assert_eq!(
        (below.code(), below.to_string()),
        (Code::Conflict, "b.md is a file, not a folder".into())
    );
}

#[test]
fn a_passage_is_not_replaced_by_what_makes_a_topic_unreadable() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    let change = |old: &str, new: &str| update(&folder.topics, "a", old, new, SecretPolicy::Refuse);
    let before = folder.file("a.md");
    for (old, new, why) in [
        (
            "type: user",
            "type: secret",
            "\"secret\" is not a topic type",
        ),
        ("type: user\n", "", "\"\" is not a topic type"),
        (
            "What it is",
            "What: it: is",
            "after this change a.md cannot be parsed as a topic: the front matter is not valid YAML",
        ),
        (
            "\n---\n",
            "\n",
            "after this change a.md cannot be parsed as a topic: the front matter that starts in line 1 has no closing line",
        ),
    ] {
        let refused = change(old, new).unwrap_err();
        assert!(
            refused.code() == Code::InvalidInput && refused.to_string().starts_with(why),
            "{refused}"
        );
        assert_eq!(folder.file("a.md"), before);
    }
    change("type: user", "type: project").unwrap();
    assert_eq!(
        read(&folder.topics, "a").unwrap().topic.kind,
        TopicKind::Project
    );
    // Other programs may use types of their own, which are preserved.
    folder.put_file("b.md", "---\ntype: decision\ndescription: a: b\n---\nx\n");
    update(&folder.topics, "b", "x", "y", SecretPolicy::Refuse).unwrap();
    let retyped = TopicWriteRequest {
        title: None,
        description: None,
        kind: None,
        ..request("b", "z")
    };
    memory_core::topic::write(&folder.topics, &retyped).unwrap();
    assert_eq!(folder.file("b.md").lines().nth(1), Some("type: decision"));
}

#[test]
fn a_whole_topic_takes_the_place_of_a_file_whose_header_cannot_be_read() {
    for former in [
        "---\nname: x\nnever closed\n".as_bytes(),
        b"---\nname: [x\ntype: user\n---\nbody\n",
        b"---\n- a list\n---\nbody\n",
        b"---\nname: a\nname: b\n  type: x\n---\nbody\n",
        b"---\n{name: x, type: user}\n---\nbody\n",
        b"---\nname: \xff\xfe\n---\nbody\n",
        b"\xff\xfe\x00",
    ] {
        let folder = TestTopics::new();
        folder.put_file("a.md", former);
        let shown = String::from_utf8_lossy(former).into_owned();
        assert!(!folder.write("a", "new text").unwrap().created, "{shown}");
        assert!(
            folder.file("a.md").ends_with("---\n\nnew text\n"),
            "{shown}: {}",
            folder.file("a.md")
        );
        let listing = memory_core::topic::list(&folder.topics).unwrap();
        assert_eq!(listing.topics[0].problem, None, "{shown}");
        memory_core::topic::undo(&folder.topics, &folder.last()).unwrap();
        assert_eq!(
            std::fs::read(folder.path().join("a.md")).unwrap(),
            former,
            "the former file comes back whole"
        );
    }
}

#[test]
fn what_can_be_read_of_a_header_is_not_lost_by_a_write() {
    let folder = TestTopics::new();
    folder.put_file(
        "a.md",
        "---\n{name: x, type: user, owner: Anna}\n---\nbody\n",
    );
    assert_eq!(
        folder.write("a", "new").unwrap_err().code(),
        memory_core::Code::FileDamaged
    );
    assert!(folder.file("a.md").contains("owner: Anna"));
}

#[test]
fn a_write_that_fails_makes_no_folder() {
    let base = tempfile::tempdir().unwrap();
    let folder = super::super::TopicFolder::new(base.path().join(".memory"));
    let (topics, _) = memory_core::testing::topics(std::sync::Arc::new(folder));
    let request = memory_core::topic::TopicWriteRequest {
        name: "a".parse().unwrap(),
        title: None,
        description: None,
        kind: None,
        content: Some("x".into()),
        secrets: memory_core::SecretPolicy::Refuse,
    };
    assert!(memory_core::topic::write(&topics, &request).is_err());
    assert_eq!(base.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_is_private_is_named_in_a_gitignore_that_is_written_once() {
    let folder = TestTopics::new();
    folder.write("a", "one").unwrap();
    folder.write("a", "two").unwrap();
    let written = folder.file(".gitignore");
    let ignored: Vec<&str> = written
        .lines()
        .map(|line| line.trim_end_matches('/'))
        .collect();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_private = name.starts_with('.') && name != ".gitignore";
        assert_eq!(ignored.contains(&name.as_str()), is_private, "{name}");
    }
    folder.put_file(".gitignore", "mine\n");
    folder.write("a", "three").unwrap();
    assert_eq!(folder.file(".gitignore"), "mine\n", "it is the person's");
    std::fs::remove_file(folder.path().join(".gitignore")).unwrap();
    folder.write("a", "four").unwrap();
    assert!(
        !folder.path().join(".gitignore").exists(),
        "it is written once"
    );
    let other = TestTopics::new();
    other.put_file(".gitignore", "theirs\n");
    other.write("a", "one").unwrap();
    assert_eq!(other.file(".gitignore"), "theirs\n");
}

#[test]
fn a_finished_rename_stays_if_its_mark_remained_and_its_old_path_is_used_again() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    let text = folder.file("a.md");
    file::rename(&folder.topics, &path("a.md"), &path("b.md")).unwrap();
    // A process that was killed before its last step leaves the mark.
    folder.put_file(".next/operation", folder.last());
    folder.put_file("a.md", "of another program");
    folder.write("c", "2").unwrap();
    assert_eq!(
        (folder.file("b.md"), folder.file("a.md").as_str()),
        (text, "of another program")
    );
    assert_eq!(
        history(&folder.topics).unwrap().len(),
        3,
        "no operation was aborted"
    );
}

#[test]
fn changes_by_other_programs_are_recorded_and_undone_in_a_watched_folder() {
    let folder = TestTopics::new();
    folder.put_file("old.md", "before\n");
    folder.write("a", "1").unwrap();
    folder.put_file("old.md", "not watched yet\n");
    assert_eq!(history(&folder.topics).unwrap().len(), 1);
    watch(&folder);
    assert!(
        !record_external_changes(&folder.topics).unwrap(),
        "what was there counts as unchanged"
    );
    folder.put_file("old.md", "after\n");
    folder.put_file("new.md", "made by a client\n");
    std::fs::remove_file(folder.path().join("a.md")).unwrap();
    let record = last(&folder.topics).unwrap().expect("a record");
    assert_eq!(
        (record.operation.by.as_str(), record.subject.files.len()),
        ("external", 3)
    );
    assert!(
        folder.file("MEMORY.md").contains("(new.md)")
            && !folder.file("MEMORY.md").contains("(a.md)")
    );
    assert!(!record_external_changes(&folder.topics).unwrap(), "once");
    // A change by this store is its own operation, after one that another program made meanwhile.
    folder.put_file("new.md", "changed by a client\n");
    folder.write("b", "1").unwrap();
    let by: Vec<_> = history(&folder.topics)
        .unwrap()
        .into_iter()
        .map(|record| record.operation.by)
        .collect();
    assert_eq!(by, ["test", "external", "external", "test"]);
    for _ in 0..3 {
        let record = last(&folder.topics).unwrap().expect("a record");
        undo(&folder.topics, record.operation.id.as_str()).unwrap();
    }
    assert_eq!(folder.file("old.md"), "not watched yet\n");
    assert!(folder.file("a.md").ends_with("\n1\n") && !folder.path().join("new.md").exists());
    unwatch(&folder).unwrap();
    assert!(!folder.path().join(".seen").exists());
}

fn watch(folder: &TestTopics) {
    let operation =
        &mut || external_operation(folder.topics.clock.as_ref(), folder.topics.ids.as_ref());
    TopicFolder::new(folder.path()).watch(operation).unwrap();
}

fn unwatch(folder: &TestTopics) -> Result<(), TopicError> {
    let operation =
        &mut || external_operation(folder.topics.clock.as_ref(), folder.topics.ids.as_ref());
    TopicFolder::new(folder.path()).unwatch(operation)
}

/// Returns a watched folder whose only topic `a.md` another program deleted.
fn folder_with_deletion() -> TestTopics {
    let folder = TestTopics::new();
    folder.put_file("a.md", "the only copy\n");
    watch(&folder);
    std::fs::remove_file(folder.path().join("a.md")).unwrap();
    folder
}

#[test]
fn no_operation_destroys_the_only_copy_of_a_topic_that_another_program_deleted() {
    type Act = fn(&TestTopics);
    let operations: [(&str, Act); 4] = [
        ("watch", watch),
        ("unwatch", |folder| unwatch(folder).unwrap()),
        ("purge", |folder| {
            assert!(purge(&folder.topics, folder.topics.clock.now()).is_ok());
        }),
        ("write", |folder| drop(folder.write("b", "1").unwrap())),
    ];
    for (name, act) in operations {
        let folder = folder_with_deletion();
        act(&folder);
        let records = history(&folder.topics).unwrap();
        let record = records
            .iter()
            .find(|record| record.operation.by == "external")
            .expect(name);
        undo(&folder.topics, record.operation.id.as_str()).unwrap();
        assert_eq!(folder.file("a.md"), "the only copy\n", "{name}");
    }
}

#[test]
fn changes_that_cannot_be_recorded_are_recorded_later() {
    let folder = folder_with_deletion();
    let log = folder.path().join(format!(
        ".trash/{}.jsonl",
        folder.topics.clock.now().format("%Y-%m")
    ));
    std::fs::create_dir_all(&log).unwrap();
    assert!(folder.write("b", "1").is_err() && unwatch(&folder).is_err());
    assert_eq!(folder.file(".seen/a.md"), "the only copy\n");
    std::fs::remove_dir(&log).unwrap();
    folder.write("b", "1").unwrap();
    let records = history(&folder.topics).unwrap();
    assert_eq!(
        (records.len(), records[1].operation.by.as_str()),
        (2, "external")
    );
}

#[test]
fn a_change_of_another_topic_during_an_operation_is_recorded_afterwards() {
    let folder = TestTopics::new();
    folder.put_file("a.md", "the only copy\n");
    watch(&folder);
    let store = TopicFolder::new(folder.path());
    let operation = folder.topics.operation(Verb::Write);
    let text = || TopicChange::Text(Checked::allowed("text\n".to_owned()));
    let decide = &mut |_: Option<&TopicText>| {
        std::fs::remove_file(folder.path().join("a.md")).unwrap();
        Ok(text())
    };
    store.change(&path("b.md"), &operation, decide).unwrap();
    assert!(record_external_changes(&folder.topics).unwrap());
    assert_eq!(history(&folder.topics).unwrap()[0].subject.files, ["a.md"]);
}

#[test]
fn the_first_recorded_change_writes_the_gitignore_and_preserves_the_index_of_another_program() {
    let folder = folder_with_deletion();
    folder.put_file("MEMORY.md", "# Mine\n");
    assert!(record_external_changes(&folder.topics).unwrap());
    assert!(folder.file(".gitignore").contains(".trash/"));
    let trashed = folder.topics.store.trashed().unwrap();
    let index = trashed
        .iter()
        .find(|trashed| trashed.path == "MEMORY.md")
        .expect("the first copy of the index");
    assert_eq!(folder.file(&index.trash), "# Mine\n");
}

#[test]
fn a_folder_or_a_symlink_in_place_of_a_watched_topic_is_a_deletion() {
    for is_folder in [true, false] {
        let folder = folder_with_deletion();
        let place = folder.path().join("a.md");
        if is_folder {
            std::fs::create_dir(place).unwrap();
        } else {
            symlink("b.md", place).unwrap();
        }
        assert!(record_external_changes(&folder.topics).unwrap());
        folder.write("c", "1").unwrap();
        assert_eq!(history(&folder.topics).unwrap().len(), 2);
    }
}

#[test]
fn a_large_topic_is_not_watched_until_it_is_small_again() {
    let folder = TestTopics::new();
    folder.put_file("a.md", "small\n");
    watch(&folder);
    folder.put_file("a.md", vec![b'a'; 1024 * 1024 + 1]);
    assert!(!record_external_changes(&folder.topics).unwrap());
    assert_eq!(folder.file(".seen/a.md"), "small\n");
    folder.put_file("a.md", "other\n");
    assert!(record_external_changes(&folder.topics).unwrap());
}

#[test]
fn a_file_with_a_name_outside_of_the_folder_is_named_and_never_read() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "---\nname: Secret\n---\n\nprivate\n").unwrap();
    std::fs::hard_link(&secret, folder.path().join("b.md")).unwrap();
    let why = "is a hard link with another name outside of the folder; such files are not read";
    for done in [
        read(&folder.topics, "b").map(drop),
        folder.write("b", "x").map(drop),
        update(&folder.topics, "b", "private", "x", SecretPolicy::Refuse).map(drop),
        delete(&folder.topics, "b").map(drop),
        file::delete(&folder.topics, &path("b.md")).map(drop),
    ] {
        let refused = done.unwrap_err();
        assert_eq!(
            (refused.code(), refused.to_string()),
            (
                Code::PathRefused,
                format!("\"b.md\" is not a path within the folder: it {why}")
            )
        );
    }
    let listing = folder.topics.store.topics().unwrap();
    let names: Vec<_> = listing
        .topics
        .iter()
        .map(|topic| topic.name.as_str())
        .collect();
    assert_eq!(names, ["a.md"]);
    assert_eq!(listing.misnamed, [("b.md".to_owned(), format!("it {why}"))]);
    rebuild(&folder.topics).unwrap();
    assert!(!view(&folder.topics).unwrap().contains("Secret"));
    assert_eq!(
        std::fs::read_to_string(&secret).unwrap(),
        "---\nname: Secret\n---\n\nprivate\n"
    );
    // In a watched folder, no copy of it is made.
    watch(&folder);
    record_external_changes(&folder.topics).unwrap();
    assert!(!folder.path().join(".seen/b.md").exists());
}

#[test]
fn a_file_with_several_names_in_the_folder_is_a_topic() {
    let folder = TestTopics::new();
    folder.write("a", "1").unwrap();
    for below in ["notes", ".backup"] {
        std::fs::create_dir(folder.path().join(below)).unwrap();
    }
    let link = |to: &str| {
        std::fs::hard_link(folder.path().join("a.md"), folder.path().join(to)).unwrap();
    };
    link("b.md");
    link("notes/a copy.md");
    link(".backup/a.md");
    let text = |name: &str| read(&folder.topics, name).unwrap().text;
    assert!(text("a").ends_with("\n1\n"));
    let names: Vec<_> = folder
        .topics
        .store
        .topics()
        .unwrap()
        .topics
        .into_iter()
        .map(|topic| topic.name.as_str().to_owned())
        .collect();
    assert_eq!(names, ["a.md", "b.md"]);
    // A change links the former file into the trash, and leaves the other names alone.
    update(&folder.topics, "a", "1", "2", SecretPolicy::Refuse).unwrap();
    assert!(text("a").ends_with("\n2\n"));
    assert!(text("b").ends_with("\n1\n"));
    undo(&folder.topics, &folder.last()).unwrap();
    assert!(text("a").ends_with("\n1\n"));
}
