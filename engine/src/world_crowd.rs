//! One crowd per agent class of a [`NavWorld`].
//!
//! Classes step in their order, each on its own mesh. Agents of different classes walk different
//! meshes and do not see each other. There is no saved form of its own: save and restore each crowd
//! of [`WorldCrowd::crowds`] with its mesh, in class order.

use crate::NavWorld;
use throng_query::mesh::PathStatus;
use throng_sim::crowd::{Agent, AgentId, AgentOptions, Crowd, CrowdError, CrowdOptions};
use throng_soa::error::ArgumentError;
use throng_soa::world::DVec3;

/// An agent of a [`WorldCrowd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorldAgentId {
    /// The class whose crowd it is in.
    pub class: u32,
    /// The agent in that crowd.
    pub agent: AgentId,
}

/// Crowds for every class of a world.
///
/// ```
/// use throng::{AgentOptions, CrowdOptions, DVec3, NavSettings, NavWorld, WorldCrowd};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
/// #     .map(|(x, z)| DVec3::new(x, 0.0, z));
/// # let triangles = [[0, 1, 2], [2, 1, 3]];
/// let classes = [NavSettings::SMALL, NavSettings::HUMANOID];
/// let world = NavWorld::build(&vertices, &triangles, &classes)?;
/// let mut crowd = WorldCrowd::new(&world, CrowdOptions::default())?;
///
/// let from = DVec3::new(5.0, 0.0, 5.0);
/// let mouse = crowd.add(&world, from, &AgentOptions::SMALL)?;
/// let person = crowd.add(&world, from, &AgentOptions::HUMANOID)?;
/// assert_eq!((mouse.class, person.class), (0, 1));
/// crowd.set_destination(&world, mouse, DVec3::new(30.0, 0.0, 30.0))?;
/// crowd.step(&world, 0.05)?;
///
/// // Rolling back: each class with its own mesh, in order.
/// let save = |crowd: &WorldCrowd| -> Vec<Vec<u8>> {
///     let pairs = crowd.crowds().iter().zip(world.meshes());
///     pairs.map(|(crowd, mesh)| crowd.save_state(mesh)).collect()
/// };
/// let saved = save(&crowd);
/// crowd.step(&world, 0.05)?;
/// for (class, bytes) in saved.iter().enumerate() {
///     crowd.crowds_mut()[class].restore_state(&world.meshes()[class], bytes)?;
/// }
/// assert_eq!(save(&crowd), saved);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorldCrowd {
    crowds: Vec<Crowd>,
}

impl WorldCrowd {
    /// An empty crowd per class of `world`, each with the same options (so each with its own
    /// threads and room for `max_agents`).
    ///
    /// # Errors
    /// Names the option that is out of range.
    pub fn new(world: &NavWorld, options: CrowdOptions) -> Result<Self, ArgumentError> {
        Self::with_options(world, |_| options.clone())
    }

    /// An empty crowd per class of `world`, with options by class.
    ///
    /// # Errors
    /// Names the option that is out of range.
    pub fn with_options(
        world: &NavWorld,
        mut options: impl FnMut(usize) -> CrowdOptions,
    ) -> Result<Self, ArgumentError> {
        let crowds: Result<Vec<_>, _> = (0..world.class_count())
            .map(|class| Crowd::new(options(class)))
            .collect();
        Ok(Self { crowds: crowds? })
    }

    /// The crowds, by class.
    #[must_use]
    pub fn crowds(&self) -> &[Crowd] {
        &self.crowds
    }

    /// The crowds, by class, for calls that have no form here. Their number does not change.
    pub fn crowds_mut(&mut self) -> &mut [Crowd] {
        &mut self.crowds
    }

