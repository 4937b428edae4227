//! Tests with real child processes, which run this test binary.

use std::time::Duration;

use super::*;
use crate::jq::serve_child;
use crate::jq::wire::{JqInputMode, JqOutputFormat};

const SERVES: &str = "MEMORY_TEST_SERVES_FILTERS";

/// This is not a test but the child process of the tests below.
///
/// The output of the test harness is discarded; the outputs of the filter are written to file descriptor 3.
#[test]
fn child() {
    if std::env::var_os(SERVES).is_some() {
        let out = std::fs::File::options()
            .write(true)
            .open("/dev/fd/3")
            .expect("the shell has opened it");
        serve_child(std::io::stdin(), out).expect("somebody reads the answer");
    }
}

fn helper() -> JqChildCommand {
    let line = format!("{SERVES}=1 exec \"$0\" --exact \"$1\" 3>&1 >/dev/null");
    let (_, module) = module_path!().split_once("::").expect("it is in a crate");
    let program = std::env::current_exe().expect("it runs");
    let arguments = [
        "-c".into(),
        line.into(),
        program.into_os_string(),
        format!("{module}::child").into(),
    ];
    JqChildCommand {
        program: "/bin/sh".into(),
        arguments: arguments.into(),
        variables: Vec::new(),
    }
}

fn run_filter(filter: &str, input: &str, bounds: &JqLimits) -> Result<Vec<JqResult>, JqError> {
    run_bounded(
        &helper(),
        &JqRequest {
            filter,
            input,
            on: JqInputMode::Each,
            form: JqOutputFormat::Compact,
        },
        bounds,
        &slots(),
    )
}

/// Returns slots that no other test takes.
fn slots() -> JqSlots {
    JqSlots::of_process(1, &[])
}

/// Returns limits that suffice on a slow machine.
fn generous_limits() -> JqLimits {
    JqLimits {
        time: Duration::from_mins(2),
        ..JqLimits::default()
    }
}

#[test]
fn outputs_arrive_one_by_one() {
    let answers = run_filter(
        ".[] | ., 1 / .",
        "[\"two\\nlines\"] [4]",
        &generous_limits(),
    )
    .unwrap();
    let lines: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_deref().map_err(ToString::to_string))
        .collect();
    let error = "number (1) and string (\"two\\nlines\") cannot be divided".to_owned();
    assert_eq!(
        lines,
        [Ok("\"two\\nlines\""), Err(error), Ok("4"), Ok("0.25")]
    );
}

#[test]
fn a_mistake_is_the_answer_to_all() {
    assert!(matches!(
        run_filter("1 +", "1 2 3", &generous_limits()),
        Err(JqError::Syntax { .. })
    ));
}

#[test]
fn ten_megabytes_pass_both_ways() {
    let input = format!("[{}]", vec!["\"0123456789\""; 800_000].join(","));
    let answers = run_filter("., length", &input, &generous_limits()).unwrap();
    assert!(answers == [Ok(input), Ok("800000".to_owned())]);
}

#[test]
fn an_endless_filter_is_stopped() {
    let bounds = JqLimits {
        time: Duration::from_millis(300),
        ..JqLimits::default()
    };
    assert_eq!(
        run_filter("def f: f; f", "1", &bounds),
        Err(JqError::Timeout { limit: bounds.time })
    );
}

#[test]
fn a_filter_that_takes_too_much_takes_nobody_along() {
    if cfg!(portable_system) {
        // The portable implementation does not limit memory.
        return;
    }
    let limits = JqLimits {
        memory: 32 << 20,
        ..generous_limits()
    };
    for filter in [
        "[range(1e12)]",
        "def f: 1 + f; f",
        "range(1e12)",
        "\"x\" * 1e9",
        "[limit(1e9; repeat(\"x\" * 100))]",
    ] {
        assert_eq!(
            run_filter(filter, "1", &limits),
            Err(JqError::TooLarge {
                limit: limits.memory
            }),
            "{filter}"
        );
    }
}

#[test]
fn who_does_not_serve_is_named() {
    let question = JqRequest {
        filter: ".",
        input: "1",
        on: JqInputMode::Each,
        form: JqOutputFormat::Compact,
    };
    for program in ["/nowhere/at/all", "/bin/echo"] {
        let helper = JqChildCommand {
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
        };
        assert!(
            matches!(
                run_bounded(&helper, &question, &generous_limits(), &slots()),
                Err(JqError::Process { .. })
            ),
            "{program}"
        );
    }
}
