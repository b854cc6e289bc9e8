//! Off-mesh links: the polygons their ends stand on, and the links that follow from it.
//!
//! In: the tiles of a mesh and their link switches. Out: [`AttachedLinks`], from which each tile
//! takes its own without looking at those of the others.

use super::{Link, LinkKind};
use crate::mesh::data::NO_PORTAL;
use crate::mesh::poly_ref::PolyRef;
use crate::mesh::tile::{NavTile, to_world};
use crate::mesh::tiled::TiledMesh;
use crate::world::DVec3;

/// An off-mesh link both of whose ends found a polygon.
#[derive(Clone, Copy, Debug)]
struct Attached {
    /// Slot of the owner, which is also that of the start.
    slot: u32,
    index: u32,
    bidirectional: bool,
    start: PolyRef,
    end: PolyRef,
}

/// Every switched-on off-mesh link that attaches at both ends. Empty by default.
#[derive(Debug, Default)]
pub(super) struct AttachedLinks {
    /// In (owner slot, link) order.
    links: Vec<Attached>,
    /// Indices of those that lead both ways, by (slot of the end, owner slot, link).
    by_end: Vec<u32>,
}

impl AttachedLinks {
    /// Attaches all links of a mesh.
    pub(super) fn of(mesh: &TiledMesh) -> Self {
        Self::new(attach_all(mesh))
    }

    fn new(links: Vec<Attached>) -> Self {
        let mut by_end: Vec<u32> = (0..links.len() as u32)
            .filter(|&i| links[i as usize].bidirectional)
            .collect();
        // Stable: the links that end in one slot stay in (owner slot, link) order.
        by_end.sort_by_key(|&i| links[i as usize].end.slot());
        Self { links, by_end }
    }

    /// Appends the links of the tile in `slot` with their polygons: first those that start there,
    /// then those that lead back from there, both in (owner slot, link) order. Cost: two binary
    /// searches and the links found.
    pub(super) fn links_of(&self, slot: u32, links: &mut Vec<(u32, Link)>) {
        let first = self.links.partition_point(|owner| owner.slot < slot);
        let own = self.links[first..].iter();
        for owner in own.take_while(|owner| owner.slot == slot) {
            let link = owner.link(owner.end, LinkKind::OffMesh);
            links.push((owner.start.poly(), link));
        }
        let end_slot = |i: u32| self.links[i as usize].end.slot();
        let first = self.by_end.partition_point(|&i| end_slot(i) < slot);
        let back = self.by_end[first..].iter();
        for &i in back.take_while(|&&i| end_slot(i) == slot) {
            let owner = &self.links[i as usize];
            let link = owner.link(owner.start, LinkKind::OffMeshReverse);
            links.push((owner.end.poly(), link));
        }
    }
}

impl Attached {
    fn link(&self, target: PolyRef, kind: LinkKind) -> Link {
        Link {
            target,
            kind,
            edge: 255,
            side: NO_PORTAL,
            range_min: 0,
            range_max: 0,
            link_slot: self.slot,
            link_index: self.index,
        }
    }
}

fn attach_all(mesh: &TiledMesh) -> Vec<Attached> {
    let climb = f64::from(mesh.params().walkable_climb);
    let mut attached = Vec::new();
    for slot in mesh.occupied_slots() {
        let Some(tile) = mesh.tile(slot) else {
            continue;
        };
        for (index, link) in tile.data().off_mesh_links.iter().enumerate() {
            if !tile.off_mesh_enabled[index] {
                continue;
            }
            let radius = f64::from(link.radius);
            let start = to_world(tile.origin, link.start);
            let end = to_world(tile.origin, link.end);
            let from = attach(tile, start, radius, climb).map(|(_, poly)| (slot, poly));
            let (x, z) = mesh.params().world_to_tile(end.x, end.z);
            let mut best: Option<(f64, u32, u32)> = None;
            for &other in mesh.column(x, z) {
                let found = mesh.tile(other).and_then(|t| attach(t, end, radius, climb));
                if let Some((score, poly)) = found {
                    if best.is_none_or(|(least, ..)| score < least) {
                        best = Some((score, other, poly));
                    }
                }
            }
            if let (Some((from_slot, from_poly)), Some((_, to_slot, to_poly))) = (from, best) {
                attached.push(Attached {
                    slot,
                    index: index as u32,
                    bidirectional: link.bidirectional,
                    start: mesh.poly_ref(from_slot, from_poly),
                    end: mesh.poly_ref(to_slot, to_poly),
                });
            }
        }
    }
    attached
}

