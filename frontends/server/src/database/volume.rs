//! The file system under a database of SQLite.

use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::statfs;
use rustix::fs::statvfs;

use crate::report::Report;

/// Less is too little for an import, and for the log of one.
const LEAST_SPACE: u64 = 256 << 20;

/// File systems of other machines, by the numbers of Linux's `statfs(2)`. SQLite's shared memory needs one machine.
#[cfg(target_os = "linux")]
const NETWORK: [(u64, &str); 7] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x00c3_6400, "Ceph"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
];

pub(super) fn look(directory: &Path, report: &mut Report) {
    match statvfs(directory) {
        Ok(volume) => {
            let free = volume.f_bavail.saturating_mul(volume.f_frsize);
            let text = format!("{} MiB are free in {}", free >> 20, directory.display());
            if free < LEAST_SPACE {
                report.fault("disk space", format!("{text}; make room"));
            } else {
                report.fine("disk space", text);
            }
        }
        Err(error) => report.fault("disk space", format!("{} cannot be looked at: {error}", directory.display())),
    }
    #[cfg(target_os = "linux")]
    if let Ok(kind) = statfs(directory).map(|volume| u64::from(volume.f_type as u32))
        && let Some((_, name)) = NETWORK.iter().find(|(number, _)| *number == kind)
    {
        let text = format!("{} is on {name}, and SQLite's locks hold on one machine alone", directory.display());
        report.warning("file system", format!("{text}; use a local disk, or PostgreSQL"));
    }
}
