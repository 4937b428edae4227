//! Tests with all-MiniLM-L6-v2, which is too large for the repository.

use std::path::{Path, PathBuf};

use memory_agent::model::LocalEmbedder;
use memory_core::Embedder;
use memory_core::testing::embedder_suite;

/// Returns the folder of the model: `MEMORY_TEST_MODEL`, or a folder among the temporary build files.
fn model() -> Option<PathBuf> {
    let cached = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-MiniLM-L6-v2");
    let folder = std::env::var_os("MEMORY_TEST_MODEL").map_or_else(cached, PathBuf::from);
    if folder.join("model.safetensors").is_file() {
        return Some(folder);
    }
    memory_core::testing::leave_out(&format!("{} holds no model", folder.display()));
    None
}

const CHINESE: &str = "用户喜欢深色模式。";

const TEXTS: [&str; 10] = [
    "The user prefers dark mode in every editor.",
    "She likes a dark theme when she writes code.",
    CHINESE,
    "The meeting with Anna moved to Thursday at 14:30.",
    "",
    "Crème brûlée — naïve façade; Ünïcödé!",
    "def main(): return {'a': [1, 2, 3]}  # 🦀 emoji",
    "tabs\tand\nnewlines  ",
    "supercalifragilisticexpialidocious Donaudampfschifffahrtsgesellschaft",
    // Followed by 199 more: longer than the maximum input of the model.
    "remember this. ",
];

/// The first, the 101st and the last component of each text's vector.
///
/// They were computed in f64 by an independent implementation.
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

/// Cosines of pairs of the texts, by the same implementation.
const COSINES: [(usize, usize, f64); 8] = [
    (0, 1, 0.449_345_161),
    (0, 3, -0.064_886_565),
    (0, 6, 0.052_403_603),
    (3, 9, 0.043_622_127),
    (4, 5, 0.147_565_154),
    (5, 8, 0.161_435_104),
    (6, 7, 0.068_088_569),
    (8, 9, -0.065_674_716),
];

#[test]
fn a_published_model_gives_the_vectors_it_is_known_for() {
    let Some(folder) = model() else {
        return;
    };
    let embedder = LocalEmbedder::open(&folder, None).expect("the model is sound");
    embedder_suite(&embedder);
    let long = TEXTS[9].repeat(200);
    let texts: Vec<&str> = TEXTS[..9].iter().copied().chain([long.as_str()]).collect();
    let vectors = embedder.embed(&texts).expect("it answers");
    for ((text, vector), parts) in TEXTS.iter().zip(&vectors).zip(PARTS) {
        assert_eq!(vector.len(), embedder.dimensions());
        if *text == CHINESE {
            assert!(
                vector.iter().all(|part| *part == 0.0),
                "the model was not made for Chinese"
            );
            continue;
        }
        for (place, part) in [0, 100, 383].into_iter().zip(parts) {
            assert!(
                (f64::from(vector[place]) - part).abs() < 1e-5,
                "{text}: {} and not {part}",
                vector[place]
            );
        }
    }
    for (one, other, expected) in COSINES {
        let cosine: f64 = vectors[one]
            .iter()
            .zip(&vectors[other])
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum();
        assert!(
            (cosine - expected).abs() < 1e-5,
            "{} and {}: {cosine} and not {expected}",
            TEXTS[one],
            TEXTS[other]
        );
    }
}

#[test]
fn an_english_model_reads_texts_of_the_scripts_it_was_made_for() {
    let Some(folder) = model() else {
        return;
    };
    let embedder = LocalEmbedder::open(&folder, None).expect("the model is sound");
    for (text, is_read) in [
        ("Which medicine did the doctor give us?", true),
        (
            "L'utilisateur préfère le mode sombre; der Müller auch.",
            true,
        ),
        ("We met in the restaurant 北京烤鸭 on Friday.", true),
        ("42 + 17", true),
        ("我们决定下周三去上海开会", false),
        ("你好", false),
        ("用户喜欢在 VS Code 里使用深色模式", false),
        ("ユーザーはダークモードを好む", false),
        ("사용자는 다크 모드를 선호합니다", false),
        ("Пользователь предпочитает тёмную тему", false),
        ("המשתמש מעדיף מצב כהה", false),
    ] {
        let vectors = embedder.embed(&[text]).expect("it answers");
        assert_eq!(memory_core::is_nonzero(&vectors[0]), is_read, "{text}");
    }
}
