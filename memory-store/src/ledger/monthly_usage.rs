//! The sums of one month of the ledger.

use std::collections::BTreeMap;
use std::io;

use chrono::NaiveDate;
use memory_core::{LlmUsage, Purpose};

use super::format::UsageRecord;
use crate::disk::Disk;

/// Number of bytes read at a time.
const READ_SIZE: usize = 256 * 1024;

/// The sums of one month of the ledger up to the offset that was read.
///
/// Lines are only appended, so only new ones are read.
#[derive(Debug, Default)]
pub(super) struct MonthlyUsage {
    /// The inode of the file that was read.
    inode: u64,
    /// Offset of the first line that was not read.
    read_to: u64,
    sums: BTreeMap<(NaiveDate, Purpose), UsageSum>,
    unreadable: u64,
}

/// The sum of the bookings of a day and purpose. Bookings may be negative.
#[derive(Debug, Clone, Copy, Default)]
struct UsageSum {
    calls: i64,
    prompt_tokens: i64,
    answer_tokens: i64,
}

impl MonthlyUsage {
    /// Adds the new lines to the sums.
    ///
    /// A last line without a newline is left for the next call: it is torn or still being written. If the file was
    /// replaced or truncated, the sums are computed from its start.
    pub(super) fn read_new_lines(&mut self, disk: &dyn Disk, path: &str) -> io::Result<()> {
        let Some(found) = disk.stat(path)? else {
            *self = Self::default();
            return Ok(());
        };
        if found.inode != self.inode || found.size < self.read_to {
            *self = Self { inode: found.inode, ..Self::default() };
        }
        let mut begun = Vec::new();
        let mut position = self.read_to;
        loop {
            let window = disk.read_part(path, position, READ_SIZE)?;
            if window.is_empty() {
                return Ok(());
            }
            position += window.len() as u64;
            begun.extend_from_slice(&window);
            let Some(end) = begun.iter().rposition(|byte| *byte == b'\n') else { continue };
            begun[..end].split(|byte| *byte == b'\n').for_each(|line| self.add(line));
            begun.drain(..=end);
            self.read_to = position - begun.len() as u64;
        }
    }

    fn add(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(booking) = UsageRecord::from_line(line) else {
            self.unreadable += 1;
            return;
        };
        let sum = self.sums.entry((booking.day, booking.purpose)).or_default();
        sum.calls = sum.calls.saturating_add(booking.calls);
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(booking.prompt_tokens);
        sum.answer_tokens = sum.answer_tokens.saturating_add(booking.answer_tokens);
    }

    /// Returns the usage by day and purpose, in this order, without entries of zero.
    pub(super) fn entries(&self) -> impl Iterator<Item = (NaiveDate, &Purpose, LlmUsage)> {
        let entries = self.sums.iter().map(|((day, purpose), sum)| (*day, purpose, sum.to_spent()));
        entries.filter(|(.., spent)| *spent != LlmUsage::default())
    }

    /// Returns the usage of one day.
    pub(super) fn total(&self, day: NaiveDate) -> LlmUsage {
        self.entries().filter(|(on, ..)| *on == day).fold(LlmUsage::default(), |sum, (.., spent)| sum + spent)
    }

    /// Returns the number of lines that are not bookings.
    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

impl UsageSum {
    /// Returns the sums, with zero for negative ones, which only a manual edit can produce.
    fn to_spent(self) -> LlmUsage {
        let amount = |sum: i64| u64::try_from(sum).unwrap_or_default();
        LlmUsage {
            calls: amount(self.calls),
            prompt_tokens: amount(self.prompt_tokens),
            answer_tokens: amount(self.answer_tokens),
        }
    }
}
