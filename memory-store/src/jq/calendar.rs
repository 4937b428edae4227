//! The proleptic Gregorian calendar, and the date patterns of C.

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
const DAY: i64 = 86_400;

/// A UTC date and time with a resolution of one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JqTime {
    pub(crate) year: i64,
    /// The month, from 0 for January.
    pub(crate) month0: u32,
    pub(crate) day: u32,
    pub(crate) hour: u32,
    pub(crate) minute: u32,
    pub(crate) second: u32,
}

impl JqTime {
    pub(crate) fn from_seconds(seconds: i64) -> Self {
        let (year, month0, day) = date_from_days(seconds.div_euclid(DAY));
        let second = u32::try_from(seconds.rem_euclid(DAY)).expect("a day has 86,400 seconds");
        Self {
            year,
            month0,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }

    /// Converts fields that may be out of range.
    pub(crate) fn from_fields(
        year: i64,
        month0: i64,
        day: i64,
        hour: i64,
        minute: i64,
        second: i64,
    ) -> Self {
        let (year, month0) = (year + month0.div_euclid(12), month0.rem_euclid(12));
        let days =
            days_since_epoch(year, u32::try_from(month0).expect("it is below 12"), 1) + day - 1;
        Self::from_seconds(days * DAY + hour * 3600 + minute * 60 + second)
    }

    pub(crate) fn seconds(&self) -> i64 {
        let days = days_since_epoch(self.year, self.month0, self.day);
        days * DAY + i64::from(self.hour * 3600 + self.minute * 60 + self.second)
    }

    /// Returns the weekday, from 0 for Sunday.
    pub(crate) fn weekday(&self) -> u32 {
        let days = days_since_epoch(self.year, self.month0, self.day);
        u32::try_from((days + 4).rem_euclid(7)).expect("it is below 7")
    }

    /// Returns the day of the year, from 0 for 1 January.
    pub(crate) fn day_of_year0(&self) -> u32 {
        let days =
            days_since_epoch(self.year, self.month0, self.day) - days_since_epoch(self.year, 0, 1);
        u32::try_from(days).expect("a year has 366 days")
    }

    /// Returns the year and week of ISO 8601.
    fn week(&self) -> (i64, i64) {
        let weekday = i64::from((self.weekday() + 6) % 7);
        let thursday = days_since_epoch(self.year, self.month0, self.day) - weekday + 3;
        let (year, ..) = date_from_days(thursday);
        (year, (thursday - days_since_epoch(year, 0, 1)) / 7 + 1)
    }
}

/// Converts a date to days since 1970.
///
/// Years are counted from 1 March of the year 0, so that leap days are at the end of a year.
fn days_since_epoch(year: i64, month0: u32, day: u32) -> i64 {
    let month = i64::from(month0 + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month0 = (month + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month0 < 2);
    let small = |number: i64| u32::try_from(number).expect("it is a day or a month");
    (year, small(month0), small(day))
}

/// Formats a date like `strftime` in the C locale.
pub(crate) fn format(moment: &JqTime, pattern: &str, zone: &str) -> String {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            out.push(char);
            continue;
        }
        match chars.next() {
            // This modifier has no effect in the C locale.
            Some('E' | 'O') => format_field(moment, chars.next(), zone, &mut out),
            other => format_field(moment, other, zone, &mut out),
        }
    }
    out
}

