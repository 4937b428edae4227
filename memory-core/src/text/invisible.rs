//! Finds invisible characters that can deceive a reader.

use unicode_normalization::char::is_combining_mark;

/// Returns the invisible characters that can deceive a reader of `text`, each with its byte offset.
///
/// An invisible character is ordinary only where Unicode gives it a visible effect on its neighbours: a variation selector after a
/// character that has variants, a joiner within an emoji or next to a letter of a script with joining letters, and the tags of a
/// subdivision flag. In any other position, two texts that look the same can differ in it. Control characters (`Cc`) are not reported.
pub fn deceptive_characters(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut before = PrecedingContext::default();
    let mut flag_end = 0;
    text.char_indices().filter(move |&(at, character)| {
        let rest = &text[at + character.len_utf8()..];
        if !is_invisible(character) {
            flag_end = if character == BLACK_FLAG {
                at + BLACK_FLAG.len_utf8() + flag_tags(rest)
            } else {
                flag_end
            };
            before = PrecedingContext {
                last: Some(character),
                visible: Some(character),
                is_variant: false,
            };
            return false;
        }
        let is_ordinary = at < flag_end || is_expected(character, &before, rest.chars().next());
        before = PrecedingContext {
            last: Some(character),
            is_variant: is_ordinary && is_variation_selector(character),
            ..before
        };
        !is_ordinary
    })
}

/// Returns whether a character is invisible to a reader.
///
/// These are the property `Default_Ignorable_Code_Point` of Unicode 16 (file `DerivedCoreProperties.txt`), line and paragraph separators,
/// and interlinear annotations.
pub(crate) fn is_invisible(character: char) -> bool {
    !character.is_ascii()
        && matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The context before a character.
#[derive(Default)]
struct PrecedingContext {
    last: Option<char>,
    visible: Option<char>,
    /// Whether `last` is a variation selector that applies to `visible`.
    is_variant: bool,
}

/// Returns whether Unicode uses an invisible character between these neighbours.
fn is_expected(character: char, before: &PrecedingContext, next: Option<char>) -> bool {
    let last = before.last.unwrap_or('\0');
    let next = next.unwrap_or('\0');
    match character {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(last) || (is_keycap(last) && next == '\u{20e3}'),
        '\u{fe00}'..='\u{fe0d}' => has_standard_variants(last),
        '\u{e0100}'..='\u{e01ef}' => is_han(last),
        '\u{180b}'..='\u{180f}' => {
            is_mongolian(last) && (character != '\u{180e}' || is_mongolian(next))
        }
        '\u{200d}' => {
            let element = if before.is_variant {
                before.visible.unwrap_or('\0')
            } else {
                last
            };
            is_joining_letter(last) || (is_pictograph(element) && is_pictograph(next))
        }
        // The plural suffix of a foreign word, such as `PDF‌ها`.
        '\u{200c}' => {
            is_joining_letter(last)
                || (is_joining_letter(next) && !is_mark(next) && is_letter(last))
        }
        // The combining grapheme joiner preserves the order of the marks of one letter.
        '\u{34f}' => (is_letter(last) || is_mark(last)) && is_mark(next),
        // An allowed line break in scripts without spaces between words.
        '\u{200b}' => is_spaceless(last) && is_spaceless(next),
        // The fillers of an incomplete syllable of conjoining jamo.
        '\u{115f}' => matches!(next, '\u{1161}'..='\u{11a7}'),
        '\u{1160}' => {
            matches!(last, '\u{1100}'..='\u{115e}') && matches!(next, '\u{11a8}'..='\u{11ff}')
        }
        _ => false,
    }
}

/// Returns whether a character is a visible letter or digit.
///
/// Unicode classifies some fillers as letters.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() && !is_invisible(character)
}

/// Returns whether a character is a visible mark on the letter before it.
fn is_mark(character: char) -> bool {
    is_combining_mark(character) && !is_invisible(character)
}

fn is_variation_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// The base character of a subdivision flag.
const BLACK_FLAG: char = '\u{1f3f4}';

/// Returns the length in bytes of the tags that make a black flag a subdivision flag, such as `gbsct`.
///
/// It is 0 if `rest` does not start with such tags.
fn flag_tags(rest: &str) -> usize {
    let letter = |character: char| matches!(character, '\u{e0061}'..='\u{e007a}');
    let digit = |character: char| matches!(character, '\u{e0030}'..='\u{e0039}');
    let tags: Vec<char> = rest
        .chars()
        .take(7)
        .take_while(|&tag| letter(tag) || digit(tag))
        .collect();
    let length: usize = tags.iter().map(|tag| tag.len_utf8()).sum();
    let is_region = (3..=5).contains(&tags.len()) && tags[..2].iter().all(|&tag| letter(tag));
    let end = rest[length..]
        .chars()
        .next()
        .filter(|&end| is_region && end == '\u{e007f}');
    end.map_or(0, |end| length + end.len_utf8())
}

