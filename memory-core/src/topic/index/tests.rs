//! Claims about indexes.

use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;

use super::*;
use crate::topic::{Topic, TopicKind};

fn topic(name: &str, title: &str, kind: TopicKind, description: &str) -> Topic {
    Topic {
        name: name.parse().unwrap(),
        title: title.into(),
        description: description.into(),
        kind,
        said_kind: None,
        updated: None,
        size: 0,
        problem: None,
    }
}

fn many(count: usize, description: &str) -> Vec<Topic> {
    let kind = |number: usize| TopicKind::ALL[number % 5];
    (0..count).map(|number| topic(&format!("t{number:05}"), &format!("Topic {number}"), kind(number), description)).collect()
}

fn three() -> Vec<Topic> {
    vec![
        topic("feedback_testing", "Testing Conventions", TopicKind::Feedback, "Always run pytest before committing"),
        topic("project_auth", "Auth Refactor", TopicKind::Project, "Backend auth migration status"),
        topic("user_prefs", "User Preferences", TopicKind::User, "Editor settings and communication style"),
    ]
}

const ALONE: &str = "\
# Memory

## User
- [User Preferences](user_prefs.md) - Editor settings and communication style

## Feedback
- [Testing Conventions](feedback_testing.md) - Always run pytest before committing

## Project
- [Auth Refactor](project_auth.md) - Backend auth migration status
";

fn index(topics: &[Topic], former: &str) -> String {
    index_text(topics, &Uses::new(), Some(former))
}

#[test]
fn topics_stand_under_what_they_are_about_one_a_line() {
    assert_eq!(index(&three(), ""), ALONE);
    for former in [
        ALONE,
        "# Memory\n\n(empty)\n",
        "# Memory\n\n## Other\n- [Gone](gone.md) - is gone\n- (7 more files, less used: list the files to see them)\n",
    ] {
        assert_eq!(index(&three(), former), ALONE);
    }
    assert_eq!(index(&[], ALONE), "# Memory\n\n(empty)\n");
    assert_eq!(index(&three(), &ALONE.replace('\n', "\r\n")), ALONE.replace('\n', "\r\n"));
}

#[test]
fn lines_of_a_person_stay_where_they_are() {
    let former = "\u{feff}# My memory\n\nUse tabs.\n\n## User\nabout me\n- [Gone](gone.md) - is gone\n\n## Links\n- [Guide](guide.md) - theirs\n";
    let expected = "\u{feff}# My memory\n\nUse tabs.\n\n## User\nabout me\n- [User Preferences](user_prefs.md) - Editor settings and communication style\n\n\
                    ## Links\n- [Guide](guide.md) - theirs\n\n\
                    ## Feedback\n- [Testing Conventions](feedback_testing.md) - Always run pytest before committing\n\n\
                    ## Project\n- [Auth Refactor](project_auth.md) - Backend auth migration status\n";
    assert_eq!(index(&three(), former), expected);
    assert_eq!(index(&three(), expected), expected);
    assert_eq!(index(&[], former), former.replace("- [Gone](gone.md) - is gone\n", ""));
}

#[test]
fn a_topic_to_which_a_person_leads_needs_no_other_line() {
    let former = "# Notes\n- [Auth](project_auth.md) — ask Anna\n- [[user_prefs]]\n";
    assert_eq!(
        index(&three(), former),
        format!("{former}\n## Feedback\n- [Testing Conventions](feedback_testing.md) - Always run pytest before committing\n")
    );
}

#[test]
fn ten_thousand_topics_are_counted_and_the_most_used_shown() {
    let topics = many(10_000, &"a long description of many words ".repeat(20));
    let at = DateTime::UNIX_EPOCH;
    let uses: Uses = [("t09999.md", 3), ("t05005.md", 2)].map(|(name, count)| (name.to_owned(), Use { count, last: at })).into();
    let text = index_text(&topics, &uses, None);
    assert!(text.lines().count() < INDEX_LINES && text.len() < INDEX_BYTES);
    assert!(text.contains("(t09999.md)") && text.contains("(t05005.md)"));
    let shown = text.lines().filter(|line| line.starts_with("- [")).count();
    let counted = text.lines().filter_map(|line| line.strip_prefix("- (")?.split(' ').next()?.parse::<usize>().ok());
    assert_eq!((counted.sum::<usize>() + shown, text.lines().filter(|line| line.starts_with("- (")).count()), (10_000, 5));
    assert!(150 < shown, "{shown}");
    assert_eq!(index_text(&topics, &uses, Some(&text)), text);
}

