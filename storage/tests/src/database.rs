//! A database that both a storage and plain SQL of a host application change, and the laws that hold for each.