fn format_field(moment: &JqTime, letter: Option<char>, zone: &str, out: &mut String) {
    let nested = |pattern: &str| format(moment, pattern, zone);
    let weekday = moment.weekday();
    let name = WEEKDAYS[weekday as usize];
    let month = MONTHS[moment.month0 as usize];
    let hour12 = (moment.hour + 11) % 12 + 1;
    let yday = moment.day_of_year0();
    let text = match letter {
        Some('a') => name[..3].to_owned(),
        Some('A') => name.to_owned(),
        Some('b' | 'h') => month[..3].to_owned(),
        Some('B') => month.to_owned(),
        Some('c') => nested("%a %b %e %H:%M:%S %Y"),
        Some('C') => format!("{:02}", moment.year.div_euclid(100)),
        Some('d') => format!("{:02}", moment.day),
        Some('D' | 'x') => nested("%m/%d/%y"),
        Some('e') => format!("{:2}", moment.day),
        Some('F') => nested("%Y-%m-%d"),
        Some('g') => format!("{:02}", moment.week().0.rem_euclid(100)),
        Some('G') => moment.week().0.to_string(),
        Some('H') => format!("{:02}", moment.hour),
        Some('I') => format!("{hour12:02}"),
        Some('j') => format!("{:03}", yday + 1),
        Some('k') => format!("{:2}", moment.hour),
        Some('l') => format!("{hour12:2}"),
        Some('m') => format!("{:02}", moment.month0 + 1),
        Some('M') => format!("{:02}", moment.minute),
        Some('n') => "\n".to_owned(),
        Some('p') => if moment.hour < 12 { "AM" } else { "PM" }.to_owned(),
        Some('P') => if moment.hour < 12 { "am" } else { "pm" }.to_owned(),
        Some('r') => nested("%I:%M:%S %p"),
        Some('R') => nested("%H:%M"),
        Some('s') => moment.seconds().to_string(),
        Some('S') => format!("{:02}", moment.second),
        Some('t') => "\t".to_owned(),
        Some('T' | 'X') => nested("%H:%M:%S"),
        Some('u') => (if weekday == 0 { 7 } else { weekday }).to_string(),
        Some('U') => format!("{:02}", (yday + 7 - weekday) / 7),
        Some('V') => format!("{:02}", moment.week().1),
        Some('w') => weekday.to_string(),
        Some('W') => format!("{:02}", (yday + 7 - (weekday + 6) % 7) / 7),
        Some('y') => format!("{:02}", moment.year.rem_euclid(100)),
        Some('Y') => moment.year.to_string(),
        Some('z') => "+0000".to_owned(),
        Some('Z') => zone.to_owned(),
        Some('%') | None => "%".to_owned(),
        Some(other) => format!("%{other}"),
    };
    out.push_str(&text);
}

/// Parses a date like `strptime` in the C locale, and returns the rest of the text as well.
pub(crate) fn parse<'t>(text: &'t str, pattern: &str) -> Option<(JqTime, &'t str)> {
    let mut parser = JqDateParser {
        rest: text,
        fields: JqDateFields::default(),
    };
    parser.pattern(pattern)?;
    let rest = parser.rest;
    if !rest.is_empty() && !rest.starts_with(|first: char| first.is_ascii_whitespace()) {
        return None;
    }
    Some((parser.fields.to_time(), rest))
}

#[derive(Default)]
struct JqDateFields {
    year: Option<i64>,
    century: Option<i64>,
    month0: Option<i64>,
    day: Option<i64>,
    day_of_year0: Option<i64>,
    hour: i64,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    epoch: Option<i64>,
}

impl JqDateFields {
    fn to_time(&self) -> JqTime {
        if let Some(epoch) = self.epoch {
            return JqTime::from_seconds(epoch);
        }
        let year = match (self.year, self.century) {
            (Some(year), Some(century)) => century * 100 + year.rem_euclid(100),
            (Some(year), None) => year,
            (None, Some(century)) => century * 100,
            (None, None) => 1900,
        };
        let hour = match self.afternoon {
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let (month0, day) = match (self.month0, self.day, self.day_of_year0) {
            (None, None, Some(day_of_year0)) => (0, day_of_year0 + 1),
            (month0, day, _) => (month0.unwrap_or(0), day.unwrap_or(1)),
        };
        JqTime::from_fields(year, month0, day, hour, self.minute, self.second)
    }
}

struct JqDateParser<'t> {
    rest: &'t str,
    fields: JqDateFields,
}

