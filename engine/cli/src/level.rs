//! From the LEVEL argument to a mesh.
//!
//! In: a name or a file and the settings flags. Out: a [`Level`] with its mesh and how it came to
//! be. Names of generated levels win over files of the same name (write `./city` for the file).

use std::path::Path;

use throng::parts::soa::mesh::format::read_mesh;
use throng::{
    AgentOptions, ArgumentError, BuildOptions, NavMesh, NavSettings, PartitionType, Soup,
    TiledMesh, levels, read_obj, solo_settings,
};

use crate::args::{Partition, Preset, SettingsArgs, SourceArgs};
use crate::host::{self, Failure, Stopwatch, milliseconds};
use crate::record;

/// Magic of a baked file.
pub(crate) const BAKED: &[u8] = b"ONNM";
/// Magic of bare mesh bytes, which carry no settings.
pub(crate) const BARE: &[u8] = b"ONPM";
/// First bytes of a saved crowd.
pub(crate) const CROWD: &[u8] = b"OPCS";

/// A level ready to walk in.
#[derive(Debug)]
pub(crate) struct Level {
    /// The LEVEL argument.
    pub(crate) name: String,
    /// What it is, for people.
    pub(crate) source: String,
    /// Milliseconds spent building or loading the mesh.
    pub(crate) build_ms: f64,
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

    /// Agents of the class the mesh was built for.
    pub(crate) fn agent_options(&self) -> AgentOptions {
        // The shortest decimal is what was asked for before it was stored as a float32.
        let radius = self.tiles().params().agent_radius;
        let radius: f64 = radius.to_string().parse().unwrap_or(f64::from(radius));
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
}

/// Agents for whom a generated level of the default size has room to walk freely.
const AGENTS_AT_DEFAULT_SIZE: f64 = 2500.0;

/// Side of a generated level when none is asked for: the default, or as much as keeps the ground
/// per agent. Beyond that crossing streams stand still.
fn default_size(agents: u32) -> f64 {
    let crowding = (f64::from(agents) / AGENTS_AT_DEFAULT_SIZE).max(1.0);
    let side = levels::DEFAULT_SIZE * crowding.sqrt();
    ((side / 32.0).ceil() * 32.0).min(levels::MAX_SIZE)
}

/// Reads or generates the level, with room for `agents`, and builds its mesh.
pub(crate) fn load(name: &str, args: &SourceArgs, agents: u32) -> Result<Level, Failure> {
    host::threads(args.threads)?;
    if let Some(size) = args.size {
        let (low, high) = (levels::MIN_SIZE, levels::MAX_SIZE);
        if !(low..=high).contains(&size) {
            let allowed = format!("{low} to {high}");
            return Err(ArgumentError::new("--size", size, allowed).into());
        }
    }
    let size = args.size.unwrap_or_else(|| default_size(agents));
    if let Some(soup) = levels::generate(name, size, args.seed) {
        let source = format!("generated, {size} x {size} units, seed {}", args.seed);
        return build(name, source, &soup, args);
    }
    if args.size.is_some() {
        return Err(Failure::Said("--size is for generated levels only".into()));
    }
    let path = Path::new(name);
    if !path.exists() {
        let known = levels::NAMES.join(", ");
        let problem = format!("no such file, nor a generated level ({known})");
        return Err(Failure::about(name, problem));
    }
    let bytes = host::read(path)?;
    if is_gltf(path, &bytes) {
        let problem = "glTF is not read by this version; \
                       it reads OBJ files, baked files and generated levels";
        return Err(Failure::about(name, problem));
    }
    if bytes.starts_with(BAKED) || bytes.starts_with(BARE) {
        return open(name, &bytes, args);
    }
    let soup = read_soup(&bytes).map_err(|problem| Failure::about(name, problem))?;
    build(name, "OBJ".into(), &soup, args)
}

/// Reads an OBJ file; says what the file is when it is something else.
fn read_soup(bytes: &[u8]) -> Result<Soup, String> {
    if bytes.starts_with(&record::MAGIC) {
        return Err("this is a recording, not a level".into());
    }
    if bytes.starts_with(CROWD) {
        return Err("this is a saved crowd, not a level".into());
    }
    read_obj(bytes).map_err(|error| error.to_string())
}

/// Whether a file is glTF, by name or content.
pub(crate) fn is_gltf(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("gltf")
        || extension.eq_ignore_ascii_case("glb")
        || bytes.starts_with(b"glTF")
}

fn build(name: &str, source: String, soup: &Soup, args: &SourceArgs) -> Result<Level, Failure> {
    let triangles = soup.triangles();
    let mut settings = settings(&args.settings);
    if args.settings.solo && !triangles.is_empty() {
        settings = solo_settings(soup.vertices(), triangles, &settings)?;
    }
    let watch = Stopwatch::start();
    let bar = host::progress(host::shows_progress(args.json), "building", 0, "tiles");
    let on_tile = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let options = BuildOptions {
        threads: host::threads(args.threads)?,
        on_tile: Some(&on_tile),
        ..BuildOptions::default()
    };
    let built = NavMesh::build_with(soup.vertices(), triangles, &settings, &options);
    bar.finish_and_clear();
    let mesh = built.map_err(|error| Failure::about(name, error))?;
    Ok(Level {
        name: name.into(),
        source: format!(
            "{source}, {} triangles",
            crate::report::count(triangles.len())
        ),
        build_ms: milliseconds(watch.elapsed()),
        mesh: Mesh::Nav(Box::new(mesh)),
    })
}

fn open(name: &str, bytes: &[u8], args: &SourceArgs) -> Result<Level, Failure> {
    if let Some(flag) = first_flag(&args.settings) {
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
        source: format!("baked file, {} bytes", crate::report::count(bytes.len())),
        mesh: mesh.map_err(|error| Failure::about(name, error))?,
        build_ms: milliseconds(watch.elapsed()),
    })
}

