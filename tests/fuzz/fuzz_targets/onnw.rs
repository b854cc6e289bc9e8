//! ONNW: a world of classes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::onnw(data));
