//! OPCS kind 1: a crowd.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| throng_fuzz::crowd_state(data));
