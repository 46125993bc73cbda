//! Each command from its files to its output.

mod common;

use common::{Bench, PROBLEM};
use npyz::WriterBuilder;
use std::fmt::Write as _;

/// [`PROBLEM`] without a simulator.
fn without_simulator() -> String {
    PROBLEM.replace("[simulator]\ncommand = [\"./sim.sh\", \"{rate}\", \"{seed}\"]\n", "")
}

#[test]
fn ask_and_tell_give_what_a_run_gives() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q", "-o", "run"]).expect(0);
    let first = bench.run(&["ask", "p.toml", "-n", "10", "-o", "asked"]).expect(0).out;
    let second = bench.run(&["ask", "asked", "-n", "20"]).expect(0).out;
    let rows: Vec<&str> = first.lines().skip(1).chain(second.lines().skip(1)).collect();
    assert_eq!((first.lines().next().unwrap(), rows.len()), ("index,seed,rate", 30));
    assert_eq!(rows.iter().filter(|row| row.starts_with("3,")).count(), 1, "asking twice gives different ones");

    let made = bench.export("run");
    let statistics = |index: usize| made.lines().nth(index + 1).unwrap().split(',').map(str::to_owned).collect::<Vec<_>>();
    // The first half with its parameters, the second with the index alone and out of order.
    let (mut full, mut bare) = (String::from("index,rate,a,b,seed\n"), String::from("index,b,a\n"));
    for (at, row) in rows.iter().enumerate() {
        let (asked, run): (Vec<&str>, Vec<String>) = (row.split(',').collect(), statistics(at));
        assert_eq!((asked[2], asked[1]), (run[1].as_str(), run[5].as_str()), "parameters and seeds are those of a run");
        if at < 15 {
            writeln!(full, "{at},{},{},{},{}", asked[2], run[2], run[3], asked[1]).unwrap();
        } else {
            let at = 44 - at;
            let run = statistics(at);
            writeln!(bare, "{at},{},{}", run[3], run[2]).unwrap();
        }
    }
    bench.write("full.csv", &full);
    bench.write("bare.csv", &bare);
    bench.run(&["tell", "asked", "full.csv"]).expect(0).says("15 new");
    bench.run(&["tell", "asked", "full.csv"]).expect(0).says("0 new");
    assert_eq!(bench.run(&["tell", "asked", "bare.csv", "--json"]).expect(0).json()["new"], 15);
    bench.run(&["learn", "asked", "-q"]).expect(0);
    bench.run(&["sample", "asked", "-q"]).expect(0);
    assert_eq!(bench.read("asked/samples.csv"), bench.read("run/samples.csv"));
}

#[test]
fn tell_refuses_what_was_not_asked_and_writes_nothing() {
    let bench = Bench::new();
    bench.run(&["ask", "p.toml", "-n", "2"]).expect(0);
    let refused = |text: &str, word: &str| {
        bench.write("r.csv", text);
        bench.run(&["tell", "p", "r.csv"]).expect(2).says(word);
        assert_eq!(bench.export("p").lines().count(), 1);
    };
    refused("a,b\n1,2\n", "no column `index`");
    refused("index,a\n0,2\n", "no column `b`");
    refused("index,a,b\n7,1,2\n", "7 was never asked for");
    refused("index,rate,a,b\n0,0.123,1,2\n", "rate = 0.123");
    refused("index,a,b\n0,one,2\n", "1 of 1 rows was refused; nothing was stored");
    refused("index,a,b\n0,one,2\n", "line 2");
    refused("index,a,b\nx,1,2\n", "line 2");
    bench.run(&["tell", "p", "nowhere.csv"]).expect(2).says("nowhere.csv");
}

#[test]
fn asked_simulations_are_left_out_of_a_run_until_withdrawn() {
    let bench = Bench::new();
    let json = bench.run(&["ask", "p.toml", "-n", "3", "--json"]).expect(0).json();
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert!(json[2]["seed"].is_u64() && json[2]["parameters"]["rate"].is_f64());
    bench.run(&["simulate", "p.toml"]).expect(0).says("3 simulations handed out").says("27 simulations succeeded");
    bench.run(&["inspect", "p"]).expect(0).says("without a result so far: 3");
    bench.run(&["simulate", "p.toml", "--withdraw"]).expect(0).says("30 simulations succeeded");
}

