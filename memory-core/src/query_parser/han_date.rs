//! Parsing of Chinese and Japanese dates: 2024年3月8日, 二〇二四年三月, 3月8號.

use std::ops::Range;

/// A date in a text with at least a year or a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HanDate {
    /// The byte range of the date in the text.
    pub(super) span: Range<usize>,
    pub(super) year: Option<i32>,
    pub(super) month: Option<u32>,
    pub(super) day: Option<u32>,
}

/// Returns the dates in a text, in text order; a day without a month is not a date.
pub(super) fn find_han_dates(text: &str) -> Vec<HanDate> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(is_digit).map(|start| at + start) {
        match parse_han_date(text, start) {
            Some(date) => {
                at = date.span.end;
                found.push(date);
            }
            // The remaining digits of a number are not a number themselves.
            None => at = start + leading_digits(&text[start..]).len(),
        }
    }
    found
}

fn parse_han_date(text: &str, start: usize) -> Option<HanDate> {
    let mut rest = &text[start..];
    let year = parse_unit(&mut rest, &['年'], |digits| parse_year(digits).filter(|year| (1900..=2099).contains(year)));
    let month = parse_unit(&mut rest, &['月'], |digits| parse_number(digits).filter(|month| (1..=12).contains(month)));
    let day = month.and_then(|_| {
        parse_unit(&mut rest, &['日', '号', '號'], |digits| parse_number(digits).filter(|day| (1..=31).contains(day)))
    });
    let is_date = year.is_some() || month.is_some();
    let year = year.and_then(|year| i32::try_from(year).ok());
    is_date.then(|| HanDate { span: start..text.len() - rest.len(), year, month, day })
}

/// Parses a number followed by one of `units` and advances `rest` past both.
///
/// If `rest` has another form, it is unchanged.
fn parse_unit(rest: &mut &str, units: &[char], read: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let digits = leading_digits(rest);
    let after = rest[digits.len()..].strip_prefix(units)?;
    let value = read(digits)?;
    *rest = after;
    Some(value)
}

/// Returns the leading digits of a text.
fn leading_digits(text: &str) -> &str {
    &text[..text.find(|character| !is_digit(character)).unwrap_or(text.len())]
}

fn is_digit(character: char) -> bool {
    character == '十' || digit_value(character).is_some()
}

fn digit_value(character: char) -> Option<u32> {
    match character {
        '0'..='9' => character.to_digit(10),
        '０'..='９' => Some(u32::from(character) - u32::from('０')),
        _ => "〇一二三四五六七八九"
            .chars()
            .position(|digit| digit == character || (digit == '〇' && character == '零'))
            .and_then(|digit| u32::try_from(digit).ok()),
    }
}

/// Parses a four-digit year digit by digit, as years are written.
fn parse_year(digits: &str) -> Option<u32> {
    if digits.chars().count() != 4 {
        return None;
    }
    digits.chars().try_fold(0, |year, character| Some(year * 10 + digit_value(character)?))
}

/// Parses a number below 100, such as 8, 08, 八, 十八 or 二十八.
fn parse_number(digits: &str) -> Option<u32> {
    let read = |digits: &str| match digits.chars().count() {
        1 => digit_value(digits.chars().next()?),
        2 if digits.starts_with(|first: char| first.is_ascii_digit() || ('０'..='９').contains(&first)) => {
            digits.chars().try_fold(0, |number, character| Some(number * 10 + digit_value(character)?))
        }
        _ => None,
    };
    let Some((tens, ones)) = digits.split_once('十') else { return read(digits) };
    let tens = if tens.is_empty() { 1 } else { read(tens)? };
    Some(tens * 10 + if ones.is_empty() { 0 } else { read(ones)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> Vec<(Option<i32>, Option<u32>, Option<u32>)> {
        find_han_dates(text).into_iter().map(|date| (date.year, date.month, date.day)).collect()
    }

    #[test]
    fn dates_are_read_as_far_as_they_are_named() {
        let whole = (Some(2024), Some(3), Some(8));
        for (text, date) in [
            ("2024年3月8日", whole),
            ("我们2024年03月08号决定了什么？", whole),
            ("２０２４年３月８日", whole),
            ("二〇二四年三月八日", whole),
            ("二零二四年三月八號", whole),
            ("2024年3月", (Some(2024), Some(3), None)),
            ("2024年", (Some(2024), None, None)),
            ("3月8日的会议", (None, Some(3), Some(8))),
            ("十二月三十一日", (None, Some(12), Some(31))),
            ("二十一日前，十月", (None, Some(10), None)),
        ] {
            assert_eq!(parts(text), [date], "{text}");
        }
        assert_eq!(parts("2024年3月和2025年").len(), 2);
        let text = "在2024年3月8日，";
        assert_eq!(find_han_dates(text)[0].span, "在".len()..text.len() - "，".len());
    }

    #[test]
    fn amounts_and_days_alone_are_no_dates() {
        for text in ["3个月", "100年", "12024年", "13月", "8日", "三年", "24年", "3 月", "十十月", "0月", "1899年"]
        {
            assert_eq!(parts(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_spans_lie_in_it(text in "[0-9十三〇年月日号a ]{0,20}|.{0,20}") {
            for date in find_han_dates(&text) {
                prop_assert!(text.get(date.span).is_some_and(|named| named.contains(['年', '月'])));
            }
        }
    }
}
