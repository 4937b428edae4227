//! The conformance suite of [`TopicStore`].

use std::sync::Arc;

use chrono::TimeDelta;

use super::{CountingIds, FakeClock};
use crate::topic::{
    TopicError, TopicKind, TopicName, TopicPath, TopicStore, TopicWriteRequest, Topics, context,
    delete, file, history, list, read, rebuild, undo, update, view, write,
};
use crate::{Code, Recorded, SecretPolicy, Verb};

/// Returns topics over `store`, with a deterministic clock and deterministic ids.
pub fn topics(store: Arc<dyn TopicStore>) -> (Topics, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    (
        Topics {
            store,
            clock: Arc::clone(&clock) as _,
            ids: Arc::new(CountingIds::default()),
            actor: "test".into(),
        },
        clock,
    )
}

/// Checks the contract of [`TopicStore`] on new and empty stores from `make`.
///
/// # Panics
/// If the contract is violated, with the violated rule.
pub fn topic_suite(make: &dyn Fn() -> Arc<dyn TopicStore>) {
    let case = || {
        let (topics, clock) = topics(make());
        TopicCase { topics, clock }
    };
    check_rules!(
        case;
        what_is_written_is_read_and_stands_in_the_index,
        a_topic_is_found_by_its_file_or_by_what_people_call_it,
        what_is_not_given_stays,
        a_passage_is_replaced,
        what_is_deleted_comes_back,
        an_undo_of_what_was_changed_since_is_refused,
        any_file_is_kept_and_folders_are_moved_whole,
        names_that_differ_in_case_alone_are_one,
        what_cannot_be_is_refused,
        credentials_are_refused,
        the_most_used_are_known,
    );
}

struct TopicCase {
    topics: Topics,
    clock: Arc<FakeClock>,
}

impl TopicCase {
    fn request(name: &str, kind: &str, content: &str) -> TopicWriteRequest {
        TopicWriteRequest {
            name: name.parse().expect("a name"),
            title: Some(format!("Title of {name}")),
            description: Some(format!("About {name}")),
            kind: Some(kind.parse().expect("a type")),
            content: Some(content.to_owned()),
            secrets: SecretPolicy::Refuse,
        }
    }

    fn write(&self, name: &str, kind: &str, content: &str) -> bool {
        write(&self.topics, &Self::request(name, kind, content))
            .expect("it is written")
            .created
    }

    fn text(&self, reference: &str) -> Result<String, TopicError> {
        read(&self.topics, reference).map(|reading| reading.text)
    }

    fn index(&self) -> String {
        let made = view(&self.topics).expect("an index");
        let file = self.topics.store.index().expect("it is read");
        assert_eq!(
            file.map_or("# Memory\n\n(empty)\n".to_owned(), |file| file.text),
            made,
            "the file is the index"
        );
        made
    }

    fn last(&self) -> String {
        let mut records = history(&self.topics).expect("a history").into_iter();
        records
            .find(Recorded::is_open)
            .expect("something was done")
            .operation
            .id
            .to_string()
    }

    fn create(&self, path: &TopicPath, text: &str) -> Result<(), TopicError> {
        file::create(&self.topics, path, text, SecretPolicy::Refuse)
    }

    fn rename(&self, from: &TopicPath, to: &TopicPath) -> Result<(), TopicError> {
        file::rename(&self.topics, from, to)
    }

