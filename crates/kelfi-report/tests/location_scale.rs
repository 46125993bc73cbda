//! The page on a location-scale fit: the same sections, the numbers of the fit, why this model, and nothing that is not a number.

use kelfi::checks;
use kelfi::diagnostics::predictive::{Predicted, check as predictive_check};
use kelfi::diagnostics::{Calibration, range};
use kelfi::learning::StatisticReport;
use kelfi::posterior::Representation;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{
    Fit, FitOptions, KERNEL_MEANS, LOCATION_SCALE, LocationScaleLikelihood, Marginal, ModelChoice, Observation, Points, Prior, Question,
    Recorded, Simulations,
};
use kelfi_report::numbers::number;
use kelfi_report::{Report, ReportInputs};
use std::sync::Arc;

mod common;
use common::{each_stands_first_with_advice, elsewhere, hostile, problem, two_modes, well_formed};

const OURS: ModelChoice = ModelChoice::Use(&LOCATION_SCALE);
/// What each statistic of [`telling`] is.
const NAMES: [&str; 6] = ["straight", "skewed", "spreading", "count", "constant", "repeat"];

/// One parameter; statistics of every kind the table has a word for.
fn telling(count: usize) -> (Prior, Recorded, Observation) {
    let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta = prior.draw(count, 5);
    let rows: Vec<Vec<f64>> = (0..count)
        .map(|j| {
            let (a, mut rng) = (theta.row(j)[0], stream(5, Purpose::Experiment, j as u64));
            let mut noise = || standard_normal(&mut rng);
            let straight = 2.0 * a + 0.3 * noise();
            vec![
                straight,
                (2.0 * a + 0.2 * noise()).exp(),
                a.exp() * noise(),
                (6.0 + 3.0 * a + noise()).round().max(0.0),
                7.0,
                1.0 - straight,
            ]
        })
        .collect();
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&rows).unwrap()).unwrap()));
    (prior, recorded, Observation::Statistics(vec![0.4, 1.5, 0.3, 7.0, 7.0, 0.6]))
}

fn page(fit: &Fit, settings: &FitOptions) -> (Report, String) {
    let statistic_names = NAMES.map(String::from).to_vec();
    let inputs = ReportInputs { statistic_names, largest_refit: 100, ..ReportInputs::new("telling", fit, settings) };
    let report = Report::new(&inputs).unwrap();
    let html = report.to_html().unwrap();
    (report, html)
}

fn fitted(model: ModelChoice, count: usize) -> (Fit, Observation, FitOptions) {
    let ((prior, recorded, observation), settings) = (telling(count), FitOptions::of(model, 3));
    (Fit::new(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true).unwrap(), observation, settings)
}

/// The cells of each row of a table of the page.
fn cells(html: &str, table: &str) -> Vec<Vec<String>> {
    let table = html.split(&format!("id=\"{table}\"")).nth(1).unwrap().split("</table>").next().unwrap();
    let text = |cell: &str| cell.rsplit_once('>').map_or(cell, |(_, text)| text).to_string();
    let row = |row: &str| row.replace("</span></th>", "</td>").split_terminator("</td>").map(text).collect::<Vec<_>>();
    table.split("<tbody>").nth(1).unwrap().split("</tr>").filter(|r| r.contains("<td")).map(row).collect()
}

/// The rows of a figure's numbers, without its header.
fn values(report: &Report, figure: &str) -> Vec<Vec<f64>> {
    let csv = report.numbers().into_iter().find(|(name, _)| name == figure).unwrap().1;
    csv.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect()
}

