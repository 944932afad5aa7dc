#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| catalogue_hyper_fuzz::forwarded::check(input));
