use super::*;
use crate::{
    AgentOptions, Crowd, CrowdOptions, DVec2, DVec3, MeshParams, MeshQuery, NavMesh, NavSettings,
    NavTile, PathOptions, PathStatus, PolyRef, SplitMix64, StraightFlags, TiledMesh, levels,
};
use throng_query::mesh::{
    AreaSearch, AreaStatus, DefaultFilter, QueryFilter, WallSegment, closest_point_on_poly,
    find_nearest_poly, poly_edge, portal_stretch, raycast,
};
use throng_sim::corridor::PathCorridor;
use throng_soa::mesh::assemble::{LocalPolygons, from_local_polygons};
use throng_soa::mesh::{Link, LinkKind, OffMeshLink};
use throng_soa::world::{distance_xz, distance3, length2};

fn at(x: f64, z: f64) -> DVec3 {
    DVec3::new(x, 0.0, z)
}

/// Two slabs of 4 x 8 beside each other in the first tile; in the second a square of 4 against the
/// lower half of their right side, and a link from the first slab to the square and back.
fn three_polygons() -> TiledMesh {
    let params = MeshParams {
        origin: DVec3::ZERO,
        tile_size: 8.0,
        cell_size: 0.25,
        max_verts_per_poly: 6,
        walkable_climb: 0.5,
        agent_radius: 0.5,
        agent_height: 2.0,
        agent_max_slope_degrees: 45.0,
        settings_digest: 0,
    };
    let mut mesh = TiledMesh::new(params).unwrap();
    let slabs = LocalPolygons {
        vertices: [(0, 0), (4, 0), (8, 0), (8, 8), (4, 8), (0, 8)]
            .map(|(x, z)| [x as f32, 0.0, z as f32])
            .to_vec(),
        poly_vertex_counts: vec![4, 4],
        poly_indices: vec![0, 1, 4, 5, 1, 2, 3, 4],
        areas: vec![0, 7],
        flags: vec![1, 3],
        ..LocalPolygons::default()
    };
    let mut data = from_local_polygons(slabs, &params).unwrap();
    data.off_mesh_links.push(OffMeshLink {
        start: [1.0, 0.0, 7.0],
        end: [11.0, 0.0, 3.0],
        radius: 0.5,
        flags: 1,
        bidirectional: true,
        ..OffMeshLink::default()
    });
    mesh.add_tile(NavTile::create(data, &params).unwrap())
        .unwrap();
    let square = LocalPolygons {
        tile_x: 1,
        vertices: vec![
            [0.0, 0.0, 0.0],
            [4.0, 0.0, 0.0],
            [4.0, 0.25, 4.0],
            [0.0, 0.0, 4.0],
        ],
        poly_vertex_counts: vec![4],
        poly_indices: vec![0, 1, 2, 3],
        areas: vec![0],
        flags: vec![1],
        ..LocalPolygons::default()
    };
    let data = from_local_polygons(square, &params).unwrap();
    mesh.add_tile(NavTile::create(data, &params).unwrap())
        .unwrap();
    mesh
}

fn rooms() -> NavMesh {
    let soup = levels::generate("rooms", 96.0, 3).unwrap();
    NavMesh::build_soup(&soup, &NavSettings::HUMANOID).unwrap()
}

fn polys(mesh: &TiledMesh) -> [PolyRef; 3] {
    [
        mesh.poly_ref(0, 0),
        mesh.poly_ref(0, 1),
        mesh.poly_ref(1, 0),
    ]
}

