//! Agent classes: one mesh per agent size over the same level.
//!
//! A mesh is made for one agent: its radius, height and climb shape every polygon. A [`NavWorld`]
//! holds one [`NavMesh`] per class, in the order given; each is the mesh a build of that class
//! alone gives, byte for byte. [`class_for`](NavWorld::class_for) picks the class an agent walks on.

use crate::save;
use crate::{
    BuildError, BuildOptions, MeshPathTask, NavMesh, NavSettings, PathOptions, PathResult, Soup,
};
use throng_query::mesh::Filter;
use throng_soa::bytes::{Buffer, Length, Reader, Sink, Writer};
use throng_soa::error::{ArgumentError, DataError, DataErrorKind};
use throng_soa::world::DVec3;

const FORMAT: &str = "baked world";
const MAGIC: [u8; 4] = *b"ONNW";
const VERSION: u16 = 1;

/// Meshes for several agent classes.
///
/// ```
/// use throng::{DVec3, NavSettings, NavWorld, PathOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let vertices = [(0.0, 0.0), (0.0, 40.0), (40.0, 0.0), (40.0, 40.0)]
///     .map(|(x, z)| DVec3::new(x, 0.0, z));
/// let classes = [NavSettings::SMALL, NavSettings::LARGE];
/// let world = NavWorld::build(&vertices, &[[0, 1, 2], [2, 1, 3]], &classes)?;
/// assert_eq!(world.class_for(0.3)?, 0); // a small creature
/// assert_eq!(world.class_for(0.6)?, 1); // a person is too wide for its mesh
///
/// // The wide class keeps farther from the walls: this corner is not for it.
/// let (corner, far) = (DVec3::new(0.5, 0.0, 0.5), DVec3::new(30.0, 0.0, 30.0));
/// let options = PathOptions { half_extents: DVec3::splat(0.1), ..PathOptions::default() };
/// assert!(world.find_path(0.3, corner, far, &options)?.status.has_path());
/// assert!(!world.find_path(1.5, corner, far, &options)?.status.has_path());
///
/// let again = NavWorld::load(&world.save())?;
/// assert_eq!(again.save(), world.save());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NavWorld {
    meshes: Vec<NavMesh>,
}

impl NavWorld {
    /// Builds a mesh per class from the same triangles, in the order of `classes`, on the calling
    /// thread.
    ///
    /// # Errors
    /// No class, or as [`NavMesh::build`] for the first class that cannot be built.
    pub fn build(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        classes: &[NavSettings],
    ) -> Result<Self, BuildError> {
        Self::build_with(vertices, triangles, classes, &BuildOptions::default())
    }

    /// [`build`](Self::build) with worker threads, area volumes or a progress callback (which
    /// counts the tiles of each class anew).
    ///
    /// # Errors
    /// As [`build`](Self::build), more than 256 threads, or [`BuildError::Cancelled`].
    pub fn build_with(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        classes: &[NavSettings],
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        Self::build_each(classes, |settings| {
            NavMesh::build_with(vertices, triangles, settings, options)
        })
    }

    /// [`build_with`](Self::build_with) from a triangle soup.
    ///
    /// # Errors
    /// As [`build_with`](Self::build_with).
    pub fn build_soup_with(
        soup: &Soup,
        classes: &[NavSettings],
        options: &BuildOptions<'_>,
    ) -> Result<Self, BuildError> {
        Self::build_with(soup.vertices(), soup.triangles(), classes, options)
    }

    /// Builds a mesh per class with `build`: for levels that are not triangles.
    ///
    /// # Errors
    /// No class, or the first error of `build`.
    pub fn build_each(
        classes: &[NavSettings],
        build: impl FnMut(&NavSettings) -> Result<NavMesh, BuildError>,
    ) -> Result<Self, BuildError> {
        let meshes: Result<Vec<_>, _> = classes.iter().map(build).collect();
        Ok(Self::from_meshes(meshes?)?)
    }

    /// A world of meshes that are there already.
    ///
    /// # Errors
    /// No mesh.
    pub fn from_meshes(meshes: Vec<NavMesh>) -> Result<Self, ArgumentError> {
        if meshes.is_empty() {
            return Err(ArgumentError::new("classes", "empty", "at least one class"));
        }
        Ok(Self { meshes })
    }

    /// The class for agents of a radius: the narrowest class at least that wide (the first of
    /// equals), or the widest (again the first) when none is.
    ///
    /// # Errors
    /// A radius that is negative or not finite.
    pub fn class_for(&self, radius: f64) -> Result<usize, ArgumentError> {
        if !(radius.is_finite() && radius >= 0.0) {
            let allowed = "finite and not negative";
            return Err(ArgumentError::new("radius", radius, allowed));
        }
        let width = |class: usize| self.meshes[class].settings().agent_radius;
        let mut best = 0;
        for class in 1..self.meshes.len() {
            let (fits, best_fits) = (width(class) >= radius, width(best) >= radius);
            let better = match (fits, best_fits) {
                (true, true) => width(class) < width(best),
                (false, false) => width(class) > width(best),
                (fits, _) => fits,
            };
            if better {
                best = class;
            }
        }
        Ok(best)
    }

    /// Number of classes; at least 1.
    #[must_use]
    pub fn class_count(&self) -> usize {
        self.meshes.len()
    }

