//! Voxels and solid heightfields against each other, against triangles, and against slow readings.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use throng_build::input::{SolidHeightfield, VoxelChunk, VoxelRun};
use throng_build::pipeline::{
    ChunkSource, HeightfieldSource, SoupSource, TileRange, TileSource, Worker, build_from,
    for_each_tile, for_one_tile,
};
use throng_build::voxel::frame::HeightfieldFrame;
use throng_build::voxel::plan::TilePlan;
use throng_build::voxel::spans::{SpanScratch, finish_open_spans};
use throng_build::{
    BuildError, BuildOptions, NavSettings, PartitionType, build_chunk_with, build_heightfield_with,
    build_soup,
};
use throng_soa::DVec3;
use throng_soa::mesh::TiledMesh;
use throng_soa::mesh::format::mesh_bytes;
use throng_soa::rng::SplitMix64;
use throng_soa::spans::{OpenSpans, SolidSpans, SpanGraph};

const PLAIN: BuildOptions<'_> = BuildOptions {
    threads: 1,
    volumes: &[],
    obstacles: &[],
    on_tile: None,
    on_flaw: None,
    is_cancelled: None,
};

/// Cells of half a unit and rows of a quarter: every sum is exact. A small agent, as walls abound.
fn settings() -> NavSettings {
    NavSettings {
        agent_radius: 0.4,
        cell_size: 0.5,
        cell_height: 0.25,
        tile_size: 8.0,
        origin_x: -3.0,
        origin_z: 5.0,
        ..NavSettings::HUMANOID
    }
}

/// Voxels of rolling ground with pillars, bridges and holes, `(z * width + x) * height + y`.
struct Blocks {
    size: [u32; 3],
    voxels: Vec<u8>,
}

impl Blocks {
    fn random(seed: u64, width: u32, depth: u32, height: u32) -> Self {
        let mut rng = SplitMix64::new(seed);
        let mut voxels = vec![0; (width * depth * height) as usize];
        for z in 0..depth {
            for x in 0..width {
                let column = ((z * width + x) * height) as usize;
                let column = &mut voxels[column..column + height as usize];
                let ground = 3 + (x / 5 + z / 7) % 4;
                let material = 1 + ((x / 9 + z / 8) % 3) as u8;
                column[..ground as usize].fill(material);
                match rng.next_below(60) {
                    0 => column.fill(9),
                    1 => column[..1].fill(0),
                    2 => column.fill(0),
                    _ => {}
                }
                if (z / 6) % 3 == 0 && height > 22 {
                    column[20..22].fill(5);
                }
            }
        }
        Self {
            size: [width, height, depth],
            voxels,
        }
    }

    fn at(&self, x: i32, y: i32, z: i32) -> u8 {
        let [w, h, d] = self.size.map(|s| s as i32);
        let inside = (0..w).contains(&x) && (0..h).contains(&y) && (0..d).contains(&z);
        if inside {
            self.voxels[((z * w + x) * h + y) as usize]
        } else {
            0
        }
    }

    fn chunk(&self) -> VoxelChunk {
        let [w, h, d] = self.size;
        VoxelChunk::from_dense(w, d, h, &self.voxels).unwrap()
    }

    /// The runs of equal material, voxel by voxel.
    fn runs(&self) -> (Vec<u32>, Vec<VoxelRun>) {
        let [w, h, d] = self.size.map(|s| s as i32);
        let (mut first, mut runs) = (vec![0], Vec::new());
        for z in 0..d {
            for x in 0..w {
                let mut y = 0;
                while y < h {
                    let material = self.at(x, y, z);
                    let start = y;
                    while y < h && self.at(x, y, z) == material {
                        y += 1;
                    }
                    if material != 0 {
                        runs.push(VoxelRun {
                            start: start as u16,
                            length: (y - start) as u16,
                            material,
                        });
                    }
                }
                first.push(runs.len() as u32);
            }
        }
        (first, runs)
    }

