//! Recordings.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::recording(data));
