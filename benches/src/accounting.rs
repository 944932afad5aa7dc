//! The kernel's account of who used the processor and how much memory they have. It counts what a process has done, not
//! how long it has waited for its turn, so it holds on a machine that others use too.

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

/// How much of the processor's time all threads of a process have used so far, those that ended left out.
///
/// # Errors
/// When there is no such process, or the system has no `/proc`.
pub fn cpu_of_process(id: u32) -> io::Result<Duration> {
    let mut sum = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{id}/task"))? {
        match fs::read_to_string(task?.path().join("schedstat")) {
            Ok(text) => sum += on_cpu(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return cpu_in_ticks(id),
            Err(error) => return Err(error),
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
    on_cpu(&fs::read_to_string("/proc/thread-self/schedstat")?)
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

/// The first number of a `schedstat`: nanoseconds on the processor.
fn on_cpu(schedstat: &str) -> io::Result<Duration> {
    let nanoseconds = schedstat.split_ascii_whitespace().next().and_then(|number| number.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| unreadable("schedstat"))
}

/// The same from `stat`, for kernels without schedstat: hundredths of a second, for the user and for the system.
fn cpu_in_ticks(id: u32) -> io::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The second field is the program's name in parentheses, which may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let mut ticks = fields.split_ascii_whitespace().skip(11).map_while(|field| field.parse::<u64>().ok());
    match (ticks.next(), ticks.next()) {
        (Some(user), Some(system)) => Ok(Duration::from_millis((user + system) * 10)),
        _ => Err(unreadable("stat")),
    }
}

fn unreadable(file: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("/proc's {file} cannot be understood"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says() {
        assert!(cpu_of_process(std::process::id()).is_ok() && cpu_in_ticks(std::process::id()).is_ok());
        assert!(cpu_of_this_thread().is_ok());
        assert!(resident_memory(std::process::id()).unwrap().1 > 0);
    }
}
