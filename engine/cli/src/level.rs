//! From the LEVEL argument to a mesh.
//!
//! In: a name or a file and the settings flags. Out: a [`Level`] with its mesh and how it came to
//! be. Names of generated levels win over files of the same name (write `./city` for the file).

use std::path::Path;
use std::sync::Mutex;

use throng::parts::build::TileFlaw;
use throng::parts::build::settings::cosine_of_degrees;
use throng::parts::soa::mesh::format::read_mesh;
use throng::{
    AgentOptions, BuildError, BuildOptions, MAX_AGENTS, NavMesh, NavSettings, Soup, TiledMesh,
    levels, read_obj, solo_settings,
};

use crate::args::SourceArgs;
use crate::forms::{self, BAKED, BARE};
use crate::gltf;
use crate::host::{self, Failure, Stopwatch, milliseconds};
use crate::outputs::{self, Output};
use crate::words::{count, counted, data_problem, nearest_name, shortest};

/// A level ready to walk in.
#[derive(Debug)]
pub(crate) struct Level {
    /// The LEVEL argument.
    pub(crate) name: String,
    /// What it is, for people.
    pub(crate) source: String,
    /// Side of a generated level, units.
    pub(crate) size: Option<f64>,
    /// Milliseconds spent building or loading the mesh.
    pub(crate) build_ms: f64,
    /// Why the mesh is empty, when it is and the level is there to tell.
    why_empty: Option<String>,
    /// The mesh.
    pub(crate) mesh: Mesh,
}

/// A mesh with or without the settings it was built with.
#[derive(Debug)]
pub(crate) enum Mesh {
    /// With settings.
    Nav(Box<NavMesh>),
    /// Without.
    Bare(Box<TiledMesh>),
}

impl Level {
    /// The tiles.
    pub(crate) fn tiles(&self) -> &TiledMesh {
        match &self.mesh {
            Mesh::Nav(mesh) => mesh.tiles_mesh(),
            Mesh::Bare(mesh) => mesh,
        }
    }

    /// Whether there is nothing to walk on.
    pub(crate) fn is_empty(&self) -> bool {
        self.tiles().tiles().all(|(_, tile)| tile.poly_count() == 0)
    }

    /// Why nobody can walk in it, and what to change.
    pub(crate) fn why_empty(&self) -> String {
        let why = self.why_empty.as_deref();
        why.unwrap_or("It was baked so.").to_owned()
    }

    /// The failure of a level nobody can walk in: with the reason for `--json`, without it where
    /// the report told it.
    pub(crate) fn no_ground(&self, with_reason: bool) -> Failure {
        if with_reason {
            let why = self.why_empty();
            return Failure::about(&self.name, format!("no walkable ground. {why}"));
        }
        Failure::about(&self.name, "no walkable ground")
    }

    /// Agents of the class the mesh was built for.
    pub(crate) fn agent_options(&self) -> AgentOptions {
        // The shortest decimal is what was asked for before it was stored as a float32.
        let radius = shortest(self.tiles().params().agent_radius);
        let preset = if radius > 1.0 {
            AgentOptions::LARGE
        } else if radius > 0.0 && radius < 0.45 {
            AgentOptions::SMALL
        } else {
            AgentOptions::HUMANOID
        };
        if radius > 0.0 {
            AgentOptions { radius, ..preset }
        } else {
            preset
        }
    }

    /// How many of those agents have room to walk freely on some ground, to two digits.
    pub(crate) fn room_for(&self, ground: f64) -> usize {
        let wide = self.agent_options().radius / AgentOptions::HUMANOID.radius;
        let agents = ground / (GROUND_PER_PERSON * wide * wide);
        let agents = agents.clamp(1.0, f64::from(MAX_AGENTS)) as usize;
        let digits = agents.ilog10().saturating_sub(1);
        agents / 10_usize.pow(digits) * 10_usize.pow(digits)
    }
}

/// Ground for a person to walk freely: about what each of ten thousand has in their city.
const GROUND_PER_PERSON: f64 = 24.0;
/// Agents for whom a generated level of the default size has room to walk freely.
const AGENTS_AT_DEFAULT_SIZE: f64 = 2500.0;

