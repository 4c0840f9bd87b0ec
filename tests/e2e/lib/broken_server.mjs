// broken_server.mjs - servers with one thing wrong, for `cleat doctor` and `cleat check`.
//
//	node broken_server.mjs FAULT          over stdin and stdout, 2025-11-25
//	node broken_server.mjs http FAULT     over HTTP; says "listening on PORT"

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const http = process.argv[2] === 'http';
const fault = process.argv[http ? 3 : 2];
const EVIL = '\u001b]0;evil\u0007\u009b31m';

const object = (properties = {}, more = {}) => ({ type: 'object', properties, ...more });
const text = { type: 'string', description: 'Some text to work with' };
const tool = (name, more = {}) => ({ name, description: 'Does what it says and nothing else', inputSchema: object(), ...more });
const readOnly = { annotations: { readOnlyHint: true } };
const say = (value, more = {}) => ({ content: [{ type: 'text', text: value }], ...more });

/** fault: what is different. `tools`, `resources`, `prompts`: lists; `call`: answers tools/call. */
const faults = {
	none: {},
	lint: {
		tools: [
			tool('has space'), tool(''), tool('x'.repeat(129)), tool('y'.repeat(70)),
			tool('twice'), tool('twice'), tool('list_files'), tool('listFiles'),
			{ name: 'silent', inputSchema: object() }, tool('parrot', { description: 'Parrot' }), tool('short', { description: 'Sums' }),
			tool('undescribed', { inputSchema: object({ a: { type: 'string' } }) }),
			tool('sneaky', { description: 'Adds two numbers\u200b\u{E0041} and more' }),
			tool('broken', { inputSchema: object({ a: { type: 'strnig', description: 'A thing' } }) }),
			tool('remote', { inputSchema: object({ a: { $ref: 'https://example.com/schema.json' } }) }),
			tool('choice', { inputSchema: { ...object({ a: text }), anyOf: [{ required: ['a'] }] } }),
			tool('needy', { inputSchema: object({}, { required: ['ghost'] }) }),
			tool('never', { inputSchema: object({}, { required: ['ghost'], additionalProperties: false }) }),
			tool('whispers', { inputSchema: object({ a: { ...text, description: 'Some text\u2060 to work with' } }) }),
			tool('torn', { annotations: { readOnlyHint: true, destructiveHint: true } }),
			tool('delete_all', { annotations: { readOnlyHint: true } })
		],
		instructions: 'Be kind.\u{E0042}',
		resources: [{ uri: 'no scheme', name: 'a' }, { uri: 'test://a b', name: 'd' }, { uri: 'test://100%', name: 'e' }, { uri: 'test://größe', name: 'f' }, { uri: 'test://one', name: 'b' }, { uri: 'test://one', name: 'c' }],
		templates: [{ uriTemplate: 'test://{open', name: 'a' }, { uriTemplate: 'test://plain', name: 'b' }],
		prompts: [{ name: 'p', arguments: [{ name: 'a' }, { name: 'a' }] }]
	},
	// Unusual, but right.
	fine: {
		tools: [
			tool('persian', { description: 'می\u200cخواهم: what somebody wants \u{1F469}\u200d\u{1F4BB}' }),
			tool('wales', { description: 'For \u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F} only' }),
			tool('bundled', { inputSchema: object({ a: { $ref: 'https://example.com/a' } }, { $defs: { a: { $id: 'https://example.com/a', ...text } } }) }),
			tool('pattern', { inputSchema: object({}, { required: ['x-a'], patternProperties: { '^x-': text } }) }),
			tool('create_chart', { ...readOnly, inputSchema: object() }),
			tool('sample', { inputSchema: object({ a: { ...text, default: { $ref: 'https://example.com/no-schema' } } }) })
		],
		call: () => say('fine'),
		resources: [{ uri: 'test://a%20b/?q=%C3%A9#f', name: 'a' }, { uri: 'urn:isbn:0', name: 'b' }],
		read: ({ uri }) => ({ contents: [{ uri, text: 'x' }] }),
		prompts: [{ name: 'Say it again', description: 'What was said' }],
		get: ({ name }) => {
			if (name !== 'Say it again') throw [-32602, 'no such prompt'];
			return { messages: [] };
		}
	},
	lost: {
		resources: [{ uri: 'test://one', name: 'one' }], prompts: [{ name: 'p', description: 'A prompt' }],
		read: ({ uri }) => ({ contents: [{ uri, text: 'whatever you like' }] }), readAll: true,
		get: ({ name }) => {
			if (name !== 'p') throw [-32603, 'TypeError: undefined'];
			return { messages: [] };
		}
	},
	mute: {
		prompts: [{ name: 'p', description: 'A prompt', arguments: [{ name: 'a', required: true }] }],
		get: ({ name }) => {
			if (name !== 'p') throw [-32602, 'no such prompt'];
			return undefined;
		}
	},
	yes: { answer: () => ({}) },
	loose: {
		tools: [tool('any', { ...readOnly, inputSchema: object({ a: text }, { required: ['a'] }) })],
		call: () => say('fine')
	},
	output: {
		tools: [
			tool('missing', { ...readOnly, outputSchema: object({ n: { type: 'number' } }) }),
			tool('unfit', { ...readOnly, outputSchema: object({ n: { type: 'number' } }, { required: ['n'] }) }),
			tool('dangerous', { outputSchema: object() })
		],
		call: ({ name }) => {
			if (name === 'dangerous') process.stderr.write('BOOM: a tool that is not read-only was called\n');
			return name === 'unfit' ? say('{}', { structuredContent: { n: 'seven' } }) : say('nothing');
		}
	},
	unreadable: { resources: [{ uri: 'test://gone', name: 'gone' }], read: () => { throw [-32603, 'the disk is on fire']; } },
	prompts: {
		prompts: [{ name: 'free' }, { name: 'bound', arguments: [{ name: 'a', required: true }] }],
		get: ({ name }) => {
			if (name === 'free') throw [-32603, 'cannot'];
			if (name !== 'bound') throw [-32602, 'no such prompt'];
			return { messages: [] };
		}
	},
	shuffle: { tools: [tool('one'), tool('two'), tool('three')], each: state => state.tools.unshift(state.tools.pop()) },
	pages: { cursor: 'again' },
	undeclared: { capabilities: {} },
	nothing: { capabilities: {}, tools: undefined },
	unlisted: { list: () => { throw [-32603, 'not today']; } },
	long: { list: () => { throw [-32603, `opts.era ${'x'.repeat(2000)} END`]; } },
	gone: { list: () => { throw [-32601, 'Method not found']; } },
	zero: { resources: [], prompts: [], strange: 0 },
	probe: { discover: { error: { code: 'no', message: 7 }, jsonrpc: '1' } },
	nameless: { begin: () => process.stdout.write('{"jsonrpc":"2.0","id":null,"error":{"code":"x","message":"who?"}}\n') },
	tacit: { tacit: true },
	unheard: { answer: method => (method === 'tools/list' ? undefined : {}) },
	messages: { tools: [{ name: 'x' }, { name: 'y', inputSchema: { type: 'array' } }, tool('z', { title: 7 })] },
	evil: { tools: [tool(`${EVIL}x`, { description: `${EVIL} and more of it` })], list: undefined, info: { name: EVIL, version: EVIL } },
	evilerror: { list: () => { throw [-32603, `${EVIL} no`]; } },
	noise: { begin: () => process.stdout.write(`Server ready ${EVIL}\n`) },
	crash: { begin: () => { process.stderr.write(`cannot open the database ${EVIL}\n`); process.exit(3); } },
	deaf: { deaf: true },
	logs: { deaf: true, begin: () => process.stdout.write('INFO the server is starting\n') },
	stays: { begin: () => setInterval(() => {}, 1000) },
	chatter: { begin: () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'loud' } }) + '\n') },
	// Not by the book, but there is only one thing that it can mean.
	sloppy: {
		tools: [tool('cut', { ...readOnly, description: 'Cuts a text in the middle of \ud83d' })],
		call: () => say('cut \ud83d'),
		begin: () => process.stdout.write('\ufeff   \n'),
		write: out => `\ufeff${JSON.stringify({ error: null, ...out, id: String(out.id) })}\n  \n`
	},
	stranger: { version: '1999-01-01' }
};

