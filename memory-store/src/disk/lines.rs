//! Reads the lines of a file, from the start or from the end, and appends lines.

use std::fs::File;
use std::io;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use super::Disk;
use crate::system::read_exact_at;

/// Size of the first block in bytes; each further block is twice as large.
const FIRST_BLOCK: usize = 16 * 1024;

/// Maximum size of a block in bytes.
const LARGEST_BLOCK: usize = 1024 * 1024;

/// A line without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawLine {
    /// Offset of the line in bytes.
    pub at: u64,
    /// The content of the line.
    pub bytes: Vec<u8>,
    /// Whether the line ends with a newline. Only the last line may lack it.
    pub is_whole: bool,
}

/// The lines of the first `end` bytes of a file, in order.
#[derive(Debug)]
pub(crate) struct ForwardLines {
    file: File,
    /// Offset up to which the file was read.
    read: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Offset of the next line in the buffer.
    start: usize,
    block: usize,
}

impl ForwardLines {
    pub(crate) fn new(file: File, end: u64) -> Self {
        Self::from_offset(file, 0, end)
    }

    /// Returns the lines from offset `start` on, which must be the start of a line.
    pub(crate) fn from_offset(file: File, start: u64, end: u64) -> Self {
        Self {
            file,
            read: start,
            end,
            buffer: Vec::new(),
            start: 0,
            block: FIRST_BLOCK,
        }
    }

    fn read_line(&mut self) -> io::Result<Option<RawLine>> {
        let mut searched = self.start;
        loop {
            let at = self.read - (self.buffer.len() - self.start) as u64;
            if let Some(length) = memchr(b'\n', &self.buffer[searched..]) {
                let end = searched + length;
                let bytes = self.buffer[self.start..end].to_vec();
                self.start = end + 1;
                return Ok(Some(RawLine {
                    at,
                    bytes,
                    is_whole: true,
                }));
            }
            if self.read == self.end {
                let bytes = self.buffer.split_off(self.start);
                self.buffer.clear();
                self.start = 0;
                return Ok((!bytes.is_empty()).then_some(RawLine {
                    at,
                    bytes,
                    is_whole: false,
                }));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            searched = self.buffer.len();
            let block = usize::try_from(self.end - self.read)
                .unwrap_or(usize::MAX)
                .min(self.block);
            self.buffer.resize(searched + block, 0);
            read_exact_at(&self.file, &mut self.buffer[searched..], self.read)?;
            self.read += block as u64;
            self.block = LARGEST_BLOCK.min(2 * self.block);
        }
    }
}

impl Iterator for ForwardLines {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<io::Result<RawLine>> {
        let line = self.read_line().transpose();
        if matches!(line, Some(Err(_))) {
            self.read = self.end;
            self.buffer.clear();
            self.start = 0;
        }
        line
    }
}

/// The lines of the first `end` bytes of a file, in reverse order.
#[derive(Debug)]
pub(crate) struct BackwardLines {
    file: File,
    /// Offset down to which the file was read.
    read: u64,
    /// Bytes that were read but not yet returned, without the newline of the last line.
    buffer: Vec<u8>,
    is_whole: bool,
    block: usize,
    is_done: bool,
    texts: Vec<Finder<'static>>,
    /// Offsets of the texts in the part of the file that was read, in order; those of returned lines are removed later.
    found: Vec<u64>,
}

impl BackwardLines {
    pub(crate) fn new(file: File, end: u64) -> Self {
        Self::with_texts(file, end, Vec::new())
    }

    /// Like [`new`](Self::new); [`next_with_text`](Self::next_with_text) finds the lines with one of `texts`.
    pub(crate) fn with_texts(file: File, end: u64, texts: Vec<Finder<'static>>) -> Self {
        Self {
            texts,
            found: Vec::new(),
            file,
            read: end,
            buffer: Vec::new(),
            is_whole: false,
            block: FIRST_BLOCK,
            is_done: end == 0,
        }
    }

