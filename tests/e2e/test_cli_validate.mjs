// `cleat validate`: its own tables of messages agree with the official JSON Schemas of all revisions, on
// messages that fit and on ones with a mistake; and what it says about messages that are wrong.
// A revision whose schema is nowhere (lib/data.mjs) is skipped.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import { cleat, hello, listen, place, run } from './lib/cli.mjs';
import { schemaFile } from './lib/data.mjs';
import { packaged } from './lib/node_server.mjs';
import { full, instance, mutants, mutate, random } from './lib/schema_messages.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];
const VALID = 6, MUTANTS = 40;

const lines = messages => messages.map(m => (typeof m === 'string' ? m : JSON.stringify(m)) + '\n').join('');
const validate = (messages, ...args) => run(['validate', ...args], { input: lines(messages) });
async function verdicts(messages, ...args) {
	const { stdout, stderr } = await validate(messages, '--json', ...args);
	assert.equal(stderr, '');
	return stdout.trim().split('\n').map(line => JSON.parse(line));
}
const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) });
const meta = (version = '2026-07-28') => ({ _meta: { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} } });

// ---- the official schemas --------------------------------------------------------------------------

/** What the generator of the official schemas gets wrong: in the TypeScript that they are made from, a
 * JSONValue may be null or 1.5, and so may (as a number) the content of an answer. */
function correct(defs) {
	if (defs.JSONValue) defs.JSONValue = {};
	const content = defs.ElicitResult?.properties.content.additionalProperties;
	const types = content?.type ?? content?.anyOf.find(s => Array.isArray(s.type)).type;
	if (types) types[types.indexOf('integer')] = 'number';
}

class Official {
	constructor(revision) {
		const schema = JSON.parse(readFileSync(schemaFile(revision)));
		this.defs = schema.$defs ?? schema.definitions;
		this.where = schema.$defs ? '$defs' : 'definitions';
		correct(this.defs);
		this.ajv = new (schema.$defs ? Ajv2020 : Ajv)({ strict: false, validateFormats: false });
		this.ajv.addSchema(schema, 'mcp');
	}

	compiled = {};
	fits(name, value) {
		this.compiled[name] ??= this.ajv.compile({ $ref: `mcp#/${this.where}/${name}` });
		return this.compiled[name](value);
	}

	/** The types of a union, with their methods: [name, method]. */
	union(name) {
		const one = this.defs[name];
		const refs = one?.anyOf?.map(s => s.$ref.split('/').pop()) ?? (one ? [name] : []);
		return refs.map(ref => [ref, (this.defs[ref].properties.method ?? {}).const]);
	}

	/** The result type of a request type; those that are empty are Result. */
	result(name) {
		const own = name.replace(/Request$/, 'Result');
		return this.defs[own] ? own : 'Result';
	}
}

