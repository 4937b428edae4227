//! Tests of `memory when`.

use insta::assert_snapshot;

use crate::sandbox::Sandbox;

const NOW: &str = "2024-06-12T10:20:00+02:00";

#[test]
fn the_reading_of_a_text_is_shown_with_what_was_taken_for_granted() {
    let sandbox = Sandbox::new();
    let when = |text: &str| sandbox.run(&["when", text, "--now", NOW]);
    assert_snapshot!(when("call Anna tomorrow at 3pm"), @"2024-06-13T15:00:00+02:00	datetime	future	tomorrow at 3pm");
    assert_snapshot!(when("standup every Monday at 9"), @"
    2024-06-17T09:00:00+02:00	datetime	future	every Monday at 9
    --- stderr
    recurring; the next occurrence is shown
    AM or PM is not given; 09:00, not 21:00, is assumed.
    ");
    assert_snapshot!(when("call Anna on Friday or on 20 June"), @r#"
    2024-06-14T00:00:00+02:00	date	future	on Friday
    --- stderr
    "20 June" is not used
    "#);
    assert_snapshot!(when("in August"), @"
    2024-08-01T00:00:00+02:00	date	future	August
    --- stderr
    approximate; the start is shown
    ");
    assert_snapshot!(when("holiday June 20-22"), @"
    2024-06-20T00:00:00+02:00	date	future	June 20-22
    --- stderr
    until 2024-06-22T00:00:00+02:00
    ");
    assert_snapshot!(when("call Anna tomorrow at 25:00"), @r#"
    --- stderr
    no time found: "25:00" is not a time of day
    "#);
    assert_snapshot!(sandbox.run(&["when", "from 2pm to 4pm tomorrow", "--now", NOW, "--json"]), @r#"{"text":"2pm to 4pm tomorrow","at":"2024-06-13T14:00:00+02:00","end":"2024-06-13T16:00:00+02:00","span":[5,24],"kind":"datetime","relation":"future","repeats":false,"vague":false}"#);
    assert_snapshot!(sandbox.run(&["when", "June 31", "--now", NOW, "--json"]), @r#"{"text":null,"at":null,"span":null,"kind":null,"relation":null,"repeats":false,"vague":false,"impossible":"\"June 31\" is not a date"}"#);
    assert_snapshot!(when("Anna likes tea"), @"
    --- stderr
    no time found
    ");
    assert_snapshot!(sandbox.run(&["when", "下周二下午三点开会", "--now", NOW, "--json"]), @r#"{"text":"下周二下午三点","at":"2024-06-18T15:00:00+02:00","span":[0,21],"kind":"datetime","relation":"future","repeats":false,"vague":false,"assumed":"Weeks start on Monday; the day in next week is 2024-06-18."}"#);
    assert_snapshot!(sandbox.run(&["when", "Anna likes tea", "--now", NOW, "--json"]), @r#"{"text":null,"at":null,"span":null,"kind":null,"relation":null,"repeats":false,"vague":false}"#);
    assert_snapshot!(sandbox.run_with_input("in two weeks\n", &["when", "--now", NOW]), @"2024-06-26T00:00:00+02:00	date	future	in two weeks");
}

#[test]
fn the_zone_of_the_settings_decides() {
    let sandbox = Sandbox::new();
    sandbox.file(".memory/config.yaml", "timezone: Asia/Shanghai\n");
    assert_snapshot!(sandbox.run(&["when", "tonight at 8", "--now", NOW]), @"2024-06-12T20:00:00+08:00	datetime	future	tonight at 8");
    sandbox.file(
        ".memory/categories/inbox/late.md",
        "---\ncreated_at: 2024-05-07T20:00:00Z\n---\nlate tea\n",
    );
    let total = |from: &str, to: &str| {
        sandbox.run_json(&["list", "--all", "--from", from, "--to", to])["total"].clone()
    };
    assert_eq!(
        [
            total("2024-05-07", "2024-05-07"),
            total("8 May 2024", "2024年5月8日")
        ],
        [0, 1]
    );
    sandbox.write("early tea", &[]);
    assert_eq!(
        [total("yesterday", "today"), total("yesterday", "昨天")],
        [1, 0]
    );
    sandbox.file(".memory/config.yaml", "timezone: Mars/Olympus\n");
    assert_snapshot!(sandbox.run(&["when", "tonight at 8"]), @r#"
    --- stderr
    error[config_invalid]: ~/.memory/config.yaml: invalid value of timezone
      because: "Mars/Olympus" is not a time zone such as Europe/Berlin (a name from the IANA database)
    hint: correct or remove the line: every key has a default
    --- exit 2
    "#);
}

#[test]
fn each_line_gets_a_line_and_a_bad_one_stops_nothing() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"text":"in two weeks","now":"2024-06-12T10:20:00+02:00"}"#,
        "nonsense",
        "",
        r#"{"now":"2024-06-12T10:20:00Z"}"#,
        r#"{"text":"tomorrow","now":"soon"}"#,
        r#"{"text":"明天","now":"2024-06-12T10:20:00"}"#,
        r#"{"text":"nothing","now":null}"#,
    ];
    assert_snapshot!(sandbox.run_with_input(&lines.join("\n"), &["when", "--stdin"]), @r#"
    {"text":"in two weeks","at":"2024-06-26T00:00:00+02:00","span":[0,12],"kind":"date","relation":"future","repeats":false,"vague":false}
    {"error":{"code":"INVALID_INPUT","message":"invalid JSON: expected ident at line 1 column 2"}}
    {"error":{"code":"INVALID_INPUT","message":"the field text is missing"}}
    {"error":{"code":"INVALID_INPUT","message":"now: \"soon\" is not a time such as [time]+02:00 (RFC 3339)"}}
    {"text":"明天","at":"2024-06-13T00:00:00Z","span":[0,6],"kind":"date","relation":"future","repeats":false,"vague":false}
    {"text":null,"at":null,"span":null,"kind":null,"relation":null,"repeats":false,"vague":false}
    --- stderr
    error[invalid_input]: 3 invalid lines
    hint: all other lines were answered; see the errors in the output
    --- exit 2
    "#);
    assert_snapshot!(sandbox.run_with_input(lines[0], &["when", "--stdin", "--json"]), @r#"{"text":"in two weeks","at":"2024-06-26T00:00:00+02:00","span":[0,12],"kind":"date","relation":"future","repeats":false,"vague":false}"#);
    assert_snapshot!(sandbox.run_with_input("{}", &["when", "--stdin", "--json"]), @r#"
    {"error":{"code":"INVALID_INPUT","message":"the field text is missing"}}
    --- exit 2
    "#);
}
