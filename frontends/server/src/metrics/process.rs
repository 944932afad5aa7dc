//! [`Process`]: what Prometheus wants to know of every process.

use std::time::{SystemTime, UNIX_EPOCH};

use super::exposition::Exposition;

/// The process as the system accounts for it.
#[derive(Debug)]
pub(super) struct Process {
    started: SystemTime,
}

impl Process {
    /// This process, which counts as started now.
    pub(super) fn begun_now() -> Self {
        Self { started: SystemTime::now() }
    }

    /// Writes what the system tells; what it does not is left out.
    pub(super) fn render(&self, out: &mut Exposition) {
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        out.gauge("process_start_time_seconds", "When the process began, since 1970-01-01T00:00:00Z.")
            .value(started.as_secs_f64());
        if let Some(seconds) = cpu_seconds() {
            out.counter("process_cpu_seconds_total", "Time that the process was on a processor.").value(seconds);
        }
        if let Some(bytes) = resident_bytes() {
            out.gauge("process_resident_memory_bytes", "Memory that the process has.").value(bytes);
        }
        if let Some(files) = open_files() {
            out.gauge("process_open_fds", "Files and sockets that are open.").value(files);
        }
        if let Some(files) = most_open_files() {
            out.gauge("process_max_fds", "Files and sockets that may be open.").value(files);
        }
    }
}

#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

/// Linux alone tells it in a file.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1024)
}

fn open_files() -> Option<u64> {
    let files = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    // One of them is the directory itself.
    Some(files.saturating_sub(1))
}

#[cfg(unix)]
fn most_open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(unix))]
fn most_open_files() -> Option<u64> {
    None
}
