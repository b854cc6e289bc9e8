//! Helpers of the cross-crate tests: levels, reachable places, crowds spread over a mesh, and the
//! invariant every step must keep.
//!
//! Real levels are read from `THRONG_DATA/levels`, or from `../shared/data/levels` beside the
//! workspace. A test whose level is missing prints a line and passes, except where `CI` is set.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use throng::{
    AgentId, AgentOptions, AgentState, Crowd, CrowdOptions, DVec3, NavMesh, NavSettings,
    PathStatus, PolyRef, Soup, SplitMix64, Tile, TiledMesh, read_obj,
};
use throng_query::mesh::surface_height;

/// The folder of real levels.
#[must_use]
pub fn level_folder() -> PathBuf {
    match std::env::var_os("THRONG_DATA") {
        Some(folder) => PathBuf::from(folder).join("levels"),
        None => workspace_folder().join("../shared/data/levels"),
    }
}

/// The workspace root.
#[must_use]
pub fn workspace_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A real level, or `None` after a line that says it was skipped.
///
/// # Panics
/// The level is there but cannot be read, or it is missing where `CI` is set.
#[must_use]
pub fn real_level(name: &str) -> Option<Soup> {
    let path = level_folder().join(name);
    match fs::read(&path) {
        Ok(bytes) => match read_obj(&bytes) {
            Ok(soup) => Some(soup),
            Err(error) => panic!("{name}: {error}"),
        },
        Err(error) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "{}: {error}; CI needs the level",
                path.display()
            );
            // Straight to the stream: the harness keeps what the printing macros say of a test that
            // passes. Nothing is left to be done when the stream is closed.
            let _ = writeln!(
                io::stderr(),
                "SKIPPED: {} is missing ({error}); set THRONG_DATA",
                path.display()
            );
            None
        }
    }
}

/// The polygons of a mesh grouped by what can be walked to from each other, both ways taken as
/// open (a one-way link joins), for drawing starts and goals that have a route.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// Polygons of each component, in mesh order.
    components: Vec<Component>,
    /// Index into `components` by polygon weight: running totals of area.
    totals: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Component {
    polys: Vec<PolyRef>,
    /// Running totals of polygon areas.
    totals: Vec<f64>,
}

impl Reachable {
    /// The components of `mesh` over in-tile edges and links. `O(p log p)` in its polygons.
    #[must_use]
    pub fn new(mesh: &TiledMesh) -> Self {
        let mut all: Vec<PolyRef> = Vec::new();
        for (slot, tile) in mesh.tiles() {
            for poly in 0..tile.poly_count() as u32 {
                all.push(mesh.poly_ref(slot, poly));
            }
        }
        let index_of = |poly: PolyRef| all.partition_point(|&other| key(other) < key(poly));
        let mut group: Vec<u32> = vec![u32::MAX; all.len()];
        let mut groups = 0;
        let mut open = Vec::new();
        // Directed edges, walked both ways so that components are equivalence classes.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (from, &poly) in all.iter().enumerate() {
            for to in neighbors(mesh, poly) {
                let to = index_of(to) as u32;
                edges.push((from as u32, to));
                edges.push((to, from as u32));
            }
        }
        edges.sort_unstable();
        for seed in 0..all.len() {
            if group[seed] != u32::MAX {
                continue;
            }
            group[seed] = groups;
            open.push(seed as u32);
            while let Some(at) = open.pop() {
                let first = edges.partition_point(|&(from, _)| from < at);
                for &(from, to) in &edges[first..] {
                    if from != at {
                        break;
                    }
                    if group[to as usize] == u32::MAX {
                        group[to as usize] = groups;
                        open.push(to);
                    }
                }
            }
            groups += 1;
        }
        let empty = Component {
            polys: Vec::new(),
            totals: Vec::new(),
        };
        let mut components = vec![empty; groups as usize];
        for (i, &poly) in all.iter().enumerate() {
            let component = &mut components[group[i] as usize];
            let before = component.totals.last().copied().unwrap_or(0.0);
            component.polys.push(poly);
            component.totals.push(before + area(mesh, poly));
        }
        let mut totals = Vec::new();
        let mut total = 0.0;
        for component in &components {
            total += component.totals.last().copied().unwrap_or(0.0);
            totals.push(total);
        }
        Self { components, totals }
    }

    /// Number of components.
    #[must_use]
    pub fn count(&self) -> usize {
        self.components.len()
    }

    /// Share of the surface in the largest component.
    #[must_use]
    pub fn largest_share(&self) -> f64 {
        let areas = self.components.iter().filter_map(|c| c.totals.last());
        let largest = areas.copied().fold(0.0, f64::max);
        largest / self.totals.last().copied().unwrap_or(1.0)
    }

    /// A start, evenly spread over the surface, and a goal evenly spread over what is connected to
    /// it.
    #[must_use]
    pub fn trip(&self, mesh: &TiledMesh, rng: &mut SplitMix64) -> Option<(DVec3, DVec3)> {
        let component = &self.components[draw(&self.totals, rng)?];
        let start = component.polys[draw(&component.totals, rng)?];
        let goal = component.polys[draw(&component.totals, rng)?];
        Some((place_in(mesh, start, rng)?, place_in(mesh, goal, rng)?))
    }
}

