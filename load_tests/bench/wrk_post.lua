-- Sends one request of wrk again and again, and prints a last line of JSON. Arguments after "--": the
-- file of the body, then its headers, "Name: value".

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.method = "POST"
  wrk.body = file:read("*a")
  file:close()
  for index = 2, #arguments do
    local name, value = arguments[index]:match("^([^:]+): (.*)$")
    wrk.headers[name] = value
  end
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"answered": %d, "seconds": %.6f, "p50_us": %.1f, "p99_us": %.1f, ' ..
    '"refused": %d, "broken": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
