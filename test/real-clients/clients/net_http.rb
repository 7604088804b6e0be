# Ruby's Net::HTTP with read_body. Where the header is not set it asks for gzip, decompresses by itself, and gives all lines at
# the end; where a program sets it, the program decompresses.
require "net/http"
require "json"
require "zlib"

$stdout.sync = true
url, coding = ARGV
uri = URI(url)
request = Net::HTTP::Post.new(uri, "content-type" => "application/json")
request["accept-encoding"] = coding
inflate = coding == "gzip" ? Zlib::Inflate.new(31) : nil
request.body = JSON.generate(text: "Hi")
Net::HTTP.start(uri.host, uri.port) do |http|
  http.request(request) do |response|
    response.value
    rest = +""
    response.read_body do |piece|
      rest << (inflate ? inflate.inflate(piece) : piece)
      while (line = rest.slice!(/\A.*\n/))
        puts line
      end
    end
  end
end
