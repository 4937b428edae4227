//! Number literals that preserve all digits.

use std::cmp::Ordering;

/// The maximum number of digits that a double certainly preserves.
const SAFE_DIGITS: usize = 15;
/// The maximum absolute value of an exponent; beyond it a number is infinite or zero.
const MAX_EXPONENT: i64 = 999_999_999;

/// A decimal number in its canonical form: `1.0`, `0.1`, `1E+1000`.
#[derive(Debug)]
pub(crate) struct Literal {
    text: Box<str>,
    double: f64,
}

/// A parsed number.
#[derive(Debug)]
pub(crate) enum ParsedNumber {
    /// A double that represents the number exactly and prints the same digits.
    Exact(f64),
    Literal(Literal),
}

impl Literal {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn double(&self) -> f64 {
        self.double
    }

    pub(crate) fn negate(&self) -> Self {
        let text = match self.text.strip_prefix('-') {
            Some(positive) => positive.into(),
            None => format!("-{}", self.text).into(),
        };
        Self {
            text,
            double: -self.double,
        }
    }

    /// Compares all digits.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let (left, right) = (Decimal::parse(&self.text), Decimal::parse(&other.text));
        match (left, right) {
            (Some(left), Some(right)) => left.compare(&right),
            _ => super::number::compare(self.double, other.double),
        }
    }
}

/// Parses a number: an optional sign, digits with at most one point, an optional exponent.
pub(crate) fn parse_number(text: &str) -> Option<ParsedNumber> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.len() <= SAFE_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain && (!digits.starts_with('0') || text == "0") && !digits.is_empty() {
        return text.parse().ok().map(ParsedNumber::Exact);
    }
    let decimal = Decimal::parse(text)?;
    let double: f64 = text.parse().ok()?;
    let (top, zero) = (decimal.top_exponent(), decimal.digits == "0");
    if !zero && top > MAX_EXPONENT {
        return Some(ParsedNumber::Exact(double));
    }
    if !zero && top < -MAX_EXPONENT {
        return Some(ParsedNumber::Exact(0.0));
    }
    let canonical = decimal.to_string();
    if decimal.digits.len() <= SAFE_DIGITS
        && super::number::format(double) == canonical
        && canonical != "-0"
    {
        return Some(ParsedNumber::Exact(double));
    }
    Some(ParsedNumber::Literal(Literal {
        text: canonical.into(),
        double,
    }))
}

/// A decimal number: sign, digits without leading zeros, and the exponent of the last digit.
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, saturating(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = whole.chars().chain(fraction.chars()).collect();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = digits.trim_start_matches('0');
        let significant = if significant.is_empty() {
            "0"
        } else {
            significant
        };
        let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).ok()?);
        Some(Self {
            negative,
            digits: significant.to_owned(),
            exponent,
        })
    }

    /// Returns the exponent of the first digit.
    fn top_exponent(&self) -> i64 {
        self.exponent
            .saturating_add(i64::try_from(self.digits.len()).unwrap_or(i64::MAX))
            .saturating_sub(1)
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.sign(), other.sign()) {
            (left, right) if left != right => left.cmp(&right),
            (0, _) => Ordering::Equal,
            (sign, _) => {
                let size = self
                    .top_exponent()
                    .cmp(&other.top_exponent())
                    .then_with(|| {
                        let (left, right) = (
                            self.digits.trim_end_matches('0'),
                            other.digits.trim_end_matches('0'),
                        );
                        left.cmp(right)
                    });
                if sign < 0 { size.reverse() } else { size }
            }
        }
    }

    fn sign(&self) -> i8 {
        match (self.digits.as_str(), self.negative) {
            ("0", _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

/// Formats with "to-scientific-string" of the General Decimal Arithmetic Specification.
impl std::fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.negative {
            formatter.write_str("-")?;
        }
        let (digits, top) = (&self.digits, self.top_exponent());
        if self.exponent == 0 {
            return formatter.write_str(digits);
        }
        if self.exponent < 0 && -6 <= top {
            let fraction = usize::try_from(-self.exponent).unwrap_or(usize::MAX);
            return match digits.len().checked_sub(fraction) {
                Some(whole) if 0 < whole => {
                    write!(formatter, "{}.{}", &digits[..whole], &digits[whole..])
                }
                _ => write!(formatter, "0.{digits:0>fraction$}"),
            };
        }
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        write!(formatter, "{first}{point}{rest}E{top:+}")
    }
}

/// Parses an exponent; one that is too large becomes a large value.
fn saturating(exponent: &str) -> Option<i64> {
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits
        .parse::<i64>()
        .unwrap_or(i64::MAX / 4)
        .min(i64::MAX / 4);
    Some(if exponent.starts_with('-') {
        -size
    } else {
        size
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        match parse_number(text) {
            Some(ParsedNumber::Exact(double)) => super::super::number::format(double),
            Some(ParsedNumber::Literal(literal)) => literal.text().to_owned(),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn every_digit_survives() {
        for text in [
            "0.1",
            "9007199254740993",
            "100000000000000000001",
            "1.000",
            "0",
            "-1",
            "0.10",
            "-0",
            "12.5",
        ] {
            assert_eq!(canonical(text), text);
        }
    }

    #[test]
    fn exponents_are_written_one_way() {
        let pairs = [
            ("1e1000", "1E+1000"),
            ("1E-7", "1E-7"),
            ("0.0000001", "1E-7"),
            ("100e-2", "1.00"),
            ("0.0001e4", "1"),
        ];
        for (text, written) in pairs {
            assert_eq!(canonical(text), written, "{text}");
        }
    }

    #[test]
    fn all_digits_count_in_comparisons() {
        let literal = |text| match parse_number(text) {
            Some(ParsedNumber::Literal(literal)) => literal,
            other => panic!("{text} is {other:?}"),
        };
        assert_eq!(
            literal("9007199254740993").compare(&literal("9007199254740992")),
            Ordering::Greater
        );
        assert_eq!(
            literal("1e1000").compare(&literal("10e999")),
            Ordering::Equal
        );
        assert_eq!(
            literal("-1e1000").compare(&literal("1e-1000")),
            Ordering::Less
        );
    }
}
