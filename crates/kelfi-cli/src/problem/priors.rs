//! `[[parameter]]`: names and priors.

use super::names;
use super::reader::{Found, Section};
use kelfi::Marginal;
use kelfi::words::did_you_mean;

/// A parameter as written.
pub struct Parameter {
    /// Its name.
    pub name: Found<String>,
    /// Its prior.
    pub prior: Marginal,
}

/// All parameters that can be understood; complaints about the others.
pub fn read(root: &Section<'_>) -> Vec<Parameter> {
    let sections = root.sections("parameter").unwrap_or_default();
    let parameters: Vec<Parameter> = sections.iter().filter_map(parameter).collect();
    for (at, parameter) in parameters.iter().enumerate() {
        if let Some(first) = parameters[..at].iter().find(|other| other.name.value == parameter.name.value) {
            let fact = format!("the name {:?} is used twice, first on line {}", parameter.name.value, first.name.line);
            root.reader.complain(parameter.name.line, &parameter.name.key, fact, "parameters need different names");
        }
    }
    parameters
}

fn parameter(section: &Section<'_>) -> Option<Parameter> {
    section.only(&["name", "prior"]);
    if !section.has("name") {
        section.missing("name", "give the parameter a name, such as name = \"rate\"");
    }
    if !section.has("prior") {
        section.missing("prior", "give a prior, such as prior = { normal = { mean = 0, std = 1 } }");
    }
    let name = section.text("name").filter(|name| names::acceptable(section.reader, name));
    let prior = section.section("prior").and_then(|prior| marginal(&prior));
    Some(Parameter { name: name?, prior: prior? })
}

/// The one family a prior names.
fn marginal(prior: &Section<'_>) -> Option<Marginal> {
    let families = Marginal::FAMILIES.iter().map(|(name, _)| *name);
    let keys = prior.keys();
    let [family] = keys[..] else {
        prior.reader.complain(
            prior.line,
            &prior.key,
            format!("it has {} families", keys.len()),
            "give exactly one, such as { uniform = { low = 0, high = 1 } }",
        );
        return None;
    };
    let Some((_, settings)) = Marginal::FAMILIES.iter().find(|(name, _)| *name == family) else {
        prior.complain(family, "there is no such prior", did_you_mean(family, families, "known"));
        return None;
    };
    if prior.item(family).is_some_and(|item| !item.is_table_like()) {
        let example = settings.iter().map(|setting| format!("{setting} = …")).collect::<Vec<_>>().join(", ");
        prior.complain(family, "expected a table of its settings", format!("write it as {{ {family} = {{ {example} }} }}"));
        return None;
    }
    let section = prior.section(family)?;
    section.only(settings);
    let mut object = serde_json::Map::new();
    for &setting in *settings {
        // Either end of a truncated normal may be left out or infinite.
        let optional = family == "truncated_normal" && (setting == "low" || setting == "high");
        let endless = optional && section.item(setting).and_then(super::reader::number_of).is_some_and(f64::is_infinite);
        if endless {
            continue;
        }
        if !section.has(setting) && !optional {
            section.missing(setting, &format!("a {family} prior needs {}", settings.join(", ")));
        }
        if let Some(found) = section.number(setting) {
            object.insert(setting.to_owned(), found.value.into());
        }
    }
    let complete = settings.iter().all(|&setting| object.contains_key(setting) || family == "truncated_normal");
    let marginal: Marginal = complete.then(|| serde_json::from_value(serde_json::json!({ family: object })).ok()).flatten()?;
    match marginal.validate() {
        Ok(()) => Some(marginal),
        Err(error) => {
            blame(&section, settings, &error);
            None
        }
    }
}

/// Complains about the setting that the error names.
fn blame(section: &Section<'_>, settings: &[&str], error: &kelfi::Error) {
    let (culprit, fact, advice) = match error {
        kelfi::Error::Invalid { what, value, requirement } => {
            (what.split([' ', '(']).next().unwrap_or_default(), format!("{value} is not allowed"), requirement.clone())
        }
        other => ("", other.to_string(), "choose values that define a proper distribution".into()),
    };
    let setting = settings.iter().find(|&&setting| setting == culprit).or(settings.first()).copied().unwrap_or_default();
    section.complain(setting, fact, advice);
}
