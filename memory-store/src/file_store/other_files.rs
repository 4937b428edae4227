//! Checks the files of a home other than memories: banks, and files of JSON lines.

use memory_core::StoreError;
use serde::de::IgnoredAny;

use super::FileStore;
use super::doctor::DoctorFinding;
use crate::bank::{BankFolder, BankOptions};
use crate::disk::{DirEntryKind, RawLine, invalid_lines};
use crate::error::io_error;
use crate::recall_folder;

/// The folders of JSON lines of the home and of the default instances; others are below [`INSTANCES`].
const JSON_LINES_FOLDERS: [&str; 6] = [
    "banks/.trash",
    "history",
    "history/.trash",
    "topics/.trash",
    ".conversations",
    recall_folder::FOLDER,
];

/// The folder of banks.
const BANKS: &str = "banks";

const INSTANCES: &str = "instances";

/// The folder of previous values.
const STATE: &str = "state/kv";

impl FileStore {
    /// Finds damaged banks and invalid lines, which readers of these files skip.
    pub(super) fn other_file_findings(&self) -> Result<Vec<DoctorFinding>, StoreError> {
        let mut of_lines: Vec<String> = JSON_LINES_FOLDERS.map(str::to_owned).into();
        of_lines.extend(
            self.subfolders(STATE)?
                .into_iter()
                .map(|path| format!("{path}/trash")),
        );
        let mut banks = vec![BANKS.to_owned()];
        for kind in ["bank", "history", "topic"] {
            for path in self.subfolders(&format!("{INSTANCES}/{kind}"))? {
                of_lines.extend([path.clone(), format!("{path}/.trash")]);
                banks.extend((kind == "bank").then_some(path));
            }
        }
        let mut findings = Vec::new();
        for folder in of_lines {
            findings.extend(self.damaged_lines(&folder)?);
        }
        for folder in banks {
            findings.extend(self.damaged_banks(&folder));
        }
        Ok(findings)
    }

    /// Returns the paths of the subfolders of a folder.
    fn subfolders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let entries = self
            .disk
            .list_folder(folder)
            .map_err(|error| io_error(format!("list {folder}"), error))?;
        let folders = entries
            .into_iter()
            .filter(|entry| entry.kind == DirEntryKind::Folder);
        Ok(folders
            .map(|entry| format!("{folder}/{}", entry.name))
            .collect())
    }

    fn damaged_lines(&self, folder: &str) -> Result<Vec<DoctorFinding>, StoreError> {
        let mut findings = Vec::new();
        for entry in self
            .disk
            .list_folder(folder)
            .map_err(|error| io_error(format!("list {folder}"), error))?
        {
            if entry.kind != DirEntryKind::File || entry.name.strip_suffix(".jsonl").is_none() {
                continue;
            }
            let path = format!("{folder}/{}", entry.name);
            // The next writer removes an incomplete line at the end.
            let is_valid = |line: &RawLine| !line.is_whole || is_valid_line(&line.bytes);
            match invalid_lines(self.disk.as_ref(), &path, is_valid) {
                Ok(numbers) => findings.extend(numbers.into_iter().map(|number| {
                    let finding = DoctorFinding::new(
                        "line_damaged",
                        &path,
                        "the line is not a JSON object and is skipped",
                    );
                    let hint = "its content is not shown and cannot be undone; delete the line after you have checked it";
                    DoctorFinding {
                        line: Some(number),
                        ..finding.with_hint(hint)
                    }
                })),
                Err(error) => findings.push(unreadable_finding(&path, &error.to_string())),
            }
        }
        Ok(findings)
    }

    fn damaged_banks(&self, folder: &str) -> Vec<DoctorFinding> {
        let hint = "`memory bank repair` keeps the readable entries and moves the rest aside";
        match BankFolder::new(self.root.join(folder), BankOptions::default()).check() {
            Ok(damage) => damage
                .into_iter()
                .map(|damage| {
                    DoctorFinding::new(
                        "bank_damaged",
                        &format!("{folder}/{}", damage.bank),
                        damage.what,
                    )
                    .with_hint(hint)
                })
                .collect(),
            Err(error) => vec![unreadable_finding(folder, &error.to_string())],
        }
    }
}

fn unreadable_finding(path: &str, why: &str) -> DoctorFinding {
    let hint = "check its permissions, or restore it from a backup";
    DoctorFinding::new(
        "file_unreadable",
        path,
        format!("the file cannot be read: {why}"),
    )
    .with_hint(hint)
}

fn is_valid_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}
