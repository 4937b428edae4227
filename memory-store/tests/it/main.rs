//! Tests of the file driver, on a real disk and on a faulty one.
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test that cannot go on is a failed test"
)]

mod access_counts;
mod bank_faults;
mod bank_writers;
mod clock_faults;
mod conversation_faults;
mod conversation_operations;
mod crash;
mod daemon;
mod facet_counts;
mod faulty_disk;
mod file_cache;
mod file_names;
mod home;
mod instance_faults;
mod instance_files;
mod instance_sealed;
mod instance_writers;
mod large_undo;
mod ledger;
mod note_faults;
mod notify;
mod pending;
mod postgres;
mod power_cut;
mod recalls;
mod repair;
mod requests;
mod retrieval;
mod session_search;
mod suites;
mod system;
mod topic_faults;
mod topic_writers;
mod two_handles;
mod windows_names;
mod writers;
