require "json"
require "net/http"

first = "REQUEST_URL"
headers = { "Authorization" => "Bearer #{ENV.fetch("API_KEY")}" }

url = first
while url
  response = Net::HTTP.get_response(URI(url), headers)
  abort response.body unless response.is_a?(Net::HTTPOK)
  page = JSON.parse(response.body)
  page["data"].each do |course|
    next if course["publishedAt"].nil? || course["hidden"]
    puts JSON.generate(course)
  end
  cursor = page["meta"]["nextCursor"]
  url = cursor && "#{first}&cursor=#{cursor}"
end
