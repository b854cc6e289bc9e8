//! The README's example: what its comments say it prints is what it prints.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cell::RefCell;

thread_local! {
    static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps what the example prints.
macro_rules! println {
    ($($words:tt)*) => {
        $crate::PRINTED.with_borrow_mut(|lines| lines.push(format!($($words)*)))
    };
}

#[rustfmt::skip]
mod example {
// Begins here, to the letter.
use throng::{AgentOptions, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings, PathOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A 40 x 40 floor. Y is up, axes are right-handed; triangles are counter-clockwise seen from the
    // walkable side.
    let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
        .map(|(x, z)| DVec3::new(x, 0.0, z));
    let mesh = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID)?;

    let (from, to) = (DVec3::new(3.0, 0.0, 3.0), DVec3::new(36.0, 0.0, 36.0));
    let route = mesh.find_path(from, to, &PathOptions::default())?;
    println!("{:.4} units over {} points", route.length, route.points.len()); // 46.6690 over 2

    let mut crowd = Crowd::new(CrowdOptions { threads: 2, ..CrowdOptions::default() })?;
    let walker = crowd.add(&mesh, from, &AgentOptions::HUMANOID)?;
    crowd.set_destination(&mesh, walker, to)?;
    for _ in 0..20 {
        crowd.step(&mesh, 0.05)?; // you bring the time step
    }
    println!("{:?}", crowd.columns().position); // one column, one entry per slot

    let saved = crowd.save_state(&mesh); // roll back to here later
    println!("{:016X}", crowd.state_hash(&mesh)); // C66D1EF51170189E, everywhere
    crowd.restore_state(&mesh, &saved)?;
    Ok(())
}
// And ends here.
pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
}

/// What stands between two lines of a text.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn the_example_prints_what_it_says() {
    let readme = include_str!("../../README.md");
    let example = between(readme, "```rust\n", "\n```");
    let own = between(include_str!("readme.rs"), "to the letter.\n", "\n// And");
    assert_eq!(own, example, "the README has another example");
    example::run().unwrap();
    let printed = PRINTED.take();
    let said: Vec<&str> = example
        .lines()
        .filter(|line| line.trim_start().starts_with("println!"))
        .map(|line| line.split_once("// ").unwrap().1)
        .collect();
    let ([route, positions, hash], [said_route, _, said_hash]) = (&printed[..], &said[..]) else {
        panic!("{printed:?} {said:?}");
    };
    let (length, points) = said_route.split_once(" over ").unwrap();
    assert_eq!(route, &format!("{length} units over {points} points"));
    assert_eq!(positions.matches("DVec3").count(), 1, "{positions}");
    assert_eq!(said_hash.strip_suffix(", everywhere"), Some(&hash[..]));
}
