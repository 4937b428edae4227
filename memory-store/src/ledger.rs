//! The usage of language models, stored as files in the home.
//!
//! There is one file per month, such as `usage/2026-05.jsonl`, with one JSON line per booking: a reservation, and later
//! the difference to the actual usage. Lines are only appended, and the usage is their sum. If a settlement is lost,
//! the reservation still counts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::NaiveDate;
use memory_core::{
    Budget, LlmUsage, Meter, MeterError, Purpose, Reservation, Spending, SpendingEntry, StoreError,
};
use serde::{Deserialize, Serialize};

use crate::disk::{self, Disk, RealDisk, append_line};
use crate::error::{io_error, path_error, read_error};
use crate::lock::{LOCK_FILE, PATIENCE, WriterLock};
use crate::oplog::log_files;

const FOLDER: &str = "usage";

/// The usage of language models, stored as files in a home folder.
///
/// Several ledgers may use one home, in one process or in several. A booking holds the lock of the `usage` folder,
/// which is separate from that of the other files, only while it is written. Operations that call no model never wait
/// for it.
#[derive(Debug)]
pub struct Ledger {
    root: PathBuf,
    disk: Arc<dyn Disk>,
    patience: Duration,
    /// The sums of each month as far as it was read, by file name.
    pages: Mutex<BTreeMap<String, MonthlyUsage>>,
    /// Another ledger with usage that counts against the same budget; it is only read.
    other: Option<Box<Self>>,
}

impl Ledger {
    /// Opens the ledger of the home at `root`, and creates the home if it does not exist.
    ///
    /// # Errors
    /// An error if the folder cannot be opened.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let disk = RealDisk::open(root)
            .map_err(|error| io_error(format!("open the home {}", root.display()), error))?;
        let root = disk.root().to_owned();
        Ok(Self::with_disk(Arc::new(disk), &root))
    }

    /// Returns the ledger of the home at `root`, which is accessed through `disk`.
    pub fn with_disk(disk: Arc<dyn Disk>, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            disk,
            patience: PATIENCE,
            pages: Mutex::default(),
            other: None,
        }
    }

    /// Returns this ledger with the usage of `other` counted against the same budget.
    ///
    /// Nothing is written to `other`.
    #[must_use]
    pub fn with_other_ledger(self, other: Self) -> Self {
        Self {
            other: Some(Box::new(other)),
            ..self
        }
    }

    /// Returns the usage of one day in this ledger and the other one.
    fn total(&self, day: NaiveDate) -> Result<LlmUsage, StoreError> {
        let name = file_name(day);
        let own = self
            .read_month(&name)?
            .get(&name)
            .map_or_else(LlmUsage::default, |page| page.total(day));
        let other = self
            .other
            .as_ref()
            .map(|other| other.total(day))
            .transpose()?;
        Ok(own + other.unwrap_or_default())
    }

    /// Waits for the lock of the ledger.
    fn acquire_lock(&self, path: &str) -> Result<WriterLock, StoreError> {
        let refused = |error| path_error("write to", path, error);
        if self.disk.stat(FOLDER).map_err(refused)?.is_none() {
            // The lock is in the folder, which an empty append creates.
            self.disk.append(path, b"").map_err(refused)?;
            self.disk.sync_folder(FOLDER).map_err(refused)?;
        }
        let lock = format!("{FOLDER}/{LOCK_FILE}");
        WriterLock::acquire_file(self.disk.as_ref(), &self.root, &lock, self.patience)
    }

    /// Appends a line durably. The caller holds the lock.
    fn add(&self, path: &str, line: &[u8]) -> Result<(), StoreError> {
        append_line(self.disk.as_ref(), path, line)
            .map_err(|error| path_error("write to", path, error))
    }

    /// Returns the sums of all months, after reading the file `name` to its end.
    fn read_month(
        &self,
        name: &str,
    ) -> Result<MutexGuard<'_, BTreeMap<String, MonthlyUsage>>, StoreError> {
        let path = format!("{FOLDER}/{name}");
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.entry(name.to_owned()).or_default();
        page.read_new_lines(self.disk.as_ref(), &path)
            .map_err(read_error(&path))?;
        Ok(pages)
    }
}

impl Meter for Ledger {
    fn reserve(&self, reservation: &Reservation, budget: &Budget) -> Result<(), MeterError> {
        let name = file_name(reservation.day);
        let path = format!("{FOLDER}/{name}");
        let _lock = self.acquire_lock(&path)?;
        budget.check(self.total(reservation.day)?, reservation.amount)?;
        let line = booking_line(reservation, LlmUsage::default(), reservation.amount);
        Ok(self.add(&path, &line)?)
    }

    fn settle(&self, reservation: &Reservation, spent: LlmUsage) -> Result<(), StoreError> {
        if spent == reservation.amount {
            return Ok(());
        }
        let path = format!("{FOLDER}/{}", file_name(reservation.day));
        let _lock = self.acquire_lock(&path)?;
        self.add(&path, &booking_line(reservation, reservation.amount, spent))
    }

