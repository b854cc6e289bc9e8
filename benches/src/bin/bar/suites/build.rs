//! Level to mesh on one thread: throng against Recast, from triangles to a mesh ready for queries.

use super::Row;
use crate::measure::{Side, milliseconds, say};
use crate::scenes;
use throng::{NavMesh, NavSettings, Soup, TiledMesh, solo_settings};

pub(super) fn rows() -> Vec<Row> {
    let kinds = [("solo", 0), ("tiled", 1)];
    let row = |level: &'static str, (kind, option): (&str, usize)| Row {
        suite: "build",
        scenario: format!("{level}/{kind}"),
        level,
        count: 1,
        option,
        limit: None,
        apart: false,
        measure,
    };
    let all = scenes::LEVELS
        .into_iter()
        .flat_map(|level| kinds.map(|kind| row(level, kind)));
    all.collect()
}

fn measure(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let soup = scenes::level(row.level)?;
    let tiled = row.option == 1;
    // One unmeasured build each: caches and page tables are warm for both.
    for rep in 0..=reps {
        for side in sides {
            match side {
                Side::Ours => ours(&soup, tiled, rep > 0)?,
                #[cfg(feature = "peers")]
                Side::Peer => peer(&soup, tiled, rep > 0)?,
                #[cfg(not(feature = "peers"))]
                Side::Peer => {}
            }
        }
    }
    Ok(())
}

fn ours(soup: &Soup, tiled: bool, measured: bool) -> Result<(), String> {
    let settings: NavSettings = if tiled {
        scenes::tiled_settings()
    } else {
        let solo = solo_settings(soup.vertices(), soup.triangles(), &scenes::settings());
        solo.map_err(|error| error.to_string())?
    };
    let mut built = None;
    let time = milliseconds(|| built = Some(NavMesh::build_soup(soup, &settings)));
    let mesh = match built {
        Some(Ok(mesh)) => mesh,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("nothing was built".into()),
    };
    if measured {
        say(Side::Ours, "time", time, "ms");
        say(Side::Ours, "polys", mesh.poly_count() as f64, "count");
        say(Side::Ours, "coverage_area", area(&mesh), "units2");
    }
    Ok(())
}

/// Area of all polygons on the ground plane.
fn area(mesh: &TiledMesh) -> f64 {
    let mut sum = 0.0;
    for slot in 0..mesh.slot_count() {
        let Some(tile) = mesh.tile(slot) else {
            continue;
        };
        for poly in 0..tile.poly_count() {
            let ring = tile.poly_ring(poly);
            let corner = |i: usize| {
                let v = ring[i % ring.len()];
                (v.x, v.z)
            };
            let doubled: f64 = (0..ring.len())
                .map(|i| {
                    let ((ax, az), (bx, bz)) = (corner(i), corner(i + 1));
                    ax * bz - bx * az
                })
                .sum();
            sum += doubled.abs() * 0.5;
        }
    }
    sum
}

#[cfg(feature = "peers")]
fn peer(soup: &Soup, tiled: bool, measured: bool) -> Result<(), String> {
    use crate::peers::recast::{build_solo, build_tiled};
    let settings = scenes::settings();
    let mut built = None;
    let time = milliseconds(|| {
        built = Some(if tiled {
            build_tiled(soup, &settings, scenes::TILE_CELLS)
        } else {
            build_solo(soup, &settings)
        });
    });
    let extent = match built {
        Some(mesh) => mesh?.extent(),
        None => return Err("nothing was built".into()),
    };
    if measured {
        say(Side::Peer, "time", time, "ms");
        say(Side::Peer, "polys", extent.polys as f64, "count");
        say(Side::Peer, "coverage_area", extent.area, "units2");
    }
    Ok(())
}
