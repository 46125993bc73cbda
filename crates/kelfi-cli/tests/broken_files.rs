//! ProblemFile files that cannot work: refused with file, line and key before anything starts.

mod common;

use common::Bench;

const GOOD: &str = r#"name = "predator-prey"
seed = 1
simulations = 10

[simulator]
command = ["./sim.sh", "{rate}", "{delay}", "{seed}"]
protocol = "arguments"
timeout = "60s"
retries = 1
on_failure = "zero"

[[parameter]]
name = "rate"
prior = { log_uniform = { low = 0.01, high = 10.0 } }

[[parameter]]
name = "delay"
prior = { normal = { mean = 2.0, std = 0.5 } }

[observation]
values = { mean = 3.1, variance = 0.4 }
"#;

/// (text in [`GOOD`], what it becomes, line of the complaint, two words of it).
const BROKEN: [(&str, &str, usize, &str, &str); 68] = [
    // Misspelt keys.
    ("name = \"predator", "nam = \"predator", 1, "`nam`", "`name`"),
    ("seed = 1", "sede = 1", 2, "`sede`", "`seed`"),
    ("simulations = 10", "simulation = 10", 3, "`simulation`", "`simulations`"),
    ("[simulator]", "[simulater]", 5, "`simulater`", "`simulator`"),
    ("command =", "comand =", 6, "`simulator.comand`", "`command`"),
    ("protocol =", "protocoll =", 7, "`simulator.protocoll`", "`protocol`"),
    ("timeout =", "time_out =", 8, "`simulator.time_out`", "`timeout`"),
    ("retries =", "retry =", 9, "`simulator.retry`", "`retries`"),
    ("on_failure =", "onfailure =", 10, "`simulator.onfailure`", "`on_failure`"),
    ("[[parameter]]\nname = \"rate\"", "[[paramter]]\nname = \"rate\"", 12, "`paramter`", "`parameter`"),
    ("name = \"rate\"", "nane = \"rate\"", 13, "`parameter[0].nane`", "`name`"),
    ("prior = { normal", "priors = { normal", 18, "`parameter[1].priors`", "`prior`"),
    ("log_uniform =", "loguniform =", 14, "`parameter[0].prior.loguniform`", "`log_uniform`"),
    ("{ low = 0.01, high = 10.0 }", "[0.01, 10.0]", 14, "prior.log_uniform`", "{ log_uniform = { low = …, high = … } }"),
    ("low = 0.01", "lo = 0.01", 14, "log_uniform.lo`", "`low`"),
    ("std = 0.5", "sd = 0.5", 18, "normal.sd`", "`std`"),
    ("[observation]", "[observations]", 20, "`observations`", "`observation`"),
    ("values =", "value =", 21, "`observation.value`", "`values`"),
    // Wrong types.
    ("name = \"predator-prey\"", "name = 3", 1, "`name`", "text in quotes"),
    ("seed = 1", "seed = \"1\"", 2, "`seed`", "whole number"),
    ("seed = 1", "seed = 1.5", 2, "`seed`", "whole number"),
    ("simulations = 10", "simulations = true", 3, "`simulations`", "truth value"),
    ("[simulator]\n", "[[simulator]]\n", 5, "`simulator`", "a table"),
    ("[\"./sim.sh\", \"{rate}\", \"{delay}\", \"{seed}\"]", "\"./sim.sh {rate}\"", 6, "`simulator.command`", "a list"),
    ("\"{delay}\", \"{seed}\"", "\"{delay}\", 3", 6, "`simulator.command`", "a list of quoted text"),
    ("timeout = \"60s\"", "timeout = []", 8, "`simulator.timeout`", "not a duration"),
    ("retries = 1", "retries = \"once\"", 9, "`simulator.retries`", "whole number"),
    ("on_failure = \"zero\"", "on_failure = 0", 10, "`simulator.on_failure`", "text in quotes"),
    ("name = \"delay\"", "name = [\"delay\"]", 17, "`parameter[1].name`", "text in quotes"),
    ("prior = { normal = { mean = 2.0, std = 0.5 } }", "prior = \"normal\"", 18, "`parameter[1].prior`", "a table"),
    ("{ normal = { mean = 2.0, std = 0.5 } }", "{ normal = 2 }", 18, "prior.normal`", "a table"),
    ("mean = 2.0", "mean = \"2.0\"", 18, "normal.mean`", "a number"),
    ("values = { mean = 3.1, variance = 0.4 }", "values = [3.1, 0.4]", 21, "`observation.values`", "a table"),
    ("mean = 3.1", "mean = \"3.1\"", 21, "`observation.values.mean`", "a number"),
    // Impossible values.
    ("seed = 1", "seed = -1", 2, "`seed`", "it is -1"),
    ("simulations = 10", "simulations = 0", 3, "`simulations`", "it is 0"),
    ("simulations = 10", "simulations = -5", 3, "`simulations`", "from 1"),
    ("\"arguments\"", "\"argument\"", 7, "`simulator.protocol`", "`arguments`"),
    ("\"60s\"", "\"60 seconds\"", 8, "`simulator.timeout`", "\"60s\""),
    ("\"60s\"", "\"0s\"", 8, "`simulator.timeout`", "1 ms"),
    ("\"60s\"", "-3", 8, "`simulator.timeout`", "-3 s"),
    ("retries = 1", "retries = -1", 9, "`simulator.retries`", "it is -1"),
    ("\"zero\"", "\"ignore\"", 10, "`simulator.on_failure`", "known: zero, drop, abort"),
    ("low = 0.01, high = 10.0", "low = 10.0, high = 0.01", 14, "log_uniform.high`", "above low"),
    ("low = 0.01", "low = -1.0", 14, "log_uniform.low`", "positive"),
    ("low = 0.01", "low = nan", 14, "log_uniform.low`", "finite"),
    ("std = 0.5", "std = 0.0", 18, "normal.std`", "positive"),
    ("std = 0.5", "std = -0.5", 18, "normal.std`", "positive"),
    ("std = 0.5", "std = inf", 18, "normal.std`", "finite"),
    ("{ mean = 2.0, std = 0.5 }", "{ mean = 2.0 }", 18, "normal.std`", "missing"),
    ("{ normal = { mean = 2.0, std = 0.5 } }", "{}", 18, "`parameter[1].prior`", "0 families"),
    (
        "{ normal = { mean = 2.0, std = 0.5 } }",
        "{ normal = { mean = 2.0, std = 0.5 }, beta = { a = 1, b = 1 } }",
        18,
        "`parameter[1].prior`",
        "2 families",
    ),
    ("name = \"delay\"", "name = \"rate\"", 17, "`parameter[1].name`", "twice, first on line 13"),
    ("name = \"delay\"", "name = \"seed\"", 17, "`parameter[1].name`", "reserved"),
    ("name = \"delay\"", "name = \"\"", 17, "`parameter[1].name`", "empty"),
    ("name = \"delay\"\n", "", 16, "`parameter[1].name`", "missing"),
    ("prior = { normal = { mean = 2.0, std = 0.5 } }\n", "", 16, "`parameter[1].prior`", "missing"),
    ("mean = 3.1", "rate = 3.1", 21, "`observation.values.rate`", "same name"),
    ("mean = 3.1, variance = 0.4", "", 21, "`observation.values`", "no statistic"),
    ("mean = 3.1", "mean = inf", 21, "`observation.values.mean`", "finite"),
    ("\nvalues = { mean = 3.1, variance = 0.4 }", "\nfile = \"missing.csv\"", 21, "`observation.file`", "missing.csv"),
    ("\"{delay}\"", "\"{dealy}\"", 6, "`simulator.command`", "{delay}"),
    ("\"./sim.sh\"", "\"./missing.sh\"", 6, "`simulator.command`", "./missing.sh"),
    ("\"./sim.sh\"", "\"sim.sh\"", 6, "`simulator.command`", "\"./sim.sh\""),
    ("[\"./sim.sh\", \"{rate}\", \"{delay}\", \"{seed}\"]", "[]", 6, "`simulator.command`", "empty"),
    ("command =", "builtin = \"blowfly\"\ncommand =", 7, "`simulator.command`", "builtin"),
    ("command = [\"./sim.sh\", \"{rate}\", \"{delay}\", \"{seed}\"]", "builtin = \"blowflies\"", 6, "`simulator.builtin`", "`blowfly`"),
    // No TOML at all.
    ("seed = 1", "seed = 1\nseed = 2", 3, "not valid TOML", "seed"),
];

