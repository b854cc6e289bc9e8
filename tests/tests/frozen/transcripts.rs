//! What a loaded state does, as text to hash.

use std::fmt::Write as _;

use throng::parts::sim::corridor::{PathCorridor, find_corners};
use throng::parts::sim::follower::PathFollower;
use throng::{Crowd, DVec3, MeshQuery, PathOptions, QueryFilter, SplitMix64, TileCache, TiledMesh};

use super::scenes::navigator;

/// Numbers by their bits: a transcript must not hide a last digit.
pub fn bits(point: DVec3) -> String {
    let [x, y, z] = point.to_array().map(f64::to_bits);
    format!("{x:016X} {y:016X} {z:016X}")
}

pub fn mesh_transcript(mesh: &TiledMesh) -> String {
    let mut text = String::new();
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let reference = mesh.poly_ref(slot, poly as u32).bits();
            let (area, flags) = (tile.poly_area[poly], tile.poly_flags[poly]);
            let _ = write!(text, "{reference:016X} {area} {flags:04X}");
            for link in tile.poly_links(poly) {
                let _ = write!(
                    text,
                    " [{:016X} {} {} {} {} {} {} {}]",
                    link.target.bits(),
                    link.kind as u8,
                    link.edge,
                    link.side,
                    link.range_min,
                    link.range_max,
                    link.link_slot,
                    link.link_index
                );
            }
            text.push('\n');
        }
    }
    let mut query = MeshQuery::default();
    let mut rng = SplitMix64::new(5);
    let filter = QueryFilter::default();
    for _ in 0..20 {
        let mut draw = || throng::parts::query::mesh::random_point(mesh, &mut rng, &filter);
        let (Some(a), Some(b)) = (draw(), draw()) else {
            break;
        };
        let route = query
            .find_path(mesh, a.point, b.point, &PathOptions::default())
            .unwrap();
        let _ = write!(text, "{:?} {:016X}", route.status, route.cost.to_bits());
        for point in &route.points {
            let _ = write!(text, " ({} {})", bits(point.position), point.flags.0);
        }
        text.push('\n');
    }
    text
}

pub fn crowd_transcript(crowd: &mut Crowd, mesh: &TiledMesh) -> String {
    let mut text = String::new();
    for step in 0..150 {
        if step % 25 == 0 {
            for agent in crowd.agents() {
                let (at, state) = (bits(agent.position()), agent.state());
                let _ = writeln!(text, "{step} {} {at} {state:?}", agent.id());
            }
            let _ = writeln!(text, "{:016X}", crowd.state_hash(mesh));
        }
        crowd.step(mesh, 0.05).unwrap();
    }
    text
}

/// The way of a follower to its end.
pub fn follower_transcript(follower: &mut PathFollower, mesh: &TiledMesh) -> String {
    let (filter, mut navigator) = (QueryFilter::default(), navigator());
    let mut text = String::new();
    for step in 0..200 {
        if step % 10 == 0 {
            let (at, state) = (bits(follower.position()), follower.state());
            let _ = writeln!(text, "{step} {at} {state:?} {}", follower.polys().len());
        }
        follower.step(mesh, &filter, 0.05, &mut navigator).unwrap();
    }
    text
}

/// What a corridor holds, and where its corners are.
pub fn corridor_transcript(corridor: &mut PathCorridor, mesh: &TiledMesh) -> String {
    let head = corridor.head();
    let mut text = format!(
        "{} {} {} {} {:016X}",
        head.complete,
        head.needs_replan,
        bits(head.position),
        bits(head.target),
        head.target_poly.bits()
    );
    for poly in corridor.polys() {
        let _ = write!(text, " {:016X}", poly.bits());
    }
    let mut navigator = navigator();
    let status = find_corners(&mut corridor.row(), mesh, 8, &mut navigator);
    let _ = write!(text, "\n{status:?}");
    for corner in navigator.corners() {
        let _ = write!(text, " ({} {})", bits(corner.position), corner.flags.0);
    }
    text
}

/// The shapes and the queue of a cache, and what its mesh does.
pub fn cache_transcript(cache: &TileCache) -> String {
    let mut text = String::new();
    for (id, obstacle) in cache.obstacles() {
        let status = cache.obstacle_status(id);
        let _ = writeln!(text, "{} {:?} {status:?}", id.0, obstacle.shape());
    }
    for (id, volume) in cache.volumes() {
        let (status, corners) = (cache.volume_status(id), volume.corners());
        let _ = writeln!(text, "{} {corners:?} {status:?}", id.0);
    }
    let queue: Vec<(i32, i32)> = cache.queued_tiles().collect();
    let _ = writeln!(text, "{queue:?}");
    text + &mesh_transcript(cache)
}
