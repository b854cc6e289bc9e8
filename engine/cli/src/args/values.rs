//! Words of the command line turned into values. What is wrong with one is said in a few words;
//! the word itself and its flag are put in front of them.

use throng::DVec3;
use throng::levels::{MAX_SIZE, MIN_SIZE};
use throng::parts::soa::world::check_point;

use crate::words::{grouped, shortened};

/// Reads whole numbers from `low` to `high`. Digits may be grouped: `10,000` or `10_000`.
pub(super) fn whole<T>(
    low: T,
    high: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: Copy + Into<i128> + TryFrom<i128> + Send + Sync + 'static,
{
    move |text| {
        let (low, high) = (low.into(), high.into());
        let value = ungrouped(text).and_then(|digits| digits.parse().ok());
        let value = value.filter(|value| (low..=high).contains(value));
        value
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| {
                let [low, high] = [low, high].map(|limit| grouped(&limit.to_string()));
                format!("it must be a whole number, {low} to {high}")
            })
    }
}

/// A number without the commas or underscores that set its thousands apart; `None` when they stand
/// elsewhere.
fn ungrouped(text: &str) -> Option<String> {
    let mut groups = text.split([',', '_']);
    let mut digits = groups.next()?.to_owned();
    for group in groups {
        let is_group = group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
        if !is_group || !digits.ends_with(|last: char| last.is_ascii_digit()) {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

/// A number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| "it must be a number, with a point before decimals".into())
}

/// A time step.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    length(text)
}

/// A number above 0.
pub(super) fn length(text: &str) -> Result<f64, String> {
    let length = number(text)?;
    if length > 0.0 && length.is_finite() {
        return Ok(length);
    }
    Err("it must be above 0 and finite".into())
}

/// The side of a generated level.
pub(super) fn side(text: &str) -> Result<f64, String> {
    let side = number(text)?;
    if (MIN_SIZE..=MAX_SIZE).contains(&side) {
        return Ok(side);
    }
    Err(format!("it must be {MIN_SIZE} to {MAX_SIZE}"))
}

/// A position: three numbers with commas between them.
pub(super) fn point(text: &str) -> Result<DVec3, String> {
    let mut point = [0.0; 3];
    let mut words = text.split(',');
    for value in &mut point {
        let word = words.next().ok_or("three numbers are needed: x,y,z")?;
        let word = word.trim();
        *value = word
            .parse()
            .map_err(|_| format!("'{word}' is not a number"))?;
    }
    if words.next().is_some() {
        return Err("three numbers are needed: x,y,z".into());
    }
    let point = DVec3::from_array(point);
    // The argument's name is said already: ".x is ..." becomes "x is ...".
    check_point("", point).map_err(|error| {
        let problem = error.to_string();
        shortened(problem.trim_start_matches('.'))
    })?;
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_be_grouped() {
        let read = whole(1_u32, 65_536);
        for (text, value) in [("7", 7), ("10,000", 10_000), ("65_536", 65_536)] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
        for bad in [
            "", "0", "-5", "65537", "1e4", "1.5", "10,00", ",000", "1,,000", "1,+23", "x",
        ] {
            let problem = read(bad);
            let words = "it must be a whole number, 1 to 65,536";
            assert_eq!(problem, Err(words.into()), "{bad}");
        }
        assert_eq!(whole(0, u64::MAX)("18446744073709551615"), Ok(u64::MAX));
        assert!(whole(0, i32::MAX)(&"9".repeat(300)).is_err());
    }

    #[test]
    fn points_are_three_coordinates() {
        assert_eq!(point("1, -2.5,3e2"), Ok(DVec3::new(1.0, -2.5, 300.0)));
        for bad in ["", "1,2", "1,2,3,4", "1,2,x"] {
            assert!(point(bad).is_err(), "{bad}");
        }
        for (bad, words) in [
            ("nan,0,0", "x is NaN"),
            ("0,inf,0", "y is inf"),
            ("0,0,1e300", "z is 1e300"),
        ] {
            assert!(point(bad).unwrap_err().starts_with(words), "{bad}");
        }
    }
}
