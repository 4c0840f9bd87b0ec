// Our client with @modelcontextprotocol/server-everything, the reference server that uses every feature of
// 2025-11-25, over stdio, Streamable HTTP and HTTP+SSE: every list, every tool, and all that it asks.

import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { good, names, ours, refusedWith } from './lib/driver.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { NodeServer, everything, freePort } from './lib/node_server.mjs';
import { run, test } from './lib/tap.mjs';


const roots = [{ uri: 'file:///home/ann', name: 'Ann' }, { uri: 'file:///srv' }];
const answers = {
	form: { content: { name: 'Ann', check: true, email: 'ann@example.com', birthdate: '2000-02-29' } },
	url: {},
	sampling: { model: 'small-1', text: 'Paris' }
};

/** Every tool, and what calling it has to show. */
const tools = {
	echo: async s => assert.equal(await s.text('echo', { message: 'äöü € 漢字 😀\n"x" \\' }), 'Echo: äöü € 漢字 😀\n"x" \\'),
	'get-annotated-message': async s => {
		const result = good(await s.call('get-annotated-message', { messageType: 'error', includeImage: true }));
		assert.deepEqual(result.blocks.map(b => b.kind), ['text', 'image']);
		assert.deepEqual(result.raw.content[0].annotations, { priority: 1, audience: ['user', 'assistant'] });
		assert.equal(result.blocks[1].mime, 'image/png');
		assert.equal(result.blocks[1].size, Buffer.from(result.raw.content[1].data, 'base64').length);
	},
	'get-env': async s => assert.ok(JSON.parse(await s.text('get-env')).PATH),
	'get-resource-links': async s => {
		const { blocks } = good(await s.call('get-resource-links', { count: 4 }));
		assert.deepEqual(blocks.map(b => b.kind), ['text', 'link', 'link', 'link', 'link']);
		assert.equal(blocks[1].name, 'Blob Resource 1');
		good(await s.read(blocks[1].uri));
	},
	'get-resource-reference': async s => {
		const { blocks } = good(await s.call('get-resource-reference', { resourceType: 'Blob', resourceId: 7 }));
		assert.deepEqual(blocks.map(b => b.kind), ['text', 'resource', 'text']);
		assert.equal(blocks[1].uri, 'demo://resource/dynamic/blob/7');
		assert.ok(blocks[1].size > 20);
	},
	'get-structured-content': async s => {
		const result = good(await s.call('get-structured-content', { location: 'Chicago' }));
		assert.deepEqual(result.json, { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 });
		assert.deepEqual(JSON.parse(result.text), result.json);
	},
	'get-sum': async s => assert.match(await s.text('get-sum', { a: 2, b: 40.5 }), /42\.5/),
	'get-tiny-image': async s => {
		const { blocks } = good(await s.call('get-tiny-image'));
		const image = blocks.find(b => b.kind === 'image');
		assert.equal(image.mime, 'image/png');
		assert.ok(image.size > 100);
	},
	'gzip-file-as-resource': async s => {
		const data = `data:text/plain;base64,${Buffer.from('squeeze me').toString('base64')}`;
		const result = good(await s.call('gzip-file-as-resource', { name: 'x.gz', data, outputType: 'resource' }));
		assert.equal(String(gunzipSync(Buffer.from(result.raw.content[0].resource.blob, 'base64'))), 'squeeze me');
		// A link, to a resource that exists since the call.
		const { blocks } = good(await s.call('gzip-file-as-resource', { name: 'y.gz', data }));
		assert.equal(blocks[0].kind, 'link');
		assert.equal(good(await s.read(blocks[0].uri)).blocks[0].mime, 'application/gzip');
	},
	'toggle-simulated-logging': async s => {
		assert.match(await s.text('toggle-simulated-logging'), /^Started/);
		const { log, data } = await s.event('log', e => /-level message|Alert level/.test(e.data));
		assert.match(data.toLowerCase(), new RegExp(`^${log}`));
		assert.match(await s.text('toggle-simulated-logging'), /^Stopped/);
	},
	'toggle-subscriber-updates': async s => {
		const uri = 'demo://resource/dynamic/text/9';
		good(await s.ask({ watch: [], uris: [uri] }));
		await s.event('log', e => String(e.data).includes(`Received Subscribe Resource request for URI: ${uri}`));
		assert.match(await s.text('toggle-subscriber-updates'), /^Started/);
		assert.equal((await s.event('change', e => e.change === 'resource')).uri, uri);
		assert.match(await s.text('toggle-subscriber-updates'), /^Stopped/);
	},
	'trigger-long-running-operation': async s => {
		const { id, answer } = s.begin({ call: 'trigger-long-running-operation', args: { duration: 0.2, steps: 4 }, progress: true });
		assert.match(good(await answer).text, /completed/);
		const steps = s.events.items.filter(e => e.progress === id).map(e => [e.done, e.total]);
		assert.deepEqual(steps, [[1, 4], [2, 4], [3, 4], [4, 4]]);
	},
	'get-roots-list': async s => {
		const said = await s.text('get-roots-list');
		assert.match(said, /2 total/);
		assert.match(said, /1\. Ann\s+URI: file:\/\/\/home\/ann/);
		assert.match(said, /2\. Unnamed Root\s+URI: file:\/\/\/srv/);
		// The server asks again when it is told.
		good(await s.ask({ roots: [{ uri: 'file:///opt', name: 'Opt' }] }));
		await s.event('log', e => e.data === 'Roots updated: 1 root(s) received from client');
		assert.match(await s.text('get-roots-list'), /1 total[^]*file:\/\/\/opt/);
	},
	'trigger-elicitation-request': async s => {
		const said = await s.text('trigger-elicitation-request');
		const raw = JSON.parse(said.slice(said.indexOf('Raw result: ') + 12));
		assert.equal(raw.action, 'accept');
		// What the user did not fill in has its default.
		assert.deepEqual(raw.content, {
			...answers.form.content,
			firstLine: 'It was a dark and stormy night.',
			integer: 42,
			number: 3.14,
			untitledSingleSelectEnum: 'Monica',
			untitledMultipleSelectEnum: ['Guitar'],
			titledSingleSelectEnum: 'hero-1',
			titledMultipleSelectEnum: ['fish-1'],
			legacyTitledEnum: 'pet-1'
		});
		const { params } = await s.event('asked', e => e.asked === 'form');
		assert.equal(params.message, 'Please provide inputs for the following fields:');
		assert.equal(params.requestedSchema.properties.email.format, 'email');
		for (const [action, mark] of [['decline', /declined/], ['cancel', /cancelled/]]) {
			s.tell({ answers: { form: { action } } });
			assert.match(await s.text('trigger-elicitation-request'), mark);
		}
	},
	'trigger-url-elicitation': async s => {
		const args = { url: 'https://example.com/login?x=1', message: 'Please log in' };
		assert.match(await s.text('trigger-url-elicitation', args), /User completed/);
		const { params } = await s.event('asked', e => e.asked === 'url');
		assert.deepEqual([params.url, params.message], [args.url, args.message]);
		s.tell({ answers: { url: { action: 'decline' } } });
		assert.match(await s.text('trigger-url-elicitation', args), /declined/);
	},
	'trigger-sampling-request': async s => {
		const said = await s.text('trigger-sampling-request', { prompt: 'Capital?', maxTokens: 7 });
		assert.deepEqual(JSON.parse(said.slice(said.indexOf('{'))), {
			model: 'small-1',
			stopReason: 'endTurn',
			role: 'assistant',
			content: { type: 'text', text: 'Paris' }
		});
		const { params } = await s.event('asked', e => e.asked === 'sampling');
		assert.equal(params.maxTokens, 7);
		assert.match(params.messages[0].content.text, /Capital\?$/);
	},
	// Only as a task, which we do not have: a refusal, not a hang.
	'simulate-research-query': async s =>
		assert.notEqual((await s.call('simulate-research-query', { topic: 'x' })).status, 'success')
};

