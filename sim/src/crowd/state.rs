//! Crowd state: bytes, size, hash and restore. `state_with_mesh.rs` adds the mesh.
//!
//! A restored crowd goes on bit for bit like one that never left. State is everything a step reads
//! and does not make anew: slots, ids, settings, routes, counters, and the boundary pieces with
//! the place they were looked up at. The mesh is not part of it (unless saved together), nor are
//! [`CrowdOptions`](super::CrowdOptions).
//!
//! One writer feeds a vector, a fixed buffer, a counter and a hash, so the four cannot drift. A
//! restore parses everything before it changes anything.

use super::avoid::Avoided;
use super::options::AgentOptions;
use super::plan::AgentPlan;
use super::settings_bytes::read_options;
use super::walls::make_room;
use super::{Crowd, WallPiece};
use crate::corridor::CorridorRow;
use crate::follower::FollowerRow;
use crate::follower::state::{self as follower_state, FollowerView};
use throng_soa::agents::{AgentState, CorridorHead, Crossing, Walk};
use throng_soa::bytes::{Buffer, Length, Reader, Sink, Writer};
use throng_soa::digest::Fnv1a64;
use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::mesh::{PolyRef, TiledMesh};
use throng_soa::world::{DVec2, DVec3};

pub(super) const FORMAT: &str = "crowd state";
const MAGIC: [u8; 4] = *b"OPCS";
const VERSION: u16 = 1;
const KIND_CROWD: u16 = 1;
pub(super) const KIND_WITH_MESH: u16 = 2;
const ACTIVE: u8 = 1;
const WALKING: u8 = 2;
const CROSSING: u8 = 4;
/// Counters stay below this, so they never wrap.
pub(super) const COUNTER_LIMIT: u64 = i64::MAX as u64;
/// Bytes of one boundary piece.
const PIECE_LENGTH: usize = 60;

