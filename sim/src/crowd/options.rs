//! Settings of agents and of the crowd, and the profiles agents share.

use std::collections::BTreeMap;

use crate::follower::{FollowerOptions, LARGEST, check_size};
use throng_query::mesh::{MAX_RADIUS, QueryFilter};
use throng_soa::bytes::Writer;
use throng_soa::error::ArgumentError;
use throng_soa::table::MAX_THREADS;

/// How much an agent does to avoid others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AvoidanceQuality {
    /// Nothing: it walks as if alone, and waits only for its turn at off-mesh links.
    Off = 0,
    /// 4 neighbours, horizon 1.5 s.
    Low = 1,
    /// 8 neighbours, horizon 2 s.
    #[default]
    Medium = 2,
    /// 12 neighbours, horizon 2.5 s.
    High = 3,
}

/// Most neighbours any quality looks at.
pub(crate) const MOST_NEIGHBORS: usize = 12;

impl AvoidanceQuality {
    /// Neighbours avoided.
    #[must_use]
    pub const fn max_neighbors(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Low => 4,
            Self::Medium => 8,
            Self::High => MOST_NEIGHBORS,
        }
    }

    /// Seconds looked ahead against other agents; walls get half of it.
    #[must_use]
    pub const fn time_horizon(self) -> f64 {
        match self {
            Self::Off | Self::Low => 1.5,
            Self::Medium => 2.0,
            Self::High => 2.5,
        }
    }

    /// The quality saved as `byte`.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Off,
            1 => Self::Low,
            2 => Self::Medium,
            3 => Self::High,
            _ => return None,
        })
    }
}

/// One agent's settings. Units: metres and seconds. Start from a preset:
/// `AgentOptions { max_speed: 5.0, ..AgentOptions::HUMANOID }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentOptions {
    /// Body radius against other agents (the mesh already keeps the body off walls); above 0.
    pub radius: f64,
    /// Speed limit, above 0.
    pub max_speed: f64,
    /// Limit on the change of velocity, per second; above 0.
    pub max_acceleration: f64,
    /// Distance from the end of the route at which it has arrived.
    pub arrival_radius: f64,
    /// Weight against others, above 0: a higher one gives way less.
    pub priority: f64,
    /// How much it does to avoid others.
    pub quality: AvoidanceQuality,
    /// Distance its centre keeps from the mesh's boundary.
    pub wall_clearance: f64,
    /// Distance under which others push it away; 0 turns separation off.
    pub separation_distance: f64,
    /// Share of full speed a touching neighbour adds, 0 to 1.
    pub separation_weight: f64,
    /// Share by which it prefers to pass on one fixed side, 0 to 1: parts head-on meetings.
    pub side_preference: f64,
    /// How it follows its route; `None` for the crowd's defaults (a corridor of 64 polygons, no
    /// stuck detection, since a crowd stands in queues). Speed, acceleration, arrival radius
    /// and corner clearance are always those of this agent, and an off-mesh link is entered from two
    /// radii away at least.
    pub path: Option<FollowerOptions>,
}

impl AgentOptions {
    /// A walking person.
    pub const HUMANOID: Self = Self {
        radius: 0.6,
        max_speed: 3.5,
        max_acceleration: 8.0,
        arrival_radius: 0.25,
        priority: 1.0,
        quality: AvoidanceQuality::Medium,
        wall_clearance: 0.05,
        separation_distance: 0.0,
        separation_weight: 0.3,
        side_preference: 0.05,
        path: None,
    };

    /// A small, slower agent.
    pub const SMALL: Self = Self {
        radius: 0.3,
        max_speed: 2.5,
        max_acceleration: 6.0,
        arrival_radius: 0.3,
        ..Self::HUMANOID
    };

    /// A large, heavy agent.
    pub const LARGE: Self = Self {
        radius: 1.5,
        max_speed: 3.0,
        max_acceleration: 5.0,
        arrival_radius: 0.6,
        ..Self::HUMANOID
    };

    /// Checks every field.
    ///
    /// # Errors
    /// Names the field, its value and the allowed range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        for (name, value, above_zero) in [
            ("radius", self.radius, true),
            ("max_speed", self.max_speed, true),
            ("max_acceleration", self.max_acceleration, true),
            ("arrival_radius", self.arrival_radius, false),
            ("wall_clearance", self.wall_clearance, false),
            ("separation_distance", self.separation_distance, false),
        ] {
            check_size(name, value, above_zero)?;
        }
        check_priority(self.priority)?;
        for (name, value) in [
            ("separation_weight", self.separation_weight),
            ("side_preference", self.side_preference),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(ArgumentError::new(name, value, "0 to 1"));
            }
        }
        if let Some(path) = &self.path {
            path.validate().map_err(|error| ArgumentError {
                argument: format!("path.{}", error.argument),
                ..error
            })?;
        }
        Ok(())
    }

    /// The follower's settings for these.
    #[must_use]
    pub fn to_follower_options(&self) -> FollowerOptions {
        let base = self.path.unwrap_or(FollowerOptions {
            corridor_capacity: 64,
            stuck_window: 0.0,
            ..FollowerOptions::HUMANOID
        });
        FollowerOptions {
            max_speed: self.max_speed,
            max_acceleration: self.max_acceleration,
            arrival_radius: self.arrival_radius,
            off_mesh_trigger_radius: base.off_mesh_trigger_radius.max(2.0 * self.radius),
            ..base
        }
    }
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self::HUMANOID
    }
}

/// # Errors
/// The weight is not above 0 or is too large.
pub(crate) fn check_priority(priority: f64) -> Result<(), ArgumentError> {
    check_size("priority", priority, true)
}

