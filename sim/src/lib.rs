//! Time: corridors, following, reciprocal avoidance and the crowd's staged step.
//!
//! Stages are free functions over columns. A step is [`crowd::Crowd::step`]: snapshot, plan,
//! avoid, motion, in that order; read `crowd/step.rs` first and follow one agent through it.
//! Nothing here has a clock: the caller passes `dt`, and budgets count iterations.

pub mod corridor;
pub mod crowd;
pub mod follower;
pub mod orca;
pub(crate) mod workers;

mod navigator;

pub use navigator::Navigator;
