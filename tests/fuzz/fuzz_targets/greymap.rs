//! Height grids as pictures.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::greymap(data));
