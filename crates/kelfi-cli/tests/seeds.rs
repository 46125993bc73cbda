//! Seeds that every generator takes, simulators that ignore them, and `kelfi check`.

mod common;

use common::{Bench, PROBLEM, root};
use std::collections::HashSet;

const LARGEST: u64 = (1 << 31) - 1;

/// `p.toml` with so many simulations and this command.
fn problem(bench: &Bench, simulations: u32, command: &str) {
    bench.write(
        "p.toml",
        &PROBLEM
            .replace("simulations = 30", &format!("simulations = {simulations}"))
            .replace("[\"./sim.sh\", \"{rate}\", \"{seed}\"]", command),
    );
}

fn column(export: &str, name: &str) -> Vec<String> {
    let mut rows = export.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let at = rows.next().unwrap().iter().position(|found| found == name).unwrap();
    rows.map(|row| row[at].clone()).collect()
}

#[test]
fn seeds_have_31_bits_and_all_of_them_are_given_by_another_name() {
    let bench = Bench::new();
    bench.script("both.sh", "#!/bin/sh\necho $2 $3 >>given\necho $1 0\n");
    problem(&bench, 40, "[\"./both.sh\", \"{rate}\", \"{seed}\", \"{seed64}\"]");
    bench.run(&["simulate", "p.toml", "-j", "2"]).expect(0);
    let given = bench.read("given");
    let (short, wide): (Vec<u64>, Vec<u64>) = given
        .lines()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(short, wide)| (short.parse::<u64>().unwrap(), wide.parse::<u64>().unwrap()))
        .unzip();
    assert!(short.iter().all(|seed| (1..=LARGEST).contains(seed)), "{short:?}");
    assert_eq!(short.iter().collect::<HashSet<_>>().len(), 40);
    assert!(wide.iter().filter(|&&seed| seed > 1 << 32).count() > 30);
    let recorded: HashSet<String> = column(&bench.export("p"), "seed").into_iter().collect();
    assert_eq!(recorded, short.iter().map(u64::to_string).collect());
    let asked = bench.run(&["ask", "p", "-n", "2", "--json"]).expect(0).json();
    assert!(asked[0]["seed"].as_u64().unwrap() <= LARGEST && asked[0]["seed64"].is_u64());
}

#[test]
fn awk_gives_different_noise_to_every_simulation_without_any_arithmetic_on_the_seed() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\nawk -v r=\"$1\" -v s=\"$2\" 'BEGIN { srand(s); print r, rand() }'\n");
    bench.run(&["simulate", "p.toml"]).expect(0);
    let noise: HashSet<String> = column(&bench.export("p"), "b").into_iter().collect();
    assert!(noise.len() >= 29, "{} of 30 simulations have random numbers of their own", noise.len());
}

#[test]
fn a_store_made_with_64_bits_goes_on_with_64_bits() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-n", "10"]).expect(0);
    // As a version without short seeds left it: no key in the problem, and 64 bits in every row.
    let store = bench.path("p/store.sqlite");
    let opened = kelfi_run::Store::read(&store).unwrap();
    let mut old = opened.problem().clone();
    let records: Vec<kelfi_run::Record> = opened
        .records()
        .unwrap()
        .into_iter()
        .map(|record| kelfi_run::Record { seed: Some(kelfi_run::seed::simulator_seed(1, record.index)), ..record })
        .collect();
    drop(opened);
    let mut text: serde_json::Value = serde_json::from_str(&old.text).unwrap();
    assert_eq!(text.as_object_mut().unwrap().remove("seed_bits"), Some(31.into()));
    old.text = text.to_string();
    std::fs::remove_file(&store).unwrap();
    let mut made = kelfi_run::Store::open_or_create(&store, &old).unwrap();
    made.record(&records).unwrap();
    drop(made);
    // Another observation is taken over and must not change what seeds mean.
    bench.write("p.toml", &PROBLEM.replace("a = 1.5", "a = 1.6"));
    bench.run(&["simulate", "p.toml"]).expect(0);
    bench.run(&["simulate", "p.toml", "-n", "35"]).expect(0);
    for (index, seed) in column(&bench.export("p"), "seed").iter().enumerate() {
        assert_eq!(seed, &kelfi_run::seed::simulator_seed(1, index as u64).to_string());
    }
}

#[test]
fn a_command_without_a_seed_is_warned_about_and_builtins_are_not() {
    let bench = Bench::new();
    problem(&bench, 30, "[\"./sim.sh\", \"{rate}\", \"1\"]");
    let ran = bench.run(&["simulate", "p.toml"]).expect(0);
    assert!(ran.err.contains("warning: the command has no {seed}"), "{}", ran.err);
    assert!(!bench.run(&["simulate", "p.toml", "-q", "-n", "31"]).expect(0).err.contains("warning"));
    bench.write("b.toml", "simulations = 120\n[simulator]\nbuiltin = \"exponential_gamma\"\n");
    assert_eq!(bench.run(&["simulate", "b.toml"]).expect(0).err, "");
}

