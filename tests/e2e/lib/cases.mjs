// cases.mjs - what every SDK must find in our server, in either era; a case each. `sdk` is one of
// those in v1.mjs and v2.mjs. Where the eras differ on purpose, `modern` says so.

import assert from 'node:assert/strict';
import { noConnection } from './http.mjs';
import { Pipe } from './pipe.mjs';
import { casesOf, PATIENCE } from './tap.mjs';

export const PNG = 'iVBORw0KGgo';
const WAV = 'UklGRiYAAAB';
const EMBEDDED = {
	uri: 'test://embedded-resource',
	mimeType: 'text/plain',
	text: 'This is an embedded resource content.'
};
const STATIC = { uri: 'test://static-text', mimeType: 'text/plain' };
const LINKS = [
	{ type: 'resource_link', name: 'static-text', description: 'A link', ...STATIC },
	{ type: 'resource_link', uri: 'test://bare', name: 'test://bare' }
];

export const text = result => result.content?.map(c => c.text).join('\n');

/** Fails with this JSON-RPC code. */
export function refused(promise, code, message = /./) {
	return assert.rejects(promise, error => {
		assert.equal(error.code, code, `${error.constructor.name} ${error.code}: ${error.message}`);
		assert.match(error.message, message);
		return true;
	});
}

/** Options of a client whose user is asked; the SDK's session keeps the questions in `asked`. */
export const elicits = (answer, kinds = { form: {} }) => ({
	capabilities: { elicitation: kinds },
	answers: { 'elicitation/create': answer }
});
export const accept = content => ({ action: 'accept', ...(content && { content }) });

/** Options of a client whose model is asked: it says this text, or what a function of the question gives. */
export const samples = (says, capabilities = {}) => ({
	capabilities: { sampling: capabilities },
	answers: {
		'sampling/createMessage': params => ({
			model: 'small-1',
			role: 'assistant',
			stopReason: 'endTurn',
			...(typeof says === 'function' ? says(params) : { content: { type: 'text', text: says } })
		})
	}
});

export function noModel() {
	throw new Error('no model today');
}

/** Whether a call waits in the server under this key. Over stdio messages are taken in order, so it is
 * known at once; over HTTP each has a connection of its own, and it becomes so. */
export async function waits(s, key, wanted) {
	const began = performance.now();
	let said;
	do {
		said = text(await s.call('parked', { key }));
	} while (s.server && said !== wanted && performance.now() - began < PATIENCE);
	assert.equal(said, wanted, `a call waits under ${key}`);
}

/** A call that waits in the server, and is there when this returns. */
export async function park(s, key, options, tool = 'park') {
	const call = s.call(tool, { key }, options);
	call.catch(() => {}); // looked at later
	if (s.server) await waits(s, key, 'yes');
	return { call };
}

