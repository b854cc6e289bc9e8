//! Searches of the polygon node model against the model written down plainly, to the bit.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed unwrap is a failed test"
)]

mod common;

use common::{build, plans, priced, random_place};
use throng_query::mesh::{Filter, NodeModel, PathSearch, QueryFilter, QueryStatus};
use throng_soa::DVec3;
use throng_soa::mesh::{LinkKind, PolyRef, TiledMesh};
use throng_soa::rng::SplitMix64;
use throng_soa::world::distance3;

/// A node of the plain polygon search below.
struct PlainNode {
    poly: PolyRef,
    at: DVec3,
    cost: f64,
    total: f64,
    parent: Option<usize>,
    closed: bool,
}

/// The polygon node model written down plainly: lists searched from end to end, nothing skipped.
fn plain_polygon_search(
    mesh: &TiledMesh,
    (start_poly, start): (PolyRef, DVec3),
    (end_poly, end): (PolyRef, DVec3),
    filter: &QueryFilter,
) -> (QueryStatus, u64, u64, Vec<PolyRef>) {
    let estimate = |p: DVec3| filter.min_area_cost() * distance3(p, end);
    let mut nodes = vec![PlainNode {
        poly: start_poly,
        at: start,
        cost: 0.0,
        total: estimate(start),
        parent: None,
        closed: false,
    }];
    // (key, sequence, node); node usize::MAX is the end.
    let mut open = vec![(nodes[0].total, 0_u32, 0_usize)];
    let mut sequence = 1;
    let mut terminal: Option<(f64, usize)> = None;
    let mut nearest = (f64::INFINITY, 0);
    let mut iterations = 0;
    let chain = |nodes: &[PlainNode], mut at: usize| {
        let mut out = vec![nodes[at].poly];
        while let Some(parent) = nodes[at].parent {
            out.push(nodes[parent].poly);
            at = parent;
        }
        out.reverse();
        out
    };
    loop {
        let least = (0..open.len()).min_by(|&a, &b| {
            let (a, b) = (open[a], open[b]);
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        let Some(least) = least else {
            let last = nearest.1;
            let cost = nodes[last].cost.to_bits();
            return (QueryStatus::Partial, cost, iterations, chain(&nodes, last));
        };
        let (_, _, number) = open.swap_remove(least);
        if number == usize::MAX {
            let (cost, parent) = terminal.unwrap();
            let corridor = chain(&nodes, parent);
            return (QueryStatus::Success, cost.to_bits(), iterations, corridor);
        }
        if nodes[number].closed {
            continue;
        }
        nodes[number].closed = true;
        iterations += 1;
        let (poly, at, cost) = (nodes[number].poly, nodes[number].at, nodes[number].cost);
        let d = at - end;
        let distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
        if distance_sq < nearest.0 {
            nearest = (distance_sq, number);
        }
        let (tile, index) = mesh.resolve(poly).unwrap();
        let travel = filter.area_cost(tile.poly_area[index]);
        if poly == end_poly {
            let whole = cost + distance3(at, end) * travel;
            if terminal.is_none_or(|(known, _)| whole < known) {
                terminal = Some((whole, number));
                open.push((whole, sequence, usize::MAX));
                sequence += 1;
            }
        }
        let came_from = nodes[number].parent.map(|parent| nodes[parent].poly);
        for (target, near, entry, extra) in plain_exits(mesh, poly, at, end, filter) {
            if Some(target) == came_from {
                continue;
            }
            let new_cost = cost + distance3(at, near) * travel + extra;
            let total = new_cost + estimate(entry);
            match nodes.iter().position(|node| node.poly == target) {
                Some(known) if total < nodes[known].total => {
                    let node = &mut nodes[known];
                    (node.at, node.cost, node.total) = (entry, new_cost, total);
                    (node.parent, node.closed) = (Some(number), false);
                    open.push((total, sequence, known));
                    sequence += 1;
                }
                Some(_) => {}
                None => {
                    nodes.push(PlainNode {
                        poly: target,
                        at: entry,
                        cost: new_cost,
                        total,
                        parent: Some(number),
                        closed: false,
                    });
                    open.push((total, sequence, nodes.len() - 1));
                    sequence += 1;
                }
            }
        }
    }
}

/// Target, end of the leg, entry point and extra cost of every way out, aimed at `end`.
fn plain_exits(
    mesh: &TiledMesh,
    poly: PolyRef,
    from: DVec3,
    end: DVec3,
    filter: &QueryFilter,
) -> Vec<(PolyRef, DVec3, DVec3, f64)> {
    let (tile, index) = mesh.resolve(poly).unwrap();
    let ring = tile.poly_ring(index);
    let aim = |edge: usize, low: f64, high: f64, parallel: f64| {
        let (a, b) = (ring[edge], ring[(edge + 1) % ring.len()]);
        let cross = |u: DVec3, v: DVec3| u.x * v.z - u.z * v.x;
        let across = cross(b - a, end - from);
        let s = if across == 0.0 {
            parallel
        } else {
            (cross(from - a, end - from) / across).clamp(low, high)
        };
        DVec3::new(
            a.x + s * (b.x - a.x),
            a.y + s * (b.y - a.y),
            a.z + s * (b.z - a.z),
        )
    };
    let mut out = Vec::new();
    for (edge, &neighbor) in tile.data().edge_neighbors[tile.poly_edges(index)]
        .iter()
        .enumerate()
    {
        if neighbor > 0 {
            let entry = aim(edge, 0.0, 1.0, 0.5);
            let target = mesh.poly_ref(poly.slot(), (neighbor - 1) as u32);
            out.push((target, entry, entry, 0.0));
        }
    }
    for link in tile.poly_links(index) {
        let (low, high) = (f64::from(link.range_min), f64::from(link.range_max));
        if link.kind == LinkKind::Portal {
            let edge = usize::from(link.edge);
            let entry = aim(edge, low / 255.0, high / 255.0, (low + high) / 510.0);
            out.push((link.target, entry, entry, 0.0));
            continue;
        }
        let ends = mesh.off_mesh_link(link.link_slot, link.link_index).unwrap();
        let (near, far) = if link.kind == LinkKind::OffMesh {
            (ends.start, ends.end)
        } else {
            (ends.end, ends.start)
        };
        let cost = distance3(ends.start, ends.end) * filter.area_cost(ends.area);
        if filter.passes(ends.flags, ends.area) {
            out.push((link.target, near, far, cost));
        }
    }
    out.retain(|&(target, ..)| {
        let (tile, index) = mesh.resolve(target).unwrap();
        filter.passes(tile.poly_flags[index], tile.poly_area[index])
    });
    out
}

#[test]
fn polygon_searches_equal_the_plain_search_bit_for_bit() {
    let mut checked = 0;
    for plan in plans() {
        let mesh = build(&plan);
        let mut rng = SplitMix64::new(plan.seed ^ 31);
        let mut search = PathSearch::new(NodeModel::Polygon, 65_536);
        let mut masked = priced();
        masked.exclude_flags = 0b100;
        for filter in [QueryFilter::default(), priced(), masked] {
            for _ in 0..25 {
                let (from, to) = (random_place(&mesh, &mut rng), random_place(&mesh, &mut rng));
                let mut out = [PolyRef::INVALID; 1024];
                let outcome = search
                    .find_path(&mesh, from.0, to.0, from.1, to.1, &filter, &mut out)
                    .unwrap();
                if outcome.status > QueryStatus::InProgress {
                    continue;
                }
                checked += 1;
                let found = (
                    outcome.status,
                    outcome.cost.to_bits(),
                    outcome.iterations,
                    out[..outcome.count].to_vec(),
                );
                assert_eq!(found, plain_polygon_search(&mesh, from, to, &filter));
            }
        }
    }
    assert!(checked > 500);
}
