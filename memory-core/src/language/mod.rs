//! The words of languages, as data.
//!
//! The folder of a language, named by its code, has one JSON file per use: `de/standing.json` is about standing instructions in German. A
//! file is an object of word classes, each a list of words or phrases. The struct that [`word_classes!`] declares for it describes the
//! classes; a class that a file leaves out is empty. So a language is added by a file and its line in the module that uses it.

/// Declares the classes of a file of words, and a function that returns them.
///
/// A class is a list of words unless its type is given.
macro_rules! word_classes {
    (@type) => { Vec<&'static str> };
    (@type $type:ty) => { $type };
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $class:ident $(: $type:ty)?,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, bound(deserialize = "'de: 'static"))]
        pub(super) struct $name {
            $($(#[$doc])* pub(super) $class: word_classes!(@type $($type)?),)*
        }
    };
    ($(#[$meta:meta])* $constant:ident = $file:literal: $name:ident { $($body:tt)* }) => {
        word_classes! { $(#[$meta])* $name { $($body)* } }

        pub(super) static $constant: std::sync::LazyLock<$name> =
            std::sync::LazyLock::new(|| crate::language::parse(include_str!($file)));
    };
}

/// Parses a file of word classes.
///
/// # Panics
/// If a file that is compiled into the program is no such file.
pub(crate) fn parse<T: serde::Deserialize<'static>>(file: &'static str) -> T {
    serde_json::from_str(file).expect("the file describes word classes")
}
