//! ONPS: a mesh snapshot of either mode.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::snapshot(data));
