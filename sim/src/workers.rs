//! The threads of a crowd or simulator, and each one's scratch.
//!
//! One thread runs inline without a pool. More share one rayon pool and every worker has scratch
//! of its own, so stages allocate nothing and no result depends on who ran what.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use throng_soa::error::ArgumentError;
use throng_soa::table::MAX_THREADS;

/// A fixed set of workers with scratch `S` each.
pub(crate) struct Workers<S> {
    pool: Option<Arc<rayon::ThreadPool>>,
    scratch: Vec<Mutex<S>>,
}

impl<S: Send> Workers<S> {
    /// `threads` workers; `scratch` makes each one's storage.
    ///
    /// # Errors
    /// `threads` is 0 or above [`MAX_THREADS`], or the system refuses to start the threads.
    pub(crate) fn new(threads: usize, scratch: impl Fn() -> S) -> Result<Self, ArgumentError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(ArgumentError::new("threads", threads, "1 to 256"));
        }
        let pool = if threads == 1 {
            None
        } else {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            Some(Arc::new(pool.map_err(|error| {
                ArgumentError::new("threads", threads, format!("startable here ({error})"))
            })?))
        };
        Ok(Self {
            pool,
            scratch: (0..threads).map(|_| Mutex::new(scratch())).collect(),
        })
    }

    /// The way onto the workers for several stages in a row.
    pub(crate) fn entry(&self) -> Entry {
        Entry(self.pool.clone())
    }

    /// Runs `stage` on the workers; it is told whether it may fork.
    pub(crate) fn run<R: Send>(&self, stage: impl FnOnce(bool) -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(|| stage(true)),
            None => stage(false),
        }
    }

    /// Lends every worker's scratch in turn.
    pub(crate) fn each(&mut self, mut body: impl FnMut(&mut S)) {
        for scratch in &mut self.scratch {
            body(scratch.get_mut().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Lends the current worker's scratch. Not to be nested.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut S) -> R) -> R {
        let worker = match &self.pool {
            Some(pool) => pool.current_thread_index().unwrap_or(0),
            None => 0,
        };
        let mut scratch = self.scratch[worker]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        body(&mut scratch)
    }
}

/// Hands a whole step to the workers at once: stages inside stay there instead of being handed
/// over one by one.
pub(crate) struct Entry(Option<Arc<rayon::ThreadPool>>);

impl Entry {
    /// Runs `body` on a worker, or right here when there is one thread.
    pub(crate) fn run<R: Send>(&self, body: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(body),
            None => body(),
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Entry({})",
            self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
        )
    }
}

impl<S> fmt::Debug for Workers<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workers({})", self.scratch.len())
    }
}