    fn spending(&self, from: NaiveDate, to: NaiveDate) -> Result<Spending, StoreError> {
        let (first, last) = (file_name(from), file_name(to));
        let mut spending = Spending::default();
        let files = log_files(self.disk.as_ref(), FOLDER)
            .map_err(|error| path_error("list", FOLDER, error))?;
        for name in files.iter().map(|path| disk::file_name(path)) {
            if name < first.as_str() || last.as_str() < name {
                continue;
            }
            let pages = self.read_month(name)?;
            let Some(page) = pages.get(name) else {
                continue;
            };
            spending.unreadable += page.unreadable();
            let entries = page
                .entries()
                .filter(|(day, ..)| from <= *day && *day <= to);
            spending
                .entries
                .extend(entries.map(|(day, purpose, spent)| SpendingEntry {
                    day,
                    purpose: purpose.clone(),
                    spent,
                }));
        }
        if let Some(other) = &self.other {
            add(&mut spending, other.spending(from, to)?);
        }
        Ok(spending)
    }
}

/// Adds the usage of another ledger, with one entry for each day and purpose.
fn add(spending: &mut Spending, other: Spending) {
    spending.unreadable += other.unreadable;
    for entry in other.entries {
        let order =
            |known: &SpendingEntry| (known.day, &known.purpose).cmp(&(entry.day, &entry.purpose));
        match spending.entries.binary_search_by(order) {
            Ok(at) => spending.entries[at].spent = spending.entries[at].spent + entry.spent,
            Err(at) => spending.entries.insert(at, entry),
        }
    }
}

fn file_name(day: NaiveDate) -> String {
    format!("{}.jsonl", day.format("%Y-%m"))
}

/// Number of bytes read at a time.
const READ_SIZE: usize = 256 * 1024;

/// The sums of one month of the ledger up to the offset that was read.
///
/// Lines are only appended, so only new ones are read.
#[derive(Debug, Default)]
struct MonthlyUsage {
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
    fn read_new_lines(&mut self, disk: &dyn Disk, path: &str) -> io::Result<()> {
        let Some(found) = disk.stat(path)? else {
            *self = Self::default();
            return Ok(());
        };
        if found.inode != self.inode || found.size < self.read_to {
            *self = Self {
                inode: found.inode,
                ..Self::default()
            };
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
            let Some(end) = begun.iter().rposition(|byte| *byte == b'\n') else {
                continue;
            };
            begun[..end]
                .split(|byte| *byte == b'\n')
                .for_each(|line| self.add(line));
            begun.drain(..=end);
            self.read_to = position - begun.len() as u64;
        }
    }

    fn add(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some((day, purpose, booking)) = parse_line(line) else {
            self.unreadable += 1;
            return;
        };
        let sum = self.sums.entry((day, purpose)).or_default();
        sum.calls = sum.calls.saturating_add(booking.calls);
        sum.prompt_tokens = sum.prompt_tokens.saturating_add(booking.prompt_tokens);
        sum.answer_tokens = sum.answer_tokens.saturating_add(booking.answer_tokens);
    }

    /// Returns the usage by day and purpose, in this order, without entries of zero.
    fn entries(&self) -> impl Iterator<Item = (NaiveDate, &Purpose, LlmUsage)> {
        let entries = self
            .sums
            .iter()
            .map(|((day, purpose), sum)| (*day, purpose, sum.to_spent()));
        entries.filter(|(.., spent)| *spent != LlmUsage::default())
    }

    /// Returns the usage of one day.
    fn total(&self, day: NaiveDate) -> LlmUsage {
        self.entries()
            .filter(|(on, ..)| *on == day)
            .fold(LlmUsage::default(), |sum, (.., spent)| sum + spent)
    }

    /// Returns the number of lines that are not bookings.
    fn unreadable(&self) -> u64 {
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

/// A line of the ledger: the amounts by which the usage changes.
#[derive(Serialize, Deserialize)]
struct UsageLine {
    day: String,
    purpose: String,
    calls: i64,
    prompt_tokens: i64,
    answer_tokens: i64,
}

/// Returns the line of a booking that changes an amount from `before` to `after`.
fn booking_line(reservation: &Reservation, before: LlmUsage, after: LlmUsage) -> Vec<u8> {
    let line = UsageLine {
        day: reservation.day.to_string(),
        purpose: reservation.purpose.to_string(),
        calls: difference(before.calls, after.calls),
        prompt_tokens: difference(before.prompt_tokens, after.prompt_tokens),
        answer_tokens: difference(before.answer_tokens, after.answer_tokens),
    };
    serde_json::to_vec(&line).expect("strings and numbers have a JSON form")
}

/// Parses a line, or returns `None` if it is not a booking, for example because a crash cut it off.
fn parse_line(line: &[u8]) -> Option<(NaiveDate, Purpose, UsageLine)> {
    let line: UsageLine = serde_json::from_slice(line).ok()?;
    Some((line.day.parse().ok()?, line.purpose.parse().ok()?, line))
}

fn difference(before: u64, after: u64) -> i64 {
    let number = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
    number(after).saturating_sub(number(before))
}
