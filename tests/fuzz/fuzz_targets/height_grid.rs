//! Height grids and the meshes built from them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::height_grid(data));
