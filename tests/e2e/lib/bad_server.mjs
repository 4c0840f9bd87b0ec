// bad_server.mjs - a server on stdio (2025-11-25) that does what no server should: bad_server.mjs MODE
// With $CALLED it writes its process id into that file when it is called, and the stubborn one makes a
// file $CALLED.closed when its input ends.
//
//   hostile  names, descriptions and results full of control characters
//   silent   never answers a call
//   dies     ends in the middle of a call
//   garbage  answers a call with something that is no result
//   nothing  never answers anything
//   picture  a tool with one image
//   names    tools whose names are commands of a shell
//   asks     asks for a model's answer, then for a form, full of control characters
//   stubborn answers no call, and does not end by itself
//   wide     tools with long signatures and descriptions, in letters that take two columns
//   big      a result of 20 MiB
//   floods   two hundred messages that are none, before each answer
//   data     errors with data of the kind that the tool is named after
//   slow     progress, then waits for its cancellation, which it writes to the file $CANCELLED

import fs from 'node:fs';
import { createInterface } from 'node:readline';

const [mode] = process.argv.slice(2);
const EVIL = 'a\u001b]0;title\u0007b\u001b[2Jc\u009b31md\u202ee\u0000f\rg';
const LOUD = EVIL.replace('\0', '');
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let waiting;
const send = message => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');

const tools = mode === 'hostile'
	? [{ name: 'evil', description: `${EVIL}\nsecond line`, inputSchema: { type: 'object', properties: { [`x\u001b[1m`]: { type: 'string' } } } }]
	: mode === 'wide' ? [{ name: 'short', description: '語'.repeat(100), inputSchema: { type: 'object' } },
		{ name: 'many', description: 'word '.repeat(50), inputSchema: { type: 'object', properties: Object.fromEntries(['first', 'second', 'third', 'fourth', 'fifth', 'sixth'].map(name => [name, { type: 'string' }])), required: ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'] } }]
	: mode === 'names' ? ['$(touch pwned)', '`touch pwned`', 'x;touch pwned;'].map(name => ({ name, inputSchema: { type: 'object' } }))
	: [{ name: 'tool', inputSchema: { type: 'object' } }];

const calls = {
	hostile: () => ({ content: [{ type: 'text', text: EVIL }, { type: 'resource_link', uri: 'x://\u001b[1m', name: EVIL }] }),
	picture: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: PNG }] }),
	big: () => ({ content: [{ type: 'text', text: 'x'.repeat(20 << 20) }] }),
	silent: () => undefined,
	stubborn: () => undefined,
	dies: () => process.exit(3),
	garbage: () => [1, 2, 3]
};

function call(id, params) {
	if (process.env.CALLED) fs.writeFileSync(process.env.CALLED, String(process.pid));
	if (mode === 'slow') {
		send({ method: 'notifications/progress', params: { progressToken: params._meta?.progressToken, progress: 2, total: 4, message: 'half \u001b[2Jway' } });
		return;
	}
	if (mode === 'data') {
		const data = { text: 'for a reason', details: { details: 'one\ntwo \u001b[1m\n' }, object: { a: [1] } };
		return send({ id, error: { code: -32099, message: 'refused', data: data[params.name] } });
	}
	if (mode === 'asks') {
		waiting = id;
		send({ id: 'model', method: 'sampling/createMessage', params: { systemPrompt: EVIL, maxTokens: 9,
			messages: [{ role: 'user', content: { type: 'text', text: EVIL } }, { role: 'assistant', content: { type: EVIL, text: 5 } }] } });
		return;
	}
	const result = calls[mode]();
	if (result) send({ id, result });
}

// One that is slow ends by itself, when it has heard of its cancellation.
if (mode === 'stubborn' || mode === 'slow') process.on('SIGTERM', () => {});
if (mode === 'stubborn') {
	setInterval(() => {}, 1000);
	process.stdin.on('end', () => fs.writeFileSync(`${process.env.CALLED}.closed`, ''));
}
if (mode === 'hostile') process.stderr.write(`on stderr ${EVIL}\n`);
createInterface({ input: process.stdin }).on('line', line => {
	const { id, method, params } = JSON.parse(line);
	if (mode === 'nothing') return;
	for (let i = 0; mode === 'floods' && method === 'tools/list' && i < 200; i++) process.stdout.write('{}\n');
	if (id === 'model')
		return send({ id: 'form', method: 'elicitation/create', params: { message: LOUD, requestedSchema: { type: 'object', properties: {
			[`x${EVIL[1]}[1m`]: { type: 'string', title: LOUD, description: LOUD }, pick: { type: 'string', enum: [`${EVIL[1]}[1m`, 'b'], enumNames: [LOUD, LOUD] } } } } });
	if (id === 'form') return send({ id: waiting, result: { content: [{ type: 'text', text: 'asked' }] } });
	if (method === 'initialize')
		send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, instructions: mode === 'hostile' ? EVIL : undefined,
			serverInfo: { name: mode === 'hostile' ? EVIL : 'bad', version: '1' } } });
	else if (method === 'tools/list') send({ id, result: { tools } });
	else if (method === 'tools/call') call(id, params);
	else if (method === 'ping') send({ id, result: {} });
	else if (method === 'notifications/cancelled') fs.appendFileSync(process.env.CANCELLED ?? '/dev/null', 'cancelled\n');
	else if (id !== undefined) send({ id, error: { code: -32601, message: 'not here' } });
});
