//! Fuzzes files of records: each record is imported or skipped, and the memory can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_ingest::SourceName;

const SOURCES: [SourceName; 7] = [
    SourceName::ServerMemory,
    SourceName::Mem0,
    SourceName::McpMemoryService,
    SourceName::ClaudeMem,
    SourceName::Letta,
    SourceName::Jsonl,
    SourceName::Csv,
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    memory_fuzz::read_records(SOURCES[usize::from(*first) % SOURCES.len()], rest);
});