fn key(poly: PolyRef) -> (u32, u32) {
    (poly.slot(), poly.poly())
}

fn neighbors(mesh: &TiledMesh, poly: PolyRef) -> Vec<PolyRef> {
    let Some((tile, index)) = mesh.resolve(poly) else {
        return Vec::new();
    };
    let inside = tile.data().edge_neighbors[tile.poly_edges(index)].iter();
    let inside = inside
        .filter(|&&n| n > 0)
        .map(|&n| mesh.poly_ref(poly.slot(), n as u32 - 1));
    let links = tile.poly_links(index).iter().map(|link| link.target);
    inside.chain(links).collect()
}

/// The first index whose running total lies above an even draw.
fn draw(totals: &[f64], rng: &mut SplitMix64) -> Option<usize> {
    let total = *totals.last()?;
    let target = rng.next_f64() * total;
    Some(
        totals
            .partition_point(|&t| t <= target)
            .min(totals.len() - 1),
    )
}

fn fan(tile: &Tile, index: usize) -> impl Iterator<Item = [DVec3; 3]> + '_ {
    let ring = tile.poly_ring(index);
    (2..ring.len()).map(move |i| [ring[0], ring[i - 1], ring[i]])
}

fn triangle_area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * ((b.x - a.x) * (c.z - a.z) - (b.z - a.z) * (c.x - a.x))
}

fn area(mesh: &TiledMesh, poly: PolyRef) -> f64 {
    mesh.resolve(poly).map_or(0.0, |(tile, index)| {
        fan(tile, index).map(triangle_area).sum()
    })
}

/// A point of a polygon, evenly spread over its plan, on its surface.
fn place_in(mesh: &TiledMesh, poly: PolyRef, rng: &mut SplitMix64) -> Option<DVec3> {
    let (tile, index) = mesh.resolve(poly)?;
    let mut totals = Vec::new();
    let mut total = 0.0;
    for triangle in fan(tile, index) {
        total += triangle_area(triangle);
        totals.push(total);
    }
    let [a, b, c] = fan(tile, index).nth(draw(&totals, rng)?)?;
    let (r, s) = (rng.next_f64().sqrt(), rng.next_f64());
    let (u, v, w) = (1.0 - r, r * (1.0 - s), r * s);
    let x = u * a.x + v * b.x + w * c.x;
    let z = u * a.z + v * b.z + w * c.z;
    Some(DVec3::new(x, surface_height(tile, index, x, z), z))
}

/// A crowd at the start of its trips.
#[derive(Debug)]
pub struct Scene {
    /// The crowd.
    pub crowd: Crowd,
    /// Its agents.
    pub ids: Vec<AgentId>,
    /// Length of each agent's route when it set out; infinite without one.
    pub routes: Vec<f64>,
}