#[test]
fn a_small_mesh_has_its_edges_by_kind() {
    let mesh = three_polygons();
    let [first, second, square] = polys(&mesh);
    let shown = MeshDebug::collect(&mesh);
    assert_eq!(shown.polygons.outlines.poly, [first, second, square]);
    assert_eq!(shown.polygons.outlines.ring(2)[1], at(12.0, 0.0));
    assert!(shown.polygons.outlines.ring(3).is_empty());
    assert_eq!(
        (shown.polygons.area, shown.polygons.flags),
        (vec![0, 7, 0], vec![1, 3, 1])
    );

    let edges = &shown.edges;
    let of = |poly: PolyRef| {
        let lines = edges.lines.iter().zip(&edges.poly).zip(&edges.edge);
        let own = lines.filter(move |((_, owner), _)| **owner == poly);
        own.map(|((line, _), &edge)| (edge, line.0))
            .collect::<Vec<_>>()
    };
    use LineKind::{Inner, Portal, Wall};
    assert_eq!(of(first), [(0, Wall), (1, Inner), (2, Wall), (3, Wall)]);
    assert_eq!(of(second), [(0, Wall), (1, Portal), (1, Wall), (2, Wall)]);
    assert_eq!(of(square), [(0, Wall), (1, Wall), (2, Wall), (3, Portal)]);
    let inner: Vec<_> = edges.lines.of_kind(Inner).collect();
    assert_eq!(inner, [(at(4.0, 0.0), at(4.0, 8.0))]);
    // Half of the border is 128 of 255 parts.
    let middle = at(8.0, 8.0 * (128.0 / 255.0));
    let portals: Vec<_> = edges.lines.of_kind(Portal).collect();
    let whole = (at(8.0, 4.0), at(8.0, 0.0));
    assert_eq!(portals, [(at(8.0, 0.0), middle), whole]);

    let links = &shown.links;
    assert_eq!(links.from, [first, second, square, square]);
    assert_eq!(links.to, [square, square, second, first]);
    let there = (LineKind::OffMesh, at(1.0, 7.0), DVec3::new(11.0, 0.0, 3.0));
    let lines: Vec<_> = links.lines.iter().collect();
    assert_eq!(
        lines,
        [
            there,
            (Portal, at(8.0, 0.0), middle),
            (Portal, whole.0, whole.1),
            (LineKind::OffMesh, there.2, there.1),
        ]
    );
}

#[test]
fn edges_and_stretches_that_are_not_there_are_none() {
    let mesh = three_polygons();
    let mut portals = 0;
    for poly in polys(&mesh) {
        let (tile, index) = mesh.resolve(poly).unwrap();
        let ring = tile.poly_ring(index);
        for edge in 0..ring.len() {
            let next = ring[(edge + 1) % ring.len()];
            assert_eq!(poly_edge(tile, index, edge), Some((ring[edge], next)));
        }
        assert_eq!(poly_edge(tile, index, ring.len()), None);
        assert_eq!(poly_edge(tile, tile.poly_count(), 0), None);
        for link in tile.poly_links(index) {
            if link.kind != LinkKind::Portal {
                continue;
            }
            portals += 1;
            let (edge, count) = (usize::from(link.edge), ring.len());
            let (a, b) = (ring[edge], ring[(edge + 1) % count]);
            let whole = Link {
                range_min: 0,
                range_max: 255,
                ..*link
            };
            assert_eq!(portal_stretch(tile, index, &whole), Some((a, b)));
            let middle = Link {
                range_min: 51,
                range_max: 204,
                ..*link
            };
            let (from, to) = portal_stretch(tile, index, &middle).unwrap();
            assert!((from - (a + (b - a) * 0.2)).length() < 1e-12);
            assert!((to - (a + (b - a) * 0.8)).length() < 1e-12);
            let none = Link {
                edge: count as u8,
                ..*link
            };
            assert_eq!(portal_stretch(tile, index, &none), None);
        }
    }
    assert!(portals > 0);
}

#[test]
fn a_surface_is_ground_again_when_it_is_built_as_a_level() {
    let mesh = rooms();
    let shown = Surface::collect(&mesh);
    let vertices = shown.triangles.concat();
    let triangles: Vec<[u32; 3]> = (0..shown.triangles.len() as u32)
        .map(|i| [3 * i, 3 * i + 1, 3 * i + 2])
        .collect();
    let up = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).y > 0.0;
    assert!(shown.triangles.iter().all(|&triangle| up(triangle)));
    let thin = NavSettings {
        agent_radius: 0.0,
        ..NavSettings::HUMANOID
    };
    let again = NavMesh::build(&vertices, &triangles, &thin).unwrap();
    let ground = |mesh: &NavMesh| -> f64 {
        let areas = Surface::collect(mesh).triangles.into_iter();
        areas.map(|[a, b, c]| (b - a).cross(c - a).y / 2.0).sum()
    };
    let (before, after) = (ground(&mesh), ground(&again));
    assert!(after > 0.9 * before, "{before} {after}");
}

