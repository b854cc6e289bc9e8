//! Pictures: what is drawn is what there is, and the same arguments draw the same bytes.

use std::path::Path;

use throng::{DVec3, NavMesh, NavSettings, OffMeshLinkDefinition};

use crate::{SMALL, error, folder, hash, json, output, write_floor};

fn picture(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The path data of the one shape with this fill or stroke.
fn data<'a>(picture: &'a str, attribute: &str) -> &'a str {
    let paths = picture.lines().filter(|line| line.starts_with("<path"));
    let mut shapes = paths.filter(|line| line.contains(attribute));
    let shape = shapes.next().unwrap();
    assert_eq!(shapes.next(), None, "{attribute}");
    let from = shape.split_once(" d=\"").unwrap().1;
    from.split_once('"').unwrap().0
}

/// Whether these words stand in the picture by themselves.
fn says(picture: &str, words: &str) -> bool {
    picture.lines().any(|line| line == words)
}

#[test]
fn a_path_is_drawn_over_all_that_was_searched() {
    let folder = folder("searched");
    let ask = "path rooms --size 96 --seed 3 --from 8,0,8 --to 88,0,88";
    let found = json(&folder, &format!("{ask} --picture path.svg"));
    assert_eq!(found["status"], "found");
    let first = picture(&folder, "path.svg");
    json(&folder, &format!("{ask} --picture path.svg --threads 2"));
    assert_eq!(picture(&folder, "path.svg"), first);
    for word in ["from", "to", "path", "corridor", "searched"] {
        assert!(says(&first, word), "{word}");
    }
    let rings = |fill: &str| {
        data(&first, &format!("fill=\"{fill}\""))
            .matches('Z')
            .count()
    };
    let (searched, corridor) = (rings("#f2c14e"), rings("#7fb5f5"));
    assert_eq!(found["corridor"], corridor);
    assert!(searched >= corridor - 1);
    assert!(first.contains(&format!("{searched} searched")), "{first}");
    // The string, once white and once red, as many pieces as between its points.
    let points = found["points"].as_array().unwrap().len();
    let string = data(&first, "stroke=\"#d1365a\"");
    assert_eq!(string.matches('M').count(), points - 1);
    assert!(!first.contains("stroke-dasharray"), "no link");
}

#[test]
fn links_are_drawn_as_they_are_walked() {
    let folder = folder("links_drawn");
    // Two floors with a gap between them.
    let floor = |x: f64| [(x, 0.0), (x, 10.0), (x + 10.0, 0.0), (x + 10.0, 10.0)];
    let corners = [floor(0.0), floor(16.0)].concat();
    let vertices: Vec<DVec3> = corners
        .iter()
        .map(|&(x, z)| DVec3::new(x, 0.0, z))
        .collect();
    let triangles = [[0, 1, 2], [2, 1, 3], [4, 5, 6], [6, 5, 7]];
    let (start, end) = (DVec3::new(9.0, 0.0, 5.0), DVec3::new(17.0, 0.0, 5.0));
    let settings = NavSettings {
        off_mesh_links: vec![OffMeshLinkDefinition {
            start,
            end,
            radius: 1.0,
            bidirectional: true,
            area: 0,
            flags: 1,
            user_id: 0,
        }],
        ..NavSettings::HUMANOID
    };
    let mesh = NavMesh::build(&vertices, &triangles, &settings).unwrap();
    std::fs::write(folder.join("gap.nav"), mesh.save()).unwrap();
    let ask = "path gap.nav --from 2,0,5 --to 24,0,5 --picture gap.svg";
    let found = json(&folder, ask);
    assert_eq!(found["points"].as_array().map(Vec::len), Some(4));
    let drawn = picture(&folder, "gap.svg");
    assert!(says(&drawn, "off-mesh link"), "{drawn}");
    // Both ways over the link are one line of the mesh; the string goes over it in dashes.
    assert_eq!(data(&drawn, "stroke=\"#7b4fd1\""), "M9 5L17 5");
    let dashed = drawn.matches("stroke-dasharray").count();
    assert_eq!((dashed, drawn.matches("M9 5L17 5").count()), (3, 3));
    assert!(drawn.contains("M2 5L9 5M17 5L24 5"), "{drawn}");
}

#[test]
fn a_crowd_shows_what_is_asked_for_and_nothing_changes() {
    let folder = folder("shown");
    let plain = json(&folder, &format!("{SMALL} --picture plain.svg"));
    let show = "--show routes,walls,velocities --show constraints";
    let run = json(
        &folder,
        &format!("{SMALL} --threads 1 {show} --picture all.svg"),
    );
    assert_eq!(hash(&plain), hash(&run));
    let all = picture(&folder, "all.svg");
    let words = [
        "way ahead",
        "wall looked up",
        "wanted",
        "chosen",
        "velocity",
        "walls leave",
        "others leave",
    ];
    let bare = picture(&folder, "plain.svg");
    for word in words {
        assert!(says(&all, word), "{word}");
        assert!(!says(&bare, word), "{word}");
    }
    // The longer legend has its room: all of it lies on the page.
    let number = |text: &str, name: &str| -> f64 {
        let from = text.split_once(&format!(" {name}=\"")).unwrap().1;
        from.split_once('"').unwrap().0.parse().unwrap()
    };
    let page = all.lines().find(|line| line.starts_with("<rect")).unwrap();
    let right = number(page, "x") + number(page, "width");
    let bottom = number(page, "y") + number(page, "height");
    for label in all.lines().filter(|line| line.starts_with("<text")) {
        assert!(number(label, "x") < right && number(label, "y") < bottom);
    }
    // A line per agent and velocity.
    let lines = |stroke: &str| {
        data(&all, &format!("stroke=\"{stroke}\""))
            .matches('M')
            .count()
    };
    assert_eq!([lines("#66727f"), lines("#ffd166")], [120, 120]);
    json(
        &folder,
        &format!("{SMALL} --threads 3 {show} --picture again.svg"),
    );
    assert_eq!(picture(&folder, "again.svg"), all);
    let some = "--show velocities --picture some.svg";
    json(&folder, &format!("{SMALL} {some}"));
    let some = picture(&folder, "some.svg");
    assert!(says(&some, "wanted") && !says(&some, "way ahead"));
}

#[test]
fn showing_needs_a_picture_and_a_known_word() {
    let folder = folder("show_words");
    write_floor(&folder);
    let walk = "simulate floor.obj -n 3 -s 1";
    let complaint = error(&folder, &format!("{walk} --show walls"), 2);
    assert!(complaint.contains("--picture"), "{complaint}");
    let ask = format!("{walk} --picture x.svg --show walls,wals");
    let complaint = error(&folder, &ask, 2);
    assert!(complaint.contains("'wals'"), "{complaint}");
    assert!(!folder.join("x.svg").exists());
    let help = output(&folder, "simulate --help");
    for word in ["routes", "walls", "velocities", "constraints"] {
        assert!(help.contains(&format!("- {word}:")), "{help}");
    }
}
