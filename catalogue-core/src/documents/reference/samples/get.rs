// cargo add serde_json && cargo add ureq --features json
use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    let key = env::var("API_KEY")?;
    let answer: serde_json::Value = ureq::get("ADDRESS")
        .header("Authorization", format!("Bearer {key}"))
        .call()?
        .body_mut()
        .read_json()?;
    println!("{answer:#}");
    Ok(())
}