#[test]
fn a_small_mesh_has_its_surface_and_tiles() {
    let mut mesh = three_polygons();
    let shown = MeshDebug::collect(&mesh);
    let area =
        |[a, b, c]: [DVec3; 3]| ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x)) / 2.0;
    let areas: Vec<f64> = shown.surface.triangles.iter().map(|&t| area(t)).collect();
    // With Y up these face up: a fan of the polygon's winding would be positive.
    assert_eq!(areas, [-16.0, -16.0, -16.0, -16.0, -8.0, -8.0]);
    let [first, _, square] = polys(&mesh);
    assert_eq!(
        (shown.surface.poly[0], shown.surface.poly[5]),
        (first, square)
    );
    assert_eq!(shown.tiles.place, [[0, 0, 0], [1, 0, 0]]);
    assert_eq!(shown.tiles.low, [at(0.0, 0.0), at(8.0, 0.0)]);
    assert_eq!(shown.tiles.high[1], DVec3::new(16.0, 0.25, 8.0));
    let boxes = shown.tiles.lines();
    assert_eq!(boxes.len(), 24);
    let uprights = boxes.iter().filter(|(_, a, b)| a.x == b.x && a.z == b.z);
    assert_eq!(uprights.count(), 8);

    // What a run changes is seen.
    let owner = mesh.tile_ref(0).unwrap();
    mesh.set_off_mesh_link_enabled(owner, 0, false).unwrap();
    mesh.set_poly_area(first, 9).unwrap();
    let links = Links::collect(&mesh);
    assert_eq!(links.lines.of_kind(LineKind::OffMesh).count(), 0);
    assert_eq!(Polygons::collect(&mesh).area, [9, 7, 0]);
    let tile = mesh.tile_ref(1).unwrap();
    mesh.remove_tile(tile).unwrap();
    let edges = Edges::collect(&mesh);
    assert_eq!(edges.lines.of_kind(LineKind::Portal).count(), 0);
    assert_eq!(edges.lines.of_kind(LineKind::Wall).count(), 6);
    assert_eq!(Polygons::collect(&mesh).outlines.len(), 2);
}

#[test]
fn edges_of_a_level_are_its_walls_and_its_neighbours() {
    let mesh = rooms();
    let shown = MeshDebug::collect(&mesh);
    assert_eq!(shown, MeshDebug::collect(&mesh));
    let pairs: usize = mesh
        .tiles()
        .map(|(_, tile)| {
            tile.data()
                .edge_neighbors
                .iter()
                .filter(|&&n| n > 0)
                .count()
        })
        .sum();
    assert_eq!(
        shown.edges.lines.of_kind(LineKind::Inner).count(),
        pairs / 2
    );
    // Seen from its own polygon, every wall is a wall a search finds, and the other way round.
    let mut search = AreaSearch::new(1 << 16);
    let mut found = vec![WallSegment::default(); 1 << 14];
    let walls = |poly: PolyRef| {
        let lines = shown.edges.lines.iter().zip(&shown.edges.poly);
        let own = lines.filter(move |((kind, ..), of)| **of == poly && *kind == LineKind::Wall);
        own.map(|((_, a, b), _)| (a, b))
    };
    for &poly in shown.polygons.outlines.poly.iter().step_by(17) {
        let center = shown
            .polygons
            .outlines
            .iter()
            .find(|o| o.0 == poly)
            .unwrap()
            .1[0];
        let outcome = search.find_walls(&mesh, poly, center, 20.0, &DefaultFilter, &mut found);
        assert!(outcome.status == AreaStatus::Success && !outcome.truncated);
        let own = found[..outcome.count].iter().filter(|w| w.poly == poly);
        let mut own: Vec<_> = own.map(|w| (w.edge, w.a, w.b)).collect();
        own.sort_by_key(|w| w.0);
        let own = own.into_iter().map(|(_, a, b)| (a, b));
        assert!(walls(poly).eq(own), "{poly:?}");
    }
}

