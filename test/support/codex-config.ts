/** A `config.toml` for a real Codex whose provider is a server of the test's; its key is `FAKE_KEY`. */
export const codexConfig = (url: string): string => `model = "fake-model"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "${url}"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`
