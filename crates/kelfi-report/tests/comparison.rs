//! The comparison page says who comes closest only where the repeats can tell, and hides no failure; figures become pictures.

use kelfi_baselines::comparison::{Comparison, MethodFacts, Observations, Run, Score};
use kelfi_report::{Anchor, ComparisonPage, Figure, Numbers, Svg};

/// Errors by method, one a repeat; `None` is a run without an answer.
fn comparison(methods: &[(&str, &[Option<f64>])], budgets: &[usize]) -> Comparison {
    let repeats = methods[0].1.len();
    let run = |method: &str, budget: usize, repeat: usize, error: Option<f64>| Run {
        method: method.into(),
        budget,
        repeat,
        calls: budget,
        seconds: 0.1,
        score: error.map(|error| Score {
            error: Some(error),
            error_in_sds: Some(1.0),
            covered_50: Some(0.5),
            covered_95: Some(1.0),
            gain: Some(-error),
            c2st: None,
            total_variation: None,
            nmse: None,
            left_out: None,
            predictive: None,
            width: 0.5,
        }),
        quantiles: vec![],
        failure: error.is_none().then(|| "<script>alert(1)</script> \"no\" answer".into()),
        remark: (method == "stuck").then(|| "the chain never moved in 9 steps".into()),
    };
    let runs = (0..repeats)
        .flat_map(|r| budgets.iter().flat_map(move |&b| methods.iter().map(move |(name, errors)| run(name, b, r, errors[r]))))
        .collect();
    Comparison {
        problem: "<b>problem".into(),
        description: "a test & more".into(),
        parameters: 2,
        statistics: 3,
        observations: Observations::FromPrior,
        seed: 1,
        repeats,
        planned: repeats,
        budgets: budgets.to_vec(),
        methods: methods
            .iter()
            .map(|(name, _)| MethodFacts {
                name: (*name).into(),
                description: format!("how {name} works"),
                reference: "somebody, 2001".into(),
            })
            .collect(),
        runs,
    }
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|v| Some(*v)).collect()
}

fn page(comparison: &Comparison) -> String {
    ComparisonPage::new(comparison, &[("command".into(), "kelfi compare <x>".into())]).to_html().unwrap()
}

fn headline(html: &str) -> String {
    html.split("class=\"headline\">").nth(1).unwrap().split("</p>").next().unwrap().into()
}

#[test]
fn the_headline_names_the_best_and_those_it_cannot_be_told_from() {
    let (good, like, bad) = (some(&[0.1, 0.3, 0.2, 0.2]), some(&[0.3, 0.1, 0.25, 0.2]), some(&[0.9, 1.1, 1.0, 1.0]));
    let clear = comparison(&[("bad", &bad), ("good", &good)], &[100]);
    assert_eq!(headline(&page(&clear)), "good comes closest.");
    let tied = comparison(&[("bad", &bad), ("like", &like), ("good", &good)], &[100]);
    assert_eq!(headline(&page(&tied)), "good comes closest, but is not clearly better than like.");
    // The exact posterior is no method: it is shown, never ranked.
    let exact = comparison(&[("bad", &bad), ("good", &good), ("exact", &some(&[0.0; 4]))], &[100]);
    assert_eq!(headline(&page(&exact)), "good comes closest.");
    assert!(page(&exact).contains("The exact posterior comes last"));
    // A single repeat tells nobody from anybody.
    let single = comparison(&[("bad", &bad[..1]), ("good", &good[..1])], &[100]);
    assert_eq!(headline(&page(&single)), "good comes closest, but is not clearly better than bad.");
}

#[test]
fn where_exact_posteriors_are_known_the_headline_is_about_them_and_a_lucky_mean_does_not_lead() {
    let mut known = comparison(&[("lucky", &some(&[0.1, 0.1, 0.1])), ("right", &some(&[0.2, 0.2, 0.2]))], &[100]);
    for run in &mut known.runs {
        run.score.as_mut().unwrap().c2st = Some(if run.method == "right" { 0.51 } else { 0.7 } + 0.001 * run.repeat as f64);
    }
    let html = page(&known);
    assert_eq!(headline(&html), "right comes closest.");
    assert!(html.contains("C2ST, how often a classifier tells samples from exact ones"), "{}", headline(&html));
}

