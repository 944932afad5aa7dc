//! [`Options`]: what the command line can say.

pub(crate) const USAGE: &str = "\
usage: scale [--courses N] [--requests N] [--quick]
  --courses N   the largest number of courses, a power of ten from 1000 on (10000000)
  --requests N  how many requests make one measurement (4000)
  --quick       up to 100000 courses and few requests: to see that it runs";

/// How far the tables grow, and how much is measured.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) courses: u64,
    pub(crate) requests: usize,
}

impl Options {
    /// The options of this process, or what is wrong with them.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { courses: 10_000_000, requests: 4_000 };
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let number = arguments.next().and_then(|value| value.parse::<u64>().ok()).filter(|number| *number > 0);
                number.ok_or_else(|| format!("{argument} takes a number from 1 on\n{USAGE}"))
            };
            match &*argument {
                "--courses" => options.courses = number()?,
                "--requests" => options.requests = number()? as usize,
                "--quick" => options = Self { courses: 100_000, requests: 200 },
                _ => return Err(format!("{argument:?} is no option\n{USAGE}")),
            }
        }
        match options.sizes().last() == Some(options.courses) {
            true => Ok(options),
            false => Err(format!("{} is no power of ten from 1000 on\n{USAGE}", options.courses)),
        }
    }

    /// The numbers of courses that are measured.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> + use<> {
        let largest = self.courses;
        (3..).map(|power| 10_u64.pow(power)).take_while(move |size| *size <= largest)
    }
}
