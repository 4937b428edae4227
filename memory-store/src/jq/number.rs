//! The comparison and formatting of doubles in jq.

use std::cmp::Ordering;

/// Compares two doubles.
///
/// NaN is less than all others and equal to itself, so that sorting is consistent.
pub(crate) fn compare(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right)
        .unwrap_or_else(|| right.is_nan().cmp(&left.is_nan()))
}

/// Formats a double with the fewest digits that identify it.
///
/// Infinity is formatted as the largest finite number, and NaN as `null`.
pub(crate) fn format(double: f64) -> String {
    if double.is_nan() {
        return "null".to_owned();
    }
    let double = double.clamp(f64::MIN, f64::MAX);
    if double.fract() == 0.0 && double.abs() < 1e15 {
        // A whole number without an exponent is by far the most frequent case.
        return if double == 0.0 && double.is_sign_negative() {
            "-0".to_owned()
        } else {
            format!("{double:.0}")
        };
    }
    let scientific = format!("{:e}", double.abs());
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("`{:e}` writes an exponent");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a whole exponent");
    let sign = if double.is_sign_negative() { "-" } else { "" };
    // The number of digits before the decimal point.
    let point = exponent + 1;
    let length = i32::try_from(digits.len()).expect("a double has 17 digits");
    let body = if point <= -4 || length + 15 < point {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        format!("{first}{dot}{rest}e{mark}{:02}", exponent.abs())
    } else if point <= 0 {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else if length <= point {
        format!(
            "{digits}{}",
            "0".repeat((point - length).unsigned_abs() as usize)
        )
    } else {
        let (whole, fraction) = digits.split_at(point.unsigned_abs() as usize);
        format!("{whole}.{fraction}")
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_jq_prints_them() {
        let pairs = [
            (1e17, "1e+17"),
            (1e15, "1000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1.5e300, "1.5e+300"),
            (f64::INFINITY, "1.7976931348623157e+308"),
            (f64::NAN, "null"),
            (-0.0, "-0"),
            (1.1, "1.1"),
            (-12.75, "-12.75"),
        ];
        for (double, text) in pairs {
            assert_eq!(format(double), text);
        }
    }
}
