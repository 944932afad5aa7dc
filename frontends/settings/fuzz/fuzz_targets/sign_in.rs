#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| catalogue_settings_fuzz::sign_in::check(input));
