//! Stitching against a slow oracle that looks at every pair of edges of every pair of tiles, and
//! the law that links depend on the tiles alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{all_links, link, params, random_nav_tile, square, square_tile};
use proptest::prelude::*;
use throng_soa::mesh::{Link, LinkKind, NO_PORTAL, NavTile, Tile, TileRef, TiledMesh};
use throng_soa::rng::SplitMix64;

/// Everything that decides where a link stands among the links of its polygon.
type Order = (u8, u32, u32, u32, u32);

/// The links of polygon `poly` of the tile in `slot`, found by looking at everything.
fn oracle(mesh: &TiledMesh, slot: u32, poly: usize) -> Vec<Link> {
    let mut found: Vec<(Order, Link)> = Vec::new();
    let tile = mesh.tile(slot).unwrap();
    for (order, edge) in portals(tile).into_iter().enumerate() {
        if edge.poly != poly {
            continue;
        }
        for (other_slot, other) in mesh.tiles() {
            for (other_order, facing) in portals(other).into_iter().enumerate() {
                let dx = [1, 0, -1, 0][usize::from(edge.side)];
                let dz = [0, 1, 0, -1][usize::from(edge.side)];
                let beside = other.data().tile_x == tile.data().tile_x + dx
                    && other.data().tile_z == tile.data().tile_z + dz;
                if !beside || facing.side != (edge.side + 2) % 4 {
                    continue;
                }
                if let Some((range_min, range_max)) = shared(&edge, &facing) {
                    let link = Link {
                        target: mesh.poly_ref(other_slot, facing.poly as u32),
                        kind: LinkKind::Portal,
                        edge: edge.edge,
                        side: edge.side,
                        range_min,
                        range_max,
                        link_slot: 0,
                        link_index: 0,
                    };
                    let layer = other.data().layer as u32;
                    let key = (
                        0,
                        u32::from(edge.side),
                        order as u32,
                        layer,
                        other_order as u32,
                    );
                    found.push((key, link));
                }
            }
        }
    }
    for (owner, owner_tile) in mesh.tiles() {
        for index in 0..owner_tile.data().off_mesh_links.len() as u32 {
            let Some((from, to)) = attached(mesh, owner, index as usize) else {
                continue;
            };
            let both = owner_tile.data().off_mesh_links[index as usize].bidirectional;
            let mut push = |class, target: (u32, usize), kind| {
                let link = Link {
                    target: mesh.poly_ref(target.0, target.1 as u32),
                    kind,
                    edge: 255,
                    side: 255,
                    range_min: 0,
                    range_max: 0,
                    link_slot: owner,
                    link_index: index,
                };
                found.push(((class, owner, index, 0, 0), link));
            };
            if from == (slot, poly) {
                push(1, to, LinkKind::OffMesh);
            }
            if both && to == (slot, poly) {
                push(2, from, LinkKind::OffMeshReverse);
            }
        }
    }
    found.sort_by_key(|&(order, _)| order);
    found.into_iter().map(|(_, link)| link).collect()
}

struct Portal {
    poly: usize,
    edge: u8,
    side: u8,
    u: [f64; 2],
    height: [f64; 2],
}

fn portals(tile: &Tile) -> Vec<Portal> {
    let data = tile.data();
    let mut all = Vec::new();
    let mut at = 0;
    for (poly, &count) in data.poly_vertex_counts.iter().enumerate() {
        for edge in 0..count {
            let side = data.edge_portal_sides[at + usize::from(edge)];
            if side == NO_PORTAL {
                continue;
            }
            let along = if side % 2 == 0 { 2 } else { 0 };
            let corner = |i: u8| {
                let index = data.poly_indices[at + usize::from(i % count)];
                data.vertices[usize::from(index)]
            };
            let (a, b) = (corner(edge), corner(edge + 1));
            all.push(Portal {
                poly,
                edge,
                side,
                u: [f64::from(a[along]), f64::from(b[along])],
                height: [
                    data.origin_y + f64::from(a[1]),
                    data.origin_y + f64::from(b[1]),
                ],
            });
        }
        at += usize::from(count);
    }
    all
}