const state = { tools: [tool('echo', { inputSchema: object({ text }, { required: ['text'], additionalProperties: false }) })], ...faults[fault] };
const lists = {
	'tools/list': ['tools', 'tools'], 'resources/list': ['resources', 'resources'],
	'resources/templates/list': ['templates', 'resourceTemplates'], 'prompts/list': ['prompts', 'prompts']
};

function capabilities() {
	if (state.capabilities) return state.capabilities;
	return Object.fromEntries(['tools', 'resources', 'prompts'].filter(name => state[name]).map(name => [name, {}]));
}

function answer(method, params) {
	if (method === 'initialize')
		return { protocolVersion: state.version ?? '2025-11-25', capabilities: capabilities(), serverInfo: state.info ?? { name: 'broken', version: '1' }, instructions: state.instructions };
	if (state.answer) return state.answer(method, params);
	if (method === 'ping') return {};
	if (lists[method] && state[lists[method][0]]) {
		const [from, to] = lists[method];
		state.list?.();
		state.each?.(state);
		return { [to]: state[from], ...(state.cursor && { nextCursor: state.cursor }) };
	}
	if (method === 'tools/call' && state.call && state.tools.some(t => t.name === params.name)) return state.call(params);
	if (method === 'tools/call') throw [-32602, `there is no tool ${params.name}`];
	if (method === 'resources/read' && state.read && (state.readAll || state.resources.some(r => r.uri === params.uri))) return state.read(params);
	if (method === 'resources/read') throw [-32002, 'no such resource'];
	if (method === 'prompts/get' && state.get) return state.get(params);
	if (method === 'prompts/get') throw [-32602, 'no such prompt'];
	if (state.tacit) return undefined;
	throw [-32601, `there is no ${method}`];
}

