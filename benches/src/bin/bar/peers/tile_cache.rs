//! DetourTileCache on a level: layers built by Recast and kept uncompressed, obstacles that come and go.

use super::recast::{
    Config, DetourMesh, Input, Place, Refused, done, fill_open, float, sort_into_tiles, succeeded,
};
use recastnavigation_sys::*;
use std::ffi::{c_int, c_void};
use std::ptr;
use throng::{DVec3, NavSettings, Soup};

/// Bytes of the arena a tile is built in (the demo's has 32 kB; large tiles need more).
const ARENA: usize = 1 << 20;
/// Layers of one tile.
const MOST_LAYERS: usize = 32;

/// A tile cache and the mesh it keeps up to date.
pub(crate) struct DetourTileCache {
    pub(crate) mesh: DetourMesh,
    raw: *mut dtTileCache,
    alloc: *mut dtTileCacheAlloc,
    compressor: *mut dtTileCacheCompressor,
    process: *mut dtTileCacheMeshProcess,
    /// Where the allocator takes from; referred to by `alloc`.
    _arena: Box<Arena>,
}

impl Drop for DetourTileCache {
    fn drop(&mut self) {
        // SAFETY: each came from its allocator and is freed once, the cache before what it uses.
        unsafe {
            dtFreeTileCache(self.raw);
            DeleteTileCacheMeshProcess(self.process);
            DeleteTileCacheCompressor(self.compressor);
            DeleteTileCacheAlloc(self.alloc);
        }
    }
}

/// Memory that is given out in order and taken back all at once, as in the demo. Words of 16 bytes.
struct Arena {
    words: Vec<u128>,
    used: usize,
}

unsafe extern "C" fn reset(arena: *mut c_void) {
    // SAFETY: the arena given to the allocator, which nobody else touches meanwhile.
    unsafe { (*arena.cast::<Arena>()).used = 0 };
}

unsafe extern "C" fn take(arena: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as above.
    let arena = unsafe { &mut *arena.cast::<Arena>() };
    let (first, end) = (arena.used, arena.used + bytes.div_ceil(16));
    let Some(words) = arena.words.get_mut(first..end) else {
        return ptr::null_mut();
    };
    arena.used = end;
    words.as_mut_ptr().cast()
}

unsafe extern "C" fn keep(_: *mut c_void, _: *mut c_void) {}

unsafe extern "C" fn same_size(_: *mut c_void, bytes: c_int) -> c_int {
    bytes
}

/// "Compression" and its reverse: a copy.
unsafe extern "C" fn copy(
    _: *mut c_void,
    from: *const u8,
    bytes: c_int,
    to: *mut u8,
    _: c_int,
    written: *mut c_int,
) -> dtStatus {
    // SAFETY: both buffers hold `bytes`.
    unsafe {
        ptr::copy_nonoverlapping(from, to, bytes as usize);
        *written = bytes;
    }
    DT_SUCCESS
}

/// Makes every polygon walkable, as the demo does.
unsafe extern "C" fn process(
    _: *mut c_void,
    params: *mut dtNavMeshCreateParams,
    areas: *mut u8,
    flags: *mut u16,
) {
    // SAFETY: both arrays hold one entry per polygon.
    unsafe {
        for i in 0..(*params).polyCount as usize {
            *areas.add(i) = 0;
            *flags.add(i) = 1;
        }
    }
}

impl DetourTileCache {
    /// Builds the layers of every tile, and the mesh from them.
    pub(crate) fn new(
        soup: &Soup,
        settings: &NavSettings,
        tile_cells: i32,
    ) -> Result<Self, Refused> {
        let input = Input::new(soup);
        let config = Config::new(settings);
        let side = tile_cells as f32 * config.cell;
        let margin = (config.radius + 3) as f32 * config.cell;
        let tiles_x = (((input.high[0] - input.low[0]) / side).ceil() as i32).max(1);
        let tiles_z = (((input.high[2] - input.low[2]) / side).ceil() as i32).max(1);
        let sorted = sort_into_tiles(&input, side, margin, tiles_x, tiles_z);
        let most = (tiles_x * tiles_z * 4) as u32;
        let tile_bits = (32 - (most.max(2) - 1).leading_zeros()).min(14);
        let mut arena = Box::new(Arena {
            words: vec![0; ARENA / 16],
            used: 0,
        });
        let arena_ptr: *mut Arena = &mut *arena;
        // SAFETY: the arena outlives the cache; parameters are plain data and copied.
        unsafe {
            let cache = Self {
                mesh: DetourMesh {
                    raw: dtAllocNavMesh(),
                },
                raw: dtAllocTileCache(),
                alloc: CreateForwardedTileCacheAlloc(
                    arena_ptr.cast(),
                    Some(reset),
                    Some(take),
                    Some(keep),
                ),
                compressor: CreateForwardedTileCacheCompressor(
                    ptr::null_mut(),
                    Some(same_size),
                    Some(copy),
                    Some(copy),
                ),
                process: CreateForwardedTileCacheMeshProcess(ptr::null_mut(), Some(process)),
                _arena: arena,
            };
            let mut params: dtTileCacheParams = std::mem::zeroed();
            params.orig = input.low;
            params.cs = config.cell;
            params.ch = config.cell_height;
            params.width = tile_cells;
            params.height = tile_cells;
            params.walkableHeight = settings.agent_height as f32;
            params.walkableRadius = settings.agent_radius as f32;
            params.walkableClimb = settings.walkable_climb as f32;
            params.maxSimplificationError = config.max_error;
            params.maxTiles = most as i32;
            params.maxObstacles = 128;
            let begun = dtTileCache_init(
                cache.raw,
                &params,
                cache.alloc,
                cache.compressor,
                cache.process,
            );
            succeeded("tile cache", begun)?;
            let params = dtNavMeshParams {
                orig: input.low,
                tileWidth: side,
                tileHeight: side,
                maxTiles: 1 << tile_bits,
                maxPolys: 1 << (22 - tile_bits),
            };
            succeeded("init", dtNavMesh_init(cache.mesh.raw, &params))?;
            for z in 0..tiles_z {
                for x in 0..tiles_x {
                    let triangles = &sorted[(x + z * tiles_x) as usize];
                    cache.add_layers(&input, triangles, &config, tile_cells, (x, z))?;
                    let built = dtTileCache_buildNavMeshTilesAt(cache.raw, x, z, cache.mesh.raw);
                    succeeded("mesh tiles", built)?;
                }
            }
            Ok(cache)
        }
    }