fn is_keycap(character: char) -> bool {
    matches!(character, '0'..='9' | '#' | '*')
}

/// Returns whether a character is an emoji or may become one.
///
/// These are the property `Extended_Pictographic` of Unicode 16 (file `emoji-data.txt`), and the skin tones.
fn is_pictograph(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{2199}'
        | '\u{21a9}'..='\u{21aa}' | '\u{231a}'..='\u{231b}' | '\u{2328}' | '\u{2388}' | '\u{23cf}' | '\u{23e9}'..='\u{23f3}'
        | '\u{23f8}'..='\u{23fa}' | '\u{24c2}' | '\u{25aa}'..='\u{25ab}' | '\u{25b6}' | '\u{25c0}' | '\u{25fb}'..='\u{25fe}'
        | '\u{2600}'..='\u{2605}' | '\u{2607}'..='\u{2612}' | '\u{2614}'..='\u{2685}' | '\u{2690}'..='\u{2705}'
        | '\u{2708}'..='\u{2712}' | '\u{2714}' | '\u{2716}' | '\u{271d}' | '\u{2721}' | '\u{2728}' | '\u{2733}'..='\u{2734}'
        | '\u{2744}' | '\u{2747}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}'..='\u{2767}'
        | '\u{2795}'..='\u{2797}' | '\u{27a1}' | '\u{27b0}' | '\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b07}'
        | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1f0ff}' | '\u{1f10d}'..='\u{1f10f}' | '\u{1f12f}' | '\u{1f16c}'..='\u{1f171}'
        | '\u{1f17e}'..='\u{1f17f}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}' | '\u{1f1ad}'..='\u{1f1e5}'
        | '\u{1f201}'..='\u{1f20f}' | '\u{1f21a}' | '\u{1f22f}' | '\u{1f232}'..='\u{1f23a}' | '\u{1f23c}'..='\u{1f23f}'
        | '\u{1f249}'..='\u{1f53d}' | '\u{1f546}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f774}'..='\u{1f77f}'
        | '\u{1f7d5}'..='\u{1f7ff}' | '\u{1f80c}'..='\u{1f80f}' | '\u{1f848}'..='\u{1f84f}' | '\u{1f85a}'..='\u{1f85f}'
        | '\u{1f888}'..='\u{1f88f}' | '\u{1f8ae}'..='\u{1f8ff}' | '\u{1f90c}'..='\u{1f93a}' | '\u{1f93c}'..='\u{1f945}'
        | '\u{1f947}'..='\u{1faff}' | '\u{1fc00}'..='\u{1fffd}')
}

/// Returns whether a character has variants for the selectors from U+FE00 to U+FE0D.
///
/// These are the scripts in `StandardizedVariants.txt`.
fn has_standard_variants(character: char) -> bool {
    is_han(character)
        || matches!(character,
            // Mathematical operators, and East Asian punctuation.
            '\u{2205}' | '\u{2229}'..='\u{22db}' | '\u{2a9d}'..='\u{2acc}' | '\u{3001}'..='\u{3002}' | '\u{ff01}' | '\u{ff0c}'
            | '\u{ff0e}' | '\u{ff1a}'..='\u{ff1b}' | '\u{ff1f}'
            // Myanmar, Phags-pa, Manichaean and Egyptian hieroglyphs.
            | '\u{1000}'..='\u{109f}' | '\u{aa60}'..='\u{aa7f}' | '\u{a840}'..='\u{a877}' | '\u{10ac0}'..='\u{10aff}'
            | '\u{13000}'..='\u{143ff}')
}

/// Returns whether a character is a Chinese one.
pub fn is_han(character: char) -> bool {
    matches!(character, '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
}

fn is_mongolian(character: char) -> bool {
    matches!(character, '\u{1807}' | '\u{1820}'..='\u{18aa}')
}

/// Returns whether a joiner changes the shape of this letter or mark in its script.
fn is_joining_letter(character: char) -> bool {
    let is_joining = matches!(character,
        // Arabic, Syriac, N'Ko, Mandaic.
        '\u{600}'..='\u{7ff}' | '\u{840}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        // Devanagari to Sinhala, Tibetan, Myanmar, Khmer, Mongolian.
        | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18aa}'
        // Balinese to Vedic extensions; Phags-pa to Meetei Mayek.
        | '\u{1a20}'..='\u{1aad}' | '\u{1b00}'..='\u{1c4f}' | '\u{1cd0}'..='\u{1cff}' | '\u{a806}'..='\u{aaff}'
        | '\u{abc0}'..='\u{abff}'
        // Kharoshthi, Manichaean, Psalter Pahlavi, Hanifi Rohingya to Chorasmian, Brahmi to Gunjala Gondi, Adlam.
        | '\u{10a00}'..='\u{10a5f}' | '\u{10ac0}'..='\u{10aff}' | '\u{10b80}'..='\u{10baf}' | '\u{10d00}'..='\u{10fdf}'
        | '\u{11000}'..='\u{11faf}' | '\u{1e900}'..='\u{1e95f}');
    is_joining
        && !is_invisible(character)
        && (character.is_alphanumeric() || is_combining_mark(character))
}

