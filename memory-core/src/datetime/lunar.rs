//! Converts dates of the Chinese lunisolar calendar.

use chrono::{Days, NaiveDate};

/// The years of the table.
const FIRST_YEAR: i32 = 1970;

/// The years from 1970 to 2100.
///
/// Bits 0 to 4 are the days from 20 January to the first day of the year, bits 5 to 8 the month that a leap month
/// follows, or 0, and the bits from 9 on are set for months of 30 days. The values follow from the rules of the national
/// standard GB/T 33661-2017; three independent programs agree on them, except for two months in 1978 and 2057 whose new
/// moon is within minutes of midnight.
#[rustfmt::skip]
const YEARS: [u32; 131] = [
    0x16d211, 0x2ea4a7, 0x16a41a, 0x164a0e, 0x2c9683, 0x149616, 0x29570b, 0x055a1d, 0x0ada12, 0x16d2c8,
    0x1b521b, 0x1b2410, 0x3a4a85, 0x1a4a18, 0x349b4d, 0x14ac1f, 0x056c14, 0x0b6ac9, 0x0daa1c, 0x1d5211,
    0x3d24a7, 0x1d241a, 0x1a4c0f, 0x14ac63, 0x14ae15, 0x29ad0b, 0x06b41e, 0x0daa12, 0x2d92a8, 0x0e921b,
    0x0d2610, 0x2a5684, 0x0a5617, 0x14b60c, 0x2ab442, 0x0ad414, 0x36aae9, 0x17481d, 0x169212, 0x3526a6,
    0x152a19, 0x0a5a0e, 0x155a83, 0x156a15, 0x2b552b, 0x0ba41e, 0x1b4a13, 0x3a94c8, 0x1a941b, 0x192a10,
    0x2a5c85, 0x0aac17, 0x156a0c, 0x2b6442, 0x0da415, 0x1d4ac9, 0x0e4a1c, 0x0c9611, 0x192ea6, 0x195618,
    0x0ab40e, 0x15ac63, 0x16d216, 0x2ea56b, 0x16a41e, 0x164a13, 0x3496c8, 0x14961a, 0x09560f, 0x0ab6a4,
    0x0b5a17, 0x16d40c, 0x36a442, 0x1b2415, 0x3a4aea, 0x1a4a1c, 0x14aa11, 0x295aa6, 0x096c19, 0x0b6a0d,
    0x1b5463, 0x1d9216, 0x3d250c, 0x1d241e, 0x1a4c13, 0x14acc8, 0x14ae1a, 0x0aac0f, 0x0daa84, 0x0eaa17,
    0x0e920d, 0x1d2661, 0x0d2614, 0x2a56e9, 0x0a561c, 0x14b610, 0x2ab4a6, 0x0ad419, 0x16ca0e, 0x2e9483,
    0x169416, 0x352b0b, 0x152a1e, 0x0a5a12, 0x155ac7, 0x156a1a, 0x0b5410, 0x174a84, 0x1b4a17, 0x1a940d,
    0x392a62, 0x192c14, 0x329ce9, 0x0aac1c, 0x156a11, 0x2b64a6, 0x0da419, 0x1d4a0e, 0x1c9484, 0x0d1615,
    0x192f0a, 0x09561d, 0x0ab612, 0x15acc7, 0x16d41a, 0x0ea410, 0x2e4a85, 0x168a17, 0x15160c, 0x293641,
    0x095614,
];

/// Returns the date of a day of the lunar calendar; `None` if the month has no such day, or the table no such year.
pub(super) fn lunar_date(year: i32, month: u32, is_leap: bool, day: u32) -> Option<NaiveDate> {
    let bits = YEARS.get(usize::try_from(year - FIRST_YEAR).ok()?)?;
    let leap = bits >> 5 & 0xf;
    if !(1..=12).contains(&month) || is_leap && month != leap {
        return None;
    }
    let is_behind_leap = is_leap || leap != 0 && leap < month;
    let place = month - 1 + u32::from(is_behind_leap);
    let length = |place: u32| 29 + u64::from(bits >> (9 + place) & 1);
    if !(1..=length(place)).contains(&u64::from(day)) {
        return None;
    }
    let before: u64 = (0..place).map(length).sum();
    NaiveDate::from_ymd_opt(year, 1, 20)?.checked_add_days(Days::new(
        u64::from(bits & 0x1f) + before + u64::from(day) - 1,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_begin_where_the_last_month_of_the_previous_one_ends() {
        for year in FIRST_YEAR..2100 {
            let last = [30, 29]
                .into_iter()
                .find_map(|day| lunar_date(year, 12, false, day))
                .expect("the last month has at least 29 days");
            assert_eq!(last.succ_opt(), lunar_date(year + 1, 1, false, 1), "{year}");
        }
    }

    #[test]
    fn leap_months_follow_their_month() {
        let date = |year, month, is_leap, day| {
            lunar_date(year, month, is_leap, day).map(|date| date.to_string())
        };
        assert_eq!(date(2025, 6, true, 1).as_deref(), Some("2025-07-25"));
        assert_eq!(date(2025, 7, false, 1).as_deref(), Some("2025-08-23"));
        assert_eq!(date(2025, 5, true, 1), None);
        assert_eq!(date(2033, 11, true, 1).as_deref(), Some("2033-12-22"));
        assert_eq!(date(2100, 12, false, 1).as_deref(), Some("2100-12-31"));
        assert_eq!(date(2101, 1, false, 1), None);
    }
}
