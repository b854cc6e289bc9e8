//! The span stage as one call: triangles in, eroded open spans with their graph out.
//!
//! Runs rasterization, the three filters, compaction, erosion and area volumes in that order. Each
//! step is also a public function of its own module; this file only holds their settings and order.

use super::compact::{LinkScratch, compact};
use super::erode::{ErodeScratch, MAX_RADIUS, erode_walkable_area};
use super::filter::{
    LedgeScratch, filter_ledge_spans, filter_low_hanging_obstacles, filter_low_height_spans,
};
use super::frame::{HeightfieldFrame, MAX_ROWS};
use super::rasterize::{RasterizeStats, rasterize};
use super::volumes::ConvexVolume;
use super::window::Window;
use throng_soa::error::ArgumentError;
use throng_soa::spans::{
    MAX_COLUMN_SPANS, MAX_SPANS, OpenSpans, SolidSpans, SpanColumns, SpanGraph,
};
use throng_soa::world::DVec3;

/// What an agent needs, in cells and rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpanSettings {
    /// Cosine of the steepest slope an agent walks.
    pub slope_cosine: f32,
    /// Headroom in rows; 1 to 65535.
    pub walkable_height: i32,
    /// Largest step in rows; 0 to 65535.
    pub walkable_climb: i32,
    /// Radius in cells; 0 to 2^20, 0 leaves the walkable area as it is.
    pub walkable_radius: i32,
    /// Largest difference in rows at which joined spans share the larger area id; 0 to 65535.
    pub merge_threshold: i32,
}

impl SpanSettings {
    /// A person at cell size 0.3 and cell height 0.2: 2.0 tall, 0.8 step, 0.6 radius, 45 degrees.
    pub const HUMANOID: Self = Self {
        slope_cosine: 0.707_106_77,
        walkable_height: 10,
        walkable_climb: 4,
        walkable_radius: 2,
        merge_threshold: 4,
    };

    /// Checks every field.
    ///
    /// # Errors
    /// Names the first field out of range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        if !(-1.0..=1.0).contains(&self.slope_cosine) {
            return Err(ArgumentError::new(
                "slope_cosine",
                self.slope_cosine,
                "between -1 and 1",
            ));
        }
        let rows = MAX_ROWS as i32;
        for (name, value, low, high) in [
            ("walkable_height", self.walkable_height, 1, rows),
            ("walkable_climb", self.walkable_climb, 0, rows),
            ("walkable_radius", self.walkable_radius, 0, MAX_RADIUS),
            ("merge_threshold", self.merge_threshold, 0, rows),
        ] {
            if !(low..=high).contains(&value) {
                return Err(ArgumentError::new(name, value, format!("{low} to {high}")));
            }
        }
        Ok(())
    }
}

impl Default for SpanSettings {
    fn default() -> Self {
        Self::HUMANOID
    }
}

/// Working memory of the span stage; one per worker, reused from tile to tile.
#[derive(Clone, Debug, Default)]
pub struct SpanScratch {
    /// Columns under construction.
    pub columns: SpanColumns,
    /// The packed solid spans.
    pub solid: SolidSpans,
    /// Columns laid out for the ledge filter.
    pub ledges: LedgeScratch,
    /// Columns laid out for the links of compaction.
    pub links: LinkScratch,
    /// Distances of the erosion.
    pub erode: ErodeScratch,
    /// Columns of a grid that is mostly empty, being put back.
    pub(super) columns_spare: Vec<u32>,
}

/// Builds the open spans and the span graph of one grid from triangles.
///
/// `areas` holds one id per triangle ([`super::rasterize::classify_triangles`] makes them from
/// slopes). `volumes` are applied in order after erosion, later ones over earlier ones.
///
/// # Errors
/// When a setting is out of range, or for the reasons of [`rasterize`]. `spans` and `graph` are
/// unspecified then.
pub fn build_open_spans(
    frame: &HeightfieldFrame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    areas: &[u8],
    volumes: &[ConvexVolume],
    settings: &SpanSettings,
    scratch: &mut SpanScratch,
    spans: &mut OpenSpans,
    graph: &mut SpanGraph,
) -> Result<RasterizeStats, ArgumentError> {
    settings.validate()?;
    frame.validate_grid()?;
    scratch.columns.reset(frame.width, frame.depth);
    let threshold = settings.merge_threshold;
    let columns = &mut scratch.columns;
    let stats = rasterize(frame, vertices, triangles, areas, threshold, columns)?;
    finish_open_spans(frame, volumes, settings, scratch, spans, graph)?;
    Ok(stats)
}

