// SPDX-License-Identifier: Apache-2.0

//! reqwest LIST N fetches the URLs of a file with Rust's reqwest, N in flight, on one thread, and
//! prints how many were 200 and whole. SSL_CERT_FILE names a certificate to trust.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

fn client(in_flight: usize) -> reqwest::Client {
    let mut builder = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(in_flight);
    if let Ok(path) = std::env::var("SSL_CERT_FILE") {
        let pem = std::fs::read(path).expect("the certificate");
        builder = builder.add_root_certificate(reqwest::Certificate::from_pem(&pem).expect("a certificate"));
    }
    builder.build().expect("a client")
}

async fn is_good(client: &reqwest::Client, url: &str) -> bool {
    match client.get(url).send().await {
        Ok(response) => response.status() == 200 && response.bytes().await.is_ok(),
        Err(_) => false,
    }
}

async fn fetch(urls: Vec<String>, in_flight: usize) -> usize {
    let client = client(in_flight);
    let urls = Arc::new(urls);
    let next = Arc::new(AtomicUsize::new(0));
    let good = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..in_flight {
        let (client, urls, next, good) = (client.clone(), urls.clone(), next.clone(), good.clone());
        tasks.push(tokio::spawn(async move {
            while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                if is_good(&client, url).await {
                    good.fetch_add(1, Ordering::Relaxed);
                }
            }
        }));
    }
    for task in tasks {
        task.await.expect("a task");
    }
    good.load(Ordering::Relaxed)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let list = std::fs::read_to_string(&words[1]).expect("the list");
    let urls = list.lines().map(String::from).collect();
    let in_flight = words[2].parse().expect("a number");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!("{}", runtime.block_on(fetch(urls, in_flight)));
}
