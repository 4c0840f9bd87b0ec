// server_v1.mjs - a server written with the official TypeScript SDK, v1, as anybody would write one; what
// client_cases.mjs expects of a server is in there.
//
//	node server_v1.mjs stdio
//	node server_v1.mjs http [--json] [--store] [--stateless]
//	node server_v1.mjs sse
//
// On HTTP it says "listening on PORT". --json: answers are no streams. --store: streams can be resumed.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { addResources } from './server_resources.mjs';

const [how, ...options] = process.argv.slice(2);
const has = option => options.includes(option);
const say = text => ({ content: [{ type: 'text', text }] });

let cancelled = 0;
const sessions = new Map();

function addTools(server) {
	const subscribed = new Set();
	const tool = (name, inputSchema, call, more = {}) => server.registerTool(name, { inputSchema, ...more }, call);

	tool('echo', { text: z.string() }, ({ text }) => say(text));
	tool(
		'add',
		{ a: z.number(), b: z.number() },
		({ a, b }) => ({ ...say(String(a + b)), structuredContent: { sum: a + b } }),
		{ outputSchema: { sum: z.number() } }
	);
	tool('fail', {}, () => ({ ...say('it failed'), isError: true }));
	tool('steps', { n: z.number() }, async ({ n }, extra) => {
		const { progressToken } = extra._meta ?? {};
		for (let progress = 1; progress <= n && progressToken !== undefined; progress++)
			await extra.sendNotification({
				method: 'notifications/progress',
				params: { progressToken, progress, total: n, message: `step ${progress}` }
			});
		return say('done');
	});
	tool('speak', { text: z.string() }, async ({ text }, extra) => {
		await server.sendLoggingMessage({ level: 'warning', logger: 'fixture', data: text }, extra.sessionId);
		return say('spoken');
	});
	tool('ask_form', {}, async () => {
		const { action, content } = await server.server.elicitInput({
			message: 'Who are you?',
			requestedSchema: {
				type: 'object',
				properties: { name: { type: 'string' }, age: { type: 'integer', default: 30 } },
				required: ['name']
			}
		});
		return say(JSON.stringify({ action, content }));
	});
	tool('ask_model', { prompt: z.string() }, async ({ prompt }) => {
		const { model, content } = await server.server.createMessage({
			messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
			maxTokens: 50
		});
		return say(`${model}: ${content.text}`);
	});
	tool('ask_roots', {}, async () => say(JSON.stringify((await server.server.listRoots()).roots)));
	tool('wait', {}, (_, { signal }) => new Promise(resolve => signal.addEventListener('abort', () => resolve(say(String(cancelled++))))));
	tool('cancelled', {}, () => say(String(cancelled)));
	tool('grow', {}, () => {
		tool('grown', {}, () => say('grown'));
		return say('grew');
	});
	tool('touch', {}, async () => {
		for (const uri of subscribed) await server.server.sendResourceUpdated({ uri });
		return say([...subscribed].join(' '));
	});
	// The client is hung up on, and comes back for the rest.
	tool('hang_up', {}, async (_, extra) => {
		extra.closeSSEStream?.();
		await new Promise(resolve => setTimeout(resolve, 50));
		return say('still here');
	});
	tool('forget', {}, (_, extra) => {
		setImmediate(() => sessions.delete(extra.sessionId));
		return say('forgotten');
	});
	tool('exit', { code: z.number() }, ({ code }) => process.exit(code));
	server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
	server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
}

function makeServer() {
	const server = new McpServer(
		{ name: 'fixture', version: '1.2.3' },
		{ capabilities: { logging: {}, resources: { subscribe: true } }, instructions: 'Ask "anything" – politely.' }
	);
	addTools(server);
	addResources(server, ResourceTemplate);
	const known = ['Ann', 'Anna', 'Bob'];
	server.registerPrompt(
		'greet',
		{ argsSchema: { name: completable(z.string(), typed => known.filter(n => n.startsWith(typed))) } },
		({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] })
	);
	return server;
}

class EventStore {
	#events = [];

	async storeEvent(streamId, message) {
		this.#events.push({ streamId, message });
		return `e${this.#events.length}`;
	}

	async replayEventsAfter(last, { send }) {
		const from = Number(last.slice(1));
		const { streamId } = this.#events[from - 1];
		for (let i = from; i < this.#events.length; i++)
			// The event that primes a stream has no message.
			if (this.#events[i].streamId === streamId && this.#events[i].message.jsonrpc)
				await send(`e${i + 1}`, this.#events[i].message);
		return streamId;
	}
}

async function streamable(req, res) {
	const id = req.headers['mcp-session-id'];
	let transport = sessions.get(id);
	if (id && !transport) {
		res.writeHead(404, { 'content-type': 'application/json' });
		return res.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
	}
	if (!transport) {
		transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: has('--stateless') ? undefined : () => randomUUID(),
			enableJsonResponse: has('--json'),
			eventStore: has('--store') ? new EventStore() : undefined,
			retryInterval: 50,
			onsessioninitialized: given => void sessions.set(given, transport),
			onsessionclosed: given => void sessions.delete(given)
		});
		await makeServer().connect(transport);
	}
	return transport.handleRequest(req, res);
}

async function oldSse(req, res) {
	const { pathname, searchParams } = new URL(req.url, 'http://x');
	if (req.method === 'GET' && pathname === '/mcp') {
		const transport = new SSEServerTransport('/messages', res);
		sessions.set(transport.sessionId, transport);
		return makeServer().connect(transport);
	}
	const transport = sessions.get(searchParams.get('sessionId'));
	if (transport && req.method === 'POST') return transport.handlePostMessage(req, res);
	res.writeHead(req.method === 'POST' && pathname === '/mcp' ? 405 : 404).end();
}

if (how === 'stdio') {
	await makeServer().connect(new StdioServerTransport());
} else {
	const serve = how === 'sse' ? oldSse : streamable;
	const http = createServer((req, res) => serve(req, res).catch(error => console.error(error)));
	http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.error(`listening on ${http.address().port}`));
}
