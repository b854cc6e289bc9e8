//! What attaching the off-mesh links of a mesh takes, counted before it is done.
//!
//! A link end looks through the trees of the tiles it may stand on. Where an end finds polygons is
//! the content's choice, so a few hostile bytes could ask for the product of all links and all
//! polygons, at every edit anew. [`LinkEnds`] keeps the exact number of steps for the tiles of a
//! mesh; an edit that would take it over the limit is refused before it changes anything.

use std::collections::BTreeSet;

use super::off_mesh::reach;
use crate::mesh::params::MeshParams;
use crate::mesh::tile::{NavTile, to_world};
use crate::mesh::tiled::TiledMesh;
use crate::world::DVec3;

/// Most steps that attaching all off-mesh links of a mesh may take: tree nodes and polygons looked
/// at, plus one per tile. A few seconds' work at worst. An end on ordinary ground takes some dozens,
/// so there is room for a million links.
const MOST_STEPS: usize = 1 << 27;

/// The off-mesh links of a mesh, switched on or off, by where they end.
#[derive(Clone, Debug, Default)]
pub(in crate::mesh) struct LinkEnds {
    /// Column x and z of the end, owner slot, link index.
    ends: BTreeSet<(i32, i32, u32, u32)>,
    /// Steps that attaching all of them takes.
    steps: usize,
}

impl LinkEnds {
    /// Whether there are no links.
    pub(in crate::mesh) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The links that end in a tile column: owner slot and link index, ascending.
    pub(in crate::mesh) fn ending_in(
        &self,
        x: i32,
        z: i32,
    ) -> impl Iterator<Item = (u32, u32)> + '_ {
        let column = (x, z, 0, 0)..=(x, z, u32::MAX, u32::MAX);
        let ends = self.ends.range(column);
        ends.map(|&(.., owner, index)| (owner, index))
    }

    /// Enters the links of the tile that goes into `slot`; `steps` is what [`steps_with`] gave.
    pub(in crate::mesh) fn enter(
        &mut self,
        params: &MeshParams,
        slot: u32,
        tile: &NavTile,
        steps: usize,
    ) {
        self.ends.extend(end_columns(params, slot, tile));
        self.steps = steps;
    }

    /// Takes out the links of the tile that leaves `slot`; `steps` is what [`steps_without`] gave.
    pub(in crate::mesh) fn leave(
        &mut self,
        params: &MeshParams,
        slot: u32,
        tile: &NavTile,
        steps: usize,
    ) {
        for end in end_columns(params, slot, tile) {
            self.ends.remove(&end);
        }
        self.steps = steps;
    }
}

fn end_columns<'a>(
    params: &'a MeshParams,
    slot: u32,
    tile: &'a NavTile,
) -> impl Iterator<Item = (i32, i32, u32, u32)> + 'a {
    let links = tile.data().off_mesh_links.iter().enumerate();
    links.map(move |(index, link)| {
        let end = to_world(tile.origin, link.end);
        let (x, z) = params.world_to_tile(end.x, end.z);
        (x, z, slot, index as u32)
    })
}

/// Steps of the mesh with `tile` added, in place of the tile in slot `replaced` if there is one;
/// `None` beyond the limit. Cost: the steps that `tile` has a part in.
pub(in crate::mesh) fn steps_with(
    mesh: &TiledMesh,
    tile: &NavTile,
    replaced: Option<u32>,
) -> Option<usize> {
    let kept = match replaced {
        None => mesh.link_ends().steps,
        Some(slot) => steps_without(mesh, slot),
    };
    let added = steps_of(mesh, tile, replaced, MOST_STEPS.saturating_sub(kept))?;
    Some(kept + added)
}

/// Steps of the mesh without the tile in `slot`.
pub(in crate::mesh) fn steps_without(mesh: &TiledMesh, slot: u32) -> usize {
    let all = mesh.link_ends().steps;
    let part = mesh.tile(slot);
    let part = part.and_then(|tile| steps_of(mesh, tile, Some(slot), all));
    all - part.unwrap_or(0)
}

