// chatty_server.mjs - a server on stdio (2025-11-25) for `cleat shell`: a name, choices and suggestions that are not
// plain words, suggestions that depend on other arguments, log messages at any time.

import { createInterface } from 'node:readline';

const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const log = data => send({ method: 'notifications/message', params: { level: 'info', data } });
const say = text => ({ content: [{ type: 'text', text }] });
const pick = { name: 'pick', inputSchema: { type: 'object', properties: { what: { type: 'string', enum: ['New York', 'Zürich "West"', 'Zürich Ost'] } } } };
const cities = { fr: ['Le Havre'], us: ['New York'] };

const answers = {
	initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {}, prompts: {}, completions: {}, logging: {} }, serverInfo: { name: 'Größe & Söhne 2', version: '1' } }),
	ping: () => ({}), 'logging/setLevel': () => ({}),
	'tools/list': () => ({ tools: [pick, { name: 'later', inputSchema: { type: 'object' } }, { name: 'work', inputSchema: { type: 'object' } }] }),
	'prompts/list': () => ({ prompts: [{ name: 'visit', arguments: [{ name: 'country' }, { name: 'city' }] }] }),
	'prompts/get': ({ arguments: a }) => ({ messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(a) } }] }),
	'completion/complete': ({ context }) => ({ completion: { values: cities[context?.arguments?.country] ?? [] } }),
	'tools/call': ({ name, arguments: a, _meta }) => {
		if (name === 'later') setTimeout(() => log('by the way'), 300);
		if (name === 'work') {
			send({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress: 1, total: 2, message: 'half' } });
			log('working');
		}
		return say(name === 'pick' ? `[${a.what}]` : 'done');
	}
};

createInterface({ input: process.stdin }).on('line', line => {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) return;
	if (answers[method]) send({ id, result: answers[method](params) });
	else send({ id, error: { code: -32601, message: 'not here' } });
});
