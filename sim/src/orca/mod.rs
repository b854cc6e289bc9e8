//! Reciprocal avoidance in the plane: half-planes of permitted velocities, the program that picks
//! the one closest to what an agent wants, and an open-field simulator.
//!
//! Source: van den Berg, Guy, Lin and Manocha, "Reciprocal n-body collision avoidance", ISRR 2011
//! (sections 4, 5.1, 5.3 and 5.4). Departures, each where it happens: constraints come in a fixed
//! order (nearest first, ties on index) instead of a random one; overlapping agents part within
//! one time step; the fallback is the 3D program solved as a chain of 2D ones.
//!
//! The plane's (x, y) is the world's (x, z).

mod constraint;
mod program;
mod simulator;

pub use constraint::{HalfPlane, for_agent, for_boundary, for_segment, segment_distance_sq};
pub use program::{ProgramScratch, Solution, solve};
pub use simulator::{OrcaAgent, OrcaSimulator};
