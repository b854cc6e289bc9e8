//! A navigation mesh built by Recast and held by Detour.
//!
//! In: a triangle soup and our settings. Out: a `dtNavMesh`, built the way its demo's sample builds
//! one: the whole level as one tile, or tile by tile with a border. Triangles are sorted into tiles
//! first (the demo does so with its own tree). Areas, links and volumes are not used.

use recastnavigation_sys::*;
use std::ptr;
use throng::{DVec3, NavSettings, Soup};

/// A peer that refused.
pub(crate) type Refused = String;

/// Our settings in Recast's units.
#[derive(Clone, Copy)]
pub(super) struct Config {
    pub(super) cell: f32,
    pub(super) cell_height: f32,
    pub(super) height: i32,
    pub(super) climb: i32,
    pub(super) radius: i32,
    pub(super) slope: f32,
    pub(super) max_edge: i32,
    pub(super) max_error: f32,
    pub(super) min_region: i32,
    pub(super) merge_region: i32,
    pub(super) vertices_per_poly: i32,
    pub(super) sample_distance: f32,
    pub(super) sample_error: f32,
}

impl Config {
    pub(super) fn new(settings: &NavSettings) -> Self {
        let cells = |length: f64| length / settings.cell_size;
        let rows = |length: f64| length / settings.cell_height;
        Self {
            cell: settings.cell_size as f32,
            cell_height: settings.cell_height as f32,
            height: (rows(settings.agent_height) - 1e-9).ceil() as i32,
            climb: (rows(settings.walkable_climb) + 1e-9).floor() as i32,
            radius: (cells(settings.agent_radius) - 1e-9).ceil() as i32,
            slope: settings.agent_max_slope_degrees as f32,
            max_edge: cells(settings.max_edge_length).round() as i32,
            max_error: settings.contour_max_error as f32,
            min_region: settings.min_region_area,
            merge_region: settings.merge_region_area,
            vertices_per_poly: settings.max_verts_per_poly.min(6),
            sample_distance: settings.detail_sample_distance as f32,
            sample_error: settings.detail_max_error as f32,
        }
    }
}

/// Triangles as Recast takes them.
pub(super) struct Input {
    pub(super) vertices: Vec<f32>,
    pub(super) triangles: Vec<i32>,
    pub(super) low: [f32; 3],
    pub(super) high: [f32; 3],
}

impl Input {
    pub(super) fn new(soup: &Soup) -> Self {
        let vertices: Vec<f32> = soup.vertices().iter().flat_map(|v| float(*v)).collect();
        let corner = |index: &u32| *index as i32;
        let triangles = soup.triangles().iter().flatten().map(corner).collect();
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for v in vertices.chunks_exact(3) {
            for axis in 0..3 {
                low[axis] = low[axis].min(v[axis]);
                high[axis] = high[axis].max(v[axis]);
            }
        }
        Self {
            vertices,
            triangles,
            low,
            high,
        }
    }
}

pub(crate) fn float(v: DVec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

/// Owns a `dtNavMesh`.
pub(crate) struct DetourMesh {
    pub(crate) raw: *mut dtNavMesh,
}

impl Drop for DetourMesh {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `dtAllocNavMesh` and is freed once.
        unsafe { dtFreeNavMesh(self.raw) };
    }
}

/// What a mesh holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) polys: usize,
    /// Area of all polygons on the ground plane.
    pub(crate) area: f64,
}

impl DetourMesh {
    pub(crate) fn extent(&self) -> Extent {
        let mut extent = Extent::default();
        // SAFETY: tiles, polygons and vertices belong to the mesh, counts come from its headers.
        unsafe {
            for i in 0..dtNavMesh_getMaxTiles(self.raw) {
                let tile = &*dtNavMesh_getTile(self.raw, i);
                if tile.header.is_null() {
                    continue;
                }
                let count = (*tile.header).polyCount as usize;
                extent.polys += count;
                for poly in std::slice::from_raw_parts(tile.polys, count) {
                    let corner = |i: usize| {
                        let v = tile.verts.add(3 * usize::from(poly.verts[i]));
                        (f64::from(*v), f64::from(*v.add(2)))
                    };
                    let n = usize::from(poly.vertCount);
                    let doubled: f64 = (0..n)
                        .map(|i| {
                            let ((ax, az), (bx, bz)) = (corner(i), corner((i + 1) % n));
                            ax * bz - bx * az
                        })
                        .sum();
                    extent.area += doubled.abs() * 0.5;
                }
            }
        }
        extent
    }
}