#[test]
fn simulations_from_csv_or_npz_or_a_run_give_the_same_posterior() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q", "-o", "run"]).expect(0);
    bench.write("bare.toml", &without_simulator());
    // Without the index column, so that rows are numbered in their order.
    let export = bench.export("run");
    let rows: Vec<Vec<&str>> = export.lines().map(|line| line.split(',').collect()).collect();
    let table: Vec<String> = rows.iter().map(|row| format!("{},extra,{},{}", row[3], row[1], row[2])).collect();
    bench.write("data.csv", &table.join("\n"));
    assert_eq!(bench.run(&["import", "bare.toml", "data.csv", "-o", "csv", "--json"]).expect(0).json()["new"], 30);
    bench.run(&["import", "bare.toml", "data.csv", "-o", "csv"]).expect(0).says("0 new");

    let mut npz = zip::ZipWriter::new(std::fs::File::create(bench.path("data.npz")).unwrap());
    for (name, column) in [("rate", 1), ("a", 2), ("b", 3)] {
        npz.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        let mut array = npyz::WriteOptions::<f64>::new().default_dtype().shape(&[30]).writer(&mut npz).begin_nd().unwrap();
        array.extend(rows[1..].iter().map(|row| row[column].parse::<f64>().unwrap())).unwrap();
        array.finish().unwrap();
    }
    npz.finish().unwrap();
    bench.run(&["import", "bare.toml", "data.npz", "-o", "npz"]).expect(0).says("30 new");

    for out in ["csv", "npz"] {
        bench.run(&["run", "bare.toml", "-o", out, "-q"]).expect(0);
        assert_eq!(bench.read(&format!("{out}/samples.csv")), bench.read("run/samples.csv"), "{out}");
    }
}

#[test]
fn import_refuses_bad_tables_and_makes_nothing() {
    let bench = Bench::new();
    let refused = |text: &str, word: &str| {
        bench.write("data.csv", text);
        bench.run(&["import", "p.toml", "data.csv"]).expect(2).says(word).says("data.csv");
        assert!(!bench.has("p"), "{text}");
    };
    refused("rate,a\n1,2\n", "no column `b`");
    refused("rate,a,b\n1,2,x\n", "line 2");
    refused("rate,a,b\n1,2,3\n5,2,3\n", "row 2");
    refused("PK not an archive", "not an NPZ");
    bench.run(&["import", "p.toml", "nowhere.csv"]).expect(2).says("nowhere.csv");
    bench.write("bare.toml", &without_simulator());
    bench.run(&["simulate", "bare.toml"]).expect(2).says("kelfi import");
    bench.run(&["run", "bare.toml"]).expect(2).says("no simulations yet");
}

#[test]
fn learn_and_sample_take_options_and_json() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "--json"]).expect(0).says("\"ok\": 30");
    let fixed = ["learn", "p", "--json", "--epsilon", "0.5,0.25", "--length-scale", "0.5", "--regularization", "0.001"];
    let summary = bench.run(&fixed).expect(0).json();
    assert_eq!(summary["hyperparameters"]["epsilon"], serde_json::json!([0.5, 0.25]));
    assert_eq!(summary["hyperparameters"]["regularization"], 0.001);
    let evidence = bench.run(&["learn", "p", "--json", "--objective", "mkml", "--no-ard", "--model", "kernel-means", "--solver", "exact"]);
    assert_eq!(evidence.expect(0).json()["hyperparameters"]["objective"], "mkml");
    // So small a tolerance that the answer rests on fewer than two simulations: done, but a check failed.
    let narrow = ["learn", "p", "--json", "--epsilon", "0.005,0.005", "--length-scale", "0.5", "--regularization", "0.001"];
    bench.run(&narrow).expect(6).says("effective_simulations");
    assert_eq!(bench.run(&["sample", "p", "-n", "5", "--json"]).expect(0).json()["samples"], 5);
    let first = bench.read("p/samples.csv");
    bench.run(&["sample", "p", "-n", "5", "--seed", "9"]).expect(0);
    assert_ne!(bench.read("p/samples.csv"), first);
    assert_eq!(bench.calls(), 30, "the later stages start no simulator");
    let inspected = bench.run(&["inspect", "p", "--json"]).expect(0).json();
    assert_eq!((&inspected["simulations"]["ok"], &inspected["summary"]["problem"]), (&30.into(), &"small".into()));
}