    /// Agents of all classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.crowds.iter().map(Crowd::len).sum()
    }

    /// Whether there are no agents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.crowds.iter().all(Crowd::is_empty)
    }

    /// Adds an agent to the class its radius asks for ([`NavWorld::class_for`]). It stays in that
    /// class, whatever its settings become.
    ///
    /// # Errors
    /// As [`Crowd::add`], or a world with other classes than this crowd was made for.
    pub fn add(
        &mut self,
        world: &NavWorld,
        position: DVec3,
        options: &AgentOptions,
    ) -> Result<WorldAgentId, CrowdError> {
        self.check_world(world)?;
        options.validate()?;
        let class = world.class_for(options.radius)?;
        let agent = self.crowds[class].add(&world.meshes()[class], position, options)?;
        let class = class as u32;
        Ok(WorldAgentId { class, agent })
    }

    /// [`add`](Self::add) that gives `None` when no polygon is near or the class's crowd is full.
    ///
    /// # Errors
    /// An option or coordinate out of range, or a world with other classes.
    pub fn try_add(
        &mut self,
        world: &NavWorld,
        position: DVec3,
        options: &AgentOptions,
    ) -> Result<Option<WorldAgentId>, ArgumentError> {
        match self.add(world, position, options) {
            Ok(id) => Ok(Some(id)),
            Err(CrowdError::Argument(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Removes an agent. False when it is not in the crowd.
    pub fn remove(&mut self, id: WorldAgentId) -> bool {
        let crowd = self.crowds.get_mut(id.class as usize);
        crowd.is_some_and(|crowd| crowd.remove(id.agent))
    }

    /// The agent, while it is in the crowd.
    #[must_use]
    pub fn agent(&self, id: WorldAgentId) -> Option<Agent<'_>> {
        self.crowds.get(id.class as usize)?.agent(id.agent)
    }

    /// All agents, by class and then by slot.
    pub fn agents(&self) -> impl Iterator<Item = (WorldAgentId, Agent<'_>)> {
        self.crowds.iter().zip(0_u32..).flat_map(|(crowd, class)| {
            crowd.agents().map(move |agent| {
                let id = WorldAgentId {
                    class,
                    agent: agent.id(),
                };
                (id, agent)
            })
        })
    }

    /// [`Crowd::set_destination`] on the agent's class.
    ///
    /// # Errors
    /// A coordinate out of range, the agent is gone, or a world with other classes.
    pub fn set_destination(
        &mut self,
        world: &NavWorld,
        id: WorldAgentId,
        destination: DVec3,
    ) -> Result<PathStatus, CrowdError> {
        self.check_world(world)?;
        let class = self.class_of(id)?;
        self.crowds[class].set_destination(&world.meshes()[class], id.agent, destination)
    }

    /// [`Crowd::teleport`] on the agent's class.
    ///
    /// # Errors
    /// A coordinate out of range, the agent is gone, or a world with other classes.
    pub fn teleport(
        &mut self,
        world: &NavWorld,
        id: WorldAgentId,
        position: DVec3,
    ) -> Result<bool, CrowdError> {
        self.check_world(world)?;
        let class = self.class_of(id)?;
        self.crowds[class].teleport(&world.meshes()[class], id.agent, position)
    }

    /// One step of every class, in class order.
    ///
    /// # Errors
    /// `dt` is not positive and finite, or a world with other classes: then nobody has moved.
    pub fn step(&mut self, world: &NavWorld, dt: f64) -> Result<(), ArgumentError> {
        self.check_world(world)?;
        for (crowd, mesh) in self.crowds.iter_mut().zip(world.meshes()) {
            // The only thing a crowd refuses is `dt`, so the first class speaks for all.
            crowd.step(mesh, dt)?;
        }
        Ok(())
    }

    fn check_world(&self, world: &NavWorld) -> Result<(), ArgumentError> {
        let (found, own) = (world.class_count(), self.crowds.len());
        if found == own {
            return Ok(());
        }
        let value = format!("a world of {found} classes");
        let allowed = format!("the world of {own} classes the crowd was made for");
        Err(ArgumentError::new("world", value, allowed))
    }

    fn class_of(&self, id: WorldAgentId) -> Result<usize, CrowdError> {
        let class = id.class as usize;
        if class < self.crowds.len() {
            return Ok(class);
        }
        Err(CrowdError::Stale { id: id.agent })
    }
}