/// Puts `agents` agents on random places of `mesh` and sends each to a random place connected to
/// it.
///
/// # Panics
/// The mesh is empty or refuses a place of its own.
#[must_use]
pub fn spread(
    mesh: &NavMesh,
    agents: usize,
    seed: u64,
    options: &AgentOptions,
    threads: usize,
    measure_routes: bool,
) -> Scene {
    let options = *options;
    let mut crowd = match Crowd::new(CrowdOptions {
        threads,
        ..CrowdOptions::default()
    }) {
        Ok(crowd) => crowd,
        Err(error) => panic!("{error}"),
    };
    let reachable = Reachable::new(mesh);
    let mut rng = SplitMix64::new(seed);
    let (mut ids, mut routes) = (Vec::new(), Vec::new());
    for _ in 0..agents {
        let Some((start, goal)) = reachable.trip(mesh, &mut rng) else {
            panic!("the mesh is empty");
        };
        let added = crowd.add(mesh, start, &options);
        let id = added.unwrap_or_else(|error| panic!("{start}: {error}"));
        let sent = crowd.set_destination(mesh, id, goal);
        let status = sent.unwrap_or_else(|error| panic!("{goal}: {error}"));
        assert!(
            matches!(
                status,
                PathStatus::Found | PathStatus::Partial | PathStatus::InProgress
            ),
            "{start} to {goal}: {status:?}"
        );
        ids.push(id);
        if measure_routes {
            let route = mesh.find_path(start, goal, &throng::PathOptions::default());
            let route = route.unwrap_or_else(|error| panic!("{error}"));
            let whole = route.status == PathStatus::Found;
            routes.push(if whole { route.length } else { f64::INFINITY });
        }
    }
    Scene { crowd, ids, routes }
}

/// How far a polygon may be from holding an agent, world units.
pub const ON_MESH: f64 = 1e-6;

/// An agent that its own polygon does not hold.
#[derive(Clone, Debug)]
pub struct Stray {
    /// Who, where and by how much.
    pub problem: String,
    /// Another polygon of the mesh holds it: it stands on the mesh, and its corridor begins beside
    /// it.
    pub on_mesh: bool,
}

/// The agents whose polygon does not hold them within [`ON_MESH`] seen from above, or whose height
/// is not that of its surface. Where a walk ends at a polygon's edge the height of the edge itself
/// counts too: an edge is straight, and the height detail along it need not be. Agents crossing a
/// link are skipped.
#[must_use]
pub fn strays(mesh: &TiledMesh, crowd: &Crowd) -> Vec<Stray> {
    let mut all = Vec::new();
    for agent in crowd.agents() {
        if agent.state() == AgentState::OffMeshLink {
            continue;
        }
        let at = agent.position();
        let problem = match agent.corridor().first() {
            None => Some("has no polygon".to_owned()),
            Some(&poly) => match mesh.resolve(poly) {
                None => Some(format!("stands on stale {poly:?}")),
                Some((tile, index)) => off_surface(tile, index, at),
            },
        };
        if let Some(problem) = problem {
            all.push(Stray {
                problem: format!("{} at {at} {problem} ({:?})", agent.id(), agent.state()),
                on_mesh: is_on_mesh(mesh, at),
            });
        }
    }
    all
}

/// Whether any polygon holds a position.
fn is_on_mesh(mesh: &TiledMesh, at: DVec3) -> bool {
    mesh.tiles().any(|(_, tile)| {
        let mut held = false;
        let reach = DVec3::new(1.0, 4.0, 1.0);
        tile.tree().visit(at - reach, at + reach, |poly| {
            held |= off_surface(tile, poly, at).is_none();
        });
        held
    })
}

fn off_surface(tile: &Tile, index: usize, at: DVec3) -> Option<String> {
    let outside = outside_by(tile.poly_ring(index), at);
    let height = surface_height(tile, index, at.x, at.z);
    let on_surface = (height - at.y).abs() <= ON_MESH || on_edge(tile.poly_ring(index), at);
    let bad = outside > ON_MESH || !on_surface || !at.is_finite();
    bad.then(|| format!("is {outside:e} outside polygon {index}, whose surface is at {height}"))
}

