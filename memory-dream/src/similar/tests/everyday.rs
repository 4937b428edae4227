//! Pairs of everyday notes that are duplicates, and pairs that only look similar.

use crate::similar::{TextDifference, compare_texts};

#[track_caller]
fn assert_duplicates(pairs: &[(&str, &str)]) {
    for (one, other) in pairs {
        let found = compare_texts(one, other);
        assert!(found.is_duplicate(), "{one:?} and {other:?}: {found:?}");
    }
}

/// Asserts that the pairs are not duplicates.
#[track_caller]
fn assert_differ(difference: TextDifference, pairs: &[(&str, &str)]) {
    for (one, other) in pairs {
        let found = compare_texts(one, other);
        assert!(
            !found.is_duplicate() && found.differences.contains(&difference),
            "{one:?} and {other:?}: {found:?}"
        );
    }
}

#[test]
fn case_width_blanks_and_punctuation_make_no_difference() {
    assert_duplicates(&[
        ("The user prefers dark mode", "the user prefers dark mode."),
        (
            "Deploy with `make ship` on the server",
            "deploy with  `make ship` on the SERVER!",
        ),
        ("Ｐｏｒｔ ８０８０ is taken", "port 8080 is taken"),
        ("用户喜欢深色模式", "用户喜欢深色模式。"),
        ("項目使用數據庫", "项目使用数据库"),
        ("用 Rust 写后端", "用Rust写后端"),
        ("tea", "Tea."),
        ("茶", "茶。"),
    ]);
}

#[test]
fn words_that_say_nothing_make_no_difference() {
    assert_duplicates(&[
        (
            "The project uses PostgreSQL 16 as its primary database",
            "Project uses PostgreSQL 16 as the primary database",
        ),
        (
            "User prefers tabs, and a line width of 100",
            "The user really prefers tabs and line widths of 100",
        ),
        (
            "Servers write logs to the bucket of the team",
            "The server writes logs to buckets of the team",
        ),
        (
            "Please run the linter in the workspace root",
            "Run the linter in the workspace root",
        ),
        (
            "We don't deploy to the cluster on Fridays",
            "We do not deploy to the cluster on Fridays",
        ),
        (
            "Backups are kept for three days",
            "Backups are kept for 3 days",
        ),
        ("备份保留三天再清理", "备份保留3天再清理"),
        ("项目的数据库是Postgres", "项目数据库是Postgres"),
        (
            "GitHub Actions runs the checks of the repository",
            "Github actions runs the checks of the repository",
        ),
    ]);
}

#[test]
fn a_text_within_a_longer_one_is_its_duplicate() {
    assert_duplicates(&[
        (
            "Anna likes green tea.",
            "Anna likes green tea. She lives in Oslo since 2019.",
        ),
        ("安娜喜欢喝绿茶。", "安娜喜欢喝绿茶。她2019年起住在奥斯陆。"),
        (
            "Use tabs in Go files.\nRun gofmt.",
            "# Go\n\nUse tabs in Go files. Never spaces.\n\n- Run gofmt.",
        ),
        (
            "Restart the worker after each deploy.",
            "Deploys take an hour. Restart the worker after each deploy! Then go home.",
        ),
        (
            "# Staging\nThe port is 80 there.",
            "# Production\nThe port is 81.\n\n# Staging\nThe port is 80 there. Nobody minds.",
        ),
    ]);
}

#[test]
fn a_detail_in_a_long_text_makes_no_difference() {
    let long = "The build machine in the basement compiles everything with cargo, caches artefacts in a bucket and tells the channel";
    assert_duplicates(&[(long, &format!("{long} afterwards"))]);
}

#[test]
fn numbers_dates_and_versions_make_a_difference() {
    assert_differ(
        TextDifference::Number,
        &[
            (
                "The proxy listens on port 8080",
                "The proxy listens on port 8081",
            ),
            (
                "The library needs version 1.2.3 of serde",
                "The library needs version 1.2.4 of serde",
            ),
            (
                "The meeting with Anna is at 10:30",
                "The meeting with Anna is at 11:30",
            ),
            (
                "The limit for uploads is 1.5 MB",
                "The limit for uploads is 15 MB",
            ),
            (
                "The freezer is set to -5 degrees",
                "The freezer is set to 5 degrees",
            ),
            ("The loan costs 5% a year", "The loan costs 5 a year"),
            (
                "Retry three times before giving up",
                "Retry four times before giving up",
            ),
            ("服务器端口是8080不要改", "服务器端口是8081不要改"),
            ("每隔三天备份一次数据", "每隔五天备份一次数据"),
            (
                "Move from Postgres 14 to Postgres 16",
                "Move from Postgres 16 to Postgres 14",
            ),
            (
                "Released on 2024-03-08 by the team",
                "Released on 2024-03-09 by the team",
            ),
        ],
    );
    assert_differ(
        TextDifference::Date,
        &[
            (
                "The standup is on Monday at noon",
                "The standup is on Tuesday at noon",
            ),
            ("the rent is due in march", "the rent is due in april"),
            ("明天下午去看牙医", "昨天下午去看牙医"),
            ("Anna still works for the bank", "Anna works for the bank"),
        ],
    );
}

