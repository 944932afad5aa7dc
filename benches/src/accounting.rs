//! The kernel's accounting of processor time and memory. It counts what a process has used, not how long it has waited for a
//! processor, so it is reliable on a shared machine.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Returns the processor time of all running threads of a process.
///
/// # Errors
/// Returns an error if the process does not exist, or `/proc` cannot be read.
pub fn cpu_of_process(id: u32) -> io::Result<Duration> {
    sum_over_threads(id, on_cpu)
}

/// Returns the processor time of all running child processes of a process.
pub(crate) fn cpu_of_children(id: u32) -> io::Result<Duration> {
    sum_over_threads(id, |thread| {
        let children = fs::read_to_string(thread.join("children"))?;
        let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
        // Ignore children that have exited since.
        Ok(children.filter_map(|child| cpu_of_process(child).ok()).sum())
    })
}

/// Sums over the threads of a process. Ignores threads that have ended since: their files are gone or unreadable.
fn sum_over_threads(id: u32, used: impl Fn(&Path) -> io::Result<Duration>) -> io::Result<Duration> {
    let mut sum = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        let thread = thread?.path();
        match used(&thread) {
            Err(_) if !thread.exists() => {}
            used => sum += used?,
        }
    }
    Ok(sum)
}

/// Returns the processor time of the calling thread.
///
/// # Errors
/// Returns an error if `/proc` cannot be read.
pub fn cpu_of_this_thread() -> io::Result<Duration> {
    // The kernel updates the value when the thread yields the processor.
    thread::yield_now();
    on_cpu(Path::new("/proc/thread-self"))
}

/// Returns the bytes of memory that a process uses now, and its maximum.
///
/// # Errors
/// Returns an error if the process does not exist, or `/proc` cannot be read.
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
    io::Error::new(io::ErrorKind::InvalidData, format!("/proc's {file} cannot be understood"))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says() {
        assert!(cpu_of_process(std::process::id()).is_ok_and(|used| !used.is_zero()));
        assert!(cpu_of_this_thread().is_ok_and(|used| !used.is_zero()));
        assert!(resident_memory(std::process::id()).unwrap().1 > 0);
    }

    #[test]
    fn a_child_is_counted_as_long_as_it_runs() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let alone = cpu_of_process(child.id()).unwrap();
        let together = cpu_of_children(std::process::id()).unwrap();
        let _ = child.kill();
        assert!(child.wait().is_ok() && together >= alone, "{together:?} of {alone:?}");
    }

    #[test]
    fn threads_that_end_meanwhile_are_left_out() {
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
