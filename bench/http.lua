-- http.lua - tools/call with a body of 250 bytes, for wrk:
--
--	wrk -t1 -c64 -d2s -s bench/http.lua http://127.0.0.1:PORT/mcp -- modern
--	wrk ... -- legacy SESSION_ID
--
-- Prints "requests N errors N" last.

local function body(meta)
	local text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",'
		.. '"arguments":{"a":2,"b":40},"_meta":{' .. meta .. '"progressToken":"%s"}}}'
	return text:format(("0"):rep(250 - #text + 2))
end

function init(args)
	wrk.method = "POST"
	wrk.headers["Content-Type"] = "application/json"
	wrk.headers["Accept"] = "application/json, text/event-stream"
	if args[1] == "legacy" then
		wrk.headers["MCP-Protocol-Version"] = "2025-11-25"
		wrk.headers["Mcp-Session-Id"] = args[2]
		wrk.body = body("")
	else
		wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
		wrk.headers["Mcp-Method"] = "tools/call"
		wrk.headers["Mcp-Name"] = "add"
		wrk.body = body('"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
			.. '"io.modelcontextprotocol/clientCapabilities":{},')
	end
	assert(#wrk.body == 250)
	local request = wrk.format()
	wrk.request = function() return request end
end

function done(summary)
	local e = summary.errors
	print(("requests %d errors %d"):format(summary.requests,
		e.connect + e.read + e.write + e.status + e.timeout))
end
