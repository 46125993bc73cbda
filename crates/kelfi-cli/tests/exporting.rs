//! Simulations that leave a run directory as a table and come back.

mod common;

use common::{Bench, PROBLEM, SIMULATOR};

/// Fails now and then, so that failures travel too.
fn failing() -> String {
    SIMULATOR.replace("#!/bin/sh\n", "#!/bin/sh\ncase $2 in *7) exit 3;; esac\n")
}

#[test]
fn an_export_that_is_imported_gives_the_same_answer() {
    let bench = Bench::new();
    bench.script("sim.sh", &failing());
    bench.run(&["run", "p.toml", "-q", "-n", "60"]);
    let summary = |name: &str| serde_json::from_str::<serde_json::Value>(&bench.read(&format!("{name}/summary.json"))).unwrap();
    assert!(summary("p")["simulations"]["failed"].as_u64().unwrap() > 0);
    for format in ["csv", "npz"] {
        let file = format!("data.{format}");
        bench.run(&["export", "p", "-o", &file]).expect(0).says("60 simulations in");
        bench.run(&["import", "p.toml", &file, "-o", format]).expect(0).says("60 new");
        bench.run(&["run", format, "-q", "-n", "60"]);
        assert_eq!(bench.read(&format!("{format}/samples.csv")), bench.read("p/samples.csv"), "{format}");
        for part in ["simulations", "hyperparameters", "parameters", "statistics", "checks"] {
            assert_eq!(summary(format)[part], summary("p")[part], "{format}: {part}");
        }
        let told = bench.export(format).replace(",import,", ",run,");
        assert_eq!(told, bench.export("p"), "{format}: indices, seeds, statuses and origins are kept");
        bench.run(&["import", "p.toml", &file, "-o", format]).expect(0).says("0 new");
    }
}

#[test]
fn rounds_that_were_imported_count_as_rounds_where_there_is_no_simulator() {
    let bench = Bench::new();
    bench.run(&["run", "p.toml", "-q", "-n", "60"]);
    bench.run(&["export", "p", "-o", "data.csv"]).expect(0);
    let (before, after) = PROBLEM.split_once("[simulator]").unwrap();
    bench.write("data.toml", &format!("{before}{}", &after[after.find("[[parameter]]").unwrap()..]));
    bench.run(&["import", "data.toml", "data.csv", "-o", "d"]).expect(0).says("60 new");
    bench.run(&["run", "d", "-q"]);
    assert_eq!(bench.read("d/samples.csv"), bench.read("p/samples.csv"));
}

#[test]
fn without_a_name_the_table_goes_to_stdout_and_other_endings_are_refused() {
    let bench = Bench::new();
    bench.run(&["simulate", "p.toml", "-q", "-n", "3"]).expect(0);
    let table = bench.run(&["export", "p"]).expect(0).out;
    assert_eq!(table.lines().next().unwrap(), "index,rate,a,b,status,seed,source,origin,round");
    assert_eq!((table.lines().count(), table), (4, bench.export("p")));
    bench.run(&["export", "p", "-o", "data.xlsx"]).expect(2).says("ends in neither .csv nor .npz");
    bench.run(&["export", "nowhere", "-o", "data.csv"]).expect(2).says("there is no store");
}

#[test]
fn a_statistic_may_have_the_name_of_a_further_column() {
    let bench = Bench::new();
    bench.write("p.toml", &PROBLEM.replace("a = 1.5", "origin = 1.5"));
    bench.run(&["simulate", "p.toml", "-q", "-n", "4"]).expect(0);
    for file in ["data.csv", "data.npz"] {
        bench.run(&["export", "p", "-o", file]).expect(0);
        bench.run(&["import", "p.toml", file, "-o", &format!("{file}.run")]).expect(0).says("4 new");
    }
    assert_eq!(bench.export("p").lines().next().unwrap(), "index,rate,origin,b,status,seed,source,round");
}

#[test]
fn a_row_with_an_unknown_origin_is_refused() {
    let bench = Bench::new();
    bench.write("data.csv", "rate,a,b,origin,round\n0.5,1,1,round,2\n0.5,1,1,dream,\n");
    bench.run(&["import", "p.toml", "data.csv"]).expect(2).says("line 3: the origin is \"dream\"");
}