/// Returns whether a character belongs to a script without spaces between words.
///
/// These are Thai, Lao, Myanmar and Khmer.
fn is_spaceless(character: char) -> bool {
    let is_script = matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}');
    is_script && !is_invisible(character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn deceptive(text: &str) -> Vec<char> {
        deceptive_characters(text)
            .map(|(_, character)| character)
            .collect()
    }

    #[test]
    fn ordinary_text_of_every_script_deceives_nobody() {
        for text in [
            "⚠️ ❤️ ❤︎ ☺️ ©️ ™️ ℹ️ ✈️ ▶️",
            "1️⃣ 2️⃣ #️⃣ *️⃣",
            "👨‍👩‍👧 👩🏽‍💻 🧑🏽‍🤝‍🧑🏻 👁️‍🗨️ 🏳️‍🌈 🏴‍☠️ 🏃‍♂️ 🏃🏻‍♀️‍➡️ 🐈‍⬛ ❤️‍🔥 👨‍🦰 🇩🇪",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁵󠁳󠁣󠁡󠁿",
            "می‌خواهم خانه‌ها، PDF‌ها، ۱۰‌تایی، ه‍",
            "क्‍ष र्‍य शक्‌ति নির‍্য അവന്‍ ක්‍රි ர‌ு ಕ್‌ಷ",
            "葛󠄀城 辻󠄀 神︀ 、︀",
            "ᠠ᠋ ᠠ᠎ᠡ",
            "ខ្ញុំ\u{200b}ស្រលាញ់",
            "深色 naïve עברית Ω",
        ] {
            assert!(deceptive(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn invisible_characters_without_an_effect_are_found() {
        for text in [
            "a\u{200d}b",
            "a\u{200c}b",
            "\u{200c}",
            "я\u{200c}в",
            "深\u{200d}色",
            "a\u{fe0f}b",
            "1\u{fe0f}",
            "é\u{fe00}",
            "a\u{e0100}",
            "a\u{200b}b",
            "深\u{200b}色",
            "a\u{ad}b",
            "a\u{2060}b",
            "a\u{feff}b",
            "a\u{202e}b",
            "a\u{2066}b",
            "a\u{200e}b",
            "א\u{200f}",
            "a\u{2028}b",
            "a\u{3164}b",
            "a\u{34f}b",
            "👨\u{200d}b",
            "a\u{200d}👨",
            "👨\u{200c}👩",
            "\u{e0041}",
            "a\u{e0061}\u{e007f}",
        ] {
            assert!(!deceptive(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn a_run_of_invisible_characters_carries_no_message() {
        assert_eq!(
            deceptive("❤\u{fe0f}\u{fe0e}\u{fe0f}"),
            ['\u{fe0e}', '\u{fe0f}']
        );
        assert_eq!(
            deceptive("ی\u{200c}\u{200d}\u{200c}خ"),
            ['\u{200d}', '\u{200c}'].as_slice()
        );
        let spelled: String = "ignore"
            .chars()
            .filter_map(|c| char::from_u32(0xe0000 + u32::from(c)))
            .collect();
        assert_eq!(
            deceptive(&format!("🏴{spelled}\u{e007f}")).len(),
            7,
            "an instruction is no flag"
        );
        assert_eq!(
            deceptive("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}").len(),
            5,
            "it never ends"
        );
        assert_eq!(deceptive("葛\u{e0100}\u{e0101}"), ['\u{e0101}']);
        assert_eq!(deceptive("ی\u{200d}\u{fe00}❤"), ['\u{fe00}']);
        assert!(deceptive("ی\u{200d}❤").is_empty());
    }

    proptest! {
        #[test]
        fn without_its_deceptive_characters_a_text_deceives_nobody(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        "a", "1", "❤", "👨", "🏴", "ی", "क्", "葛", "ក", "\u{301}", "\u{20e3}", "ᠠ", "ᄀ", "ᆨ", " ",
                        "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
                    ]).prop_map(str::to_owned),
                    prop::char::ranges(vec!['\u{200b}'..='\u{206f}', '\u{fe00}'..='\u{fe0f}', '\u{115f}'..='\u{1160}', '\u{e0000}'..='\u{e0110}',
                        '\u{180b}'..='\u{180f}', '\u{34f}'..='\u{34f}'].into()).prop_map(String::from),
                ],
                0..12,
            )
        ) {
            let text = parts.concat();
            let found: Vec<usize> = deceptive_characters(&text).map(|(at, _)| at).collect();
            let rest: String = text.char_indices().filter(|(at, _)| !found.contains(at)).map(|(_, c)| c).collect();
            prop_assert_eq!(deceptive(&rest), Vec::<char>::new(), "{:?} -> {:?}", text, rest);
        }
    }
}