fn shared(a: &Portal, b: &Portal) -> Option<(u8, u8)> {
    let low = a.u[0].min(a.u[1]).max(b.u[0].min(b.u[1]));
    let high = a.u[0].max(a.u[1]).min(b.u[0].max(b.u[1]));
    let at = |p: &Portal, u: f64| (u - p.u[0]) / (p.u[1] - p.u[0]);
    let height = |p: &Portal, u: f64| p.height[0] + (p.height[1] - p.height[0]) * at(p, u);
    let climb = f64::from(params().walkable_climb);
    let near = |u: f64| (height(a, u) - height(b, u)).abs() <= climb;
    if high <= low || !near(low) || !near(high) {
        return None;
    }
    let (s, t) = (at(a, low), at(a, high));
    Some((
        (s.min(t) * 255.0).floor().clamp(0.0, 255.0) as u8,
        (s.max(t) * 255.0).ceil().clamp(0.0, 255.0) as u8,
    ))
}

/// Slot and polygon at both ends of an off-mesh link.
fn attached(mesh: &TiledMesh, owner: u32, index: usize) -> Option<((u32, usize), (u32, usize))> {
    let tile = mesh.tile(owner).unwrap();
    if !tile.off_mesh_enabled[index] {
        return None;
    }
    let stored = tile.data().off_mesh_links[index];
    let world = |p: [f32; 3]| [0, 1, 2].map(|i| tile.origin()[i] + f64::from(p[i]));
    let (start, end) = (world(stored.start), world(stored.end));
    let radius = f64::from(stored.radius);
    let from = best_poly(mesh, &[owner], start, radius)?;
    let params = mesh.params();
    let column = ((end[0] - params.origin.x) / params.tile_size).floor();
    let row = ((end[2] - params.origin.z) / params.tile_size).floor();
    let mut under: Vec<(i32, u32)> = mesh
        .tiles()
        .filter(|(_, t)| f64::from(t.data().tile_x) == column && f64::from(t.data().tile_z) == row)
        .map(|(slot, t)| (t.data().layer, slot))
        .collect();
    under.sort_unstable();
    let under: Vec<u32> = under.into_iter().map(|(_, slot)| slot).collect();
    Some((from, best_poly(mesh, &under, end, radius)?))
}

fn best_poly(
    mesh: &TiledMesh,
    slots: &[u32],
    point: [f64; 3],
    radius: f64,
) -> Option<(u32, usize)> {
    let climb = f64::from(mesh.params().walkable_climb);
    let mut all = Vec::new();
    for &slot in slots {
        let tile = mesh.tile(slot).unwrap();
        for poly in 0..tile.poly_count() {
            let corners = tile.poly_ring(poly).iter();
            let corners: Vec<[f64; 3]> = corners.map(|corner| corner.to_array()).collect();
            let lowest = corners.iter().map(|c| c[1]).fold(f64::INFINITY, f64::min);
            let highest = corners.iter().map(|c| c[1]).fold(-f64::INFINITY, f64::max);
            let dy = (lowest - point[1]).max(point[1] - highest).max(0.0);
            let flat = flat_distance_squared(&corners, point);
            if dy <= climb && flat.sqrt() <= radius {
                all.push((flat + dy * dy, slot, poly));
            }
        }
    }
    // `slots` ascend by layer and polygons by index, and the sort is stable.
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.first().map(|&(_, slot, poly)| (slot, poly))
}

fn flat_distance_squared(corners: &[[f64; 3]], point: [f64; 3]) -> f64 {
    let edges = || (0..corners.len()).map(|i| (corners[i], corners[(i + 1) % corners.len()]));
    let left = |(a, b): ([f64; 3], [f64; 3])| {
        (b[0] - a[0]) * (point[2] - a[2]) - (b[2] - a[2]) * (point[0] - a[0]) >= 0.0
    };
    if edges().all(left) {
        return 0.0;
    }
    let distance = |(a, b): ([f64; 3], [f64; 3])| {
        let (ex, ez) = (b[0] - a[0], b[2] - a[2]);
        let (px, pz) = (point[0] - a[0], point[2] - a[2]);
        let t = ((px * ex + pz * ez) / (ex * ex + ez * ez)).clamp(0.0, 1.0);
        let (dx, dz) = (px - ex * t, pz - ez * t);
        dx * dx + dz * dz
    };
    edges().map(distance).fold(f64::INFINITY, f64::min)
}

