//! Detour's queries on a mesh.

use super::recast::{DetourMesh, Refused, float, succeeded};
use recastnavigation_sys::*;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use throng::DVec3;

/// Polygons of one path.
const MOST_POLYS: usize = 4096;
/// Nodes of one search: the most Detour allows.
const NODES: i32 = 65_535;
/// Half the box a point is snapped in.
const SNAP: [f32; 3] = [2.0, 4.0, 2.0];

/// A place on the mesh.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) poly: dtPolyRef,
    pub(crate) point: [f32; 3],
}

/// A query object with its buffers.
pub(crate) struct DetourQuery<'m> {
    raw: *mut dtNavMeshQuery,
    filter: dtQueryFilter,
    polys: Vec<dtPolyRef>,
    straight: Vec<f32>,
    flags: Vec<u8>,
    refs: Vec<dtPolyRef>,
    mesh: std::marker::PhantomData<&'m DetourMesh>,
}

impl Drop for DetourQuery<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `dtAllocNavMeshQuery` and is freed once.
        unsafe { dtFreeNavMeshQuery(self.raw) };
    }
}

/// A path as walked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Walked {
    pub(crate) length: f64,
    pub(crate) partial: bool,
}

impl<'m> DetourQuery<'m> {
    pub(crate) fn new(mesh: &'m DetourMesh) -> Result<Self, Refused> {
        // SAFETY: the query only reads the mesh, which outlives it.
        unsafe {
            let query = Self {
                raw: dtAllocNavMeshQuery(),
                filter: dtQueryFilter::new(),
                polys: vec![0; MOST_POLYS],
                straight: vec![0.0; 3 * MOST_POLYS],
                flags: vec![0; MOST_POLYS],
                refs: vec![0; MOST_POLYS],
                mesh: std::marker::PhantomData,
            };
            succeeded("query", dtNavMeshQuery_init(query.raw, mesh.raw, NODES))?;
            Ok(query)
        }
    }

    /// The nearest place on the mesh, in the box of the bar.
    pub(crate) fn nearest(&self, point: DVec3) -> Option<At> {
        let center = float(point);
        let mut at = At {
            poly: 0,
            point: center,
        };
        // SAFETY: arrays of three floats; `at` outlives the call.
        unsafe {
            dtNavMeshQuery_findNearestPoly(
                self.raw,
                center.as_ptr(),
                SNAP.as_ptr(),
                &self.filter,
                &mut at.poly,
                at.point.as_mut_ptr(),
            );
        }
        (at.poly != 0).then_some(at)
    }

    /// A path search; its polygons and whether it ended short of the goal.
    pub(crate) fn path(&mut self, from: &At, to: &At) -> (&[dtPolyRef], bool) {
        let mut count = 0;
        // SAFETY: `polys` holds `MOST_POLYS`.
        let status = unsafe {
            dtNavMeshQuery_findPath(
                self.raw,
                from.poly,
                to.poly,
                from.point.as_ptr(),
                to.point.as_ptr(),
                &self.filter,
                self.polys.as_mut_ptr(),
                &mut count,
                MOST_POLYS as i32,
            )
        };
        let partial = status & DT_PARTIAL_RESULT != 0;
        (&self.polys[..count as usize], partial)
    }

