require "json"
require "net/http"

uri = URI("REQUEST_URL")
headers = { "Authorization" => "Bearer #{ENV.fetch("API_KEY")}" }
response = Net::HTTP.get_response(uri, headers)
abort response.body unless response.is_a?(Net::HTTPOK)
puts JSON.pretty_generate(JSON.parse(response.body))