#[test]
fn of_two_used_as_often_the_later_one_is_shown() {
    let topics = many(1000, "x");
    let days = |days| Use { count: 1, last: DateTime::UNIX_EPOCH + TimeDelta::days(days) };
    let uses: Uses = topics.iter().zip(0..).map(|(topic, at)| (topic.name.to_string(), days(at))).collect();
    let text = index_text(&topics, &uses, None);
    assert!(text.contains("(t00999.md)") && !text.contains("(t00000.md)"));
}

#[test]
fn what_a_person_wrote_beyond_the_limits_is_kept_in_the_file_and_cut_in_the_prompt() {
    let former = "a line of theirs\n".repeat(500);
    let text = index(&three(), &former);
    assert!(text.starts_with(&former));
    let shown = cut(&text);
    assert!(shown.lines().count() < INDEX_LINES && shown.len() < INDEX_BYTES);
    assert!(shown.ends_with(" more lines in MEMORY.md)\n"));
    assert!(cut(&"x".repeat(60_000)).len() < INDEX_BYTES);
}

#[test]
fn what_a_title_holds_cannot_end_its_line_or_link() {
    let odd = topic("a (1).md", "x](evil.md) - y\n## User", TopicKind::User, "one\u{1b}[31m\r\ntwo\u{202e}");
    assert_eq!(index(&[odd], ""), "# Memory\n\n## User\n- [x\\](evil.md) - y ## User](<a (1).md>) - one[31m two\n");
}

fn any_page() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# Memory".to_owned()),
        Just("## User".to_owned()),
        Just("## Project".to_owned()),
        Just("## Mine".to_owned()),
        Just("- [Gone](gone.md) - is gone".to_owned()),
        Just("- [Prefs](user_prefs.md) - old words".to_owned()),
        Just("- [Auth](project_auth.md) — by hand".to_owned()),
        Just("- (3 more files, less used: list the files to see them)".to_owned()),
        Just("(empty)".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        "theirs [a-z]{1,5}",
    ];
    let newline = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    (proptest::collection::vec(line, 0..12), newline, any::<bool>()).prop_map(|(lines, newline, is_ended)| {
        let text = lines.join(newline);
        if is_ended { text + newline } else { text }
    })
}

fn theirs(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.starts_with("theirs") || line.contains('—') || *line == "## Mine")
        .map(str::to_owned)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_page_keeps_what_is_a_persons_and_lists_each_topic_once(former in any_page()) {
        let topics = three();
        let text = index(&topics, &former);
        prop_assert_eq!(theirs(&text), theirs(&former));
        prop_assert_eq!(&index(&topics, &text), &text, "made anew it is the same");
        for topic in &topics {
            prop_assert!(text.contains(&format!("({})", topic.name)), "{} in {}", topic.name, text);
        }
        // Another set of topics leaves no line of this one behind.
        let without = index(&topics[..1], &text);
        prop_assert_eq!(theirs(&without), theirs(&former));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_topics_make_an_index_that_is_short(titles in proptest::collection::vec(("\\PC{0,120}", "\\PC{0,400}", 0..5_usize), 0..60)) {
        let topics: Vec<Topic> = titles.iter().enumerate()
            .map(|(at, (title, description, kind))| topic(&format!("n{at}"), title, TopicKind::ALL[*kind], description)).collect();
        let text = index(&topics, "");
        prop_assert!(text.lines().count() < INDEX_LINES && text.len() < INDEX_BYTES);
        prop_assert_eq!(&index(&topics, &text), &text);
    }
}
