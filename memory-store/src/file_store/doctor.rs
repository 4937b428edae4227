//! What is wrong with a home, and what can be mended.

use std::collections::{HashMap, HashSet};

use memory_core::{Change, Code, Filter, MemoryId, MemoryStore, Operation, Patch, Problem, RecordedChange, StoreError, Verb};

use super::FileStore;
use crate::commit::is_leftover;
use crate::disk::EntryKind;
use crate::error::io_error;
use crate::file::load;

/// What was found in a home.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many memories were looked at.
    pub checked: u64,
    /// What is wrong, by path.
    pub findings: Vec<Finding>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its permanent name: `index_differs`, `file_damaged`, `file_too_large`, `link_one_sided`, `file_missing`,
    /// `journal_damaged`, `leftover`, `bank_damaged`, `line_damaged` or `file_unreadable`.
    pub code: &'static str,
    /// The file.
    pub path: String,
    /// The line, counted from 1, if it can be told.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it was mended.
    pub fixed: bool,
}

impl Finding {
    pub(crate) fn new(code: &'static str, path: &str, what: impl Into<String>) -> Self {
        Self { code, path: path.to_owned(), line: None, what: what.into(), hint: None, fixed: false }
    }

    pub(super) fn with_hint(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}

impl FileStore {
    /// Compares the files with the index and the journal, and looks at banks and files of lines. With `repair`, an operation without changes, mends what can be
    /// mended without losing a byte: it rebuilds the index, completes links, records what is gone, and moves leftovers of
    /// interrupted writes to the trash.
    ///
    /// # Errors
    /// When the home cannot be read, or cannot be mended.
    pub fn doctor(&self, repair: Option<&Operation>) -> Result<Report, StoreError> {
        // What was interrupted is taken back first, lest its files be reported as gone.
        drop(self.begin()?);
        // What other programs did is no fault of the index; what it does not find out by itself is.
        self.index.refresh(crate::index::Depth::Fresh)?;
        let mut findings = self.index_findings()?;
        if repair.is_some() && !findings.is_empty() {
            self.index.rebuild(&mut |_, _| ())?;
            findings = findings.into_iter().map(|finding| Finding { fixed: true, ..finding }).collect();
        }
        findings.extend(self.index.problems()?.into_iter().map(of_problem));
        findings.extend(self.link_findings(repair)?);
        findings.extend(self.journal_findings(repair)?);
        findings.extend(self.leftovers(repair)?);
        findings.extend(self.findings_beside()?);
        findings.sort_by(|left, right| (&left.path, left.code).cmp(&(&right.path, right.code)));
        Ok(Report { checked: self.index.statistics()?.documents, findings })
    }

    fn index_findings(&self) -> Result<Vec<Finding>, StoreError> {
        let hint = "memory reindex builds the index anew";
        let differences = self.index.check()?.into_iter();
        Ok(differences.map(|found| Finding::new("index_differs", &found.path, found.what).with_hint(hint)).collect())
    }

