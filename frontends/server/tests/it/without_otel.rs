//! A build without the feature `otel`.

use crate::program::TestDir;

#[test]
fn otlp_options_exit_2_without_feature() {
    let dir = TestDir::new();
    dir.run("serve --otlp-endpoint http://127.0.0.1:4318").fails(2, &["--otlp-endpoint: ", "feature otel"]);
    dir.run("serve --otlp-sample 0.5").fails(2, &["--otlp-sample: ", "--otlp-endpoint"]);
}