#[test]
fn a_search_shows_what_it_expanded_and_every_corner_on_its_gate() {
    let mesh = rooms();
    let mut query = MeshQuery::default();
    let mut rng = SplitMix64::new(5);
    let filter = QueryFilter::default();
    let mut corners_seen = 0;
    for _ in 0..40 {
        let mut draw = || mesh.random_point(&mut rng, &filter).unwrap().point;
        let (from, to) = (draw(), draw());
        let route = query
            .find_path(&mesh, from, to, &PathOptions::default())
            .unwrap();
        assert_eq!(route.status, PathStatus::Found);
        let shown = QueryDebug::collect(&mesh, &query.search, &route);
        assert_eq!(shown.corridor.poly, route.corridor);
        assert_eq!(shown.portals.len(), route.corridor.len() - 1);
        // A route is made of polygons looked at, its goal perhaps not expanded any more.
        for poly in &route.corridor[..route.corridor.len() - 1] {
            assert!(shown.expanded.poly.contains(poly));
        }
        let (left, right) = (&shown.portals.left, &shown.portals.right);
        for (gate, pair) in route.corridor.windows(2).enumerate() {
            for end in [left[gate], right[gate]] {
                for &poly in pair {
                    let nearest = closest_point_on_poly(&mesh, poly, end).unwrap().point;
                    assert!(distance_xz(nearest, end) < 1e-6, "{end}");
                }
            }
        }
        // Corners are ends of gates, in the order of the gates.
        let mut next = 0;
        for corner in &route.points[1..route.points.len() - 1] {
            let p = corner.position;
            let gate = (next..left.len()).find(|&gate| left[gate] == p || right[gate] == p);
            next = gate.unwrap() + 1;
            corners_seen += 1;
        }
        let corridor = CorridorDebug::collect(&mesh, from, to, &route.corridor);
        assert_eq!(corridor.portals, shown.portals);
        assert_eq!(corridor.corners, route.points);
        assert_eq!(
            corridor.lines().len(),
            shown.portals.len() + route.points.len() - 1
        );
    }
    assert!(corners_seen > 40);
}

#[test]
fn a_link_is_a_gate_of_its_own_kind() {
    let mesh = three_polygons();
    let [first, second, square] = polys(&mesh);
    let shown = CorridorDebug::collect(&mesh, at(1.0, 1.0), at(11.0, 1.0), &[first, square]);
    assert_eq!(shown.portals.off_mesh, [true]);
    assert_eq!(shown.portals.right, [at(1.0, 7.0)]);
    assert_eq!(shown.portals.left, [at(11.0, 3.0)]);
    assert_eq!(shown.corners.len(), 4);
    assert!(
        shown.corners[1]
            .flags
            .contains(StraightFlags::OFF_MESH_CONNECTION)
    );
    let lines = shown.lines();
    // Once as a gate, once as the string's way.
    assert_eq!(lines.of_kind(LineKind::OffMesh).count(), 2);
    assert_eq!(lines.of_kind(LineKind::String).count(), 2);
    let walked =
        CorridorDebug::collect(&mesh, at(1.0, 1.0), at(11.0, 1.0), &[first, second, square]);
    assert_eq!(walked.portals.off_mesh, [false, false]);
    assert_eq!(walked.portals.right[1], at(8.0, 0.0));
    assert_eq!(walked.portals.left[1], at(8.0, 4.0));
    // A corridor that does not hold together has polygons, but neither gates nor a string.
    let gone = mesh.poly_ref(7, 0);
    let broken = CorridorDebug::collect(&mesh, at(1.0, 1.0), at(7.0, 1.0), &[first, gone, second]);
    assert_eq!(broken.polygons.poly, [first, second]);
    assert!(broken.portals.is_empty() && broken.corners.is_empty());
    let empty = PathCorridor::new(8).unwrap();
    assert_eq!(CorridorDebug::of(&mesh, &empty), CorridorDebug::default());
}

