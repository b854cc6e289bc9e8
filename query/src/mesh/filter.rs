//! Filters: which polygons and off-mesh links a query may use, and what travel over them costs.
//!
//! In: the run-time flags (16 bits) and area (0 to 63) of a polygon or link. Out: a yes or no and
//! a cost multiplier. Queries are generic over [`Filter`], so a caller's own rule is one trait
//! implementation, or a closure, and costs no virtual call in a search. [`QueryFilter`] is the one
//! that options hold; its predicate, if it has one, is the only virtual call.

use core::fmt;
use std::sync::Arc;
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

    /// The filter as a [`QueryFilter`], when it is one: a value that can be compared and kept, for
    /// callers who remember what they worked out for it. `None` unless overridden.
    #[inline]
    fn as_query_filter(&self) -> Option<&QueryFilter> {
        None
    }
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

/// A closure over flags and area accepts what it says yes to, at cost 1 everywhere:
/// `&|flags: u16, area: u8| area != 3`.
impl<P: Fn(u16, u8) -> bool + Sync> Filter for P {
    #[inline]
    fn passes(&self, flags: u16, area: u8) -> bool {
        self(flags, area)
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

/// What a predicate of a [`QueryFilter`] is kept as.
type Predicate = Arc<dyn Fn(u16, u8) -> bool + Send + Sync>;

/// Flag masks plus one multiplier per area, and a predicate if one was given.
#[derive(Clone)]
pub struct QueryFilter {
    /// At least one of these flag bits must be set. The default, 0xFFFF, also accepts polygons
    /// without any flag.
    pub include_flags: u16,
    /// No bit of these may be set (default 0).
    pub exclude_flags: u16,
    costs: [f64; AREA_COUNT],
    min_cost: f64,
    /// Bit `a` is set when area `a` needs no look beyond the flags: it is not forbidden and there is
    /// no predicate. Keeps the predicate out of the way of filters that have none.
    open_areas: u64,
    predicate: Option<Predicate>,
}

/// Two predicates are equal when they are the same object.
impl PartialEq for QueryFilter {
    fn eq(&self, other: &Self) -> bool {
        let masks = |filter: &Self| (filter.include_flags, filter.exclude_flags);
        let same_predicate = match (&self.predicate, &other.predicate) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        masks(self) == masks(other) && self.costs == other.costs && same_predicate
    }
}

impl fmt::Debug for QueryFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryFilter")
            .field("include_flags", &self.include_flags)
            .field("exclude_flags", &self.exclude_flags)
            .field("costs", &Priced(&self.costs))
            .field("predicate", &self.predicate.as_ref().map(|_| ".."))
            .finish()
    }
}

/// The areas whose cost is not 1.
struct Priced<'a>(&'a [f64; AREA_COUNT]);

impl fmt::Debug for Priced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let areas = self.0.iter().enumerate();
        f.debug_map()
            .entries(areas.filter(|&(_, &cost)| cost != 1.0))
            .finish()
    }
}