function cases(how, begin) {
	const it = (name, body) => test(`everything, ${how}: ${name}`, body);
	const open = async (t, more = {}) => t.open(ours, { ...(await begin(t)), log_level: 'debug', ...more });

	it('the server is found and says what it is', async t => {
		const { info } = await open(t);
		assert.deepEqual([info.era, info.revision], ['legacy', how === 'sse' ? info.revision : '2025-11-25']);
		assert.deepEqual([info.name, info.version], ['mcp-servers/everything', '2.0.0']);
		assert.match(info.instructions, /Everything Server/);
		assert.equal(info.server.capabilities.resources.subscribe, true);
	});

	it('every list is complete', async t => {
		const s = await open(t, { roots, answers });
		assert.deepEqual(names(await s.list('tools')).sort(), Object.keys(tools).sort());
		assert.equal(good(await s.list('resources')).items.length, 7);
		assert.deepEqual(names(await s.list('templates')), ['Dynamic Text Resource', 'Dynamic Blob Resource']);
		assert.deepEqual(names(await s.list('prompts')).sort(), ['args-prompt', 'completable-prompt', 'resource-prompt', 'simple-prompt']);
	});

	it('a client that cannot be asked is not offered what asks', async t => {
		const s = await open(t);
		const offered = names(await s.list('tools'));
		for (const name of ['get-roots-list', 'trigger-elicitation-request', 'trigger-url-elicitation', 'trigger-sampling-request'])
			assert.ok(!offered.includes(name), name);
	});

	it('every tool is called', async t => {
		const s = await open(t, { roots, answers });
		for (const [name, use] of Object.entries(tools)) {
			try {
				await use(s);
			} catch (error) {
				error.message = `${name}: ${error.message}`;
				throw error;
			}
		}
	});

	it('resources, prompts and completions', async t => {
		const s = await open(t);
		const text = good(await s.read('demo://resource/dynamic/text/3'));
		assert.match(text.text, /^Resource 3: This is a plaintext/);
		assert.equal(text.blocks[0].mime, 'text/plain');
		const blob = good(await s.read('demo://resource/dynamic/blob/4'));
		assert.equal(blob.blocks[0].size, Buffer.from(blob.raw.contents[0].blob, 'base64').length);
		assert.equal((await s.read('demo://resource/dynamic/text/none')).status, 'the other side answered with an error');
		assert.match(good(await s.prompt('simple-prompt')).text, /simple prompt/);
		assert.match(good(await s.prompt('args-prompt', { city: 'Oslo' })).text, /weather in Oslo\?/);
		const embedded = good(await s.prompt('resource-prompt', { resourceType: 'Text', resourceId: '5' }));
		assert.deepEqual(embedded.blocks.map(b => [b.role, b.kind]), [['user', 'text'], ['user', 'resource']]);
		refusedWith(await s.prompt('args-prompt', {}), -32602);
		assert.deepEqual(good(await s.complete('completable-prompt', 'department', 'S')).items, ['Sales', 'Support']);
		assert.deepEqual(good(await s.complete('completable-prompt', 'name', '', { department: 'Sales' })).items, ['David', 'Eve', 'Frank']);
		assert.deepEqual(good(await s.complete('demo://resource/dynamic/text/{resourceId}', 'resourceId', '12')).items, ['12']);
		good(await s.ask({ ping: true }));
	});

	it('wrong arguments and unknown tools are refusals', async t => {
		const s = await open(t);
		const wrong = await s.call('get-sum', { a: 'x' });
		assert.equal(wrong.status, 'the other side answered with an error');
		assert.equal(wrong.toolError, true);
		assert.match(wrong.error.message, /a/);
		assert.notEqual((await s.call('no-such-tool')).status, 'success');
		refusedWith(await s.request('no/such/method'), -32601);
	});

	it('a call that is given up is over at once, and the others go on', async t => {
		const s = await open(t);
		const long = s.begin({ call: 'trigger-long-running-operation', args: { duration: 60, steps: 60000 }, progress: true });
		await s.event('progress');
		s.tell({ cancel: long.id });
		assert.equal((await long.answer).status, 'cancelled');
		assert.equal(await s.text('echo', { message: 'alive' }), 'Echo: alive');
	});

	it('200 calls at once are all answered', async t => {
		const s = await open(t);
		const all = Array.from({ length: 200 }, (_, i) => s.text('echo', { message: String(i) }));
		assert.deepEqual(await Promise.all(all), all.map((_, i) => `Echo: ${i}`));
	});
}

cases('stdio', async () => ({ argv: everything('stdio') }));

let shared;
const once = (how, ready, path) => async () => {
	if (shared?.how !== how) {
		await shared?.end();
		const port = await freePort();
		shared = await NodeServer.start(everything(how), { env: { PORT: String(port) }, ready, port, path });
		shared.how = how;
	}
	return { url: shared.url };
};
cases('http', once('streamableHttp', /listening on port/, '/mcp'));
cases('sse', once('sse', /running on port/, '/sse'));

test('the last server is ended', async () => {
	await shared.end();
});
leftoverCase();
await run();
