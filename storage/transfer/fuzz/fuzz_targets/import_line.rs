#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| catalogue_transfer_fuzz::import_line::check(input));