#[test]
fn a_long_run_finds_out_whether_seeds_work_without_changing_what_is_recorded() {
    let bench = Bench::new();
    problem(&bench, 100, "[\"./sim.sh\", \"{rate}\", \"{seed}\"]");
    let ran = bench.run(&["simulate", "p.toml", "-n", "100", "-j", "2"]).expect(0);
    assert_eq!((ran.err.as_str(), bench.calls()), ("", 103));
    let kept: serde_json::Value = serde_json::from_str(&bench.read("p/seeds.json")).unwrap();
    assert_eq!((&kept["same_seed_same_output"], &kept["other_seed_other_output"]), (&true.into(), &true.into()));
    // Asked once only, and a short run does not ask.
    bench.run(&["simulate", "p.toml", "-n", "250"]).expect(0);
    assert_eq!(bench.calls(), 253);
    problem(&bench, 99, "[\"./sim.sh\", \"{rate}\", \"{seed}\"]");
    bench.run(&["simulate", "p.toml", "-o", "short"]).expect(0);
    assert_eq!(bench.calls(), 352);
    assert!(bench.export("p").starts_with(&bench.export("short")), "the first 99 are the same");

    for (script, warning) in [
        ("#!/bin/sh\necho $1 $(od -An -N4 -tu4 /dev/urandom)\n", "the same seed gave different outputs"),
        ("#!/bin/sh\necho $1 $1\n", "another seed gave the same output"),
    ] {
        bench.script("sim.sh", script);
        problem(&bench, 100, "[\"./sim.sh\", \"{rate}\", \"{seed}\"]");
        let _ = std::fs::remove_dir_all(bench.path("new"));
        let ran = bench.run(&["simulate", "p.toml", "-o", "new"]).expect(0);
        assert!(ran.err.contains(warning), "{}", ran.err);
        let again = bench.run(&["simulate", "p.toml", "-o", "new", "-n", "101"]).expect(0);
        assert!(again.err.contains(warning), "told again when continued: {}", again.err);
    }
}

#[test]
fn check_shows_one_simulation_in_full_and_makes_no_directory() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\necho careful >&2\nawk -v r=\"$1\" -v s=\"$2\" 'BEGIN { srand(s); print r, rand() }'\n");
    let shown = bench.run(&["check", "p.toml", "-j", "2"]).expect(0);
    for part in [
        "command      ./sim.sh ",
        "printed ",
        "stderr       careful",
        "understood   a = ",
        "b = ",
        " s\n",
        "the same output again",
        "another output",
        "for 30 simulations",
    ] {
        assert!(shown.out.contains(part), "no {part:?} in\n{}", shown.out);
    }
    assert!(!bench.has("p") && shown.err.is_empty());
    let json = bench.run(&["check", "p.toml", "--json"]).expect(0).json();
    assert_eq!(
        (&json["same_seed_same_output"], &json["other_seed_other_output"], &json["status"]),
        (&true.into(), &true.into(), &"ok".into())
    );
    assert_eq!(json["statistics"]["a"], json["parameters"]["rate"]);
    // It is the run's first simulation.
    bench.run(&["simulate", "p.toml", "-n", "1"]).expect(0);
    assert_eq!(column(&bench.export("p"), "b")[0], format!("{:?}", json["statistics"]["b"].as_f64().unwrap()));
}

#[test]
fn check_tells_what_is_wrong_with_a_simulator() {
    let bench = Bench::new();
    bench.script("sim.sh", "#!/bin/sh\nprintf 'a \\033[31mred\\n'\n");
    let ran = bench.run(&["check", "p.toml"]).expect(4).says("bad-output");
    assert!(ran.out.contains("printed      a \\u001b[31mred") && !ran.out.contains('\u{1b}'), "{}", ran.out);
    bench.script("sim.sh", "#!/bin/sh\necho 1 2 3\n");
    bench.run(&["check", "p.toml"]).expect(4).says("3 numbers printed, 2 statistics");
    bench.script("sim.sh", "#!/bin/sh\necho $1 $(od -An -N4 -tu4 /dev/urandom)\n");
    bench.run(&["check", "p.toml"]).expect(0).says("the same seed gave different outputs");
    bench.script("sim.sh", "#!/bin/sh\necho $1 7\n");
    bench.run(&["check", "p.toml"]).expect(0).says("another seed gave the same output");
    bench.write("none.toml", &PROBLEM.replace("[simulator]\ncommand = [\"./sim.sh\", \"{rate}\", \"{seed}\"]\n", ""));
    bench.run(&["check", "none.toml"]).expect(2).says("`simulator`");
    bench.write("b.toml", "[simulator]\nbuiltin = \"exponential_gamma\"\n");
    bench.run(&["check", "b.toml"]).expect(0).says("the same output again");
    bench.script("worker.sh", "#!/bin/sh\nwhile read line; do echo '[1, 2]'; done\n");
    problem(&bench, 30, "[\"./worker.sh\"]\nprotocol = \"worker\"");
    let ran = bench.run(&["check", "p.toml"]).expect(0).says("have no \"index\"");
    assert!(ran.out.contains("sent         {\"index\":0,\"seed\":"), "{}", ran.out);
}

#[test]
fn the_examples_use_seeds_well_and_their_worker_echoes_the_index() {
    let bench = Bench::new();
    for (name, worker) in [("awk", false), ("file-based", false), ("python", true)] {
        let path = root().join("examples").join(name).join("problem.toml");
        let json = bench.run(&["check", path.to_str().unwrap(), "--json"]).expect(0).json();
        assert_eq!(json["warnings"], serde_json::json!([]), "{name}: {json}");
        assert_eq!(json["echoes_index"], if worker { true.into() } else { serde_json::Value::Null }, "{name}");
    }
}
