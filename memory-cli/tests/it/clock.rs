//! The program on a machine whose clock is before 1970 or after 9999.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

/// Replaces the clock of the system by the seconds in `MEMORY_TEST_CLOCK`.
const SHIFT: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    char *seconds = getenv("MEMORY_TEST_CLOCK");
    if (result == 0 && clock == CLOCK_REALTIME && seconds) time->tv_sec = strtoll(seconds, 0, 10);
    return result;
}
"#;

const WRONG_CLOCKS: [i64; 5] = [i64::MIN, -62_167_219_201, -1, 253_402_300_800, i64::MAX];

/// The first and the last second at which a home is changed.
const EXTREME_CLOCKS: [i64; 2] = [0, 253_402_300_799];

/// Builds the library that replaces the clock.
pub(crate) fn build_shift(folder: &Path) -> String {
    build_library(folder, SHIFT)
}

/// Builds a library for `LD_PRELOAD` from a program in C.
pub(crate) fn build_library(folder: &Path, program: &str) -> String {
    let (source, library) = (folder.join("preload.c"), folder.join("preload.so"));
    fs::write(&source, program).expect("a source");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(built.expect("a C compiler").success());
    library.to_str().expect("a path of this test").to_owned()
}

#[test]
fn under_a_wrong_clock_a_home_is_read_and_not_changed() {
    let sandbox = Sandbox::new();
    let id = sandbox.write("The user prefers tea", &[]);
    sandbox.run(&["bank", "write", "b", "k", "1"]);
    sandbox.run(&["remind", "water the beans", "--at", "9999-12-31"]);
    let folder = tempfile::tempdir().expect("a folder");
    let library = build_shift(folder.path());
    let notes = || {
        let mut content = sandbox.home_content();
        content.retain(|name, _| {
            let extension = Path::new(name).extension();
            extension.is_some_and(|extension| extension == "md" || extension == "jsonl")
        });
        content
    };
    let before = notes();
    let run_at = |seconds: i64, arguments: &[&str]| {
        let seconds = seconds.to_string();
        let variables = [
            ("LD_PRELOAD", library.as_str()),
            ("MEMORY_TEST_CLOCK", &seconds),
        ];
        let output = sandbox.run_with_all(&variables, arguments);
        assert!(
            !output.contains("panicked"),
            "{seconds} {arguments:?}: {output}"
        );
        output
    };
    for seconds in WRONG_CLOCKS {
        let run = |arguments: &[&str]| run_at(seconds, arguments);
        let found = run(&["search", "tea"]);
        assert!(
            found.contains("prefers tea") && found.contains("the clock of this machine"),
            "{seconds}: {found}"
        );
        assert!(run(&["read", &id]).contains("prefers tea"), "{seconds}");
        assert!(run(&["bank", "read", "b", "k"]).contains('1'), "{seconds}");
        for query in [
            &["list"][..],
            &["reminders"],
            &["when", "tomorrow at 3pm"],
            &["log"],
            &["status"],
            &["doctor"],
            &["recalls"],
            &["usage"],
        ] {
            run(query);
        }
        for change in [
            &["write", "coffee"][..],
            &["delete", &id],
            &["undo"],
            &["bank", "write", "b", "k", "2"],
            &["dream"],
            &["serve"],
        ] {
            let output = run(change);
            assert!(
                output.to_lowercase().contains("wrong_clock"),
                "{seconds} {change:?}: {output}"
            );
        }
    }
    assert_eq!(notes(), before);
    for seconds in EXTREME_CLOCKS {
        for change in [
            &["write", "The user drinks coffee"][..],
            &["remind", "call Anna", "--at", "30m"],
            &["bank", "write", "b", "k", "2", "--ttl", "60"],
            &["dream"],
            &["undo"],
        ] {
            let output = run_at(seconds, change);
            assert!(
                !output.to_lowercase().contains("wrong_clock"),
                "{seconds} {change:?}: {output}"
            );
        }
        assert!(run_at(seconds, &["search", "coffee"]).contains("drinks coffee"));
    }
    // An index of the year 9999 is replaced when the clock is right again.
    let rebuilt = sandbox.run(&["reindex"]);
    assert!(!rebuilt.contains("panicked"), "{rebuilt}");
    assert!(sandbox.run(&["search", "coffee"]).contains("drinks coffee"));
}