#[test]
fn the_page_has_every_section_and_says_only_what_holds_for_this_model() {
    let (fit, _, settings) = fitted(OURS, 200);
    let (report, html) = page(&fit, &settings);
    for id in ["checks", "parameters", "pairs", "learned", "predictive", "calibration", "budget", "simulations", "provenance"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let figures: Vec<String> = report.figures().into_iter().map(|f| f.0).collect();
    for id in ["pair-plot", "relevance", "predictive-check", "coverage", "ranks", "width-by-simulations", "score-by-simulations"] {
        assert!(figures.iter().any(|f| f == id), "{id} is drawn: {figures:?}");
    }
    for id in ["profile-score", "profile-evidence", "surface", "epsilon-by-simulations"] {
        assert!(!figures.iter().any(|f| f == id), "{id} belongs to the kernel means model");
    }
    for other in ["matrices factored", "effective simulations", "length scales and λ"] {
        assert!(!html.contains(other), "{other}");
    }
    assert!(html.contains("New outputs were drawn from the fitted model at 2000 draws of the posterior"));
    assert!(html.contains("The location-scale model was used, as requested."));
    for word in html.split(|c: char| !c.is_alphanumeric()) {
        assert!(!["NaN", "nan", "inf", "Infinity"].contains(&word), "the page shows what is not a number");
    }
}

#[test]
fn calibrated_intervals_stand_beside_those_of_the_posterior() {
    for model in [OURS, ModelChoice::Use(&KERNEL_MEANS)] {
        let (fit, _, settings) = fitted(model, 100);
        let (_, html) = page(&fit, &settings);
        let rows = cells(&html, "calibrated-intervals");
        assert_eq!(rows.len(), fit.posterior.prior().dimension());
        let calibration = fit.calibration().unwrap();
        for (d, row) in rows.iter().enumerate() {
            let (low, high) = calibration.interval(&fit.posterior, d, 0.95).unwrap();
            assert_eq!(row[3], format!("{} to {}", number(low), number(high)));
        }
    }
}

#[test]
fn the_table_shows_the_statistics_of_the_fit_and_names_what_each_is() {
    let (fit, _, settings) = fitted(OURS, 200);
    let (_, html) = page(&fit, &settings);
    let model = fit.model_as::<LocationScaleLikelihood>().unwrap();
    let rows = cells(&html, "statistics-table");
    assert_eq!(rows.len(), NAMES.len());
    let relevances: Vec<f64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(relevances.windows(2).all(|pair| pair[0] >= pair[1]), "most relevant first: {relevances:?}");
    let row = |i: usize| rows.iter().find(|row| row[0] == NAMES[i]).unwrap();
    let reports: Vec<StatisticReport> = fit.statistics();
    for statistic in model.statistics() {
        let i = statistic.hyperparameters().index;
        let shown = [reports[i].relevance, statistic.explained(), reports[i].epsilon, reports[i].relative_epsilon];
        assert_eq!(row(i)[1..5], shown.map(number), "{}", NAMES[i]);
    }
    let words = |i: usize| row(i)[5..10].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(words(0), ["constant", "identity", "straight", "Gaussian", ""]);
    assert_eq!(words(1)[1], "logarithm");
    assert_eq!(words(2)[0], "varies");
    assert_eq!(words(3)[4], "values in steps of 1, made continuous");
    assert_eq!(row(4)[1..], ["0", "–", "–", "–", "–", "–", "–", "–", "left out: the same in every simulation"]);
    assert_eq!(row(5)[9], "left out: repeats straight");
}

#[test]
fn evidence_and_chains_are_shown_with_their_errors() {
    let (fit, _, settings) = fitted(OURS, 200);
    let (_, html) = page(&fit, &settings);
    let Representation::Chained(chained) = fit.posterior.form() else { panic!("sampled by chains") };
    let evidence = format!("ln q(y) = {:.2} ± {:.2}", fit.posterior.log_evidence(), fit.posterior.log_evidence_error());
    assert!(html.contains(&evidence), "{evidence}");
    let chains = cells(&html, "chains-table");
    assert_eq!(chains[0][..3], ["a".to_string(), format!("{:.3}", chained.r_hat()[0]), format!("{:.0}", chained.effective()[0])]);
    let (score, error) = fit.score().unwrap();
    assert!(html.contains(&format!("posterior score is {score:.2} ± {error:.2} nats")));
}

#[test]
fn why_this_model_is_told_with_both_scores_whichever_was_chosen() {
    let (chosen, _, settings) = fitted(ModelChoice::Auto, 120);
    let comparison = chosen.comparison.clone().unwrap();
    let other = if chosen.model.family() == &LOCATION_SCALE { &KERNEL_MEANS } else { &LOCATION_SCALE };
    let (second, _, _) = fitted(ModelChoice::Use(other), 120);
    let mut second = second;
    second.comparison = chosen.comparison.clone();
    for fit in [&chosen, &second] {
        let (_, html) = page(fit, &settings);
        let reason = &comparison.reason[1..];
        assert!(html.contains(reason), "{reason}");
        let rows = cells(&html, "models-table");
        for (row, score) in rows.iter().zip([comparison.score("kernel-means"), comparison.score("location-scale"), comparison.difference]) {
            let (value, error) = score.unwrap();
            assert_eq!(row[1], format!("{value:.2} ± {error:.2}"), "{row:?}");
        }
        assert_eq!(rows.iter().filter(|row| row[2] == "used").count(), 1);
    }
    let mut alone = chosen;
    alone.comparison = Some(kelfi::fit::ModelChoiceReport::of_one(&LOCATION_SCALE, "<b>only".into()));
    let (_, html) = page(&alone, &settings);
    assert!(html.contains("&lt;b&gt;only.") && !html.contains("models-table"));
}

#[test]
fn subsets_are_fitted_with_the_model_used_for_all() {
    let (fit, _, settings) = fitted(OURS, 200);
    // Whatever the settings would choose on fewer simulations.
    let other = FitOptions { model: ModelChoice::Use(&KERNEL_MEANS), ..settings };
    let (report, _) = page(&fit, &other);
    let rows = values(&report, "score-by-simulations");
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [25.0, 50.0, 100.0, 200.0]);
    assert_eq!(rows[3][3], fit.score().unwrap().0);
    let (half, _, _) = fitted(OURS, 100);
    assert_eq!(rows[2][3], half.score().unwrap().0);
    let active: Vec<f64> = half.statistics().iter().filter(|s| s.scale.dropped.is_none()).map(|s| s.relative_epsilon).collect();
    let geometric_mean = active.iter().product::<f64>().powf(1.0 / active.len() as f64);
    assert!((rows[2][1] / geometric_mean - 1.0).abs() < 1e-12);
}