fn assert_matches_oracle(mesh: &TiledMesh) -> usize {
    let mut count = 0;
    for (slot, tile) in mesh.tiles() {
        for poly in 0..tile.poly_count() {
            let links = tile.poly_links(poly);
            assert_eq!(
                links,
                oracle(mesh, slot, poly),
                "slot {slot} polygon {poly}"
            );
            count += links.len();
        }
    }
    count
}

#[test]
fn random_tiles_are_stitched_as_the_oracle_says() {
    let (mut links, mut off_mesh, mut partial) = (0, 0, 0);
    for seed in 0..300 {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        let mut tiles = Vec::new();
        for x in -1..2 {
            for z in -1..2 {
                for layer in 0..3 {
                    if rng.next_below(4) > 0 {
                        tiles.push(random_nav_tile(&mut rng, x, z, layer, seed % 2 == 1));
                    }
                }
            }
        }
        mesh.add_tiles(tiles).unwrap();
        links += assert_matches_oracle(&mesh);
        for (_, tile) in mesh.tiles() {
            let kinds = tile.links.iter().map(|l| l.kind);
            off_mesh += kinds.filter(|&k| k != LinkKind::Portal).count();
            partial += tile
                .links
                .iter()
                .filter(|l| l.kind == LinkKind::Portal && (l.range_min, l.range_max) != (0, 255))
                .count();
        }
    }
    println!("{links} links, {off_mesh} off-mesh, {partial} cover part of an edge");
    assert!(links > 10_000 && off_mesh > 150 && partial > 5000);
}

