//! Runs cases one after the other and speaks TAP on standard output. Every case has a deadline, so that a
//! server that never answers is a failure with a name.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Outcome = Result<(), Error>;

pub fn check(good: bool, what: impl Debug) -> Outcome {
    if good {
        Ok(())
    } else {
        Err(format!("not as expected: {what:?}").into())
    }
}

pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> Result<T, Error> {
    let patience = Duration::from_secs(10);
    tokio::time::timeout(patience, future)
        .await
        .map_err(|_| format!("{what} did not come").into())
}

pub struct Suite {
    sdk: &'static str,
    cases: Vec<(String, Pin<Box<dyn Future<Output = Outcome>>>)>,
}

impl Suite {
    pub fn new(sdk: &'static str) -> Self {
        Suite {
            sdk,
            cases: Vec::new(),
        }
    }

    pub fn add(
        &mut self,
        revision: &str,
        name: &str,
        run: impl Future<Output = Outcome> + 'static,
    ) {
        self.cases
            .push((format!("{}, {revision}: {name}", self.sdk), Box::pin(run)));
    }

    /// Ends the program.
    pub async fn run(self) -> ! {
        let mut failed = false;
        println!("1..{}", self.cases.len());
        for (i, (name, run)) in self.cases.into_iter().enumerate() {
            let outcome = tokio::time::timeout(Duration::from_secs(30), run).await;
            let problem = match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some("the case took too long".into()),
            };
            println!(
                "{}ok {} - {name}",
                if problem.is_some() { "not " } else { "" },
                i + 1
            );
            if let Some(text) = problem {
                println!("# {}", text.replace('\n', "\n# "));
                failed = true;
            }
        }
        std::process::exit(failed.into())
    }
}
