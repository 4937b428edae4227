//! all-MiniLM-L6-v2, which is too large to be kept in the repository.

use std::path::{Path, PathBuf};

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;
use memory_core::testing::embedder_suite;

/// Returns the folder of the model: the one that `MEMORY_TEST_MODEL` names, or the one among the build's temporary files.
///
/// Without it the test that `claim` names is left out, which `MEMORY_TEST_REQUIRE_ALL=1` turns into a failure.
fn model(claim: &str) -> Option<PathBuf> {
    let cached = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-MiniLM-L6-v2");
    let folder = std::env::var_os("MEMORY_TEST_MODEL").map_or_else(cached, PathBuf::from);
    if folder.join("model.safetensors").is_file() {
        return Some(folder);
    }
    let why = format!("{} holds no model", folder.display());
    assert!(std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none_or(|value| value != "1"), "cannot test {claim}: {why}");
    eprintln!("left out: {claim} ({why})");
    None
}

const TEXTS: [&str; 10] = [
    "The user prefers dark mode in every editor.",
    "She likes a dark theme when she writes code.",
    "用户喜欢深色模式。",
    "The meeting with Anna moved to Thursday at 14:30.",
    "",
    "Crème brûlée — naïve façade; Ünïcödé!",
    "def main(): return {'a': [1, 2, 3]}  # 🦀 emoji",
    "tabs\tand\nnewlines  ",
    "supercalifragilisticexpialidocious Donaudampfschifffahrtsgesellschaft",
    // Followed by 199 more: longer than the model reads.
    "remember this. ",
];

/// The first, the 101st and the last number of each text's vector, as computed in f64 by other means.
const PARTS: [[f64; 3]; 10] = [
    [0.025_892_453, 0.018_787_090, 0.024_849_400],
    [-0.031_242_555, -0.000_166_396, -0.030_187_962],
    [0.043_412_294, 0.019_207_439, 0.001_391_723],
    [-0.000_187_516, 0.028_880_887, -0.001_504_170],
    [-0.118_838_404, 0.035_949_480, -0.015_717_282],
    [0.011_445_110, -0.026_621_182, 0.005_007_100],
    [-0.017_127_997, -0.029_939_145, 0.029_698_612],
    [-0.029_952_908, 0.036_191_600, 0.002_405_710],
    [0.032_711_282, -0.001_586_451, 0.018_562_083],
    [-0.054_789_200, 0.079_525_408, 0.042_989_326],
];

/// Cosines of two of the texts, by the same means.
const COSINES: [(usize, usize, f64); 10] = [
    (0, 1, 0.449_345_161),
    (0, 2, 0.067_793_576),
    (0, 3, -0.064_886_565),
    (0, 6, 0.052_403_603),
    (1, 2, 0.143_607_219),
    (3, 9, 0.043_622_127),
    (4, 5, 0.147_565_154),
    (5, 8, 0.161_435_104),
    (6, 7, 0.068_088_569),
    (8, 9, -0.065_674_716),
];

#[test]
fn a_published_model_gives_the_vectors_it_is_known_for() {
    let Some(folder) = model("the vectors of all-MiniLM-L6-v2") else { return };
    let embedder = LocalEmbedder::open(&folder, None).expect("the model is sound");
    embedder_suite(&embedder);
    let long = TEXTS[9].repeat(200);
    let texts: Vec<&str> = TEXTS[..9].iter().copied().chain([long.as_str()]).collect();
    let vectors = embedder.embed(&texts).expect("it answers");
    for ((text, vector), parts) in TEXTS.iter().zip(&vectors).zip(PARTS) {
        assert_eq!(vector.len(), embedder.dimensions());
        for (place, part) in [0, 100, 383].into_iter().zip(parts) {
            assert!((f64::from(vector[place]) - part).abs() < 1e-5, "{text}: {} and not {part}", vector[place]);
        }
    }
    for (one, other, expected) in COSINES {
        let cosine: f64 = vectors[one].iter().zip(&vectors[other]).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        assert!((cosine - expected).abs() < 1e-5, "{} and {}: {cosine} and not {expected}", TEXTS[one], TEXTS[other]);
    }
}