    /// A path search and its string.
    pub(crate) fn walk(&mut self, from: &At, to: &At) -> Walked {
        let (polys, partial) = self.path(from, to);
        let (polys, count) = (polys.as_ptr(), polys.len());
        let mut corners = 0;
        // SAFETY: `polys` points to `count` references; the out buffers hold `MOST_POLYS`.
        unsafe {
            dtNavMeshQuery_findStraightPath(
                self.raw,
                from.point.as_ptr(),
                to.point.as_ptr(),
                polys,
                count as i32,
                self.straight.as_mut_ptr(),
                self.flags.as_mut_ptr(),
                self.refs.as_mut_ptr(),
                &mut corners,
                MOST_POLYS as i32,
                0,
            );
        }
        let points = self.straight[..3 * corners as usize].chunks_exact(3);
        let length = points.clone().zip(points.skip(1)).map(|(a, b)| {
            let d = [0, 1, 2].map(|axis| f64::from(b[axis]) - f64::from(a[axis]));
            (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt()
        });
        Walked {
            length: length.sum(),
            partial,
        }
    }

    /// Whether a ray along the surface meets a wall.
    pub(crate) fn ray_hits(&mut self, from: &At, to: &At) -> bool {
        let (mut t, mut normal, mut count) = (0.0, [0.0_f32; 3], 0);
        // SAFETY: as above.
        unsafe {
            dtNavMeshQuery_raycast(
                self.raw,
                from.poly,
                from.point.as_ptr(),
                to.point.as_ptr(),
                &self.filter,
                &mut t,
                normal.as_mut_ptr(),
                self.polys.as_mut_ptr(),
                &mut count,
                MOST_POLYS as i32,
            );
        }
        t <= 1.0
    }
}

/// State of the generator Detour's random points draw from, which takes a function without arguments.
static DRAWS: AtomicU64 = AtomicU64::new(1);

/// A number in `[0, 1)` (Knuth's linear congruence: two operations, so that the draw costs nothing).
unsafe extern "C" fn draw() -> f32 {
    let next = DRAWS
        .load(Ordering::Relaxed)
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    DRAWS.store(next, Ordering::Relaxed);
    (next >> 40) as f32 / 16_777_216.0
}

impl DetourQuery<'_> {
    /// Polygons a circle reaches.
    pub(crate) fn circle(&mut self, at: &At, radius: f32) -> usize {
        let mut count = 0;
        // SAFETY: `polys` holds `MOST_POLYS`; the outputs left out may be null.
        unsafe {
            dtNavMeshQuery_findPolysAroundCircle(
                self.raw,
                at.poly,
                at.point.as_ptr(),
                radius,
                &self.filter,
                self.polys.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
                &mut count,
                MOST_POLYS as i32,
            );
        }
        count as usize
    }

    /// Distance to the nearest wall, at most `radius`.
    pub(crate) fn wall(&self, at: &At, radius: f32) -> f32 {
        let (mut distance, mut place, mut normal) = (0.0, [0.0_f32; 3], [0.0_f32; 3]);
        // SAFETY: arrays of three floats.
        unsafe {
            dtNavMeshQuery_findDistanceToWall(
                self.raw,
                at.poly,
                at.point.as_ptr(),
                radius,
                &self.filter,
                &mut distance,
                place.as_mut_ptr(),
                normal.as_mut_ptr(),
            );
        }
        distance
    }

    /// A random point of the mesh.
    pub(crate) fn random(&self) -> At {
        let mut at = At {
            poly: 0,
            point: [0.0; 3],
        };
        // SAFETY: as above; `draw` touches nothing but its own state.
        unsafe {
            dtNavMeshQuery_findRandomPoint(
                self.raw,
                &self.filter,
                Some(draw),
                &mut at.poly,
                at.point.as_mut_ptr(),
            );
        }
        at
    }
}

/// A crowd of DetourCrowd.
pub(crate) struct DetourCrowd<'m> {
    raw: *mut dtCrowd,
    query: DetourQuery<'m>,
    targets: Vec<(i32, At)>,
}