#[test]
fn a_ray_ends_on_the_wall_it_hits() {
    let mesh = three_polygons();
    let [first, second, square] = polys(&mesh);
    let mut visited = [PolyRef::INVALID; 8];
    let (start, end) = (at(1.0, 2.0), at(23.0, 2.0));
    let hit = raycast(&mesh, first, start, end, &DefaultFilter, &mut visited);
    let shown = RayDebug::collect(&mesh, start, end, &hit, &visited);
    assert_eq!(shown.visited.poly, [first, second, square]);
    assert_eq!(shown.reached, at(12.0, 2.0));
    let wall = (at(12.0, 0.0), DVec3::new(12.0, 0.25, 4.0));
    let lines: Vec<_> = shown.lines.iter().collect();
    assert_eq!(
        lines,
        [
            (LineKind::Ray, start, shown.reached),
            (LineKind::RayRest, shown.reached, end),
            (LineKind::Wall, wall.0, wall.1),
            (LineKind::Normal, shown.reached, at(13.0, 2.0)),
        ]
    );
    let near = at(7.0, 2.0);
    let free = raycast(&mesh, first, start, near, &DefaultFilter, &mut visited[..1]);
    let shown = RayDebug::collect(&mesh, start, near, &free, &visited[..1]);
    assert_eq!((shown.visited.len(), shown.reached), (1, near));
    assert_eq!(shown.lines.kind, [LineKind::Ray]);
}

#[test]
fn a_search_of_the_surroundings_shows_its_steps() {
    let mesh = three_polygons();
    let [first, second, square] = polys(&mesh);
    let mut search = AreaSearch::new(64);
    assert_eq!(AreaDebug::collect(&mesh, &search).expanded.len(), 0);
    let found = search.find_polys_in_circle(
        &mesh,
        first,
        at(1.0, 1.0),
        20.0,
        &QueryFilter::default().with_flags(u16::MAX, 0),
        &mut [],
        &mut [],
        &mut [],
    );
    assert!(found.is_ok());
    let shown = AreaDebug::collect(&mesh, &search);
    assert_eq!(shown.status, AreaStatus::Success);
    assert_eq!(shown.expanded.poly[..2], [first, second]);
    assert_eq!(shown.parent[..2], [PolyRef::INVALID, first]);
    assert_eq!(shown.distance_squared[..2], [0.0, 9.0]);
    assert!(shown.expanded.poly[2..].contains(&square));
    assert_eq!(shown.steps.len(), shown.expanded.len() - 1);
    let step = shown.steps.iter().next();
    assert_eq!(
        step,
        Some((LineKind::SearchStep, at(2.0, 4.0), at(6.0, 4.0)))
    );
}

/// A crowd that has met in the middle of a level, one agent removed.
fn met(mesh: &NavMesh, record_constraints: bool) -> Crowd {
    let mut crowd = Crowd::new(CrowdOptions {
        record_constraints,
        ..CrowdOptions::default()
    })
    .unwrap();
    let mut rng = SplitMix64::new(9);
    let filter = QueryFilter::default();
    let middle = find_nearest_poly(mesh, at(48.0, 48.0), DVec3::splat(20.0), &filter).unwrap();
    for _ in 0..60 {
        let from = mesh.random_point(&mut rng, &filter).unwrap().point;
        let id = crowd.add(mesh, from, &AgentOptions::HUMANOID).unwrap();
        crowd.set_destination(mesh, id, middle.point).unwrap();
    }
    for _ in 0..240 {
        crowd.step(mesh, 0.05).unwrap();
    }
    let gone = crowd.find(7).unwrap();
    crowd.remove(gone);
    crowd
}