/// The rest of the span stage for matter already added to `scratch.columns` by any means.
///
/// # Errors
/// When a setting is out of range.
pub fn finish_open_spans(
    frame: &HeightfieldFrame,
    volumes: &[ConvexVolume],
    settings: &SpanSettings,
    scratch: &mut SpanScratch,
    spans: &mut OpenSpans,
    graph: &mut SpanGraph,
) -> Result<(), ArgumentError> {
    settings.validate()?;
    if scratch.columns.overfull() {
        return Err(ArgumentError::new(
            "triangles",
            "a pile of too many floors",
            format!(
                "at most {MAX_COLUMN_SPANS} solid spans over each other, {MAX_SPANS} in a tile"
            ),
        ));
    }
    scratch.columns.pack(&mut scratch.solid);
    // Of a grid with little on it only that little is worked on, to the same spans.
    let window = Window::of(&scratch.solid);
    open_packed(window, settings, scratch, spans, graph)?;
    for volume in volumes {
        volume.apply(frame, spans);
    }
    Ok(())
}

/// The stages from the packed solid spans to the eroded open ones, on a window of the grid or all of
/// it: the same in either case.
fn open_packed(
    window: Option<Window>,
    settings: &SpanSettings,
    scratch: &mut SpanScratch,
    spans: &mut OpenSpans,
    graph: &mut SpanGraph,
) -> Result<(), ArgumentError> {
    let solid = &mut scratch.solid;
    if let Some(window) = window {
        window.cut(solid);
    }
    filter_low_hanging_obstacles(solid, settings.walkable_climb);
    filter_ledge_spans(
        solid,
        settings.walkable_height,
        settings.walkable_climb,
        &mut scratch.ledges,
    );
    filter_low_height_spans(solid, settings.walkable_height);
    compact(
        solid,
        settings.walkable_height,
        settings.walkable_climb,
        spans,
        &mut scratch.links,
    );
    graph.rebuild(spans);
    erode_walkable_area(spans, graph, settings.walkable_radius, &mut scratch.erode)?;
    if let Some(window) = window {
        window.put_back(spans, graph, &mut scratch.columns_spare);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_soa::rng::SplitMix64;

    /// A grid with a few piles of spans on a patch of it, packed.
    fn patch(rng: &mut SplitMix64, columns: &mut SpanColumns, solid: &mut SolidSpans) {
        let [width, depth] = [0; 2].map(|_| 1 + rng.next_below(20));
        columns.reset(width, depth);
        let place = |rng: &mut SplitMix64, side: u32| {
            let from = rng.next_below(side);
            (from, 1 + rng.next_below(side - from))
        };
        let ((x, wide), (z, deep)) = (place(rng, width), place(rng, depth));
        let (has_second, second) = (rng.next_below(2) == 0, rng.next_below(5) as u16);
        for cell in 0..wide * deep {
            let column = (x + cell % wide + (z + cell / wide) * width) as usize;
            if rng.next_below(16) > 0 {
                columns.add(column, 0, 1 + rng.next_below(2) as u16, 63, 1);
            }
            // A second floor over most of it, in places just above the first.
            if has_second && rng.next_below(12) > 0 {
                let low = 4 + second + rng.next_below(2) as u16;
                let area = if rng.next_below(12) == 0 { 0 } else { 63 };
                columns.add(column, low, low + 1, area, 1);
            }
        }
        columns.pack(solid);
    }

    #[test]
    fn a_window_changes_no_span() {
        let mut rng = SplitMix64::new(8);
        let mut scratch = [SpanScratch::default(), SpanScratch::default()];
        let mut spans = [OpenSpans::default(), OpenSpans::default()];
        let mut graph = [SpanGraph::default(), SpanGraph::default()];
        let (mut cut, mut standing, mut stacked) = (0, 0, 0);
        for round in 0..20_000 {
            let settings = SpanSettings {
                walkable_height: 2 + rng.next_below(4) as i32,
                walkable_climb: rng.next_below(4) as i32,
                walkable_radius: rng.next_below(3) as i32,
                ..SpanSettings::HUMANOID
            };
            let SpanScratch { columns, solid, .. } = &mut scratch[0];
            patch(&mut rng, columns, solid);
            let packed = solid.clone();
            scratch[1].solid = packed;
            let window = Window::of(&scratch[0].solid);
            cut += u32::from(window.is_some());
            for (which, window) in [None, window].into_iter().enumerate() {
                let (scratch, spans) = (&mut scratch[which], &mut spans[which]);
                open_packed(window, &settings, scratch, spans, &mut graph[which]).unwrap();
            }
            assert_eq!(spans[0], spans[1], "round {round}");
            assert_eq!(graph[0], graph[1], "round {round}");
            if window.is_some() {
                standing += spans[0].area.iter().filter(|&&area| area != 0).count();
                stacked += graph[0].stacked.len();
            }
        }
        assert!(
            cut > 8000 && standing > 2000 && stacked > 2000,
            "{cut} {standing} {stacked}"
        );
    }
}
