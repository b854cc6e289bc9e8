//! How the program words numbers, counts and problems.

use throng::{DataError, Location};

/// Longest number a message spells out; longer ones get an exponent.
const LONGEST_NUMBER: usize = 20;

/// A count with its thousands set apart.
pub(crate) fn count(value: usize) -> String {
    grouped(&value.to_string())
}

/// A count and what is counted: `1 polygon`, `2,000 polygons`.
pub(crate) fn counted(value: usize, what: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(value))
}

/// A whole number's digits, its thousands set apart.
pub(crate) fn grouped(number: &str) -> String {
    let mut text = String::with_capacity(number.len() + number.len() / 3);
    for (place, digit) in number.chars().enumerate() {
        if place > 0 && (number.len() - place) % 3 == 0 && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with one decimal, its thousands set apart.
pub(crate) fn grouped_decimal(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.split_once('.') {
        Some((whole, tenths)) => format!("{}.{tenths}", grouped(whole)),
        None => text,
    }
}

/// The lines of a text, each of at most `width` characters unless a word is longer.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A measured value, cut to three decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// A float32 as the shortest decimal that stores as it: what was asked for before it was stored.
pub(crate) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// At most two decimals, no zeros at the end.
pub(crate) fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".into()
    } else {
        text.into()
    }
}

/// A text on one line, its very long numbers written with an exponent.
pub(crate) fn shortened(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let number = word.trim_end_matches([';', ',', ':', ')']);
        let value = number.parse::<f64>().ok();
        match value.filter(|value| number.len() > LONGEST_NUMBER && value.is_finite()) {
            Some(value) => format!("{value:e}{}", &word[number.len()..]),
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is wrong with a file's content. A line that is wrong as a whole is not named twice.
pub(crate) fn data_problem(error: &DataError) -> String {
    match error.at {
        Location::Line(line) if error.field == "line" => {
            format!("{}: line {line}: {}", error.format, error.problem)
        }
        _ => error.to_string(),
    }
}

/// The known name most like `word`, when a slip of the finger or two lies between them.
pub(crate) fn nearest_name<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let slips = |name: &str| {
        // Edit distance, row by row.
        let mut row: Vec<usize> = (0..=name.chars().count()).collect();
        for (i, a) in word.chars().enumerate() {
            let mut before = row[0];
            row[0] = i + 1;
            for (j, b) in name.chars().enumerate() {
                let replaced = before + usize::from(a != b);
                before = row[j + 1];
                row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
            }
        }
        row.last().copied().unwrap_or(usize::MAX)
    };
    let nearest = names.iter().map(|&name| (slips(name), name)).min()?;
    (nearest.0 <= 2).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(grouped("-100"), "-100");
        assert_eq!(grouped("-2147483648"), "-2,147,483,648");
        assert_eq!(
            [30.0, 0.05, -0.001, 1.239].map(trimmed),
            ["30", "0.05", "0", "1.24"]
        );
        assert_eq!(rounded(1.23456), 1.235);
        assert_eq!([0.6_f32, 45.0].map(shortest), [0.6, 45.0]);
        assert_eq!(
            [0, 1, 2000].map(|n| counted(n, "polygon")),
            ["0 polygons", "1 polygon", "2,000 polygons"]
        );
    }

    #[test]
    fn long_texts_are_wrapped_between_words() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("abcdef g", 3), ["abcdef", "g"]);
        assert_eq!(
            [0.04, 999.96, 1234567.89].map(grouped_decimal),
            ["0.0", "1,000.0", "1,234,567.9"]
        );
    }

    #[test]
    fn only_endless_numbers_are_shortened() {
        let text = format!("--cell is {}; it must be {}", 1e300, 1e-300);
        assert_eq!(shortened(&text), "--cell is 1e300; it must be 1e-300");
        let text = "a.obj: 0.30000000000000004 of 18446744073709551615";
        assert_eq!(shortened(text), text);
    }

    #[test]
    fn slips_are_recognised() {
        let names = ["city", "ramps", "rooms"];
        assert_eq!(nearest_name("ctiy", &names), Some("city"));
        assert_eq!(nearest_name("room", &names), Some("rooms"));
        assert_eq!(nearest_name("level.obj", &names), None);
    }
}
