// Every example is run with a real exchange over pipes, and every guide is held to the examples:
// code blocks equal the files they come from, console blocks print what they say. An example without
// a test here is a failure.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { blocks, printed } from './lib/console.mjs';

const root = process.env.CLEAT_SOURCE_DIR ?? path.resolve(import.meta.dirname, '../..');
const build = process.env.CLEAT_BUILD_DIR ?? path.join(root, 'build/debug');
const PATIENCE = 60000;
const META = 'io.modelcontextprotocol/';
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'cleat-examples-'));

// ---- a small client ------------------------------------------------------------------------------

function within(promise, what) {
	let timer;
	const late = new Promise((_, reject) => {
		timer = setTimeout(() => reject(new Error(`no ${what} within ${PATIENCE} ms`)), PATIENCE);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

class Client {
	constructor(input, output, capabilities) {
		Object.assign(this, { output, capabilities, next: 1, waiting: new Map(), notes: [], ears: [],
			strays: [] });
		this.answers = {}; // method of a request from the server -> function of its params
		this.meta = {};
		createInterface({ input }).on('line', (line) => this.receive(JSON.parse(line)));
	}
	send(message) {
		this.output.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
	}
	receive(m) {
		if (m.method && 'id' in m) {
			const answer = this.answers[m.method];
			this.send(answer ? { id: m.id, result: answer(m.params) }
				: { id: m.id, error: { code: -32601, message: 'not here' } });
		} else if (m.method) {
			this.notes.push(m);
			for (const ear of this.ears) ear();
		} else {
			if (!this.waiting.has(m.id)) this.strays.push(m);
			this.waiting.get(m.id)?.(m);
			this.waiting.delete(m.id);
		}
	}
	params(params) { // 2026-07-28: every request says it all
		return this.legacy ? params : { ...params, _meta: {
			[META + 'protocolVersion']: '2026-07-28',
			[META + 'clientCapabilities']: this.capabilities,
			...this.meta, ...params._meta } };
	}
	post(method, params = {}) { // the id, and a promise of the whole response
		const id = this.next++;
		const response = new Promise((resolve) => this.waiting.set(id, resolve));
		this.send({ id, method, params: this.params(params) });
		return { id, response };
	}
	async ask(method, params) {
		return within(this.post(method, params).response, `answer to ${method}`);
	}
	async get(method, params) {
		const m = await this.ask(method, params);
		if (m.error) throw new Error(`${method}: ${JSON.stringify(m.error)}`);
		return m.result;
	}
	call(name, args, more = {}) {
		return this.get('tools/call', { name, arguments: args, ...more });
	}
	async note(method, test = () => true) { // the first notification of that kind, now or later
		for (;;) {
			const at = this.notes.findIndex((m) => m.method === method && test(m.params));
			if (at >= 0) return this.notes.splice(at, 1)[0].params;
			await within(new Promise((resolve) => this.ears.push(resolve)), method);
		}
	}
	async initialize(protocolVersion = '2025-11-25') {
		this.legacy = true;
		const result = await this.get('initialize', { protocolVersion,
			capabilities: this.capabilities, clientInfo: { name: 'test', version: '0' } });
		this.send({ method: 'notifications/initialized' });
		return result;
	}
}

async function run(name, body, { args = [], capabilities = ALL, remarks = /^$/ } = {}) {
	const child = spawn(path.join(build, 'examples', name), args, { stdio: ['pipe', 'pipe', 'pipe'] });
	const exit = once(child, 'close');
	let errors = '';
	child.stderr.on('data', (d) => (errors += d));
	child.stdin.on('error', () => {}); // the server has gone; the exit status says so
	try {
		const early = exit.then(([code, signal]) => {
			throw new Error(`${name} ended too early: ${signal ?? `exit status ${code}`}`);
		});
		await Promise.race([body(new Client(child.stdout, child.stdin, capabilities), child), early]);
		child.stdin.end();
		const [code, signal] = await within(exit, `end of ${name}`);
		equal([code, signal], [0, null], `exit status of ${name}`);
		check(remarks.test(errors), `${name} remarked`);
	} catch (e) {
		e.message += errors && `\n${errors}`;
		throw e;
	} finally {
		child.kill('SIGKILL');
	}
}

async function bothEras(name, body, options) {
	await run(name, body, options);
	await run(name, async (c, child) => {
		await c.initialize();
		await body(c, child);
	}, options);
}

function check(ok, what) {
	if (!ok) throw new Error(what);
}
function equal(got, wanted, what = 'value') {
	check(isDeepStrictEqual(got, wanted),
		`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
}
const text = (result, i = 0) => result.content[i].text;

// Calls a tool as often as it asks, with `answers` by key; gives the final result and the questions.
// Legacy clients are asked by requests; their answers are taken in the order of the keys.
async function converse(c, name, args, answers) {
	const asked = [];
	const queue = Object.values(answers);
	for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
		c.answers[method] = (params) => (asked.push({ method, params }), queue.shift());
	let result = await c.call(name, args);
	for (let round = 0; result.resultType === 'input_required' && round < 10; round++) {
		const inputResponses = {};
		for (const [key, question] of Object.entries(result.inputRequests)) {
			asked.push(question);
			inputResponses[key] = answers[key] ?? answers.other;
		}
		result = await c.call(name, args, { inputResponses,
			...(result.requestState && { requestState: result.requestState }) });
	}
	return { result, asked };
}

// A server on a port of its own, while `body` uses it; it has to end in an orderly way when it is asked to,
// or when `ends` says so, by itself.
async function serve(name, args, body, { address = ['--http', '127.0.0.1:0'], ends } = {}) {
	const child = spawn(path.join(build, 'examples', name), [...address, ...args]);
	const exit = once(child, 'close');
	let said = '';
	child.stderr.on('data', (d) => (said += d));
	try {
		await until(() => /listening on \S+\n/.test(said), 'the server to listen');
		await body(/listening on (\S+)\n/.exec(said)[1], child);
		if (!ends) child.kill();
		equal(await within(exit, `end of ${name}`), [0, null], `exit status of ${name}`);
		equal(said.split('\n').length, 2, `remarks of ${name}: ${said}; lines`);
	} finally {
		child.kill('SIGKILL');
	}
}

// A client that starts an example (or is given `program` instead), to its end: status, output, remarks.
function client(name, [server, ...args], { program, input = '' } = {}) {
	const r = spawnSync(path.join(build, 'examples', name),
		[program ?? path.join(build, 'examples', server), ...args],
		{ input, encoding: 'utf8', timeout: PATIENCE });
	return [r.status, r.stdout, r.stderr];
}

// The example `wire` on a Unix socket, for one client after the other.
async function withWire(body) {
	const at = path.join(scratch, 'wire.sock');
	const child = spawn(path.join(build, 'examples/wire'), [at], { stdio: 'inherit' });
	const listens = () => new Promise((resolve) => { // bound is not yet listening
		const s = net.connect(at, () => s.end());
		s.resume().on('error', () => {}).on('close', (failed) => resolve(!failed));
	});
	try {
		for (let i = 0; i < 200 && !await listens(); i++)
			await new Promise((resolve) => setTimeout(resolve, 25));
		await body(at);
	} finally {
		child.kill();
		await once(child, 'exit');
		fs.rmSync(at, { force: true });
	}
}

async function until(test, what) {
	const start = Date.now();
	while (!test()) {
		check(Date.now() - start < PATIENCE, `waited in vain for ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

// ---- one test an example -------------------------------------------------------------------------

// A Unix socket that a program is about to listen at.
async function dial(at) {
	for (let i = 0; i < 400; i++) {
		const socket = net.connect(at);
		if (await once(socket, 'connect').then(() => true, () => false)) return socket;
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
	throw new Error(`no connection to ${at}`);
}

const examples = {
	hello: () => bothEras('hello', async (c) => {
		const { tools } = await c.get('tools/list');
		equal(tools.map((t) => t.name), ['add']);
		equal(tools[0].inputSchema.required, ['a', 'b']);
		equal(text(await c.call('add', { a: 2, b: 0.5 })), '2.5');
		check((await c.call('add', { a: 2, b: 'x' })).isError, 'a text is no number');
	}),

	rpc_calculator: () => run('rpc_calculator', async (c) => {
		c.legacy = true; // plain JSON-RPC: no _meta
		equal(await c.get('subtract', [42, 23]), 19);
		equal(await c.get('add', { a: 1, b: 2 }), 3);
		equal((await c.ask('divide', [1, 0])).error.code, 1);
		equal((await c.ask('multiply', [1, 0])).error.code, -32601);
	}),

	hello_cpp: () => bothEras('hello_cpp', async (c) => {
		equal(text(await c.call('greet', { name: 'Ann' })), 'Hello, Ann!');
		equal((await c.call('buy', { fish: 'cod', count: 3, how: 'salted' })).structuredContent,
			{ left: 17, salted: true });
		equal((await c.get('resources/read', { uri: 'stock://cod' })).contents[0].text, '17');
		const bad = await c.call('buy', { fish: 'herring', count: 4 });
		check(bad.isError && text(bad) === 'There is not that much of it.', 'an exception is a tool error');
	}),

	typed: () => bothEras('typed', async (c) => {
		const [tool] = (await c.get('tools/list')).tools;
		const p = tool.inputSchema.properties;
		equal(tool.inputSchema.required, ['city']);
		equal([p.days.minimum, p.days.maximum, p.days.default], [1, 14, 1], 'range and default');
		equal(p.unit.enum, ['C', 'F'], 'choices');
		equal(p.place.properties.latitude.maximum, 90, 'nested range');
		equal(tool.outputSchema.properties.highs.items.type, 'number', 'output schema');
		const { structuredContent } = await c.call('forecast',
			{ city: 'Oslo', days: 3, place: { latitude: 50 } });
		equal(structuredContent, { city: 'Oslo', highs: [15, 16, 17] });
		equal((await c.call('forecast', { city: 'Oslo' })).structuredContent.highs, [25]);
		equal((await c.call('forecast', { city: 'Oslo', unit: 'F' })).structuredContent.highs, [77]);
		for (const [args, word] of [[{ city: 'Oslo', days: 15 }, 'days'], [{}, 'city'],
			[{ city: 'Oslo', unit: 'K' }, 'unit'], [{ city: 'Oslo', place: {} }, 'latitude']]) {
			const bad = await c.call('forecast', args);
			check(bad.isError && text(bad).includes(word), `${JSON.stringify(args)} is refused`);
		}
	}),

	members: () => bothEras('members', async (c) => {
		const p = (await c.get('tools/list')).tools[0].inputSchema.properties;
		equal([p.name.maxLength, p.colour.enum, p.brightness.maximum], [7, ['warm', 'cold'], 255]);
		equal((await c.call('light', { name: 'desk', colour: 'cold' })).structuredContent,
			{ name: 'desk', colour: 'cold', brightness: 127 });
		for (const [args, word] of [[{ name: '12345678' }, 'at most 7 bytes'], [{ name: 'äöüß' }, 'got 8 bytes'],
			[{ name: 'a', colour: 'red' }, '"warm", "cold"'], [{ name: 'a', brightness: -1 }, '0 and 255']])
			check(text(await c.call('light', args)).includes(word), `${JSON.stringify(args)} is refused`);
	}),

	schemas: () => bothEras('schemas', async (c) => {
		const [tool] = (await c.get('tools/list')).tools;
		equal(tool.inputSchema.$defs.place.required, ['lat', 'lon']);
		equal(tool.outputSchema.required, ['km']);
		equal((await c.call('equator', { to: 'Oslo' })).structuredContent, { km: 6660.88 });
		equal((await c.call('equator', { to: { lat: -10, lon: 0 } })).structuredContent, { km: 1112 });
		check((await c.call('equator', { to: 'Atlantis' })).isError, 'not known');
		for (const [args, word] of [[{}, 'to: required'], [{ to: 5 }, 'to: '], [{ to: '' }, 'to: '],
			[{ to: { lat: 91, lon: 0 } }, 'to: '], [{ to: 'Oslo', from: 1 }, '"from"']]) {
			const bad = await c.call('equator', args);
			check(bad.isError && text(bad).includes(word), `${JSON.stringify(args)} is refused`);
		}
	}),

	blocking: () => bothEras('blocking', async (c, child) => {
		const file = path.join(scratch, 'big');
		fs.writeFileSync(file, Buffer.alloc(200000));
		const result = await c.call('checksum', { path: file, }, { _meta: { progressToken: 'p' } });
		check(/^[0-9a-f]{16}$/.test(text(result)), 'a checksum');
		const progress = await c.note('notifications/progress');
		equal([progress.progressToken, progress.message], ['p', '65536 bytes']);
		check((await c.call('checksum', { path: '/nonexistent' })).isError, 'no such file');
		// An endless file: the call is cancelled, others are served meanwhile, the server ends.
		const endless = c.post('tools/call', { name: 'checksum', arguments: { path: '/dev/zero' },
			_meta: { progressToken: 'z' } });
		await c.note('notifications/progress', (p) => p.progressToken === 'z');
		equal((await c.get('tools/list')).tools.length, 1, 'served while a worker is busy');
		c.send({ method: 'notifications/cancelled', params: { requestId: endless.id } });
	}),

	deferred: () => bothEras('deferred', async (c) => {
		const result = await c.call('build', { target: 'docs' }, { _meta: { progressToken: 7 } });
		equal(text(result), 'docs is built');
		for (let i = 1; i <= 5; i++)
			equal(await c.note('notifications/progress'),
				{ progressToken: 7, progress: i, total: 5, message: `docs: step ${i}` });
		c.post('tools/call', { name: 'build', arguments: { target: 'all' } }); // and go away
	}),

	ask: () => bothEras('ask', async (c) => {
		const file = path.join(scratch, 'victim');
		const say = (sure) => converse(c, 'delete', { path: file }, { sure });
		fs.writeFileSync(file, '');
		const { result, asked } = await say({ action: 'decline' });
		equal(text(result), `The user said no; ${file} is still there.`);
		equal([asked.length, asked[0].method, asked[0].params.message],
			[1, 'elicitation/create', `Delete ${file}?`]);
		equal(asked[0].params.requestedSchema.properties.sure.type, 'boolean');
		await say({ action: 'cancel' });
		await say({ action: 'accept', content: { sure: false } });
		check(fs.existsSync(file), 'nothing is deleted without a yes');
		equal(text((await say({ action: 'accept', content: { sure: true } })).result), `${file} is gone.`);
		check(!fs.existsSync(file), 'the file is deleted after a yes');
	}),

	sign_in: () => bothEras('sign_in', async (c) => {
		const say = (action) => converse(c, 'inbox', {}, { 'sign-in': { action } });
		const { result, asked } = await say('decline');
		check(result.isError, 'declined');
		equal([asked[0].params.mode, asked[0].params.url], ['url', 'https://mail.example/connect']);
		check((await say('accept')).result.isError, 'agreed to go there, but not done');
		equal(text((await say('accept')).result), 'You have no new mail.');
		if (c.legacy) await c.note('notifications/elicitation/complete');
	}).then(() => bothEras('sign_in', async (c) => {
		check(text(await c.call('inbox', {})).startsWith('Please open'), 'a client without URLs');
	}, { capabilities: {} })),

	sampling: () => bothEras('sampling', async (c) => {
		const { result, asked } = await converse(c, 'summarise', { text: 'long' }, { summary: {
			role: 'assistant', model: 'm', content: { type: 'text', text: 'Short.' } } });
		equal(text(result), 'In short: Short.');
		equal(asked[0].params.messages, [{ role: 'user', content: { type: 'text', text: 'long' } }]);
		equal([asked[0].params.maxTokens, asked[0].params.systemPrompt],
			[100, 'Answer with one short sentence.']);
	}).then(() => bothEras('sampling', async (c) => {
		check((await c.call('summarise', { text: 'x' })).isError, 'a client without a model');
	}, { capabilities: {} })),

	roots: () => bothEras('roots', async (c) => {
		const say = (roots) => converse(c, 'folders', {}, { roots: { roots } });
		const { result } = await say([{ uri: 'file:///a', name: 'A' }, { uri: 'file:///b' }]);
		equal(result.content.map((b) => b.text), ['file:///a (A)', 'file:///b (no name)']);
		equal(text((await say([])).result), 'The client shares no folder.');
	}),

	state: () => bothEras('state', async (c) => {
		const accept = (content) => ({ action: 'accept', content });
		const { result, asked } = await converse(c, 'order', { item: 'tea' },
			{ amount: accept({ pieces: 3 }), other: accept({}) });
		const { item, pieces, price } = result.structuredContent;
		equal([item, pieces], ['tea', 3]);
		equal(asked.map((q) => q.params.message), ['How many do you want?', `3 tea for ${3 * price}?`]);
		check((await converse(c, 'order', { item: 'tea' }, { amount: { action: 'decline' } }))
			.result.isError, 'declining ends it');
		if (c.legacy) return;
		const first = await c.call('order', { item: 'tea' });
		const again = (item, requestState) => c.ask('tools/call', { name: 'order', requestState,
			arguments: { item }, inputResponses: { amount: accept({ pieces: 1 }), consent: accept({}) } });
		equal((await again('tea', first.requestState)).result?.resultType, 'input_required',
			'a yes to no offer');
		equal((await again('coffee', first.requestState)).error?.code, -32602, 'state of another request');
		const forged = first.requestState.replace(/.{4}$/, (s) => (s === 'AAAA' ? 'BBBB' : 'AAAA'));
		equal((await again('tea', forged)).error?.code, -32602, 'a forged state');
	}),

	resources: () => bothEras('resources', async (c) => {
		const read = async (uri) => (await c.get('resources/read', { uri })).contents[0];
		const { resources } = await c.get('resources/list');
		equal(resources.map((r) => r.uri).sort(), ['counter://clicks', 'pixel://1', 'text://motto']);
		const { resourceTemplates } = await c.get('resources/templates/list');
		equal(resourceTemplates.map((r) => r.uriTemplate), ['city://{name}']);
		equal((await read('text://motto')).text, 'Make it fast.');
		equal(Buffer.from((await read('pixel://1')).blob, 'base64').toString('latin1').slice(0, 6), 'GIF89a');
		equal((await read('city://new%20york')).text, 'new york is a city.');
		equal((await c.ask('resources/read', { uri: 'city://atlantis' })).error.code,
			c.legacy ? -32002 : -32602, 'not found');
		const { completion } = await c.get('completion/complete', {
			ref: { type: 'ref/resource', uri: 'city://{name}' }, argument: { name: 'name', value: 'o' } });
		equal(completion.values, ['oslo']);
		// Whoever asks to be told is told.
		if (c.legacy) await c.get('resources/subscribe', { uri: 'counter://clicks' });
		else c.post('subscriptions/listen',
			{ notifications: { resourceSubscriptions: ['counter://clicks'] } });
		if (!c.legacy) await c.note('notifications/subscriptions/acknowledged');
		await c.call('click', {});
		equal((await c.note('notifications/resources/updated')).uri, 'counter://clicks');
		equal((await read('counter://clicks')).text, '1');
	}),

	prompts: () => bothEras('prompts', async (c) => {
		const { prompts } = await c.get('prompts/list');
		equal(prompts.map((p) => p.name).sort(), ['describe', 'review']);
		const review = await c.get('prompts/get', { name: 'review', arguments: { file: 'a.c' } });
		equal(review.messages.map((m) => [m.role, m.content.text]),
			[['user', 'Review a.c. Look for bugs.'], ['assistant', 'I will read a.c first.']]);
		const describe = await c.get('prompts/get', { name: 'describe', arguments: { what: 'plan' } });
		equal(describe.messages.map((m) => m.content.type), ['text', 'image']);
		equal((await c.ask('prompts/get', { name: 'review' })).error?.code, -32602, 'a missing argument');
		const complete = async (name, argument, value) => (await c.get('completion/complete', {
			ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion.values;
		equal(await complete('review', 'focus', 's'), ['speed', 'style'], 'from choices');
		equal(await complete('describe', 'what', 'p'), ['painting', 'photo', 'plan'], 'from a handler');
		equal(await complete('describe', 'what', 'x'), []);
	}),

	options: async () => {
		const args = ['--file', path.join(scratch, 'notes')];
		await bothEras('options', async (c) => {
			fs.rmSync(args[1], { force: true });
			equal(text(await c.call('list', {})), 'There are no notes.');
			equal(text(await c.call('add', { note: 'buy rope' })), 'Noted.');
		}, { args });
		await serve('options', [...args, '--read-only'], async (url) => {
			equal((await (await fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1,
				method: 'tools/call', params: { name: 'list', arguments: {}, _meta: {
					[META + 'protocolVersion']: '2026-07-28', [META + 'clientCapabilities']: {} } } }),
			headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
				'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'list' } }))
				.json()).result.content[0].text, 'buy rope\n');
		});
	},

	dynamic: () => bothEras('dynamic', async (c) => {
		const names = async () => (await c.get('tools/list')).tools.map((t) => t.name).sort();
		if (!c.legacy) {
			c.post('subscriptions/listen', { notifications: { toolsListChanged: true } });
			await c.note('notifications/subscriptions/acknowledged');
		}
		await c.call('learn', { word: 'cleat', meaning: 'a fitting' });
		await c.note('notifications/tools/list_changed');
		equal(await names(), ['cleat', 'forget', 'learn']);
		equal(text(await c.call('cleat', {})), 'a fitting');
		check((await c.call('learn', { word: 'cleat', meaning: '' })).isError, 'known already');
		check((await c.call('learn', { word: 'a b', meaning: '' })).isError, 'no name for a tool');
		await c.call('forget', { word: 'cleat' });
		await c.note('notifications/tools/list_changed');
		equal(await names(), ['forget', 'learn']);
		check((await c.call('forget', { word: 'cleat' })).isError, 'forgotten already');
	}, { remarks: /^(dynamic: error: tool .*\n)*$/ }),

	content: () => bothEras('content', async (c) => {
		const { content, structuredContent } = await c.call('show', {});
		equal(content.map((b) => b.type),
			['text', 'text', 'image', 'audio', 'resource', 'resource', 'resource_link']);
		equal(content[0].annotations, { audience: ['user'], priority: 0.9 });
		equal(content[1].annotations, { audience: ['assistant'], lastModified: '2026-07-28T12:00:00Z' });
		equal(content[1]._meta, { 'example.org/origin': 'a sensor' });
		check(!content[2].annotations, 'annotations are for one block');
		equal(structuredContent, { kinds: 7, ok: true });
	}).then(() => run('content', async (c) => {
		await c.initialize('2024-11-05');
		const { content } = await c.call('show', {});
		equal(content.filter((b) => !['text', 'image', 'resource'].includes(b.type)), [],
			'blocks that 2024-11-05 does not know');
	})),

	weather: () => bothEras('weather', async (c) => {
		const result = await c.call('forecast', { city: 'Oslo' }, { _meta: { progressToken: 'w' } });
		equal(result.structuredContent, { city: 'Oslo', sky: 'clouds', high: 16, low: 8 });
		equal(JSON.parse(text(result)), result.structuredContent, 'the same as text');
		equal(c.notes.map((n) => [n.method, n.params.progress, n.params.total]),
			[1, 2, 3].map((i) => ['notifications/progress', i, 3]), 'three notes, before the answer');
		const station = await c.get('resources/read', { uri: 'weather://stations' });
		check(station.contents[0].text.startsWith('Bergen'), 'the resource');
		const packing = await c.get('prompts/get', { name: 'packing', arguments: { city: 'Rome' } });
		equal(packing.messages[0].content.text, 'What should I pack for a week in Rome?');
	}),

	methods: () => bothEras('methods', async (c) => {
		const euros = async () => (await c.get('com.example/convert', { amount: 2 })).amount;
		equal(await euros(), 23);
		c.send({ method: 'com.example/rate', params: { rate: 10 } });
		equal(await euros(), 20, 'after the notification');
	}),

	embed: () => bothEras('embed', async (c) => {
		check(/^\d+ ticks$/.test(text(await c.call('uptime', {}))), 'ticks');
	}),

	connections: async () => {
		const at = path.join(scratch, 'seats.sock');
		const child = spawn(path.join(build, 'examples/connections'), [at], { stdio: ['ignore', 'inherit', 'pipe'] });
		let said = '';
		child.stderr.on('data', (chunk) => { said += chunk; });
		try {
			const sockets = [await dial(at), await dial(at)]; // both at once
			const clients = sockets.map((socket) => new Client(socket, socket, {}));
			await clients[1].initialize();
			equal(text(await clients[0].call('order', { dish: 'soup' })), 'soup, your order 1');
			equal(text(await clients[1].call('order', { dish: 'pie' })), 'pie, your order 1');
			equal(text(await clients[0].call('order', { dish: 'tea' })), 'tea, your order 2');
			for (const socket of sockets) {
				socket.end();
				await within(once(socket, 'close'), 'end of the connection');
			}
			while (said.split('\n').length < 3) await within(once(child.stderr, 'data'), 'the ends');
			equal(said, 'a client has left after 2 orders\na client has left after 1 orders\n');
		} finally {
			child.kill();
			await once(child, 'exit');
		}
	},

	wire: () => withWire(async (at) => {
		for (const legacy of [false, true]) { // one client after the other
			const socket = net.connect(at);
			await once(socket, 'connect');
			const c = new Client(socket, socket, {});
			if (legacy) await c.initialize();
			equal(text(await c.call('say', { text: 'psst' })), '(psst)');
			equal(text(await c.call('say', { text: 'x'.repeat(100000) })).length, 100002);
			socket.end();
			await within(once(socket, 'close'), 'end of the connection');
		}
	}),

	wire_client: () => withWire((at) => {
		for (const word of ['psst', 'x'.repeat(100000)])
			equal(client('wire_client', [null, word], { program: at }), [0, `(${word})\n`, '']);
		equal(client('wire_client', [null], { program: '/nowhere' })[0], 1);
	}),

	http: () => serve('http', [], async (url) => {
		const post = (token) => fetch(url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1,
			method: 'tools/call', params: { name: 'whoami', _meta: { [META + 'protocolVersion']: '2026-07-28',
				[META + 'clientCapabilities']: {} } } }), headers: {
			'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
			'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'whoami',
			...(token && { Authorization: `Bearer ${token}` }) } });
		const token = 'correct-horse-battery-staple';
		equal(text((await (await post(token)).json()).result), 'You are ann.');
		for (const wrong of [undefined, 'x', token.slice(1), token + 'x', token.replace('e', 'E')])
			equal((await post(wrong)).status, 401, `status for ${wrong}`);
		equal(shell(`TOKEN=${token} examples/try ${url} whoami`).stdout.includes('You are ann.'), true);
	}, { address: ['127.0.0.1:0'] }),

	http_embed: () => serve('http_embed', [], async (url, child) => {
		const count = () => /"(\d+) lines"/.exec(shell(`examples/try ${url} count`).stdout)?.[1];
		equal(count(), '0');
		child.stdin.write('one\ntwo\n');
		await until(() => count() === '2', 'the lines to be counted');
		child.stdin.end('three');
	}, { address: ['127.0.0.1:0'], ends: true }),

	unit_test: () => {
		const r = spawnSync(path.join(build, 'examples/unit_test'), { encoding: 'utf8' });
		equal(r.status, 0, 'exit status');
		equal(r.stdout.match(/^ok \d/gm)?.length, 3, r.stdout);
	},

	client: () => {
		equal(client('client', ['hello']), [0, '2.5\n', '']);
		const [status, out, said] = client('client', ['hello'], { program: '/nonexistent/server' });
		equal([status, out], [1, ''], 'a server that is not there');
		check(said.includes('/nonexistent/server'), said);
		equal(client('client', ['weather'])[0], 1, 'a server without that tool');
	},

	build: () => {
		equal(client('build', ['hello', 'add', 'a=2', 'b=0.5']), [0, '2.5\n', '']);
		equal(client('build', ['hello', 'add', 'a=2', 'a=3']), [1, '', 'build: the key "a" appears twice\n']);
		equal(client('build', ['hello', 'add', 'a=2', 'b=x'])[0], 1, 'text where a number is wanted');
	},

	client_async: async () => {
		const verdict = ([status, out, said]) => {
			const lines = out.trim().split('\n').sort();
			equal(status, 0, said);
			equal([lines.length, lines[1], lines[2]], [3, 'docs: docs is built', 'tests: tests is built']);
			check(/^all: .*cancel/.test(lines[0]), lines[0]);
			for (const step of ['docs: step 5 (5 of 5)', 'tests: step 1 (1 of 5)', 'all: step 2 (2 of 5)'])
				check(said.includes(step), `no ${step} in ${said}`);
			check(!said.includes('all: step 5'), 'it was given up');
		};
		verdict(client('client_async', ['deferred']));
		await serve('deferred', [], (url) => verdict(client('client_async', [], { program: url })));
	},

	client_sampling: () => {
		const file = path.join(scratch, 'asked');
		const remove = JSON.stringify({ path: file });
		fs.writeFileSync(file, '');
		equal(client('client_sampling', ['sampling']), [0, 'In short: Once ...\n', '']);
		for (const [input, word] of [['no\n', 'said no'], ['', 'said no']]) {
			const [status, out, said] = client('client_sampling', ['ask', 'delete', remove], { input });
			equal(status, 0, said);
			check(out.includes(word) && said.startsWith(`Delete ${file}?`), out + said);
		}
		check(fs.existsSync(file), 'nothing is deleted without a yes');
		equal(client('client_sampling', ['ask', 'delete', remove], { input: 'yes\n' })[1], `${file} is gone.\n`);
		check(!fs.existsSync(file), 'deleted after a yes');
	},

	client_watch: () => equal(client('client_watch', ['resources']),
		[0, [1, 2, 3].map((i) => `the counter says ${i}\n`).join(''), '']),

	client_embed: async () => {
		equal(client('client_embed', ['hello'], { input: '2 3\nnothing\n1 0.5\n' }), [0, '5\n1.5\n', '']);
		// It answers while it waits for more.
		const child = spawn(path.join(build, 'examples/client_embed'), [path.join(build, 'examples/hello')]);
		const exit = once(child, 'close');
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		for (const [line, sum] of [['1 1', '2'], ['2 2', '4']]) {
			child.stdin.write(`${line}\n`);
			equal((await within(lines.next(), 'a sum')).value, sum);
		}
		child.stdin.end();
		equal(await within(exit, 'end of client_embed'), [0, null], 'exit status');
	},

	client_typed: () => {
		equal(client('client_typed', ['typed'])[1].split('\n').slice(0, 3),
			['typed has the tool forecast', 'Oslo in 1 days: 25', 'Oslo in 2 days: 26']);
		const [status, out] = client('client_typed', ['content', 'show']);
		equal(status, 0);
		equal(out.split('\n').slice(1, 8).map((l) => l.split(': ')[0]),
			['text', 'text', 'data', 'data', 'note://1', 'pixel://1', 'https://example.org/']);
	},

	validate: () => {
		const schema = path.join(scratch, 'schema.json');
		fs.writeFileSync(schema, '{"properties":{"days":{"type":"integer","minimum":1,"maximum":14},'
			+ '"day":{"format":"date"}},"required":["city"]}');
		const run = (input, file = schema) => {
			const r = spawnSync(path.join(build, 'examples/validate'), [file], { input, encoding: 'utf8' });
			return [r.status, r.stdout, r.stderr];
		};
		equal(run('{"city":"Oslo","days":14.0,"day":"2026-07-28"}'), [0, '', '']);
		equal(run('{"days":"tomorrow","day":"today"}'), [1, [
			'days: expected integer between 1 and 14, got "tomorrow"',
			'day: expected string that is a date such as 2026-07-28, got "today"',
			'city: required, but missing', ''].join('\n'), '']);
		equal(run('{"days":')[0], 2, 'no JSON');
		equal(run('{}', path.join(scratch, 'nowhere.json')),
			[2, '', 'validate: a file or the input cannot be read\n']);
		fs.writeFileSync(schema, '{"$ref":"https://example.com/other.json"}');
		equal(run('{}'), [2, '', 'validate: /$ref: refers to https://example.com/other.json, which is '
			+ 'not known (nothing is fetched)\n']);
	},

	memory: () => bothEras('memory', async (c) => {
		const used = async () => Number(text(await c.call('used', {})).split(' ')[0]);
		const before = await used();
		check(before > 0 && before < 1 << 20, 'a small server uses little');
		// More than there is, yet less than max_message: refused (its id was never read), and over.
		c.post('tools/call', { name: 'used', arguments: {}, _meta: { big: 'x'.repeat(6 << 20) } });
		check((await used()) < 2 << 20, 'it leaves nothing behind');
		equal(c.strays.map((m) => Boolean(m.error)), [true], 'the refusal');
	}),
};

// ---- the texts ------------------------------------------------------------------------------------

const read = (file) => fs.readFileSync(path.join(root, file), 'utf8');
// The program of hello.cpp is hello_cpp.
const sources = Object.fromEntries(fs.readdirSync(path.join(root, 'examples')).filter((f) => /\.c(pp)?$/.test(f))
	.map((f) => [f.replace(/\.c$/, '').replace('.cpp', '_cpp'), `examples/${f}`]));
const names = Object.keys(sources);
const guides = ['README.md', 'examples/README.md', 'docs/README.md',
	...fs.readdirSync(path.join(root, 'docs/guides')).map((f) => `docs/guides/${f}`)];
const shell = (command, cwd = root) => spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8',
	env: { ...process.env, CLEAT_BUILD_DIR: build, PATH: `${build}:${build}/examples:${process.env.PATH}` },
	timeout: PATIENCE });

// The command that the comment at the top of an example promises.
function promised(name) {
	const head = read(sources[name]).split('*/')[0];
	check(head.startsWith(`/* ${name.replace(/_cpp$/, '')}`), 'starts with a comment about itself');
	const commands = [...head.matchAll(/^ \*\t(?:\$ )?(.*)$/gm)].map((m) => m[1]);
	check(commands.length, 'says how to try it');
	for (const command of commands.filter((c) => c.startsWith('examples/try ')))
		equal([command, shell(command).status], [command, 0]);
}

const inShell = (cwd = root) => (command) => shell(command, cwd);

async function truthful(file) {
	for (const [, source, code] of read(file).matchAll(/<!-- from (\S+) -->\n+```\w*\n([^]*?)^```/gm))
		check(read(source).includes(code), `a block is not part of ${source}:\n${code}`);
	for (const block of blocks(read(file), 'run'))
		printed(block, inShell());
	// The guides say port 8080, which somebody else may have.
	for (const [, command, block] of read(file).matchAll(/<!-- serve (.+) -->\n+```\w*\n([^]*?)^```/gm)) {
		const [name, ...args] = command.replace('tokens', path.join(scratch, 'tokens')).split(' ');
		await serve(name, args, (url) => printed(block.replaceAll('127.0.0.1:8080', new URL(url).host),
			inShell(scratch)));
	}
	const prose = read(file).replace(/^```[^]*?^```/gm, '');
	for (const [, target] of prose.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g))
		check(/^https?:/.test(target) || fs.existsSync(path.join(root, path.dirname(file), target)),
			`a link leads nowhere: ${target}`);
}

// What the guides assume.
fs.writeFileSync(path.join(scratch, 'tokens'), 'ann correct-horse-battery-staple\n');
fs.symlinkSync(path.join(root, 'examples'), path.join(scratch, 'examples'));

const cases = [];
for (const name of names) {
	if (name.endsWith('_cpp') && !fs.existsSync(path.join(build, 'examples', name))) {
		cases.push([`${sources[name]} # SKIP there is no C++ compiler`, () => {}]);
		continue;
	}
	cases.push([`${sources[name]} answers as it should`,
		examples[name] ?? (() => { throw new Error(`tests/e2e/test_examples.mjs has no test of ${name}`); })]);
	cases.push([`${sources[name]} is short, and does what its comment says`, () => {
		check(read(sources[name]).split('\n').length <= 60, 'less than 60 lines');
		check(read('examples/README.md').includes(`(${path.basename(sources[name])})`),
			'is listed in examples/README.md');
		promised(name);
	}]);
}
for (const name of Object.keys(examples).filter((n) => !names.includes(n)))
	cases.push([`there is an examples/${name}.c for its test`, () => check(false, 'no')]);
for (const file of guides)
	cases.push([`${file} is true`, () => truthful(file)]);
const only = process.argv[2];
const chosen = cases.filter(([what]) => !only || what.includes(only));
console.log(`1..${chosen.length}`);
let number = 0, failed = 0;
for (const [what, body] of chosen) {
	try {
		await body();
		console.log(`ok ${++number} - ${what}`);
	} catch (e) {
		failed++;
		console.log(`not ok ${++number} - ${what}`);
		console.log(String(e.stack ?? e).replace(/^/gm, '# '));
	}
}
fs.rmSync(scratch, { recursive: true });
process.exit(failed ? 1 : 0);
