//! Medians, means, ratios.

/// The middle one, or the mean of the two in the middle; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    Some(if values.len().is_multiple_of(2) {
        (values[values.len() / 2 - 1] + upper) / 2.0
    } else {
        upper
    })
}

/// How far the values lie apart, as a share of their median.
pub fn spread(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    Some((most - least) / median(values.iter().copied())?)
}

/// How many times as much. At least that much, if what was measured was
/// stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub value: f64,
    pub at_least: bool,
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.at_least { ">" } else { "" };
        f.pad(&format!("{sign}{:.2}x", self.value))
    }
}

/// A lower bound if one of them is.
pub fn geometric_mean(ratios: &[Ratio]) -> Option<Ratio> {
    if ratios.is_empty() {
        return None;
    }
    let logs: f64 = ratios.iter().map(|r| r.value.ln()).sum();
    Some(Ratio {
        value: (logs / ratios.len() as f64).exp(),
        at_least: ratios.iter().any(|r| r.at_least),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(value: f64, at_least: bool) -> Ratio {
        Ratio { value, at_least }
    }

    #[test]
    fn medians() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(spread(&[9.0, 11.0, 10.0]), Some(0.2));
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[1.0]), None);
    }

    #[test]
    fn a_mean_of_bounds_is_a_bound() {
        assert_eq!(geometric_mean(&[]), None);
        let mean = geometric_mean(&[ratio(2.0, false), ratio(8.0, false)]).unwrap();
        assert!((mean.value - 4.0).abs() < 1e-9 && !mean.at_least);
        assert!(geometric_mean(&[ratio(2.0, true), mean]).unwrap().at_least);
        assert_eq!(format!("{:>7}", ratio(2.5, true)), " >2.50x");
    }
}
