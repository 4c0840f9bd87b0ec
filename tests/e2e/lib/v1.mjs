// v1.mjs - @modelcontextprotocol/sdk (v1) behind the interface that the cases use.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { Session, serverParameters } from './session.mjs';

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

/** options: program, env, capabilities, answers ({method: params => result}), client (more options). */
async function open({ capabilities = {}, answers = {}, client: more = {}, ...server }, opened) {
	const client = new Client({ name: 'e2e-v1', version: '7.0' }, { capabilities, ...more });
	const session = new SessionV1(client, new StdioClientTransport(serverParameters(server)));
	opened(session);
	for (const schema of notifications)
		if (!more.listChanged) client.setNotificationHandler(schema, n => session.notes.push(n));
	for (const [method, answer] of Object.entries(answers))
		client.setRequestHandler(requests[method], (request, extra) => answer(request.params, extra));
	await session.connect();
	return session;
}

export const v1 = { name: 'v1', era: 'legacy', open };
