//! ONNM: a baked mesh with its settings.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::onnm(data));
