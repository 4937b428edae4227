//! Formats that cannot be imported as they are.

use std::path::{Path, PathBuf};

use crate::archive::{Archive, file_name, is_zip};
use crate::folder::has_extension;
use crate::markdown;
use crate::note::stem;
use crate::notion::split_id;
use crate::program_folder::{head, list};

/// The folder of the activity in Gemini in an export of a Google account, and the start of the names of its files.
const GEMINI_FOLDER: &str = "Gemini Apps";
const ACTIVITY_FILE: &str = "MyActivity.";

/// Number of bytes at the start of a file that are looked at.
const HEAD_BYTES: usize = 8 << 10;

/// Number of digits of an id of Joplin.
const JOPLIN_DIGITS: usize = 32;

/// A format that cannot be imported as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFormat {
    /// The format, such as `an export of Joplin (JEX)`.
    pub name: &'static str,
    /// What to do instead.
    pub advice: &'static str,
    /// The file of records in it that can be imported with a map of its keys.
    pub records: Option<PathBuf>,
}

/// The first bytes of formats of one file.
static MAGIC_BYTES: [(&[u8], ForeignFormat); 9] = [
    (b"\x1f\x8b", PACKED),
    (b"7z\xbc\xaf\x27\x1c", PACKED),
    (b"Rar!", PACKED),
    (b"\xfd7zXZ", PACKED),
    (b"BZh", PACKED),
    (b"\x28\xb5\x2f\xfd", PACKED),
    (b"%PDF-", DOCUMENT),
    (b"{\\rtf", DOCUMENT),
    (
        b"SQLite format 3\0",
        format(
            "a database of another program",
            "export the notes in that program as Markdown, JSON or CSV, and import these files",
        ),
    ),
];

const PACKED: ForeignFormat = format(
    "a packed archive that is not a ZIP archive",
    "unpack it, and import the folder",
);

const PACKED_NOTES: ForeignFormat = format(
    "a packed folder of notes",
    "unpack it, and import the folder",
);

const DOCUMENT: ForeignFormat = format(
    "a document of a text processor",
    "save it as text or Markdown, and import that file",
);

const JOPLIN: ForeignFormat = format(
    "an export of Joplin (JEX or RAW)",
    "export again with File > Export all > \"MD - Markdown + Front Matter\", and import that folder with --source markdown",
);

const ENCRYPTED_NOTES: ForeignFormat = format(
    "an export of Evernote with encrypted notes (.notes)",
    "export again with the format ENEX, and import that file",
);

const DOWNLOADS: ForeignFormat = format(
    "a list of the files of an export, with their addresses",
    "download the ZIP files that it names, and import their folder",
);

const NOTION_HTML: ForeignFormat = format(
    "an export of Notion as HTML",
    "export again with the format \"Markdown & CSV\", and import that file",
);

const GEMINI: ForeignFormat = format(
    "the activity in Gemini of an export of a Google account",
    "select \"My Activity\" with the format JSON at takeout.google.com, unpack the export, and import its file MyActivity.json",
);

const fn format(name: &'static str, advice: &'static str) -> ForeignFormat {
    ForeignFormat {
        name,
        advice,
        records: None,
    }
}

impl ForeignFormat {
    /// Recognizes the format of the file or folder at `path`, if it is a known one that cannot be imported as it is.
    pub fn recognize(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return Self::of_folder(path);
        }
        if is_zip(path).unwrap_or(false) {
            let archive = Archive::open(path, &|_| true).ok()?;
            let names: Vec<_> = archive
                .files
                .iter()
                .map(|file| file.name.as_str())
                .collect();
            let has_notes = names
                .iter()
                .any(|name| has_extension(name, &markdown::EXTENSIONS));
            return Self::of_names(&names).or_else(|| has_notes.then_some(PACKED_NOTES));
        }
        let head = head(path);
        let head = &head[..head.len().min(HEAD_BYTES)];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_activity = || String::from_utf8_lossy(head).contains(GEMINI_FOLDER);
        if name.starts_with(ACTIVITY_FILE) && is_activity() {
            return Some(Self::of_activity(path));
        }
        if head.get(257..262) == Some(b"ustar") {
            let first = head.split(|byte| *byte == 0).next().unwrap_or_default();
            let is_joplin =
                has_extension(&name, &["jex"]) || is_joplin_file(&String::from_utf8_lossy(first));
            return Some(if is_joplin { JOPLIN } else { PACKED });
        }
        let text = String::from_utf8_lossy(head);
        if text.contains("<en-export") && text.contains("base64:aes") {
            return Some(ENCRYPTED_NOTES);
        }
        if name.starts_with("manifest") && text.contains("https://") && text.contains(".zip") {
            return Some(DOWNLOADS);
        }
        let found = MAGIC_BYTES
            .iter()
            .find(|(magic, _)| head.starts_with(magic));
        found.map(|(_, format)| format.clone())
    }

    fn of_folder(folder: &Path) -> Option<Self> {
        let of_activity = |folder: &Path| {
            let mut files = list(folder).into_iter();
            let file = files.find(|file| is_named_activity(file) && file.is_file())?;
            Some(Self::of_activity(&file))
        };
        let inner = [
            "",
            GEMINI_FOLDER,
            "My Activity/Gemini Apps",
            "Takeout/My Activity/Gemini Apps",
        ];
        let places = inner.iter().map(|inner| folder.join(inner));
        let mut activity = places
            .filter(|place| place.file_name().is_some_and(|name| name == GEMINI_FOLDER))
            .filter_map(|place| of_activity(&place));
        activity.next().or_else(|| {
            let items = list(folder);
            let names: Vec<_> = items
                .iter()
                .filter_map(|item| item.file_name()?.to_str())
                .collect();
            Self::of_names(&names)
        })
    }

    /// Recognizes a format by the names of files.
    fn of_names(names: &[&str]) -> Option<Self> {
        let has = |is_own: &dyn Fn(&str) -> bool| names.iter().any(|name| is_own(name));
        let is_notion = |name: &str| {
            has_extension(name, &["html"])
                && matches!(split_id(stem(name)), (title, Some(_)) if !title.is_empty())
        };
        if has(&|name| name.split('/').any(|part| part == GEMINI_FOLDER)) {
            Some(GEMINI)
        } else if has(&|name| is_joplin_file(file_name(name))) {
            Some(JOPLIN)
        } else if has(&is_notion) {
            Some(NOTION_HTML)
        } else if has(&|name| matches!(name, "word/document.xml" | "content.xml")) {
            Some(DOCUMENT)
        } else {
            None
        }
    }

    fn of_activity(file: &Path) -> Self {
        Self {
            records: has_extension(&file.to_string_lossy(), &["json"]).then(|| file.to_owned()),
            ..GEMINI
        }
    }
}

