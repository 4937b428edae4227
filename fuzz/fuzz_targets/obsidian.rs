//! A note of Obsidian, called anything: it is taken in as a draft or passed over, and what we make of it can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::Obsidian;

fuzz_target!(|bytes: &[u8]| memory_fuzz::take_in("notes", bytes, Obsidian::open));