/** Lines for one revision, and what the schemas say about each of them. */
function conversation(revision, seed) {
	const official = new Official(revision), pick = random(seed);
	const all = []; // { line, right, what }
	let id = 1;
	const envelope = message => {
		const wrong = structuredClone(message);
		[() => delete wrong.jsonrpc, () => (wrong.jsonrpc = '1.0'), () => (wrong.id = null), () => (wrong.id = 1.5)][pick('id' in message ? 4 : 2)]();
		return wrong;
	};
	const add = (mark, message, right, what) => all.push({ line: `${mark} ${JSON.stringify(message)}`, right, what });
	const several = (make, under, judge) => {
		for (let i = 0; i < VALID; i++) {
			judge(make(), false);
			for (let k = 0; k < MUTANTS / VALID; k++) {
				const good = make();
				judge(good[under] === undefined ? good : mutate(good, under, pick), true);
			}
			judge(envelope(make()), true);
		}
	};
	const judgeBy = (mark, name, frame) => (message, mutated) => {
		const right = official.fits(name, message) && official.fits(frame, message);
		if (!mutated) assert.ok(right, `${name} was to fit: ${JSON.stringify(message)}`);
		add(mark, message, right, name);
	};
	for (const [mark, side] of [['>', 'Client'], ['<', 'Server']]) {
		for (const [name] of official.union(`${side}Request`))
			several(() => ({ jsonrpc: '2.0', ...instance(official.defs[name], official.defs, pick), id: id++ }), 'params',
				judgeBy(mark, name, 'JSONRPCRequest'));
		for (const [name] of official.union(`${side}Notification`))
			several(() => {
				const message = { jsonrpc: '2.0', ...instance(official.defs[name], official.defs, pick) };
				return official.defs.ClientNotification === official.defs[name] ? { ...message, method: 'notifications/cancelled' } : message;
			}, 'params', judgeBy(mark, name, 'JSONRPCNotification'));
		// What the other side answers to it.
		const back = mark === '>' ? '<' : '>';
		for (const [name, method] of official.union(`${side}Request`)) {
			const result = official.result(name);
			several(() => ({ jsonrpc: '2.0', id: id++, result: instance(official.defs[result], official.defs, pick) }), 'result', (message, mutated) => {
				const asked = instance(official.defs[name], official.defs, pick);
				delete asked.params?.task;
				const right = 'result' in message && official.fits(result, message.result) &&
					official.fits(official.defs.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse', message);
				if (!mutated) assert.ok(right, `${result} was to fit: ${JSON.stringify(message)}`);
				const kind = message.result?.resultType;
				if (typeof kind === 'string' && kind !== 'complete') return; // an extension's: not looked at
				if (Number.isInteger(message.id)) add(mark, { ...asked, jsonrpc: '2.0', id: message.id, method }, true, name);
				add(back, message, right, `${result} of ${method}`);
			});
		}
	}
	// What else tools/call may be answered with.
	for (const [name, more, asked] of [['InputRequiredResult', { resultType: 'input_required' }, meta()], ['CreateTaskResult', {}, { task: {} }]])
		if (official.defs[name])
			several(() => ({ jsonrpc: '2.0', id: id++, result: { ...instance(official.defs[name], official.defs, pick), ...more } }), 'result', message => {
				const { result } = message;
				if (name === 'InputRequiredResult' && (result?.resultType !== 'input_required' || !(result.inputRequests || result.requestState))) return;
				if (name === 'CreateTaskResult' && !result?.task) return; // it may be a CallToolResult then
				if (!Number.isInteger(message.id) || message.jsonrpc !== '2.0') return;
				add('>', request(message.id, 'tools/call', { name: 'x', ...asked }), true, 'CallToolRequest');
				add('<', message, official.fits(name, result), name);
			});
	for (const name of ['UnsupportedProtocolVersionError', 'MissingRequiredClientCapabilityError', 'URLElicitationRequiredError'])
		if (official.defs[name])
			several(() => ({ ...instance(official.defs[name], official.defs, pick), id: id++ }), 'error', message => {
				if (Number.isInteger(message.id) && 'error' in message && official.defs[name].properties.error.allOf[1].properties.code.const === message.error?.code)
					add('<', message, official.fits(name, message), name);
			});
	const error = official.defs.JSONRPCErrorResponse ? 'JSONRPCErrorResponse' : 'JSONRPCError';
	several(() => ({ jsonrpc: '2.0', id: id++, error: { code: -32603, message: 'no', ...(pick(2) && { data: [1] }) } }), 'error', (message, mutated) => {
		if (!('error' in message)) return;
		const right = official.fits(error, message);
		assert.ok(right || mutated);
		add('<', message, right, error);
	});
	return all;
}

const TURNS = 7; // as many kinds as the largest union has

/** Every member of every message, removed and replaced: [line, right, what] of requests, notifications and results. */
function* systematic(revision) {
	const official = new Official(revision);
	let id = 1;
	/** An id is used once; which one it is makes no difference. */
	const renew = message => {
		if (Number.isInteger(message.id)) message.id = id++;
		else if (typeof message.id === 'string') message.id = `id ${id++}`;
		else return false;
		return true;
	};
	const frames = { request: 'JSONRPCRequest', notification: 'JSONRPCNotification', result: official.defs.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse' };
	function* each(make, under) {
		const seen = new Set();
		for (let turn = 0; turn < TURNS; turn++) {
			const good = make(turn);
			for (const message of [good, ...(good[under] === undefined ? [] : mutants(good, under)), ...mutants({ id: 7, ...good }, 'jsonrpc'), ...('id' in good ? mutants(good, 'id') : [])]) {
				const text = JSON.stringify(message);
				if (!seen.has(text)) yield JSON.parse(text);
				seen.add(text);
			}
		}
	}
	for (const [mark, back, side] of [['>', '<', 'Client'], ['<', '>', 'Server']]) {
		for (const [kind, names] of [['request', official.union(`${side}Request`)], ['notification', official.union(`${side}Notification`)]])
			for (const [name, method] of names)
				for (const message of each(turn => ({ jsonrpc: '2.0', ...full(official.defs[name], official.defs, turn), ...(method && { method }), ...(kind === 'request' ? { id: 1 } : {}) }), 'params')) {
					if (!('id' in message) !== (kind === 'notification')) continue; // is another kind then
					renew(message);
					yield [`${mark} ${JSON.stringify(message)}`, official.fits(name, message) && official.fits(frames[kind], message), name];
				}
		for (const [name, method] of official.union(`${side}Request`)) {
			const result = official.result(name), asked = full(official.defs[name], official.defs, 0);
			delete asked.params?.task;
			for (const message of each(turn => ({ jsonrpc: '2.0', id: 1, result: full(official.defs[result], official.defs, turn) }), 'result')) {
				const kind = message.result?.resultType;
				if (!('result' in message) || (typeof kind === 'string' && kind !== 'complete')) continue; // another kind; an extension's
				const paired = renew(message);
				if (paired) yield [`${mark} ${JSON.stringify({ ...asked, jsonrpc: '2.0', id: message.id, method })}`, true, name];
				yield [`${back} ${JSON.stringify(message)}`, official.fits(paired ? result : 'Result', message.result) && official.fits(frames.result, message), `${result} of ${method}`];
			}
		}
	}
}

const missing = revision => (schemaFile(revision) ? '' : ' # SKIP no schema (set CLEAT_TEST_DATA)');
for (const revision of revisions)
	test(`${revision}: the tables agree with the official schema${missing(revision)}`, async () => {
		if (missing(revision)) return;
		const all = conversation(revision, 1 + revisions.indexOf(revision));
		const said = await verdicts(all.map(m => m.line), '--protocol', revision);
		assert.equal(said.length, all.length);
		const wrong = all.filter((m, i) => said[i].valid !== m.right);
		assert.equal(wrong.length, 0, wrong.slice(0, 8).map(m => {
			const found = said[all.indexOf(m)].findings.map(f => `${f.pointer} ${f.text}`).join('; ');
			return `${m.what}: the schema says ${m.right}, we say: ${found || 'valid'}\n  ${m.line.slice(0, 700)}`;
		}).join('\n') + `\n(${wrong.length} of ${all.length})`);
		assert.ok(all.filter(m => m.right).length > 150 && all.filter(m => !m.right).length > 150);
	});

for (const revision of revisions)
	test(`${revision}: with every member of every message removed and replaced, too${missing(revision)}`, async () => {
		if (missing(revision)) return;
		const all = [...systematic(revision)];
		const said = await verdicts(all.map(([line]) => line), '--protocol', revision);
		assert.equal(said.length, all.length);
		const wrong = [];
		for (const [i, [line, right, what]] of all.entries())
			if (said[i].valid !== right) wrong.push(`${what}: the schema says ${right}, we say: ${said[i].findings.map(f => `${f.pointer} ${f.text}`).join('; ') || 'valid'}\n  ${line.slice(0, 500)}`);
		assert.equal(wrong.length, 0, `${wrong.filter((_, i) => i % Math.ceil(wrong.length / 8) === 0).join('\n')}\n(${wrong.length} of ${all.length})`);
		assert.ok(all.length > 4000, `only ${all.length}`);
	});

// ---- what is wrong, and where ----------------------------------------------------------------------

const wrong = [
	['no JSON', '{"jsonrpc":', 'json', ''],
	['no object', '7', 'json-rpc', ''],
	['no version', { id: 1, method: 'ping' }, 'json-rpc', ''],
	['nothing in it', { jsonrpc: '2.0', id: 1 }, 'json-rpc', ''],
	['result and error', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } }, 'json-rpc', ''],
	['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 'json-rpc', ''],
	['a null id', request(null, 'ping'), 'id', '/id'],
	['an error with a null id', { jsonrpc: '2.0', id: null, error: { code: 1, message: 'no' } }, 'null-id', '/id'],
	['a request without id', { jsonrpc: '2.0', method: 'tools/list' }, 'id', ''],
	['a notification with id', request(1, 'notifications/initialized'), 'id', '/id'],
	['params that are an array', request(1, 'ping', []), 'member', '/params'],
	['a typo', request(1, 'tool/list'), 'method', '/method'],
	['a method of another revision', request(1, 'server/discover'), 'method', '/method', '--protocol', '2025-06-18'],
	['a request that became a part of results', request(1, 'roots/list'), 'method', '/method', '--protocol', '2026-07-28'],
	['the wrong side', request(1, 'tools/list'), 'direction', '/method', '--from', 'server'],
	['no name', request(1, 'tools/call', { arguments: {} }), 'member', '/params/name'],
	['no params', request(1, 'tools/call'), 'member', ''],
	['no _meta', request(1, 'tools/list', {}), 'member', '/params/_meta', '--protocol', '2026-07-28'],
	['a batch', [request(1, 'ping')], 'batch', '', '--protocol', '2025-06-18'],
	['an unsupported version without saying which ones are', { jsonrpc: '2.0', id: 1, error: { code: -32022, message: 'no' } }, 'member', '/error', '--protocol', '2026-07-28']
];

for (const [name, message, rule, pointer, ...args] of wrong)
	test(`wrong: ${name}`, async () => {
		// A line before it, so that an array is a batch and not the list of messages.
		const said = await verdicts([request('first', 'ping'), message], ...(args.length ? args : ['--protocol', '2025-11-25']));
		const { findings, valid, line } = said[1];
		assert.equal(valid, false);
		assert.equal(line, 2);
		assert.ok(findings.some(f => f.rule === rule && f.pointer === pointer && f.severity === 'error'), JSON.stringify(findings));
	});

test('a batch is right in 2025-03-26', async () => {
	const { code, stdout } = await validate([request(1, 'ping'), [request(2, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }]], '--protocol', '2025-03-26');
	assert.equal(stdout, '2 messages, all valid\n');
	assert.equal(code, 0);
});

test('an id that is in use', async () => {
	const [, second, , fourth] = await verdicts([request(1, 'ping'), request(1, 'ping'), { jsonrpc: '2.0', id: 1, result: {} }, request(1, 'ping')]);
	assert.equal(second.findings[0].rule, 'id');
	assert.equal(fourth.valid, true);
});

test('a result is checked by its request, whoever asked', async () => {
	const result = { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'x' }] } };
	const said = await verdicts([`> ${JSON.stringify(request(1, 'tools/list'))}`, `< ${JSON.stringify(request(1, 'ping'))}`,
		`< ${JSON.stringify(result)}`, `> ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })}`, '* a remark', result]);
	assert.deepEqual(said.map(m => [m.method, m.valid]), [['tools/list', true], ['ping', true], ['tools/list', false], ['ping', true], [null, true]]);
	assert.deepEqual(said[2].findings.map(f => f.pointer), ['/result/tools/0/inputSchema']);
});