fn is_named_activity(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(ACTIVITY_FILE)
}

/// Returns whether the name of a file is an id of Joplin.
fn is_joplin_file(name: &str) -> bool {
    let id = name.strip_suffix(".md").unwrap_or_default();
    id.len() == JOPLIN_DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn known_formats_are_named() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let recognize = |path: &str, bytes: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("there is room");
            fs::write(&path, bytes).expect("there is room");
            ForeignFormat::recognize(&path)
        };
        let tar = |name: &str| {
            let mut header = vec![0; 512];
            header[..name.len()].copy_from_slice(name.as_bytes());
            header[257..262].copy_from_slice(b"ustar");
            header
        };
        assert_eq!(recognize("all.jex", &tar("x")), Some(JOPLIN));
        assert_eq!(recognize("all", &tar(&format!("{ID}.md"))), Some(JOPLIN));
        assert_eq!(recognize("all.tar", &tar("x.md")), Some(PACKED));
        assert_eq!(recognize("takeout.tgz", b"\x1f\x8b\x08"), Some(PACKED));
        assert_eq!(recognize("a.pdf", b"%PDF-1.7"), Some(DOCUMENT));
        assert_eq!(recognize("a.md", b"text"), None);
        let encrypted = b"<?xml?><en-export><note><content encoding=\"base64:aes\">RU5D</content></note></en-export>";
        assert_eq!(recognize("a.notes", encrypted), Some(ENCRYPTED_NOTES));
        assert_eq!(
            recognize("a.enex", b"<?xml?><en-export><note/></en-export>"),
            None
        );
        let downloads = br#"{"files":[{"url":"https://example.org/conversations.zip"}]}"#;
        assert_eq!(recognize("manifest-9d86.json", downloads), Some(DOWNLOADS));
        assert_eq!(
            recognize("manifest.json", br#"{"name":"https://example.org"}"#),
            None
        );
        assert_eq!(
            recognize("MyActivity.json", b"[{\"header\":\"Maps\"}]"),
            None
        );
        let activity = br#"[{"header":"Gemini Apps","title":"Prompted tea"}]"#;
        let found = recognize("Takeout/My Activity/Gemini Apps/MyActivity.json", activity);
        let file = folder
            .path()
            .join("Takeout/My Activity/Gemini Apps/MyActivity.json");
        let expected = ForeignFormat {
            records: Some(file),
            ..GEMINI
        };
        assert_eq!(found.as_ref(), Some(&expected));
        for outer in [
            "Takeout/My Activity/Gemini Apps",
            "Takeout/My Activity",
            "Takeout",
            "",
        ] {
            let found = ForeignFormat::recognize(&folder.path().join(outer));
            assert_eq!(found.as_ref(), Some(&expected), "{outer}");
        }
        recognize(&format!("raw/{ID}.md"), b"Tea\n\ntype_: 1");
        assert_eq!(
            ForeignFormat::recognize(&folder.path().join("raw")),
            Some(JOPLIN)
        );
        recognize(&format!("html/Tea {ID}.html"), b"<p>");
        assert_eq!(
            ForeignFormat::recognize(&folder.path().join("html")),
            Some(NOTION_HTML)
        );
    }
}
