//! Fuzzes jq filters and their input.
//!
//! An invalid filter is a syntax error. A valid filter respects its limits in a process of its own.

use std::fs::File;
use std::time::Duration;

use memory_core::json::JsonText;
use memory_store::jq::{
    JqChildCommand, JqError, JqInputMode, JqLimits, JqOutputFormat, JqProgram, JqRequest, JqSlots,
    run_bounded, serve_child,
};

/// Environment variable of the child process.
const CHILD: &str = "MEMORY_TEST_FUZZED_FILTER";

const BOUNDS: JqLimits = JqLimits {
    time: Duration::from_secs(2),
    memory: 64 << 20,
};

/// Runs a filter and its input, which a NUL separates, in a child process.
///
/// The child process runs this program, or its test `jq_child`, which calls [`serve_jq_child`].
pub fn jq(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (filter, input) = text
        .split_once('\0')
        .unwrap_or((&text, r#"{"a":[1,2.50,"x",null],"b":{"c":true}}"#));
    if let Err(error) = JqProgram::parse(filter) {
        assert!(matches!(error, JqError::Syntax { .. }), "{error}");
        return;
    }
    // The output of a test harness is discarded; the outputs of the filter are written to file descriptor 3.
    let line = "exec \"$0\" --exact jq_child 3>&1 >/dev/null";
    let program = std::env::current_exe().expect("this program");
    let helper = JqChildCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), line.into(), program.into()],
        variables: vec![(CHILD.into(), "1".into())],
    };
    let question = JqRequest {
        filter,
        input,
        on: JqInputMode::Each,
        form: JqOutputFormat::Compact,
    };
    let slots = JqSlots::new(BOUNDS.memory, u64::MAX, Vec::new());
    match run_bounded(&helper, &question, &BOUNDS, &slots) {
        Ok(answers) => {
            for answer in answers.into_iter().flatten() {
                assert!(answer.parse::<JsonText>().is_ok(), "{answer} is no JSON");
            }
        }
        Err(JqError::Timeout { .. } | JqError::TooLarge { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Serves a filter and exits, if this process is a child of [`jq`].
pub fn serve_jq_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    // The default panic hook, as in the child process of the real program.
    drop(std::panic::take_hook());
    let output = File::options().write(true).open("/dev/fd/3");
    let served = output.and_then(|output| serve_child(std::io::stdin().lock(), output));
    std::process::exit(i32::from(served.is_err()));
}
