//! Monotone partition: regions with at most one run of cells in each row.
//!
//! In: open spans, graph. Out: filtered region ids. One sweep over the rows, as in Recast's
//! monotone partition (Mononen, 2009). Departure: a run never crosses an area border, and a run
//! that could continue a region does so only when it sees no other region behind it and no other
//! run of its row sees that region.

use super::filter::{FilterScratch, filter_regions};
use super::{RegionSettings, check_graph};
use throng_soa::error::ArgumentError;
use throng_soa::spans::{NO_SPAN, NULL_AREA, OpenSpans, SpanGraph};

/// Working memory of [`build_monotone`].
#[derive(Clone, Debug, Default)]
pub struct MonotoneScratch {
    sweeps: Vec<Sweep>,
    touches: Vec<Touch>,
}

/// A run of linked spans of one area within a row.
#[derive(Clone, Copy, Debug)]
struct Sweep {
    /// The one region seen in the row before; 0 none yet, [`SEVERAL`] more than one.
    behind: u32,
    region: u32,
}

/// Which sweeps of the current row see a region.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    row: u32,
    sweep: u32,
    several: bool,
}

const SEVERAL: u32 = u32::MAX;

/// Partitions the walkable spans into monotone regions, then filters. Cost: one pass, linear.
///
/// # Errors
/// When `graph` is not of the size of `spans`.
pub fn build_monotone(
    spans: &mut OpenSpans,
    graph: &SpanGraph,
    settings: &RegionSettings,
    scratch: &mut MonotoneScratch,
    filter: &mut FilterScratch,
) -> Result<(), ArgumentError> {
    check_graph(spans, graph)?;
    sweep_rows(spans, graph, scratch);
    filter_regions(spans, graph, settings, true, filter)
}

/// The partition without its filter: region ids in order of creation.
pub(super) fn sweep_rows(spans: &mut OpenSpans, graph: &SpanGraph, scratch: &mut MonotoneScratch) {
    let MonotoneScratch { sweeps, touches } = scratch;
    let OpenSpans {
        width,
        depth,
        cell_first,
        area,
        region,
        region_count,
        ..
    } = spans;
    region.fill(0);
    touches.clear();
    touches.push(Touch::default());
    let mut count = 0;
    for z in 0..*depth {
        let first = cell_first[(z * *width) as usize] as usize;
        let end = cell_first[((z + 1) * *width) as usize] as usize;
        // While a row is swept its spans hold 1 + their sweep's number.
        sweeps.clear();
        for span in first..end {
            if area[span] == NULL_AREA {
                continue;
            }
            let [before, _, _, behind] = graph.neighbor[span];
            let continued = before != NO_SPAN && area[before as usize] == area[span];
            if continued {
                region[span] = region[before as usize];
            } else {
                sweeps.push(Sweep {
                    behind: 0,
                    region: 0,
                });
                region[span] = sweeps.len() as u32;
            }
            if behind == NO_SPAN || area[behind as usize] != area[span] {
                continue;
            }
            let seen = region[behind as usize];
            if seen == 0 {
                continue;
            }
            let number = region[span];
            let sweep = &mut sweeps[number as usize - 1];
            if sweep.behind == 0 {
                sweep.behind = seen;
            } else if sweep.behind != seen {
                sweep.behind = SEVERAL;
            }
            let touch = &mut touches[seen as usize];
            if touch.row != z + 1 {
                *touch = Touch {
                    row: z + 1,
                    sweep: number,
                    several: false,
                };
            } else if touch.sweep != number {
                touch.several = true;
            }
        }
        for sweep in sweeps.iter_mut() {
            let seen = sweep.behind;
            if seen != 0 && seen != SEVERAL && !touches[seen as usize].several {
                sweep.region = seen;
            } else {
                count += 1;
                touches.push(Touch::default());
                sweep.region = count;
            }
        }
        for region in &mut region[first..end] {
            if *region != 0 {
                *region = sweeps[*region as usize - 1].region;
            }
        }
    }
    *region_count = count;
}