test('the revision is that of the messages', async () => {
	const begin = request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } });
	const agreed = { jsonrpc: '2.0', id: 1, result: { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'b', version: '1' } } };
	const said = await verdicts([begin, agreed, request(2, 'tools/list'), request(3, 'tools/list', meta())]);
	assert.deepEqual(said.map(m => m.revision), ['2025-11-25', '2025-03-26', '2025-03-26', '2026-07-28']);
	assert.ok(said.every(m => m.valid));
});

test('a result that asks something (2026-07-28)', async () => {
	const ask = result => verdicts([request(1, 'tools/call', { name: 'x', ...meta() }), { jsonrpc: '2.0', id: 1, result: { resultType: 'input_required', ...result } }]);
	const form = { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object', properties: {} } } };
	assert.equal((await ask({ inputRequests: { a: form } }))[1].valid, true);
	assert.deepEqual((await ask({}))[1].findings.map(f => f.pointer), ['/result']);
	const [, bad] = await ask({ inputRequests: { a: { ...form, method: 'tools/call' } } });
	assert.deepEqual(bad.findings.map(f => f.pointer), ['/result/inputRequests/a/method']);
	const [, list] = await verdicts([request(1, 'tools/list', meta()), { jsonrpc: '2.0', id: 1, result: { resultType: 'input_required', requestState: 'x' } }]);
	assert.deepEqual(list.findings.map(f => f.rule), ['result-type']);
});

test('an extension is a warning, not a mistake', async () => {
	const { code } = await validate([request(1, 'acme/fly', { far: true })]);
	assert.equal(code, 0);
	const [said] = await verdicts([request(1, 'acme/fly')]);
	assert.deepEqual(said.findings.map(f => f.severity), ['warning']);
});

test('an array of messages, in a file, over several lines', async () => {
	const cwd = place({ 'all.json': JSON.stringify([request(1, 'ping'), request(2, 'pong')], null, 2) });
	const { code, stdout } = await run(['validate', 'all.json'], { cwd });
	assert.equal(code, 7);
	assert.match(stdout, /^message 2: request pong\n {2}\/method: .*"ping".*\n1 of 2 messages is not valid\n$/);
});

test('wrong command lines, and nothing to look at', async () => {
	assert.equal((await run(['validate', '--protocol', '2020-01-01'])).code, 2);
	assert.equal((await run(['validate', 'a', 'b'])).code, 2);
	assert.equal((await run(['validate', 'nowhere.json'])).code, 2);
	assert.equal((await run(['validate', '/'])).code, 2);
	const { code, stderr } = await validate(['']);
	assert.equal(code, 7);
	assert.match(stderr, /no messages/);
});

test('hostile text never reaches the terminal as it is', async () => {
	const evil = '\u001b]0;evil\u0007\u009b31m\u202e';
	const { code, stdout } = await validate([request(1, `tools/${evil}`), request(2, 'tools/call', { name: 1, [evil]: 1, arguments: evil }), `{"${evil}`]);
	assert.equal(code, 7);
	assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('deep and large input', async () => {
	const deep = '['.repeat(100_000);
	assert.equal((await validate([request(1, 'ping'), deep])).code, 7);
	const many = Array.from({ length: 20_000 }, (_, i) => request(i, 'ping'));
	assert.equal((await validate(many, '--protocol', '2025-11-25')).code, 0);
});

// ---- real conversations ----------------------------------------------------------------------------

const everything = packaged('@modelcontextprotocol/server-everything', 'dist/index.js', 'stdio');
for (const [name, args] of Object.entries({
	'ours, modern': ['ls', '-v', '--all', '--', hello],
	'ours, legacy': ['ls', '-v', '--all', '--era', 'legacy', '--', hello],
	'server-everything': ['ls', '-v', '-q', '--all', '--', ...everything]
}))
	test(`what -v shows is valid: ${name}`, async () => {
		const { stderr, code } = await run(args);
		assert.equal(code, 0, stderr);
		const { stdout } = await run(['validate'], { input: stderr });
		assert.match(stdout, /^\d+ messages, all valid\n$/);
	});

test('a transcript of --record is understood', async t => {
	const cwd = place(), url = await listen(t);
	assert.equal((await run(['call', '--record', 'tape', url, 'add', 'a=1', 'b=2'], { cwd })).code, 0);
	assert.match((await run(['validate', 'tape'], { cwd })).stdout, /^\d+ messages, all valid\n$/);
});

assert.ok(existsSync(cleat), `${cleat} is not built`);
await runCases();
