//! Settings as bytes: the order in which a crowd's state keeps an agent's options.

use super::options::{AgentOptions, AvoidanceQuality};
use crate::follower::{FollowerOptions, OffMeshMode};
use throng_soa::bytes::{Reader, Sink, Writer};
use throng_soa::error::{DataError, DataErrorKind};
use throng_soa::world::DVec3;

impl AgentOptions {
    /// Appends the settings in the order the state keeps them.
    pub(crate) fn write<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.f64(self.radius);
        writer.f64(self.max_speed);
        writer.f64(self.max_acceleration);
        writer.f64(self.arrival_radius);
        writer.f64(self.priority);
        writer.u8(self.quality as u8);
        writer.f64(self.wall_clearance);
        writer.f64(self.separation_distance);
        writer.f64(self.separation_weight);
        writer.f64(self.side_preference);
        writer.flag(self.path.is_some());
        if let Some(path) = &self.path {
            write_follower_options(writer, path);
        }
    }
}

fn write_follower_options<S: Sink>(writer: &mut Writer<S>, path: &FollowerOptions) {
    writer.f64(path.max_speed);
    writer.f64(path.max_acceleration);
    writer.f64(path.slow_radius);
    writer.f64(path.arrival_min_speed);
    writer.f64(path.arrival_radius);
    writer.i32(path.max_corners);
    writer.i32(path.validate_look_ahead);
    writer.i32(path.optimize_interval);
    writer.f64(path.optimize_range);
    writer.i32(path.optimize_budget);
    writer.i32(path.topology_interval);
    writer.i32(path.topology_budget);
    writer.i32(path.replan_budget);
    writer.i32(path.max_replan_rounds);
    writer.f64(path.stuck_window);
    writer.f64(path.stuck_progress);
    writer.i32(path.max_stuck_recoveries);
    writer.u8(path.off_mesh_mode as u8);
    writer.f64(path.off_mesh_speed);
    writer.f64(path.off_mesh_trigger_radius);
    writer.point(path.search_extents);
    writer.i32(path.corridor_capacity);
    writer.i32(path.refine_budget);
    writer.f64(path.corner_clearance);
}

/// Reads and validates one agent's options.
pub(super) fn read_options(reader: &mut Reader<'_>) -> Result<AgentOptions, DataError> {
    let start = reader.offset();
    let radius = reader.f64("agent radius")?;
    let max_speed = reader.f64("agent max speed")?;
    let max_acceleration = reader.f64("agent max acceleration")?;
    let arrival_radius = reader.f64("agent arrival radius")?;
    let priority = reader.f64("agent options priority")?;
    let at = reader.offset();
    let byte = reader.u8("agent quality")?;
    let quality = AvoidanceQuality::from_byte(byte).ok_or_else(|| {
        let problem = format!("is {byte}; qualities are 0 to 3");
        reader.error_at(at, "agent quality", DataErrorKind::Value, problem)
    })?;
    let options = AgentOptions {
        radius,
        max_speed,
        max_acceleration,
        arrival_radius,
        priority,
        quality,
        wall_clearance: reader.f64("agent wall clearance")?,
        separation_distance: reader.f64("agent separation distance")?,
        separation_weight: reader.f64("agent separation weight")?,
        side_preference: reader.f64("agent side preference")?,
        path: if reader.flag("agent path settings")? {
            Some(read_follower_options(reader)?)
        } else {
            None
        },
    };
    options.validate().map_err(|error| {
        reader.error_at(
            start,
            "agent options",
            DataErrorKind::Value,
            error.to_string(),
        )
    })?;
    Ok(options)
}

fn read_follower_options(reader: &mut Reader<'_>) -> Result<FollowerOptions, DataError> {
    let mut options = FollowerOptions {
        max_speed: reader.f64("path max speed")?,
        max_acceleration: reader.f64("path max acceleration")?,
        slow_radius: reader.f64("path slow radius")?,
        arrival_min_speed: reader.f64("path arrival min speed")?,
        arrival_radius: reader.f64("path arrival radius")?,
        max_corners: reader.i32("path max corners")?,
        validate_look_ahead: reader.i32("path validate look ahead")?,
        optimize_interval: reader.i32("path optimize interval")?,
        optimize_range: reader.f64("path optimize range")?,
        optimize_budget: reader.i32("path optimize budget")?,
        topology_interval: reader.i32("path topology interval")?,
        topology_budget: reader.i32("path topology budget")?,
        replan_budget: reader.i32("path replan budget")?,
        max_replan_rounds: reader.i32("path max replan rounds")?,
        stuck_window: reader.f64("path stuck window")?,
        stuck_progress: reader.f64("path stuck progress")?,
        max_stuck_recoveries: reader.i32("path max stuck recoveries")?,
        ..FollowerOptions::HUMANOID
    };
    let at = reader.offset();
    options.off_mesh_mode = match reader.u8("path off-mesh mode")? {
        0 => OffMeshMode::Automatic,
        1 => OffMeshMode::Host,
        other => {
            let problem = format!("is {other}; modes are 0 and 1");
            return Err(reader.error_at(at, "path off-mesh mode", DataErrorKind::Value, problem));
        }
    };
    options.off_mesh_speed = reader.f64("path off-mesh speed")?;
    options.off_mesh_trigger_radius = reader.f64("path off-mesh trigger radius")?;
    options.search_extents = DVec3::new(
        reader.f64("path search extents x")?,
        reader.f64("path search extents y")?,
        reader.f64("path search extents z")?,
    );
    options.corridor_capacity = reader.i32("path corridor capacity")?;
    options.refine_budget = reader.i32("path refine budget")?;
    options.corner_clearance = reader.f64("path corner clearance")?;
    Ok(options)
}