#[test]
fn negations_and_opposites_make_a_difference() {
    assert_differ(
        TextDifference::Negation,
        &[
            (
                "Do rebase the shared branches",
                "Don't rebase the shared branches",
            ),
            (
                "Always commit the lock file to git",
                "Never commit the lock file to git",
            ),
            (
                "The cache is shared between workers",
                "The cache is not shared between workers",
            ),
            (
                "The user eats meat with onions",
                "The user eats meat without onions",
            ),
            (
                "Deploy on any day of the week",
                "Deploy on any day of the week except Friday",
            ),
            ("他喜欢喝咖啡加糖", "他不喜欢喝咖啡加糖"),
            ("部署之前要跑测试", "部署之前别跑测试"),
            ("项目没有使用缓存", "项目有使用缓存"),
        ],
    );
    assert_differ(
        TextDifference::Opposite,
        &[
            (
                "Turn the heating on at night",
                "Turn the heating off at night",
            ),
            (
                "Enable compression on the proxy",
                "Disable compression on the proxy",
            ),
            (
                "Run the migration before the deploy",
                "Run the migration after the deploy",
            ),
            ("睡觉之前打开空调", "睡觉之前关上空调"),
            ("上线之前通知客户", "上线之后通知客户"),
            ("The door of the lab is red", "The door of the lab is blue"),
        ],
    );
}

#[test]
fn names_persons_and_subjects_make_a_difference() {
    assert_differ(
        TextDifference::Subject,
        &[
            ("Anna likes tea with milk", "Ben likes tea with milk"),
            (
                "The server runs Debian in the cellar",
                "The backup server runs Debian in the cellar",
            ),
            ("王伟喜欢喝绿茶", "李伟喜欢喝绿茶"),
            (
                "Oslo is where the office is",
                "Bergen is where the office is",
            ),
        ],
    );
    assert_differ(
        TextDifference::Name,
        &[
            (
                "Yesterday Anna told Ben about the offer",
                "Yesterday Ben told Anna about the offer",
            ),
            (
                "The project is written in Rust and tested",
                "The project is written in Zig and tested",
            ),
            (
                "The token for GitHub expires soon",
                "The token for GitLab expires soon",
            ),
        ],
    );
    assert_differ(
        TextDifference::Person,
        &[
            (
                "For lunch my sister likes rice",
                "For lunch my brother likes rice",
            ),
            ("我姐姐住在上海浦东", "我妹妹住在上海浦东"),
            ("Today he prefers the train", "Today she prefers the train"),
        ],
    );
}

#[test]
fn code_paths_addresses_and_moods_make_a_difference() {
    assert_differ(
        TextDifference::Code,
        &[
            (
                "Run `make test` before each push",
                "Run `make check` before each push",
            ),
            (
                "Set `PORT` in the environment",
                "Set `port` in the environment",
            ),
            (
                "Use this:\n```\nlet a = 1;\n```",
                "Use this:\n```\nlet a = 2;\n```",
            ),
        ],
    );
    assert_differ(
        TextDifference::Literal,
        &[
            (
                "The settings live in ~/.config/app",
                "The settings live in ~/.local/app",
            ),
            (
                "The docs are at https://example.com/a",
                "The docs are at https://example.com/b",
            ),
            (
                "Always build with --release on this machine",
                "Always build with --debug on this machine",
            ),
            (
                "The entry point is main_loop here",
                "The entry point is event_loop here",
            ),
            (
                "See [[Alpha]] for how it works",
                "See [[Beta]] for how it works",
            ),
        ],
    );
    assert_differ(
        TextDifference::Mood,
        &[
            (
                "The build must finish in an hour",
                "The build may finish in an hour",
            ),
            (
                "The office will move to Oslo",
                "The office did move to Oslo",
            ),
        ],
    );
}

#[test]
fn short_texts_are_duplicates_of_their_equals_alone() {
    for (one, other) in [
        ("use tabs", "use the tabs"),
        ("tea", "green tea"),
        ("喝茶", "喝茶吧"),
        ("Use tabs.", "Use tabs. Never use spaces there."),
    ] {
        assert!(
            !compare_texts(one, other).is_duplicate(),
            "{one:?} and {other:?}"
        );
    }
}

#[test]
fn a_question_is_no_statement_and_the_past_is_not_now() {
    for (one, other) in [
        (
            "The team uses Postgres for billing",
            "The team used Postgres for billing",
        ),
        ("Anna is the head of sales", "Anna was the head of sales"),
        (
            "The user likes tea with milk",
            "The user likes coffee with milk",
        ),
        ("数据库放在北京机房", "数据库放在上海机房"),
        (
            "Is port 8080 of the proxy open?",
            "Port 8080 of the proxy is open.",
        ),
        (
            "The book on the desk is by the team",
            "The book on the desk is for the team",
        ),
        (
            "The team is at the university downtown",
            "The team is at the universe downtown",
        ),
        (
            "Never do:\n- force-push to it",
            "Always do:\n- force-push to it",
        ),
    ] {
        assert!(
            !compare_texts(one, other).is_duplicate(),
            "{one:?} and {other:?}"
        );
    }
}
