//! The names of languages.

/// The names of each language in English, German, French and Chinese, folded; the first one identifies the language.
const LANGUAGES: &[&[&str]] = &[
    &["arabic", "arabisch", "arabe", "阿拉伯语", "阿拉伯文"],
    &["bulgarian", "bulgarisch", "bulgare"],
    &["catalan", "katalanisch"],
    &[
        "chinese",
        "mandarin",
        "chinesisch",
        "chinois",
        "中文",
        "汉语",
        "普通话",
        "国语",
        "华语",
    ],
    &["cantonese", "kantonesisch", "cantonais", "粤语", "广东话"],
    &["croatian", "kroatisch", "croate"],
    &["czech", "tschechisch", "tcheque"],
    &["danish", "danisch", "danois"],
    &["dutch", "niederlandisch", "neerlandais", "荷兰语"],
    &["english", "englisch", "anglais", "英语", "英文"],
    &["finnish", "finnisch", "finnois"],
    &["french", "franzosisch", "francais", "法语", "法文"],
    &["german", "deutsch", "allemand", "德语", "德文"],
    &["greek", "griechisch", "grec", "希腊语"],
    &["hebrew", "hebraisch", "hebreu", "希伯来语"],
    &["hindi", "印地语"],
    &["hungarian", "ungarisch", "hongrois"],
    &["indonesian", "indonesisch", "indonesien", "印尼语"],
    &["italian", "italienisch", "italien", "意大利语", "意大利文"],
    &["japanese", "japanisch", "japonais", "日语", "日文"],
    &["korean", "koreanisch", "coreen", "韩语", "韩文"],
    &["latin", "latein", "拉丁语"],
    &["malay", "malaiisch", "malais", "马来语"],
    &["norwegian", "norwegisch", "norvegien"],
    &["persian", "farsi", "persisch", "persan", "波斯语"],
    &["polish", "polnisch", "polonais", "波兰语"],
    &[
        "portuguese",
        "portugiesisch",
        "portugais",
        "葡萄牙语",
        "葡萄牙文",
    ],
    &["romanian", "rumanisch", "roumain"],
    &["russian", "russisch", "russe", "俄语", "俄文"],
    &["serbian", "serbisch", "serbe"],
    &["slovak", "slowakisch", "slovaque"],
    &["spanish", "spanisch", "espagnol", "西班牙语", "西班牙文"],
    &["swedish", "schwedisch", "suedois", "瑞典语"],
    &["thai", "thailandisch", "泰语", "泰文"],
    &["turkish", "turkisch", "turc", "土耳其语"],
    &["ukrainian", "ukrainisch", "ukrainien", "乌克兰语"],
    &["vietnamese", "vietnamesisch", "vietnamien", "越南语"],
];

/// Returns the language that a folded word names.
pub(super) fn language(word: &str) -> Option<&'static str> {
    LANGUAGES
        .iter()
        .find(|names| names.contains(&word))
        .map(|names| names[0])
}

/// Returns the language whose name in Chinese characters is at the start of the folded text, and the length of the name in bytes.
pub(super) fn language_at(text: &str) -> Option<(&'static str, usize)> {
    LANGUAGES.iter().find_map(|names| {
        let name = names
            .iter()
            .find(|name| !name.is_ascii() && text.starts_with(**name))?;
        Some((names[0], name.len()))
    })
}
