//! Runs git without the settings, attributes, filters and hooks of a repository.
//!
//! The settings of a repository can name commands: in `core.fsmonitor`, filters, `core.sshCommand`, included files and many more keys,
//! with each version of git. git has no option to ignore them, but it reads them from the folder `GIT_COMMON_DIR`, and the attributes and
//! hooks too. It is set to a temporary folder with settings of this program, which contain those settings of the repository that
//! describe its format. References remain in the repository, as `GIT_COMMON_DIR` does not apply to them; its objects are in
//! `GIT_OBJECT_DIRECTORY`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use super::access::RepositoryFolders;
use super::repository::{git_error, run_for_output};
use crate::conversation::GitVersionsError;
use crate::system::{private_temp_folder, read_small_file};

/// Maximum size of the settings and of the list of ignored files of a repository, in bytes.
const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// Maximum size of the settings of a repository as git lists them, in bytes: the product of the number and the length of lines.
const MAX_LISTED: usize = 16 * 1024 * 1024;

/// Settings of a repository that are passed on: they describe its format, its file system, its permissions and its author.
///
/// None of them names a file, a program or an address.
const PASSED_SETTINGS: [&str; 11] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sharedrepository",
    "core.trustctime",
    "extensions.objectformat",
    "extensions.refstorage",
    "user.name",
    "user.email",
];

/// Extensions of the format of repositories that have no effect on this program.
const UNUSED_EXTENSIONS: [&str; 5] = [
    "extensions.noop",
    "extensions.partialclone",
    "extensions.preciousobjects",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
];

/// The author and committer for settings that the user has not made.
const DEFAULT_IDENTITY: [(&str, &str); 2] =
    [("user.name", "memory"), ("user.email", "memory@localhost")];

/// The settings of the user that apply.
const USER_SETTINGS: &str = r"^(user\.(name|email)|core\.excludesfile)$";

/// Variables of git that the user may set for its own commits and installation. All others are removed: this process may be started by a
/// hook of another repository.
const PASSED_VARIABLES: [&str; 5] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_EXEC_PATH",
];

/// Variables with the paths of the settings of the user.
const SETTINGS_VARIABLES: [&str; 3] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// The tree without files, which has no attributes, by the format of the objects.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Settings by their names in lower case.
type GitSettings = BTreeMap<String, String>;

/// The settings that git uses in place of those of a repository.
#[derive(Debug)]
pub(super) struct IsolatedSettings {
    /// The folder in place of that of the repository.
    folder: TempDir,
    /// The settings of the repository.
    theirs: GitSettings,
    /// The timeout of a command that reads settings.
    patience: Duration,
}

impl IsolatedSettings {
    /// Reads the settings of the repository, as data.
    pub(super) fn read(
        root: &Path,
        folders: &RepositoryFolders,
        patience: Duration,
    ) -> Result<Self, GitVersionsError> {
        let no_room = |error: io::Error| git_error("prepare its settings", &error);
        // Other users must not put a hook into it.
        let folder = private_temp_folder(&std::env::temp_dir(), "memory-git-").map_err(no_room)?;
        // git takes a folder for a repository if it has this one.
        fs::create_dir(folder.path().join("refs")).map_err(no_room)?;
        let path = folders.common.join("config");
        let unreadable = |error: io::Error| git_error("read its settings", &error);
        let text = read_small_file(&path, MAX_FILE_SIZE).map_err(unreadable)?;
        // git repeats the name of a section for each of its lines.
        let (lines, longest) = text
            .split(|byte| *byte == b'\n')
            .fold((0, 0), |(count, longest), line| {
                (count + 1, line.len().max(longest))
            });
        if MAX_LISTED < lines * longest {
            let error = io::Error::other(format!("{} has too many settings", path.display()));
            return Err(unreadable(error));
        }
        let mut command = isolated_command(root);
        command
            // Not a repository, so that none is searched for.
            .env("GIT_DIR", folder.path())
            .args(["config", "--null", "--no-includes", "--list", "--file", "-"]);
        let said = run_for_output(&mut command, root, "read its settings", &text, patience)?;
        let theirs = parse_settings(&said);
        if let Some(unknown) = theirs.keys().find(|key| {
            key.starts_with("extensions.")
                && !PASSED_SETTINGS.contains(&key.as_str())
                && !UNUSED_EXTENSIONS.contains(&key.as_str())
        }) {
            return Err(GitVersionsError::Refused {
                action: "read the repository".into(),
                why: format!("its format has the unknown setting {unknown}"),
            });
        }
        Ok(Self {
            folder,
            theirs,
            patience,
        })
    }

    /// Returns a setting of the repository, by its name in lower case.
    pub(super) fn of_repository(&self, key: &str) -> Option<&str> {
        self.theirs.get(key).map(String::as_str)
    }