/// Builds the whole level as one tile.
pub(crate) fn build_solo(soup: &Soup, settings: &NavSettings) -> Result<DetourMesh, Refused> {
    let input = Input::new(soup);
    let config = Config::new(settings);
    let (mut width, mut depth) = (0, 0);
    // SAFETY: plain arrays of the lengths Recast expects.
    unsafe {
        rcCalcGridSize(
            input.low.as_ptr(),
            input.high.as_ptr(),
            config.cell,
            &mut width,
            &mut depth,
        );
    }
    let place = Place {
        low: input.low,
        high: input.high,
        width,
        depth,
        border: 0,
        tile: (0, 0),
    };
    let areas = &mut Vec::new();
    let data = build_tile(&input, &input.triangles, &config, &place, areas)?;
    let Some((bytes, length)) = data else {
        return Err("no polygons".into());
    };
    // SAFETY: the mesh takes the bytes over (DT_TILE_FREE_DATA = 1).
    unsafe {
        let mesh = DetourMesh {
            raw: dtAllocNavMesh(),
        };
        succeeded("init", dtNavMesh_init1(mesh.raw, bytes, length, 1))?;
        Ok(mesh)
    }
}

/// Builds the level in tiles of `tile_cells` cells.
pub(crate) fn build_tiled(
    soup: &Soup,
    settings: &NavSettings,
    tile_cells: i32,
) -> Result<DetourMesh, Refused> {
    let input = Input::new(soup);
    let config = Config::new(settings);
    let side = tile_cells as f32 * config.cell;
    let border = config.radius + 3;
    let tiles_x = (((input.high[0] - input.low[0]) / side).ceil() as i32).max(1);
    let tiles_z = (((input.high[2] - input.low[2]) / side).ceil() as i32).max(1);
    let margin = border as f32 * config.cell;
    let sorted = sort_into_tiles(&input, side, margin, tiles_x, tiles_z);
    // SAFETY: parameters are plain data; every tile's bytes are handed over (DT_TILE_FREE_DATA).
    unsafe {
        let mesh = DetourMesh {
            raw: dtAllocNavMesh(),
        };
        let tiles = (tiles_x * tiles_z) as u32;
        let tile_bits = 32 - (tiles.max(2) - 1).leading_zeros();
        let params = dtNavMeshParams {
            orig: input.low,
            tileWidth: side,
            tileHeight: side,
            maxTiles: 1 << tile_bits,
            maxPolys: 1 << 22_u32.saturating_sub(tile_bits),
        };
        succeeded("init", dtNavMesh_init(mesh.raw, &params))?;
        let mut areas = Vec::new();
        for z in 0..tiles_z {
            for x in 0..tiles_x {
                let place = Place::of_tile(&input, &config, tile_cells, (x, z));
                let triangles = &sorted[(x + z * tiles_x) as usize];
                let data = build_tile(&input, triangles, &config, &place, &mut areas)?;
                if let Some((bytes, length)) = data {
                    let added = dtNavMesh_addTile(mesh.raw, bytes, length, 1, 0, ptr::null_mut());
                    succeeded("add tile", added)?;
                }
            }
        }
        Ok(mesh)
    }
}

