// `cleat serve` with OpenAPI documents that people have: every operation of four real ones is called with
// arguments made from its tool's schema, and what arrives at a mock of the API is held against the document.

import assert from 'node:assert/strict';
import Ajv from 'ajv/dist/2020.js';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { parse } from 'yaml';
import { place, run } from './lib/cli.mjs';
import { byHand, serve, text } from './lib/serve.mjs';
import { run as runCases, test } from './lib/tap.mjs';
import { v1, v1Http } from './lib/v1.mjs';
import { v2Modern, v2ModernHttp } from './lib/v2.mjs';

const require = createRequire(import.meta.url);
const root = path.dirname(require.resolve('@readme/oas-examples/package.json'));
const figma = path.join(path.dirname(require.resolve('@figma/rest-api-spec/package.json')), 'openapi/openapi.yaml');

/** Answers everything with what it got. */
async function mock(t) {
	const seen = [];
	const server = http.createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', chunk => (body += chunk)).on('end', () => {
			const { method, url, headers } = request;
			seen.push({ method, url, headers, body });
			response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ method, url }));
		});
	});
	await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
	t.use({ end: async () => { server.closeAllConnections(); await new Promise(resolve => server.close(resolve)); return []; } });
	return { seen, url: `http://127.0.0.1:${server.address().port}/base` };
}

// ---- arguments from a schema -----------------------------------------------------------------------

function pointer(document, ref) {
	return ref.slice(2).split('/').reduce((at, key) => at?.[decodeURIComponent(key.replaceAll('~1', '/').replaceAll('~0', '~'))], document);
}

/** A value that fits; `top` has the $defs. */
function make(schema, top, depth = 0) {
	if (schema === true || schema === undefined) return 'x';
	if (schema.$ref) return depth > 6 ? {} : make(pointer(top, schema.$ref), top, depth + 1);
	if (schema.const !== undefined) return schema.const;
	if (schema.enum) return schema.enum[0];
	if (schema.default !== undefined && schema.default !== null) return schema.default;
	if (schema.allOf) return schema.allOf.map(s => make(s, top, depth + 1)).reduce((a, b) => (typeof a === 'object' ? { ...a, ...b } : a));
	const choice = schema.oneOf ?? schema.anyOf;
	if (choice) return make(choice[0], top, depth + 1);
	const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
	if (type === 'integer' || type === 'number') return schema.minimum ?? (schema.maximum !== undefined ? Math.min(1, schema.maximum) : 1);
	if (type === 'boolean') return true;
	if (type === 'array') return depth > 6 ? [] : [make(schema.items, top, depth + 1)];
	if (type === 'object' || schema.properties) {
		const names = depth > 2 ? schema.required ?? [] : Object.keys(schema.properties ?? {});
		return Object.fromEntries(names.map(name => [name, make(schema.properties?.[name], top, depth + 1)]));
	}
	return 'v'.repeat(schema.minLength ?? 3);
}

// ---- what the document says ------------------------------------------------------------------------

