//! A process under measurement: on a core of its own, with what it costs.
//!
//! Its CPU time is read when it has ended and before it is reaped, so that nothing is missing; its peak memory is read
//! while it runs, several times a second.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::{cpu, memory};

/// How often the memory of a running process is read.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ticks of a second in `/proc/<pid>/stat`: fixed for all processes, whatever the kernel's own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// What a process cost, and what it said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cost {
    /// User and system time of all its threads.
    pub(crate) cpu_seconds: f64,
    /// Time by the clock from start to end.
    pub(crate) wall_seconds: f64,
    /// The most memory that it held at once.
    pub(crate) peak_bytes: f64,
    /// How long each of its threads was on a core, by name, as it was last seen; the first thread has the program's name.
    pub(crate) threads: BTreeMap<String, f64>,
    /// The last line on its standard output.
    pub(crate) last_line: String,
    /// What it said of its success; nothing if a signal ended it.
    exit_code: Option<i32>,
}

impl Cost {
    /// Goes on if the process ended with one of these exit codes.
    pub(crate) fn if_ended_with(self, exit_codes: &[i32]) -> Result<Cost> {
        match self.exit_code {
            Some(code) if exit_codes.contains(&code) => Ok(self),
            Some(code) => bail!("a process ended with exit code {code}: {}", self.last_line),
            None => bail!("a process was killed: {}", self.last_line),
        }
    }
}

/// What to do after a line on the process's standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    GoOn,
    /// Ask the process to stop, as Ctrl-C would.
    Stop,
}

/// Runs a process to its end on one core. `watch` sees each line that it prints.
///
/// # Errors
/// If it does not start. Whether it succeeded is for the caller to judge.
pub(crate) fn measure(
    command: &mut Command,
    core: usize,
    mut watch: impl FnMut(&str) -> Wish,
) -> Result<Cost> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let begun = Instant::now();
    let mut child = cpu::on_core(core, || {
        command
            .spawn()
            .with_context(|| format!("cannot start {name}"))
    })?;
    let pid = pid_of(&child)?;
    let lines = lines_of(&mut child);
    let mut cost = Cost::default();
    loop {
        for line in lines.try_iter() {
            if watch(&line) == Wish::Stop {
                kill_process(pid, Signal::INT).with_context(|| format!("cannot stop {name}"))?;
            }
            cost.last_line = line;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if waitid(WaitId::Pid(pid), options)?.is_some() {
            break;
        }
        let peak = memory::peak_of(&pid.as_raw_pid().to_string());
        cost.peak_bytes = cost.peak_bytes.max(peak.unwrap_or_default());
        look_at_threads(pid, &mut cost.threads);
        thread::sleep(LOOK_EVERY);
    }
    cost.cpu_seconds = cpu_seconds(pid)?;
    cost.wall_seconds = begun.elapsed().as_secs_f64();
    cost.exit_code = child.wait()?.code();
    // The process has ended, so the lines end too.
    cost.last_line = lines.iter().last().unwrap_or(cost.last_line);
    Ok(cost)
}

/// A process that serves the others; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Servant {
    child: Child,
    /// The first line that it printed.
    pub(crate) greeting: String,
}

impl Servant {
    /// Starts it on one core, and waits for its first line.
    pub(crate) fn start(command: &mut Command, core: usize) -> Result<Servant> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let name = command.get_program().to_string_lossy().into_owned();
        let child = cpu::on_core(core, || {
            command
                .spawn()
                .with_context(|| format!("cannot start {name}"))
        })?;
        let mut servant = Servant {
            child,
            greeting: String::new(),
        };
        if let Some(output) = servant.child.stdout.take() {
            BufReader::new(output).read_line(&mut servant.greeting)?;
        }
        Ok(servant)
    }
}

impl Drop for Servant {
    fn drop(&mut self) {
        // The end of its input is its sign to stop.
        drop(self.child.stdin.take());
        let _status = self.child.wait();
    }
}

fn pid_of(child: &Child) -> Result<Pid> {
    let number = i32::try_from(child.id()).context("a process number beyond all bounds")?;
    Pid::from_raw(number).context("process number zero")
}

/// What the process prints, line by line, as it comes.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (send, lines) = channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
    }
    lines
}

/// User and system time of a process, with those of its threads that have ended.
fn cpu_seconds(pid: Pid) -> Result<f64> {
    let path = format!("/proc/{}/stat", pid.as_raw_pid());
    let stat = read(&path)?;
    cpu_ticks(&stat)
        .map(|ticks| ticks / TICKS_PER_SECOND)
        .with_context(|| format!("{path} is not what it used to be"))
}

/// Fields 14 and 15, counted after the name, which may hold anything.
fn cpu_ticks(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Notes how long each thread has been on a core. One that has ended meanwhile stays as it was last seen.
fn look_at_threads(pid: Pid, threads: &mut BTreeMap<String, f64>) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid())) else {
        return;
    };
    for task in tasks.flatten() {
        let name = fs::read_to_string(task.path().join("comm"));
        let on_core = fs::read_to_string(task.path().join("schedstat"));
        if let (Ok(name), Ok(on_core)) = (name, on_core)
            && let Some(nanoseconds) = on_core.split_ascii_whitespace().next()
            && let Ok(nanoseconds) = nanoseconds.parse::<f64>()
        {
            threads.insert(name.trim_end().to_owned(), nanoseconds / 1e9);
        }
    }
}

fn read(path: &str) -> Result<String> {
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .with_context(|| format!("cannot read {path}"))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_found_after_any_name() {
        let stat = "42 (a) b) S 1 2 3 4 5 6 7 8 9 10 70 30 0 0 20 0";
        assert_eq!(cpu_ticks(stat), Some(100.0));
        assert_eq!(cpu_ticks("42 (a"), None);
    }

    #[test]
    fn a_process_is_measured_to_its_end() {
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo one; echo two",
        ]);
        let mut seen = Vec::new();
        let cost = measure(&mut shell, 0, |line| {
            seen.push(line.to_owned());
            Wish::GoOn
        })
        .unwrap();
        assert_eq!(cost.last_line, "two");
        assert!(0.0 < cost.wall_seconds);
        assert!(0.0 < cost.cpu_seconds);
    }

    #[test]
    fn a_process_may_end_as_its_caller_expects_and_not_otherwise() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo why; exit 3"]);
        let cost = measure(&mut shell, 0, |_| Wish::GoOn).unwrap();
        assert!(cost.clone().if_ended_with(&[0, 3]).is_ok());
        let error = cost.if_ended_with(&[0]).unwrap_err();
        assert!(error.to_string().contains("why"), "{error}");
    }

    #[test]
    fn a_process_is_stopped_on_a_line() {
        // A shell cannot trap what was ignored when it began, as in a job in the background.
        let mut shell = Command::new("env");
        shell.args([
            "--default-signal=INT",
            "sh",
            "-c",
            "trap 'echo bye; exit 0' INT; while :; do echo on; sleep 0.05; done",
        ]);
        let cost = measure(&mut shell, 0, |_| Wish::Stop).unwrap();
        assert_eq!(cost.last_line, "bye");
    }
}
