//! Tests of index generation.

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
        is_unreadable: false,
    }
}

fn many(count: usize, description: &str) -> Vec<Topic> {
    let kind = |number: usize| TopicKind::ALL[number % 5];
    (0..count)
        .map(|number| {
            topic(
                &format!("t{number:05}"),
                &format!("Topic {number}"),
                kind(number),
                description,
            )
        })
        .collect()
}

fn three() -> Vec<Topic> {
    vec![
        topic(
            "feedback_testing",
            "Testing Conventions",
            TopicKind::Feedback,
            "Always run pytest before committing",
        ),
        topic(
            "project_auth",
            "Auth Refactor",
            TopicKind::Project,
            "Backend auth migration status",
        ),
        topic(
            "user_prefs",
            "User Preferences",
            TopicKind::User,
            "Editor settings and communication style",
        ),
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

/// Returns the index based on one that another program wrote.
fn index(topics: &[Topic], former: &str) -> TopicIndex {
    made(
        topics,
        &TopicIndex {
            text: former.into(),
            ours: Vec::new(),
        },
    )
}

fn made(topics: &[Topic], former: &TopicIndex) -> TopicIndex {
    index_text(topics, &TopicUsages::new(), Some(former))
}

/// Returns an index with one edit.
fn edited(index: &TopicIndex, from: &str, to: &str) -> TopicIndex {
    assert!(index.text.contains(from), "{from:?} in {}", index.text);
    TopicIndex {
        text: index.text.replacen(from, to, 1),
        ours: index.ours.clone(),
    }
}

#[test]
fn topics_stand_under_what_they_are_about_one_a_line() {
    let all = index(&three(), "");
    assert_eq!(all.text, ALONE);
    assert_eq!(made(&three(), &all), all);
    let fewer = made(&three()[..1], &all);
    assert_eq!(
        fewer.text,
        "# Memory\n\n## Feedback\n- [Testing Conventions](feedback_testing.md) - Always run pytest before committing\n"
    );
    assert_eq!(made(&three(), &fewer), all);
    let none = made(&[], &all);
    assert_eq!(none.text, "# Memory\n\n(empty)\n");
    assert_eq!(made(&three(), &none), all);
    let long = TopicIndex {
        text: ALONE.replace('\n', "\r\n"),
        ..all
    };
    assert_eq!(made(&three(), &long), long);
}

#[test]
fn lines_of_a_person_stay_where_they_are() {
    let former = "\u{feff}# My memory\n\nUse tabs.\n\n## User\nabout me\n- [Gone](gone.md) - is gone\n\n## Links\n- [Guide](guide.md) - theirs\n";
    let expected = "\u{feff}# My memory\n\nUse tabs.\n\n## User\n- [User Preferences](user_prefs.md) - Editor settings and communication style\n\n\
                    about me\n- [Gone](gone.md) - is gone\n\n\
                    ## Links\n- [Guide](guide.md) - theirs\n\n\
                    ## Feedback\n- [Testing Conventions](feedback_testing.md) - Always run pytest before committing\n\n\
                    ## Project\n- [Auth Refactor](project_auth.md) - Backend auth migration status\n";
    let all = index(&three(), former);
    assert_eq!(all.text, expected);
    assert_eq!(made(&three(), &all), all);
    assert_eq!(
        made(&[], &all).text,
        former,
        "and not an empty line of ours stays"
    );
}

#[test]
fn what_we_did_not_write_is_never_taken_for_ours() {
    for former in [
        "# Memory\n\n## User\n- [x](y.md) - z\n",
        "# Memory\n\n(empty)\n\nmine\n",
        "## Project\n\n## Other\n- (3 more files, less used: list the files to see them)\n",
        "# Memory\n",
        "text\n\n\n",
    ] {
        assert_eq!(index(&[], former).text, former);
        let all = index(&three(), former);
        assert_eq!(made(&[], &all).text, former);
    }
    let all = index(&three(), "");
    for (from, to) in [
        ("migration status", "migration status  <- see also wiki"),
        (
            "## Project\n- [Auth Refactor](project_auth.md)",
            "## Mine\n- [Auth Refactor](project_auth.md)",
        ),
        ("# Memory\n", "# Memory\n(empty)\n"),
        ("## User\n", "## User \n"),
    ] {
        let next = made(&[], &edited(&all, from, to));
        let kept = to.lines().next().unwrap_or_default();
        assert!(
            next.text.contains(kept.trim_start_matches("- ")),
            "{to:?} in {}",
            next.text
        );
    }
    // An edited entry belongs to the user, and remains the only one of its topic.
    let next = made(
        &three(),
        &edited(&all, "Backend auth", "The backend's auth"),
    );
    assert_eq!(
        next.text,
        ALONE.replace("Backend auth", "The backend's auth")
    );
    // A copy of a generated entry belongs to the user.
    let line = "- [Auth Refactor](project_auth.md) - Backend auth migration status\n";
    let next = made(
        &[],
        &edited(
            &all,
            "# Memory\n",
            &format!("# Memory\n\nAsk Anna:\n{line}"),
        ),
    );
    assert_eq!(next.text, format!("# Memory\n\nAsk Anna:\n{line}"));
}

#[test]
fn nothing_of_ours_stands_in_code_or_comments() {
    let former = "```\n## User\n- [User Preferences](user_prefs.md) - Editor settings and communication style\n```\n<!--\n## Project\n-->\n";
    assert_eq!(
        index(&three(), former).text,
        format!("{former}{}", &ALONE["# Memory\n".len()..])
    );
    // An unterminated comment hides all that follows, so the generated lines precede it.
    let all = index(&three(), "mine\n<!-- open\n## User\n");
    assert_eq!(
        all.text,
        format!(
            "mine\n{}\n<!-- open\n## User\n",
            &ALONE["# Memory\n".len()..]
        )
    );
    assert_eq!(made(&three(), &all), all);
    assert_eq!(made(&[], &all).text, "mine\n<!-- open\n## User\n");
}

#[test]
fn a_topic_to_which_a_person_leads_needs_no_other_line() {
    let former = "# Notes\n- [Auth](project_auth.md) — ask Anna\n- [[user_prefs]]\n";
    assert_eq!(
        index(&three(), former).text,
        format!(
            "{former}\n## Feedback\n- [Testing Conventions](feedback_testing.md) - Always run pytest before committing\n"
        )
    );
}

#[test]
fn the_line_of_a_file_that_cannot_be_read_stays_as_it_is() {
    let all = index(&three(), "");
    let mut topics = three();
    topics[2] = Topic {
        is_unreadable: true,
        ..topic("user_prefs", "user_prefs", TopicKind::Other, "user_prefs")
    };
    assert_eq!(made(&topics, &all), all);
    assert!(
        index(&topics, "")
            .text
            .ends_with("\n## Other\n- [user_prefs](user_prefs.md) - user_prefs\n")
    );
}

#[test]
fn ten_thousand_topics_are_counted_and_the_most_used_shown() {
    let topics = many(10_000, &"a long description of many words ".repeat(20));
    let at = DateTime::UNIX_EPOCH;
    let uses: TopicUsages = [("t09999.md", 3), ("t05005.md", 2)]
        .map(|(name, count)| (name.to_owned(), TopicUsage { count, last: at }))
        .into();
    let index = index_text(&topics, &uses, None);
    let text = &index.text;
    assert!(text.lines().count() < INDEX_LINES && text.len() < INDEX_BYTES);
    assert!(text.contains("(t09999.md)") && text.contains("(t05005.md)"));
    let shown = text.lines().filter(|line| line.starts_with("- [")).count();
    let counted = text.lines().filter_map(|line| {
        line.strip_prefix("- (")?
            .split(' ')
            .next()?
            .parse::<usize>()
            .ok()
    });
    assert_eq!(
        (
            counted.sum::<usize>() + shown,
            text.lines().filter(|line| line.starts_with("- (")).count()
        ),
        (10_000, 5)
    );
    assert!(150 < shown, "{shown}");
    assert_eq!(index_text(&topics, &uses, Some(&index)), index);
}

#[test]
fn of_two_used_as_often_the_later_one_is_shown() {
    let topics = many(1000, "x");
    let days = |days| TopicUsage {
        count: 1,
        last: DateTime::UNIX_EPOCH + TimeDelta::days(days),
    };
    let uses: TopicUsages = topics
        .iter()
        .zip(0..)
        .map(|(topic, at)| (topic.name.to_string(), days(at)))
        .collect();
    let text = index_text(&topics, &uses, None).text;
    assert!(text.contains("(t00999.md)") && !text.contains("(t00000.md)"));
}

#[test]
fn lines_of_a_person_make_ours_fewer_down_to_one() {
    let topics = many(50, "x");
    let index_of = |lines: usize| index(&topics, &"a line of theirs\n".repeat(lines)).text;
    for lines in [100, 150, 170] {
        let text = index_of(lines);
        assert!(text.lines().count() < INDEX_LINES, "{lines}: {text}");
        assert!(text.contains("\n- ["), "{lines}");
    }
    for lines in [190, 197, 300] {
        assert!(
            index_of(lines)
                .ends_with("theirs\n\n- (50 more files, less used: list the files to see them)\n"),
            "{lines}"
        );
    }
}

#[test]
fn what_a_person_wrote_beyond_the_limits_is_kept_in_the_file_and_cut_in_the_prompt() {
    let former = "a line of theirs\n".repeat(500);
    let index = index(&three(), &former);
    assert!(index.text.starts_with(&former));
    let shown = truncate_index(&index);
    assert!(shown.lines().count() < INDEX_LINES && shown.len() < INDEX_BYTES);
    assert!(shown.starts_with("a line of theirs\na line of theirs\n"));
    assert!(
        shown.ends_with(
            " more lines in MEMORY.md)\n\n- (3 more files, less used: list the files to see them)\n"
        ),
        "{shown}"
    );
    let index = self::index(&three(), &"x".repeat(60_000));
    assert!(truncate_index(&index).starts_with("(1 more line in MEMORY.md)\n"));
    // The generated lines are not cut when the user adds lines before them.
    let grown = edited(
        &self::index(&three(), ""),
        "# Memory\n",
        &format!("# Memory\n{}", "theirs\n".repeat(300)),
    );
    let shown = truncate_index(&grown);
    assert!(
        shown.contains("(user_prefs.md)")
            && shown.contains(" more lines in MEMORY.md)\n")
            && shown.lines().count() < INDEX_LINES
    );
}

#[test]
fn what_a_title_holds_cannot_end_its_line_or_link() {
    let odd = topic(
        "a (1).md",
        "x](evil.md) - y\n## User",
        TopicKind::User,
        "one\u{1b}[31m\r\ntwo\u{202e}",
    );
    assert_eq!(
        index(&[odd], "").text,
        "# Memory\n\n## User\n- [x\\](evil.md) - y ## User](<a (1).md>) - one[31m two\n"
    );
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
        Just("```".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just(String::new()),
        Just("  ".to_owned()),
        "theirs [a-z]{1,5}",
    ];
    let newline = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    (
        proptest::collection::vec(line, 0..12),
        newline,
        any::<bool>(),
    )
        .prop_map(|(lines, newline, is_ended)| {
            let text = lines.join(newline);
            if is_ended { text + newline } else { text }
        })
}

proptest! {
    #[test]
    fn any_page_of_somebody_else_is_kept_whole(former in any_page()) {
        let topics = three();
        let index = index(&topics, &former);
        prop_assert_eq!(&made(&topics, &index), &index, "made anew it is the same");
        let theirs: Vec<&str> = former.lines().filter(|line| !line.trim().is_empty()).collect();
        let mut all = index.text.lines();
        prop_assert!(theirs.iter().all(|line| all.any(|own| own == *line)), "{} in {}", former, index.text);
        for topic in &topics {
            prop_assert!(index.text.contains(&format!("({})", topic.name)), "{} in {}", topic.name, index.text);
        }
        // Removing the topics removes all of their lines.
        let none = made(&[], &made(&topics[..1], &index));
        if !theirs.is_empty() {
            prop_assert_eq!(none.text.trim_end(), former.trim_end());
        }
    }
}

proptest! {
    #[test]
    fn any_topics_make_an_index_that_is_short(titles in proptest::collection::vec(("\\PC{0,120}", "\\PC{0,400}", 0..5_usize), 0..60)) {
        let topics: Vec<Topic> = titles.iter().enumerate()
            .map(|(at, (title, description, kind))| topic(&format!("n{at}"), title, TopicKind::ALL[*kind], description)).collect();
        let index = index(&topics, "");
        prop_assert!(index.text.lines().count() < INDEX_LINES && index.text.len() < INDEX_BYTES);
        prop_assert_eq!(&made(&topics, &index), &index);
    }
}
