//! Little-endian byte reader and writer, the only way a format touches bytes.
//!
//! A [`Reader`] checks every length against the bytes that are left before anything is allocated
//! and names the field and the offset when it refuses. A [`Writer`] appends to a byte sink: a
//! vector, a fixed slice, a counter or a running hash, so one piece of code gives the bytes, their
//! length and their hash, and the three cannot drift apart.

mod reader;
mod writer;

pub use reader::Reader;
pub use writer::{Buffer, Length, Sink, Writer};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{DataErrorKind, Location};

    #[test]
    fn what_is_written_reads_back_and_the_end_is_checked() {
        let mut writer = Writer::new(Vec::new());
        writer.u8(7);
        writer.u16(0x1234);
        writer.i32(-5);
        writer.f64(-0.0);
        let bytes = writer.into_sink();
        let mut reader = Reader::new("test", &bytes);
        assert_eq!(reader.u8("a").unwrap(), 7);
        assert_eq!(reader.u16("b").unwrap(), 0x1234);
        assert_eq!(reader.i32("c").unwrap(), -5);
        assert!(reader.finish().is_err());
        assert_eq!(reader.f64("d").unwrap().to_bits(), (-0.0_f64).to_bits());
        reader.finish().unwrap();
        let error = reader.u8("e").unwrap_err();
        assert_eq!(
            (error.at, error.kind),
            (Location::Offset(15), DataErrorKind::Truncated)
        );
    }

    #[test]
    fn a_wrong_magic_is_spelled_as_text_where_it_is_some() {
        for (found, words) in [
            (*b"ONTK", "is \"ONTK\"; the format begins with \"OPCS\""),
            (
                [0, 1, 2, 255],
                "is [00, 01, 02, FF]; the format begins with \"OPCS\"",
            ),
            (
                *b"a\tb\n",
                "is [61, 09, 62, 0A]; the format begins with \"OPCS\"",
            ),
        ] {
            let error = Reader::new("test", &found).magic(*b"OPCS").unwrap_err();
            assert_eq!(error.problem, words);
        }
    }

    #[test]
    fn a_count_larger_than_the_rest_is_refused_before_allocating() {
        let bytes = [255, 255, 255, 255, 1, 2, 3];
        let error = Reader::new("test", &bytes)
            .count("items", 1, 1 << 20)
            .unwrap_err();
        assert_eq!(error.kind, DataErrorKind::Count);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_length_that_does_not_fit_is_refused_at_the_end() {
        let unsigned = |length: usize| {
            let mut room = [0; 8];
            let mut writer = Writer::new(Buffer::new(&mut room));
            writer.length(length);
            writer.u32(7);
            writer.finish("test").map(|sink| sink.written())
        };
        assert_eq!(unsigned(0), Ok(Some(8)));
        assert_eq!(unsigned(u32::MAX as usize), Ok(Some(8)));
        let signed = |length: usize| {
            let mut writer = Writer::new(Length::default());
            writer.length_i32(length);
            writer.length_i32(1);
            writer.finish("test").map(|sink| sink.0)
        };
        assert_eq!(signed(i32::MAX as usize), Ok(8));
        for refused in [unsigned(1 << 32).unwrap_err(), signed(1 << 31).unwrap_err()] {
            assert_eq!(refused.kind, DataErrorKind::Limit);
            assert_eq!((refused.format, refused.field.as_str()), ("test", "length"));
        }
        // Counting goes on, and the first of them is named.
        let mut writer = Writer::new(Length::default());
        for length in [5, 1 << 33, 1 << 34] {
            writer.length(length);
        }
        let error = writer.finish("test").unwrap_err();
        assert!(error.problem.contains("8589934592"), "{error}");
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    #[should_panic(expected = "test: length: is 4294967296")]
    fn bytes_without_a_way_to_refuse_are_not_returned() {
        let mut writer = Writer::new(Vec::new());
        writer.length(1 << 32);
        writer.finish_or_panic("test");
    }

    #[test]
    fn a_short_buffer_reports_that_it_was_short() {
        let mut room = [0; 3];
        let mut writer = Writer::new(Buffer::new(&mut room));
        writer.u16(1);
        writer.u16(2);
        assert_eq!(writer.into_sink().written(), None);
    }
}