#[test]
fn a_headline_names_few_and_counts_the_others() {
    let errors = some(&[0.1, 0.3, 0.2]);
    let names: Vec<String> = (1..=12).map(|k| format!("m{k}")).collect();
    let methods: Vec<(&str, &[Option<f64>])> = names.iter().map(|name| (name.as_str(), &errors[..])).collect();
    let html = page(&comparison(&methods, &[100]));
    assert_eq!(headline(&html), "m1 comes closest, but is not clearly better than m2, m3, m4, m5 and 7 others.");
    assert!(html.contains("; the table has the others.") && html.contains("2 parameters, 3 statistics; 3 repeats, each"));
}

#[test]
fn a_method_that_failed_is_not_ranked_and_its_reason_is_shown_and_harmless() {
    let failing = [Some(0.01), None, Some(0.01)];
    let html = page(&comparison(&[("odd", &failing), ("plain", &some(&[0.5, 0.6, 0.5]))], &[100]));
    assert_eq!(headline(&html), "plain is the only method that answered in every repeat.");
    assert!(html.contains("Which runs gave no answer?") && html.contains("&lt;script&gt;alert(1)"));
    assert!(!html.contains("<script>alert") && !html.contains("<b>problem"));
}

#[test]
fn what_a_method_remarks_on_its_answers_is_shown() {
    let html = page(&comparison(&[("stuck", &some(&[0.5, 0.6])), ("plain", &some(&[0.5, 0.6]))], &[100]));
    assert!(html.contains("Which answers need a second look?"));
    assert!(html.contains("in 2 of 2 repeats: the chain never moved in 9 steps"));
    assert!(!page(&comparison(&[("plain", &some(&[0.5]))], &[100])).contains("second look"));
}

#[test]
fn curves_are_drawn_only_for_several_budgets_and_every_figure_has_its_files() {
    let methods: &[(&str, &[Option<f64>])] = &[("a", &some(&[0.1, 0.2])), ("b", &some(&[0.3, 0.4]))];
    let figures = |budgets: &[usize]| ComparisonPage::new(&comparison(methods, budgets), &[]).all_figures().cloned().collect::<Vec<_>>();
    let ids = |figures: &[Figure]| figures.iter().map(|f| f.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&figures(&[100])), ["error", "coverage", "gain", "width", "seconds"], "no figure without a number");
    let several = figures(&[100, 200]);
    assert!(ids(&several).contains(&"error-by-simulations".to_string()));
    for figure in &several {
        assert!(!figure.standalone().contains("var("), "{}", figure.id);
        assert!(figure.csv.lines().count() > 2, "{}", figure.id);
        assert!(figure.png().unwrap().starts_with(b"\x89PNG"), "{}", figure.id);
    }
}

/// A picture's width, height, dots per metre and colours.
fn read(png: &[u8]) -> (u32, u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut colours = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut colours).unwrap();
    let info = reader.info();
    (info.width, info.height, info.pixel_dims.unwrap().xppu, colours)
}

#[test]
fn a_picture_has_its_size_its_colours_and_its_letters_without_a_font_of_the_system() {
    let figure = |text: &str| {
        let mut svg = Svg::new(96.0, 48.0);
        svg.rect("posterior-solid", 0.0, 0.0, 48.0, 24.0, "a value to hover over");
        svg.label("strong", 2.0, 40.0, Anchor::Start, text, 50);
        Figure::new("f", "t", "c", "d".into(), false, &svg, &Numbers::default())
    };
    let png = figure("ε = β ± λ").png().unwrap();
    let (width, height, dots, colours) = read(&png);
    // An inch by half an inch at 300 dots per inch.
    assert_eq!((width, height, dots), (300, 150, 11_811));
    let at = |x: usize, y: usize| colours[3 * (y * 300 + x)..][..3].to_vec();
    assert_eq!((at(75, 30), at(225, 30)), (vec![0x0a, 0x5c, 0xad], vec![255, 255, 255]), "light colours on white paper");
    let ink = |colours: &[u8]| colours[3 * 300 * 80..].chunks(3).filter(|dot| dot[0] < 100).count();
    assert!(ink(&colours) > 300, "letters leave ink: {}", ink(&colours));
    assert_eq!(png, figure("ε = β ± λ").png().unwrap(), "the same bits each time");
    assert!(figure("🦋<>&\u{0} 文字").png().is_ok(), "letters the font does not have are no error");
    assert!(ink(&read(&figure("").png().unwrap()).3) == 0);
}