    /// The same matter span by span, at height `base`.
    fn heightfield(&self, base: f64, areas: &[u8; 256]) -> SolidHeightfield {
        let [width, rows, depth] = self.size;
        let mut field = SolidHeightfield::new(HeightfieldFrame {
            origin: DVec3::new(77.0, base, -1e6),
            cell_size: 3.0,
            cell_height: 9.0,
            width,
            depth,
            rows,
        })
        .unwrap();
        let (first, runs) = self.runs();
        for (column, ends) in first.windows(2).enumerate() {
            let at = (column as u32 % width, column as u32 / width);
            for run in &runs[ends[0] as usize..ends[1] as usize] {
                let area = areas[usize::from(run.material)];
                let rows = run.start..run.start + run.length;
                field.add_span(at, rows, area, 0).unwrap();
            }
        }
        field
    }
}

fn areas() -> [u8; 256] {
    let mut areas = [63; 256];
    areas[2] = 7;
    areas[9] = 0;
    areas
}

fn all_settings() -> Vec<NavSettings> {
    let layers = NavSettings {
        partition: PartitionType::Layers,
        detail_sample_distance: 0.0,
        ..settings()
    };
    let monotone = NavSettings {
        partition: PartitionType::Monotone,
        tile_size: 64.0,
        ..settings()
    };
    vec![settings(), layers, monotone]
}

#[test]
fn dense_voxels_runs_and_spans_build_the_same_bytes() {
    for (seed, settings) in (0..).zip(all_settings()) {
        let blocks = Blocks::random(seed, 53, 41, 30);
        let areas = areas();
        let dense = blocks.chunk();
        let (first, runs) = blocks.runs();
        let by_runs = VoxelChunk::from_runs(53, 41, 30, first, runs).unwrap();
        assert_eq!(dense, by_runs);
        let field = blocks.heightfield(0.0, &areas);
        let packed = SolidHeightfield::from_spans(*field.frame(), &field.to_spans()).unwrap();
        let chunk = build_chunk_with(&dense, Some(&areas), &settings, &PLAIN).unwrap();
        let bytes = mesh_bytes(&chunk);
        assert!(chunk.poly_count() > 20);
        for field in [field, packed] {
            let mesh = build_heightfield_with(&field, &settings, &PLAIN).unwrap();
            assert!(mesh_bytes(&mesh) == bytes, "seed {seed}");
        }
        // Another base moves the tiles and nothing else.
        let raised = blocks.heightfield(5.25, &areas);
        let raised = build_heightfield_with(&raised, &settings, &PLAIN).unwrap();
        assert_eq!(raised.tile_count(), chunk.tile_count());
        for ((_, low), (_, high)) in chunk.tiles().zip(raised.tiles()) {
            let mut expected = low.data().clone();
            expected.origin_y += 5.25;
            assert_eq!(&expected, high.data());
        }
    }
}

