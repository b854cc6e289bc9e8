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
    levels, solo_settings,
};

use crate::args::SourceArgs;
use crate::cells::{Cells, Matter};
use crate::forms::{BAKED, BARE};
use crate::host::{self, Failure, Stopwatch, milliseconds};
use crate::input::{self, Input};
use crate::outputs::{self, Output};
use crate::words::{count, counted, nearest_name, shortest};

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
        is_empty(self.tiles())
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
    let mut settings = args.settings.settings().map_err(Failure::Usage)?;
    let is_generated = levels::NAMES.contains(&name);
    let path = Path::new(name);
    outputs::check((!is_generated).then_some(path), outputs)?;
    let size = args.size.unwrap_or_else(|| default_size(agents));
    let grid_only = |is_grid: bool| match args.grid_flag() {
        Some(flag) if !is_grid => {
            let problem = format!("{flag} is for height grids (PGM) only");
            Err(Failure::Usage(problem))
        }
        _ => Ok(()),
    };
    if is_generated {
        grid_only(false)?;
    }
    if let Some((soup, links)) = levels::generate_with_links(name, size, args.seed) {
        let source = format!("generated, {size} x {size} units, seed {}", args.seed);
        settings.off_mesh_links = links;
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
        return Err(size_of_a_file());
    }
    let bytes = host::read(path)?;
    if bytes.starts_with(BAKED) || bytes.starts_with(BARE) {
        grid_only(false)?;
        return open(name, &bytes, args);
    }
    let about = |problem: String| Failure::about(name, problem);
    let input = input::read(path, &bytes).map_err(about)?;
    grid_only(matches!(input, Input::Grid(_)))?;
    let (soup, source) = match input {
        Input::Obj(soup) => (soup, "OBJ".into()),
        Input::Gltf(soup) => (soup, "glTF".into()),
        Input::Grid(grid) => {
            let soup = grid.soup(args.spacing, args.rise);
            let soup = soup.map_err(|error| about(error.to_string()))?;
            let source = format!("height grid, {} x {} points", grid.width, grid.depth);
            (soup, source)
        }
        Input::Cells(cells) => return build_cells(name, &cells, args, &settings),
    };
    if soup.triangles().is_empty() {
        let what = match source.as_str() {
            "glTF" => "a glTF scene without triangles",
            _ => "an OBJ file without faces (lines that begin with f)",
        };
        return Err(about(format!("no level: {what}")));
    }
    build(name, source, &soup, args, settings)
}

/// That `--size` was given with a file.
pub(crate) fn size_of_a_file() -> Failure {
    Failure::Usage("--size is for generated levels only".into())
}

/// A name that is no file and no generated level.
pub(crate) fn nothing_called(name: &str) -> String {
    if name == "-" && cfg!(unix) {
        return "no such file; standard input is read as /dev/stdin".into();
    }
    match nearest_name(name, levels::NAMES) {
        Some(known) => format!("no such file; did you mean the generated level {known}?"),
        None => {
            let known = levels::NAMES.join(", ");
            format!("no such file, nor a generated level ({known})")
        }
    }
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
    let built = timed_build(name, args, |options| {
        NavMesh::build_with(vertices, triangles, &settings, options)
    })?;
    let is_empty = is_empty(&built.0);
    Ok(Level {
        name: name.into(),
        source: format!("{source}, {}", counted(triangles.len(), "triangle")),
        size: None,
        why_empty: is_empty.then(|| why_empty(soup, &settings)),
        build_ms: built.1,
        mesh: Mesh::Nav(Box::new(built.0)),
    })
}

/// Builds a mesh from voxels or a heightfield.
fn build_cells(
    name: &str,
    cells: &Cells,
    args: &SourceArgs,
    settings: &NavSettings,
) -> Result<Level, Failure> {
    let flags = &args.settings;
    if let Some(flag) = cells.cell.and(flags.given(&["--cell", "--cell-height"])) {
        let problem = format!("the file says how large its cells are; leave {flag} out");
        return Err(Failure::about(name, problem));
    }
    let tile_is_given = flags.given(&["--tile"]).is_some();
    let settings = cells
        .settings(settings.clone(), tile_is_given, flags.solo)
        .map_err(|error| Failure::about(name, flags.explain(&error)))?;
    let (kind, built) = match &cells.matter {
        Matter::Voxels(chunk, areas) => (
            "voxels",
            timed_build(name, args, |options| {
                NavMesh::build_chunk_with(chunk, Some(areas), &settings, options)
            })?,
        ),
        Matter::Heightfield(field) => (
            "heightfield",
            timed_build(name, args, |options| {
                NavMesh::build_heightfield_with(field, &settings, options)
            })?,
        ),
    };
    let [width, rows, depth] = cells.size;
    let is_empty = is_empty(&built.0);
    let spans = counted(cells.spans, "span");
    Ok(Level {
        name: name.into(),
        source: format!("{kind}, {width} x {rows} x {depth} cells, {spans}"),
        size: None,
        why_empty: is_empty.then(|| {
            if cells
                .kinds
                .iter()
                .any(|kind| kind.spans > 0 && kind.area > 0)
            {
                no_room(&settings)
            } else {
                "No span has an area that can be walked on.".into()
            }
        }),
        build_ms: built.1,
        mesh: Mesh::Nav(Box::new(built.0)),
    })
}

fn is_empty(mesh: &TiledMesh) -> bool {
    mesh.tiles().all(|(_, tile)| tile.poly_count() == 0)
}

/// Builds a mesh as `args` say, and how many milliseconds that took.
fn timed_build(
    name: &str,
    args: &SourceArgs,
    build: impl FnOnce(&BuildOptions<'_>) -> Result<NavMesh, BuildError>,
) -> Result<(NavMesh, f64), Failure> {
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
    let built = build(&options);
    bar.finish_and_clear();
    let mesh = built.map_err(|error| match error {
        BuildError::Argument(error) => Failure::about(name, args.settings.explain(&error)),
        error => Failure::about(name, error),
    })?;
    let build_ms = milliseconds(watch.elapsed());
    warn_of(name, flaws.into_inner().unwrap_or_default());
    Ok((mesh, build_ms))
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
        let tiles = counted(more, "more tile");
        host::say_error(&format!("{name}: warning: so may ground of {tiles}"));
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
    no_room(settings)
}

/// That an agent does not fit.
fn no_room(settings: &NavSettings) -> String {
    // Regions of any size are kept when none has to have a cell.
    let (place, flag) = match settings.min_region_area {
        ..=0 => ("in cells".into(), ""),
        1 => ("in a region of 1 cell,".into(), "--min-region, "),
        cells => (
            format!("in a region of {cells} cells, each"),
            "--min-region, ",
        ),
    };
    format!(
        "There is flat ground, but no room on it for an agent of radius {} and height {} {place} \
         {} wide and {} high (--radius, --height, {flag}--cell, --cell-height).",
        settings.agent_radius, settings.agent_height, settings.cell_size, settings.cell_height
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
