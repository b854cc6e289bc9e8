//! An allocator that counts the bytes each thread asks for.

#![allow(unreachable_pub, reason = "shared by the test files that include it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: forwards to the system allocator and changes nothing but a thread's own counter.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + layout.size() as u64));
        // SAFETY: the caller's contract is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `body` and gives the bytes it asked the allocator for, freed or not.
pub fn bytes_asked<R>(body: impl FnOnce() -> R) -> (R, u64) {
    let before = ASKED.with(Cell::get);
    let result = body();
    (result, ASKED.with(Cell::get) - before)
}