#[test]
fn the_page_is_the_same_twice() {
    let once = || {
        let (fit, _, settings) = fitted(OURS, 120);
        page(&fit, &settings).1
    };
    assert_eq!(once(), once());
}

#[test]
fn each_failing_check_stands_first_and_says_what_to_do() {
    let (fit, _, settings) = fitted(OURS, 120);
    let (_, Recorded::Statistics(simulations), _) = telling(120) else { unreachable!("statistics were made") };
    let narrow = Calibration::of_shares(Points::from_column((0..200).map(|i| f64::from(i % 2)).collect()));
    let far = |observed: f64| Predicted { observed, quantiles: [-2.0, -1.0, 0.0, 1.0, 2.0], below: 1.0 };
    let failing = vec![
        checks::negative_mass(0.5),
        checks::within_reach(9.0, 0.0, 120),
        kelfi::diagnostics::steadiness::effective_simulations(None, None, 120),
        range::check(&simulations, &[0.4, 1.5, 0.3, 7.0, 8.0, 0.6], &NAMES.map(String::from)),
        checks::failed_simulations(10, 11),
        checks::chains(1.6, 12.0),
        checks::hyperparameter_at_bound(&["noise of statistic 1".to_string()], LOCATION_SCALE.words.at_bound),
        narrow.check(&["a".to_string()]),
        predictive_check(&[far(9.0), far(8.0)], &["s".to_string(), "t".to_string()]),
        two_modes(),
        elsewhere(),
        checks::dependence(Some(("the noise of statistics 1 and 2 is correlated where it matters", 0.9))),
        checks::tail(0.95, true),
    ];
    let (report, _) = page(&fit, &settings);
    each_stands_first_with_advice(&report, failing);
    let support = report.with_checks(vec![checks::within_reach(9.0, 0.0, 120)]).to_html().unwrap();
    assert!(support.contains("less than 0.1 % of 120 simulations are expected to lie that far from theirs"), "all of the finding is kept");
    assert!(!support.contains("profile below"));
}

#[test]
fn hostile_names_and_failed_simulations_give_a_readable_page() {
    let (prior, recorded) = problem((0..6).map(hostile).collect(), 10, 120);
    let Recorded::Statistics(simulations) = recorded else { unreachable!("statistics were made") };
    let mut x = simulations.outputs().clone();
    (0..120).step_by(9).for_each(|j| x.row_mut(j).fill(f64::NAN));
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulations.theta().clone(), x).unwrap()));
    let observation = Observation::Statistics((0..10).map(|k| 0.1 * f64::from(k % 7)).collect());
    let settings = FitOptions::of(OURS, 3);
    let fit = Fit::new(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true).unwrap();
    let inputs = ReportInputs {
        statistic_names: (0..10).map(|k| hostile(k + 100)).collect(),
        description: hostile(1),
        truth: Some(vec![0.1; 6]),
        provenance: vec![("command".into(), hostile(0))],
        largest_refit: 30,
        ..ReportInputs::new(&hostile(0), &fit, &settings)
    };
    let report = Report::new(&inputs).unwrap();
    let html = report.to_html().unwrap();
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert!(!html.contains("<script>alert"), "no name becomes an element");
    assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
    assert!(html.contains("&lt;script&gt;alert(100)"), "the name itself is shown");
    assert!(html.contains("14 of 120 simulations failed") && html.contains("The probability of success is learned"));
    for (name, svg) in report.figures() {
        assert!(well_formed(&svg), "{name}");
    }
}
