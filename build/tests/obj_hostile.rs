//! Bad OBJ bytes: every prefix, flipped bytes and random text end in a soup or an error, never
//! in a panic.

use proptest::prelude::*;
use throng_build::input::obj::read_obj;
use throng_soa::error::Location;

const GOOD: &str = "# sample\nmtllib a.mtl\no one\nv 0 0 0\nv 1.5e0 -0.25 0\r\nv 0 0 1 1.0\nvt 0 1\n\
vn 0 1 0\ng sides\nusemtl stone\ns 1\nf 1/1/1 2//1 3/1\nv 4 5 \\\n 6\nf -1 -2 -3 1\n";

#[test]
fn every_prefix_ends_in_a_soup_or_an_error() {
    let whole = read_obj(GOOD.as_bytes()).unwrap();
    assert_eq!((whole.vertices().len(), whole.triangles().len()), (4, 3));
    for end in 0..GOOD.len() {
        match read_obj(&GOOD.as_bytes()[..end]) {
            Ok(soup) => assert!(soup.vertices().len() <= 4),
            Err(error) => assert!(matches!(error.at, Location::Line(1..=15)), "{error}"),
        }
    }
}

proptest! {
    #[test]
    fn flipped_bytes_never_panic(
        flips in prop::collection::vec((0..GOOD.len(), any::<u8>()), 1..6)
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, value) in flips {
            bytes[at] = value;
        }
        if let Ok(soup) = read_obj(&bytes) {
            let count = soup.vertices().len() as u32;
            prop_assert!(soup.triangles().iter().flatten().all(|&i| i < count));
        }
    }

    #[test]
    fn random_words_never_panic(
        lines in prop::collection::vec("(v|f|vt|#|\\\\)?( |\t)?([-+0-9./eEinfa\\\\é]{0,12} ?){0,5}", 0..20)
    ) {
        let _ = read_obj(lines.join("\n").as_bytes());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_obj(&bytes);
    }
}
