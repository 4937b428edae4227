//! Checks a home for defects, and repairs them.

use std::collections::{HashMap, HashSet};

use memory_core::secret::Checked;
use memory_core::{
    Category, Change, ChangeSet, Code, Filter, MemoryId, MemoryStore, Operation, Patch, Phase,
    Problem, Recorded, RecordedChange, Scope, StoreError, Verb,
};

use super::FileStore;
use crate::access_key::key_of_file;
use crate::disk::DirEntryKind;
use crate::error::io_error;
use crate::folder_format;
use crate::journal::{INVALID_CHANGE, JournalPayload};
use crate::memory_file::{is_conversation_file, load};
use crate::oplog::{Durability, is_temporary_name};

/// The result of a check of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoctorReport {
    /// Number of checked memories.
    pub checked: u64,
    /// The defects, sorted by path.
    pub findings: Vec<DoctorFinding>,
}

/// A defect of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorFinding {
    /// The stable code of the kind of defect.
    ///
    /// One of `newer_format`, `index_differs`, `file_damaged`, `file_too_large`, `link_one_sided`, `file_missing`, `journal_damaged`, `leftover`,
    /// `bank_damaged`, `line_damaged`, `file_unreadable`, `set_aside`, `not_read` or `no_time`; commands add `model_failed`.
    pub code: &'static str,
    /// The file.
    pub path: String,
    /// The line number, starting at 1, if available.
    pub line: Option<usize>,
    /// A description of the defect.
    pub what: String,
    /// Advice for the user.
    pub hint: Option<String>,
    /// Whether the defect was repaired.
    pub fixed: bool,
}

impl DoctorFinding {
    pub(crate) fn new(code: &'static str, path: &str, what: impl Into<String>) -> Self {
        Self {
            code,
            path: path.to_owned(),
            line: None,
            what: what.into(),
            hint: None,
            fixed: false,
        }
    }

    pub(super) fn with_hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_owned()),
            ..self
        }
    }
}

/// The advice for a file that a replica has set aside.
const SET_ASIDE_HINT: &str = "make the change with `memory edit` or `memory write` if it still matters, and delete this file";

/// The advice for a damaged file of a replica, which nobody can edit by hand.
const DAMAGED_DOCUMENT_HINT: &str =
    "ask its author to correct it with `memory edit`, or delete it with `memory delete`";

impl FileStore {
    /// Compares the files with the index and the journal, and checks banks and files of JSON lines.
    ///
    /// With `repair`, an operation without changes, it repairs defects as far as possible without loss of data: it rebuilds the index,
    /// completes links, records deleted files, and moves temporary files of interrupted writes to the trash.
    ///
    /// # Errors
    /// If the home cannot be read or repaired.
    pub fn doctor(&self, repair: Option<&Operation>) -> Result<DoctorReport, StoreError> {
        // An interrupted operation is rolled back first, so that its files are not reported as missing.
        let newer = match self.lock_for_writing() {
            Ok(_lock) => None,
            Err(error @ StoreError::NewerFormat { .. }) if repair.is_none() => {
                Some(newer_format_finding(&error))
            }
            Err(error) => return Err(error),
        };
        // Changes by other programs are not defects of the index; only differences that a refresh does not detect are.
        self.index.refresh(crate::index::RefreshDepth::Fresh)?;
        let mut findings = self.index_findings()?;
        if repair.is_some() && !findings.is_empty() {
            self.index.rebuild(&mut |_, _| ())?;
            findings = findings
                .into_iter()
                .map(|finding| DoctorFinding {
                    fixed: true,
                    ..finding
                })
                .collect();
        }
        findings.extend(self.problem_findings()?);
        findings.extend(self.link_findings(repair)?);
        findings.extend(self.reminder_findings()?);
        findings.extend(self.journal_findings(repair)?);
        findings.extend(self.set_aside_findings());
        match newer {
            Some(newer) => findings.push(newer),
            None => findings.extend(self.leftover_findings(repair)?),
        }
        findings.extend(self.other_file_findings()?);
        findings.sort_by(|left, right| (&left.path, left.code).cmp(&(&right.path, right.code)));
        Ok(DoctorReport {
            checked: self.index.statistics()?.documents,
            findings,
        })
    }

    /// Returns the files of a replica that its database does not have.
    fn set_aside_findings(&self) -> impl Iterator<Item = DoctorFinding> {
        let files = if self.replica.is_some() {
            self.set_aside_files()
        } else {
            Vec::new()
        };
        files.into_iter().map(|path| {
            let what = "another program edited it in the replica, or a restored database lacks it, so it was set aside";
            DoctorFinding::new("set_aside", &path, what).with_hint(SET_ASIDE_HINT)
        })
    }

    fn index_findings(&self) -> Result<Vec<DoctorFinding>, StoreError> {
        let hint = "`memory reindex` rebuilds the index";
        let differences = self.index.check()?.into_iter();
        Ok(differences
            .map(|found| {
                DoctorFinding::new("index_differs", &found.path, found.what).with_hint(hint)
            })
            .collect())
    }

