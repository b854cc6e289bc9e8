//! ONTK: a tile cache's state, in either mode.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::cache_snapshot(data));
