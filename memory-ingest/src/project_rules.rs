//! The rules and memory banks that coding agents read in the folder of a project.

use std::path::Path;

use memory_core::{Category, Scope, Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};

/// A coding agent, and the files in a project that it reads.
#[derive(Debug)]
struct RuleProgram {
    name: &'static str,
    /// The folders, with the extensions of their files.
    folders: &'static [(&'static str, &'static [&'static str])],
    files: &'static [&'static str],
}

impl RuleProgram {
    /// Returns the folder of the project. The folder of the rules may be given instead, or the one that contains it.
    fn project_folder<'p>(&self, path: &'p Path) -> &'p Path {
        let mut project = path;
        let inner = |path: &Path| {
            let ends = |part: &&str| path.ends_with(part);
            let folders = || self.folders.iter().map(|(folder, _)| *folder);
            let outer = || folders().filter_map(|folder| Some(folder.split_once('/')?.0));
            folders().chain(outer()).find(ends)
        };
        while let Some(folder) = inner(project) {
            let depth = folder.split('/').count();
            let Some(outer) = project.ancestors().nth(depth) else {
                break;
            };
            project = outer;
        }
        project
    }
}

/// The rules of the user for all projects, in the folder of Windsurf or in its folder of memories.
const GLOBAL_RULES: &str = "global_rules.md";

/// The file of a rule that has a folder of its own.
const RULE_FILE: &str = "RULE.md";

const MEMORY_BANK: &str = "memory-bank";
const CLINE_RULES: &str = ".clinerules";
const CURSOR_RULES: &str = ".cursor/rules";
const ROO_RULES: &str = ".roo/rules";
const WINDSURF_RULES: &str = ".windsurf/rules";

/// The rules for all agents, in a project or in one of its folders.
pub(crate) const AGENTS: &str = "AGENTS.md";

const CLINE: RuleProgram = RuleProgram {
    name: "cline",
    folders: &[(MEMORY_BANK, &["md"]), (CLINE_RULES, &["md", "txt"])],
    files: &[CLINE_RULES],
};
const ROO: RuleProgram = RuleProgram {
    name: "roo",
    folders: &[
        (MEMORY_BANK, &["md"]),
        (ROO_RULES, &["md", "txt"]),
        (".roo/rules-architect", &["md", "txt"]),
        (".roo/rules-ask", &["md", "txt"]),
        (".roo/rules-code", &["md", "txt"]),
        (".roo/rules-debug", &["md", "txt"]),
    ],
    files: &[".roorules"],
};
const CURSOR: RuleProgram = RuleProgram {
    name: "cursor",
    folders: &[(CURSOR_RULES, &["mdc", "md"])],
    files: &[".cursorrules", AGENTS],
};
const WINDSURF: RuleProgram = RuleProgram {
    name: "windsurf",
    folders: &[(WINDSURF_RULES, &["md"])],
    files: &[
        ".windsurfrules",
        AGENTS,
        GLOBAL_RULES,
        "memories/global_rules.md",
    ],
};

/// The rules or the memory bank of a coding agent in the folder of a project. The name of the folder is the scope.
#[derive(Debug)]
pub struct ProjectRules {
    folder: SourceFolder,
    program: &'static RuleProgram,
    scope: Scope,
}

impl ProjectRules {
    /// Opens the memory bank of Cline in the project at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`], or [`SourceError::NotRecognized`] without such files.
    pub fn cline(path: &Path) -> Result<Self, SourceError> {
        Self::open(path, &CLINE)
    }

    /// Opens the memory bank of Roo Code in the project at `path`.
    ///
    /// # Errors
    /// Those of [`Self::cline`].
    pub fn roo(path: &Path) -> Result<Self, SourceError> {
        Self::open(path, &ROO)
    }

    /// Opens the rules of Cursor in the project at `path`.
    ///
    /// # Errors
    /// Those of [`Self::cline`].
    pub fn cursor(path: &Path) -> Result<Self, SourceError> {
        Self::open(path, &CURSOR)
    }

    /// Opens the rules of Windsurf in the project at `path`, or the rules for all projects in the folder of the program.
    ///
    /// # Errors
    /// Those of [`Self::cline`].
    pub fn windsurf(path: &Path) -> Result<Self, SourceError> {
        Self::open(path, &WINDSURF)
    }

    /// Returns whether the project at `path` has rules of Cline, or a memory bank that is not of Roo Code alone.
    pub(crate) fn is_of_cline(path: &Path) -> bool {
        let path = CLINE.project_folder(path);
        if path.ends_with(ROO_RULES) {
            return false;
        }
        let bank = path.join(MEMORY_BANK);
        let is_bank = || {
            let has = |name: &str| bank.join(name).is_file();
            has("projectbrief.md") || !has("decisionLog.md") && has("activeContext.md")
        };
        path.join(CLINE_RULES).exists() || is_bank()
    }