    /// Returns the damaged files. In a replica, they are files of other nodes, so their scope and author are named.
    fn problem_findings(&self) -> Result<Vec<DoctorFinding>, StoreError> {
        let mut findings: Vec<_> = self
            .index
            .problems()?
            .into_iter()
            .map(finding_from_problem)
            .collect();
        if self.replica.is_none() {
            return Ok(findings);
        }
        let mut unnamed: HashMap<String, usize> = findings
            .iter()
            .map(|found| found.path.clone())
            .zip(0..)
            .collect();
        let (principal, mut invalid) = (self.principal_name()?, Vec::new());
        for record in self.journaled_operations(None) {
            let Recorded {
                operation, subject, ..
            } = record?;
            for change in subject.changes.iter().rev() {
                if let Some(at) = change
                    .after
                    .as_ref()
                    .and_then(|file| unnamed.remove(&file.path))
                {
                    let scope =
                        key_of_file(&findings[at].path, &Scope::Global, principal.as_deref());
                    let found = &mut findings[at];
                    found.what = format!("{}; {} wrote it in {scope}", found.what, operation.by);
                    found.hint = Some(DAMAGED_DOCUMENT_HINT.to_owned());
                }
                if let Some(why) = change
                    .why
                    .as_deref()
                    .filter(|_| change.is_placeholder())
                    .and_then(|why| why.strip_prefix(INVALID_CHANGE))
                {
                    let what = format!("an operation of {} was not applied: {why}", operation.by);
                    let hint = "report it to the owner of the database: another program wrote it";
                    invalid.push(
                        DoctorFinding::new(
                            "file_damaged",
                            why.split(' ').next().unwrap_or_default(),
                            what,
                        )
                        .with_hint(hint),
                    );
                }
            }
        }
        findings.extend(invalid);
        Ok(findings)
    }

