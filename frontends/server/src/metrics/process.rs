//! Metrics that Prometheus expects of every process.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use catalogue_observers::prometheus::Exposition;

/// Writes what the system reports about this process, which started at `began`. Omits unavailable values.
pub(super) fn render(began: SystemTime, out: &mut Exposition) {
    let began = began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    out.single("process_start_time_seconds", "When the process began, since 1970-01-01T00:00:00Z.", began);
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        use rustix::time::{ClockId, clock_gettime};

        let spent = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
        out.single("process_cpu_seconds_total", "Time that the process was on a processor.", seconds);
        if let Some(files) = getrlimit(Resource::Nofile).current {
            out.single("process_max_fds", "Files and sockets that may be open.", files);
        }
    }
    // Only Linux reports these, in files.
    if let Some(bytes) = resident_bytes() {
        out.single("process_resident_memory_bytes", "Memory that the process has.", bytes);
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // One of them is the open directory itself.
        out.single("process_open_fds", "Files and sockets that are open.", files.count().saturating_sub(1));
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1024)
}
