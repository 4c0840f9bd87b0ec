// Our client (tests/e2e/client_driver.c) with a server of another official SDK, over stdio and HTTP:
//
//	node servers.mjs SDK COMMAND...        COMMAND: the server, to which "stdio" or "http" is added
//
// What the servers have in common, and what is tried with them, is in tests/e2e/lib/client_cases.mjs.

import { clientCases } from '../e2e/lib/client_cases.mjs';
import { leftoverCase } from '../e2e/lib/leftover.mjs';
import { NodeServer, freePort } from '../e2e/lib/node_server.mjs';
import { run, test } from '../e2e/lib/tap.mjs';

const [sdk, ...command] = process.argv.slice(2);
const modern = { era: 'modern', revision: '2026-07-28' };
const legacy = { era: 'legacy', revision: '2025-11-25' };
const asLegacy = { ...legacy, options: { era: 'legacy' } };

/** What each speaks, and what it does not have. */
const sdks = {
	'python-v1': { eras: [legacy], without: ['changes'] },
	'python-v2': { eras: [modern, { ...asLegacy, without: ['changes', 'logging'] }], without: [] },
	// Its server does not notice there that a client has left.
	go: { eras: [{ ...modern, path: '/stateless', overHttp: ['cancelling'] }, asLegacy], without: [] },
	rust: { eras: [modern, asLegacy], without: ['levels'] }
};

let http;
async function url(path = '/mcp') {
	if (!http && sdk.startsWith('python')) {
		const port = await freePort();
		http = await NodeServer.start([...command, 'http', String(port)], { ready: /Uvicorn running on/, port });
	}
	http ??= await NodeServer.start([...command, 'http']);
	return new URL(path, http.url).href;
}

for (const { without = [], overHttp = [], path, ...about } of sdks[sdk].eras) {
	const all = { ...about, without: [...sdks[sdk].without, ...without] };
	clientCases({ ...all, name: `${sdk} stdio, ${about.era}`, begin: async () => ({ argv: [...command, 'stdio'] }) });
	clientCases({ ...all, without: [...all.without, ...overHttp], name: `${sdk} http, ${about.era}`, begin: async () => ({ url: await url(path) }) });
}
test(`${sdk}: the server is ended`, async () => {
	await http?.end();
});
leftoverCase();
await run();
