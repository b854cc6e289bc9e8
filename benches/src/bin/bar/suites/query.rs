//! Questions asked of a mesh: throng against Detour.
//!
//! The same pairs of points on both sides, each snapped to the side's own mesh in a box of (2, 4, 2)
//! before the clock starts. A path is the search and its string. Both search in the model that puts a
//! node on a polygon's entry edge. Circles and wall distances reach [`RADIUS`]; random points come from
//! the whole mesh, each side drawing its own.

use super::Row;
use crate::measure::{Side, milliseconds, say};
use crate::scenes;
use std::hint::black_box;
use throng::parts::query::mesh::find_nearest_poly;
use throng::{
    DVec3, MeshQuery, NavMesh, PolyRef, QueryFilter, QueryStatus, SplitMix64, StraightPathPoint,
};

const PAIRS: usize = 1000;
/// Reach of circle searches and wall distances, units.
const RADIUS: f64 = 8.0;
const SNAP: DVec3 = DVec3::new(2.0, 4.0, 2.0);

pub(super) fn rows() -> Vec<Row> {
    let row = |level: &'static str| Row {
        suite: "query",
        scenario: level.to_owned(),
        level,
        count: PAIRS,
        option: 0,
        limit: None,
        apart: false,
        measure,
    };
    scenes::LEVELS.map(row).into()
}

fn measure(row: &Row, reps: usize, sides: &[Side]) -> Result<(), String> {
    let soup = scenes::level(row.level)?;
    let mesh = scenes::mesh(&soup)?;
    let ways = throng_benches::pairs(&mesh, row.count, 3);
    #[cfg(feature = "peers")]
    let peer_mesh =
        crate::peers::recast::build_tiled(&soup, &scenes::settings(), scenes::peer_tile_cells())?;
    // The first round warms both sides.
    for rep in 0..=reps {
        for side in sides {
            match side {
                Side::Ours => ours(&mesh, &ways, rep > 0)?,
                #[cfg(feature = "peers")]
                Side::Peer => peer(&peer_mesh, &ways, rep > 0)?,
                #[cfg(not(feature = "peers"))]
                Side::Peer => {}
            }
        }
    }
    Ok(())
}

/// What one side found on the way.
#[derive(Default)]
struct Found {
    snapped: usize,
    length: f64,
    partial: usize,
    hits: usize,
    /// Polygons in circles.
    circled: usize,
    /// Wall distances, all together.
    walls: f64,
}

/// Milliseconds of all queries of a kind.
struct Times {
    path: f64,
    ray: f64,
    nearest: f64,
    circle: f64,
    wall: f64,
    random: f64,
}

/// Times per query and what was found.
fn say_all(side: Side, times: &Times, pairs: usize, found: &Found) {
    let per = |milliseconds: f64, count: usize| milliseconds * 1e3 / count.max(1) as f64;
    let snapped = found.snapped;
    say(side, "path_time", per(times.path, snapped), "us");
    say(side, "raycast_time", per(times.ray, snapped), "us");
    say(side, "nearest_time", per(times.nearest, 2 * pairs), "us");
    say(side, "circle_time", per(times.circle, snapped), "us");
    say(side, "wall_time", per(times.wall, snapped), "us");
    say(side, "random_time", per(times.random, pairs), "us");
    let mean = |sum: f64| sum / snapped.max(1) as f64;
    say(side, "pairs", snapped as f64, "count");
    say(side, "path_mean_length", mean(found.length), "units");
    say(side, "path_partial", found.partial as f64, "count");
    say(side, "raycast_hits", found.hits as f64, "count");
    say(
        side,
        "circle_mean_polys",
        mean(found.circled as f64),
        "count",
    );
    say(side, "wall_mean_distance", mean(found.walls), "units");
}

