//! Levels that are no triangles: height grids, voxels and solid heightfields, read by every command.

use std::fmt::Write;
use std::path::Path;

use throng::{NavMesh, NavSettings, SplitMix64, VoxelChunk};

use crate::{error, folder, hash, json, output, run, text, write_floor};

/// A flat greymap of 41 x 41 points, of 16 bits.
fn write_grid(folder: &Path, name: &str, level: u16) {
    let mut bytes = b"P5\n41 41\n65535\n".to_vec();
    for _ in 0..41 * 41 {
        bytes.extend(level.to_be_bytes());
    }
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// A floor of 40 x 40 cells, its middle three rows of material or area `value`.
fn floor(form: &str, ground: u8, value: u8) -> String {
    let mut file = format!("throng {form} 1\nsize 40 4 40\ncell 1 0.5\n");
    for column in 0..40 * 40 {
        let (x, z) = (column % 40, column / 40);
        let value = if (19..22).contains(&z) { value } else { ground };
        writeln!(file, "span {x} {z} 0 1 {value}").unwrap();
    }
    file
}

#[test]
fn a_height_grid_is_the_floor_it_shows() {
    let folder = folder("height_grid");
    write_floor(&folder);
    write_grid(&folder, "floor.pgm", 0);
    write_grid(&folder, "high.pgm", 300);
    let walk = "--agents 20 --steps 40";
    let source = json(&folder, "bake floor.obj -o obj.nav");
    let grid = json(&folder, "bake floor.pgm -o pgm.nav");
    assert_eq!(grid["area"], source["area"]);
    let words = output(&folder, &format!("simulate floor.pgm {walk}"));
    assert!(words.contains("(height grid, 41 x 41 points, 3,200 triangles)"));
    // 300 levels of 0.01, then of 0.5; points two units apart are a level twice as wide.
    let height = |flags: &str| {
        json(&folder, &format!("bake high.pgm -o high.nav {flags}"));
        json(&folder, "info high.nav")["bounds"][1].clone()
    };
    let [plain, steep] = ["", "--rise 0.5 --spacing 2"].map(height);
    assert!((plain[1].as_f64().unwrap() - 3.0).abs() <= 0.2, "{plain}");
    assert!((steep[1].as_f64().unwrap() - 150.0).abs() <= 0.2, "{steep}");
    assert!(plain[0].as_f64().unwrap() < 40.0 && steep[0].as_f64().unwrap() > 78.0);
    let info = json(&folder, "info high.pgm");
    assert_eq!(
        (&info["kind"], &info["width"]),
        (&"height_grid".into(), &41.into())
    );
    assert_eq!(info["levels"][1], 300);
    for arguments in [
        "simulate floor.obj --rise 2",
        "bake city -o x --spacing 2",
        "simulate obj.nav --rise 1",
    ] {
        let complaint = error(&folder, arguments, 2);
        assert!(
            complaint.contains("is for height grids (PGM) only"),
            "{complaint}"
        );
    }
    assert!(error(&folder, "simulate floor.pgm --rise 0", 2).contains("above 0"));
    assert!(error(&folder, "simulate high.pgm --rise 1e6", 1).contains("high.pgm: "));
    let bytes = std::fs::read(folder.join("high.pgm")).unwrap();
    std::fs::write(folder.join("cut.pgm"), &bytes[..200]).unwrap();
    let complaint = error(&folder, "info cut.pgm", 1);
    assert!(
        complaint.contains("cut.pgm: PGM: levels at byte 15"),
        "{complaint}"
    );
    // A line of points is no ground; whoever reads it says so.
    std::fs::write(folder.join("line.pgm"), b"P5\n1 2\n255\n\x01\x02").unwrap();
    for arguments in ["info line.pgm", "bake line.pgm -o line.nav"] {
        assert_eq!(
            error(&folder, arguments, 1),
            "throng: line.pgm: PGM: width at byte 3: is 1; it must be at least 2\n"
        );
    }
}

#[test]
fn cells_that_cannot_be_walked_on_are_no_ground_without_room() {
    let folder = folder("rock");
    for rock in [
        floor("heightfield", 0, 0),
        floor("voxels", 1, 1) + "area 1 0\n",
        "throng heightfield 1\nsize 40 8 40\n".into(),
    ] {
        std::fs::write(folder.join("rock"), rock).unwrap();
        let told = crate::failed(&folder, "bake rock -o rock.nav").0;
        let why = "No span has an area that can be walked on.";
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn voxels_and_heightfields_are_the_same_ground() {
    let folder = folder("cells");
    std::fs::write(folder.join("floor.voxels"), floor("voxels", 1, 2)).unwrap();
    std::fs::write(folder.join("floor.field"), floor("heightfield", 63, 63)).unwrap();
    json(&folder, "bake floor.voxels -o voxels.nav");
    json(&folder, "bake floor.field -o field.nav --threads 3");
    let baked = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(baked("voxels.nav"), baked("field.nav"));
    // And what the library makes of the same voxels.
    let chunk = VoxelChunk::from_dense(40, 40, 4, &[1, 0, 0, 0].repeat(1600)).unwrap();
    let settings = NavSettings {
        cell_size: 1.0,
        cell_height: 0.5,
        ..NavSettings::HUMANOID
    };
    let mesh = NavMesh::build_chunk(&chunk, &settings).unwrap();
    assert_eq!(baked("voxels.nav"), mesh.save());

    let walk = "--agents 20 --steps 40 --check";
    let run = json(&folder, &format!("simulate floor.voxels {walk}"));
    let again = json(&folder, &format!("simulate floor.field {walk} --threads 1"));
    assert_eq!(hash(&run), hash(&again));
    let ask = "--from 5,0.5,5 --to 35,0.5,35";
    assert_eq!(
        json(&folder, &format!("path floor.field {ask}"))["status"],
        "found"
    );
    // A material that cannot be walked on parts the floor.
    let river = floor("voxels", 1, 2) + "area 2 0\narea 7 63\norigin -20 0 -20\n";
    std::fs::write(folder.join("river.voxels"), river).unwrap();
    let ask = "path river.voxels --from -15,0.5,-15 --to 15,0.5,15";
    assert_eq!(json(&folder, ask)["status"], "partial");
    let info = json(&folder, "info river.voxels");
    assert_eq!(
        (&info["kind"], &info["spans"]),
        (&"voxels".into(), &1600.into())
    );
    assert_eq!(info["origin"][0], -20.0);
    let materials = serde_json::json!([
        { "material": 1, "area": 63, "spans": 1480 },
        { "material": 2, "area": 0, "spans": 120 },
        { "material": 7, "area": 63, "spans": 0 },
    ]);
    assert_eq!(info["materials"], materials);
    let words = output(&folder, "info river.voxels");
    let rows = "  materials   1: area 63, 1,480 spans\n              2: area 0, 120 spans\n\
                \x20             7: area 63, 0 spans\n";
    assert!(words.contains(rows), "{words}");
    let areas = serde_json::json!([{ "area": 63, "spans": 1600 }]);
    assert_eq!(json(&folder, "info floor.field")["areas"], areas);
    let words = output(&folder, "info floor.field");
    for part in ["40 x 4 x 40 cells", "  areas       63: 1,600 spans\n"] {
        assert!(words.contains(part), "{words}");
    }
    assert_eq!(
        json(&folder, "bake floor.field -o solo.nav --solo")["tiles"],
        1
    );

    for (arguments, words) in [
        ("simulate floor.voxels --cell 0.5", "leave --cell out"),
        (
            "simulate floor.voxels --tile 10.5",
            "--tile is 10.5; it must be a whole multiple",
        ),
        ("simulate floor.voxels --radius 40", "no walkable ground"),
    ] {
        let run = crate::run(&folder, arguments);
        let complaint = text(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{complaint}");
        assert!(complaint.contains(words), "{arguments}: {complaint}");
    }
    std::fs::write(
        folder.join("bad.voxels"),
        "throng voxels 1\nsize 4 4 4\nspan 4 0 0 1 1\n",
    )
    .unwrap();
    std::fs::write(folder.join("head.voxels"), "throng voxels 1 2\n").unwrap();
    assert_eq!(
        error(&folder, "info head.voxels", 1),
        "throng: head.voxels: voxels: line 1: must read \"throng voxels 1\" and nothing more\n"
    );
    // What a file says is never said to be a flag's default.
    let tiny = "throng voxels 1\nsize 4 4 4\ncell 1e-300 1\nspan 0 0 0 1 1\n";
    std::fs::write(folder.join("tiny.voxels"), tiny).unwrap();
    for command in ["info", "simulate"] {
        let complaint = error(&folder, &format!("{command} tiny.voxels"), 1);
        let words = "tiny.voxels: voxels: cell.width on line 3: is 1e-300; it must be";
        assert!(complaint.contains(words), "{complaint}");
        let complaint = error(&folder, &format!("{command} bad.voxels"), 1);
        assert!(
            complaint.contains("bad.voxels: voxels: x on line 3: is 4"),
            "{complaint}"
        );
    }
}

#[test]
fn ground_that_is_lost_is_told_tile_by_tile() {
    let folder = folder("flaws");
    // Outlines simplified until they cross themselves.
    let mut rng = SplitMix64::new(23);
    let mut file = "throng voxels 1\nsize 64 1 64\ncell 0.5 0.25\narea 2 0\n".to_owned();
    for column in 0..64 * 64 {
        let (x, z) = (column % 64, column / 64);
        let is_rim = [x, z].iter().any(|at| !(2..62).contains(at));
        let material = if is_rim || rng.next_below(100) < 36 {
            2
        } else {
            1
        };
        writeln!(file, "span {x} {z} 0 1 {material}").unwrap();
    }
    std::fs::write(folder.join("ragged.voxels"), file).unwrap();
    let bake = "bake ragged.voxels -o ragged.nav --tile 16 --radius 0 --climb 1 --min-region 0 \
                --max-edge 0 --contour-error 2.5";
    let one = run(&folder, &format!("{bake} --threads 1 --json"));
    assert!(one.status.success(), "{}", text(&one.stderr));
    let warnings = text(&one.stderr);
    assert!(warnings.lines().count() >= 1, "no flaw");
    for line in warnings.lines() {
        let words = "throng: ragged.voxels: warning: some ground of tile (";
        assert!(line.starts_with(words), "{line}");
        assert!(line.contains(" corner") || line.contains(" hole") || line.contains(" outline"));
    }
    let many = run(&folder, &format!("{bake} --threads 4 --json"));
    assert_eq!(text(&many.stderr), warnings);
    let mesh = NavMesh::load(&std::fs::read(folder.join("ragged.nav")).unwrap()).unwrap();
    assert!(mesh.poly_count() > 10);
}