/// Runs the text as a problem and checks that it is refused before anything starts.
#[track_caller]
fn refused(bench: &Bench, text: &str, line: usize, words: &[&str]) {
    bench.write("broken.toml", text);
    let ran = bench.run(&["run", "broken.toml"]).expect(2);
    let place = format!("broken.toml:{line}: ");
    assert!(ran.err.contains(&place), "no {place:?} in\n{}\nfor\n{text}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "no {word:?} in\n{}\nfor\n{text}", ran.err);
    }
    assert!(ran.out.is_empty() && bench.calls() == 0 && !bench.has("broken"), "something was started for\n{text}");
}

#[test]
fn the_file_that_is_broken_below_works_as_it_is() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\necho \"$1 $2\"\n");
    bench.write("good.toml", GOOD);
    bench.run(&["simulate", "good.toml"]).expect(0).says("10 simulations succeeded");
}

#[test]
fn broken_problem_files_are_refused_with_file_line_key_and_the_nearest_valid_one() {
    let bench = Bench::new();
    for (from, to, line, key, word) in BROKEN {
        assert!(GOOD.contains(from), "{from:?} is not in the good file");
        refused(&bench, &GOOD.replacen(from, to, 1), line, &[key, word]);
    }
}

#[test]
fn built_in_problems_refuse_parameters_and_statistics_they_do_not_have() {
    let bench = Bench::new();
    let builtin = "[simulator]\nbuiltin = \"blowfly\"\n";
    let with = |text: &str| format!("{builtin}{text}");
    refused(&bench, &with("timeout = \"3s\"\n"), 3, &["`simulator.timeout`", "built-in"]);
    refused(&bench, &with("[[parameter]]\nname = \"log_p0\"\nprior = { normal = { mean = 0, std = 1 } }\n"), 4, &["log_p0", "`log_P`"]);
    refused(&bench, &with("[observation]\nvalues = { maxima_05 = 1.0 }\n"), 4, &["maxima_05", "`maxima_0.5`"]);
}

