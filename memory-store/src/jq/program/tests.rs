//! Tests of filters through the public functions.

use super::*;

/// Returns each output on one line, and the errors.
fn run(filter: &str, input: &str) -> Vec<String> {
    let program = JqProgram::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
    let outputs = program.run(input).map(|output| match output {
        Ok(output) => output.print(JqOutputFormat::Compact),
        Err(error) => format!("error: {error}"),
    });
    outputs.collect()
}

fn mistake(filter: &str) -> String {
    JqProgram::parse(filter)
        .err()
        .map_or_else(|| "compiled".to_owned(), |error| error.to_string())
}

#[test]
fn numbers_keep_their_digits_and_objects_the_order_of_their_keys() {
    let text = r#"{"z":[1e1000,0.1,9007199254740993,100000000000000000001],"a":1.000}"#;
    assert_eq!(run(".", text), [text.replace("1e1000", "1E+1000")]);
    let changed = r#"{"z":100000000000000000001,"a":2,"m":null}"#;
    assert_eq!(
        run(".a = 2 | .m = null", r#"{"z":100000000000000000001,"a":1}"#),
        [changed]
    );
    assert_eq!(run("keys", r#"{"z":1,"a":2}"#), [r#"["a","z"]"#]);
}

#[test]
fn updates_are_jq_s() {
    assert_eq!(
        run(".items += [\"new\"]", r#"{"items":["old"]}"#),
        [r#"{"items":["old","new"]}"#]
    );
    assert_eq!(run(".count += 1", "{}"), [r#"{"count":1}"#]);
    assert_eq!(
        run("(.[] | select(. > 2)) |= empty", "[1,3,2,4]"),
        ["[1,2]"]
    );
    assert_eq!(run(".a.b |= empty", "null"), ["null"]);
    assert_eq!(run(".a = (1, 2)", "{}"), [r#"{"a":1}"#, r#"{"a":2}"#]);
    assert_eq!(run("del(.[0, 2], .[-1:])", "[5,6,7,8]"), ["[6]"]);
    assert_eq!(
        run("[4] | to_entries", "null"),
        [r#"[{"key":0,"value":4}]"#]
    );
    assert_eq!(
        run("to_entries", r#"{"b":1,"a":2}"#),
        [r#"[{"key":"b","value":1},{"key":"a","value":2}]"#]
    );
    assert_eq!(run(".[2:] |= map(. * 2)", "[1,2,3,4]"), ["[1,2,6,8]"]);
}

#[test]
fn the_right_side_is_the_outer_loop() {
    assert_eq!(run("[(3, 5) * (1, 10)]", "null"), ["[3,5,30,50]"]);
    assert_eq!(
        run(".a + .b", "1"),
        ["error: Cannot index number with string (\"b\")"]
    );
    assert_eq!(
        run(r#"["\(3, 5)-\(1, 10)"]"#, "null"),
        [r#"["3-1","5-1","3-10","5-10"]"#]
    );
    assert_eq!(
        run("[{a: (3, 5), b: (1, 10)} | [.a, .b]]", "null"),
        ["[[3,1],[3,10],[5,1],[5,10]]"]
    );
}

#[test]
fn patterns_make_place_for_the_next() {
    let filter = "[.[] as [$first] ?// {first: $first} ?// $other | [$first, $other]]";
    assert_eq!(
        run(filter, r#"[[7],{"first":8},9]"#),
        ["[[7,null],[8,null],[null,9]]"]
    );
}

#[test]
fn folds_go_on_from_the_last_output() {
    assert_eq!(run("reduce (1, 2, 3) as $x (0; ., . + $x)", "null"), ["6"]);
    assert_eq!(run("reduce 1 as $x (0; empty)", "null"), ["null"]);
    assert_eq!(
        run(
            "[foreach (1, 2) as $x (0; . + $x, . * 10; [$x, .])]",
            "null"
        ),
        ["[[1,1],[1,0],[2,2],[2,0]]"]
    );
}

#[test]
fn errors_are_jq_s() {
    let pairs = [
        (".a", "5", "Cannot index number with string (\"a\")"),
        (".[]", "null", "Cannot iterate over null (null)"),
        (". + 1", "{}", "object ({}) and number (1) cannot be added"),
        (
            "1 / .",
            "0",
            "number (1) and number (0) cannot be divided because the divisor is zero",
        ),
        ("path(1)", "null", "Invalid path expression with result 1"),
        ("error({a: 1})", "null", "(not a string): {\"a\":1}"),
        ("{(.): 1}", "3", "Cannot use number (3) as object key"),
    ];
    for (filter, input, message) in pairs {
        assert_eq!(
            run(filter, input),
            [format!("error: {message}")],
            "{filter}"
        );
    }
    assert_eq!(
        run("try error(\"x\") catch ., (1 | error?)", "null"),
        ["\"x\""]
    );
}

#[test]
fn an_error_ends_one_input_and_not_the_next() {
    assert_eq!(
        run("1 / .", "2 0 4"),
        [
            "0.5",
            "error: number (1) and number (0) cannot be divided because the divisor is zero",
            "0.25"
        ]
    );
    assert_eq!(
        run(".", "1 {\"a\" 2"),
        [
            "1",
            "error: Objects must consist of key:value pairs at line 1, column 8"
        ]
    );
    assert_eq!(run("halt_error", "\"bye\" 2"), ["error: bye"]);
    assert_eq!(run("., halt", "1 2"), ["1"]);
}

#[test]
fn inputs_are_shared_with_the_filter() {
    assert_eq!(run("[., input]", "1 2 3 4"), ["[1,2]", "[3,4]"]);
    let sum = JqProgram::parse("[inputs] | add").unwrap();
    let outputs: Vec<_> = sum
        .run_on_null("1 2 3")
        .map(|output| output.unwrap().print(JqOutputFormat::Compact))
        .collect();
    assert_eq!(outputs, ["6"]);
    assert_eq!(run("input", "1"), ["error: No more inputs"]);
}

#[test]
fn nothing_outside_is_seen() {
    assert_eq!(run("[env, $ENV, input_filename]", "1"), ["[{},{},null]"]);
    assert!(mistake("import \"a\" as a; 1").starts_with("modules are not supported"));
    assert!(mistake("include \"a\"; 1").starts_with("modules are not supported"));
}

#[test]
fn a_mistake_is_shown_where_it_is() {
    assert_eq!(
        mistake("1 +\n  foo(2)"),
        "foo/1 is not defined at <top-level>, line 2, column 3:\n      foo(2)\n      ^^^"
    );
    assert_eq!(
        mistake(". as [] | 1"),
        "syntax error, unexpected ']' at <top-level>, line 1, column 7:\n    . as [] | 1\n          ^"
    );
    assert!(mistake("break $out").starts_with("$*label-out is not defined"));
    for filter in [
        "",
        "1 == 1 == 1",
        "{1: 2}",
        "\"\\v\"",
        "if 1 then 2",
        "}",
        ".a.1",
        "reduce 1 as $x (0)",
    ] {
        assert_eq!(mistake(filter) == "compiled", filter.is_empty(), "{filter}");
    }
}

#[test]
fn a_deep_filter_is_a_mistake_and_no_crash() {
    let wrapped =
        |open: &str, close: &str, times: usize| open.repeat(times) + "1" + &close.repeat(times);
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a:", "}"),
        ("-", ""),
        ("1+", ""),
        ("1,", ""),
        ("1|", ""),
        ("try ", ""),
        ("1//", ""),
    ] {
        let filter = wrapped(open, close, 100_000);
        assert!(mistake(&filter).contains("too"), "{open}");
        assert_ne!(run(&wrapped(open, close, 150), "null"), [""; 0], "{open}");
    }
    assert!(mistake(&format!(".{}", "[0]".repeat(100_000))).contains("too many"));
}

#[test]
fn every_definition_compiles() {
    for (name, arity) in definitions::names() {
        let args = vec!["."; arity].join("; ");
        let call = if arity == 0 {
            name
        } else {
            format!("{name}({args})")
        };
        assert_eq!(mistake(&call), "compiled", "{call}");
    }
}

#[test]
fn every_builtin_is_called_as_it_is_listed() {
    let listed = run(
        "builtins | map(select(test(\"^(gsub|tostream|limit|getpath|ltrimstr|pick)/\"))) | length",
        "null",
    );
    assert_eq!(listed, ["7"]);
}

/// Generates JSON text as jq prints it, so that printing the parsed text gives the same text.
fn json() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|bool| bool.to_string()),
        "-?[1-9][0-9]{0,25}",
        "-?[1-9][0-9]{0,20}\\.[0-9]{1,20}",
        "[1-9]\\.[0-9]{1,9}E\\+[1-9][0-9]{2,5}",
        "[a-zß語 ]{0,9}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|values| format!("[{}]", values.join(","))),
            proptest::collection::btree_map("[a-z]{1,4}", inner, 0..5).prop_map(|map| {
                // The keys are not sorted, to test that their order is preserved.
                let fields: Vec<_> = map
                    .iter()
                    .rev()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn identity_keeps_every_digit_and_the_order(text in json()) {
        proptest::prop_assert_eq!(run(".", &text), [text]);
    }

    #[test]
    fn json_in_a_string_is_the_same_json(text in json()) {
        proptest::prop_assert_eq!(run("tojson | fromjson", &text), [text]);
    }

    #[test]
    fn a_value_is_put_together_from_its_paths(text in json()) {
        let filter = ". as $v | reduce paths as $p (if type == \"object\" then {} elif type == \"array\" then [] else . end; setpath($p; $v | getpath($p))) == $v";
        proptest::prop_assert_eq!(run(filter, &text), ["true"]);
    }

    #[test]
    fn a_stream_becomes_the_value_again(text in json()) {
        proptest::prop_assert_eq!(run("fromstream(tostream)", &text), [text]);
    }

    #[test]
    fn sorting_is_an_order(texts in proptest::collection::vec(json(), 0..6)) {
        let array = format!("[{}]", texts.join(","));
        proptest::prop_assert_eq!(run("sort as $s | [range(1; $s | length) | $s[. - 1] <= $s[.]] | all", &array), ["true"]);
        proptest::prop_assert_eq!(run("(sort | unique) == unique", &array), ["true"]);
    }

    #[test]
    fn no_program_makes_the_parser_panic(filter in "[.a-c|,()\\[\\]{}\"\\\\$:;?/ 0-9@=+*-]{0,30}") {
        let _ = JqProgram::parse(&filter);
    }
}
