// v2.mjs - @modelcontextprotocol/client (v2), in either era, behind the interface that the cases use.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Session, serverParameters } from './session.mjs';

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

/** As in v1.mjs; `mode` is the negotiation mode, `prior` what connect() takes. */
async function open({ mode, prior, capabilities = {}, answers = {}, client: more = {}, ...server }, opened) {
	const client = new Client(
		{ name: 'e2e-v2', version: '7.0' },
		{ capabilities, versionNegotiation: { mode }, ...more }
	);
	const session = new SessionV2(client, new StdioClientTransport(serverParameters(server)));
	opened(session);
	for (const method of notifications)
		if (!more.listChanged) client.setNotificationHandler(method, n => session.notes.push(n));
	for (const [method, answer] of Object.entries(answers))
		client.setRequestHandler(method, (request, context) => answer(request.params, context));
	await session.connect(prior && { prior });
	return session;
}

export const v2Legacy = {
	name: 'v2 legacy',
	era: 'legacy',
	open: (options, opened) => open({ mode: 'legacy', ...options }, opened)
};
export const v2Modern = {
	name: 'v2 modern',
	era: 'modern',
	open: (options, opened) => open({ mode: { pin: MODERN }, ...options }, opened)
};
