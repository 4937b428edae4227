//! Fuzzes files of records: each record is imported or skipped, and the memory can be read.

use memory_ingest::SourceName;

use crate::sources::read_records;

const SOURCES: [SourceName; 7] = [
    SourceName::ServerMemory,
    SourceName::Mem0,
    SourceName::McpMemoryService,
    SourceName::ClaudeMem,
    SourceName::Letta,
    SourceName::Jsonl,
    SourceName::Csv,
];

/// Imports a file of records of the source that the first byte selects.
pub fn records(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    read_records(SOURCES[usize::from(*first) % SOURCES.len()], rest);
}
