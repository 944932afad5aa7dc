//! A storage whose calls a test counts, blocks, changes or fails.