#[test]
fn threads_do_not_show_in_the_bytes() {
    let blocks = Blocks::random(5, 70, 66, 30);
    let (chunk, field) = (blocks.chunk(), blocks.heightfield(0.0, &[63; 256]));
    let build = |threads: usize| {
        let options = BuildOptions { threads, ..PLAIN };
        let chunk = build_chunk_with(&chunk, None, &settings(), &options).unwrap();
        let field = build_heightfield_with(&field, &settings(), &options).unwrap();
        [mesh_bytes(&chunk), mesh_bytes(&field)]
    };
    let one = build(1);
    for threads in [2, 5, 16] {
        assert!(build(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_tile_holds_the_voxels_under_its_grid() {
    let blocks = Blocks::random(8, 37, 29, 30);
    let plan = TilePlan::new(&settings()).unwrap();
    let chunk = blocks.chunk();
    let areas = areas();
    let source = ChunkSource::new(&plan, &chunk, Some(&areas)).unwrap();
    let found = eroded(&source, &plan);
    // 37 x 29 cells in tiles of 16.
    let tiles: Vec<_> = found.iter().map(|f| f.0).collect();
    assert_eq!(tiles, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    for ((tile_x, tile_z), frame, spans) in found {
        assert_eq!(frame.origin.y, 0.0);
        assert_eq!(frame.rows, 30 + plan.spans.walkable_height as u32 + 2);
        let (corner_x, corner_z) = (
            tile_x * 16 - plan.border as i32,
            tile_z * 16 - plan.border as i32,
        );
        let mut scratch = SpanScratch::default();
        scratch.columns.reset(frame.width, frame.depth);
        for z in 0..frame.depth {
            for x in 0..frame.width {
                for y in 0..30 {
                    let material = blocks.at(corner_x + x as i32, y, corner_z + z as i32);
                    if material != 0 {
                        // Voxel by voxel from below, touching ones join; the top gives the area.
                        let above = blocks.at(corner_x + x as i32, y + 1, corner_z + z as i32);
                        let area = if above == material {
                            0
                        } else {
                            areas[usize::from(material)]
                        };
                        let (y, column) = (y as u16, frame.column(x, z));
                        scratch.columns.add(column, y, y + 1, area, 0);
                    }
                }
            }
        }
        let (mut expected, mut graph) = (OpenSpans::default(), SpanGraph::default());
        let (spans_out, graph_out) = (&mut expected, &mut graph);
        finish_open_spans(&frame, &[], &plan.spans, &mut scratch, spans_out, graph_out).unwrap();
        assert!(spans == expected, "tile {tile_x} {tile_z}");
    }
}

type Eroded = ((i32, i32), HeightfieldFrame, OpenSpans);

/// Every tile of a source, seen through both drivers.
fn eroded<S: TileSource>(source: &S, plan: &TilePlan) -> Vec<Eroded> {
    let options = BuildOptions {
        threads: 3,
        ..PLAIN
    };
    let all = for_each_tile(source, plan, &options, |tile| {
        let spans = core::mem::take(tile.spans);
        let graph = core::mem::take(tile.graph);
        let mut again = SpanGraph::default();
        again.rebuild(&spans);
        assert!(again == graph);
        Ok(((tile.tile_x, tile.tile_z), tile.frame, spans))
    });
    let all = all.unwrap();
    let mut worker = Worker::default();
    let mut found = all.iter();
    let range = source.tiles().unwrap();
    for index in 0..range.columns() * range.rows() {
        let tile = range.tile(index).unwrap();
        assert_eq!(range.index(tile.0, tile.1), Some(index));
        let one = for_one_tile(source, plan, tile, &mut worker, |tile| {
            Ok((tile.frame, tile.spans.clone()))
        });
        if let Some((frame, spans)) = one.unwrap() {
            let (at, known_frame, known) = found.next().unwrap();
            assert_eq!((*at, *known_frame), (tile, frame));
            assert!(*known == spans);
        }
    }
    assert!(found.next().is_none());
    assert_eq!(range.tile(range.columns() * range.rows()), None);
    let outside = (range.max_x + 1, range.min_z);
    let none = for_one_tile(source, plan, outside, &mut worker, |_| Ok(())).unwrap();
    assert_eq!(none, None);
    all
}

#[test]
fn one_tile_alone_is_the_tile_of_the_whole_level() {
    let plan = TilePlan::new(&settings()).unwrap();
    let blocks = Blocks::random(9, 40, 40, 30);
    let field = blocks.heightfield(2.0, &[63; 256]);
    assert!(eroded(&HeightfieldSource::new(&plan, &field).unwrap(), &plan).len() > 4);
    let (vertices, triangles) = boxes(&blocks);
    let soup = SoupSource::new(&plan, &vertices, &triangles).unwrap();
    assert!(eroded(&soup, &plan).len() > 4);
}

/// A source that is gathered one row of tiles at a time.
struct RowByRow<S>(S);

impl<S: TileSource> TileSource for RowByRow<S> {
    type Batch = S::Batch;

    fn tiles(&self) -> Option<TileRange> {
        self.0.tiles()
    }

    fn last_row_of_batch(&self, first: i32) -> i32 {
        first
    }

    fn gather(&self, block: TileRange, batch: &mut S::Batch) {
        assert_eq!(block.rows(), 1);
        self.0.gather(block, batch);
    }

    fn erode_tile(
        &self,
        plan: &TilePlan,
        batch: &S::Batch,
        tile: (i32, i32),
        worker: &mut Worker,
    ) -> Result<Option<HeightfieldFrame>, BuildError> {
        self.0.erode_tile(plan, batch, tile, worker)
    }
}

#[test]
fn batches_do_not_show_in_the_bytes() {
    let plan = TilePlan::new(&settings()).unwrap();
    let (vertices, triangles) = boxes(&Blocks::random(13, 40, 50, 30));
    let soup = || SoupSource::new(&plan, &vertices, &triangles).unwrap();
    let whole = build_from(&soup(), &plan, &settings(), &PLAIN).unwrap();
    assert!(whole.tile_count() > 8);
    for threads in [1, 3] {
        let options = BuildOptions { threads, ..PLAIN };
        let rows = build_from(&RowByRow(soup()), &plan, &settings(), &options).unwrap();
        assert!(mesh_bytes(&rows) == mesh_bytes(&whole));
    }
}

/// Every run as a closed box of triangles.
fn boxes(blocks: &Blocks) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (first, runs) = blocks.runs();
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for (column, ends) in first.windows(2).enumerate() {
        let width = blocks.size[0] as usize;
        let (x, z) = ((column % width) as f64, (column / width) as f64);
        for run in &runs[ends[0] as usize..ends[1] as usize] {
            let base = vertices.len() as u32;
            for corner in 0..8 {
                let pick = |bit: u32| f64::from(corner >> bit & 1);
                vertices.push(DVec3::new(
                    -3.0 + (x + pick(0)) * 0.5,
                    (f64::from(run.start) + f64::from(run.length) * pick(2)) * 0.25,
                    5.0 + (z + pick(1)) * 0.5,
                ));
            }
            // Corners by bits x, z, y; faces counter-clockwise from outside.
            for [a, b, c, d] in [
                [4, 6, 7, 5],
                [0, 1, 3, 2],
                [0, 4, 5, 1],
                [3, 7, 6, 2],
                [0, 2, 6, 4],
                [1, 5, 7, 3],
            ] {
                triangles.extend([[a, b, c], [a, c, d]].map(|t| t.map(|v: u32| v + base)));
            }
        }
    }
    (vertices, triangles)
}

type Shape = ([i32; 3], f64, Vec<[f32; 3]>, Vec<u16>);

/// Polygons and vertices of every tile, which the height a grid starts at does not change.
fn shapes(mesh: &TiledMesh) -> Vec<Shape> {
    mesh.tiles()
        .map(|(_, tile)| {
            let d = tile.data();
            let (vertices, indices) = (d.vertices.clone(), d.poly_indices.clone());
            ([d.tile_x, d.tile_z, d.layer], d.origin_y, vertices, indices)
        })
        .collect()
}

#[test]
fn voxels_and_the_triangles_around_them_give_the_same_mesh() {
    for settings in all_settings() {
        // Without hollow columns: triangles leave shells where voxels are solid.
        let mut blocks = Blocks::random(11, 45, 34, 19);
        for column in blocks.voxels.chunks_mut(19) {
            if column[0] == 0 {
                column.fill(0);
            }
        }
        let chunk = build_chunk_with(&blocks.chunk(), None, &settings, &PLAIN).unwrap();
        let (vertices, triangles) = boxes(&blocks);
        let soup = build_soup(&vertices, &triangles, &settings, 1).unwrap();
        assert!(chunk.poly_count() > 5);
        assert_eq!(shapes(&chunk), shapes(&soup));
    }
}

#[test]
fn materials_become_areas_and_63_the_settings_own() {
    let (width, height) = (40, 4);
    let mut voxels = vec![0; (width * width * height) as usize];
    for (column, voxels) in voxels.chunks_mut(height as usize).enumerate() {
        voxels[0] = 1 + (column as u32 % width / 14) as u8;
    }
    let chunk = VoxelChunk::from_dense(width, width, height, &voxels).unwrap();
    let settings = NavSettings {
        tile_size: 32.0,
        area: 4,
        agent_radius: 0.0,
        ..settings()
    };
    let build = |areas: Option<&[u8; 256]>| {
        let mesh = build_chunk_with(&chunk, areas, &settings, &PLAIN).unwrap();
        let mut areas: Vec<u8> = mesh
            .tiles()
            .flat_map(|(_, tile)| tile.data().poly_areas.clone())
            .collect();
        areas.sort_unstable();
        areas.dedup();
        areas
    };
    assert_eq!(build(None), [4]);
    let mut areas = [63; 256];
    (areas[2], areas[3]) = (9, 0);
    assert_eq!(build(Some(&areas)), [4, 9]);
    areas[200] = 64;
    let error = build_chunk_with(&chunk, Some(&areas), &settings, &PLAIN).unwrap_err();
    match error {
        BuildError::Argument(error) => assert_eq!(error.argument, "material_areas[200]"),
        other => panic!("{other}"),
    }
}

#[test]
fn levels_without_ground_and_levels_too_large_are_told_apart() {
    let air = VoxelChunk::from_dense(5, 5, 5, &[0; 125]).unwrap();
    let mesh = build_chunk_with(&air, None, &settings(), &PLAIN).unwrap();
    assert_eq!(mesh.tile_count(), 0);

    let argument = |outcome: Result<TiledMesh, BuildError>| match outcome {
        Err(BuildError::Argument(error)) => error.argument,
        other => panic!("{other:?}"),
    };
    let build = |width: u32, height: u32, settings: &NavSettings| {
        let first = vec![0; width as usize + 1];
        let chunk = VoxelChunk::from_runs(width, 1, height, first, Vec::new()).unwrap();
        build_chunk_with(&chunk, None, settings, &PLAIN)
    };
    assert_eq!(argument(build(1, 65_535, &settings())), "rows");
    let tall = NavSettings {
        cell_height: 100.0,
        ..settings()
    };
    assert_eq!(argument(build(1, 60_000, &tall)), "top y");
    let far = NavSettings {
        origin_x: 2_097_000.0,
        ..settings()
    };
    assert_eq!(argument(build(65_536, 1, &far)), "far x");
    // One cell a tile, 2^22 of them.
    let tiny = NavSettings {
        tile_size: 0.5,
        ..settings()
    };
    let chunk = VoxelChunk::from_runs(2048, 2048, 1, vec![0; (1 << 22) + 1], Vec::new()).unwrap();
    let outcome = build_chunk_with(&chunk, None, &tiny, &PLAIN);
    assert_eq!(argument(outcome), "tile_size");

    let frame = HeightfieldFrame {
        origin: DVec3::new(0.0, 2_097_100.0, 0.0),
        cell_size: 1.0,
        cell_height: 1.0,
        width: 1,
        depth: 1,
        rows: 2200,
    };
    let field = SolidHeightfield::new(frame).unwrap();
    let outcome = build_heightfield_with(&field, &settings(), &PLAIN);
    assert_eq!(argument(outcome), "top y");
    // A pile of more floors than a column may hold.
    let floors = 0..1100_u16;
    let pile = SolidSpans {
        width: 1,
        depth: 1,
        cell_first: vec![0, 1100],
        min: floors.clone().map(|f| 2 * f).collect(),
        max: floors.map(|f| 2 * f + 1).collect(),
        area: vec![63; 1100],
    };
    let frame = HeightfieldFrame {
        origin: DVec3::ZERO,
        ..frame
    };
    let field = SolidHeightfield::from_spans(frame, &pile).unwrap();
    let outcome = build_heightfield_with(&field, &settings(), &PLAIN);
    assert_eq!(argument(outcome), "field");
}

/// Rows, tiles and batches that are none of the source's own.
#[test]
fn a_source_asked_for_what_it_has_not_answers_all_the_same() {
    let plan = TilePlan::new(&settings()).unwrap();
    let blocks = Blocks::random(9, 40, 40, 30);
    let (vertices, triangles) = boxes(&blocks);
    let soup = SoupSource::new(&plan, &vertices, &triangles).unwrap();
    let field = HeightfieldSource::new(&plan, &blocks.heightfield(2.0, &[63; 256])).unwrap();
    let range = soup.tiles().unwrap();
    let mut worker = Worker::default();
    for row in [i32::MIN, range.min_z - 1, range.max_z + 1, i32::MAX] {
        assert_eq!(soup.last_row_of_batch(row), row);
        for tile in [(range.min_x, row), (row, range.min_z), (row, row)] {
            let none = soup.erode_tile(&plan, &Default::default(), tile, &mut worker);
            assert_eq!(none.unwrap(), None);
            let none = field.erode_tile(&plan, &(), tile, &mut worker);
            assert_eq!(none.unwrap(), None);
            assert_eq!(range.index(tile.0, tile.1), None);
        }
    }
    let argument = |outcome: Result<Option<HeightfieldFrame>, BuildError>| match outcome {
        Err(BuildError::Argument(error)) => error.argument,
        other => panic!("{other:?}"),
    };
    // Nothing gathered, another row gathered, a shorter level's batch.
    let tile = (range.min_x, range.min_z);
    let mut batch = Default::default();
    assert_eq!(
        argument(soup.erode_tile(&plan, &batch, tile, &mut worker)),
        "batch"
    );
    let above = TileRange {
        min_z: range.min_z + 1,
        ..range
    };
    soup.gather(above, &mut batch);
    assert_eq!(
        argument(soup.erode_tile(&plan, &batch, tile, &mut worker)),
        "batch"
    );
    let part = SoupSource::new(&plan, &vertices, &triangles[..triangles.len() / 2]).unwrap();
    soup.gather(range, &mut batch);
    assert_eq!(
        argument(part.erode_tile(&plan, &batch, tile, &mut worker)),
        "batch"
    );
    // More than there is: the rest is left out.
    let everything = TileRange {
        min_x: i32::MIN,
        min_z: i32::MIN,
        max_x: i32::MAX,
        max_z: i32::MAX,
    };
    let reversed = TileRange {
        min_x: 5,
        max_x: -9,
        ..range
    };
    let known = soup.erode_tile(&plan, &batch, tile, &mut worker).unwrap();
    soup.gather(everything, &mut batch);
    let again = soup.erode_tile(&plan, &batch, tile, &mut worker).unwrap();
    assert_eq!(again, known);
    soup.gather(reversed, &mut batch);
    assert_eq!(
        argument(soup.erode_tile(&plan, &batch, tile, &mut worker)),
        "batch"
    );
    assert_eq!((reversed.columns(), reversed.tile(0)), (0, None));
    // A plan of other tiles: an answer of no use, or none.
    let fine = TilePlan::new(&NavSettings {
        cell_size: 1.0 / 64.0,
        ..settings()
    });
    let (far, fine) = ((range.max_x, range.max_z), fine.unwrap());
    assert_eq!(
        field.erode_tile(&fine, &(), far, &mut worker).unwrap(),
        None
    );
}

/// Thin floors over each other, from a few more than links can tell apart to as many as a tile has
/// layers: built by every partition. One more is refused.
#[test]
fn chunks_of_a_thousand_thin_floors_build() {
    let tower = |floors: u32, side: u32| {
        let height = 4 * floors;
        let column: Vec<u8> = (0..height).map(|row| u8::from(row % 4 == 0)).collect();
        let voxels = column.repeat((side * side) as usize);
        VoxelChunk::from_dense(side, side, height, &voxels).unwrap()
    };
    for partition in [
        PartitionType::Watershed,
        PartitionType::Monotone,
        PartitionType::Layers,
    ] {
        for (radius, side) in [(0.0, 5), (0.6, 32)] {
            let settings = NavSettings {
                agent_radius: radius,
                agent_height: 0.6,
                min_region_area: 0,
                tile_size: 19.25,
                partition,
                ..NavSettings::HUMANOID
            };
            for (floors, fits) in [(64, true), (286, true), (1024, true), (1025, false)] {
                let chunk = tower(floors, side);
                let built = build_chunk_with(&chunk, None, &settings, &PLAIN);
                match built {
                    Ok(mesh) => {
                        assert!(fits, "{floors} floors");
                        // What links tell apart is ground all over.
                        assert!(mesh.poly_count() >= 63, "{partition:?} {floors}");
                    }
                    Err(BuildError::Limit { what, .. }) => assert!(!fits, "{floors}: {what}"),
                    Err(other) => panic!("{floors}: {other}"),
                }
            }
        }
    }
}
