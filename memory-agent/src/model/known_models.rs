//! Published embedding models of the kinds that run locally.

/// A published embedding model. The facts are those of its publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    /// Name of the model, without the publisher.
    pub name: &'static str,
    /// Name of the publisher.
    pub publisher: &'static str,
    /// SPDX identifier of the license.
    pub license: &'static str,
    /// Size of `model.safetensors`, in millions of bytes.
    pub megabytes: u32,
    /// Languages that the model was trained for.
    pub languages: &'static str,
    /// SHA-256 of `model.safetensors`, if it is verified.
    pub sha256: Option<&'static str>,
}

/// Small published models, sorted by size, smallest first.
pub const KNOWN_MODELS: &[KnownModel] = &[
    known_model("potion-base-8M", "minishlab", "MIT", 30, "English"),
    KnownModel {
        sha256: Some("53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        ..known_model(
            "all-MiniLM-L6-v2",
            "sentence-transformers",
            "Apache-2.0",
            91,
            "English",
        )
    },
    known_model(
        "static-retrieval-mrl-en-v1",
        "sentence-transformers",
        "Apache-2.0",
        125,
        "English",
    ),
    known_model(
        "static-similarity-mrl-multilingual-v1",
        "sentence-transformers",
        "Apache-2.0",
        434,
        "50 languages",
    ),
    known_model(
        "paraphrase-multilingual-MiniLM-L12-v2",
        "sentence-transformers",
        "Apache-2.0",
        471,
        "50 languages",
    ),
    known_model(
        "multilingual-e5-small",
        "intfloat",
        "MIT",
        471,
        "94 languages",
    ),
    known_model(
        "potion-multilingual-128M",
        "minishlab",
        "MIT",
        512,
        "101 languages",
    ),
];

/// The model that is part of the program.
pub const BUILT_IN_MODEL: KnownModel =
    known_model("built-in", "google", "Apache-2.0", 11, "16 languages");

const fn known_model(
    name: &'static str,
    publisher: &'static str,
    license: &'static str,
    megabytes: u32,
    languages: &'static str,
) -> KnownModel {
    KnownModel {
        name,
        publisher,
        license,
        megabytes,
        languages,
        sha256: None,
    }
}