    /// # Safety
    /// `self` is a live cache.
    unsafe fn add_layers(
        &self,
        input: &Input,
        triangles: &[i32],
        config: &Config,
        tile_cells: i32,
        (x, z): (i32, i32),
    ) -> Result<(), Refused> {
        let place = Place::of_tile(input, config, tile_cells, (x, z));
        let mut areas = Vec::new();
        // SAFETY: arrays of the lengths passed beside them; objects from their allocators, freed once.
        unsafe {
            let stages = Layers {
                context: CreateContext(false),
                solid: rcAllocHeightfield(),
                open: rcAllocCompactHeightfield(),
                set: rcAllocHeightfieldLayerSet(),
            };
            let c = stages.context;
            let (solid, open) = (stages.solid, stages.open);
            fill_open(c, input, triangles, config, &place, &mut areas, solid, open)?;
            let (border, height) = (place.border, config.height);
            let layered = rcBuildHeightfieldLayers(c, stages.open, border, height, stages.set);
            done("layers", layered)?;
            let set = &*stages.set;
            for i in 0..(set.nlayers as usize).min(MOST_LAYERS) {
                let layer = &*set.layers.add(i);
                let mut header = dtTileCacheLayerHeader {
                    magic: DT_TILECACHE_MAGIC,
                    version: DT_TILECACHE_VERSION,
                    tx: x,
                    ty: z,
                    tlayer: i as c_int,
                    bmin: layer.bmin,
                    bmax: layer.bmax,
                    hmin: layer.hmin as u16,
                    hmax: layer.hmax as u16,
                    width: layer.width as u8,
                    height: layer.height as u8,
                    minx: layer.minx as u8,
                    maxx: layer.maxx as u8,
                    miny: layer.miny as u8,
                    maxy: layer.maxy as u8,
                };
                let (mut bytes, mut length) = (ptr::null_mut(), 0);
                let packed = dtBuildTileCacheLayer(
                    self.compressor,
                    &mut header,
                    layer.heights,
                    layer.areas,
                    layer.cons,
                    &mut bytes,
                    &mut length,
                );
                succeeded("layer", packed)?;
                // The cache takes the bytes over (DT_COMPRESSEDTILE_FREE_DATA = 1).
                let added = dtTileCache_addTile(self.raw, bytes, length, 1, ptr::null_mut());
                succeeded("add layer", added)?;
            }
        }
        Ok(())
    }

    /// Adds a cylinder and brings the mesh up to date.
    pub(crate) fn add(&mut self, base: DVec3, radius: f32, height: f32) -> Result<u32, Refused> {
        let mut id = 0;
        let base = float(base);
        // SAFETY: an array of three floats; a live cache.
        let added =
            unsafe { dtTileCache_addObstacle(self.raw, base.as_ptr(), radius, height, &mut id) };
        succeeded("add obstacle", added)?;
        self.update()?;
        Ok(id)
    }

    /// Takes an obstacle away and brings the mesh up to date.
    pub(crate) fn remove(&mut self, id: u32) -> Result<(), Refused> {
        // SAFETY: a live cache.
        succeeded("remove obstacle", unsafe {
            dtTileCache_removeObstacle(self.raw, id)
        })?;
        self.update()
    }

    fn update(&mut self) -> Result<(), Refused> {
        let mut done = false;
        while !done {
            // SAFETY: a live cache and its mesh.
            let status = unsafe { dtTileCache_update(self.raw, 0.0, self.mesh.raw, &mut done) };
            succeeded("update", status)?;
        }
        Ok(())
    }
}

/// Recast's objects of one tile; freed in any case.
struct Layers {
    context: *mut rcContext,
    solid: *mut rcHeightfield,
    open: *mut rcCompactHeightfield,
    set: *mut rcHeightfieldLayerSet,
}

impl Drop for Layers {
    fn drop(&mut self) {
        // SAFETY: each came from its allocator and is freed once; the free functions take null.
        unsafe {
            rcFreeHeightField(self.solid);
            rcFreeCompactHeightfield(self.open);
            rcFreeHeightfieldLayerSet(self.set);
            DeleteContext(self.context);
        }
    }
}
