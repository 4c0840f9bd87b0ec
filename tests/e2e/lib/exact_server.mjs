// exact_server.mjs - a server on stdio (2025-11-25) whose tool, or resource, has the result that is given, byte for byte:
// exact_server.mjs RESULT. With $SENT it writes the call into that file, as it came.

import fs from 'node:fs';
import { createInterface } from 'node:readline';

const [result] = process.argv.slice(2);
const send = (id, value) => process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${value}}\n`);
const tool = { name: 'tool', inputSchema: { type: 'object', properties: { n: { type: 'number' }, m: { type: 'number' }, b: { type: 'array' } } } };

createInterface({ input: process.stdin }).on('line', line => {
	const { id, method } = JSON.parse(line);
	if (method === 'initialize') send(id, '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"exact","version":"1"}}');
	else if (method === 'tools/list') send(id, JSON.stringify({ tools: [tool] }));
	else if (method === 'tools/call' || method === 'resources/read') {
		if (process.env.SENT) fs.writeFileSync(process.env.SENT, line);
		send(id, result);
	} else if (id !== undefined) process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"not here"}}\n`);
});