impl Drop for DetourCrowd<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` came from `dtAllocCrowd` and is freed once.
        unsafe { dtFreeCrowd(self.raw) };
    }
}

/// Divisions, rings and depth of the sampled velocities of the demo's four qualities.
const QUALITIES: [(u8, u8, u8); 4] = [(5, 2, 1), (5, 2, 2), (7, 2, 3), (7, 3, 3)];

impl<'m> DetourCrowd<'m> {
    /// Agents with the values of a person on their way from place to place: all steering flags, the
    /// demo's ranges, quality 0 to 3.
    pub(crate) fn new(
        mesh: &'m DetourMesh,
        ways: &[(DVec3, DVec3)],
        quality: u8,
    ) -> Result<Self, Refused> {
        let query = DetourQuery::new(mesh)?;
        // SAFETY: the crowd reads the mesh, which outlives it; parameters are copied.
        unsafe {
            let mut crowd = Self {
                raw: dtAllocCrowd(),
                query,
                targets: Vec::new(),
            };
            if !dtCrowd_init(crowd.raw, ways.len() as i32, 0.6, mesh.raw) {
                return Err("dtCrowd::init".into());
            }
            for (i, (divisions, rings, depth)) in QUALITIES.into_iter().enumerate() {
                let mut params = *dtCrowd_getObstacleAvoidanceParams(crowd.raw, i as i32);
                params.velBias = 0.5;
                params.adaptiveDivs = divisions;
                params.adaptiveRings = rings;
                params.adaptiveDepth = depth;
                dtCrowd_setObstacleAvoidanceParams(crowd.raw, i as i32, &params);
            }
            let flags = UpdateFlags_DT_CROWD_ANTICIPATE_TURNS
                | UpdateFlags_DT_CROWD_OBSTACLE_AVOIDANCE
                | UpdateFlags_DT_CROWD_SEPARATION
                | UpdateFlags_DT_CROWD_OPTIMIZE_VIS
                | UpdateFlags_DT_CROWD_OPTIMIZE_TOPO;
            let params = dtCrowdAgentParams {
                radius: 0.6,
                height: 2.0,
                maxAcceleration: 8.0,
                maxSpeed: 3.5,
                collisionQueryRange: 0.6 * 12.0,
                pathOptimizationRange: 0.6 * 30.0,
                separationWeight: 2.0,
                updateFlags: flags as u8,
                obstacleAvoidanceType: quality,
                queryFilterType: 0,
                userData: ptr::null_mut(),
            };
            for &(from, to) in ways {
                let agent = dtCrowd_addAgent(crowd.raw, float(from).as_ptr(), &params);
                if agent < 0 {
                    return Err("dtCrowd::addAgent".into());
                }
                if let Some(at) = crowd.query.nearest(to) {
                    dtCrowd_requestMoveTarget(crowd.raw, agent, at.poly, at.point.as_ptr());
                    crowd.targets.push((agent, at));
                }
            }
            Ok(crowd)
        }
    }

    pub(crate) fn step(&mut self, dt: f32) {
        // SAFETY: a live crowd.
        unsafe { dtCrowd_update(self.raw, dt, ptr::null_mut()) };
    }

    /// Gives every agent the whole path from where it stands, as if its own planner had come round
    /// to it.
    pub(crate) fn plan_all(&mut self) {
        for i in 0..self.targets.len() {
            let (agent, at) = self.targets[i];
            // SAFETY: `agent` is an index the crowd gave out; the corridor copies the polygons.
            unsafe {
                let agent = &mut *dtCrowd_getEditableAgent(self.raw, agent);
                let from = At {
                    poly: *agent.corridor.m_path,
                    point: agent.npos,
                };
                let (polys, partial) = self.query.path(&from, &at);
                let fits = polys.len().min(agent.corridor.m_maxPath as usize) as i32;
                dtPathCorridor_setCorridor(
                    &mut agent.corridor,
                    at.point.as_ptr(),
                    polys.as_ptr(),
                    fits,
                );
                dtLocalBoundary_reset(&mut agent.boundary);
                agent.partial = partial || (fits as usize) < polys.len();
                agent.targetState = MoveRequestState_DT_CROWDAGENT_TARGET_VALID as u8;
                agent.targetReplan = false;
                agent.targetReplanTime = 0.0;
            }
        }
    }

    /// Agents with a complete path.
    pub(crate) fn planned(&self) -> usize {
        let valid = MoveRequestState_DT_CROWDAGENT_TARGET_VALID as u8;
        let has_path = |&&(agent, _): &&(i32, At)| {
            // SAFETY: as above.
            let agent = unsafe { &*dtCrowd_getAgent(self.raw, agent) };
            agent.targetState == valid && !agent.partial
        };
        self.targets.iter().filter(has_path).count()
    }

    /// Mean speed of all agents.
    pub(crate) fn mean_speed(&self) -> f64 {
        let speed = |&(agent, _): &(i32, At)| {
            // SAFETY: as above.
            let v = unsafe { (*dtCrowd_getAgent(self.raw, agent)).vel };
            f64::from(v[0] * v[0] + v[2] * v[2]).sqrt()
        };
        self.targets.iter().map(speed).sum::<f64>() / self.targets.len().max(1) as f64
    }
}