pub(super) fn sort_into_tiles(
    input: &Input,
    side: f32,
    margin: f32,
    tiles_x: i32,
    tiles_z: i32,
) -> Vec<Vec<i32>> {
    let mut tiles = vec![Vec::new(); (tiles_x * tiles_z) as usize];
    for triangle in input.triangles.chunks_exact(3) {
        let range = |axis: usize, count: i32| {
            let at = triangle
                .iter()
                .map(|&i| input.vertices[3 * i as usize + axis]);
            let low = at.clone().fold(f32::INFINITY, f32::min) - margin - input.low[axis];
            let high = at.fold(f32::NEG_INFINITY, f32::max) + margin - input.low[axis];
            let tile = |v: f32| ((v / side).floor() as i32).clamp(0, count - 1);
            tile(low)..=tile(high)
        };
        for z in range(2, tiles_z) {
            for x in range(0, tiles_x) {
                tiles[(x + z * tiles_x) as usize].extend_from_slice(triangle);
            }
        }
    }
    tiles
}

pub(crate) fn succeeded(what: &str, status: dtStatus) -> Result<(), Refused> {
    if status & DT_SUCCESS != 0 {
        return Ok(());
    }
    Err(format!("{what}: status {status:#x}"))
}

/// The box of one tile, border included.
pub(super) struct Place {
    low: [f32; 3],
    high: [f32; 3],
    width: i32,
    depth: i32,
    pub(super) border: i32,
    tile: (i32, i32),
}

impl Place {
    /// Tile `tile` of a grid of `cells` cells a side, with its border.
    pub(super) fn of_tile(input: &Input, config: &Config, cells: i32, (x, z): (i32, i32)) -> Self {
        let border = config.radius + 3;
        let (side, margin) = (cells as f32 * config.cell, border as f32 * config.cell);
        let low_x = input.low[0] + x as f32 * side;
        let low_z = input.low[2] + z as f32 * side;
        Self {
            low: [low_x - margin, input.low[1], low_z - margin],
            high: [low_x + side + margin, input.high[1], low_z + side + margin],
            width: cells + 2 * border,
            depth: cells + 2 * border,
            border,
            tile: (x, z),
        }
    }
}

/// Recast's objects of one tile; freed in any case.
struct Stages {
    context: *mut rcContext,
    solid: *mut rcHeightfield,
    open: *mut rcCompactHeightfield,
    contours: *mut rcContourSet,
    mesh: *mut rcPolyMesh,
    detail: *mut rcPolyMeshDetail,
}

impl Drop for Stages {
    fn drop(&mut self) {
        // SAFETY: each came from its allocator and is freed once; the free functions take null.
        unsafe {
            rcFreeHeightField(self.solid);
            rcFreeCompactHeightfield(self.open);
            rcFreeContourSet(self.contours);
            rcFreePolyMesh(self.mesh);
            rcFreePolyMeshDetail(self.detail);
            DeleteContext(self.context);
        }
    }
}

pub(super) fn done(what: &str, ok: bool) -> Result<(), Refused> {
    if ok { Ok(()) } else { Err(what.to_owned()) }
}

/// Triangles to open spans, eroded by the agent's radius.
///
/// # Safety
/// `context`, `solid` and `open` are live objects of their allocators.
pub(super) unsafe fn fill_open(
    context: *mut rcContext,
    input: &Input,
    triangles: &[i32],
    config: &Config,
    place: &Place,
    areas: &mut Vec<u8>,
    solid: *mut rcHeightfield,
    open: *mut rcCompactHeightfield,
) -> Result<(), Refused> {
    areas.clear();
    areas.resize(triangles.len() / 3, 0);
    let (vertices, vertex_count) = (input.vertices.as_ptr(), input.vertices.len() as i32 / 3);
    let count = triangles.len() as i32 / 3;
    let (height, climb) = (config.height, config.climb);
    // SAFETY: arrays of the lengths passed beside them; the objects are the caller's promise.
    unsafe {
        let made = rcCreateHeightfield(
            context,
            solid,
            place.width,
            place.depth,
            place.low.as_ptr(),
            place.high.as_ptr(),
            config.cell,
            config.cell_height,
        );
        done("heightfield", made)?;
        rcMarkWalkableTriangles(
            context,
            config.slope,
            vertices,
            vertex_count,
            triangles.as_ptr(),
            count,
            areas.as_mut_ptr(),
        );
        let rasterized = rcRasterizeTriangles(
            context,
            vertices,
            vertex_count,
            triangles.as_ptr(),
            areas.as_ptr(),
            count,
            solid,
            climb,
        );
        done("rasterize", rasterized)?;
        rcFilterLowHangingWalkableObstacles(context, climb, solid);
        rcFilterLedgeSpans(context, height, climb, solid);
        rcFilterWalkableLowHeightSpans(context, height, solid);
        let opened = rcBuildCompactHeightfield(context, height, climb, solid, open);
        done("compact", opened)?;
        done("erode", rcErodeWalkableArea(context, config.radius, open))
    }
}