/// Many links between few tiles, owners in slots of every order, one slot free: each polygon's
/// links stand as in a scan of all links by owner, forward ones first.
#[test]
fn many_links_between_few_tiles_keep_their_order() {
    let (mut forward, mut reverse) = (0, 0);
    for seed in 0..12 {
        let mut rng = SplitMix64::new(500 + seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        let mut places: Vec<i32> = (0..7).collect();
        for i in (1..places.len()).rev() {
            places.swap(i, rng.next_below(i as u32 + 1) as usize);
        }
        for place in places {
            let mut data = square(place % 3, place / 3, 0, 0.0);
            for user_id in 0..rng.next_below(40) {
                let mut at = |low, high| rng.range(low, high) as f32;
                let start = [at(0.0, 8.0), 0.0, at(0.0, 8.0)];
                let end = [at(-16.0, 24.0), 0.0, at(-16.0, 24.0)];
                let both = rng.next_below(2) == 0;
                data.off_mesh_links.push(link(start, end, both, user_id));
            }
            mesh.add_tile(NavTile::create(data, &params()).unwrap())
                .unwrap();
        }
        let gone = mesh.tile_ref(rng.next_below(7)).unwrap();
        mesh.remove_tile(gone).unwrap();
        assert_matches_oracle(&mesh);
        for (_, tile) in mesh.tiles() {
            let of = |kind| tile.links.iter().filter(move |l| l.kind == kind).count();
            forward += of(LinkKind::OffMesh);
            reverse += of(LinkKind::OffMeshReverse);
        }
    }
    assert!(forward > 300 && reverse > 150, "{forward} {reverse}");
}

#[test]
fn portal_links_come_in_pairs() {
    let mut rng = SplitMix64::new(77);
    let mut mesh = TiledMesh::new(params()).unwrap();
    for i in 0..9 {
        mesh.add_tile(random_nav_tile(&mut rng, i % 3, i / 3, 0, false))
            .unwrap();
    }
    for (slot, poly, links) in all_links(&mesh) {
        for link in links {
            let (other, index) = mesh.resolve(link.target).unwrap();
            let back = other
                .poly_links(index)
                .iter()
                .filter(|back| back.target == mesh.poly_ref(slot, poly))
                .filter(|back| back.side == (link.side + 2) % 4);
            assert!(back.count() > 0);
        }
    }
}

#[test]
fn links_are_a_function_of_tiles_and_slots() {
    let mut compared = 0;
    for seed in 0..30 {
        let mut rng = SplitMix64::new(1000 + seed);
        let with_links = seed % 3 == 0;
        let mut mesh = TiledMesh::new(params()).unwrap();
        for _ in 0..60 {
            let (x, z, layer) = (
                rng.next_below(3) as i32,
                rng.next_below(3) as i32,
                rng.next_below(2) as i32,
            );
            let slot = mesh.tile_slot_at(x, z, layer);
            let tile = random_nav_tile(&mut rng, x, z, layer, with_links);
            match slot {
                None => {
                    mesh.add_tile(tile).unwrap();
                }
                Some(_) if rng.next_below(2) == 0 => {
                    mesh.replace_tile(tile).unwrap();
                }
                Some(slot) => mesh.remove_tile(mesh.tile_ref(slot).unwrap()).unwrap(),
            }
            if rng.next_below(3) == 0 {
                let slots: Vec<u32> = mesh.occupied_slots().collect();
                for slot in slots {
                    let links = mesh.tile(slot).unwrap().off_mesh_enabled.len() as u32;
                    if links > 0 {
                        let index = rng.next_below(links);
                        let on = rng.next_below(2) == 0;
                        mesh.set_off_mesh_link_enabled(mesh.tile_ref(slot).unwrap(), index, on)
                            .unwrap();
                    }
                }
            }
        }
        // The same slots from bytes, stitched once.
        let bytes = throng_soa::mesh::snapshot::snapshot_bytes(&mesh);
        let fresh = throng_soa::mesh::snapshot::read_snapshot(&bytes).unwrap();
        assert_eq!(all_links(&mesh), all_links(&fresh));
        compared += assert_matches_oracle(&mesh);
    }
    assert!(compared > 1000);
}

#[test]
fn the_climb_is_the_limit_at_both_ends_of_the_shared_stretch() {
    for (height, linked) in [
        (0.5_f32, true),
        (0.500_001, false),
        (-0.5, true),
        (3.0, false),
    ] {
        let mut mesh = TiledMesh::new(params()).unwrap();
        mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
        mesh.add_tile(square_tile(1, 0, 0, height)).unwrap();
        assert_eq!(mesh.tile(0).unwrap().links.len(), usize::from(linked));
        assert_eq!(mesh.tile(1).unwrap().links.len(), usize::from(linked));
    }
    // Too high at one end only.
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    let mut tilted = square(1, 0, 0, 0.0);
    tilted.vertices[3][1] = 0.75;
    mesh.add_tile(NavTile::create(tilted, &params()).unwrap())
        .unwrap();
    assert!(mesh.tile(0).unwrap().links.is_empty());
}

#[test]
fn the_tile_origin_counts_toward_heights() {
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(square_tile(0, 0, 0, 0.0)).unwrap();
    let mut lifted = square(0, 1, 5, -3.0);
    lifted.origin_y = 3.25;
    mesh.add_tile(NavTile::create(lifted, &params()).unwrap())
        .unwrap();
    let links = mesh.tile(0).unwrap().poly_links(0);
    assert_eq!(links.len(), 1);
    assert_eq!(
        (links[0].side, links[0].range_min, links[0].range_max),
        (1, 0, 255)
    );
}

/// A mesh of the square (0, 0) with one link, and whatever else is asked for.
fn with_link(
    start: [f32; 3],
    end: [f32; 3],
    bidirectional: bool,
    others: &[(i32, i32, i32, f32)],
) -> TiledMesh {
    let mut data = square(0, 0, 0, 0.0);
    data.off_mesh_links.push(link(start, end, bidirectional, 1));
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(NavTile::create(data, &params()).unwrap())
        .unwrap();
    for &(x, z, layer, height) in others {
        mesh.add_tile(square_tile(x, z, layer, height)).unwrap();
    }
    mesh
}

fn off_mesh(mesh: &TiledMesh, slot: u32) -> Vec<Link> {
    let links = mesh.tile(slot).unwrap().links.iter();
    links
        .filter(|link| link.kind != LinkKind::Portal)
        .copied()
        .collect()
}

#[test]
fn one_way_two_way_and_switched_off() {
    let far = [(5, 5, 0, 2.0)];
    let (start, end) = ([4.0, 0.0, 4.0], [44.0, 2.0, 44.0]);
    let one_way = with_link(start, end, false, &far);
    assert_eq!(off_mesh(&one_way, 0).len(), 1);
    assert_eq!(off_mesh(&one_way, 0)[0].target, one_way.poly_ref(1, 0));
    assert!(off_mesh(&one_way, 1).is_empty());
    let mut two_way = with_link(start, end, true, &far);
    let back = off_mesh(&two_way, 1);
    assert_eq!(back.len(), 1);
    assert_eq!(back[0].kind, LinkKind::OffMeshReverse);
    assert_eq!(back[0].target, two_way.poly_ref(0, 0));
    assert_eq!((back[0].link_slot, back[0].link_index), (0, 0));
    let before = all_links(&two_way);
    let owner = two_way.tile_ref(0).unwrap();
    two_way.set_off_mesh_link_enabled(owner, 0, false).unwrap();
    assert!(off_mesh(&two_way, 0).is_empty() && off_mesh(&two_way, 1).is_empty());
    two_way.set_off_mesh_link_enabled(owner, 0, true).unwrap();
    assert_eq!(all_links(&two_way), before);
    // The far tile goes and comes back: the link waits for it.
    let far_ref = two_way.tile_ref(1).unwrap();
    two_way.remove_tile(far_ref).unwrap();
    assert!(off_mesh(&two_way, 0).is_empty());
    two_way.add_tile(square_tile(5, 5, 0, 2.0)).unwrap();
    assert_eq!(off_mesh(&two_way, 0)[0].target, two_way.poly_ref(1, 0));
    // The owner goes: no end is left behind.
    two_way.remove_tile(owner).unwrap();
    assert!(off_mesh(&two_way, 1).is_empty());
}

#[test]
fn where_an_end_attaches() {
    let start = [4.0, 0.0, 4.0];
    // Out of reach sideways, up, and in a column without tiles.
    for end in [[9.5, 0.0, 4.0], [12.0, 1.0, 4.0], [20.0, 0.0, 4.0]] {
        let mesh = with_link(start, end, true, &[(1, 0, 0, 0.4)]);
        let expected = usize::from(end[0] == 9.5);
        assert_eq!(off_mesh(&mesh, 0).len(), expected, "{end:?}");
    }
    // The nearer floor wins; the lower layer when both are as near.
    let mesh = with_link(
        start,
        [12.0, 3.0, 4.0],
        false,
        &[(1, 0, 0, 2.6), (1, 0, 1, 3.3)],
    );
    assert_eq!(off_mesh(&mesh, 0)[0].target, mesh.poly_ref(2, 0));
    let mesh = with_link(
        start,
        [12.0, 3.0, 4.0],
        false,
        &[(1, 0, 7, 3.25), (1, 0, 1, 2.75)],
    );
    assert_eq!(off_mesh(&mesh, 0)[0].target, mesh.poly_ref(2, 0));
    // The start looks at its own tile only, even where another floor is nearer.
    let mesh = with_link(
        [4.0, 0.4, 4.0],
        [12.0, 0.0, 4.0],
        false,
        &[(0, 0, 1, 0.4), (1, 0, 0, 0.0)],
    );
    assert_eq!(off_mesh(&mesh, 0).len(), 1);
    assert!(off_mesh(&mesh, 1).is_empty());
    // Exactly the radius away is near enough; a point on a column line belongs to the upper one.
    let mesh = with_link([-1.0, 0.0, 4.0], [8.0, 0.0, 4.0], false, &[(1, 0, 0, 0.0)]);
    assert_eq!(off_mesh(&mesh, 0)[0].target, mesh.poly_ref(1, 0));
    let mesh = with_link(
        [-1.000_001, 0.0, 4.0],
        [8.0, 0.0, 4.0],
        false,
        &[(1, 0, 0, 0.0)],
    );
    assert!(off_mesh(&mesh, 0).is_empty());
}

#[test]
fn a_column_at_the_edge_of_the_numbers_has_no_neighbour_beyond() {
    // Column i32::MAX lies outside the coordinate rule, so the check is that stitching at the
    // farthest legal columns does not wrap.
    let mut mesh = TiledMesh::new(params()).unwrap();
    let far = (2_097_152.0 / 8.0) as i32 - 2;
    let a = mesh.add_tile(square_tile(far, 0, 0, 0.0)).unwrap();
    mesh.add_tile(square_tile(-far, 0, 0, 0.0)).unwrap();
    assert!(mesh.tile(0).unwrap().links.is_empty());
    mesh.remove_tile(a).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any order of the same adds gives the same links once the slots agree; here the order of a
    /// permutation decides the slots, and links are compared by position instead.
    #[test]
    fn order_of_adding_does_not_matter(seed in any::<u64>(), order in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        let tiles: Vec<NavTile> = (0..6)
            .map(|i| random_nav_tile(&mut rng, i % 2, i / 2 % 2, i / 4, true))
            .collect();
        let mut shuffled = tiles.clone();
        let mut rng = SplitMix64::new(order);
        for i in (1..shuffled.len()).rev() {
            shuffled.swap(i, rng.next_below(i as u32 + 1) as usize);
        }
        let build = |tiles: &[NavTile]| {
            let mut mesh = TiledMesh::new(params()).unwrap();
            for tile in tiles {
                mesh.add_tile(tile.clone()).unwrap();
            }
            mesh
        };
        let (a, b) = (build(&tiles), build(&shuffled));
        let named = |mesh: &TiledMesh| {
            let place = |slot: u32| {
                let d = mesh.tile(slot).unwrap().data();
                (d.tile_x, d.tile_z, d.layer)
            };
            let mut all = Vec::new();
            for (slot, poly, links) in all_links(mesh) {
                for l in links {
                    let to = (place(l.target.slot()), l.target.poly());
                    let owner = (l.kind != LinkKind::Portal).then(|| (place(l.link_slot), l.link_index));
                    let range = (l.edge, l.side, l.range_min, l.range_max);
                    all.push(((place(slot), poly), to, l.kind as u8, owner, range));
                }
            }
            all.sort_unstable();
            all
        };
        prop_assert_eq!(named(&a), named(&b));
    }

    /// Removing and adding back the same tiles, lowest slot first, restores every link but for the
    /// generation in it.
    #[test]
    fn out_and_in_again(seed in any::<u64>(), pick in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for i in 0..6 {
            mesh.add_tile(random_nav_tile(&mut rng, i % 3, i / 3, 0, true)).unwrap();
        }
        let strip = |mesh: &TiledMesh| -> Vec<_> {
            all_links(mesh)
                .into_iter()
                .map(|(slot, poly, links)| {
                    let strip = |l: Link| (l.target.slot(), l.target.poly(), l.kind as u8, l.link_slot, l.link_index);
                    (slot, poly, links.into_iter().map(strip).collect::<Vec<_>>())
                })
                .collect()
        };
        let before = strip(&mesh);
        let mut out: Vec<(TileRef, NavTile)> = Vec::new();
        for slot in 0..6 {
            if pick >> slot & 1 == 1 {
                let tile = mesh.tile(slot).unwrap().built().as_ref().clone();
                out.push((mesh.tile_ref(slot).unwrap(), tile));
            }
        }
        for (tile, _) in out.iter().rev() {
            mesh.remove_tile(*tile).unwrap();
        }
        for (_, tile) in out {
            mesh.add_tile(tile).unwrap();
        }
        prop_assert_eq!(before, strip(&mesh));
    }
}