#[test]
fn the_model_is_given_or_chosen_and_every_later_stage_takes_either() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q"]).expect(0);
    for model in ["kernel-means", "location-scale"] {
        let summary = bench.run(&["learn", "p", "--json", "--model", model]).expect(0).json();
        assert_eq!(summary["hyperparameters"]["model"], model);
        assert!(summary["comparison"].is_null(), "nothing was compared");
        assert_eq!(summary["hyperparameters"]["epsilon"].as_array().unwrap().len(), 2);
        let made = bench.read("p/model.json");
        bench.run(&["learn", "p", "-q", "--model", model]).expect(0);
        assert_eq!(bench.read("p/model.json"), made, "what was learned is taken up");
        let mut drawn = std::collections::HashSet::new();
        for method in ["independent", "slice", "herding"] {
            let found = bench.run(&["sample", "p", "-n", "40", "--json", "--method", method]).expect(0).json();
            assert_eq!(found["effective_samples"].is_f64(), method != "herding");
            let samples = bench.read("p/samples.csv");
            assert_eq!(samples.lines().count(), 41);
            drawn.insert(samples);
        }
        // Without a closed form the chains are what independent samples come from.
        assert_eq!(drawn.len(), if model == "kernel-means" { 3 } else { 2 });
        bench.run(&["report", "p"]).expect(0);
        assert!(bench.read("p/report.html").contains(model));
        bench.run(&["inspect", "p"]).expect(0).says(model).says("relevance");
    }
    let chosen = bench.run(&["learn", "p", "--json"]).expect(0).json();
    assert_eq!(chosen["comparison"]["chosen"], chosen["hyperparameters"]["model"]);
    assert!(chosen["comparison"]["kernel_means"][0].is_f64() && chosen["comparison"]["location_scale"][0].is_f64());
    bench.run(&["inspect", "p"]).expect(0).says("left-out simulations near the observation better, by");
    let refused = ["learn", "p", "--model", "location-scale", "--epsilon", "1"];
    bench.run(&refused).expect(2).says("--epsilon cannot be used with --model location-scale").says("--model kernel-means");
    bench.run(&["learn", "p", "--model", "best"]).expect(2).says("location-scale");
}

#[test]
fn a_run_directory_moved_away_from_its_simulator_can_still_be_learned_from() {
    let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().unwrap());
    bench.run(&["simulate", "p.toml", "-q"]).expect(0);
    let moved = elsewhere.path().join("a/b/c");
    std::fs::create_dir_all(moved.parent().unwrap()).unwrap();
    std::process::Command::new("cp").arg("-r").arg(bench.path("p")).arg(&moved).status().unwrap();
    let text = std::fs::read_to_string(moved.join("problem.toml")).unwrap();
    assert!(text.contains("directory = \"..\""), "{text}");
    std::fs::write(moved.join("problem.toml"), text.replace("\"..\"", "\"nowhere\"")).unwrap();
    let moved = moved.to_str().unwrap();
    bench.run(&["learn", moved, "-q"]).expect(0);
    bench.run(&["ask", moved]).expect(0);
    bench.run(&["run", &format!("{moved}/problem.toml"), "-n", "40"]).expect(2).says("`simulator.directory`");
}

#[test]
fn init_writes_a_problem_that_runs_and_never_overwrites() {
    let bench = Bench::new();
    bench.run(&["init", "new"]).expect(0).says("kelfi run new/problem.toml");
    bench.run(&["init", "new"]).expect(2).says("already exists");
    bench.run(&["run", "new/problem.toml", "-n", "20", "-q"]).expect(0);
    assert!(bench.has("new/problem/summary.json"));
}