    fn update(&self, name: &str, old: &str, new: &str) -> Result<(), TopicError> {
        update(&self.topics, name, old, new, SecretPolicy::Refuse).map(drop)
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, TopicError>) -> Code {
    result.expect_err("it is refused").code()
}

fn path(text: &str) -> TopicPath {
    text.parse().expect("a path")
}

fn what_is_written_is_read_and_stands_in_the_index(case: &TopicCase) {
    assert_eq!(case.index(), "# Memory\n\n(empty)\n");
    assert_eq!(list(&case.topics).expect("a list").topics, []);
    assert!(case.write("user_prefs", "user", "- Uses vim\n- 深色\n"));
    assert!(case.write("project_auth", "project", "PostgreSQL"));
    assert!(
        !case.write("user_prefs", "user", "- Uses emacs"),
        "it was there"
    );
    let text = case.text("user_prefs").expect("it is there");
    assert!(
        text.contains("- Uses emacs\n") && !text.contains("vim"),
        "{text}"
    );
    assert_eq!(
        case.index(),
        "# Memory\n\n## User\n- [Title of user_prefs](user_prefs.md) - About user_prefs\n\n\
         ## Project\n- [Title of project_auth](project_auth.md) - About project_auth\n"
    );
    let listing = list(&case.topics).expect("a list");
    let told: Vec<_> = listing
        .topics
        .iter()
        .map(|topic| (topic.name.as_str(), topic.kind, topic.updated))
        .collect();
    let day = Some(case.topics.clock.now().date_naive());
    assert_eq!(
        told,
        [
            ("project_auth.md", TopicKind::Project, day),
            ("user_prefs.md", TopicKind::User, day)
        ]
    );
    let block = context(&case.topics).expect("a block");
    assert!(
        block.contains("MEMORY PROTOCOL")
            && block.contains("- [Title of user_prefs](user_prefs.md)")
    );
    assert_eq!(code(case.text("none")), Code::PathNotFound);
    let unchanged = rebuild(&case.topics).expect("it is made anew");
    assert_eq!(unchanged, crate::topic::TopicChangeResult::No);
}

fn a_topic_is_found_by_its_file_or_by_what_people_call_it(case: &TopicCase) {
    case.write("user_prefs", "user", "tea");
    for reference in [
        "user_prefs",
        "user_prefs.md",
        "Title of user_prefs",
        "title OF user_prefs",
        "USER_PREFS.md",
    ] {
        assert!(case.text(reference).expect(reference).contains("tea"));
    }
    let same = TopicWriteRequest {
        title: Some("Title of user_prefs".into()),
        ..TopicCase::request("other", "user", "x")
    };
    write(&case.topics, &same).expect("two may be called the same");
    assert_eq!(
        code(case.text("Title of user_prefs")),
        Code::MemoryAmbiguous
    );
    assert!(case.text("user_prefs").is_ok());
    let index = case.index();
    assert!(index.contains("(other.md)") && index.contains("(user_prefs.md)"));
}

fn what_is_not_given_stays(case: &TopicCase) {
    let new = TopicWriteRequest {
        kind: None,
        ..TopicCase::request("a", "user", "1")
    };
    assert_eq!(code(write(&case.topics, &new)), Code::InvalidInput);
    let new = TopicWriteRequest {
        description: None,
        ..TopicCase::request("a", "user", "1")
    };
    assert_eq!(code(write(&case.topics, &new)), Code::InvalidInput);
    let new = TopicWriteRequest {
        title: None,
        ..TopicCase::request("a", "feedback", "1")
    };
    write(&case.topics, &new).expect("it is called as its file");
    let next = TopicWriteRequest {
        title: None,
        description: None,
        kind: None,
        ..TopicCase::request("a", "user", "2")
    };
    write(&case.topics, &next).expect("it is there");
    let reading = read(&case.topics, "a").expect("it is there");
    assert_eq!(
        (
            reading.topic.title.as_str(),
            reading.topic.description.as_str()
        ),
        ("a", "About a")
    );
    assert_eq!(reading.topic.kind, TopicKind::Feedback);
    let text = case.text("a").expect("it is there");
    let retyped = TopicWriteRequest {
        title: None,
        description: None,
        content: None,
        ..TopicCase::request("a", "user", "")
    };
    assert!(write(&case.topics, &retyped).expect("it is there").changed);
    assert_eq!(
        case.text("a").expect("it is there"),
        text.replace("type: feedback", "type: user")
    );
    assert!(!write(&case.topics, &retyped).expect("it is there").changed);
    let new = TopicWriteRequest {
        content: None,
        ..TopicCase::request("b", "user", "")
    };
    assert_eq!(code(write(&case.topics, &new)), Code::InvalidInput);
}

fn a_passage_is_replaced(case: &TopicCase) {
    case.write("a", "user", "tea at nine\ncake at nine");
    case.clock.advance(TimeDelta::days(2));
    case.update("a", "tea at nine", "tea at ten")
        .expect("it stands there once");
    let reading = read(&case.topics, "a").expect("it is there");
    assert!(reading.text.contains("tea at ten\ncake at nine"));
    assert_eq!(
        reading.topic.updated,
        Some(case.topics.clock.now().date_naive())
    );
    assert_eq!(code(case.update("a", " at ", "x")), Code::InvalidInput);
    assert_eq!(code(case.update("a", "milk", "x")), Code::InvalidInput);
    assert_eq!(code(case.update("b", "milk", "x")), Code::PathNotFound);
    case.update("a", "About a", "Drinks")
        .expect("what describes it is a passage too");
    assert!(case.index().contains("(a.md) - Drinks\n"));
    let done = history(&case.topics).expect("a history").len();
    case.update("a", "cake", "cake")
        .expect("nothing has to be done");
    assert_eq!(history(&case.topics).expect("a history").len(), done);
}

fn what_is_deleted_comes_back(case: &TopicCase) {
    case.write("a", "user", "1");
    case.write("b", "user", "2");
    let whole = case.text("a").expect("it is there");
    assert_eq!(code(delete(&case.topics, "c")), Code::PathNotFound);
    assert_eq!(
        delete(&case.topics, "Title of a")
            .expect("it is there")
            .as_str(),
        "a.md"
    );
    assert_eq!(code(case.text("a")), Code::PathNotFound);
    assert!(!case.index().contains("(a.md)"));
    let deletion = case.last();
    let trashed = case.topics.store.trashed().expect("a trash");
    assert_eq!(
        (trashed[0].path.as_str(), trashed[0].size),
        ("a.md", whole.len() as u64)
    );
    let undone = undo(&case.topics, &deletion[..6]).expect("it is taken back");
    assert_eq!(
        (
            undone.record.operation.verb,
            undone.record.subject.files.as_slice()
        ),
        (Verb::Delete, ["a.md".to_owned()].as_slice())
    );
    assert_eq!(case.text("a").expect("it is back"), whole);
    assert!(case.index().contains("(a.md)"));
    assert_eq!(code(undo(&case.topics, &deletion)), Code::InvalidInput);
    assert_eq!(
        code(undo(&case.topics, "ffff00000000")),
        Code::OperationNotFound
    );
    undo(&case.topics, undone.undo.as_str()).expect("an undo is taken back");
    assert_eq!(code(case.text("a")), Code::PathNotFound);
    assert_eq!(
        case.last(),
        deletion,
        "what was done again is the first to be taken back again"
    );
}

fn an_undo_of_what_was_changed_since_is_refused(case: &TopicCase) {
    case.write("a", "user", "1");
    let first = case.last();
    case.write("a", "user", "2");
    assert_eq!(code(undo(&case.topics, &first)), Code::Conflict);
    let second = case.last();
    case.write("b", "user", "3");
    undo(&case.topics, &second).expect("other files do not matter");
    undo(&case.topics, &first).expect("then it is as it was left");
    assert_eq!(code(case.text("a")), Code::PathNotFound);
}

fn any_file_is_kept_and_folders_are_moved_whole(case: &TopicCase) {
    let create = |place: &str, text: &str| {
        file::create(&case.topics, &path(place), text, SecretPolicy::Refuse)
    };
    let text = |place: &str| file::read(&case.topics, &path(place)).expect("it can be read");
    create("notes/2026/a.txt", "one\ntwo\n").expect("it is made");
    create("notes/b.xml", "<b/>").expect("it is made");
    create("plain.md", "no front matter\n").expect("it is made");
    assert_eq!(code(create("notes/b.xml", "again")), Code::Conflict);
    assert_eq!(text("notes/2026/a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(text("notes/2026/c.txt"), None);
    assert_eq!(
        case.index(),
        "# Memory\n\n## Other\n- [plain](plain.md) - plain\n"
    );
    let entries = |folder: Option<&str>| {
        let found = file::entries(&case.topics, folder.map(path).as_ref()).expect("it can be read");
        found.map(|found| {
            found
                .into_iter()
                .map(|entry| format!("{} {}", entry.size, entry.path))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(
        entries(Some("notes")).expect("it is there"),
        ["8 notes/2026", "8 notes/2026/a.txt", "4 notes/b.xml"]
    );
    assert_eq!(entries(Some("none")), None);
    let (after, line) = file::replace(
        &case.topics,
        &path("notes/2026/a.txt"),
        "two",
        "2",
        SecretPolicy::Refuse,
    )
    .expect("it is there once");
    assert_eq!((after.as_str(), line), ("one\n2\n", 2));
    let insert = |behind| {
        file::insert(
            &case.topics,
            &path("notes/2026/a.txt"),
            behind,
            "0\n",
            SecretPolicy::Refuse,
        )
    };
    assert_eq!(
        (
            insert(0).expect("it is there"),
            insert(9).expect("it is there")
        ),
        (Ok(()), Err(3))
    );
    case.rename(&path("notes"), &path("old/notes"))
        .expect("nothing is there");
    assert_eq!(
        (text("notes/b.xml"), text("old/notes/2026/a.txt").as_deref()),
        (None, Some("0\none\n2\n"))
    );
    assert_eq!(
        code(case.rename(&path("old"), &path("old/older"))),
        Code::InvalidInput
    );
    assert_eq!(
        code(case.rename(&path("plain.md"), &path("old/notes/b.xml"))),
        Code::Conflict
    );
    assert_eq!(
        code(case.rename(&path("none"), &path("some"))),
        Code::PathNotFound
    );
    undo(&case.topics, &case.last()).expect("it is moved back");
    assert_eq!(text("notes/b.xml").as_deref(), Some("<b/>"));
    file::delete(&case.topics, &path("notes")).expect("it is there");
    assert_eq!((text("notes/b.xml"), entries(Some("notes"))), (None, None));
    undo(&case.topics, &case.last()).expect("all of it is back");
    assert_eq!(text("notes/2026/a.txt").as_deref(), Some("0\none\n2\n"));
    case.rename(&path("plain.md"), &path("user.md"))
        .expect("nothing is there");
    assert_eq!(
        case.index(),
        "# Memory\n\n## Other\n- [user](user.md) - user\n"
    );
}

fn names_that_differ_in_case_alone_are_one(case: &TopicCase) {
    case.write("Prefs", "user", "1");
    assert_eq!(
        code(write(
            &case.topics,
            &TopicCase::request("prefs", "user", "2")
        )),
        Code::Conflict
    );
    assert_eq!(code(case.create(&path("PREFS.md"), "x")), Code::Conflict);
    assert!(case.text("prefs").expect("it is found").contains("\n1\n"));
}

fn what_cannot_be_is_refused(case: &TopicCase) {
    let index = path("memory.md");
    for result in [
        case.create(&index, "x"),
        file::delete(&case.topics, &index),
        case.rename(&index, &path("a.md")),
        file::insert(&case.topics, &index, 0, "x", SecretPolicy::Refuse).map(drop),
    ] {
        assert_eq!(code(result), Code::PathRefused);
    }
    case.write("a", "user", "1");
    assert_eq!(code(case.rename(&path("a.md"), &index)), Code::PathRefused);
    assert_eq!(code("secret".parse::<TopicKind>()), Code::InvalidInput);
    assert_eq!(code("../a".parse::<TopicName>()), Code::PathRefused);
    assert_eq!(code(case.text("../a")), Code::PathRefused);
    assert_eq!(code(delete(&case.topics, "MEMORY.md")), Code::PathRefused);
    for request in [
        TopicWriteRequest {
            title: Some("two\nlines".into()),
            ..TopicCase::request("b", "user", "1")
        },
        TopicWriteRequest {
            title: Some("\u{1b}[31m".into()),
            ..TopicCase::request("b", "user", "1")
        },
        TopicWriteRequest {
            description: Some("a\rb".into()),
            ..TopicCase::request("b", "user", "1")
        },
        TopicWriteRequest {
            description: Some(" ".into()),
            ..TopicCase::request("b", "user", "1")
        },
        TopicCase::request("b", "user", "a\0b"),
    ] {
        assert_eq!(
            code(write(&case.topics, &request)),
            Code::InvalidInput,
            "{request:?}"
        );
    }
    assert_eq!(
        code(write(
            &case.topics,
            &TopicCase::request("b", "user", &"x".repeat(2_000_000))
        )),
        Code::LimitExceeded
    );
    assert!(!case.index().contains("(b.md)"));
}

fn credentials_are_refused(case: &TopicCase) {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let request = TopicCase::request("a", "reference", &format!("token {secret}"));
    assert_eq!(code(write(&case.topics, &request)), Code::SecretFound);
    write(
        &case.topics,
        &TopicWriteRequest {
            secrets: SecretPolicy::Keep,
            ..request
        },
    )
    .expect("whoever says so keeps it");
    case.update("a", "token", "key")
        .expect("it was there before");
    case.write("b", "user", "token");
    assert_eq!(code(case.update("b", "token", &secret)), Code::SecretFound);
    assert_eq!(
        code(case.create(&path("c.txt"), &secret)),
        Code::SecretFound
    );
    assert_eq!(
        code(write(
            &case.topics,
            &TopicCase::request(&secret, "user", "tea")
        )),
        Code::SecretFound
    );
    let named = path(&format!("{secret}.md"));
    assert_eq!(code(case.create(&named, "tea")), Code::SecretFound);
    assert_eq!(code(case.rename(&path("b.md"), &named)), Code::SecretFound);
}

fn the_most_used_are_known(case: &TopicCase) {
    for name in ["a", "b", "c"] {
        case.write(name, "user", "1");
    }
    case.text("b").expect("it is there");
    case.text("b").expect("it is there");
    let uses = case.topics.store.usages();
    let counts: Vec<_> = ["a.md", "b.md", "d.md"]
        .iter()
        .map(|name| uses.get(*name).map(|used| used.count))
        .collect();
    assert_eq!(counts, [Some(1), Some(3), None]);
}
