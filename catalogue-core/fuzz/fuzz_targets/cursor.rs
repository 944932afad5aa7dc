#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| catalogue_core_fuzz::cursor::check(input));
