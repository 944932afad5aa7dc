//! Metrics that Prometheus expects of every process.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use catalogue_observers::prometheus::Exposition;

/// Writes what the system reports about this process, which started at `began`. Omits unavailable values.
pub(super) fn render(began: SystemTime, out: &mut Exposition) {
    let began = began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    out.single("process_start_time_seconds", "Start time of the process, in Unix time.", began);
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        use rustix::time::{ClockId, clock_gettime};

        let spent = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
        out.single("process_cpu_seconds_total", "CPU time of the process.", seconds);
        if let Some(files) = getrlimit(Resource::Nofile).current {
            out.single("process_max_fds", "Maximum number of open files and sockets.", files);
        }
    }
    // Only Linux reports the remaining values, in files.
    if let Some(bytes) = resident_bytes() {
        out.single("process_resident_memory_bytes", "Resident memory of the process.", bytes);
    }
    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // One of the files is the open directory itself.
        out.single("process_open_fds", "Open files and sockets.", files.count().saturating_sub(1));
    }
}

fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kib * 1024)
}
