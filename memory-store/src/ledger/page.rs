//! A month of the ledger, added up.

use std::collections::BTreeMap;
use std::io;

use chrono::NaiveDate;
use memory_core::{Purpose, Spent};

use super::format::Booking;
use crate::disk::Disk;

/// How much of the file is read at a time.
const WINDOW: usize = 256 * 1024;

/// A month of the ledger, added up as far as it was read: since lines are only added, only new ones are read.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The file that was read.
    inode: u64,
    /// Where the first line begins that was not read.
    read_to: u64,
    sums: BTreeMap<(NaiveDate, Purpose), Sum>,
    unreadable: u64,
}

/// What was added, less what was taken away.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    calls: i64,
    prompt_tokens: i64,
    answer_tokens: i64,
}

impl Page {
    /// Adds up the lines that have come. One without an end is left for the next time: it is torn, or still being written.
    pub(super) fn read_on(&mut self, disk: &dyn Disk, path: &str) -> io::Result<()> {
        let Some(found) = disk.signature(path)? else {
            *self = Self::default();
            return Ok(());
        };
        if found.inode != self.inode || found.size < self.read_to {
            *self = Self { inode: found.inode, ..Self::default() };
        }
        let mut begun = Vec::new();
        let mut position = self.read_to;
        loop {
            let window = disk.read_part(path, position, WINDOW)?;
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
        let Some(booking) = Booking::from_line(line) else {
            self.unreadable += 1;
            return;
        };
        let sum = self.sums.entry((booking.day, booking.purpose)).or_default();
        sum.calls = sum.calls.saturating_add(booking.calls);
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(booking.prompt_tokens);
        sum.answer_tokens = sum.answer_tokens.saturating_add(booking.answer_tokens);
    }

    /// Returns what was spent on each day for each purpose, in order; nothing is left out but nothing.
    pub(super) fn entries(&self) -> impl Iterator<Item = (NaiveDate, &Purpose, Spent)> {
        let entries = self.sums.iter().map(|((day, purpose), sum)| (*day, purpose, sum.spent()));
        entries.filter(|(.., spent)| *spent != Spent::default())
    }

    /// Returns what was spent on one day.
    pub(super) fn total(&self, day: NaiveDate) -> Spent {
        self.entries().filter(|(on, ..)| *on == day).fold(Spent::default(), |sum, (.., spent)| sum + spent)
    }

    /// Returns how many lines are no bookings.
    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

impl Sum {
    /// A hand that takes away more than was added leaves nothing.
    fn spent(self) -> Spent {
        let amount = |sum: i64| u64::try_from(sum).unwrap_or_default();
        Spent { calls: amount(self.calls), prompt_tokens: amount(self.prompt_tokens), answer_tokens: amount(self.answer_tokens) }
    }
}
