//! Columns: struct-of-arrays tables, typed indices and the chunks that stages run over.
//!
//! [`table!`](crate::table!) declares a table once: a struct with one `Vec` per field, all of one
//! length, and a *chunk*, the mutable view of a run of rows over every column at once. A chunk
//! splits in two, so [`for_each_chunk`] can hand disjoint row ranges to worker threads in safe
//! Rust: a stage cannot write a row that is not its own.
//!
//! Chunks are [`CHUNK`] rows, cut by the layout alone. The thread count decides only who runs a
//! chunk, never where one begins.

use std::ops::Range;

/// Rows per chunk of a stage.
pub const CHUNK: usize = 32;

/// Most worker threads of a crowd or a build.
pub const MAX_THREADS: usize = 256;

/// Declares a typed `u32` index: `index! { /// doc pub struct Row; }`.
#[macro_export]
macro_rules! index {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        $vis struct $name(pub u32);

        impl $name {
            /// The index as a `usize`, for column access.
            #[inline]
            #[must_use]
            $vis fn at(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// Declares a table and its chunk view.
///
/// ```
/// throng_soa::index! {
///     /// A row of [`Walkers`].
///     pub struct Walker;
/// }
/// throng_soa::table! {
///     /// One walker per row.
///     pub struct Walkers, index Walker, chunk WalkerChunk {
///         /// Metres per second.
///         pub speed: f64,
///         /// Steps taken.
///         pub steps: u32,
///     }
/// }
/// let mut walkers = Walkers::default();
/// walkers.resize(3);
/// walkers.speed[1] = 2.0;
/// assert_eq!(walkers.indices().last(), Some(Walker(2)));
/// walkers.reset(Walker(2));
/// let (left, right) = walkers.chunk().split(1);
/// assert_eq!((left.speed.len(), right.speed[0]), (1, 2.0));
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[$meta:meta])*
        $vis:vis struct $table:ident, index $index:ident, chunk $chunk:ident {
            $( $(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        $vis struct $table {
            $( $(#[$field_meta])* $field_vis $field: Vec<$type>, )*
        }

        #[allow(dead_code, reason = "a table need not use every generated method")]
        impl $table {
            /// Number of rows; every column has this length.
            #[must_use]
            $vis fn len(&self) -> usize {
                // All columns have one length.
                [$( self.$field.len(), )*][0]
            }

            /// Whether there are no rows.
            #[must_use]
            $vis fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Grows with default rows, or cuts, to `rows`.
            $vis fn resize(&mut self, rows: usize) {
                $( self.$field.resize(rows, <$type>::default()); )*
            }

            /// Puts one row back to its default. Panics when `row` is not a row.
            $vis fn reset(&mut self, row: $index) {
                $( self.$field[row.at()] = <$type>::default(); )*
            }

            /// The index of every row, ascending.
            $vis fn indices(&self) -> impl DoubleEndedIterator<Item = $index> + use<> {
                (0..self.len() as u32).map($index)
            }

            /// The mutable view of every row.
            $vis fn chunk(&mut self) -> $chunk<'_> {
                $chunk { $( $field: &mut self.$field, )* }
            }

            /// Heap bytes the columns hold.
            #[must_use]
            $vis fn heap_bytes(&self) -> usize {
                0 $( + self.$field.capacity() * size_of::<$type>() )*
            }
        }

        /// Mutable view of a run of rows, every column at once.
        #[derive(Debug)]
        $vis struct $chunk<'a> {
            $( $(#[$field_meta])* $field_vis $field: &'a mut [$type], )*
        }

        impl $crate::table::Chunk for $chunk<'_> {
            fn rows(&self) -> usize {
                // All columns have one length.
                [$( self.$field.len(), )*][0]
            }

            fn split(self, at: usize) -> (Self, Self) {
                $( let $field = self.$field.split_at_mut(at); )*
                (
                    Self { $( $field: $field.0, )* },
                    Self { $( $field: $field.1, )* },
                )
            }
        }

        #[allow(dead_code, reason = "a table need not use every generated method")]
        impl $chunk<'_> {
            /// Splits into the first `at` rows and the rest.
            #[must_use]
            $vis fn split(self, at: usize) -> (Self, Self) {
                $crate::table::Chunk::split(self, at)
            }
        }
    };
}

/// A run of rows that can be cut in two.
pub trait Chunk: Sized + Send {
    /// Rows in the run.
    fn rows(&self) -> usize;
    /// The first `at` rows and the rest.
    fn split(self, at: usize) -> (Self, Self);
}

impl<T: Send> Chunk for &mut [T] {
    fn rows(&self) -> usize {
        self.len()
    }

    fn split(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<A: Chunk, B: Chunk> Chunk for (A, B) {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (a, b) = (self.0.split(at), self.1.split(at));
        ((a.0, b.0), (a.1, b.1))
    }
}

/// Runs `stage` over `chunk` in runs of [`CHUNK`] rows. `stage` gets the rows' range in the table
/// and their view. With `parallel` the runs are spread over the current rayon pool; without it
/// they run here, in order.
pub fn for_each_chunk<C, F>(parallel: bool, chunk: C, stage: &F)
where
    C: Chunk,
    F: Fn(Range<usize>, C) + Sync,
{
    if parallel {
        fork(0, chunk, stage);
        return;
    }
    let (mut first, mut rest) = (0, chunk);
    while rest.rows() > CHUNK {
        let (head, tail) = rest.split(CHUNK);
        stage(first..first + CHUNK, head);
        first += CHUNK;
        rest = tail;
    }
    let rows = rest.rows();
    if rows > 0 {
        stage(first..first + rows, rest);
    }
}

fn fork<C, F>(first: usize, chunk: C, stage: &F)
where
    C: Chunk,
    F: Fn(Range<usize>, C) + Sync,
{
    let rows = chunk.rows();
    if rows == 0 {
        return;
    }
    if rows <= CHUNK {
        stage(first..first + rows, chunk);
        return;
    }
    // Cut at a multiple of CHUNK so the runs are the same as without a pool.
    let half = rows.div_ceil(CHUNK) / 2 * CHUNK;
    let (left, right) = chunk.split(half);
    rayon::join(
        || fork(first, left, stage),
        || fork(first + half, right, stage),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    index! {
        struct Row;
    }

    table! {
        struct Pair, index Row, chunk PairChunk {
            value: u32,
            row: usize,
        }
    }

    #[test]
    fn runs_are_the_same_with_and_without_a_pool() {
        for rows in [0, 1, 31, 32, 33, 64, 65, 200, 1000] {
            let mut tables = [Pair::default(), Pair::default()];
            for (parallel, table) in [false, true].into_iter().zip(&mut tables) {
                table.resize(rows);
                for_each_chunk(
                    parallel,
                    table.chunk(),
                    &|range: Range<usize>, chunk: PairChunk| {
                        assert_eq!(range.start % CHUNK, 0);
                        for (i, row) in range.clone().enumerate() {
                            chunk.value[i] = range.len() as u32;
                            chunk.row[i] = row;
                        }
                    },
                );
                assert!(table.row.iter().copied().eq(0..rows));
            }
            assert_eq!(tables[0].value, tables[1].value);
        }
    }
}
