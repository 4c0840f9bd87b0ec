// revisions.mjs - the older revisions, one by one: what a client of that time does not know is not
// sent to it. v1 of the SDK cannot be told to speak an older one; v2 can.

import assert from 'node:assert/strict';
import { text } from './cases.mjs';
import { test } from './tap.mjs';

export function revisionCases(sdk) {
	for (const [revision, knows] of [
		['2024-11-05', {}],
		['2025-03-26', { annotations: true, audio: true }],
		['2025-06-18', { annotations: true, audio: true, structured: true, titles: true, elicitation: true }],
		[
			'2025-11-25',
			{ annotations: true, audio: true, structured: true, titles: true, elicitation: true, icons: true }
		]
	]) {
		test(`${sdk.name}: ${revision} is spoken, and nothing that is newer`, async t => {
			const s = await t.open(sdk, {
				client: { supportedProtocolVersions: [revision] },
				capabilities: { elicitation: {}, sampling: {} },
				answers: {
					'elicitation/create': () => ({ action: 'accept', content: { name: 'Ann' } }),
					'sampling/createMessage': () => ({
						model: 'm',
						role: 'assistant',
						content: { type: 'text', text: 'Paris' }
					})
				}
			});
			assert.equal(s.client.getNegotiatedProtocolVersion(), revision);
			const { tools } = await s.client.listTools();
			const tool = tools.find(x => x.name === 'forecast');
			assert.equal(tool.annotations !== undefined, !!knows.annotations, 'annotations');
			assert.equal(tool.title !== undefined, !!knows.titles, 'title');
			assert.equal(tool.outputSchema !== undefined, !!knows.structured, 'outputSchema');
			assert.equal(tool.icons !== undefined, !!knows.icons, 'icons');
			const result = await s.call('forecast', { city: 'Rome' });
			assert.equal(result.structuredContent !== undefined, !!knows.structured, 'structuredContent');
			assert.equal(JSON.parse(text(result)).city, 'Rome');
			const kinds = new Set((await s.call('all_kinds')).content.map(b => b.type));
			assert.equal(kinds.has('audio'), !!knows.audio, 'audio');
			assert.equal(kinds.has('resource_link'), !!knows.titles, 'resource_link');
			assert.equal(text(await s.call('test_sampling', { prompt: 'x' })), 'LLM response: Paris');
			const asked = await s.call('test_input_required_result_elicitation');
			assert.equal(!asked.isError, !!knows.elicitation, 'elicitation');
			assert.deepEqual(await s.client.ping(), {});
		});
	}
}
