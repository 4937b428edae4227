//! The fields of the definition of an instance.

/// A field of the definition of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
    /// The type of the value.
    pub kind: FieldKind,
    /// Whether the field must be set.
    pub required: bool,
    /// Whether the value is stored encrypted and never displayed.
    pub secret: bool,
    /// The default value.
    pub default: Option<&'static str>,
    /// The field and value on which this one depends; it only applies with that value.
    pub shown_when: Option<(&'static str, &'static str)>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Any text.
    Text,
    /// The path of a folder.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl FieldKind {
    /// Returns the name of the type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Path => "path",
            Self::Choice(_) => "choice",
        }
    }
}

/// Returns the fields of a type that is stored in files or in a database.
///
/// `kept` is the description of the driver field, and `dir` that of the folder.
pub(super) const fn driver_fields(kept: &'static str, dir: &'static str) -> [Field; 3] {
    let driver = Field {
        name: "driver",
        description: kept,
        kind: FieldKind::Choice(&["file", "postgres"]),
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
            kind: FieldKind::Path,
            required: false,
            default: None,
            shown_when: Some(("driver", "file")),
            ..driver
        },
        Field {
            name: "dsn",
            description: "The URL of the database: postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full",
            kind: FieldKind::Text,
            secret: true,
            default: None,
            shown_when: Some(("driver", "postgres")),
            ..driver
        },
    ]
}