    /// The meshes, by class.
    #[must_use]
    pub fn meshes(&self) -> &[NavMesh] {
        &self.meshes
    }

    /// The meshes, to edit or stream. Their number does not change.
    pub fn meshes_mut(&mut self) -> &mut [NavMesh] {
        &mut self.meshes
    }

    /// The mesh of a class.
    #[must_use]
    pub fn mesh(&self, class: usize) -> Option<&NavMesh> {
        self.meshes.get(class)
    }

    /// The mesh for agents of a radius.
    ///
    /// # Errors
    /// As [`class_for`](Self::class_for).
    pub fn mesh_for(&self, radius: f64) -> Result<&NavMesh, ArgumentError> {
        Ok(&self.meshes[self.class_for(radius)?])
    }

    /// [`NavMesh::find_path`] on the mesh for agents of a radius.
    ///
    /// # Errors
    /// A radius, position or option out of range.
    pub fn find_path(
        &self,
        radius: f64,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<PathResult, ArgumentError> {
        self.mesh_for(radius)?.find_path(start, end, options)
    }

    /// [`NavMesh::find_path_while`] on the mesh for agents of a radius: a search that can be called
    /// off.
    ///
    /// # Errors
    /// A radius, position or option out of range.
    pub fn find_path_while(
        &self,
        radius: f64,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        keep_going: impl FnMut(u64) -> bool,
    ) -> Result<PathResult, ArgumentError> {
        let mesh = self.mesh_for(radius)?;
        mesh.find_path_while(start, end, options, keep_going)
    }

    /// [`NavMesh::find_path_with`] on the mesh for agents of a radius: a filter of any kind in place
    /// of the options' own.
    ///
    /// # Errors
    /// A radius, position or option out of range.
    pub fn find_path_with<F: Filter + ?Sized>(
        &self,
        radius: f64,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
        filter: &F,
    ) -> Result<PathResult, ArgumentError> {
        let mesh = self.mesh_for(radius)?;
        mesh.find_path_with(start, end, options, filter)
    }

    /// [`NavMesh::begin_path`] on the mesh for agents of a radius.
    ///
    /// # Errors
    /// A radius, position or option out of range.
    pub fn begin_path(
        &self,
        radius: f64,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> Result<MeshPathTask<'_>, ArgumentError> {
        self.mesh_for(radius)?.begin_path(start, end, options)
    }

    /// [`NavMesh::find_path_async`] on the mesh for agents of a radius.
    ///
    /// # Errors
    /// A radius, position or option out of range, when first polled.
    pub fn find_path_async<'w>(
        &'w self,
        radius: f64,
        start: DVec3,
        end: DVec3,
        options: &PathOptions,
    ) -> impl Future<Output = Result<PathResult, ArgumentError>> + use<'w> {
        let options = options.clone();
        async move {
            let mesh = self.mesh_for(radius)?;
            mesh.find_path_async(start, end, &options).await
        }
    }

    /// The world as bytes, settings included: the same world, the same bytes.
    ///
    /// # Panics
    /// A class is longer than the 4 GiB that its length field holds; [`try_save`](Self::try_save)
    /// gives `None` then.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::with_capacity(self.save_size()));
        self.write(&mut writer);
        writer.finish_or_panic(FORMAT)
    }

    /// Length of the bytes of [`save`](Self::save). Allocates nothing.
    #[must_use]
    pub fn save_size(&self) -> usize {
        let mut writer = Writer::new(Length::default());
        self.write(&mut writer);
        writer.into_sink().0
    }

    /// Writes the bytes of [`save`](Self::save) into `buffer` and returns their number, or `None`
    /// when the buffer is too short or a class is longer than the format holds, 4 GiB (its contents
    /// then mean nothing). Allocates nothing.
    pub fn try_save(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(Buffer::new(buffer));
        self.write(&mut writer);
        writer.finish(FORMAT).ok()?.written()
    }

    fn write<S: Sink>(&self, writer: &mut Writer<S>) {
        writer.bytes(&MAGIC);
        writer.u16(VERSION);
        writer.u16(0);
        writer.length(self.meshes.len());
        for mesh in &self.meshes {
            writer.length(mesh.save_size());
            save::write_to(writer, mesh, mesh.settings());
        }
    }

    /// Loads what [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// Truncated or trailing bytes, another format or version, no class, a count the bytes cannot
    /// hold, or as [`NavMesh::load`] for one of the classes.
    pub fn load(bytes: &[u8]) -> Result<Self, DataError> {
        let mut reader = Reader::new(FORMAT, bytes);
        reader.magic(MAGIC)?;
        reader.version(VERSION)?;
        reader.zero_u16("flags")?;
        let at = reader.offset();
        let count = reader.count("class count", 8, usize::MAX)?;
        if count == 0 {
            let problem = "is 0; a world has at least one class";
            return Err(reader.error_at(at, "class count", DataErrorKind::Value, problem));
        }
        let mut meshes = Vec::new();
        for class in 0..count {
            let length = reader.u32("class length")? as usize;
            let at = reader.offset();
            let envelope = reader.bytes(&format!("class {class}"), length)?;
            meshes.push(NavMesh::load(envelope).map_err(|error| error.offset_by(at))?);
        }
        reader.finish()?;
        Ok(Self { meshes })
    }
}