fn ours(mesh: &NavMesh, ways: &[(DVec3, DVec3)], measured: bool) -> Result<(), String> {
    let filter = QueryFilter::default();
    let mut query = MeshQuery::default();
    let mut corridor = vec![PolyRef::INVALID; 4096];
    let mut points = vec![StraightPathPoint::default(); 4096];
    let nearest = |point: DVec3| find_nearest_poly(mesh, point, SNAP, &filter);
    let mut snapped = Vec::new();
    for &(from, to) in ways {
        let from = nearest(from).map_err(|error| error.to_string())?;
        let to = nearest(to).map_err(|error| error.to_string())?;
        if from.poly.is_valid() && to.poly.is_valid() {
            snapped.push((from, to));
        }
    }
    let mut found = Found {
        snapped: snapped.len(),
        ..Found::default()
    };
    let path = milliseconds(|| {
        for (from, to) in &snapped {
            let search = &mut query.search;
            let begun = search.begin(mesh, from.poly, to.poly, from.point, to.point, &filter);
            if begun.is_err() {
                continue;
            }
            while search.update(mesh, &filter, u32::MAX) == QueryStatus::InProgress {}
            let outcome = search.finish(mesh, &mut corridor);
            found.partial += usize::from(outcome.status == QueryStatus::Partial);
            let string = query.find_straight_path(
                mesh,
                from.point,
                to.point,
                &corridor[..outcome.count],
                &mut points,
                usize::MAX,
            );
            let Ok(string) = string else {
                continue;
            };
            for pair in points[..string.count].windows(2) {
                let d = pair[1].position - pair[0].position;
                found.length += (d.x * d.x + d.y * d.y + d.z * d.z).sqrt();
            }
        }
    });
    let ray = milliseconds(|| {
        for (from, to) in &snapped {
            let hit = query.raycast(
                mesh,
                from.poly,
                from.point,
                to.point,
                &filter,
                &mut corridor,
            );
            found.hits += usize::from(hit.is_ok_and(|hit| hit.hit));
        }
    });
    let nearest = milliseconds(|| {
        for &(from, to) in ways {
            let _ = black_box((nearest(from), nearest(to)));
        }
    });
    let area = &mut query.area;
    let circle = milliseconds(|| {
        for (from, _) in &snapped {
            let (poly, center) = (from.poly, from.point);
            let search = area.find_polys_in_circle(
                mesh,
                poly,
                center,
                RADIUS,
                &filter,
                &mut corridor,
                &mut [],
                &mut [],
            );
            found.circled += search.map_or(0, |search| search.count);
        }
    });
    let wall = milliseconds(|| {
        for (from, _) in &snapped {
            let hit = area.distance_to_wall(mesh, from.poly, from.point, RADIUS, &filter);
            found.walls += hit.map_or(0.0, |hit| hit.distance);
        }
    });
    let mut rng = SplitMix64::new(5);
    let random = milliseconds(|| {
        for _ in ways {
            black_box(mesh.random_point(&mut rng, &filter));
        }
    });
    if measured {
        let times = Times {
            path,
            ray,
            nearest,
            circle,
            wall,
            random,
        };
        say_all(Side::Ours, &times, ways.len(), &found);
    }
    Ok(())
}

#[cfg(feature = "peers")]
fn peer(
    mesh: &crate::peers::recast::DetourMesh,
    ways: &[(DVec3, DVec3)],
    measured: bool,
) -> Result<(), String> {
    let mut query = crate::peers::detour::DetourQuery::new(mesh)?;
    let snap = |&(from, to): &(DVec3, DVec3)| query.nearest(from).zip(query.nearest(to));
    let snapped: Vec<_> = ways.iter().filter_map(snap).collect();
    let mut found = Found {
        snapped: snapped.len(),
        ..Found::default()
    };
    let path = milliseconds(|| {
        for (from, to) in &snapped {
            let walked = query.walk(from, to);
            found.length += walked.length;
            found.partial += usize::from(walked.partial);
        }
    });
    let ray = milliseconds(|| {
        for (from, to) in &snapped {
            found.hits += usize::from(query.ray_hits(from, to));
        }
    });
    let nearest = milliseconds(|| {
        for &(from, to) in ways {
            black_box((query.nearest(from), query.nearest(to)));
        }
    });
    let circle = milliseconds(|| {
        for (from, _) in &snapped {
            found.circled += query.circle(from, RADIUS as f32);
        }
    });
    let wall = milliseconds(|| {
        for (from, _) in &snapped {
            found.walls += f64::from(query.wall(from, RADIUS as f32));
        }
    });
    let random = milliseconds(|| {
        for _ in ways {
            black_box(query.random());
        }
    });
    if measured {
        let times = Times {
            path,
            ray,
            nearest,
            circle,
            wall,
            random,
        };
        say_all(Side::Peer, &times, ways.len(), &found);
    }
    Ok(())
}
