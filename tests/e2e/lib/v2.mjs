// v2.mjs - @modelcontextprotocol/client (v2), in either era, behind the interface that the cases use,
// over stdio and over HTTP.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { HttpServer, recording } from './http.mjs';
import { Inbox, Session, serverParameters } from './session.mjs';

const MODERN = '2026-07-28';
const notifications = [
	'notifications/message',
	'notifications/resources/updated',
	'notifications/resources/list_changed',
	'notifications/tools/list_changed',
	'notifications/prompts/list_changed',
	'notifications/elicitation/complete'
];

class SessionV2 extends Session {
	call(name, args = {}, options = undefined) {
		return this.client.callTool({ name, arguments: args }, options);
	}

	/** Every page of a list. The client walks them itself; its wire shows how. */
	async pages(method) {
		const before = this.received.items.length;
		await this.client[method]();
		return this.received.items.slice(before).map(m => m.result);
	}
}

async function connect(session, { answers, client: more, prior }) {
	const { client } = session;
	for (const method of notifications)
		if (!more.listChanged) client.setNotificationHandler(method, n => session.notes.push(n));
	for (const [method, answer] of Object.entries(answers))
		client.setRequestHandler(method, (request, context) => session.answers(answer, request.params, context));
	await session.connect(prior && { prior });
	return session;
}

function makeClient({ mode, capabilities = {}, client = {} }) {
	return new Client(
		{ name: 'e2e-v2', version: '7.0' },
		{ capabilities, versionNegotiation: { mode }, ...client }
	);
}

/** As in v1.mjs; `mode` is the negotiation mode, `prior` what connect() takes. */
async function open({ mode, prior, capabilities, answers = {}, client = {}, ...server }, opened) {
	const transport = new StdioClientTransport(serverParameters(server));
	const session = new SessionV2(makeClient({ mode, capabilities, client }), transport);
	opened(session);
	return connect(session, { answers, client, prior });
}

async function openHttp(
	{ mode, prior, capabilities, answers = {}, client = {}, server, url, transport: more = {}, ...options },
	opened
) {
	if (!server) opened((server = await HttpServer.start(options)));
	const exchanges = new Inbox();
	const transport = new StreamableHTTPClientTransport(new URL(url ?? server.url), {
		fetch: recording(exchanges),
		...more
	});
	const session = new SessionV2(makeClient({ mode, capabilities, client }), transport, server);
	session.exchanges = exchanges;
	opened(session);
	return connect(session, { answers, client, prior });
}

const legacy = { era: 'legacy', mode: 'legacy' };
const modern = { era: 'modern', mode: { pin: MODERN } };

function sdk(name, link, { era, mode }) {
	const opens = link === 'stdio' ? open : openHttp;
	return { name, link, era, open: (options, opened) => opens({ mode, ...options }, opened) };
}

export const v2Legacy = sdk('v2 legacy', 'stdio', legacy);
export const v2Modern = sdk('v2 modern', 'stdio', modern);
export const v2LegacyHttp = sdk('v2 legacy http', 'http', legacy);
export const v2ModernHttp = sdk('v2 modern http', 'http', modern);