/// Settings of a crowd. Make the crowd restored into with the same: of these only
/// `max_walls_per_agent` is in the saved state, and a restore checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdOptions {
    /// Most agents at once, 1 to 65,536.
    pub max_agents: u32,
    /// Worker threads, 1 to 256. No result depends on it.
    pub threads: usize,
    /// Which polygons agents may use and what they cost.
    pub filter: QueryFilter,
    /// Nodes of each worker's route search, 64 to 2^20.
    pub query_nodes: u32,
    /// Boundary pieces kept per agent, 1 to 1,024.
    pub max_walls_per_agent: u32,
    /// How far an agent walks before its boundary pieces are looked up again.
    pub wall_refresh_distance: f64,
    /// Boundary pieces avoided at once, 0 to 64.
    pub max_walls_avoided: u32,
    /// Keeps the half-planes of the last step for debug views.
    pub record_constraints: bool,
}

/// Most agents of a crowd.
pub const MAX_AGENTS: u32 = 65_536;

/// Most wall pieces a crowd keeps per agent.
pub const MAX_WALLS_PER_AGENT: u32 = 1024;

impl Default for CrowdOptions {
    fn default() -> Self {
        Self {
            max_agents: MAX_AGENTS,
            threads: 1,
            filter: QueryFilter::default(),
            query_nodes: 16_384,
            max_walls_per_agent: 48,
            wall_refresh_distance: 1.0,
            max_walls_avoided: 8,
            record_constraints: false,
        }
    }
}

impl CrowdOptions {
    /// Checks every field.
    ///
    /// # Errors
    /// Names the field, its value and the allowed range.
    pub fn validate(&self) -> Result<(), ArgumentError> {
        for (name, value, low, high) in [
            ("max_agents", self.max_agents, 1, MAX_AGENTS),
            ("query_nodes", self.query_nodes, 64, 1 << 20),
            (
                "max_walls_per_agent",
                self.max_walls_per_agent,
                1,
                MAX_WALLS_PER_AGENT,
            ),
            ("max_walls_avoided", self.max_walls_avoided, 0, 64),
        ] {
            if !(low..=high).contains(&value) {
                return Err(ArgumentError::new(name, value, format!("{low} to {high}")));
            }
        }
        if !(1..=MAX_THREADS).contains(&self.threads) {
            return Err(ArgumentError::new("threads", self.threads, "1 to 256"));
        }
        check_size("wall_refresh_distance", self.wall_refresh_distance, false)
    }
}

/// Settings as the stages read them: what agents with equal options share.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) options: AgentOptions,
    pub(crate) follower: FollowerOptions,
    pub(crate) neighbor_distance: f64,
    pub(crate) time_horizon: f64,
    pub(crate) obstacle_horizon: f64,
    /// How near a boundary piece must be to matter.
    pub(crate) wall_reach: f64,
    users: u32,
}

impl Profile {
    fn new(options: AgentOptions) -> Self {
        let time_horizon = options.quality.time_horizon();
        let obstacle_horizon = time_horizon / 2.0;
        let corner_clearance = 2.0 * options.wall_clearance + 0.01;
        let looks_for = 2.0 * options.radius + options.max_speed * time_horizon;
        Self {
            follower: FollowerOptions {
                corner_clearance,
                ..options.to_follower_options()
            },
            neighbor_distance: options.separation_distance.max(looks_for),
            time_horizon,
            obstacle_horizon,
            // Huge but valid settings must not ask the wall search for more than it takes.
            wall_reach: (obstacle_horizon * options.max_speed + options.wall_clearance)
                .min(MAX_RADIUS - LARGEST),
            options,
            users: 0,
        }
    }
}

/// The profiles in use. Agents with bit-equal options share one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profiles {
    list: Vec<Profile>,
    by_bytes: BTreeMap<Vec<u8>, u32>,
    free: Vec<u32>,
    key: Vec<u8>,
}

impl Profiles {
    pub(crate) fn all(&self) -> &[Profile] {
        &self.list
    }

    pub(crate) fn get(&self, profile: u32) -> &Profile {
        &self.list[profile as usize]
    }

    /// Takes a share of the profile for `options`.
    pub(crate) fn acquire(&mut self, options: &AgentOptions) -> u32 {
        let mut writer = Writer::new(std::mem::take(&mut self.key));
        options.write(&mut writer);
        self.key = writer.into_sink();
        let known = self.by_bytes.get(self.key.as_slice()).copied();
        let profile = known.unwrap_or_else(|| {
            let fresh = Profile::new(*options);
            let profile = match self.free.pop() {
                Some(profile) => {
                    self.list[profile as usize] = fresh;
                    profile
                }
                None => {
                    self.list.push(fresh);
                    self.list.len() as u32 - 1
                }
            };
            self.by_bytes.insert(self.key.clone(), profile);
            profile
        });
        self.key.clear();
        self.list[profile as usize].users += 1;
        profile
    }

    /// Gives a share back.
    pub(crate) fn release(&mut self, profile: u32) {
        let entry = &mut self.list[profile as usize];
        entry.users -= 1;
        if entry.users == 0 {
            let options = entry.options;
            let mut writer = Writer::new(std::mem::take(&mut self.key));
            options.write(&mut writer);
            self.key = writer.into_sink();
            self.by_bytes.remove(self.key.as_slice());
            self.key.clear();
            self.free.push(profile);
        }
    }

    /// Largest neighbour distance of the profiles in use.
    pub(crate) fn reach(&self) -> f64 {
        let used = self.list.iter().filter(|profile| profile.users > 0);
        used.map(|profile| profile.neighbor_distance)
            .fold(0.0, f64::max)
    }
}