#[test]
fn an_empty_file_says_all_that_is_missing_and_other_rubbish_is_refused() {
    let bench = Bench::new();
    refused(&bench, "", 1, &["`parameter`", "`observation`"]);
    refused(&bench, "name = \"a\"\n[simulator\n", 2, &["not valid TOML"]);
    std::fs::write(bench.path("broken.toml"), b"name = \"a\"\n\xff\xfe").unwrap();
    bench.run(&["run", "broken.toml"]).expect(2).says("broken.toml:2: ");
    bench.run(&["run", "nowhere.toml"]).expect(2).says("nowhere.toml");
    bench.run(&["run", "."]).expect(2);
    bench.run(&["run", "p.toml", "-n", "0"]).expect(2);
    bench.run(&["run", "p.toml", "--epsilon", "-1"]).expect(2);
    bench.run(&["run", "p.toml", "--epsilon", "1,2,3"]).expect(2).says("2 statistics");
    assert!(!bench.has("p"));
}

#[test]
fn every_mistake_is_reported_at_once_in_the_order_of_lines() {
    let bench = Bench::new();
    bench.write("broken.toml", &GOOD.replace("seed = 1", "sed = 1").replace("std = 0.5", "std = -1").replace("\"zero\"", "\"none\""));
    let err = bench.run(&["run", "broken.toml"]).expect(2).err;
    let lines: Vec<usize> = err.lines().filter_map(|line| line.split("broken.toml:").nth(1)?.split(':').next()?.parse().ok()).collect();
    assert_eq!(lines, [2, 10, 18], "{err}");
}

#[test]
fn shell_metacharacters_in_names_and_values_are_inert() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\nprintf '%s' \"$2\" >seen\necho \"$1\"\n");
    let text = r#"
name = "$(touch owned); `touch owned`"
simulations = 5
[simulator]
command = ["./sim.sh", "{r;touch owned}", "$(touch owned)`touch owned`;touch owned|touch owned>owned &", "{seed}"]
[[parameter]]
name = "r;touch owned"
prior = { normal = { mean = 0, std = 1 } }
[observation]
values = { "$(touch owned)" = 0.5 }
"#;
    bench.write("meta.toml", text);
    bench.run(&["run", "meta.toml"]).expect(0);
    assert_eq!(bench.read("seen"), "$(touch owned)`touch owned`;touch owned|touch owned>owned &");
    assert!(!bench.has("owned"));
    assert!(bench.read("meta/samples.csv").starts_with("r;touch owned\n"));
}