/** Its operations: { method, pattern, query: Set, required: [], headers: Set, body }. */
function operations(document) {
	const resolve = v => (v?.$ref ? resolve(pointer(document, v.$ref)) : v);
	const result = [];
	for (const [name, item] of Object.entries(document.paths))
		for (const method of ['get', 'put', 'post', 'delete', 'patch', 'head']) {
			const operation = item[method];
			if (!operation) continue;
			const parameters = [...(operation.parameters ?? []), ...(item.parameters ?? [])].map(resolve);
			const of = where => parameters.filter(p => p.in === where);
			const body = resolve(operation.requestBody)?.content ?? {};
			result.push({
				method: method.toUpperCase(), name,
				pattern: new RegExp(`^/base${name.split('#')[0].replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
				query: new Set(of('query').map(p => p.name)),
				required: of('query').filter(p => p.required).map(p => p.name),
				json: body['application/json'] ?? of('body')[0],
				form: Boolean(body['application/x-www-form-urlencoded'] ?? of('formData').length)
			});
		}
	return result;
}

function check(request, all) {
	const [where, query = ''] = request.url.split('?');
	const operation = all.filter(o => o.method === request.method && o.pattern.test(where))
		.sort((a, b) => a.name.split('{').length - b.name.split('{').length)[0];
	assert.ok(operation, `${request.method} ${request.url} is in the document`);
	const names = [...new URLSearchParams(query).keys()].map(name => (operation.query.has(name) ? name : name.replace(/\[.*$/, '')));
	for (const name of names) assert.ok(operation.query.has(name) || operation.query.has(`${name}[]`), `${request.url}: ${name} is a parameter`);
	for (const name of operation.required) assert.ok(names.includes(name), `${request.url}: ${name} is there`);
	if (request.body && operation.json) JSON.parse(request.body);
	if (request.body) assert.match(request.headers['content-type'], operation.json ? /json/ : /x-www-form-urlencoded|text/);
	return operation;
}

const documents = [
	['uspto (3.0)', `${root}/3.0/json/uspto.json`, 3, v1],
	['petstore (2.0)', `${root}/2.0/json/petstore.json`, 19, v2Modern],
	['petstore (3.1, YAML)', `${root}/3.1/yaml/petstore.yaml`, 19, v1Http],
	['star trek (3.0)', `${root}/3.0/json/star-trek.json`, 120, v2ModernHttp],
	['Figma (3.1, YAML)', figma, 54, v2Modern]
];

for (const [name, file, count, way] of documents)
	test(`${way.name}: every operation of ${name} is a tool that works`, async t => {
		const { seen, url } = await mock(t);
		const session = await serve(t, way, ['--openapi', `${file}=${url}`, ...(way.link === 'stdio' ? ['-q'] : [])]);
		const { tools } = await session.client.listTools();
		assert.equal(tools.length, count);
		// The document as JSON, by a converter that is not ours where it is YAML.
		const document = file.endsWith('.yaml') ? parse(fs.readFileSync(file, 'utf8')) : JSON.parse(fs.readFileSync(file));
		const all = operations(document);
		const reached = new Set();
		const ajv = new Ajv({ strict: false, validateFormats: false });
		for (const tool of tools) {
			assert.match(tool.name, /^[A-Za-z0-9_]{1,64}$/);
			assert.ok(tool.description.length > 3, tool.name);
			const args = make(tool.inputSchema, tool.inputSchema);
			assert.ok(ajv.validate(tool.inputSchema, args), `${tool.name}: ${JSON.stringify(args)}: ${ajv.errorsText()}`);
			const before = seen.length;
			const result = await session.call(tool.name, args);
			assert.ok(!result.isError, `${tool.name} ${JSON.stringify(args)}: ${text(result)}`);
			assert.equal(seen.length, before + 1, tool.name);
			const operation = check(seen.at(-1), all);
			assert.equal(tool.annotations?.readOnlyHint, operation.method === 'GET' ? true : undefined);
			reached.add(operation);
		}
		assert.equal(reached.size, count, 'each operation was reached');
		if (session.server) session.server.stderr = ''; // remarks on what cannot be a tool, and on how many there are
	});

// ---- details ---------------------------------------------------------------------------------------

const small = {
	openapi: '3.0.3', info: { title: 'Small', version: '1' }, servers: [{ url: 'https://{region}.example.com/v1', variables: { region: { default: 'eu' } } }],
	paths: {
		'/things/{thing-id}': {
			parameters: [{ name: 'thing-id', in: 'path', required: true, schema: { type: 'string' } }],
			get: { operationId: 'get thing/1', tags: ['read'], summary: 'Get ${HOME} it', parameters: [
				{ name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } }, { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
				{ name: 'x-trace', in: 'header', schema: { type: 'string', nullable: true } }] },
			put: { tags: ['write'], requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } } }
		}
	},
	components: { schemas: {
		Thing: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' }, size: { type: 'number', minimum: 0, exclusiveMinimum: true }, next: { $ref: '#/components/schemas/Link' } } },
		Link: { type: 'object', properties: { to: { $ref: '#/components/schemas/Link' }, note: { type: 'string', nullable: true, enum: ['a', 'b'] } } } } }
};

test('names, schemas and places of a small one', async t => {
	const { seen, url } = await mock(t);
	const cwd = place({ 'api.json': JSON.stringify(small), 'serve.json': JSON.stringify({ openapi: { small: { file: './api.json', server: `${url}/`, prefix: 's_', headers: { Authorization: 'Bearer ${T}' }, query: { key: '${T}' } } }, vars: { T: 'tee' } }) });
	const session = await serve(t, v2Modern, [path.join(cwd, 'serve.json')]);
	const { tools } = await session.client.listTools();
	const [get, put] = ['s_get_thing_1', 's_put_things_thing_id'].map(name => tools.find(tool => tool.name === name));
	assert.equal(get.description, 'Get ${HOME} it', 'a variable of the document is none of ours');
	assert.deepEqual(get.inputSchema.required, ['thing_id']);
	assert.deepEqual(get.inputSchema.properties.x_trace.type, ['string', 'null']);
	assert.deepEqual(put.inputSchema.required, ['thing_id', 'name']);
	assert.deepEqual(put.inputSchema.properties.size, { type: 'number', exclusiveMinimum: 0 });
	assert.equal(put.inputSchema.properties.id, undefined, 'what only answers have is not asked for');
	assert.deepEqual(put.inputSchema.$defs.Link, { type: 'object', properties: { to: { $ref: '#/$defs/Link' }, note: { type: ['string', 'null'], enum: ['a', 'b', null] } } });
	await session.call('s_get_thing_1', { thing_id: 'a/b', filter: { a: { b: 1 } }, ids: [1, 2], x_trace: 'me' });
	assert.equal(seen[0].url, '/base/things/a%2Fb?ids=1,2&filter%5Ba%5D%5Bb%5D=1&key=tee');
	assert.equal(seen[0].headers['x-trace'], 'me');
	assert.equal(seen[0].headers.authorization, 'Bearer tee');
	await session.call('s_put_things_thing_id', { thing_id: '1', name: '${HOME} {name}', next: { to: { note: 'a' } } });
	assert.equal(seen[1].method, 'PUT');
	assert.deepEqual(JSON.parse(seen[1].body), { name: '${HOME} {name}', next: { to: { note: 'a' } } });
	const bad = await session.call('s_put_things_thing_id', { thing_id: '1', name: 'x', size: 0 }).catch(error => ({ isError: true, error }));
	assert.ok(bad.isError, 'checked before anything is sent');
	assert.equal(seen.length, 2);
});

// The key of an API stands in the address of some: it must reach the API, and nobody else.
test('a secret in the server is never shown', async t => {
	const { seen, url } = await mock(t);
	const cwd = place({ 'api.json': JSON.stringify({ openapi: '3.0.3', paths: { '/send': { get: { parameters: [{ name: 'X-Key', in: 'header', required: true }, { name: 'q', in: 'query' }] } } } }),
		'serve.json': JSON.stringify({ secrets: { token: { env: 'TOKEN' } }, openapi: { bot: { file: './api.json', server: `${url}/bot\${token}/`, headers: { 'x-key': '${token}' }, timeout: '5s' }, gone: { file: './api.json', prefix: 'gone_', server: 'http://127.0.0.1:1/bot${token}' } } }) });
	const session = await serve(t, v2Modern, [path.join(cwd, 'serve.json')], { env: { TOKEN: 's3cret' } });
	const { tools } = await session.client.listTools();
	assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ['q'], 'what the configuration sets is no argument');
	await session.call('get_send', { q: '1' });
	assert.equal(seen[0].url, '/base/bots3cret/send?q=1');
	assert.equal(seen[0].headers['x-key'], 's3cret');
	const gone = await session.call('gone_get_send');
	assert.ok(gone.isError);
	assert.doesNotMatch(JSON.stringify([gone, tools]), /s3cret/);
});

test('include and exclude choose operations', async () => {
	const tools = async more => {
		const cwd = place({ 'api.json': JSON.stringify(small), 'serve.json': JSON.stringify({ openapi: { small: { file: './api.json', ...more } } }) });
		const { code, stdout } = await byHand('ls', [path.join(cwd, 'serve.json')], ['--names']);
		assert.equal(code, 0);
		return stdout.trim().split('\n').sort();
	};
	const [get, put] = ['get_thing_1', 'put_things_thing_id'];
	assert.deepEqual(await tools({}), [get, put]);
	assert.deepEqual(await tools({ include: ['GET *'] }), [get]);
	assert.deepEqual(await tools({ include: ['op:get*', 'PUT /things/*'] }), [get, put]);
	assert.deepEqual(await tools({ include: ['tag:write'] }), [put]);
	assert.deepEqual(await tools({ exclude: ['tag:write'] }), [get]);
});

test('mistakes are found when the configuration is read', async () => {
	for (const [document, more, pattern] of [
		['{', {}, /api\.json: .*line 1/], ['a: [', {}, /line 2, column 1/], ['{}', {}, /not an OpenAPI document/], ['{"openapi": "4.0.0"}', {}, /not an OpenAPI document/],
		[JSON.stringify({ ...small, servers: [{ url: '/v1' }] }), {}, /does not say where the API is: add "server"/],
		[JSON.stringify(small), { server: 'example.com' }, /expected an address such as/],
		[JSON.stringify(small), { include: ['DELETE *'] }, /no operation of it can be a tool/],
		[JSON.stringify({ ...small, paths: { '/x': { get: { parameters: [{ $ref: 'other.json#/x' }] } } } }), {}, /no operation of it can be a tool \(GET \/x: one of its parameters has no name\)/]]) {
		const cwd = place({ 'api.json': document, 'serve.json': JSON.stringify({ openapi: { api: { file: './api.json', ...more } } }) });
		const { code, stdout, stderr } = await run(['serve', '--check', path.join(cwd, 'serve.json')]);
		assert.equal(code, 7, `${document}: ${stdout}${stderr}`);
		assert.match(stdout + stderr, pattern);
	}
});

await runCases();