export function commonCases(sdk) {
	const modern = sdk.era === 'modern';
	const stdio = sdk.link === 'stdio';
	const { it, on } = casesOf(sdk);
	const onlyStdio = stdio ? it : () => {};
	const onlyHttp = stdio ? () => {} : it;

	// ---- connecting -------------------------------------------------------------------------

	on('connect shows the server, its capabilities and its instructions', async ({ client }) => {
		assert.deepEqual(client.getServerVersion(), {
			name: 'sdk-server',
			version: '1.2.3',
			title: "The SDKs' server",
			description: 'Answers what the official SDKs ask',
			websiteUrl: 'https://example.com/',
			icons: [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }]
		});
		assert.equal(client.getInstructions(), 'Ask "anything" – politely.');
		assert.deepEqual(client.getServerCapabilities(), {
			tools: { listChanged: true },
			resources: { listChanged: true, subscribe: true },
			prompts: { listChanged: true },
			completions: {},
			logging: {}
		});
	});

	const able = { capabilities: { elicitation: { form: {} }, roots: {} } };
	on('the server knows the client: name, revision, capabilities', able, async s => {
		const { structuredContent: me } = await s.call('whoami');
		assert.equal(me.revision, modern ? '2026-07-28' : '2025-11-25');
		assert.deepEqual(me.client, s.client._clientInfo);
		assert.deepEqual(
			[me.form, me.url, me.sampling, me.samplingTools, me.roots],
			[true, false, false, false, true]
		);
	});

	onlyStdio('the server ends by itself, with status 0, when the client closes', async t => {
		const s = await t.open(sdk);
		const { pid } = s;
		assert.deepEqual(await s.end(), []);
		assert.deepEqual(await s.exit, { code: 0, signal: null });
		assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
	});

	onlyStdio('the server ends also when the client closes in the middle of a call', async t => {
		const s = await t.open(sdk);
		const call = s.call('park_until_cancelled', { key: 'k' });
		call.catch(() => {});
		await s.call('echo', { text: 'it has been taken' });
		assert.deepEqual(await s.end(), []);
		await assert.rejects(call);
	});

	onlyStdio('the server ends on SIGTERM, also with a call open, and the client sees it', async t => {
		const s = await t.open(sdk);
		const { call } = await park(s, 'k', {}, 'park_until_cancelled');
		await s.call('echo', { text: 'it has been taken' });
		process.kill(s.pid, 'SIGTERM');
		await assert.rejects(call);
		assert.deepEqual(await s.exit, { code: 0, signal: null });
	});

	// The other clients of a server on the network are not to blame for its end.
	onlyHttp('on SIGTERM a server takes nothing new, and ends when what runs has been answered', async t => {
		const s = await t.open(sdk);
		s.expectErrors = true; // connections that are lost
		const pipe = t.use(new Pipe());
		const call = s.call('first_line', { path: pipe.path });
		call.catch(() => {});
		await pipe.open();
		process.kill(s.pid, 'SIGTERM');
		await noConnection(s.server);
		assert.ok(s.server.running);
		pipe.write('answered in the end\n');
		assert.equal(text(await call), 'answered in the end');
		assert.deepEqual(await s.exit, { code: 0, signal: null });
	});

	// ---- lists ------------------------------------------------------------------------------

	on('tools are listed with all that describes them', async s => {
		const { tools } = await s.client.listTools();
		const tool = tools.find(x => x.name === 'forecast');
		assert.equal(tool.title, 'Weather forecast');
		assert.equal(tool.description, 'Weather of the next days');
		assert.deepEqual(tool.inputSchema.required, ['city']);
		assert.equal(tool.inputSchema.properties.days.default, 2);
		assert.equal(tool.outputSchema.properties.days.items.type, 'object');
		assert.deepEqual(tool.annotations, {
			readOnlyHint: true,
			destructiveHint: false,
			idempotentHint: true,
			openWorldHint: false
		});
		assert.equal(tool.icons.length, 2);
		assert.deepEqual(tool._meta, { 'example.com/tier': 1 });
		const { inputSchema } = tools.find(x => x.name === 'json_schema_2020_12_tool');
		assert.equal(inputSchema.$schema, 'https://json-schema.org/draft/2020-12/schema');
		assert.equal(inputSchema.$defs.address.$anchor, 'addressDef');
		assert.deepEqual(inputSchema.if.properties.contactMethod, { const: 'phone' });
	});

	it('small pages add up to the whole of every list', async t => {
		const whole = await t.open(sdk);
		const paged = await t.open(sdk, { env: { SERVER_PAGE: '3' } });
		for (const [method, key, id] of [
			['listTools', 'tools', 'name'],
			['listResources', 'resources', 'uri'],
			['listResourceTemplates', 'resourceTemplates', 'uriTemplate'],
			['listPrompts', 'prompts', 'name']
		]) {
			const [one, ...more] = await whole.pages(method);
			assert.equal(more.length, 0);
			const pages = await paged.pages(method);
			assert.equal(pages.length, Math.ceil(one[key].length / 3), method);
			for (const page of pages) assert.ok(page[key].length <= 3);
			assert.deepEqual(
				pages.flatMap(p => p[key].map(x => x[id])),
				one[key].map(x => x[id])
			);
		}
	});

	// ---- calls ------------------------------------------------------------------------------

	for (const [kind, tool, content] of [
		['text', 'test_simple_text', [{ type: 'text', text: 'This is a simple text response for testing.' }]],
		['an image', 'test_image_content', [{ type: 'image', mimeType: 'image/png', data: PNG }]],
		['sound', 'test_audio_content', [{ type: 'audio', mimeType: 'audio/wav', data: WAV }]],
		['an embedded resource', 'test_embedded_resource', [{ type: 'resource', resource: EMBEDDED }]],
		['links to resources', 'links', LINKS]
	])
		on(`a tool answers with ${kind}`, async s => {
			const got = await s.call(tool);
			assert.ok(!got.isError);
			for (const block of got.content) if (block.data) block.data = block.data.slice(0, PNG.length);
			assert.deepEqual(got.content, content);
		});

	on('blocks of every kind carry annotations and _meta', async s => {
		const { content, _meta } = await s.call('all_kinds');
		assert.deepEqual(
			content.map(b => b.type),
			['text', 'image', 'audio', 'resource', 'resource', 'resource', 'resource_link', 'text']
		);
		for (const block of content.slice(0, -1)) {
			assert.deepEqual(block.annotations, {
				audience: ['user'],
				priority: 1,
				lastModified: '2025-01-12T15:00:58Z'
			});
			assert.deepEqual(block._meta, { 'example.com/k': 'v' });
		}
		assert.equal(content.at(-1)._meta, undefined);
		assert.equal(_meta['example.com/result'], true);
	});

	on('a structured result satisfies its output schema, and stands in the text too', async s => {
		await s.client.listTools(); // from then on the SDK validates
		const result = await s.call('forecast', { city: 'Köln', days: 3, at: { lat: 50.9, lon: 7 } });
		assert.deepEqual(result.structuredContent, {
			city: 'Köln',
			days: [0, 1, 2].map(day => ({ day, high: 18, sky: 'clear' })),
			sure: true
		});
		assert.deepEqual(JSON.parse(text(result)), result.structuredContent);
	});

	// To the server a format is a remark, as 2020-12 has it; the SDK takes it for a rule.
	on('the SDK does validate: a result against its schema is refused there', async s => {
		await s.client.listTools();
		await refused(s.call('odd_mail'), -32602, /output schema/);
	});

	on('a failure of a tool is a result with isError', async s => {
		const result = await s.call('test_error_handling');
		assert.equal(result.isError, true);
		assert.equal(text(result), 'This tool intentionally returns an error for testing');
	});

	on('invalid arguments are a result with isError that names each problem', async s => {
		const missing = await s.call('echo', {});
		assert.equal(missing.isError, true);
		assert.match(text(missing), /text: required/);
		const wrong = await s.call('typed', { i: 11, c: 'blue', l: [1, 'x'], unknown: 1 });
		assert.equal(wrong.isError, true);
		for (const name of [/^i:/m, /^c:/m, /^l\[1\]|^l\.1|^l\/1/m, /unknown/]) assert.match(text(wrong), name);
		const order = await s.call('order', { item: '', count: 11, to: {}, cuont: 1 });
		assert.equal(order.isError, true);
		for (const name of [/^item:/m, /^count:/m, /^to.city:/m, /"cuont"/]) assert.match(text(order), name);
	});

	on('an unknown tool is refused with -32602', async s => {
		await refused(s.call('no_such_tool'), -32602, /no_such_tool/);
	});

	on('an error that a handler chose arrives with code, message and data', async s => {
		await assert.rejects(s.call('reject', { code: -32050, why: 'because' }), error => {
			assert.equal(error.code, -32050);
			assert.match(error.message, /refused: because/);
			assert.deepEqual(error.data, { why: [1, 2] });
			return true;
		});
	});

	on('an unknown method is refused with -32601', async s => {
		s.expectErrors = modern && !stdio;
		const passes = { parse: x => x, safeParse: data => ({ success: true, data }) };
		const schema = {
			...passes,
			'~standard': { version: 1, vendor: 'e2e', validate: value => ({ value }) }
		};
		const request = s.client.request({ method: 'no/such', params: {} }, schema);
		// 2026-07-28: over HTTP with status 404, of which the SDK makes an error of its own.
		if (modern && !stdio) await assert.rejects(request, /"code":-32601/);
		else await refused(request, -32601);
	});

	on('text of every script comes back as it went', async s => {
		for (const sample of [
			'äöü ß € 漢字 한국어 עברית العربية',
			'😀👩‍👩‍👧‍👦🇪🇺 \u{10ffff}',
			'line\nfeed\r\ttab "quotes" \\ back/slash \b\f',
			'\u2028\u2029\ufeff\u200d\u0001\u001f\u007f',
			''
		])
			assert.equal((await s.call('echo', { text: sample })).content[0].text, sample);
	});

	on('4 MB go there and back', async s => {
		// Over HTTP a request is at most 4 MiB, as it is on the wire.
		const big = 'Größe 4 MB: "x"\n'.repeat(stdio ? 230_000 : 195_000);
		assert.ok(Buffer.byteLength(stdio ? big : JSON.stringify(big)) > 4_000_000);
		const result = await s.call('echo', { text: big });
		assert.ok(result.content[0].text === big);
	});

	on('100 calls are in flight at once, and each gets its own answer', async s => {
		const keys = Array.from({ length: 100 }, (_, i) => `call ${i}`);
		const calls = (await Promise.all(keys.map(key => park(s, key)))).map(({ call }) => call);
		assert.equal(text(await s.call('release', { key: 'call 77' })), 'released call 77');
		assert.equal(text(await calls[77]), 'parked call 77');
		assert.equal(text(await s.call('release_all')), 'released 99');
		assert.deepEqual(
			(await Promise.all(calls)).map(text),
			keys.map(key => `parked ${key}`)
		);
	});

	on('200 calls on worker threads are all answered', async s => {
		const texts = Array.from({ length: 200 }, (_, i) => `worker ${i}`);
		const results = await Promise.all(texts.map(x => s.call('block', { text: x })));
		assert.deepEqual(results.map(text), texts);
	});

	// ---- progress and cancelling ------------------------------------------------------------

	on('progress arrives in order, with total and message', async s => {
		const seen = [];
		const { call } = await park(s, 'k', { onprogress: p => seen.push(p) });
		await s.call('step', { key: 'k', done: 1, total: 4 });
		await s.received.take(m => m.params?.progress === 1, 'the first progress');
		await s.call('step', { key: 'k', done: 2.5, total: 4 });
		await s.received.take(m => m.params?.progress === 2.5, 'the second progress');
		await s.call('release', { key: 'k' });
		assert.equal(text(await call), 'parked k');
		assert.deepEqual(seen, [
			{ progress: 1, total: 4, message: 'step 1' },
			{ progress: 2.5, total: 4, message: 'step 2.5' }
		]);
	});

	on('progress keeps a call alive beyond its timeout (resetTimeoutOnProgress)', async s => {
		// How often it can be told depends on what else the machine has to do.
		for (const timeout of [600, 3000, 15_000]) {
			const key = `k${timeout}`;
			const { call } = await park(s, key, { timeout, resetTimeoutOnProgress: true, onprogress() {} });
			const said = call.then(text, error => error), began = performance.now();
			let longest = 0;
			for (let done = 1, last = began; last - began < 2 * timeout; done++) {
				await s.call('step', { key, done });
				longest = Math.max(longest, performance.now() - last);
				last = performance.now();
			}
			await s.call('release', { key });
			if (longest > timeout / 2) {
				s.expectErrors = true; // progress of a call that has timed out
				continue;
			}
			assert.equal(await said, `parked ${key}`);
			return;
		}
	});

	on('a cancelled call ends in the handler, gets no answer, and the server lives on', async s => {
		const abort = new AbortController();
		const { call } = await park(s, 'k', { signal: abort.signal }, 'park_until_cancelled');
		await waits(s, 'k', 'yes');
		abort.abort('enough');
		await assert.rejects(call);
		const id = s.sent.items.find(m => m.params?.name === 'park_until_cancelled').id;
		await waits(s, 'k', 'no');
		// 2026-07-28: over HTTP closing the answer's stream says it.
		assert.equal(
			s.sent.count(m => m.method === 'notifications/cancelled' && m.params.requestId === id),
			modern && !stdio ? 0 : 1
		);
		assert.equal(s.received.count(m => m.id === id), 0);
		assert.equal(text(await s.call('echo', { text: 'alive' })), 'alive');
	});

	on('a call that timed out is cancelled in the server', async s => {
		await assert.rejects(s.call('park_until_cancelled', { key: 'k' }, { timeout: 100 }), /timed? ?out/i);
		await waits(s, 'k', 'no');
	});

	// ---- resources --------------------------------------------------------------------------

	on('resources are listed with all that describes them', async s => {
		const { resources } = await s.client.listResources();
		const full = resources.find(r => r.uri === 'shape://full');
		assert.equal(full.name, 'full');
		assert.equal(full.title, 'A full resource');
		assert.equal(full.mimeType, 'text/plain');
		assert.equal(full.size, 2);
		assert.deepEqual(full.annotations.audience, ['user', 'assistant']);
		assert.equal(full.icons.length, 2);
		const { resourceTemplates } = await s.client.listResourceTemplates();
		assert.ok(resourceTemplates.some(r => r.uriTemplate === 'test://template/{id}/data'));
	});

	on('resources are read: as text, as bytes, by the variable of a template, several contents at once', async s => {
		const read = async uri => (await s.client.readResource({ uri })).contents;
		const text = 'This is the content of the static text resource.';
		assert.deepEqual(await read('test://static-text'), [{ ...STATIC, text }]);
		const [binary] = await read('test://static-binary');
		assert.deepEqual([binary.mimeType, Buffer.from(binary.blob, 'base64').length], ['image/png', 70]);
		const [item] = await read('test://template/a%20b/data');
		assert.equal(item.uri, 'test://template/a%20b/data');
		assert.deepEqual(JSON.parse(item.text), { id: 'a b', templateTest: true, data: 'Data for ID: a b' });
		const several = (await read('multi://first')).map(c => c.uri);
		assert.deepEqual(several, ['multi://first', 'multi://second', 'multi://third']);
	});

	on('what is not there is not found, with the code of the revision', async s => {
		for (const uri of ['test://no-such', 'item://none']) {
			await assert.rejects(s.client.readResource({ uri }));
			// v2 hands both codes on as one of its own, so look at the wire.
			const { error } = s.answer('resources/read');
			assert.equal(error.code, modern ? -32602 : -32002);
			assert.deepEqual(error.data, { uri });
		}
	});

	// ---- prompts and completion ---------------------------------------------------------------

	on('prompts are listed with their arguments', async s => {
		const { prompts } = await s.client.listPrompts();
		const review = prompts.find(p => p.name === 'review');
		assert.equal(review.title, 'Code review');
		assert.deepEqual(
			review.arguments.map(a => [a.name, a.required ?? false]),
			[
				['file', true],
				['style', false],
				['depth', false]
			]
		);
	});

	on('a prompt is got with arguments', async s => {
		const got = await s.client.getPrompt({ name: 'review', arguments: { file: 'a.c', style: 'strict' } });
		assert.equal(got.description, 'A review, made to measure');
		assert.deepEqual(got.messages, [
			{ role: 'user', content: { type: 'text', text: 'Review a.c in style strict.' } },
			{ role: 'assistant', content: { type: 'text', text: 'Gladly.' } }
		]);
	});

	on('a prompt holds images and resources', async s => {
		const image = await s.client.getPrompt({ name: 'test_prompt_with_image' });
		assert.deepEqual(
			image.messages.map(m => m.content.type),
			['image', 'text']
		);
		const resource = await s.client.getPrompt({
			name: 'test_prompt_with_embedded_resource',
			arguments: { resourceUri: 'test://x' }
		});
		assert.equal(resource.messages[0].content.resource.uri, 'test://x');
	});

	on('arguments of prompts are completed, also by what is known of others', async s => {
		const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
		const plain = await s.client.complete({ ref, argument: { name: 'arg1', value: 'test' } });
		assert.deepEqual(plain.completion.values, ['testValue1', 'testValue2', 'testValue3']);
		const known = await s.client.complete({
			ref,
			argument: { name: 'arg2', value: 'testValueX' },
			context: { arguments: { arg1: 'X' } }
		});
		assert.deepEqual(known.completion.values, ['testValueX1', 'testValueX2', 'testValueX3']);
	});

	on('variables of templates are completed', async s => {
		const few = await s.client.complete({
			ref: { type: 'ref/resource', uri: 'test://template/{id}/data' },
			argument: { name: 'id', value: '12' }
		});
		assert.deepEqual(few.completion.values, ['123', '124']);
	});
}