    /// Returns the names of the settings of the repository, in which only a subsection has upper case.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.theirs.keys().map(String::as_str)
    }

    /// Writes the settings that git uses from now on.
    pub(super) fn write(
        &self,
        root: &Path,
        folders: &RepositoryFolders,
    ) -> Result<(), GitVersionsError> {
        let no_room = |error: io::Error| git_error("prepare its settings", &error);
        let mut settings: GitSettings = [
            ("core.bare", "false"),
            ("core.attributesfile", "/dev/null"),
            // The process in the background would outlive the folder.
            ("gc.autodetach", "false"),
            ("maintenance.autodetach", "false"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let passed = PASSED_SETTINGS
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), self.theirs.get(*key)?.clone())));
        settings.extend(passed);
        let path = self.folder.path().join("config");
        fs::write(&path, format_settings(&settings)).map_err(no_room)?;
        let mut command = Command::new("git");
        remove_variables(&mut command, &SETTINGS_VARIABLES);
        self.use_in(&mut command, root, folders);
        command.args([
            "config",
            "--null",
            "--type=path",
            "--get-regexp",
            USER_SETTINGS,
        ]);
        // The command fails without a message if there are none.
        let of_user = run_for_output(
            &mut command,
            root,
            "read the user settings",
            b"",
            self.patience,
        );
        settings.extend(of_user.map_or_else(|_| GitSettings::new(), |said| parse_settings(&said)));
        for (key, value) in DEFAULT_IDENTITY {
            let own = settings.entry(key.to_owned()).or_default();
            if own.is_empty() {
                value.clone_into(own);
            }
        }
        fs::write(&path, format_settings(&settings)).map_err(no_room)?;
        self.copy_ignore_list(&folders.common).map_err(no_room)
    }

    /// Returns a git command on the repository.
    pub(super) fn command(&self, root: &Path, folders: &RepositoryFolders) -> Command {
        let mut command = isolated_command(root);
        self.use_in(&mut command, root, folders);
        command.arg("--no-pager");
        command
    }

    /// Returns whether git has not put references next to these settings, where they would be lost.
    pub(super) fn has_no_references(&self) -> io::Result<bool> {
        Ok(fs::read_dir(self.folder.path().join("refs"))?
            .next()
            .is_none())
    }

    fn use_in(&self, command: &mut Command, root: &Path, folders: &RepositoryFolders) {
        let empty_tree = match self.of_repository("extensions.objectformat") {
            Some("sha256") => EMPTY_TREE_SHA256,
            _ => EMPTY_TREE,
        };
        command
            .current_dir(root)
            .env("GIT_DIR", &folders.own)
            .env("GIT_COMMON_DIR", self.folder.path())
            .env("GIT_OBJECT_DIRECTORY", folders.common.join("objects"))
            .env("GIT_WORK_TREE", root)
            .env("GIT_ATTR_SOURCE", empty_tree);
    }

    /// Copies the list of ignored files of the repository, which are patterns.
    fn copy_ignore_list(&self, common: &Path) -> io::Result<()> {
        let Ok(list) = read_small_file(&common.join("info/exclude"), MAX_FILE_SIZE) else {
            return Ok(());
        };
        let own = self.folder.path().join("info");
        fs::create_dir(&own)?;
        fs::write(own.join("exclude"), list)
    }
}

/// Returns a git command in the folder at `root` that reads no settings of the user or the machine.
pub(super) fn isolated_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    remove_variables(&mut command, &[]);
    command
        .current_dir(root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        // git never connects to another machine, not even for a missing object.
        .env("GIT_ALLOW_PROTOCOL", "")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_LITERAL_PATHSPECS", "1");
    command
}

/// Returns a git command in the folder at `root` that creates a repository there, with the settings of the user.
pub(super) fn create_command(root: &Path) -> Command {
    let mut command = Command::new("git");
    remove_variables(&mut command, &SETTINGS_VARIABLES);
    command.current_dir(root);
    // A repository of a parent folder is not looked at.
    if let Some(parent) = root.parent() {
        command.env("GIT_CEILING_DIRECTORIES", parent);
    }
    command
}

/// Removes the variables of git from the environment of a command, except those that the user sets for its own commits and `others`.
fn remove_variables(command: &mut Command, others: &[&str]) {
    // Only the names are used. git reads dozens of variables, and each version adds some.
    for (name, _) in std::env::vars_os() {
        let is_passed = |passed: &[&str]| passed.iter().any(|passed| name == *passed);
        let is_of_git = name
            .to_str()
            .is_some_and(|name| name.to_ascii_uppercase().starts_with("GIT_"));
        if is_of_git && !is_passed(&PASSED_VARIABLES) && !is_passed(others) {
            command.env_remove(name);
        }
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
}

/// Parses settings that git lists with `--null`: the name, a line break and the value. The last value of a name counts.
fn parse_settings(said: &[u8]) -> GitSettings {
    let text = String::from_utf8_lossy(said);
    text.split('\0')
        .filter_map(|setting| {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            (!key.is_empty()).then(|| (key.to_owned(), value.to_owned()))
        })
        .collect()
}

/// Formats settings as a file of git. No name has a subsection.
fn format_settings(settings: &GitSettings) -> String {
    let mut text = String::new();
    for (key, value) in settings {
        let (section, name) = key.split_once('.').unwrap_or(("core", key));
        let value: String = value
            .chars()
            .filter(|letter| !letter.is_control())
            .flat_map(|letter| {
                let escape = matches!(letter, '"' | '\\').then_some('\\');
                escape.into_iter().chain([letter])
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{section}]\n\t{name} = \"{value}\"");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_settings_adds_no_setting() {
        let settings: GitSettings = [(
            "user.name".to_owned(),
            "An\"na\\\n[core]\n\tfsmonitor = touch x\0".to_owned(),
        )]
        .into();
        assert_eq!(
            format_settings(&settings),
            "[user]\n\tname = \"An\\\"na\\\\[core]fsmonitor = touch x\"\n"
        );
    }

    #[test]
    fn the_last_value_of_a_setting_counts() {
        assert_eq!(
            parse_settings(b"user.name\nAnna\0core.bare\0user.name\nBen\nB\0"),
            [("core.bare", "true"), ("user.name", "Ben\nB")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into()
        );
    }
}
