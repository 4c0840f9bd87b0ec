// server_v2.mjs - the same server as server_v1.mjs, written with the official TypeScript SDK, v2: one factory
// for both eras.
//
//	node server_v2.mjs stdio [--reject]
//	node server_v2.mjs http [--reject] [--json|--sse] [--tls CERT KEY]
//
// --reject: only 2026-07-28. --json: answers are no streams, --sse: they all are. --tls: over HTTP/2 where the
// client can; it says which version a connection speaks.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
	McpServer,
	ResourceTemplate,
	completable,
	createMcpHandler,
	fromJsonSchema,
	inputRequired,
	inputResponse
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { addResources } from './server_resources.mjs';

const [how, ...options] = process.argv.slice(2);
const has = option => options.includes(option);
const say = text => ({ content: [{ type: 'text', text }] });

let cancelled = 0;
let isGrown = false;
let regionHeader = 'Region';
let notify; // HTTP: tells every subscription

const form = {
	message: 'Who are you?',
	requestedSchema: {
		type: 'object',
		properties: { name: { type: 'string' }, age: { type: 'integer', default: 30 } },
		required: ['name']
	}
};
const question = prompt => ({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 50 });
const answered = (ctx, key) => {
	const view = inputResponse(ctx.mcpReq.inputResponses, key);
	return view.kind === 'missing' ? undefined : ctx.mcpReq.inputResponses[key];
};

function addTools(server, era) {
	const subscribed = new Set();
	const tool = (name, shape, call, more = {}) =>
		server.registerTool(name, { inputSchema: z.object(shape), ...more }, call);

	tool('echo', { text: z.string() }, ({ text }) => say(text));
	tool(
		'add',
		{ a: z.number(), b: z.number() },
		({ a, b }) => ({ ...say(String(a + b)), structuredContent: { sum: a + b } }),
		{ outputSchema: z.object({ sum: z.number() }) }
	);
	tool('fail', {}, () => ({ ...say('it failed'), isError: true }));
	tool('steps', { n: z.number() }, async ({ n }, ctx) => {
		const { progressToken } = ctx.mcpReq._meta ?? {};
		for (let progress = 1; progress <= n && progressToken !== undefined; progress++)
			await ctx.mcpReq.notify({
				method: 'notifications/progress',
				params: { progressToken, progress, total: n, message: `step ${progress}` }
			});
		return say('done');
	});
	tool('speak', { text: z.string() }, async ({ text }, ctx) => {
		await ctx.mcpReq.log('warning', text, 'fixture');
		return say('spoken');
	});
	tool('ask_form', {}, (_, ctx) => {
		const answer = answered(ctx, 'who');
		if (!answer) return inputRequired({ inputRequests: { who: inputRequired.elicit(form) }, requestState: 'asked' });
		const { action, content } = answer;
		return say(JSON.stringify({ action, content }));
	});
	tool('ask_model', { prompt: z.string() }, ({ prompt }, ctx) => {
		const answer = answered(ctx, 'model');
		if (!answer) return inputRequired({ inputRequests: { model: inputRequired.createMessage(question(prompt)) } });
		return say(`${answer.model}: ${answer.content.text}`);
	});
	tool('ask_roots', {}, (_, ctx) => {
		const answer = answered(ctx, 'roots');
		if (!answer) return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
		return say(JSON.stringify(answer.roots));
	});
	// Three questions at once, then one more, with a state that changes.
	tool('ask_all', {}, (_, ctx) => {
		const r = ctx.mcpReq.inputResponses ?? {};
		const state = ctx.mcpReq.requestState();
		if (!state)
			return inputRequired({
				inputRequests: {
					who: inputRequired.elicit(form),
					model: inputRequired.createMessage(question('Capital?')),
					roots: inputRequired.listRoots()
				},
				requestState: 'one "\\ é \u{1F600}'
			});
		if (state === 'one "\\ é \u{1F600}')
			return inputRequired({
				inputRequests: { where: inputRequired.elicitUrl({ message: 'Log in', url: 'https://example.com/x?y=1' }) },
				requestState: JSON.stringify([r.who.content.name, r.model.content.text, r.roots.roots.length])
			});
		return say([...JSON.parse(state), r.where.action].join(', '));
	});
	// Never satisfied.
	tool('ask_forever', {}, () => inputRequired({ inputRequests: { who: inputRequired.elicit(form) }, requestState: 'again' }));
	// No question at all, just a state to come back with.
	tool('come_back', {}, (_, ctx) => (ctx.mcpReq.requestState() ? say('back') : inputRequired({ requestState: 'later' })));
	tool('wait', {}, (_, ctx) => new Promise(resolve =>
		ctx.mcpReq.signal.addEventListener('abort', () => resolve(say(String(cancelled++))))));
	tool('cancelled', {}, () => say(String(cancelled)));
	if (isGrown) tool('grown', {}, () => say('grown'));
	tool('grow', {}, () => {
		if (!isGrown && !notify) tool('grown', {}, () => say('grown'));
		isGrown = true;
		notify?.toolsChanged();
		return say('grew');
	});
	tool('touch', {}, async () => {
		if (notify) notify.resourceUpdated('test://watched');
		else await server.server.sendResourceUpdated({ uri: 'test://watched' });
		return say('test://watched');
	});
	tool('exit', { code: z.number() }, ({ code }) => process.exit(code));
	const headed = fromJsonSchema({
		type: 'object',
		properties: {
			region: { type: 'string', 'x-mcp-header': regionHeader },
			level: { type: 'integer', 'x-mcp-header': 'Level' },
			dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' }
		}
	});
	server.registerTool('headers', { inputSchema: headed }, (args, ctx) =>
		say(JSON.stringify({ args, headers: Object.fromEntries([...(ctx.http?.req?.headers ?? [])].filter(([n]) => n.startsWith('mcp-'))) })));
	// Another name for the header, about which nobody is told.
	tool('rename_header', { name: z.string() }, ({ name }) => ((regionHeader = name), say(name)));
	if (era === 'legacy') {
		server.server.setRequestHandler('resources/subscribe', ({ params }) => (subscribed.add(params.uri), {}));
		server.server.setRequestHandler('resources/unsubscribe', ({ params }) => (subscribed.delete(params.uri), {}));
	}
}

function makeServer({ era }) {
	const server = new McpServer(
		{ name: 'fixture', version: '1.2.3' },
		{
			capabilities: { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } },
			instructions: 'Ask "anything" – politely.'
		}
	);
	addTools(server, era);
	addResources(server, ResourceTemplate);
	const known = ['Ann', 'Anna', 'Bob'];
	server.registerPrompt(
		'greet',
		{ argsSchema: z.object({ name: completable(z.string(), typed => known.filter(n => n.startsWith(typed))) }) },
		({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${name}` } }] })
	);
	return server;
}

if (how === 'stdio') {
	serveStdio(makeServer, { legacy: has('--reject') ? 'reject' : 'serve' });
} else {
	const handler = createMcpHandler(makeServer, {
		legacy: has('--reject') ? 'reject' : 'stateless',
		responseMode: has('--json') ? 'json' : has('--sse') ? 'sse' : 'auto'
	});
	notify = handler.notify;
	const serve = toNodeHandler(handler);
	const [cert, key] = has('--tls') ? options.slice(options.indexOf('--tls') + 1).map(file => readFileSync(file)) : [];
	const http = cert ? createSecureServer({ cert, key, allowHTTP1: true }) : createServer();
	http.on('request', (req, res) => {
		if (cert) console.error(`HTTP/${req.httpVersion}`);
		serve(req, res);
	});
	http.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.error(`listening on ${http.address().port}`));
}