impl JqDateParser<'_> {
    fn pattern(&mut self, pattern: &str) -> Option<()> {
        let mut chars = pattern.chars();
        while let Some(char) = chars.next() {
            if char.is_ascii_whitespace() {
                self.skip_space();
            } else if char == '%' {
                let letter = match chars.next()? {
                    'E' | 'O' => chars.next()?,
                    other => other,
                };
                self.field(letter)?;
            } else {
                self.rest = self.rest.strip_prefix(char)?;
            }
        }
        Some(())
    }

    fn skip_space(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches(|char: char| char.is_ascii_whitespace());
    }

    fn field(&mut self, letter: char) -> Option<()> {
        match letter {
            'a' | 'A' => self.name(&WEEKDAYS).map(|_| ())?,
            'b' | 'B' | 'h' => self.fields.month0 = Some(self.name(&MONTHS)?),
            'c' => self.pattern("%a %b %e %H:%M:%S %Y")?,
            'C' => self.fields.century = Some(self.number(2, 0, 99)?),
            'd' | 'e' => self.fields.day = Some(self.number(2, 1, 31)?),
            'D' | 'x' => self.pattern("%m/%d/%y")?,
            'F' => self.pattern("%Y-%m-%d")?,
            'H' | 'k' => {
                self.fields.hour = self.number(2, 0, 23)?;
                self.fields.afternoon = None;
            }
            'I' | 'l' => self.fields.hour = self.number(2, 1, 12)?,
            'j' => self.fields.day_of_year0 = Some(self.number(3, 1, 366)? - 1),
            'm' => self.fields.month0 = Some(self.number(2, 1, 12)? - 1),
            'M' => self.fields.minute = self.number(2, 0, 59)?,
            'n' | 't' => self.skip_space(),
            'p' | 'P' => {
                let half = self.rest.get(..2)?.to_ascii_uppercase();
                self.fields.afternoon = Some(match half.as_str() {
                    "AM" => false,
                    "PM" => true,
                    _ => return None,
                });
                self.rest = &self.rest[2..];
            }
            'r' => self.pattern("%I:%M:%S %p")?,
            'R' => self.pattern("%H:%M")?,
            's' => self.fields.epoch = Some(self.number(18, 0, i64::MAX)?),
            'S' => self.fields.second = self.number(2, 0, 61)?,
            'T' | 'X' => self.pattern("%H:%M:%S")?,
            'u' | 'w' => self.number(1, 0, 7).map(|_| ())?,
            'U' | 'V' | 'W' | 'g' => self.number(2, 0, 99).map(|_| ())?,
            'G' => self.number(4, 0, 9999).map(|_| ())?,
            'y' => {
                let year = self.number(2, 0, 99)?;
                self.fields.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
            }
            'Y' => self.fields.year = Some(self.signed_year()?),
            'z' => self.offset()?,
            'Z' => {
                self.rest = self
                    .rest
                    .trim_start_matches(|char: char| char.is_ascii_alphabetic());
            }
            '%' => self.rest = self.rest.strip_prefix('%')?,
            _ => return None,
        }
        Some(())
    }

    fn signed_year(&mut self) -> Option<i64> {
        self.skip_space();
        let negative = self.rest.starts_with('-');
        if negative {
            self.rest = &self.rest[1..];
        }
        let year = self.number(4, 0, 9999)?;
        Some(if negative { -year } else { year })
    }

    fn number(&mut self, width: usize, least: i64, most: i64) -> Option<i64> {
        self.skip_space();
        let digits = self
            .rest
            .bytes()
            .take(width)
            .take_while(u8::is_ascii_digit)
            .count();
        let number: i64 = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        (least <= number && number <= most).then_some(number)
    }

    /// Parses a full name or its first three letters, case-insensitively.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let starts = |name: &str| {
            self.rest
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let full = names
            .iter()
            .position(|name| starts(name))
            .map(|index| (index, names[index].len()));
        let found = full.or_else(|| {
            names
                .iter()
                .position(|name| starts(&name[..3]))
                .map(|index| (index, 3))
        });
        let (index, length) = found?;
        self.rest = &self.rest[length..];
        i64::try_from(index).ok()
    }

    /// Parses an offset and ignores it, like the C library.
    fn offset(&mut self) -> Option<()> {
        self.skip_space();
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(());
        }
        self.rest = self.rest.strip_prefix(['+', '-'])?;
        self.number(2, 0, 99)?;
        self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
        if self.rest.starts_with(|char: char| char.is_ascii_digit()) {
            self.number(2, 0, 59)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_fields_are_two_forms_of_one() {
        for seconds in [
            0,
            -1,
            951_782_400,
            1_425_599_507,
            4_102_444_799,
            -62_135_596_800,
        ] {
            assert_eq!(JqTime::from_seconds(seconds).seconds(), seconds);
        }
    }

    #[test]
    fn what_is_formatted_can_be_parsed() {
        let moment = JqTime::from_seconds(1_425_599_507);
        for pattern in [
            "%Y-%m-%dT%H:%M:%SZ",
            "%c",
            "%A, %d %B %Y %I:%M:%S %p",
            "%s",
            "%Y %j %T",
        ] {
            let text = format(&moment, pattern, "UTC");
            assert_eq!(
                parse(&text, pattern),
                Some((moment, "")),
                "{pattern}: {text}"
            );
        }
    }

    #[test]
    fn weeks_are_those_of_iso_8601() {
        let week = |text| {
            let (moment, _) = parse(text, "%F").expect("a date");
            format(&moment, "%G-W%V-%u %j", "UTC")
        };
        assert_eq!(week("2021-01-03"), "2020-W53-7 003");
        assert_eq!(week("2018-12-31"), "2019-W01-1 365");
    }
}