#[test]
fn the_examples_run() {
    let bench = Bench::new();
    let examples = common::root().join("examples");
    let path = |name: &str| examples.join(name).to_str().unwrap().to_owned();
    for name in ["python", "awk", "file-based", "data-set"] {
        bench.run(&["run", &path(&format!("{name}/problem.toml")), "-n", "40", "-q", "-o", name]).expect(0);
        assert_eq!(bench.run(&["inspect", name, "--json"]).expect(0).json()["simulations"]["ok"], 40, "{name}");
    }
    let precomputed = path("precomputed/problem.toml");
    bench
        .run(&["import", &precomputed, &path("precomputed/simulations.csv"), "-o", "pre"])
        .expect(0)
        .says("298 simulations succeeded, 2 failed");
    bench.run(&["run", &precomputed, "-o", "pre", "-q"]).expect(0);
    let mut slurm = std::process::Command::new("sh");
    slurm.args([&path("slurm/submit.sh"), "30"]).env("KELFI", env!("CARGO_BIN_EXE_kelfi")).env("OUT", bench.path("slurm"));
    common::Ran::new(slurm.output().unwrap()).expect(0).says("30 new; 30 simulations succeeded").says("2000 samples");
}

#[test]
fn problems_completions_and_manual_are_written() {
    let bench = Bench::new();
    bench.run(&["problems"]).expect(0).says("blowfly").says("sbibm_two_moons");
    assert_eq!(bench.run(&["problems", "--json"]).expect(0).json().as_array().unwrap().len(), 18);
    for shell in ["bash", "zsh", "fish"] {
        bench.run(&["completions", shell]).expect(0).says("kelfi").says("inspect");
    }
    bench.run(&["man"]).expect(0).says(".TH kelfi 1").says("Exit codes");
}

#[test]
fn help_texts_are_as_recorded() {
    // After a change on purpose: KELFI_RECORD=1 cargo test -p kelfi-cli --test commands help
    let bench = Bench::new();
    for command in [
        "",
        "run",
        "init",
        "check",
        "simulate",
        "import",
        "export",
        "ask",
        "tell",
        "learn",
        "sample",
        "report",
        "infer",
        "inspect",
        "problems",
        "methods",
        "compare",
        "completions",
        "man",
    ] {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = bench.run(&arguments).expect(0).out;
        let name = format!("{}.txt", if command.is_empty() { "kelfi" } else { command });
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help").join(name);
        if std::env::var_os("KELFI_RECORD").is_some() {
            std::fs::write(&file, &help).unwrap();
        }
        assert_eq!(help, std::fs::read_to_string(&file).unwrap_or_default(), "{}", file.display());
    }
}

#[test]
fn run_writes_a_report_and_report_writes_it_again_with_its_figures() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q", "-o", "run"]).expect(0);
    bench.run(&["report", "run"]).expect(2).says("kelfi learn");
    bench.run(&["run", "p.toml", "-o", "run"]).expect(0).says("report.html");
    let page = bench.read("run/report.html");
    assert!(page.contains("rate") && page.contains("hash of the problem"), "names and provenance are on the page");
    std::fs::remove_file(bench.path("run/report.html")).unwrap();
    bench.run(&["report", "run", "--figures", "figures"]).expect(0).says("report.html");
    assert!(bench.read("run/report.html").len() > 10_000);
    for kind in ["svg", "png", "csv"] {
        let files = std::fs::read_dir(bench.path("figures")).unwrap().map(|file| file.unwrap().path());
        let figures = files.filter(|path| path.extension().is_some_and(|extension| extension == kind)).count();
        assert!(figures >= 5, "{figures} figures as {kind}");
    }
    assert!(std::fs::read(bench.path("figures/pair-plot.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn the_report_shows_the_truth_of_a_built_in_problem_and_no_other() {
    let bench = Bench::new();
    bench.write("b.toml", "simulations = 60\n[simulator]\nbuiltin = \"exponential_gamma\"\n");
    bench.run(&["run", "b.toml", "-q"]).expect(0);
    assert!(bench.read("b/report.html").contains("truth 4"));
    bench.write("c.toml", "simulations = 60\n[simulator]\nbuiltin = \"exponential_gamma\"\n[observation]\nvalues = { mean = 0.3 }\n");
    bench.run(&["run", "c.toml", "-q"]).expect(0);
    assert!(!bench.read("c/report.html").contains("truth 4"), "another observation was not made by these parameters");
}
