// The official TypeScript SDK, v1, against our server over Streamable HTTP. What it does with sessions
// and lost connections is in test_http_sessions.mjs.

import assert from 'node:assert/strict';
import { askCases } from './lib/asks.mjs';
import { commonCases, text } from './lib/cases.mjs';
import { HttpServer } from './lib/http.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { casesOf, run } from './lib/tap.mjs';
import { v1Http } from './lib/v1.mjs';

commonCases(v1Http);
askCases(v1Http);
legacyCases(v1Http);
leftoverCase();

casesOf(v1Http).it('--no-sessions: everything that needs none works without', async t => {
	const server = t.use(await HttpServer.start({ args: ['--no-sessions'] }));
	const s = await t.open(v1Http, { server });
	assert.equal(text(await s.call('echo', { text: 'x' })), 'x');
	assert.equal(s.client.transport.sessionId, undefined);
	assert.ok((await s.client.listTools()).tools.length > 0);
	assert.equal(s.client.getServerCapabilities().resources.subscribe, undefined);
});

await run();