/// Side of a generated level when none is asked for: the default, or as much as keeps the ground
/// per agent. Beyond that crossing streams stand still.
fn default_size(agents: u32) -> f64 {
    let crowding = (f64::from(agents) / AGENTS_AT_DEFAULT_SIZE).max(1.0);
    let side = levels::DEFAULT_SIZE * crowding.sqrt();
    ((side / 32.0).ceil() * 32.0).min(levels::MAX_SIZE)
}

/// Reads or generates the level, with room for `agents`, and builds its mesh. Looks at the settings
/// and at the files to be written before that.
pub(crate) fn load(
    name: &str,
    args: &SourceArgs,
    agents: u32,
    outputs: &[Output<'_>],
) -> Result<Level, Failure> {
    let settings = args.settings.settings().map_err(Failure::Usage)?;
    let is_generated = levels::NAMES.contains(&name);
    let path = Path::new(name);
    outputs::check((!is_generated).then_some(path), outputs)?;
    let size = args.size.unwrap_or_else(|| default_size(agents));
    if let Some(soup) = levels::generate(name, size, args.seed) {
        let source = format!("generated, {size} x {size} units, seed {}", args.seed);
        let level = build(name, source, &soup, args, settings)?;
        return Ok(Level {
            size: Some(size),
            ..level
        });
    }
    if !path.exists() {
        return Err(Failure::about(name, nothing_called(name)));
    }
    if args.size.is_some() {
        return Err(Failure::Usage("--size is for generated levels only".into()));
    }
    let bytes = host::read(path)?;
    if gltf::is_gltf(path, &bytes) {
        let soup = gltf::read(path, &bytes).map_err(|problem| Failure::about(name, problem))?;
        if soup.triangles().is_empty() {
            let problem = "no level: a glTF scene without triangles";
            return Err(Failure::about(name, problem));
        }
        return build(name, "glTF".into(), &soup, args, settings);
    }
    if bytes.starts_with(BAKED) || bytes.starts_with(BARE) {
        return open(name, &bytes, args);
    }
    let soup = read_soup(&bytes).map_err(|problem| Failure::about(name, problem))?;
    build(name, "OBJ".into(), &soup, args, settings)
}

/// A name that is no file and no generated level.
fn nothing_called(name: &str) -> String {
    match nearest_name(name, levels::NAMES) {
        Some(known) => format!("no such file; did you mean the generated level {known}?"),
        None => {
            let known = levels::NAMES.join(", ");
            format!("no such file, nor a generated level ({known})")
        }
    }
}

/// Reads an OBJ file to build a mesh from.
fn read_soup(bytes: &[u8]) -> Result<Soup, String> {
    let soup = read_text(bytes)?;
    if soup.triangles().is_empty() {
        return Err("no level: an OBJ file without faces (lines that begin with f)".into());
    }
    Ok(soup)
}

/// Reads an OBJ file; says what the file is when it is something else.
pub(crate) fn read_text(bytes: &[u8]) -> Result<Soup, String> {
    if let Some(form) = forms::no_level(bytes) {
        return Err(format!("this is {form}, not a level"));
    }
    let soup = read_obj(bytes).map_err(|error| data_problem(&error))?;
    if soup.vertices().is_empty() {
        return Err("no level: neither OBJ with vertices nor glTF nor a baked file".into());
    }
    Ok(soup)
}

fn build(
    name: &str,
    source: String,
    soup: &Soup,
    args: &SourceArgs,
    mut settings: NavSettings,
) -> Result<Level, Failure> {
    let (vertices, triangles) = (soup.vertices(), soup.triangles());
    if args.settings.solo {
        settings = solo_settings(vertices, triangles, &settings)
            .map_err(|error| Failure::about(name, args.settings.explain(&error)))?;
    }
    let watch = Stopwatch::start();
    let bar = host::progress(host::shows_progress(args.json), "building", 0, "tiles");
    let on_tile = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let flaws = Mutex::new(Vec::new());
    let on_flaw = |flaw: TileFlaw| {
        if let Ok(mut flaws) = flaws.lock() {
            flaws.push(flaw);
        }
    };
    let options = BuildOptions {
        threads: host::threads(args.threads),
        on_tile: Some(&on_tile),
        on_flaw: Some(&on_flaw),
        ..BuildOptions::default()
    };
    let built = NavMesh::build_with(vertices, triangles, &settings, &options);
    bar.finish_and_clear();
    let mesh = built.map_err(|error| match error {
        BuildError::Argument(error) => Failure::about(name, args.settings.explain(&error)),
        error => Failure::about(name, error),
    })?;
    let build_ms = milliseconds(watch.elapsed());
    warn_of(name, flaws.into_inner().unwrap_or_default());
    let is_empty = mesh.tiles().all(|(_, tile)| tile.poly_count() == 0);
    Ok(Level {
        name: name.into(),
        source: format!("{source}, {}", counted(triangles.len(), "triangle")),
        size: None,
        build_ms,
        why_empty: is_empty.then(|| why_empty(soup, &settings)),
        mesh: Mesh::Nav(Box::new(mesh)),
    })
}

/// Tiles named in warnings about a level.
const MOST_WARNINGS: usize = 8;

/// Says which tiles lost ground, in their order and not in that of the workers.
fn warn_of(name: &str, mut flaws: Vec<TileFlaw>) {
    flaws.sort_by_key(|flaw| (flaw.tile_z, flaw.tile_x));
    for TileFlaw {
        tile_x,
        tile_z,
        flaws,
    } in flaws.iter().take(MOST_WARNINGS)
    {
        let lost = [
            (flaws.forced_corners, "corner forced"),
            (flaws.dropped_holes, "hole filled"),
            (flaws.lost_outlines, "outline lost"),
        ];
        let lost: Vec<_> = lost
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| {
                let (thing, how) = what.split_once(' ').unwrap_or((what, ""));
                format!("{} {how}", counted(number as usize, thing))
            })
            .collect();
        host::say_error(&format!(
            "{name}: warning: some ground of tile ({tile_x}, {tile_z}) may be wrong: {}",
            lost.join(", ")
        ));
    }
    if let Some(more @ 1..) = flaws.len().checked_sub(MOST_WARNINGS) {
        let tiles = counted(more, "other tile");
        host::say_error(&format!(
            "{name}: warning: nor may that of {tiles} be right"
        ));
    }
}