function reply(message) {
	if (message.id === undefined || message.method === undefined) return undefined;
	if (state.discover && message.method === 'server/discover') return { id: message.id, ...state.discover };
	try {
		const result = answer(message.method, message.params);
		return result && { jsonrpc: '2.0', id: message.id, result };
	} catch (error) {
		if (!Array.isArray(error)) throw error;
		return { jsonrpc: '2.0', id: message.id, error: { code: state.strange ?? error[0], message: error[1] } };
	}
}

if (http) {
	const metadata = 'https://auth.example/.well-known/oauth-protected-resource';
	const refusals = {
		401: [401, { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}", scope="files:read", error="invalid_token"` }, ''],
		403: [403, {}, ''],
		404: [404, { 'Content-Type': 'text/html' }, '<h1>Not Found</h1>'],
		html: [200, { 'Content-Type': 'text/html' }, '<h1>Welcome</h1>'],
		500: [500, { 'Content-Type': 'text/plain' }, `oh ${EVIL}`],
		hangup: []
	};
	const server = createServer((req, res) => {
		const [status, headers, body] = refusals[fault];
		if (!status) return req.socket.destroy();
		res.writeHead(status, headers).end(body);
	});
	server.listen(0, '127.0.0.1', () => console.error(`listening on ${server.address().port}`));
} else {
	state.begin?.();
	createInterface({ input: process.stdin }).on('line', line => {
		const out = state.deaf ? undefined : reply(JSON.parse(line));
		if (out) process.stdout.write(state.write?.(out) ?? JSON.stringify(out) + '\n');
	});
}