/// Tile bytes, or none when there is nothing to walk on.
fn build_tile(
    input: &Input,
    triangles: &[i32],
    config: &Config,
    place: &Place,
    areas: &mut Vec<u8>,
) -> Result<Option<(*mut u8, i32)>, Refused> {
    // SAFETY: every pointer is to a live array of the length passed beside it, or to an object the
    // library allocated above.
    unsafe {
        let s = Stages {
            context: CreateContext(false),
            solid: rcAllocHeightfield(),
            open: rcAllocCompactHeightfield(),
            contours: rcAllocContourSet(),
            mesh: rcAllocPolyMesh(),
            detail: rcAllocPolyMeshDetail(),
        };
        let c = s.context;
        fill_open(c, input, triangles, config, place, areas, s.solid, s.open)?;
        done("distance", rcBuildDistanceField(c, s.open))?;
        let (least, merge) = (config.min_region, config.merge_region);
        let regions = rcBuildRegions(c, s.open, place.border, least, merge);
        done("regions", regions)?;
        let contours = rcBuildContours(
            c,
            s.open,
            config.max_error,
            config.max_edge,
            s.contours,
            rcBuildContoursFlags_RC_CONTOUR_TESS_WALL_EDGES as i32,
        );
        done("contours", contours)?;
        if (*s.contours).nconts == 0 {
            return Ok(None);
        }
        let polygons = rcBuildPolyMesh(c, s.contours, config.vertices_per_poly, s.mesh);
        done("polygons", polygons)?;
        let detail = rcBuildPolyMeshDetail(
            c,
            s.mesh,
            s.open,
            config.sample_distance,
            config.sample_error,
            s.detail,
        );
        done("detail", detail)?;
        let (mesh, detail) = (&*s.mesh, &*s.detail);
        if mesh.npolys == 0 {
            return Ok(None);
        }
        std::slice::from_raw_parts_mut(mesh.flags, mesh.npolys as usize).fill(1);
        let mut params: dtNavMeshCreateParams = std::mem::zeroed();
        params.verts = mesh.verts;
        params.vertCount = mesh.nverts;
        params.polys = mesh.polys;
        params.polyFlags = mesh.flags;
        params.polyAreas = mesh.areas;
        params.polyCount = mesh.npolys;
        params.nvp = mesh.nvp;
        params.detailMeshes = detail.meshes;
        params.detailVerts = detail.verts;
        params.detailVertsCount = detail.nverts;
        params.detailTris = detail.tris;
        params.detailTriCount = detail.ntris;
        (params.tileX, params.tileY) = place.tile;
        params.bmin = mesh.bmin;
        params.bmax = mesh.bmax;
        params.walkableHeight = config.height as f32 * config.cell_height;
        params.walkableRadius = config.radius as f32 * config.cell;
        params.walkableClimb = config.climb as f32 * config.cell_height;
        params.cs = config.cell;
        params.ch = config.cell_height;
        params.buildBvTree = true;
        let (mut bytes, mut length) = (ptr::null_mut(), 0);
        done(
            "tile data",
            dtCreateNavMeshData(&mut params, &mut bytes, &mut length),
        )?;
        Ok(Some((bytes, length)))
    }
}