/// The steps that `tile` adds to the mesh without the tile in `slot`: those of its own links, and
/// those of other tiles' links that end in its column. `None` beyond `most`.
fn steps_of(mesh: &TiledMesh, tile: &NavTile, slot: Option<u32>, most: usize) -> Option<usize> {
    let params = mesh.params();
    let climb = f64::from(params.walkable_climb);
    let mut steps = 0;
    let mut look = |through: &NavTile, point: DVec3, radius: f64| {
        steps += steps_at(through, point, radius, climb);
        (steps <= most).then_some(())
    };
    let own = (tile.data().tile_x, tile.data().tile_z);
    for link in &tile.data().off_mesh_links {
        let radius = f64::from(link.radius);
        look(tile, to_world(tile.origin, link.start), radius)?;
        let end = to_world(tile.origin, link.end);
        let (x, z) = params.world_to_tile(end.x, end.z);
        if (x, z) == own {
            look(tile, end, radius)?;
        }
        for &other in mesh.column(x, z).iter().filter(|&&s| Some(s) != slot) {
            if let Some(other) = mesh.tile(other) {
                look(other, end, radius)?;
            }
        }
    }
    let (x, z) = own;
    for (owner, index) in mesh.link_ends().ending_in(x, z) {
        let Some(owner) = mesh.tile(owner).filter(|_| Some(owner) != slot) else {
            continue;
        };
        if let Some(link) = owner.data().off_mesh_links.get(index as usize) {
            let end = to_world(owner.origin, link.end);
            look(tile, end, f64::from(link.radius))?;
        }
    }
    Some(steps)
}

