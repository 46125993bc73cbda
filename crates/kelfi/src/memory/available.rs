//! How many bytes may still be taken: the least of what the machine, the control group and the limits of the process leave.

use std::path::{Path, PathBuf};

/// What the user says may be taken, such as `8GB`: more than this is never used, on any system.
const SAID: &str = "KELFI_MEMORY";

/// Bytes that may still be taken; `None` where nobody knows.
pub fn available() -> Option<u64> {
    let said = std::env::var(SAID).ok().and_then(|text| bytes_of(&text));
    [said, of_machine(), of_control_group(), of_process()].into_iter().flatten().min()
}

/// `MemAvailable` of Linux: what can be taken without swapping.
fn of_machine() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:").map(|kibibytes| kibibytes.saturating_mul(1024))
}

/// What the control groups of this process leave (containers, batch systems): version 2, then version 1.
fn of_control_group() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        match controllers {
            "" => least_upwards(Path::new("/sys/fs/cgroup"), path, ["memory.max", "memory.current"]),
            listed if listed.split(',').any(|name| name == "memory") => {
                least_upwards(Path::new("/sys/fs/cgroup/memory"), path, ["memory.limit_in_bytes", "memory.usage_in_bytes"])
            }
            _ => None,
        }
    };
    groups.lines().filter_map(of_line).min()
}

/// The least that a group and those around it leave. A limit that is no number ("max") is none.
fn least_upwards(root: &Path, path: &str, [limit, used]: [&str; 2]) -> Option<u64> {
    let within: PathBuf = root.join(path.trim_start_matches('/'));
    let number = |folder: &Path, file: &str| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        // Pages of files can be given back.
        let files = std::fs::read_to_string(folder.join("memory.stat")).ok().and_then(|text| field(&text, "inactive_file")).unwrap_or(0);
        Some(number(folder, limit)?.saturating_sub(number(folder, used)?.saturating_sub(files)))
    };
    within.ancestors().take_while(|folder| folder.starts_with(root)).filter_map(left).min()
}

/// What `ulimit -v` and `ulimit -d` leave.
fn of_process() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let left = |limit: &str, used: &str| {
        let soft = limits.lines().find_map(|line| line.strip_prefix(limit))?.split_whitespace().next()?.parse::<u64>().ok()?;
        Some(soft.saturating_sub(field(&status, used)?.saturating_mul(1024)))
    };
    [left("Max address space", "VmSize:"), left("Max data size", "VmData:")].into_iter().flatten().min()
}

/// The number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// Bytes of a number with a unit: kB, MB, GB, TB or none.
fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let factor = match text[split..].to_ascii_lowercase().trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        _ => return None,
    };
    let number = text[..split].trim().parse::<f64>().ok().filter(|number| *number >= 0.0)?;
    Some((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        assert_eq!(bytes_of("8GB"), Some(8_000_000_000));
        assert_eq!(bytes_of(" 1.5 g "), Some(1_500_000_000));
        assert_eq!(bytes_of("4096"), Some(4096));
        assert_eq!([bytes_of("much"), bytes_of("-1GB"), bytes_of("3 bushels")], [None; 3]);
    }

    #[test]
    fn the_tightest_group_counts_and_pages_of_files_do_not() {
        let root = std::env::temp_dir().join(format!("kelfi-groups-{}", std::process::id()));
        let inner = root.join("batch/job");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &Path, name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write(&inner, "memory.max", "max\n");
        write(&inner, "memory.current", "10\n");
        write(&root.join("batch"), "memory.max", "1000\n");
        write(&root.join("batch"), "memory.current", "700\n");
        write(&root.join("batch"), "memory.stat", "anon 5\ninactive_file 200\n");
        let found = least_upwards(&root, "/batch/job", ["memory.max", "memory.current"]);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, Some(500));
        assert_eq!(least_upwards(&root, "/", ["memory.max", "memory.current"]), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_knows() {
        assert!(available().is_some_and(|bytes| bytes > 1_000_000));
    }
}
