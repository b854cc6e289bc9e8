//! Questions asked of the navigation tables: nearest surface, routes, straight paths, rays,
//! reachable surroundings, walls, random points.
//!
//! Every function reads tables of `throng-soa` and writes only its result and the scratch the
//! caller passes in. Results are functions of the inputs alone: no clock, no hashing, ties on
//! index. Steady-state queries allocate nothing.

pub mod mesh;
