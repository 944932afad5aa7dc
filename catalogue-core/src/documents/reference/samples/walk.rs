// cargo add serde_json && cargo add ureq --features json
use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    let first = "ADDRESS";
    let key = env::var("API_KEY")?;
    let mut address = first.to_owned();
    loop {
        let page: serde_json::Value = ureq::get(&address)
            .header("Authorization", format!("Bearer {key}"))
            .call()?
            .body_mut()
            .read_json()?;
        for item in page["data"].as_array().unwrap() {
            println!("{item}");
        }
        let Some(cursor) = page["meta"]["nextCursor"].as_str()
        else { return Ok(()) };
        address = format!("{first}&cursor={cursor}");
    }
}