impl Crowd {
    /// The state as bytes: equal states, equal bytes, on every machine. `mesh` is the one the crowd
    /// walks on, as it is now: boundary pieces that belong to other content are not saved, and the
    /// next step looks them up.
    #[must_use]
    pub fn save_state(&self, mesh: &TiledMesh) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(self.state_size(mesh)));
        self.write_state(&mut writer, mesh);
        writer.into_sink()
    }

    /// Length of the state. Allocates nothing.
    #[must_use]
    pub fn state_size(&self, mesh: &TiledMesh) -> usize {
        let mut writer = Writer::new(Length::default());
        self.write_state(&mut writer, mesh);
        writer.into_sink().0
    }

    /// Writes the state into `buffer` and returns its length, or `None` when the buffer is too
    /// short (its contents then mean nothing). Allocates nothing.
    pub fn try_save_state(&self, mesh: &TiledMesh, buffer: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(Buffer::new(buffer));
        self.write_state(&mut writer, mesh);
        writer.into_sink().written()
    }

    /// FNV-1a 64 of the state's bytes, without storing them: a fingerprint to exchange with peers.
    #[must_use]
    pub fn state_hash(&self, mesh: &TiledMesh) -> u64 {
        let mut writer = Writer::new(Fnv1a64::new());
        self.write_state(&mut writer, mesh);
        writer.into_sink().finish()
    }

    /// Puts the crowd back into a saved state. `mesh` must be in the state it had then. All or
    /// nothing. Allocates nothing when the saved slots hold the agents and settings of now.
    ///
    /// # Errors
    /// Names the field and the byte offset of what is wrong.
    pub fn restore_state(&mut self, mesh: &TiledMesh, bytes: &[u8]) -> Result<(), DataError> {
        let mut reader = Reader::new(FORMAT, bytes);
        self.check(&mut reader)?;
        reader.finish()?;
        self.apply(&mut Reader::new(FORMAT, bytes), mesh.revision())
    }

    pub(super) fn write_state<S: Sink>(&self, writer: &mut Writer<S>, mesh: &TiledMesh) {
        write_header(writer, KIND_CROWD);
        writer.i32(self.options.max_walls_per_agent as i32);
        writer.i32(self.agents.len() as i32);
        writer.i32(self.count as i32);
        writer.i32(self.lowest_free as i32);
        writer.u64(self.next_id);
        writer.u64(self.step_count);
        for slot in 0..self.agents.len() {
            writer.flag(self.agents.active[slot]);
            if self.agents.active[slot] {
                self.write_agent(writer, mesh, slot);
            }
        }
    }

    fn write_agent<S: Sink>(&self, writer: &mut Writer<S>, mesh: &TiledMesh, slot: usize) {
        let AgentPlan {
            walking, crossing, ..
        } = self.plans[slot];
        let wanted = self.solved[slot].wanted;
        writer.u64(self.agents.id[slot]);
        writer.f64(self.agents.priority[slot]);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        writer.u8(ACTIVE | flag(walking, WALKING) | flag(crossing, CROSSING));
        writer.f64(wanted.x);
        writer.f64(wanted.y);
        self.profiles
            .get(self.agents.profile[slot])
            .options
            .write(writer);
        let valid = self.walls.stamp[slot] == mesh.revision();
        writer.flag(valid);
        if valid {
            let center = self.walls.center[slot];
            writer.f64(center.x);
            writer.f64(center.y);
            let count = self.walls.count[slot];
            writer.i32(count as i32);
            for piece in &self.pieces[slot][..count as usize] {
                writer.point(piece.a);
                writer.point(piece.b);
                writer.u64(piece.poly.bits());
                writer.i32(piece.edge);
            }
        }
        let corridor = &self.routes.corridor[slot];
        let follower = FollowerView {
            position: self.agents.position[slot],
            velocity: self.agents.velocity[slot],
            state: self.agents.state[slot],
            reached_target: self.agents.reached_target[slot],
            remaining_distance: self.agents.remaining_distance[slot],
            walk: &self.routes.walk[slot],
            crossing: &self.routes.crossing[slot],
            corridor,
            polys: &self.paths[slot][..corridor.count as usize],
        };
        writer.i32(follower.length() as i32);
        follower_state::write(writer, &follower);
    }

    /// Reads the whole state without keeping any of it.
    pub(super) fn check(&mut self, reader: &mut Reader<'_>) -> Result<(), DataError> {
        let mut scratch = std::mem::take(&mut self.restore);
        let checked = self.check_with(reader, &mut scratch);
        self.restore = scratch;
        checked
    }

    fn check_with(
        &self,
        reader: &mut Reader<'_>,
        scratch: &mut RestoreScratch,
    ) -> Result<(), DataError> {
        let head = self.read_head(reader)?;
        scratch.ids.clear();
        let mut active_slots = 0;
        for slot in 0..head.slots {
            let at = reader.offset();
            let active = reader.flag("slot active")?;
            if !active && slot < head.lowest_free {
                let problem = "is free, but lies below the lowest free slot";
                return Err(reader.error_at(at, "slot", DataErrorKind::Value, problem));
            }
            if active {
                active_slots += 1;
                let id_at = reader.offset();
                let agent = self.read_agent(reader, scratch)?;
                if agent.id >= head.next_id {
                    let problem = format!("is {}; ids are below {}", agent.id, head.next_id);
                    return Err(reader.error_at(id_at, "agent id", DataErrorKind::Value, problem));
                }
                scratch.ids.push(agent.id);
            }
        }
        if active_slots != head.agents {
            let problem = format!("is {}; {active_slots} slots are active", head.agents);
            return Err(reader.error("agent count", DataErrorKind::Value, problem));
        }
        scratch.ids.sort_unstable();
        if scratch.ids.windows(2).any(|pair| pair[0] == pair[1]) {
            let problem = "is used by two agents";
            return Err(reader.error("agent id", DataErrorKind::Value, problem));
        }
        Ok(())
    }

    /// Reads a checked state into the columns.
    pub(super) fn apply(
        &mut self,
        reader: &mut Reader<'_>,
        revision: u64,
    ) -> Result<(), DataError> {
        let mut scratch = std::mem::take(&mut self.restore);
        let applied = self.apply_with(reader, revision, &mut scratch);
        self.restore = scratch;
        applied
    }

    fn apply_with(
        &mut self,
        reader: &mut Reader<'_>,
        revision: u64,
        scratch: &mut RestoreScratch,
    ) -> Result<(), DataError> {
        let head = self.read_head(reader)?;
        for slot in head.slots..self.agents.len() {
            self.clear_slot(slot);
        }
        self.set_slots(head.slots);
        for slot in 0..head.slots {
            if reader.flag("slot active")? {
                let agent = self.read_agent(reader, scratch)?;
                self.put_agent(slot, &agent, revision, scratch);
            } else {
                self.clear_slot(slot);
            }
        }
        self.count = head.agents as u32;
        self.lowest_free = head.lowest_free as u32;
        self.next_id = head.next_id;
        self.step_count = head.step_count;
        for recorded in &mut self.recorded {
            recorded.planes.clear();
            recorded.walls = 0;
        }
        Ok(())
    }

    fn put_agent(
        &mut self,
        slot: usize,
        agent: &ReadAgent,
        revision: u64,
        scratch: &RestoreScratch,
    ) {
        let profile = self.profiles.acquire(&agent.options);
        if self.agents.active[slot] {
            self.profiles.release(self.agents.profile[slot]);
        }
        let agents = &mut self.agents;
        agents.profile[slot] = profile;
        agents.active[slot] = true;
        agents.id[slot] = agent.id;
        agents.priority[slot] = agent.priority;
        agents.position[slot] = scratch.position;
        agents.velocity[slot] = scratch.velocity;
        agents.state[slot] = scratch.state;
        agents.reached_target[slot] = scratch.reached_target;
        agents.remaining_distance[slot] = scratch.remaining_distance;
        self.routes.walk[slot] = scratch.walk;
        self.routes.crossing[slot] = scratch.crossing;
        self.routes.corridor[slot] = scratch.corridor;
        self.plans[slot] = agent.plan;
        self.solved[slot] = Avoided {
            velocity: DVec2::ZERO,
            wanted: agent.wanted,
        };
        self.walls.stamp[slot] = agent.walls.map_or(0, |_| revision);
        self.walls.center[slot] = agent.walls.map_or(DVec2::ZERO, |(center, _)| center);
        self.walls.count[slot] = agent.walls.map_or(0, |(_, count)| count);
        self.make_room(slot);
        let most = self.options.max_walls_per_agent as usize;
        make_room(&mut self.pieces[slot], scratch.pieces.len(), most);
        self.pieces[slot][..scratch.pieces.len()].copy_from_slice(&scratch.pieces);
        let count = scratch.corridor.count as usize;
        self.paths[slot][..count].copy_from_slice(&scratch.path[..count]);
    }

    fn read_head(&self, reader: &mut Reader<'_>) -> Result<Head, DataError> {
        read_header(reader, KIND_CROWD)?;
        let at = reader.offset();
        let max_walls = reader.i32("max walls per agent")?;
        if i64::from(max_walls) != i64::from(self.options.max_walls_per_agent) {
            return Err(reader.error_at(
                at,
                "max walls per agent",
                DataErrorKind::Value,
                format!(
                    "is {max_walls}; this crowd keeps {}",
                    self.options.max_walls_per_agent
                ),
            ));
        }
        let slots = reader.count("slot count", 1, self.options.max_agents as usize)?;
        let agents = reader.count("agent count", 0, slots)?;
        let lowest_free = reader.count("lowest free slot", 0, slots)?;
        let next_id = counter(reader, "next id")?;
        let step_count = counter(reader, "step count")?;
        Ok(Head {
            slots,
            agents,
            lowest_free,
            next_id,
            step_count,
        })
    }

    /// Reads one agent: settings into the result, the follower and the pieces into `scratch`.
    fn read_agent(
        &self,
        reader: &mut Reader<'_>,
        scratch: &mut RestoreScratch,
    ) -> Result<ReadAgent, DataError> {
        let id = reader.u64("agent id")?;
        let at = reader.offset();
        let priority = reader.f64("agent priority")?;
        super::options::check_priority(priority).map_err(|error| {
            reader.error_at(
                at,
                "agent priority",
                DataErrorKind::Value,
                error.to_string(),
            )
        })?;
        let at = reader.offset();
        let flags = reader.u8("agent flags")?;
        if flags & ACTIVE == 0 || flags > ACTIVE | WALKING | CROSSING {
            let problem = format!("is {flags:#04X}; bit 0 is set, bits 1 and 2 may be");
            return Err(reader.error_at(at, "agent flags", DataErrorKind::Value, problem));
        }
        let plan = AgentPlan {
            walking: flags & WALKING != 0,
            crossing: flags & CROSSING != 0,
            ..AgentPlan::default()
        };
        let wanted = DVec2::new(
            reader.finite("agent preferred velocity x")?,
            reader.finite("agent preferred velocity z")?,
        );
        let options = read_options(reader)?;
        let walls = self.read_walls(reader, scratch)?;
        let length = length_field(reader, "follower length")?;
        let capacity = options.to_follower_options().corridor_capacity as usize;
        if scratch.path.len() < capacity {
            scratch.path.resize(capacity, PolyRef::INVALID);
        }
        let mut part = reader.part(FORMAT, "follower", length)?;
        follower_state::read(&mut part, capacity, &mut scratch.row())?;
        part.finish()?;
        Ok(ReadAgent {
            id,
            priority,
            plan,
            wanted,
            options,
            walls,
        })
    }

    fn read_walls(
        &self,
        reader: &mut Reader<'_>,
        scratch: &mut RestoreScratch,
    ) -> Result<Option<(DVec2, u32)>, DataError> {
        scratch.pieces.clear();
        if !reader.flag("wall cache valid")? {
            return Ok(None);
        }
        let x = reader.coordinate("wall cache centre x")?;
        let z = reader.coordinate("wall cache centre z")?;
        let most = self.options.max_walls_per_agent as usize;
        let count = reader.count("wall piece count", PIECE_LENGTH, most)?;
        for _ in 0..count {
            let a = reader.point("wall piece first end")?;
            let b = reader.point("wall piece second end")?;
            let poly = PolyRef::from_bits(reader.u64("wall piece polygon")?);
            let edge = reader.i32("wall piece edge")?;
            scratch.pieces.push(WallPiece { a, b, poly, edge });
        }
        Ok(Some((DVec2::new(x, z), count as u32)))
    }
}