/// The preset with the flags given.
fn settings(args: &SettingsArgs) -> NavSettings {
    let mut settings = match args.preset {
        None | Some(Preset::Humanoid) => NavSettings::HUMANOID,
        Some(Preset::Small) => NavSettings::SMALL,
        Some(Preset::Large) => NavSettings::LARGE,
    };
    for (field, flag) in [
        (&mut settings.agent_radius, args.radius),
        (&mut settings.agent_height, args.height),
        (&mut settings.walkable_climb, args.climb),
        (&mut settings.agent_max_slope_degrees, args.slope),
        (&mut settings.cell_size, args.cell),
        (&mut settings.cell_height, args.cell_height),
        (&mut settings.tile_size, args.tile),
        (&mut settings.max_edge_length, args.max_edge),
        (&mut settings.contour_max_error, args.contour_error),
        (&mut settings.detail_sample_distance, args.detail_distance),
        (&mut settings.detail_max_error, args.detail_error),
    ] {
        *field = flag.unwrap_or(*field);
    }
    settings.min_region_area = args.min_region.unwrap_or(settings.min_region_area);
    settings.merge_region_area = args.merge_region.unwrap_or(settings.merge_region_area);
    settings.partition = match args.partition {
        None => settings.partition,
        Some(Partition::Watershed) => PartitionType::Watershed,
        Some(Partition::Monotone) => PartitionType::Monotone,
        Some(Partition::Layers) => PartitionType::Layers,
    };
    settings
}

/// The first settings flag that was given.
fn first_flag(args: &SettingsArgs) -> Option<&'static str> {
    let given = [
        ("--preset", args.preset.is_some()),
        ("--solo", args.solo),
        ("--radius", args.radius.is_some()),
        ("--height", args.height.is_some()),
        ("--climb", args.climb.is_some()),
        ("--slope", args.slope.is_some()),
        ("--cell", args.cell.is_some()),
        ("--cell-height", args.cell_height.is_some()),
        ("--tile", args.tile.is_some()),
        ("--partition", args.partition.is_some()),
        ("--max-edge", args.max_edge.is_some()),
        ("--contour-error", args.contour_error.is_some()),
        ("--detail-distance", args.detail_distance.is_some()),
        ("--detail-error", args.detail_error.is_some()),
        ("--min-region", args.min_region.is_some()),
        ("--merge-region", args.merge_region.is_some()),
    ];
    given
        .iter()
        .find(|(_, given)| *given)
        .map(|&(flag, _)| flag)
}
