//! Erosion: taking away the standing room an agent's radius does not allow.
//!
//! In: open spans, their graph, a radius in cells. Out: area 0 on every span nearer to a boundary
//! than the radius. Follows Recast's erosion (Mononen, 2009). Departure: the distance is the exact
//! shortest path over the links, not a two-pass estimate.

use super::chamfer::chamfer_distance;
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NULL_AREA, OpenSpans, SpanGraph};

/// Largest radius, in cells.
pub const MAX_RADIUS: i32 = 1 << 20;

/// Working memory of [`erode_walkable_area`], reused between calls.
#[derive(Clone, Debug, Default)]
pub struct ErodeScratch {
    distance: Vec<u32>,
    links: Vec<[u32; 4]>,
}

/// Sets the area of every span with a distance below `2 * radius` to 0.
///
/// Distances follow the links as stored, one-way ones included. `graph` must be the graph of
/// `spans`. Radius 0 changes nothing. Cost: two passes over the spans, a few more where floors
/// overlap in unusual ways.
///
/// # Errors
/// When the radius is negative or above 2^20 cells.
pub fn erode_walkable_area(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    radius: i32,
    scratch: &mut ErodeScratch,
) -> Result<(), ArgumentError> {
    if !(0..=MAX_RADIUS).contains(&radius) {
        return Err(ArgumentError::new("radius", radius, "0 to 1048576 cells"));
    }
    if radius == 0 {
        return Ok(());
    }
    let ErodeScratch { distance, links } = scratch;
    if graph.one_way {
        links.clear();
        links.extend(graph.cell.iter().enumerate().map(|(span, &cell)| {
            core::array::from_fn(|direction| spans.link_target(cell as usize, span, direction))
        }));
        chamfer_distance(links, &spans.area, false, distance);
    } else {
        chamfer_distance(&graph.neighbor, &spans.area, graph.steps_commute, distance);
    }
    let limit = 2 * radius as u32;
    for (area, &distance) in spans.area.iter_mut().zip(distance.iter()) {
        if distance < limit {
            *area = NULL_AREA;
        }
    }
    Ok(())
}