    /// Returns the next line that contains one of the texts. The lines between are searched as one, so this is faster than the search in
    /// each line.
    pub(crate) fn next_with_text(&mut self) -> io::Result<Option<RawLine>> {
        while let Some(line) = self.read_line(true)? {
            self.remove_found_after(line.at + line.bytes.len() as u64);
            if self.found.last().is_some_and(|found| line.at <= *found) {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn remove_found_after(&mut self, end: u64) {
        while self.found.last().is_some_and(|found| end <= *found) {
            self.found.pop();
        }
    }

    /// Removes the lines at the end of the buffer that contain none of the texts.
    fn remove_lines_without_text(&mut self) {
        self.remove_found_after(self.read + self.buffer.len() as u64);
        #[expect(clippy::cast_possible_truncation, reason = "a place in the buffer")]
        let last = self.found.last().map_or(0, |at| (at - self.read) as usize);
        if let Some(length) = memchr(b'\n', &self.buffer[last..]) {
            self.buffer.truncate(last + length);
            self.is_whole = true;
        }
    }

    /// Finds the texts that start in the first `block` bytes of the buffer.
    fn find_texts(&mut self, block: usize) {
        let mut found = Vec::new();
        for text in &self.texts {
            let end = self
                .buffer
                .len()
                .min(block + text.needle().len().saturating_sub(1));
            let places = text.find_iter(&self.buffer[..end]);
            found.extend(places.map(|at| self.read + at as u64));
        }
        found.sort_unstable();
        found.append(&mut self.found);
        self.found = found;
    }

    fn read_line(&mut self, is_text_wanted: bool) -> io::Result<Option<RawLine>> {
        let mut unsearched = self.buffer.len();
        loop {
            if self.is_done {
                return Ok(None);
            }
            if is_text_wanted {
                self.remove_lines_without_text();
                unsearched = unsearched.min(self.buffer.len());
            }
            if let Some(newline) = memrchr(b'\n', &self.buffer[..unsearched]) {
                let bytes = self.buffer.split_off(newline + 1);
                self.buffer.pop();
                let is_whole = std::mem::replace(&mut self.is_whole, true);
                // The newline at the end of the file is not followed by another line.
                if bytes.is_empty() && !is_whole {
                    unsearched = self.buffer.len();
                    continue;
                }
                return Ok(Some(RawLine {
                    at: self.read + newline as u64 + 1,
                    bytes,
                    is_whole,
                }));
            }
            if self.read == 0 {
                self.is_done = true;
                let bytes = std::mem::take(&mut self.buffer);
                return Ok(Some(RawLine {
                    at: 0,
                    bytes,
                    is_whole: self.is_whole,
                }));
            }
            let block = usize::try_from(self.read)
                .unwrap_or(usize::MAX)
                .min(self.block);
            let mut bytes = vec![0; block];
            self.read -= block as u64;
            read_exact_at(&self.file, &mut bytes, self.read)?;
            bytes.append(&mut self.buffer);
            self.buffer = bytes;
            self.find_texts(block);
            unsearched = block;
            self.block = LARGEST_BLOCK.min(2 * self.block);
        }
    }
}

impl Iterator for BackwardLines {
    type Item = io::Result<RawLine>;

    fn next(&mut self) -> Option<io::Result<RawLine>> {
        let line = self.read_line(false).transpose();
        self.is_done |= matches!(line, Some(Err(_)));
        line
    }
}

/// Returns the numbers, from 1, of the lines of a file for which `is_valid` is false. A file that does not exist has none.
pub(crate) fn invalid_lines(
    disk: &dyn Disk,
    path: &str,
    is_valid: impl Fn(&RawLine) -> bool,
) -> io::Result<Vec<usize>> {
    let Some(file) = disk.open(path)? else {
        return Ok(Vec::new());
    };
    let end = file.metadata()?.len();
    let mut invalid = Vec::new();
    for (index, line) in ForwardLines::new(file, end).enumerate() {
        if !is_valid(&line?) {
            invalid.push(index + 1);
        }
    }
    Ok(invalid)
}

/// Appends a line to a file, durably.
///
/// If a crash left an incomplete line at the end, the new line starts after a line break.
pub(crate) fn append_line(disk: &dyn Disk, path: &str, line: &[u8]) -> io::Result<()> {
    let (size, bytes) = line_to_append(disk, path, line)?;
    disk.append(path, &bytes)?;
    match (size, path.rsplit_once('/')) {
        (None, folder) => disk.sync_folder(folder.map_or("", |(folder, _)| folder)),
        _ => Ok(()),
    }
}

/// Returns the bytes that append a line to a file, and the size of the file; `None` if the file does not exist.
///
/// If a crash left an incomplete line at the end, the bytes start with a line break.
pub(crate) fn line_to_append(
    disk: &dyn Disk,
    path: &str,
    line: &[u8],
) -> io::Result<(Option<u64>, Vec<u8>)> {
    let size = disk.stat(path)?.map(|found| found.size);
    let last = size
        .and_then(|size| size.checked_sub(1))
        .map(|at| disk.read_part(path, at, 1))
        .transpose()?;
    let is_torn = last.is_some_and(|last| last != b"\n");
    Ok((
        size,
        [if is_torn { b"\n".as_slice() } else { b"" }, line, b"\n"].concat(),
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> (Vec<RawLine>, Vec<RawLine>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        let end = text.len() as u64;
        let forward = ForwardLines::new(file.try_clone().unwrap(), end)
            .map(Result::unwrap)
            .collect();
        let mut backward: Vec<_> = BackwardLines::new(file, end).map(Result::unwrap).collect();
        backward.reverse();
        (forward, backward)
    }

    /// Returns the numbers of the lines with one of the texts, last first.
    fn numbers_with(lines: &str, texts: &[&str]) -> Vec<usize> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let texts = texts.iter().map(|text| Finder::new(text).into_owned());
        let mut lines = BackwardLines::with_texts(file, lines.len() as u64, texts.collect());
        let mut numbers = Vec::new();
        while let Some(line) = lines.next_with_text().unwrap() {
            let line = String::from_utf8(line.bytes).unwrap();
            let number = line.split(' ').next().unwrap();
            numbers.push(number.parse().unwrap());
        }
        numbers
    }

    fn expected(text: &[u8]) -> Vec<RawLine> {
        let mut at = 0;
        let lines = text.split_inclusive(|&byte| byte == b'\n').map(|line| {
            let is_whole = line.last() == Some(&b'\n');
            let one = RawLine {
                at,
                bytes: line[..line.len() - usize::from(is_whole)].to_vec(),
                is_whole,
            };
            at += line.len() as u64;
            one
        });
        lines.collect()
    }

    #[test]
    fn lines_are_the_same_from_both_ends() {
        let long = [
            b"a\n".as_slice(),
            &b"x".repeat(100_000),
            b"\nb\n",
            &b"y".repeat(3_000_000),
            b"\n\nend",
        ]
        .concat();
        for text in [
            b"".as_slice(),
            b"\n",
            b"\n\n",
            b"a",
            b"a\n",
            b"a\nb",
            b"\na\n\nb\n",
            &long,
        ] {
            assert_eq!(read(text), (expected(text), expected(text)));
        }
    }

    #[test]
    fn exactly_the_lines_with_a_text_are_found() {
        let line = |number: usize, text: &str| format!("{number} {text}\n");
        let mut lines = String::new();
        let mut expected = Vec::new();
        for number in 0..40_000 {
            let text = match number {
                0 | 39_999 => "first",
                _ if number % 977 == 0 => "second and first",
                _ if number % 1_031 == 0 => "secon",
                _ => "an ordinary line of some length",
            };
            lines.push_str(&line(number, text));
            if text.contains("first") {
                expected.push(number);
            }
        }
        expected.reverse();
        assert_eq!(numbers_with(&lines, &["first", "second"]), expected);
        assert_eq!(numbers_with(lines.trim_end(), &["first"]), expected);
        assert_eq!(numbers_with(&lines, &["third"]), [0_usize; 0]);
        assert_eq!(numbers_with("", &["first"]), [0_usize; 0]);
        assert_eq!(numbers_with("\n\n7 first\n\n", &["first"]), [7]);
        // A text that lies in two blocks.
        for length in FIRST_BLOCK - 12..FIRST_BLOCK + 12 {
            let after = "x".repeat(length);
            assert_eq!(
                numbers_with(&format!("1 -\n2 first {after}\n"), &["first"]),
                [2]
            );
            assert_eq!(
                numbers_with(&format!("1 first\n2 {after}\n"), &["first"]),
                [1]
            );
        }
    }

    #[test]
    fn the_last_lines_are_read_without_the_others() {
        let mut file = tempfile::tempfile().unwrap();
        // A sparse file: the hole occupies no space on disk.
        let end = 1 << 40;
        file.set_len(end).unwrap();
        let lines = (0..20)
            .map(|number| format!("\n{number} {}", "x".repeat(100)))
            .collect::<Vec<_>>()
            .concat();
        std::io::Seek::seek(&mut file, io::SeekFrom::Start(end)).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let mut backward = BackwardLines::new(file, end + lines.len() as u64);
        for number in (0..20).rev() {
            let line = backward.next().unwrap().unwrap();
            assert!(line.bytes.starts_with(format!("{number} ").as_bytes()));
        }
        assert!(
            end - FIRST_BLOCK as u64 <= backward.read,
            "one block was enough"
        );
    }

    proptest! {
        #[test]
        fn any_lines_are_the_same_from_both_ends(lengths in proptest::collection::vec(0..40_000_usize, 0..12), is_torn: bool) {
            let mut text = Vec::new();
            for length in lengths {
                text.extend(std::iter::repeat_n(b'z', length));
                text.push(b'\n');
            }
            if is_torn {
                text.pop();
            }
            prop_assert_eq!(read(&text), (expected(&text), expected(&text)));
        }
    }
}
