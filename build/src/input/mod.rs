//! Level geometry from outside: triangle soups, files and generated levels.

pub mod height_grid;
pub mod levels;
pub mod obj;
pub mod soup;

pub use soup::Soup;