/// Whether a point lies on an edge of the ring, height included.
fn on_edge(ring: &[DVec3], at: DVec3) -> bool {
    (0..ring.len()).any(|i| {
        let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
        let along = b - a;
        let square = along.x * along.x + along.z * along.z;
        let t = ((at.x - a.x) * along.x + (at.z - a.z) * along.z) / square;
        let nearest = a + along * t.clamp(0.0, 1.0);
        throng_soa::world::distance3(nearest, at) <= ON_MESH
    })
}

/// Distance seen from above from a point to a convex polygon; 0 inside.
fn outside_by(ring: &[DVec3], at: DVec3) -> f64 {
    let edges = || (0..ring.len()).map(|i| (ring[i], ring[(i + 1) % ring.len()]));
    let left =
        |(a, b): (DVec3, DVec3)| (b.x - a.x) * (at.z - a.z) - (b.z - a.z) * (at.x - a.x) >= 0.0;
    if edges().all(left) {
        return 0.0;
    }
    let distance = |(a, b): (DVec3, DVec3)| {
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let (px, pz) = (at.x - a.x, at.z - a.z);
        let t = ((px * ex + pz * ez) / (ex * ex + ez * ez)).clamp(0.0, 1.0);
        let (dx, dz) = (px - ex * t, pz - ez * t);
        (dx * dx + dz * dz).sqrt()
    };
    edges().map(distance).fold(f64::INFINITY, f64::min)
}

/// Compares lines of `name value` with the text file `golden/<file>`.
///
/// The golden files hold hashes of what this engine computed when they were last written. A change
/// of any of them is a change of results: intended ones are recorded by running the test with
/// `THRONG_BLESS=1`, which rewrites the file, and reviewing the diff. Lines of levels that are not
/// there are kept when blessing and not asked for when comparing.
///
/// # Panics
/// A value differs from the file, or a name is not in it.
pub fn compare_golden(file: &str, found: &[(String, String)]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(file);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut kept: Vec<(String, String)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    if std::env::var_os("THRONG_BLESS").is_some() {
        for (name, value) in found {
            match kept.iter_mut().find(|(known, _)| known == name) {
                Some(known) => known.1.clone_from(value),
                None => kept.push((name.clone(), value.clone())),
            }
        }
        kept.sort();
        let mut out = String::from("# Rewritten by THRONG_BLESS=1; see compare_golden.\n");
        for (name, value) in kept {
            out += &format!("{name} {value}\n");
        }
        let written = fs::write(&path, out);
        written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let mut wrong = Vec::new();
    for (name, value) in found {
        match kept.iter().find(|(known, _)| known == name) {
            None => wrong.push(format!("{name}: {value}, not in the file")),
            Some((_, known)) if known != value => {
                wrong.push(format!("{name}: {value}, the file says {known}"));
            }
            Some(_) => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "results differ from tests/golden/{file} (THRONG_BLESS=1 records intended changes):\n{}",
        wrong.join("\n")
    );
}

/// A square floor of 40 units at height 0, built for the humanoid preset.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn floor() -> NavMesh {
    let v = |x, z| DVec3::new(x, 0.0, z);
    let vertices = [v(0.0, 0.0), v(0.0, 40.0), v(40.0, 0.0), v(40.0, 40.0)];
    let built = NavMesh::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &NavSettings::HUMANOID);
    built.unwrap_or_else(|error| panic!("the floor does not build: {error}"))
}

/// The README's example, compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct ReadmeExample;

/// The quick start's programs, as [`ReadmeExample`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/quick-start.md")]
pub struct QuickStartExamples;

/// The programs of the book's other pages, as [`ReadmeExample`].
#[cfg(doctest)]
#[doc = include_str!("../../docs/mesh-format.md")]
#[doc = include_str!("../../docs/snapshots.md")]
#[doc = include_str!("../../docs/queries.md")]
#[doc = include_str!("../../docs/builder.md")]
#[doc = include_str!("../../docs/runtime-change.md")]
#[doc = include_str!("../../docs/crowds.md")]
pub struct BookExamples;
