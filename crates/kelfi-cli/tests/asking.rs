//! Other questions to the same simulations: every answer is the one that a run directory of its own would give.

mod common;

use common::{Bench, PROBLEM};
use serde_json::Value;

fn json(bench: &Bench, name: &str) -> Value {
    serde_json::from_str(&bench.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Everything but how long it took, and what follows from that.
fn timeless(mut value: Value) -> Value {
    for key in ["seconds", "checksum", "files", "unchanged"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

/// [`PROBLEM`] without a simulator, with this in place of that.
fn written(changes: &[(&str, &str)]) -> String {
    let simulator = "[simulator]\ncommand = [\"./sim.sh\", \"{rate}\", \"{seed}\"]\n";
    changes.iter().fold(PROBLEM.replace(simulator, ""), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

const PRIOR: &str = "prior = { uniform = { low = 0.0, high = 2.0 } }";
const OTHER: &str = "prior = { normal = { mean = 1.0, std = 0.4 } }";

#[test]
fn each_answer_is_to_the_bit_that_of_a_directory_that_imported_the_simulations_and_asked_the_same() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q", "-n", "200"]).expect(0);
    bench.run(&["export", "p", "-o", "data.csv", "-q"]).expect(0);
    let calls = bench.calls();
    bench.write("y.csv", "b,a\n0.9,1.1\n");
    bench.write("other.toml", &format!("[[parameter]]\nname = \"rate\"\n{OTHER}\n"));
    type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);
    let cases: [Case<'_>; 6] = [
        ("same", &[], &[]),
        ("first", &["--observation", "a=2.0,b=3.0"], &[("a = 1.5, b = 1.5", "a = 2.0, b = 3.0")]),
        ("second", &["--observation", "b=0.7,a=0.8"], &[("a = 1.5, b = 1.5", "a = 0.8, b = 0.7")]),
        ("third", &["--observation", "y.csv"], &[("a = 1.5, b = 1.5", "a = 1.1, b = 0.9")]),
        ("prior", &["--prior", "other.toml"], &[(PRIOR, OTHER)]),
        ("without", &["--ignore", "b", "--observation", "a=1.2"], &[("a = 1.5, b = 1.5", "a = 1.2")]),
    ];
    for (name, options, changes) in cases {
        let asked = bench.run(&[&["infer", "p", "--name", name, "--model", "location-scale"], options].concat());
        bench.write(&format!("{name}.toml"), &written(changes).replace("name = \"small\"", &format!("name = \"small\" # {name}")));
        bench.run(&["import", &format!("{name}.toml"), "data.csv", "-q"]).expect(0);
        let fresh = bench.run(&["run", name, "--model", "location-scale"]);
        assert_eq!(asked.code, fresh.code, "{name}: {} {}", asked.err, fresh.err);
        let of = |place: &str, file: &str| format!("{place}/{file}");
        let answer = format!("p/answers/{name}");
        assert_eq!(bench.read(&of(&answer, "samples.csv")), bench.read(&of(name, "samples.csv")), "{name}");
        for file in ["summary.json", "model.json"] {
            assert_eq!(timeless(json(&bench, &of(&answer, file))), timeless(json(&bench, &of(name, file))), "{name}: {file}");
        }
        assert!(bench.has(&of(&answer, "report.html")) && bench.has(&of(&answer, "problem.toml")));
    }
    let different: std::collections::BTreeSet<String> =
        cases.iter().map(|(name, ..)| bench.read(&format!("p/answers/{name}/samples.csv"))).collect();
    assert_eq!(different.len(), cases.len(), "every question has an answer of its own");
    assert!(!bench.has("p/samples.csv") && bench.calls() == calls, "the run directory is left alone and nothing is simulated");
    let text = bench.run(&["inspect", "p"]).expect(0).says("answers to other questions").out;
    assert!(cases.iter().all(|(name, ..)| text.contains(&format!("  {name} "))), "{text}");
    assert_eq!(bench.run(&["inspect", "p", "--json"]).expect(0).json()["answers"].as_array().unwrap().len(), cases.len());
    // The answer's own problem file asks the same.
    bench.run(&["import", "p/answers/without/problem.toml", "data.csv", "-o", "again", "-q"]).expect(0);
    bench.run(&["run", "again", "-q", "-n", "1", "--model", "location-scale"]);
    assert_eq!(bench.read("again/samples.csv"), bench.read("without/samples.csv"));
}

#[test]
fn many_observations_have_an_answer_a_row_and_one_table() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q", "-n", "60"]).expect(0);
    bench.write("many.csv", "name,a,b,note\nanna,1.5,1.5,x\nbert,1.1,0.9,y\n");
    bench.run(&["infer", "p", "--observations", "many.csv", "--model", "location-scale"]).says("2 answers in p/answers/table.csv");
    bench.run(&["infer", "p", "--name", "bert-alone", "--observation", "a=1.1,b=0.9", "--model", "location-scale"]);
    assert_eq!(bench.read("p/answers/bert/samples.csv"), bench.read("p/answers/bert-alone/samples.csv"));
    let table = bench.read("p/answers/table.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["answer", "a", "b", "rate_mean", "rate_sd"]);
    let mean = json(&bench, "p/answers/bert/summary.json")["parameters"]["rate"]["mean"].as_f64().unwrap();
    assert_eq!((rows[2][0], rows[2][1], rows[2][3]), ("bert", "1.1", format!("{mean:?}").as_str()));
    bench.write("bare.csv", "a,b\n1.5,1.5\n1.1,0.9\n");
    bench.run(&["infer", "p", "--observations", "bare.csv", "--name", "day", "--model", "location-scale", "-q"]);
    assert_eq!(bench.read("p/answers/day-2/samples.csv"), bench.read("p/answers/bert/samples.csv"));
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q"]).expect(0);
    bench.write("two.csv", "a,b\n1,1\n2,2\n");
    bench.write("bad.csv", "a,b\n1,1\n2,x\n");
    bench.write("twice.csv", "name,a,b\nx,1,1\nx,2,2\n");
    bench.write("wrong.toml", "[[parameter]]\nname = \"rat\"\nprior = { uniform = { low = 0, high = 1 } }\n");
    bench.write("broken.toml", "[[parameter]]\nname = \"rate\"\nprior = { uniform = { low = 1, high = 0 } }\n");
    bench.write("far.toml", "[[parameter]]\nname = \"rate\"\nprior = { uniform = { low = 5, high = 6 } }\n");
    let refused = |options: &[&str], word: &str| {
        bench.run(&[&["infer", "p"], options].concat()).expect(2).says(word);
        assert!(!bench.has("p/answers/n/model.json"), "{options:?}");
    };
    refused(&[], "--name");
    refused(&["--name", "../n"], "cannot be the name of an answer");
    refused(&["--name", "n", "--observation", "a=1"], "the observation has no `b`");
    refused(&["--name", "n", "--observation", "a=1,c=2"], "there is no statistic `c`");
    refused(&["--name", "n", "--observation", "a=1,b=x"], "the statistic `b` is \"x\"");
    refused(&["--name", "n", "--observation", "two.csv"], "has 2 rows");
    refused(&["--name", "n", "--ignore", "a,b"], "no statistic is left");
    refused(&["--name", "n", "--ignore", "A"], "there is no statistic `A`");
    refused(&["--name", "n", "--prior", "wrong.toml"], "there is no parameter `rat`");
    refused(&["--name", "n", "--prior", "broken.toml"], "broken.toml:3");
    refused(&["--name", "n", "--prior", "far.toml"], "no simulation lies inside the support of the prior (30 in all)");
    refused(&["--observations", "bad.csv"], "bad.csv: line 3: the statistic `b` is \"x\"");
    refused(&["--observations", "twice.csv"], "two rows have the name \"x\"");
    refused(&["--observations", "two.csv", "--observation", "a=1,b=1"], "cannot be used with");
}

#[test]
fn a_prior_wider_than_the_simulations_is_told_and_a_narrower_one_leaves_simulations_out() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q", "-n", "120"]).expect(0);
    let check = |prior: &str, check: &str| {
        bench.write("prior.toml", &format!("[[parameter]]\nname = \"rate\"\nprior = {{ uniform = {{ {prior} }} }}\n"));
        bench.run(&["infer", "p", "--name", "n", "--prior", "prior.toml", "-q"]);
        let summary = json(&bench, "p/answers/n/summary.json");
        summary["checks"].as_array().unwrap().iter().find(|found| found["name"] == check).cloned()
    };
    let wide = check("low = -4.0, high = 6.0", "prior_draws").unwrap();
    let message = wide["message"].as_str().unwrap();
    assert!(wide["status"] != "ok" && message.starts_with("the simulations cover a narrower region than the prior: 80 % of"), "{wide}");
    assert_eq!(check("low = -4.0, high = 6.0", "outside_prior"), None);
    let narrow = check("low = 0.5, high = 1.5", "outside_prior").unwrap();
    assert!(narrow["status"] == "ok" && narrow["message"].as_str().unwrap().contains("of 120 simulations left out"), "{narrow}");
}

#[test]
fn a_problem_may_ignore_statistics_itself() {
    let bench = Bench::new();
    bench.write("i.toml", &PROBLEM.replace("values = {", "ignore = [\"b\"]\nvalues = {"));
    bench.run(&["run", "i.toml", "-q", "-n", "40", "--rounds", "1"]);
    let statistics = json(&bench, "i/summary.json")["statistics"].clone();
    assert_eq!(statistics.as_object().unwrap().keys().collect::<Vec<_>>(), ["a"]);
    bench.run(&["run", "p.toml", "-q", "-n", "40", "--rounds", "1"]);
    assert_eq!(bench.export("i"), bench.export("p"), "everything is simulated and kept");
    bench.write("i.toml", &PROBLEM.replace("values = {", "ignore = [\"c\"]\nvalues = {"));
    bench.run(&["check", "i.toml"]).expect(2).says("there is no statistic \"c\"");
}
