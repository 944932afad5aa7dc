require "json"
require "net/http"

first = "ADDRESS"
headers = { "Authorization" => "Bearer #{ENV.fetch("API_KEY")}" }

address = first
while address
  response = Net::HTTP.get_response(URI(address), headers)
  abort response.body unless response.is_a?(Net::HTTPOK)
  page = JSON.parse(response.body)
  page["data"].each { |item| puts JSON.generate(item) }
  cursor = page["meta"]["nextCursor"]
  address = cursor && "#{first}&cursor=#{cursor}"
end
