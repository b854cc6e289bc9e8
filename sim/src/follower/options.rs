//! Settings of a follower.

use crate::corridor::CAPACITY_RANGE;
use throng_soa::error::ArgumentError;
use throng_soa::world::DVec3;

/// Who moves an agent across an off-mesh link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum OffMeshMode {
    /// The follower, in a straight line at [`FollowerOptions::off_mesh_speed`].
    #[default]
    Automatic = 0,
    /// The host, which calls `complete_off_mesh_link` when its animation ends.
    Host = 1,
}

/// How a follower walks. Units: metres and seconds. Start from [`HUMANOID`](Self::HUMANOID) or
/// [`SMALL`](Self::SMALL); checked where they are used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowerOptions {
    /// Speed limit, above 0.
    pub max_speed: f64,
    /// Limit on the change of velocity, per second; above 0.
    pub max_acceleration: f64,
    /// Distance from the end at which a lone agent begins to slow; 0 never slows.
    pub slow_radius: f64,
    /// Speed it does not slow below.
    pub arrival_min_speed: f64,
    /// Distance from the end at which it has arrived.
    pub arrival_radius: f64,
    /// Corners looked at per step, 3 to 256 (the position, a link's entry and its exit).
    pub max_corners: i32,
    /// Corridor polygons checked against the mesh per step, 1 to 4,096.
    pub validate_look_ahead: i32,
    /// Steps between visibility shortcuts; 0 turns them off.
    pub optimize_interval: i32,
    /// How far a visibility shortcut looks.
    pub optimize_range: f64,
    /// Polygons a visibility shortcut crosses.
    pub optimize_budget: i32,
    /// Steps between topology shortcuts; 0 turns them off.
    pub topology_interval: i32,
    /// Expansions of a topology shortcut.
    pub topology_budget: i32,
    /// Expansions of the first replan of a destination; each unfinished round doubles it.
    pub replan_budget: i32,
    /// Unfinished rounds after which there is no path.
    pub max_replan_rounds: i32,
    /// Seconds between progress checks; 0 turns stuck detection off.
    pub stuck_window: f64,
    /// Share of full speed that counts as progress.
    pub stuck_progress: f64,
    /// Replans tried before an agent counts as stuck.
    pub max_stuck_recoveries: i32,
    /// Who moves the agent across off-mesh links.
    pub off_mesh_mode: OffMeshMode,
    /// Speed of an automatic crossing, as it begins. In a crowd nobody enters a link close behind
    /// another, so a very slow agent holds up those who follow.
    pub off_mesh_speed: f64,
    /// Distance from a link's entry at which a crossing begins.
    pub off_mesh_trigger_radius: f64,
    /// Half extents in which the polygon under a position is looked for.
    pub search_extents: DVec3,
    /// Polygons the corridor holds, 2 to 4,096.
    pub corridor_capacity: i32,
    /// Expansions of the look for a shorter way after a replan; 0 turns it off.
    pub refine_budget: i32,
    /// How far past a corner the agent aims, away from the bend; 0 aims at the corner.
    pub corner_clearance: f64,
}

impl FollowerOptions {
    /// A walking person.
    pub const HUMANOID: Self = Self {
        max_speed: 3.5,
        max_acceleration: 8.0,
        slow_radius: 1.0,
        arrival_min_speed: 0.25,
        arrival_radius: 0.01,
        max_corners: 8,
        validate_look_ahead: 8,
        optimize_interval: 4,
        optimize_range: 10.0,
        optimize_budget: 16,
        topology_interval: 16,
        topology_budget: 32,
        replan_budget: 2048,
        max_replan_rounds: 16,
        stuck_window: 1.0,
        stuck_progress: 0.1,
        max_stuck_recoveries: 2,
        off_mesh_mode: OffMeshMode::Automatic,
        off_mesh_speed: 3.5,
        off_mesh_trigger_radius: 0.05,
        search_extents: DVec3::new(2.0, 4.0, 2.0),
        corridor_capacity: 256,
        refine_budget: 128,
        corner_clearance: 0.0,
    };

    /// A small, slower walker.
    pub const SMALL: Self = Self {
        max_speed: 2.5,
        max_acceleration: 6.0,
        slow_radius: 0.5,
        off_mesh_speed: 2.5,
        ..Self::HUMANOID
    };

    /// Checks every field.
    ///
    /// # Errors
    /// Names the field, its value and the allowed range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        for (name, value, above_zero) in [
            ("max_speed", self.max_speed, true),
            ("max_acceleration", self.max_acceleration, true),
            ("slow_radius", self.slow_radius, false),
            ("arrival_min_speed", self.arrival_min_speed, false),
            ("arrival_radius", self.arrival_radius, false),
            ("optimize_range", self.optimize_range, false),
            ("stuck_window", self.stuck_window, false),
            ("off_mesh_speed", self.off_mesh_speed, true),
            (
                "off_mesh_trigger_radius",
                self.off_mesh_trigger_radius,
                false,
            ),
            ("search_extents.x", self.search_extents.x, false),
            ("search_extents.y", self.search_extents.y, false),
            ("search_extents.z", self.search_extents.z, false),
            ("corner_clearance", self.corner_clearance, false),
        ] {
            check_size(name, value, above_zero)?;
        }
        if self.off_mesh_speed < SLOWEST_CROSSING {
            let value = self.off_mesh_speed;
            return Err(ArgumentError::new(
                "off_mesh_speed",
                value,
                "0.000001 to 1000000",
            ));
        }
        if !(0.0..=1.0).contains(&self.stuck_progress) {
            let value = self.stuck_progress;
            return Err(ArgumentError::new("stuck_progress", value, "0 to 1"));
        }
        for (name, value, low, high) in [
            ("max_corners", self.max_corners, 3, 256),
            ("validate_look_ahead", self.validate_look_ahead, 1, 4096),
            ("optimize_interval", self.optimize_interval, 0, i32::MAX),
            ("optimize_budget", self.optimize_budget, 2, 4096),
            ("topology_interval", self.topology_interval, 0, i32::MAX),
            ("topology_budget", self.topology_budget, 0, 1 << 20),
            ("replan_budget", self.replan_budget, 1, 1 << 20),
            ("max_replan_rounds", self.max_replan_rounds, 1, 1000),
            (
                "max_stuck_recoveries",
                self.max_stuck_recoveries,
                0,
                i32::MAX,
            ),
            (
                "corridor_capacity",
                self.corridor_capacity,
                CAPACITY_RANGE.0 as i32,
                CAPACITY_RANGE.1 as i32,
            ),
            ("refine_budget", self.refine_budget, 0, 1 << 20),
        ] {
            if !(low..=high).contains(&value) {
                return Err(ArgumentError::new(name, value, format!("{low} to {high}")));
            }
        }
        Ok(())
    }
}

impl Default for FollowerOptions {
    fn default() -> Self {
        Self::HUMANOID
    }
}

/// Slowest crossing of a link: slower ones would take longer than a number can say.
const SLOWEST_CROSSING: f64 = 1e-6;
/// Largest speed, length or time a setting may have.
pub(crate) const LARGEST: f64 = 1e6;

/// Checks a speed, length or time.
pub(crate) fn check_size(name: &str, value: f64, above_zero: bool) -> Result<(), ArgumentError> {
    let low_enough = value <= LARGEST;
    let high_enough = if above_zero {
        value > 0.0
    } else {
        value >= 0.0
    };
    if low_enough && high_enough {
        return Ok(());
    }
    let allowed = if above_zero {
        "above 0 and at most 1000000"
    } else {
        "0 to 1000000"
    };
    Err(ArgumentError::new(name, value, allowed))
}