/// The polygon of `tile` that a link end at `point` attaches to, and its score.
fn attach(tile: &NavTile, point: DVec3, radius: f64, climb: f64) -> Option<(f64, u32)> {
    let mut best: Option<(f64, u32)> = None;
    let (low, high) = reach(point, radius, climb);
    tile.tree().visit(low, high, |poly| {
        let (low, high) = (tile.bounds_min[poly], tile.bounds_max[poly]);
        let dy = (low.y - point.y).max(point.y - high.y).max(0.0);
        if dy > climb {
            return;
        }
        let distance_sq = outline_distance_sq(tile.poly_ring(poly), point);
        if distance_sq.sqrt() > radius {
            return;
        }
        // The tree has an order of its own: ties go to the lower polygon, whichever came first.
        let score = distance_sq + dy * dy;
        let poly = poly as u32;
        if best.is_none_or(|(least, first)| score < least || (score == least && poly < first)) {
            best = Some((score, poly));
        }
    });
    best
}

/// The box in which a link end at `point` looks for polygons.
pub(super) fn reach(point: DVec3, radius: f64, climb: f64) -> (DVec3, DVec3) {
    // A hair wider than the reach, so that rounding never hides a polygon exactly on its edge.
    let reach = DVec3::new(radius, climb, radius) * (1.0 + 1e-9) + DVec3::splat(1e-9);
    (point - reach, point + reach)
}

/// Squared distance, seen from above, from a point to a convex polygon; 0 inside.
fn outline_distance_sq(ring: &[DVec3], point: DVec3) -> f64 {
    let mut inside = true;
    let mut least = f64::INFINITY;
    for (i, &a) in ring.iter().enumerate() {
        let b = ring[if i + 1 == ring.len() { 0 } else { i + 1 }];
        let (ex, ez) = (b.x - a.x, b.z - a.z);
        let (px, pz) = (point.x - a.x, point.z - a.z);
        inside &= ex * pz - ez * px >= 0.0;
        let t = ((px * ex + pz * ez) / (ex * ex + ez * ez)).clamp(0.0, 1.0);
        let (dx, dz) = (px - ex * t, pz - ez * t);
        least = least.min(dx * dx + dz * dz);
    }
    if inside { 0.0 } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;

    /// The links of a slot by looking at every attached link.
    fn scan(slot: u32, attached: &[Attached], links: &mut Vec<(u32, Link)>) {
        for owner in attached.iter().filter(|a| a.start.slot() == slot) {
            let link = owner.link(owner.end, LinkKind::OffMesh);
            links.push((owner.start.poly(), link));
        }
        for owner in attached.iter().filter(|a| a.bidirectional) {
            if owner.end.slot() == slot {
                let link = owner.link(owner.start, LinkKind::OffMeshReverse);
                links.push((owner.end.poly(), link));
            }
        }
    }

    #[test]
    fn a_slot_takes_the_links_a_scan_of_all_gives_in_the_same_order() {
        let (mut forward, mut reverse) = (0, 0);
        for seed in 0..200 {
            let mut rng = SplitMix64::new(seed);
            let slots = 1 + rng.next_below(12);
            let mut attached = Vec::new();
            for slot in 0..slots {
                // Some slots own nothing, some many links with gaps where one found no polygon.
                let owned = rng.next_below(3) * rng.next_below(15);
                for index in (0..owned)
                    .filter(|_| rng.next_below(4) > 0)
                    .collect::<Vec<_>>()
                {
                    let poly = |rng: &mut SplitMix64, slot| {
                        PolyRef::from_parts(1 + rng.next_below(3), slot, rng.next_below(5))
                    };
                    let end = rng.next_below(slots);
                    attached.push(Attached {
                        slot,
                        index,
                        bidirectional: rng.next_below(2) == 0,
                        start: poly(&mut rng, slot),
                        end: poly(&mut rng, end),
                    });
                }
            }
            let indexed = AttachedLinks::new(attached.clone());
            // Beyond the last slot too.
            for slot in 0..slots + 2 {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                indexed.links_of(slot, &mut found);
                scan(slot, &attached, &mut expected);
                assert_eq!(found, expected, "seed {seed} slot {slot}");
                let back = |link: &&(u32, Link)| link.1.kind == LinkKind::OffMeshReverse;
                reverse += found.iter().filter(back).count();
                forward += found.len() - found.iter().filter(back).count();
            }
        }
        assert!(forward > 3000 && reverse > 1500, "{forward} {reverse}");
    }
}
