//! The turns that this machine has stored in a shared folder.
//!
//! Facts are extracted from a turn by the machine that stored it. After a crash between a turn and its job, the next start of that machine
//! finds the turn here.

use std::collections::HashSet;

use memory_core::StoreError;
use memory_core::conversation::{ConversationEntry, ConversationId, EntryId};
use serde::{Deserialize, Serialize};

use crate::disk::{Disk, append_line, replace_file};
use crate::error::{read_error, write_error};

const PATH: &str = ".conversations/turns.jsonl";

/// The temporary name of a new file.
const TEMP_FILE: &str = ".conversations/.new-turns.tmp";

/// The older half of a file longer than this, in bytes, is removed. It has the turns of far more than a day.
const COMPACT_ABOVE: usize = 2 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct OwnTurn {
    conversation: String,
    turn: String,
}

/// Records turns before they are stored. The caller holds the lock.
pub(super) fn append(disk: &dyn Disk, turns: &[&ConversationEntry]) -> Result<(), StoreError> {
    let line = |entry: &&ConversationEntry| {
        let line = OwnTurn {
            conversation: entry.conversation.to_string(),
            turn: entry.id.to_string(),
        };
        serde_json::to_vec(&line).expect("texts have a JSON form")
    };
    if turns.is_empty() {
        return Ok(());
    }
    let lines: Vec<Vec<u8>> = turns.iter().map(line).collect();
    append_line(disk, PATH, &lines.join(&b'\n')).map_err(write_error(PATH))?;
    let size = disk
        .stat(PATH)
        .map_err(read_error(PATH))?
        .map_or(0, |found| found.size);
    if COMPACT_ABOVE as u64 <= size {
        let bytes = read_bytes(disk)?;
        let half = &bytes[bytes.len() / 2..];
        let start = half
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        replace_file(disk, TEMP_FILE, PATH, &half[start..]).map_err(write_error(PATH))?;
    }
    Ok(())
}

/// Returns the recorded turns.
pub(super) fn read(disk: &dyn Disk) -> Result<HashSet<(ConversationId, EntryId)>, StoreError> {
    let bytes = read_bytes(disk)?;
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<OwnTurn>(line).ok());
    Ok(lines
        .filter_map(|line| Some((line.conversation.parse().ok()?, line.turn.parse().ok()?)))
        .collect())
}

fn read_bytes(disk: &dyn Disk) -> Result<Vec<u8>, StoreError> {
    disk.read_part(PATH, 0, usize::MAX)
        .map_err(read_error(PATH))
}
