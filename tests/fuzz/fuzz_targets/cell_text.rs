//! Voxels and heightfields as text.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::cell_text(data));