/// Why nothing of a level can be walked on.
fn why_empty(soup: &Soup, settings: &NavSettings) -> String {
    let slope = settings.agent_max_slope_degrees;
    let flat_enough = f64::from(cosine_of_degrees(slope));
    let (mut faces_up, mut is_flat) = (false, false);
    for triangle in soup.triangles() {
        let [a, b, c] = triangle.map(|corner| soup.vertices()[corner as usize]);
        let normal = (b - a).cross(c - a);
        faces_up |= normal.y > 0.0;
        is_flat |= normal.y > flat_enough * normal.length();
    }
    if !faces_up {
        return "No triangle faces up: is Y up, and are triangles counter-clockwise seen from above?"
            .into();
    }
    if !is_flat {
        return format!("No ground is flatter than {slope} degrees (--slope).");
    }
    format!(
        "There is flat ground, but no room on it for an agent of radius {} and height {} in a region \
         of {} cells, each {} wide and {} high (--radius, --height, --min-region, --cell, \
         --cell-height).",
        settings.agent_radius,
        settings.agent_height,
        settings.min_region_area,
        settings.cell_size,
        settings.cell_height
    )
}

fn open(name: &str, bytes: &[u8], args: &SourceArgs) -> Result<Level, Failure> {
    if let Some(flag) = args.settings.first_flag() {
        let problem = format!("a baked file brings its own settings; leave {flag} out");
        return Err(Failure::about(name, problem));
    }
    let watch = Stopwatch::start();
    let mesh = if bytes.starts_with(BAKED) {
        NavMesh::load(bytes).map(|mesh| Mesh::Nav(Box::new(mesh)))
    } else {
        read_mesh(bytes).map(|mesh| Mesh::Bare(Box::new(mesh)))
    };
    Ok(Level {
        name: name.into(),
        source: format!("baked file, {} bytes", count(bytes.len())),
        size: None,
        mesh: mesh.map_err(|error| Failure::about(name, error))?,
        why_empty: None,
        build_ms: milliseconds(watch.elapsed()),
    })
}
