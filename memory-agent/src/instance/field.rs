//! What defines an instance.

/// One field of what defines an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether an instance cannot be without it.
    pub required: bool,
    /// Whether it is sealed, and never shown.
    pub secret: bool,
    /// What it is if it is not given.
    pub default: Option<&'static str>,
    /// The field and its value on which this one depends: otherwise it means nothing.
    pub shown_when: Option<(&'static str, &'static str)>,
}

/// What a field may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A folder.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Choice(_) => "choice",
        }
    }
}

/// Returns the fields of what is kept in files or in a database; `kept` says what for, and `dir` what its folder holds.
pub(super) const fn of_drivers(kept: &'static str, dir: &'static str) -> [Field; 3] {
    let driver = Field {
        name: "driver",
        description: kept,
        kind: Kind::Choice(&["file", "postgres"]),
        required: true,
        secret: false,
        default: Some("file"),
        shown_when: None,
    };
    [
        driver,
        Field {
            name: "dir",
            description: dir,
            kind: Kind::Path,
            required: false,
            default: None,
            shown_when: Some(("driver", "file")),
            ..driver
        },
        Field {
            name: "dsn",
            description: "The address of the database: postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full",
            kind: Kind::Text,
            secret: true,
            default: None,
            shown_when: Some(("driver", "postgres")),
            ..driver
        },
    ]
}
