//! Fuzzes jq filters and their input.
//!
//! An invalid filter is a syntax error. A valid filter respects its limits in a process of its own.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use memory_core::json::JsonText;
use memory_store::jq::{
    JqChildCommand, JqError, JqInputMode, JqLimits, JqOutputFormat, JqProgram, JqRequest,
    run_bounded, serve_child,
};

/// The argument that starts the child process for filters.
const CHILD: &str = "serve-child";

const BOUNDS: JqLimits = JqLimits {
    time: Duration::from_secs(2),
    memory: 64 << 20,
};

fuzz_target!(
    init: {
        if std::env::args().nth(1).as_deref() == Some(CHILD) {
            // The default panic hook, as in the child process of the real program.
            drop(std::panic::take_hook());
            let served = serve_child(std::io::stdin().lock(), std::io::stdout());
            std::process::exit(i32::from(served.is_err()));
        }
    },
    |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let (filter, input) = text.split_once('\0').unwrap_or((&text, r#"{"a":[1,2.50,"x",null],"b":{"c":true}}"#));
        if let Err(error) = JqProgram::parse(filter) {
            assert!(matches!(error, JqError::Syntax { .. }), "{error}");
            return;
        }
        let helper = JqChildCommand {
            program: std::env::current_exe().expect("this program"),
            arguments: vec![CHILD.into()],
            variables: Vec::new(),
        };
        let question = JqRequest { filter, input, on: JqInputMode::Each, form: JqOutputFormat::Compact };
        match run_bounded(&helper, &question, &BOUNDS) {
            Ok(answers) => {
                for answer in answers.into_iter().flatten() {
                    assert!(answer.parse::<JsonText>().is_ok(), "{answer} is no JSON");
                }
            }
            Err(JqError::Timeout { .. } | JqError::TooLarge { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
);
