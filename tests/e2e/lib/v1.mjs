// v1.mjs - @modelcontextprotocol/sdk (v1) behind the interface that the cases use, over stdio, over
// Streamable HTTP and over the older HTTP+SSE.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { HttpServer, recording } from './http.mjs';
import { Inbox, Session, serverParameters } from './session.mjs';

const notifications = [
	types.LoggingMessageNotificationSchema,
	types.ResourceUpdatedNotificationSchema,
	types.ResourceListChangedNotificationSchema,
	types.ToolListChangedNotificationSchema,
	types.PromptListChangedNotificationSchema,
	types.ElicitationCompleteNotificationSchema
];
const requests = {
	'elicitation/create': types.ElicitRequestSchema,
	'sampling/createMessage': types.CreateMessageRequestSchema,
	'roots/list': types.ListRootsRequestSchema
};

class SessionV1 extends Session {
	call(name, args = {}, options = undefined) {
		return this.client.callTool({ name, arguments: args }, undefined, options);
	}

	/** Every page of a list, one request each. */
	async pages(method) {
		const pages = [];
		let cursor;
		do {
			pages.push(await this.client[method](cursor === undefined ? {} : { cursor }));
			cursor = pages.at(-1).nextCursor;
		} while (cursor !== undefined);
		return pages;
	}
}

async function connect(session, { answers, client: more }) {
	const { client } = session;
	for (const schema of notifications)
		if (!more.listChanged) client.setNotificationHandler(schema, n => session.notes.push(n));
	for (const [method, answer] of Object.entries(answers))
		client.setRequestHandler(requests[method], (request, extra) => session.answers(answer, request.params, extra));
	await session.connect();
	return session;
}

function makeClient({ capabilities = {}, client = {} }) {
	return new Client({ name: 'e2e-v1', version: '7.0' }, { capabilities, ...client });
}

/** options: program, env, capabilities, answers ({method: params => result}), client (more options). */
async function open({ capabilities, answers = {}, client = {}, ...server }, opened) {
	const transport = new StdioClientTransport(serverParameters(server));
	const session = new SessionV1(makeClient({ capabilities, client }), transport);
	opened(session);
	return connect(session, { answers, client });
}

/** Besides: server (one that runs already), url (instead of its own), transport (more options). */
async function openHttp(
	{ capabilities, answers = {}, client = {}, server, url, transport: more = {}, ...options },
	opened,
	link
) {
	if (!server) opened((server = await HttpServer.start(options)));
	const exchanges = new Inbox();
	const where = new URL(url ?? (link === 'sse' ? new URL('/sse', server.url) : server.url));
	const Transport = link === 'sse' ? SSEClientTransport : StreamableHTTPClientTransport;
	const transport = new Transport(where, { fetch: recording(exchanges), ...more });
	const session = new SessionV1(makeClient({ capabilities, client }), transport, server);
	session.exchanges = exchanges;
	opened(session);
	return connect(session, { answers, client });
}

export const v1 = { name: 'v1', era: 'legacy', link: 'stdio', open };
export const v1Http = {
	name: 'v1 http',
	era: 'legacy',
	link: 'http',
	open: (options, opened) => openHttp(options, opened, 'http')
};
export const v1Sse = {
	name: 'v1 sse',
	era: 'legacy',
	link: 'sse',
	open: (options, opened) => openHttp(options, opened, 'sse')
};