#[test]
fn lines_of_half_planes_bound_what_was_recorded() {
    let mesh = rooms();
    let crowd = met(&mesh, true);
    let hash = crowd.state_hash(&mesh);
    let shown = CrowdDebug::collect(&mesh, &crowd);
    let lines = shown.constraints.lines(&shown.agents, 2.0);
    assert_eq!(lines.len(), shown.constraints.plane.len());
    let all: Vec<_> = lines.iter().collect();
    let (mut walls, mut others) = (0, 0);
    for (i, agent) in crowd.agents().enumerate() {
        let (planes, hard) = agent.constraints();
        let rows = shown.constraints.of(i);
        assert_eq!(shown.constraints.plane[rows.clone()], *planes);
        for (place, row) in rows.enumerate() {
            let (kind, from, to) = all[row];
            let is_wall = kind == LineKind::WallPlane;
            assert_eq!(is_wall, place < hard);
            assert!(is_wall || kind == LineKind::AgentPlane);
            let plane = planes[place];
            let velocity = |p: DVec3| {
                let v = p - agent.position();
                DVec2::new(v.x, v.z)
            };
            let (a, b) = (velocity(from), velocity(to));
            assert!((length2(b - a) - 4.0).abs() < 1e-9);
            for v in [a, b] {
                assert!(plane.signed_distance(v).abs() < 1e-9);
            }
            let left = (a + b) / 2.0 + DVec2::new(-(b - a).y, (b - a).x) * 0.25;
            assert!((plane.signed_distance(left) - 1.0).abs() < 1e-9);
            // Walls are never given up.
            if is_wall {
                assert!(plane.signed_distance(agent.solved_velocity()) > -1e-9);
                walls += 1;
            } else {
                others += 1;
            }
        }
    }
    assert!(walls > 20 && others > 50, "{walls} {others}");
    // Looking changes nothing, recording neither, and without it there is nothing to see.
    assert_eq!(crowd.state_hash(&mesh), hash);
    let plain = met(&mesh, false);
    assert_eq!(plain.state_hash(&mesh), hash);
    let unrecorded = CrowdDebug::collect(&mesh, &plain);
    assert!(unrecorded.constraints.plane.is_empty());
    assert_eq!(unrecorded.agents, shown.agents);
    assert_eq!(unrecorded.routes, shown.routes);
}

#[test]
fn rows_of_a_crowd_are_its_agents() {
    let mesh = rooms();
    let crowd = met(&mesh, false);
    let shown = CrowdDebug::collect(&mesh, &crowd);
    assert_eq!(shown.agents.len(), 59);
    assert!(shown.agents.id.iter().all(|id| id.slot != 7));
    for (i, agent) in crowd.agents().enumerate() {
        assert_eq!(shown.agents.id[i], agent.id());
        assert_eq!(shown.agents.wanted[i], agent.wanted_velocity());
        assert_eq!(shown.walls.of(i), agent.walls());
        let corridor = shown.routes.corridor(i);
        assert_eq!(shown.routes.corridors.poly[corridor], *agent.corridor());
        let corners = shown.routes.corners(i);
        assert_eq!(corners.len() >= 2, agent.has_path());
        if let Some(first) = corners.first() {
            assert!(distance3(first.position, agent.position()) < 0.5);
        }
    }
    let velocities = shown.agents.velocity_lines();
    assert_eq!(velocities.len(), 3 * 59);
    let (_, from, to) = velocities.iter().nth(5).unwrap();
    assert_eq!(from, shown.agents.position[1]);
    assert!(distance3(to - from, shown.agents.velocity[1]) < 1e-9);
    // A wall seen by several agents is one line.
    let walls = shown.walls.lines();
    assert!(!walls.is_empty() && walls.len() < shown.walls.pieces.len());
    let edges = Edges::collect(&mesh);
    let known: Vec<_> = edges.lines.of_kind(LineKind::Wall).collect();
    assert!(walls.iter().all(|(_, a, b)| known.contains(&(a, b))));
    // Some agents alone.
    let odd = || crowd.agents().filter(|agent| agent.id().slot % 2 == 1);
    let some = CrowdDebug::of(&mesh, odd);
    assert_eq!(some.agents.len(), 29);
    assert_eq!(some.routes.corridor_first.len(), 30);
    assert!(some.routes.corners(99).is_empty() && some.walls.of(99).is_empty());
}
