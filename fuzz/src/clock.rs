//! Fuzzes the clock of the machine, and times in arguments and files, by running the program.
//!
//! No clock and no time makes it panic, and a memory that was written is read.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use memory_cli::{Environment, run_silently};
use memory_core::{Clock, LocalZone, SystemClock};

use crate::fixtures::{folder, parse_input};

/// A clock that shows the time that a system clock would show.
#[derive(Debug)]
struct ShiftedClock(i64);

impl Clock for ShiftedClock {
    fn now(&self) -> DateTime<Utc> {
        let span = Duration::from_secs(self.0.unsigned_abs());
        let time = if self.0 < 0 {
            UNIX_EPOCH.checked_sub(span)
        } else {
            UNIX_EPOCH.checked_add(span)
        };
        SystemClock::time_of(time.unwrap_or(SystemTime::UNIX_EPOCH))
    }

    fn zone(&self) -> LocalZone {
        LocalZone::utc()
    }
}

/// Runs commands with a time and a duration as arguments, at two times of the clock.
pub fn clock(bytes: &[u8]) {
    let Some((first, second, text)) = parse_input::<(i64, i64, &str)>(bytes) else {
        return;
    };
    // An argument has no character 0, and one that begins with a hyphen is an option.
    let text = text.replace('\0', "");
    let text = text.trim_start_matches('-');
    let folder = folder();
    let root = folder.path().join("memory");
    fs::create_dir(&root).expect("a folder");
    let note = format!("---\ncreated_at: {text}\nexpires_at: {text}\n---\nThe user grows beans.\n");
    fs::write(root.join("note.md"), note).expect("a note");
    for seconds in [first, second] {
        let environment = Environment::default()
            .with_home(folder.path())
            .with_clock(Arc::new(ShiftedClock(seconds)));
        let root = root.to_str().expect("a path of this program");
        let run = |arguments: &[&str]| {
            run_silently(&[&["--root", root], arguments].concat(), &environment)
        };
        assert!(run(&["write", "The user drinks green tea"]));
        assert!(run(&["search", "green tea"]));
        assert!(run(&["list"]));
        for arguments in [
            &["write", "The user likes plums", "--expires", text][..],
            &["remind", "water the beans", "--at", text],
            &["remind", text],
            &["list", "--from", text, "--to", text],
            &["search", text],
            &["when", text],
            &["when", "tomorrow", "--now", text],
            &["bank", "write", "b", "k", "1", "--ttl", text],
            &["trash", "purge", "--yes", "--older-than", text],
            &["add", "The user has a cat"],
            &["reminders"],
            &["dream"],
            &["inbox"],
            &["recalls"],
            &["usage"],
            &["log"],
            &["undo"],
            &["doctor"],
            &["status"],
        ] {
            // A text may be no time; only a panic is a failure.
            let _ = run(arguments);
        }
    }
}
