//! The kernel's accounting of processor time and memory. It counts what a process has used, not how long it has waited for a
//! processor, so it is reliable on a shared machine.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Processor time of each running thread, by its path in `/proc`.
#[derive(Debug, Default)]
pub struct CpuTimes(BTreeMap<PathBuf, Duration>);

impl CpuTimes {
    /// Returns the processor time since `earlier`. Ignores threads that have ended: a runtime ends only idle ones.
    pub fn since(&self, earlier: &Self) -> Duration {
        let before = |thread| earlier.0.get(thread).copied().unwrap_or_default();
        self.0.iter().map(|(thread, used)| used.saturating_sub(before(thread))).sum()
    }
}

/// Returns the processor times of all running threads of a process.
pub fn cpu_of_process(id: u32) -> io::Result<CpuTimes> {
    let mut times = CpuTimes::default();
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        let thread = thread?.path();
        match on_cpu(&thread) {
            Err(_) if !thread.exists() => {}
            used => drop(times.0.insert(thread, used?)),
        }
    }
    Ok(times)
}

/// Returns the processor times of all running child processes of a process.
pub(crate) fn cpu_of_children(id: u32) -> io::Result<CpuTimes> {
    let mut times = CpuTimes::default();
    for thread in cpu_of_process(id)?.0.keys() {
        let Ok(children) = fs::read_to_string(thread.join("children")) else { continue };
        let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
        // Ignore children that have exited since.
        times.0.extend(children.filter_map(|child| cpu_of_process(child).ok()).flat_map(|child| child.0));
    }
    Ok(times)
}

/// Returns the processor time of the calling thread.
pub fn cpu_of_this_thread() -> io::Result<Duration> {
    // The kernel updates the value when the thread yields the processor.
    thread::yield_now();
    on_cpu(Path::new("/proc/thread-self"))
}

/// Returns the bytes of memory that a process uses now, and its maximum.
pub fn resident_memory(id: u32) -> io::Result<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    match (field("VmRSS:"), field("VmHWM:")) {
        (Some(now), Some(most)) => Ok((now << 10, most << 10)),
        _ => Err(unreadable("status")),
    }
}

/// Returns the first number of a thread's `schedstat`: nanoseconds on a processor.
fn on_cpu(thread: &Path) -> io::Result<Duration> {
    let schedstat = fs::read_to_string(thread.join("schedstat"))?;
    let nanoseconds = schedstat.split_ascii_whitespace().next().and_then(|number| number.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| unreadable("schedstat"))
}

fn unreadable(file: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("unexpected format of {file} in /proc"))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// Returns the processor time of a process since its start.
    fn total(id: u32) -> Duration {
        cpu_of_process(id).unwrap().since(&CpuTimes::default())
    }

    /// Keeps the processor busy until the thread has used 5 ms of it.
    fn use_5_ms() {
        let before = cpu_of_this_thread().unwrap();
        while cpu_of_this_thread().unwrap() < before + Duration::from_millis(5) {}
    }

    #[test]
    fn own_process_has_used_time_and_memory() {
        assert!(!total(std::process::id()).is_zero());
        assert!(resident_memory(std::process::id()).unwrap().1 > 0);
    }

    #[test]
    fn running_child_is_counted() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let child_time = total(child.id());
        let children_time = cpu_of_children(std::process::id()).unwrap().since(&CpuTimes::default());
        let _ = child.kill();
        assert!(child.wait().is_ok() && children_time >= child_time, "{children_time:?} of {child_time:?}");
    }

    #[test]
    fn thread_that_ends_does_not_reduce_time_of_others() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (report, reported) = std::sync::mpsc::channel();
        let other = std::thread::spawn(move || {
            (0..4).for_each(|_| use_5_ms());
            report.send(()).unwrap();
            let _ = ended.recv();
        });
        reported.recv().unwrap();
        let before = cpu_of_process(std::process::id()).unwrap();
        drop(end);
        other.join().unwrap();
        use_5_ms();
        let used = cpu_of_process(std::process::id()).unwrap().since(&before);
        assert!(used >= Duration::from_millis(5), "{used:?}");
    }

    #[test]
    fn threads_that_end_during_reading_are_ignored() {
        let ended = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    std::thread::spawn(|| ()).join().unwrap();
                }
                ended.store(true, std::sync::atomic::Ordering::Release);
            });
            while !ended.load(std::sync::atomic::Ordering::Acquire) {
                cpu_of_process(std::process::id()).unwrap();
                cpu_of_children(std::process::id()).unwrap();
            }
        });
    }
}