    fn link_findings(&self, repair: Option<&Operation>) -> Result<Vec<DoctorFinding>, StoreError> {
        let mut findings = Vec::new();
        for (from, to) in self.one_sided_links()? {
            let (loaded, _) = self.load_current(&to)?;
            let what = format!("{from} links to this memory, which does not link back");
            let mut finding = DoctorFinding::new("link_one_sided", &loaded.stored.path, what)
                .with_hint("`memory doctor --fix` adds the missing link");
            if let Some(repair) = repair.filter(|_| loaded.stored.problem.is_none()) {
                let patch = Patch {
                    add_links: vec![from],
                    ..Patch::default()
                };
                if let Some(memory) = patch.apply(&loaded.stored.memory, repair.at) {
                    let change = Change::Replace {
                        expected: loaded.stored.stamp,
                        memory: Box::new(memory),
                    };
                    self.commit(Checked::allowed(&ChangeSet {
                        changes: vec![change],
                        ..ChangeSet::new(repair.clone())
                    }))?;
                    finding.fixed = true;
                }
            }
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Finds the memories that are filed as reminders and have no time.
    fn reminder_findings(&self) -> Result<Vec<DoctorFinding>, StoreError> {
        let filed = Filter {
            category: Some(Category::Reminders),
            ..Filter::all()
        };
        let mut findings = Vec::new();
        for stored in self.memories(&filed, chrono::DateTime::UNIX_EPOCH) {
            let stored = stored?;
            if stored.memory.phase == Phase::Organized && stored.memory.reminder.is_none() {
                let what = "the reminder has no time, so it is never shown";
                let hint = "add a line such as `due: 2026-05-07T09:00:00Z` to its front matter";
                findings.push(DoctorFinding::new("no_time", &stored.path, what).with_hint(hint));
            }
        }
        Ok(findings)
    }

    /// Returns the links without a link back.
    ///
    /// Links to deleted memories are ignored: these may be restored. So are links to parts of conversations: messages and summaries
    /// cannot link back.
    fn one_sided_links(&self) -> Result<Vec<(MemoryId, MemoryId)>, StoreError> {
        let mut links = HashMap::<MemoryId, Vec<MemoryId>>::new();
        let mut parts = HashSet::new();
        for stored in self.memories(&Filter::all(), chrono::DateTime::UNIX_EPOCH) {
            let stored = stored?;
            if is_conversation_file(&stored.path) {
                parts.insert(stored.memory.id);
            }
            links.insert(stored.memory.id, stored.memory.links);
        }
        let mut one_sided = Vec::new();
        for (from, targets) in &links {
            let unreturned = |target: &&MemoryId| {
                !parts.contains(target)
                    && links.get(target).is_some_and(|back| !back.contains(from))
            };
            one_sided.extend(
                targets
                    .iter()
                    .filter(unreturned)
                    .map(|target| (*from, *target)),
            );
        }
        one_sided.sort_unstable();
        Ok(one_sided)
    }

    /// Finds missing files of memories in the journal, and invalid lines of the journal.
    fn journal_findings(
        &self,
        repair: Option<&Operation>,
    ) -> Result<Vec<DoctorFinding>, StoreError> {
        let mut findings: Vec<_> = self
            .journal()
            .invalid_lines()?
            .into_iter()
            .map(|(path, line)| {
                let what = "the line is not a valid operation; the creation order of the memories in it is lost";
                let finding = DoctorFinding::new("journal_damaged", &path, what);
                DoctorFinding {
                    line: Some(line),
                    ..finding.with_hint("the operation cannot be undone; delete the line after you have checked it")
                }
            })
            .collect();
        let mut seen = HashSet::<MemoryId>::new();
        let mut gone = Vec::new();
        for begun in self.journaled_operations(None) {
            let begun = begun?;
            let changes = begun
                .subject
                .changes
                .into_iter()
                .rev()
                .filter(|change| !change.is_placeholder());
            for change in changes.filter(|change| seen.insert(change.id)) {
                if let Some(after) = change.after
                    && self.index.locate(&change.id)?.is_none()
                    // An unreadable file exists, and is reported as unreadable.
                    && load(self.disk.as_ref(), &after.path).is_ok()
                {
                    gone.push(RecordedChange {
                        id: change.id,
                        before: Some(after),
                        after: None,
                        why: None,
                    });
                }
            }
        }
        if let Some(repair) = repair.filter(|_| !gone.is_empty()) {
            let _lock = self.lock_for_writing()?;
            if !self.restore_replica()? {
                let operation = Operation {
                    verb: Verb::Repair,
                    ..repair.clone()
                };
                let record = Recorded::new(
                    &operation,
                    JournalPayload {
                        changes: gone.clone(),
                        by_other: false,
                    },
                    None,
                );
                self.journal().append(&record, Durability::Synced)?;
            }
        }
        for file in gone.into_iter().filter_map(|change| change.before) {
            let what = "another program deleted the file or removed its id";
            let hint = "restore it from the trash or a backup, or record the deletion with `memory doctor --fix`";
            let finding = DoctorFinding::new("file_missing", &file.path, what).with_hint(hint);
            findings.push(DoctorFinding {
                fixed: repair.is_some(),
                ..finding
            });
        }
        Ok(findings)
    }

    /// Finds the temporary files of interrupted writes, and Markdown files that are not read because of their names.
    fn leftover_findings(
        &self,
        repair: Option<&Operation>,
    ) -> Result<Vec<DoctorFinding>, StoreError> {
        // Under the lock, no temporary file is in use.
        let _lock = self.lock_for_writing()?;
        let mut findings = Vec::new();
        let mut folders = vec!["categories".to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in self
                .disk
                .list_folder(&folder)
                .map_err(|error| io_error(format!("list {folder}"), error))?
            {
                let path = format!("{folder}/{}", entry.name);
                match entry.kind {
                    DirEntryKind::Folder => folders.push(path),
                    DirEntryKind::File if is_temporary_name(&entry.name) => {
                        let finding = DoctorFinding::new(
                            "leftover",
                            &path,
                            "temporary file of an interrupted write",
                        );
                        let mut finding =
                            finding.with_hint("`memory doctor --fix` moves it to the trash");
                        if let Some(repair) = repair {
                            // Two folders may contain temporary files with the same name.
                            let trash =
                                format!("trash/{}/{}/{path}", repair.at.format("%Y-%m"), repair.id);
                            let refused =
                                |error| io_error(format!("move {path} to the trash"), error);
                            self.disk.rename(&path, &trash).map_err(refused)?;
                            finding.fixed = true;
                        }
                        findings.push(finding);
                    }
                    DirEntryKind::File if is_other_markdown(&entry.name) => {
                        let what = "only files that end with .md are memories";
                        findings.push(
                            DoctorFinding::new("not_read", &path, what)
                                .with_hint("rename the file so that it ends with .md"),
                        );
                    }
                    DirEntryKind::File | DirEntryKind::Other => {}
                }
            }
        }
        Ok(findings)
    }
}

/// Returns whether a file is Markdown with another extension than that of memories.
fn is_other_markdown(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_markdown = ["md", "markdown"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known));
    is_markdown && extension != "md" && !name.starts_with('.')
}

fn newer_format_finding(error: &StoreError) -> DoctorFinding {
    DoctorFinding {
        hint: error.hint(),
        ..DoctorFinding::new("newer_format", folder_format::FILE, error.to_string())
    }
}

fn finding_from_problem(problem: Problem) -> DoctorFinding {
    let code = match problem.code {
        Code::FileTooLarge => "file_too_large",
        _ => "file_damaged",
    };
    DoctorFinding {
        line: problem.line,
        hint: problem.hint.map(str::to_owned),
        ..DoctorFinding::new(code, &problem.path, problem.what)
    }
}
