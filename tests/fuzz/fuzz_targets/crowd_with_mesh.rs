//! OPCS kind 2: a crowd with its mesh, in either mode.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::crowd_with_mesh(data));