    /// Returns whether the project at `path` has rules or a memory bank of Roo Code.
    pub(crate) fn is_of_roo(path: &Path) -> bool {
        let path = ROO.project_folder(path);
        path.join(ROO_RULES).is_dir()
            || path.join(".roorules").is_file()
            || path.join(MEMORY_BANK).join("decisionLog.md").is_file()
    }

    /// Returns whether the project at `path` has rules of Cursor.
    pub(crate) fn is_of_cursor(path: &Path) -> bool {
        let path = CURSOR.project_folder(path);
        path.join(CURSOR_RULES).is_dir() || path.join(".cursorrules").is_file()
    }

    /// Returns whether the project at `path` has rules of Windsurf, or `path` is the folder of the program.
    pub(crate) fn is_of_windsurf(path: &Path) -> bool {
        let path = WINDSURF.project_folder(path);
        path.join(WINDSURF_RULES).is_dir()
            || path.join(".windsurfrules").is_file()
            || path.join("memories/global_rules.md").is_file()
    }

    fn open(path: &Path, program: &'static RuleProgram) -> Result<Self, SourceError> {
        let folder = SourceFolder::open(path)?;
        let place = folder.join("");
        let project = program.project_folder(&place);
        let folder = if project == place {
            folder
        } else {
            SourceFolder::open(project)?
        };
        let name = folder
            .join("")
            .file_name()
            .map(|name| note::one_line(&name.to_string_lossy()));
        let scope = name
            .filter(|name| !name.is_empty())
            .map_or(Scope::Global, Scope::Project);
        let rules = Self {
            folder,
            program,
            scope,
        };
        if rules.entries().is_empty() {
            let expected = match program.folders {
                [(MEMORY_BANK, _), ..] => {
                    format!("a project with a memory bank or rules of {}", program.name)
                }
                _ => format!("a project with rules of {}", program.name),
            };
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(rules)
    }

    fn entries(&self) -> Vec<FolderEntry> {
        let mut entries: Vec<_> = self
            .program
            .files
            .iter()
            .filter_map(|path| self.folder.file(path))
            .collect();
        // The folders of a project may have rules of their own.
        let inner = if self.program.files.contains(&AGENTS) {
            self.folder.inner_folders("")
        } else {
            Vec::new()
        };
        entries.extend(
            inner
                .iter()
                .filter_map(|parent| self.folder.file(&format!("{parent}/{AGENTS}"))),
        );
        for (folder, extensions) in self.program.folders {
            let inner = inner.iter().map(|parent| format!("{parent}/{folder}"));
            for folder in inner
                .chain([(*folder).to_owned()])
                .filter(|path| self.folder.join(path).is_dir())
            {
                let files = self.folder.files(&folder).into_iter();
                entries.extend(files.filter(|entry| {
                    has_extension(&entry.path, extensions) || entry.place.is_err()
                }));
            }
        }
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        entries
    }

    fn finding(&self, entry: &FolderEntry) -> SourceItem {
        let text = match note::read_text(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        if text.text.trim().is_empty() {
            return SourceItem::Skipped {
                path: entry.path.clone(),
                reason: "is empty".into(),
            };
        }
        let mut note = SourceNote::new(self.name(), self.folder.name(), &entry.path, &text);
        note.draft.category = Some(rule_category(&entry.path));
        if !entry.path.ends_with(GLOBAL_RULES) {
            note.draft.scope = self.scope.clone();
        }
        let (folder, file) = entry.path.rsplit_once('/').unwrap_or_default();
        if file == RULE_FILE && note.draft.title.as_deref() == Some(note::stem(file)) {
            note.draft.title = folder.rsplit('/').next().map(note::one_line);
        }
        if file == AGENTS && note.draft.title.as_deref() == Some(note::stem(file)) {
            note.draft.title = Some(note::one_line(&entry.path));
        }
        if entry.path.starts_with('.') && !entry.path.contains('/') {
            note.draft.title = Some(entry.path.clone());
        }
        note::in_project(note.into_finding(), Some(self.folder.join("")))
    }
}

impl Source for ProjectRules {
    fn name(&self) -> &'static str {
        self.program.name
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.entries().into_iter().map(|entry| self.finding(&entry)))
    }
}

fn rule_category(path: &str) -> Category {
    match note::stem(path) {
        "decisionLog" => Category::Decisions,
        "AGENTS" => Category::Project,
        _ if path.split('/').any(|part| part == MEMORY_BANK) => Category::Project,
        _ => Category::Preferences,
    }
}
