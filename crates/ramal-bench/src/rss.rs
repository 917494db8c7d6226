//! One child process, and what it took: time, processor, memory.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a child process took.
#[derive(Clone, Debug)]
pub struct Usage {
    /// How it ended.
    pub status: ExitStatus,
    /// From before it was started until it was gone.
    pub wall: Duration,
    /// Processor time of all its threads, in user and kernel mode.
    pub cpu: Duration,
    /// The most memory it had resident, in bytes.
    ///
    /// Linux counts a child from the moment it is forked, so this is never
    /// below the peak of the process that measures: see [`own_peak`].
    pub peak: u64,
    /// Its standard output, where that was asked for.
    pub output: Vec<u8>,
}

/// What becomes of a child's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It goes to the null device.
    Discard,
    /// It is read into memory.
    Capture,
}

/// Runs `command` to its end, with `input` on its standard input. The input
/// must fit a pipe; it is written before the output is read.
///
/// # Errors
///
/// When the process cannot be started or waited for. One that fails is no
/// error: see [`Usage::status`].
pub fn run(command: &mut Command, input: &[u8], output: Output) -> io::Result<Usage> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(match output {
        Output::Discard => Stdio::null(),
        Output::Capture => Stdio::piped(),
    });
    let start = Instant::now();
    let mut child = command.spawn()?;
    let talked = talk(&mut child, input);
    let reaped = reap(child);
    let wall = start.elapsed();
    let (status, cpu, peak) = reaped?;
    Ok(Usage { status, wall, cpu, peak, output: talked? })
}

/// Writes the input, closes it, and reads the output if there is a pipe.
fn talk(child: &mut Child, input: &[u8]) -> io::Result<Vec<u8>> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input) {
            // A child that ends without reading says why in its status.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut output)?;
    }
    Ok(output)
}

/// Waits for the child; its pipes are closed here at the latest.
#[cfg(unix)]
fn reap(child: Child) -> io::Result<(ExitStatus, Duration, u64)> {
    use std::os::unix::process::ExitStatusExt;

    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    drop(child);
    let mut status = 0;
    let mut usage = empty_usage();
    loop {
        // SAFETY: both pointers are to live, writable values of the types that
        // wait4 fills. The child is ours and nobody else has waited for it:
        // dropping a `Child` does not.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if waited == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
    Ok((ExitStatus::from_raw(status), cpu, peak_bytes(&usage)))
}

/// Without `wait4` a child can be timed but not measured.
#[cfg(not(unix))]
fn reap(mut child: Child) -> io::Result<(ExitStatus, Duration, u64)> {
    Ok((child.wait()?, Duration::ZERO, 0))
}

/// The most memory that this process itself had resident so far, in bytes:
/// the least that [`Usage::peak`] of its children can be.
#[cfg(unix)]
pub fn own_peak() -> u64 {
    let mut usage = empty_usage();
    // SAFETY: the pointer is to a live, writable value of the type that
    // getrusage fills.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    if failed == 0 { peak_bytes(&usage) } else { 0 }
}

/// Not known here.
#[cfg(not(unix))]
pub fn own_peak() -> u64 {
    0
}

#[cfg(unix)]
fn empty_usage() -> libc::rusage {
    // SAFETY: `rusage` is a C structure of integers; all zeros is one of its
    // values.
    unsafe { std::mem::zeroed() }
}

#[cfg(unix)]
fn duration(time: libc::timeval) -> Duration {
    // How wide the fields are differs between systems.
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

/// The kernel counts in kilobytes, Apple's in bytes.
#[cfg(unix)]
fn peak_bytes(usage: &libc::rusage) -> u64 {
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_pass_through() {
        let usage = run(&mut Command::new("cat"), b"hello\n", Output::Capture).unwrap();
        assert!(usage.status.success());
        assert_eq!(usage.output, b"hello\n");
        assert!(usage.peak > 0);
    }

    #[test]
    fn a_failure_is_told_by_the_status() {
        let usage = run(Command::new("sh").args(["-c", "exit 3"]), b"", Output::Discard).unwrap();
        assert_eq!(usage.status.code(), Some(3));
        let usage = run(&mut Command::new("true"), &[b'x'; 4096], Output::Discard).unwrap();
        assert!(usage.status.success());
    }

    #[test]
    fn memory_and_processor_are_seen() {
        let script = "x=$(head -c 30000000 /dev/zero | tr '\\0' a); echo ${#x}";
        let usage = run(Command::new("sh").args(["-c", script]), b"", Output::Capture).unwrap();
        assert_eq!(usage.output, b"30000000\n");
        assert!(usage.peak > 30_000_000, "{}", usage.peak);
        assert!(usage.cpu > Duration::ZERO && usage.wall > Duration::ZERO);
        assert!(own_peak() > 0);
    }
}