/// The header fields of a crowd state.
struct Head {
    slots: usize,
    agents: usize,
    lowest_free: usize,
    next_id: u64,
    step_count: u64,
}

/// One agent read, without its follower and pieces.
struct ReadAgent {
    id: u64,
    priority: f64,
    plan: AgentPlan,
    wanted: DVec2,
    options: AgentOptions,
    walls: Option<(DVec2, u32)>,
}

/// Storage reused by restores: ids seen, and one follower with its pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct RestoreScratch {
    ids: Vec<u64>,
    position: DVec3,
    velocity: DVec3,
    state: AgentState,
    reached_target: bool,
    remaining_distance: f64,
    walk: Walk,
    crossing: Crossing,
    corridor: CorridorHead,
    path: Vec<PolyRef>,
    pieces: Vec<WallPiece>,
}

impl RestoreScratch {
    fn row(&mut self) -> FollowerRow<'_> {
        FollowerRow {
            position: &mut self.position,
            velocity: &mut self.velocity,
            state: &mut self.state,
            reached_target: &mut self.reached_target,
            remaining_distance: &mut self.remaining_distance,
            walk: &mut self.walk,
            crossing: &mut self.crossing,
            corridor: CorridorRow {
                head: &mut self.corridor,
                path: &mut self.path,
                memory: None,
            },
        }
    }
}

pub(super) fn write_header<S: Sink>(writer: &mut Writer<S>, kind: u16) {
    writer.bytes(&MAGIC);
    writer.u16(VERSION);
    writer.u16(kind);
}

pub(super) fn read_header(reader: &mut Reader<'_>, kind: u16) -> Result<(), DataError> {
    reader.magic(MAGIC)?;
    reader.version(VERSION)?;
    let at = reader.offset();
    let found = reader.u16("kind")?;
    if found == kind {
        return Ok(());
    }
    let problem = format!("is {found}; {kind} is needed (1 a crowd, 2 a crowd with its mesh)");
    Err(reader.error_at(at, "kind", DataErrorKind::Value, problem))
}

pub(super) fn length_field(reader: &mut Reader<'_>, field: &str) -> Result<usize, DataError> {
    reader.count(field, 1, i32::MAX as usize)
}

fn counter(reader: &mut Reader<'_>, field: &str) -> Result<u64, DataError> {
    let at = reader.offset();
    let value = reader.u64(field)?;
    if value <= COUNTER_LIMIT {
        return Ok(value);
    }
    let problem = format!("is {value}; counters stay below 2^63");
    Err(reader.error_at(at, field, DataErrorKind::Value, problem))
}
