//! Hyperparameters from elsewhere, such as a file: do they fit the simulations?

use super::LocationScaleHyperparameters;
use super::regression::RegressionHyperparameters;
use super::shape::ShapeHyperparameters;
use super::statistic::StatisticHyperparameters;
use crate::Error;
use crate::simulations::Simulations;

/// An error that names what does not fit the simulations or `parameters` parameters.
pub fn require_fitting(hyperparameters: &LocationScaleHyperparameters, simulations: &Simulations, parameters: usize) -> Result<(), Error> {
    if hyperparameters.statistics.is_empty() {
        return Err(Error::invalid("number of fitted statistics", 0.0, "a location-scale model needs at least one"));
    }
    if !hyperparameters.inputs.is_empty() {
        require_length("inputs of the parameters", hyperparameters.inputs.len(), parameters)?;
    }
    for statistic in &hyperparameters.statistics {
        require_fitting_statistic(statistic, simulations.statistics_each(), parameters)?;
        if let Some(own_noise) = &statistic.own_noise {
            require_length("noise of each simulation", own_noise.len(), simulations.successful_rows().len())?;
            own_noise.iter().try_for_each(|&value| require_positive("noise of a simulation", value))?;
        }
    }
    for pair in &hyperparameters.moving {
        let (first, second) = pair.of;
        if second >= first || first >= hyperparameters.statistics.len() {
            let requirement =
                format!("there are {} statistics, and the second of a pair stands before the first", hyperparameters.statistics.len());
            return Err(Error::invalid("pair of statistics whose correlation moves", first as f64, requirement));
        }
        require_fitting_regression(&pair.regression, parameters)?;
    }
    for regression in hyperparameters.success.iter().chain(&hyperparameters.common_spread) {
        require_fitting_regression(regression, parameters)?;
    }
    if !hyperparameters.factors.is_empty() {
        require_length("shapes of single statistics", hyperparameters.factors.len(), hyperparameters.statistics.len())?;
    }
    hyperparameters.factors.iter().chain([&hyperparameters.shape]).try_for_each(require_fitting_shape)
}

fn require_fitting_shape(shape: &ShapeHyperparameters) -> Result<(), Error> {
    require_positive("tolerance of the shape", shape.tolerance)?;
    if shape.tolerance > 1.0 {
        return Err(Error::invalid("tolerance of the shape", shape.tolerance, "it must be at most 1"));
    }
    if !(shape.growth >= 0.0 && shape.growth.is_finite()) {
        return Err(Error::invalid("growth of the shape's tolerances", shape.growth, "it must be finite and not negative"));
    }
    if !(0.0..1.0).contains(&shape.tail.share) {
        return Err(Error::invalid("share of the shape's tail", shape.tail.share, "it must be at least 0 and below 1"));
    }
    require_positive("standard deviation of the shape's tail", shape.tail.std)?;
    require_positive("ridge of the shape", shape.ridge)?;
    shape.length_scale.map_or(Ok(()), |length| require_positive("length scale of the shape", length))
}

fn require_fitting_statistic(statistic: &StatisticHyperparameters, statistics: usize, parameters: usize) -> Result<(), Error> {
    if statistic.index >= statistics {
        let requirement = format!("there are {statistics} statistics, counted from 0");
        return Err(Error::invalid("index of a statistic", statistic.index as f64, requirement));
    }
    if let Some(direction) = &statistic.direction {
        require_length("direction of a statistic", direction.len(), parameters)?;
        direction.iter().try_for_each(|&value| Error::require_finite("direction of a statistic", value).map(|_| ()))?;
    }
    let coordinates = parameters + usize::from(statistic.direction.is_some());
    require_fitting_regression(&statistic.first_mean, coordinates)?;
    for (spread, mean) in &statistic.rounds {
        require_fitting_regression(spread, coordinates)?;
        require_fitting_regression(mean, coordinates)?;
    }
    Ok(())
}

pub(in crate::model) fn require_fitting_regression(regression: &RegressionHyperparameters, coordinates: usize) -> Result<(), Error> {
    require_length("length scales of a regression", regression.length_scales.len(), coordinates)?;
    let scales = regression.length_scales.iter().map(|&scale| ("length scale of a regression", scale));
    let others = [("curved part", regression.curved), ("linear part", regression.linear), ("noise", regression.noise)];
    scales.chain(others).try_for_each(|(what, value)| require_positive(what, value))
}

pub(super) fn require_length(what: &str, found: usize, wanted: usize) -> Result<(), Error> {
    if found == wanted {
        Ok(())
    } else {
        Err(Error::invalid(format!("number of values: {what}"), found as f64, format!("it must be {wanted}")))
    }
}

pub(super) fn require_positive(what: &str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::invalid(what, value, "it must be positive and finite")) }
}