impl Default for QueryFilter {
    fn default() -> Self {
        Self {
            include_flags: u16::MAX,
            exclude_flags: 0,
            costs: [1.0; AREA_COUNT],
            min_cost: 1.0,
            open_areas: u64::MAX,
            predicate: None,
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
    ///
    /// ```
    /// use throng_query::mesh::{Filter, QueryFilter};
    ///
    /// # fn main() -> Result<(), throng_soa::ArgumentError> {
    /// let (mud, lava) = (3, 4);
    /// let filter = QueryFilter::default()
    ///     .with_area_cost(mud, 4.0)?
    ///     .with_area_cost(lava, f64::INFINITY)?;
    /// assert_eq!((filter.cost_of(0), filter.cost_of(mud)), (1.0, 4.0));
    /// assert!(filter.passes(0, mud) && !filter.passes(0, lava));
    /// # Ok(())
    /// # }
    /// ```
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
        if self.predicate.is_none() {
            let bit = 1 << area;
            self.open_areas &= !bit;
            if cost < f64::INFINITY {
                self.open_areas |= bit;
            }
        }
        self.min_cost = self.costs.iter().copied().fold(f64::INFINITY, f64::min);
        Ok(self)
    }

    /// The same filter that accepts, of what it accepted, only what `predicate(flags, area)` says
    /// yes to. The predicate may be asked from many threads and must always answer alike.
    ///
    /// ```
    /// use throng_query::mesh::{Filter, QueryFilter};
    ///
    /// let locked = 0b100;
    /// let filter = QueryFilter::default()
    ///     .with_predicate(move |flags, area| area != 9 || flags & locked == 0);
    /// assert!(filter.passes(0, 9) && filter.passes(locked, 1) && !filter.passes(locked, 9));
    /// ```
    #[must_use]
    pub fn with_predicate(
        mut self,
        predicate: impl Fn(u16, u8) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.open_areas = 0;
        self.predicate = Some(match self.predicate.take() {
            None => Arc::new(predicate),
            Some(first) => {
                Arc::new(move |flags, area| first(flags, area) && predicate(flags, area))
            }
        });
        self
    }

    /// What a predicate says of an area that is not forbidden; no without one.
    #[cold]
    fn predicate_passes(&self, flags: u16, area: u8) -> bool {
        self.predicate
            .as_ref()
            .is_some_and(|predicate| self.cost_of(area) < f64::INFINITY && predicate(flags, area))
    }

    /// Whether a closure has a say, which may answer otherwise next time.
    #[must_use]
    pub fn has_predicate(&self) -> bool {
        self.predicate.is_some()
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
            && (self.open_areas >> (area % AREA_COUNT as u8) & 1 != 0
                || self.predicate_passes(flags, area))
    }

    #[inline]
    fn area_cost(&self, area: u8) -> f64 {
        self.cost_of(area)
    }

    #[inline]
    fn min_area_cost(&self) -> f64 {
        self.min_cost
    }

    #[inline]
    fn as_query_filter(&self) -> Option<&QueryFilter> {
        Some(self)
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
    fn predicates_narrow_and_closures_are_filters() {
        let odd = |flags: u16, _area: u8| flags % 2 == 1;
        let filter = QueryFilter::default()
            .with_flags(0xFFFF, 4)
            .with_predicate(odd);
        assert!(filter.passes(3, 0) && !filter.passes(2, 0) && !filter.passes(5, 0));
        let both = filter.clone().with_predicate(|_, area| area != 7);
        assert!(both.passes(3, 0) && !both.passes(3, 7) && !both.passes(2, 0));
        assert!(odd.passes(1, 9) && !odd.passes(2, 9));
        assert_eq!((odd.area_cost(9), odd.min_area_cost()), (1.0, 1.0));
        // Forbidden areas stay forbidden, in either order.
        let forbid = |filter: QueryFilter| filter.with_area_cost(3, f64::INFINITY).unwrap();
        let first = forbid(QueryFilter::default()).with_predicate(odd);
        for filter in [first, forbid(QueryFilter::default().with_predicate(odd))] {
            assert!(filter.passes(1, 2) && !filter.passes(1, 3) && !filter.passes(2, 2));
            let reopened = filter.with_area_cost(3, 2.0).unwrap();
            assert!(reopened.passes(1, 3) && !reopened.passes(2, 3));
        }
        // Equal when it is the same predicate.
        assert_eq!(filter, filter.clone());
        assert_ne!(filter, QueryFilter::default().with_flags(0xFFFF, 4));
        assert_ne!(filter, both);
        assert!(format!("{filter:?}").contains("predicate: Some"));
    }

    #[test]
    fn only_areas_with_a_price_are_shown() {
        let filter = QueryFilter::default()
            .with_area_cost(3, 2.5)
            .and_then(|filter| filter.with_area_cost(63, f64::INFINITY))
            .unwrap();
        assert_eq!(
            format!("{filter:?}"),
            "QueryFilter { include_flags: 65535, exclude_flags: 0, costs: {3: 2.5, 63: inf}, \
             predicate: None }"
        );
        assert!(format!("{:?}", QueryFilter::default()).contains("costs: {}"));
    }

    #[test]
    fn only_a_query_filter_can_be_kept() {
        let filter = QueryFilter::default().with_flags(1, 2);
        assert_eq!(filter.as_query_filter(), Some(&filter));
        assert!(DefaultFilter.as_query_filter().is_none());
        assert!((|_: u16, _: u8| true).as_query_filter().is_none());
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
