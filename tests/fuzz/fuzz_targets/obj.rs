//! Wavefront OBJ text.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::obj(data));
