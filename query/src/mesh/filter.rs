//! Filters: which polygons and off-mesh links a query may use, and what travel over them costs.
//!
//! In: the run-time flags (16 bits) and area (0 to 63) of a polygon or link. Out: a yes or no and
//! a cost multiplier. Queries are generic over [`Filter`], so a caller's own rule is one trait
//! implementation and costs no virtual call in a search.

use throng_soa::ArgumentError;

/// Number of areas a mesh can tell apart (ids 0 to 63).
pub const AREA_COUNT: usize = 64;

/// Decides what a query may walk on and prices it.
///
/// A sliced search must see the same answers in every call; a filter is a value, not a process.
pub trait Filter: Sync {
    /// Whether a polygon or off-mesh link with these flags and this area may be used.
    fn passes(&self, flags: u16, area: u8) -> bool;

    /// Multiplier on the length of travel through `area`; above 0. An infinite, negative or NaN
    /// answer closes the area to path searches.
    fn area_cost(&self, area: u8) -> f64;

    /// A number no larger than the smallest [`area_cost`](Self::area_cost) of any area. It scales
    /// the search heuristic: too large and paths stop being cheapest, 0 turns the heuristic off.
    fn min_area_cost(&self) -> f64;
}

/// The filter that accepts everything at cost 1: `QueryFilter::default()` without its tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefaultFilter;

impl Filter for DefaultFilter {
    #[inline]
    fn passes(&self, _flags: u16, _area: u8) -> bool {
        true
    }

    #[inline]
    fn area_cost(&self, _area: u8) -> f64 {
        1.0
    }

    #[inline]
    fn min_area_cost(&self) -> f64 {
        1.0
    }
}

/// Flag masks plus one multiplier per area.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryFilter {
    /// At least one of these flag bits must be set. The default, 0xFFFF, also accepts polygons
    /// without any flag.
    pub include_flags: u16,
    /// No bit of these may be set (default 0).
    pub exclude_flags: u16,
    costs: [f64; AREA_COUNT],
    min_cost: f64,
}

impl Default for QueryFilter {
    fn default() -> Self {
        Self {
            include_flags: u16::MAX,
            exclude_flags: 0,
            costs: [1.0; AREA_COUNT],
            min_cost: 1.0,
        }
    }
}

impl QueryFilter {
    /// The same filter that accepts polygons with at least one of the flag bits `include` (0xFFFF
    /// accepts everything) and none of the bits `exclude`.
    #[must_use]
    pub fn with_flags(mut self, include: u16, exclude: u16) -> Self {
        self.include_flags = include;
        self.exclude_flags = exclude;
        self
    }

    /// The same filter with `area` priced at `cost` per unit of length; `f64::INFINITY` forbids it.
    ///
    /// # Errors
    /// `area` above 63, or a cost that is NaN or not above 0.
    pub fn with_area_cost(mut self, area: u8, cost: f64) -> Result<Self, ArgumentError> {
        let Some(slot) = self.costs.get_mut(usize::from(area)) else {
            return Err(ArgumentError::new("area", area, "0 to 63"));
        };
        if cost.is_nan() || cost <= 0.0 {
            return Err(ArgumentError::new(
                "cost",
                cost,
                "above 0 (infinity forbids the area)",
            ));
        }
        *slot = cost;
        self.min_cost = self.costs.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(self)
    }

    /// The multiplier of `area` (ids above 63 wrap).
    #[inline]
    #[must_use]
    pub fn cost_of(&self, area: u8) -> f64 {
        self.costs[usize::from(area) % AREA_COUNT]
    }
}

impl Filter for QueryFilter {
    #[inline]
    fn passes(&self, flags: u16, area: u8) -> bool {
        (self.include_flags == u16::MAX || flags & self.include_flags != 0)
            && flags & self.exclude_flags == 0
            && self.cost_of(area) < f64::INFINITY
    }

    #[inline]
    fn area_cost(&self, area: u8) -> f64 {
        self.cost_of(area)
    }

    #[inline]
    fn min_area_cost(&self) -> f64 {
        self.min_cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_include_exclude_and_the_all_ones_mask_takes_flagless_polygons() {
        let mut filter = QueryFilter::default();
        assert!(filter.passes(0, 0) && filter.passes(0x8001, 63));
        filter.include_flags = 0b0110;
        assert!(!filter.passes(0, 0) && !filter.passes(0b1001, 0) && filter.passes(0b0010, 0));
        filter.exclude_flags = 0b1000;
        assert!(!filter.passes(0b1010, 0));
    }

    #[test]
    fn infinite_cost_forbids_and_the_minimum_follows_the_table() {
        let filter = QueryFilter::default()
            .with_area_cost(3, f64::INFINITY)
            .and_then(|f| f.with_area_cost(5, 0.25))
            .unwrap();
        assert!(!filter.passes(0, 3) && filter.passes(0, 5));
        assert_eq!(filter.min_area_cost(), 0.25);
        let back = filter.with_area_cost(5, 9.0).unwrap();
        assert_eq!(back.min_area_cost(), 1.0);
        assert_eq!(back.area_cost(5), 9.0);
    }

    #[test]
    fn bad_areas_and_costs_are_named() {
        let filter = QueryFilter::default();
        assert_eq!(
            filter.clone().with_area_cost(64, 1.0).unwrap_err().argument,
            "area"
        );
        for cost in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(
                filter.clone().with_area_cost(1, cost).unwrap_err().argument,
                "cost"
            );
        }
    }

    #[test]
    fn the_default_filter_agrees_with_the_default_query_filter() {
        let (a, b) = (DefaultFilter, QueryFilter::default());
        for area in 0..64 {
            for flags in [0, 1, 0x8000, 0xFFFF] {
                assert_eq!(a.passes(flags, area), b.passes(flags, area));
            }
            assert_eq!(a.area_cost(area), b.area_cost(area));
        }
        assert_eq!(a.min_area_cost(), b.min_area_cost());
    }
}
