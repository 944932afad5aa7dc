//! The kernel's account of who used the processor and how much memory they have. It counts what a process has done, not
//! how long it has waited for its turn, so it holds on a machine that others use too.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How much of the processor's time all threads of a process have used so far, those that ended left out.
///
/// # Errors
/// When there is no such process, or the system does not say.
pub fn cpu_of_process(id: u32) -> io::Result<Duration> {
    sum_over_threads(id, on_cpu)
}

/// The same for all processes that one has started and that still run.
pub(crate) fn cpu_of_children(id: u32) -> io::Result<Duration> {
    sum_over_threads(id, |thread| {
        let children = fs::read_to_string(thread.join("children"))?;
        let children = children.split_ascii_whitespace().filter_map(|child| child.parse().ok());
        // One that has ended meanwhile counts for nothing.
        Ok(children.filter_map(|child| cpu_of_process(child).ok()).sum())
    })
}

/// A thread that ends while it is read counts for nothing: its files are gone, or cannot be read any more.
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

/// How much of the processor's time the calling thread has used so far.
///
/// # Errors
/// When the system does not say.
pub fn cpu_of_this_thread() -> io::Result<Duration> {
    // The account is brought up to date when a thread lets go of the processor.
    thread::yield_now();
    on_cpu(Path::new("/proc/thread-self"))
}

/// How many bytes of memory a process has now, and had at most.
///
/// # Errors
/// When there is no such process, or the system does not say.
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

/// The first number of a thread's `schedstat`: nanoseconds on the processor.
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
