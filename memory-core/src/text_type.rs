//! What all types that are written as one text have in common; the syntax of each is in its `FromStr`.

/// Implements `Display` for types with an `as_str` method, with the width and alignment of the format.
macro_rules! impl_display {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }
    };
}

/// Implements `as_str` and `Display` for a newtype of a checked text.
macro_rules! impl_text_type {
    ($type:ty) => {
        impl $type {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl_display!($type);
    };
}
