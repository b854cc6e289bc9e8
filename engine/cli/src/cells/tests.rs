use super::*;
use throng::SplitMix64;

fn read_text(text: &str) -> Result<Cells, DataError> {
    let format = format_of(text.as_bytes()).unwrap_or("voxels");
    read(format, text.as_bytes())
}

#[test]
fn spans_come_in_any_order() {
    let voxels = "throng voxels 1\r\n# ground\nsize 2 4 3\n\tspan 1 2 2 4 7 # high\n\
                  area 7 9\nspan 1 2 0 2 5\ncell 1 0.5\norigin -3 0 4";
    let cells = read_text(voxels).unwrap();
    assert_eq!((cells.size, cells.spans), ([2, 4, 3], 2));
    assert_eq!(cells.cell, Some([1.0, 0.5]));
    assert_eq!(cells.origin, DVec3::new(-3.0, 0.0, 4.0));
    let kind = |value, area, spans| Kind { value, area, spans };
    assert_eq!(cells.kinds, [kind(5, 63, 1), kind(7, 9, 1)]);
    let Matter::Voxels(chunk, areas) = cells.matter else {
        panic!("no voxels");
    };
    let runs: Vec<_> = chunk.column(1, 2).iter().map(|run| run.start).collect();
    assert_eq!((runs, areas[7], areas[5]), (vec![0, 2], 9, 63));
    let field = "throng heightfield 1\nsize 1 9 1\norigin 0 -8 0\nspan 0 0 3 5 0\nspan 0 0 0 3 2";
    let cells = read_text(field).unwrap();
    assert_eq!(cells.kinds, [kind(0, 0, 1), kind(2, 2, 1)]);
    let Matter::Heightfield(field) = cells.matter else {
        panic!("no heightfield");
    };
    assert_eq!(field.frame().origin.y, -8.0);
    // Spans that touch are one, with the area of the higher top.
    let spans = field.to_spans();
    assert_eq!(
        (&spans.min[..], &spans.max[..], &spans.area[..]),
        (&[0][..], &[5][..], &[0][..])
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, words) in [
        (
            "throng voxels 2\n",
            "version on line 1: is '2'; this release reads 1",
        ),
        (
            "throng voxels\n",
            "line on line 1: must read \"throng voxels 1\" and",
        ),
        ("throng voxels 1\n", "size on line 2: is missing"),
        (
            "throng voxels 1\nspan 0 0 0 1 1",
            "span on line 2: stands in front",
        ),
        ("throng voxels 1\nsize 1 1", "size.z on line 2: is missing"),
        (
            "throng voxels 1\nsize 0 1 1",
            "size.x on line 2: '0' is no whole",
        ),
        ("throng voxels 1\nsize 65536 1 65536", "size on line 2"),
        ("throng voxels 1\nsize 1 65536 1", "size on line 2"),
        (
            "throng voxels 1\nsize 1 1 1\nsize 1 1 1",
            "on line 3: is there already",
        ),
        (
            "throng voxels 1\nsize 1 1 1 1",
            "line on line 2: 3 numbers are all",
        ),
        (
            "throng voxels 1\norigin 0 1 0",
            "origin.y on line 2: is 1; voxels",
        ),
        (
            "throng voxels 1\norigin nan 0 0",
            "origin.x on line 2: 'nan'",
        ),
        (
            "throng voxels 1\ncell 0 1",
            "cell.width on line 2: is 0.0; it must be between 2^-20 and 2^20",
        ),
        (
            "throng voxels 1\ncell 1 -2",
            "cell.height on line 2: is -2.0; it must be between",
        ),
        (
            "throng voxels 1\ncell 1e-300 1",
            "cell.width on line 2: is 1e-300; it must be between",
        ),
        (
            "throng voxels 1\ncell 1e300 1",
            "cell.width on line 2: is 1e300; it must be between",
        ),
        (
            "throng heightfield 1\ncell 1 1e300",
            "cell.height on line 2: is 1e300; it must be between",
        ),
        (
            "throng voxels 1\ncell 0.3 1e-9",
            "cell.height on line 2: is 1e-9; it must be between",
        ),
        ("throng voxels 1\narea 0 1", "material on line 2: is 0"),
        ("throng voxels 1\narea 1 64", "area on line 2: is 64"),
        (
            "throng voxels 1\narea 7 9\narea 8 9\narea 7 9",
            "material on line 4: is 7, whose area is 9 already",
        ),
        (
            "throng voxels 1\nbox 1 2 3",
            "line on line 2: 'box' is none of",
        ),
        (
            "throng heightfield 1\narea 1 2",
            "line on line 2: 'area' is none of size, origin, cell, span",
        ),
        (
            "throng voxels 1\nthrong voxels 1",
            "line on line 2: 'throng'",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 1 0 0 1 1",
            "x on line 3: is 1; it must be below 1",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 0 0 2 2 1",
            "rows on line 3",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 0 0 0 5 1",
            "rows on line 3",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 0 0 0 1 0",
            "material on line 3",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 0 0 0 1 -1",
            "material on line 3: '-1'",
        ),
        (
            "throng heightfield 1\nsize 1 4 1\nspan 0 0 0 1 64",
            "area on line 3",
        ),
        (
            "throng voxels 1\nsize 1 4 1\nspan 0 0 1 3 1\nspan 0 0 3 4 1\nspan 0 0 0 2 1",
            "span on line 5: overlaps that of line 3",
        ),
        (
            "throng heightfield 1\nsize 1 1 1\norigin 1e300 0 0\n",
            "heightfield: origin.x on line 3: is 1e300; it",
        ),
    ] {
        let error = read_text(text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
        assert!(error.len() < 200, "{error}");
    }
    let long = format!("throng voxels 1\n{}", "x".repeat(1 << 20));
    assert!(read_text(&long).unwrap_err().to_string().len() < 200);
    let error = read("voxels", b"throng voxels 1\n\xff").unwrap_err();
    assert_eq!(error.at, Location::Line(2));
}

#[test]
fn any_bytes_are_read_or_refused() {
    let good =
        b"throng voxels 1\nsize 2 4 3\narea 7 9\ncell 1 0.5\nspan 1 2 2 4 7\nspan 1 2 0 2 5\n";
    let mut rng = SplitMix64::new(5);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut bytes = good.to_vec();
        for _ in 0..1 + rng.next_below(3) {
            let at = rng.next_below(good.len() as u32) as usize;
            bytes[at] = rng.next_below(256) as u8;
        }
        // A size of many digits is a large level, within the bound; nothing to make here.
        let digits = bytes.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len);
        if digits.max() > Some(2) {
            continue;
        }
        match format_of(&bytes).map(|format| read(format, &bytes)) {
            Some(Ok(_)) => taken += 1,
            Some(Err(error)) => {
                assert!(!error.field.is_empty());
                refused += 1;
            }
            None => {}
        }
    }
    assert!(taken > 50 && refused > 1000, "{taken} {refused}");
}

#[test]
fn tiles_are_whole_numbers_of_cells() {
    let cells = read_text("throng voxels 1\nsize 300 4 20").unwrap();
    let settings = |tile_size, tile_is_given, solo| {
        let start = NavSettings {
            tile_size,
            ..NavSettings::HUMANOID
        };
        cells
            .settings(start, tile_is_given, solo)
            .map(|made| made.tile_size)
    };
    assert_eq!(settings(64.0, false, false), Ok(f64::from(63.9_f32)));
    assert_eq!(settings(64.0, false, true), Ok(90.0));
    assert_eq!(settings(30.0, true, false), Ok(30.0));
    assert!(settings(64.0, true, false).is_err());
    assert!(settings(0.1, true, false).is_err());
}