/// One, and the tree nodes and polygons a link end at `point` looks at in `tile`. The nodes count
/// too: a tree can be made to have many that meet a box none of their polygons is near.
fn steps_at(tile: &NavTile, point: DVec3, radius: f64, climb: f64) -> usize {
    let (low, high) = reach(point, radius, climb);
    let nodes = &tile.tree().nodes;
    let (mut steps, mut at) = (1, 0);
    while let Some(node) = nodes.get(at) {
        let meets = node.min.cmple(high).all() && node.max.cmpge(low).all();
        steps += 1;
        if meets && node.count == 0 {
            at += 1;
            continue;
        }
        if meets {
            steps += node.count as usize;
        }
        at = node.skip as usize;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::data::{DetailMesh, OffMeshLink, TileData};
    use crate::mesh::params::tests::params as any_params;
    use crate::rng::SplitMix64;

    fn params() -> MeshParams {
        MeshParams {
            tile_size: 8.0,
            cell_size: 0.25,
            walkable_climb: 0.5,
            ..any_params()
        }
    }

    /// Up to 40 quads anywhere in the tile and up to six links to anywhere around it.
    fn tile(rng: &mut SplitMix64, x: i32, z: i32, layer: i32) -> NavTile {
        let mut data = TileData {
            tile_x: x,
            tile_z: z,
            layer,
            ..TileData::default()
        };
        for _ in 0..rng.next_below(41) {
            let first = data.vertices.len() as u16;
            let (x, z) = (rng.range(0.0, 7.0) as f32, rng.range(0.0, 7.0) as f32);
            let y = rng.range(0.0, 2.0) as f32;
            let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
            data.vertices
                .extend(corners.map(|(i, k)| [x + i, y, z + k]));
            data.poly_indices.extend(first..first + 4);
            data.poly_vertex_counts.push(4);
            data.edge_neighbors.extend([0; 4]);
            data.edge_portal_sides.extend([255; 4]);
            data.poly_areas.push(0);
            data.poly_flags.push(1);
            data.detail_meshes.push(DetailMesh::default());
        }
        for user_id in 0..rng.next_below(7) {
            let mut point = || {
                let (x, z) = (rng.range(-8.0, 16.0) as f32, rng.range(-8.0, 16.0) as f32);
                [x, rng.range(0.0, 2.0) as f32, z]
            };
            data.off_mesh_links.push(OffMeshLink {
                start: point(),
                end: point(),
                radius: rng.range(0.1, 4.0) as f32,
                area: 0,
                flags: 1,
                bidirectional: true,
                user_id,
            });
        }
        NavTile::create(data, &params()).unwrap()
    }

    /// Steps and ends by looking at every pair of a link and a tile.
    fn plain(mesh: &TiledMesh) -> LinkEnds {
        let climb = f64::from(params().walkable_climb);
        let mut all = LinkEnds::default();
        for (slot, owner) in mesh.tiles() {
            for (index, link) in owner.data().off_mesh_links.iter().enumerate() {
                let radius = f64::from(link.radius);
                let start = to_world(owner.origin, link.start);
                all.steps += steps_at(owner, start, radius, climb);
                let end = to_world(owner.origin, link.end);
                let (x, z) = params().world_to_tile(end.x, end.z);
                all.ends.insert((x, z, slot, index as u32));
                for (_, tile) in mesh.tiles() {
                    if (tile.data().tile_x, tile.data().tile_z) == (x, z) {
                        all.steps += steps_at(tile, end, radius, climb);
                    }
                }
            }
        }
        all
    }

    #[test]
    fn the_count_is_exact_after_any_edits() {
        let mut most = 0;
        for seed in 0..20 {
            let mut rng = SplitMix64::new(seed);
            let mut mesh = TiledMesh::new(params()).unwrap();
            for _ in 0..60 {
                let mut below = |n| rng.next_below(n) as i32;
                let (x, z, layer) = (below(3), below(3), below(3));
                let tile = tile(&mut rng, x, z, layer);
                match mesh.tile_slot_at(x, z, layer) {
                    None => drop(mesh.add_tile(tile).unwrap()),
                    Some(_) if rng.next_below(2) == 0 => drop(mesh.replace_tile(tile).unwrap()),
                    Some(slot) => mesh.remove_tile(mesh.tile_ref(slot).unwrap()).unwrap(),
                }
                let expected = plain(&mesh);
                assert_eq!(mesh.link_ends().steps, expected.steps);
                assert_eq!(mesh.link_ends().ends, expected.ends);
                most = most.max(expected.steps);
            }
            // A reader counts the same.
            let bytes = crate::mesh::format::mesh_bytes(&mesh);
            let read = crate::mesh::format::read_mesh(&bytes).unwrap();
            assert_eq!(read.link_ends().steps, mesh.link_ends().steps);
            assert_eq!(read.link_ends().ends, mesh.link_ends().ends);
            let slots: Vec<u32> = mesh.occupied_slots().collect();
            for slot in slots {
                mesh.remove_tile(mesh.tile_ref(slot).unwrap()).unwrap();
            }
            assert!(mesh.link_ends().is_empty() && mesh.link_ends().steps == 0);
        }
        assert!(most > 2000, "{most}");
    }

    #[test]
    fn counting_stops_at_the_limit_and_not_before() {
        let mut rng = SplitMix64::new(5);
        let mut mesh = TiledMesh::new(params()).unwrap();
        for i in 0..8 {
            mesh.add_tile(tile(&mut rng, i % 3, i / 3, 0)).unwrap();
        }
        let mut checked = 0;
        for _ in 0..30 {
            let added = tile(&mut rng, 2, 2, 0);
            let before = mesh.link_ends().steps;
            let steps = steps_of(&mesh, &added, None, usize::MAX).unwrap();
            assert_eq!(steps_of(&mesh, &added, None, steps), Some(steps));
            if steps > 0 {
                assert_eq!(steps_of(&mesh, &added, None, steps - 1), None);
                checked += 1;
            }
            assert_eq!(steps_with(&mesh, &added, None), Some(before + steps));
        }
        assert!(checked > 20);
    }

    #[test]
    fn the_count_covers_what_attaching_looks_at() {
        let mut rng = SplitMix64::new(11);
        let mut visited = 0;
        for _ in 0..300 {
            let tile = tile(&mut rng, 0, 0, 0);
            let (x, z) = (rng.range(0.0, 8.0), rng.range(0.0, 8.0));
            let point = DVec3::new(x, rng.range(0.0, 2.0), z);
            let radius = rng.range(0.1, 4.0);
            let mut polys = 0;
            let (low, high) = reach(point, radius, 0.5);
            tile.tree().visit(low, high, |_| polys += 1);
            let steps = steps_at(&tile, point, radius, 0.5);
            assert!((1 + polys..=1 + polys + tile.tree().nodes.len()).contains(&steps));
            visited += polys;
        }
        assert!(visited > 1000);
    }
}