    fn link_findings(&self, repair: Option<&Operation>) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Vec::new();
        for (from, to) in self.one_sided_links()? {
            let (loaded, _) = self.current(&to)?;
            let what = format!("{from} links to it and it does not link back");
            let mut finding =
                Finding::new("link_one_sided", &loaded.stored.path, what).with_hint("memory doctor --fix completes it");
            if let Some(repair) = repair.filter(|_| loaded.stored.problem.is_none()) {
                let patch = Patch { add_links: vec![from], ..Patch::default() };
                if let Some(memory) = patch.apply(&loaded.stored.memory, repair.at) {
                    let change = Change::Replace { expected: loaded.stored.stamp, memory: Box::new(memory) };
                    self.commit(&Operation { changes: vec![change], ..repair.clone() })?;
                    finding.fixed = true;
                }
            }
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Returns the links that their targets do not return. Links to what is no longer there are none: it may come back.
    fn one_sided_links(&self) -> Result<Vec<(MemoryId, MemoryId)>, StoreError> {
        let mut links = HashMap::<MemoryId, Vec<MemoryId>>::new();
        for stored in self.memories(&Filter::everything(), chrono::DateTime::UNIX_EPOCH) {
            let memory = stored?.memory;
            links.insert(memory.id, memory.links);
        }
        let mut one_sided = Vec::new();
        for (from, targets) in &links {
            let unreturned = |target: &&MemoryId| links.get(target).is_some_and(|back| !back.contains(from));
            one_sided.extend(targets.iter().filter(unreturned).map(|target| (*from, *target)));
        }
        one_sided.sort_unstable();
        Ok(one_sided)
    }

    /// Finds files that the journal says are there and are not, and lines of the journal that cannot be read.
    fn journal_findings(&self, repair: Option<&Operation>) -> Result<Vec<Finding>, StoreError> {
        let mut findings: Vec<_> = self
            .journal
            .unreadable()?
            .into_iter()
            .map(|(path, line)| {
                let what = "the line is no record of an operation; what it made has lost its place in the order of creation";
                let finding = Finding::new("journal_damaged", &path, what);
                Finding {
                    line: Some(line),
                    ..finding.with_hint("what it recorded cannot be taken back; delete the line once you have seen it")
                }
            })
            .collect();
        let mut seen = HashSet::<MemoryId>::new();
        let mut gone = Vec::new();
        for begun in self.begun() {
            let begun = begun?;
            for change in begun.changes.into_iter().rev().filter(|change| seen.insert(change.id)) {
                if let Some(after) = change.after
                    && self.index.place(&change.id)?.is_none()
                    // A file that cannot be read is there, and is reported as what it is.
                    && load(self.disk.as_ref(), &after.path).is_ok()
                {
                    gone.push(RecordedChange { id: change.id, before: Some(after), after: None, why: None });
                }
            }
        }
        if let Some(repair) = repair.filter(|_| !gone.is_empty()) {
            let _lock = self.begin()?;
            self.journal.begin(&Operation { verb: Verb::Repair, ..repair.clone() }, None, &gone)?;
        }
        for file in gone.into_iter().filter_map(|change| change.before) {
            let what = "another program has deleted it, or its id";
            let hint = "put it back from the trash or a backup, or accept it with memory doctor --fix";
            let finding = Finding::new("file_missing", &file.path, what).with_hint(hint);
            findings.push(Finding { fixed: repair.is_some(), ..finding });
        }
        Ok(findings)
    }

    /// Finds the temporary files of writes that were interrupted.
    fn leftovers(&self, repair: Option<&Operation>) -> Result<Vec<Finding>, StoreError> {
        // While nobody writes, every temporary file is left over.
        let _lock = self.begin()?;
        let mut findings = Vec::new();
        let mut folders = vec!["categories".to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in self.disk.folder(&folder).map_err(|error| io_error(format!("list {folder}"), error))? {
                let path = format!("{folder}/{}", entry.name);
                match entry.kind {
                    EntryKind::Folder => folders.push(path),
                    EntryKind::File if is_leftover(&entry.name) => {
                        let finding = Finding::new("leftover", &path, "a write was interrupted and has left this behind");
                        let mut finding = finding.with_hint("memory doctor --fix moves it to the trash");
                        if let Some(repair) = repair {
                            // Two folders may have one of the same name.
                            let trash = format!("trash/{}/{}/{path}", repair.at.format("%Y-%m"), repair.id);
                            let refused = |error| io_error(format!("move {path} to the trash"), error);
                            self.disk.rename(&path, &trash).map_err(refused)?;
                            finding.fixed = true;
                        }
                        findings.push(finding);
                    }
                    EntryKind::File | EntryKind::Other => {}
                }
            }
        }
        Ok(findings)
    }
}

fn of_problem(problem: Problem) -> Finding {
    let code = match problem.code {
        Code::FileTooLarge => "file_too_large",
        _ => "file_damaged",
    };
    Finding { line: problem.line, hint: problem.hint.map(str::to_owned), ..Finding::new(code, &problem.path, problem.what) }
}
