//! [`Figures`]: repeated measurements of one quantity.

/// Repeated measurements of one quantity, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct Figures(Vec<f64>);

impl Figures {
    /// Returns the median; NaN without values.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match &*self.0 {
            [] => f64::NAN,
            sorted if sorted.len().is_multiple_of(2) => f64::midpoint(sorted[middle - 1], sorted[middle]),
            sorted => sorted[middle],
        }
    }

    /// Returns the quantile `part`, from 0 to 1; NaN without values.
    pub fn quantile(&self, part: f64) -> f64 {
        let rank = (part * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    /// Returns the lowest and the highest value.
    pub fn range(&self) -> (f64, f64) {
        (self.0.first().copied().unwrap_or(f64::NAN), self.0.last().copied().unwrap_or(f64::NAN))
    }
}

impl FromIterator<f64> for Figures {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        let mut figures: Vec<_> = figures.into_iter().collect();
        figures.sort_by(f64::total_cmp);
        Self(figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(Figures::from_iter([3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Figures::from_iter([4.0, 1.0, 2.0, 3.0]).median(), 2.5);
        assert_eq!(Figures::from_iter([3.0, 1.0, 2.0]).range(), (1.0, 3.0));
        assert!(Figures::default().median().is_nan());
    }

    #[test]
    fn quantile_is_one_of_the_figures() {
        let figures = Figures::from_iter((1..=200).map(f64::from));
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|part| figures.quantile(part)), [1.0, 100.0, 198.0, 200.0]);
        assert!(Figures::default().quantile(0.5).is_nan());
    }
}
