// `cleat serve` with HTTP calls: what is sent, what becomes of the answer, and what a value cannot do.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { cleat, place, rewrite, run } from './lib/cli.mjs';
import { byHand, everyWay, serve, text } from './lib/serve.mjs';
import { run as runCases, test } from './lib/tap.mjs';
import { v1Http } from './lib/v1.mjs';
import { v2Modern } from './lib/v2.mjs';

/** A web server that writes down what it gets; `answers` by path: (request, response) => void. */
async function website(t, answers = {}) {
	const seen = [];
	const server = http.createServer((request, response) => {
		let body = '';
		request.setEncoding('utf8').on('data', chunk => (body += chunk)).on('end', () => {
			const { method, url, headers } = request;
			seen.push({ method, url, headers, body });
			const answer = answers[url.split('?')[0]];
			if (answer) answer(request, response, body);
			else response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ method, url, body }));
		});
	});
	await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
	t.use({ end: async () => { server.closeAllConnections(); await new Promise(resolve => server.close(resolve)); return []; } });
	return { seen, origin: `http://127.0.0.1:${server.address().port}` };
}

const config = tools => [path.join(place({ 'serve.json': JSON.stringify({ tools }) }), 'serve.json')];

/** A case by every way, with a web server of its own. */
function cases(name, tools, body, { answers } = {}) {
	let site;
	everyWay(name, async t => {
		site = await website(t, answers);
		return config(tools(site.origin));
	}, session => body(session, site));
}

cases('values are encoded, in the path, the query and the body', origin => ({
	get: { args: 'id: string, q?: string, tags?: string[], page?: integer, where?: object', http: { url: `${origin}/items/{id}/x{?q}`, query: { 'page-size': '{page}', tag: '{tags}', where: '{where}', fixed: 'a b' }, headers: { 'X-Id': 'id={id}', 'X-Page': '{page}' } } },
	post: { args: 'name: string, count?: integer, deep?: json', http: { url: `${origin}/items`, body: { name: '{name}', text: 'is {name}!', count: '{count}', list: ['{count}', 'x'], deep: { in: '{deep}' }, fixed: [1, null, true] } } },
	form: { args: 'a: string, b?: string[]', http: { method: 'PUT', url: `${origin}/form`, type: 'application/x-www-form-urlencoded', body: { a: '{a}', b: '{b}' } } },
	plain: { args: 'a: string', http: { url: `${origin}/plain`, body: 'text {a}' } }
}), async (session, { seen }) => {
	await session.call('get', { id: 'a/b?c#d e%', q: 'x&y=z', tags: ['1', '2&'], page: 7, where: { a: { b: 'c' } } });
	const got = seen.at(-1);
	assert.equal(got.url, '/items/a%2Fb%3Fc%23d%20e%25/x?q=x%26y%3Dz&page-size=7&tag=1&tag=2%26&where%5Ba%5D%5Bb%5D=c&fixed=a%20b');
	assert.equal(got.headers['x-page'], '7');
	await session.call('get', { id: 'plain' });
	assert.equal(seen.at(-1).url, '/items/plain/x?fixed=a%20b');
	assert.equal(seen.at(-1).headers['x-id'], 'id=plain');
	assert.equal(seen.at(-1).headers['x-page'], undefined, 'what was not given is left out');
	await session.call('post', { name: 'O"Neill\n', count: 3, deep: [{ a: 1 }] });
	assert.equal(seen.at(-1).method, 'POST');
	assert.match(seen.at(-1).headers['content-type'], /^application\/json/);
	assert.deepEqual(JSON.parse(seen.at(-1).body), { name: 'O"Neill\n', text: 'is O"Neill\n!', count: 3, list: [3, 'x'], deep: { in: [{ a: 1 }] }, fixed: [1, null, true] });
	await session.call('post', { name: '{count}' });
	assert.deepEqual(JSON.parse(seen.at(-1).body), { name: '{count}', text: 'is {count}!', list: ['x'], deep: {}, fixed: [1, null, true] });
	await session.call('form', { a: 'x&y=ü', b: ['1', '2'] });
	assert.equal(seen.at(-1).method, 'PUT');
	assert.equal(seen.at(-1).body, 'a=x%26y%3D%C3%BC&b=1&b=2');
	await session.call('plain', { a: 'b' });
	assert.equal(seen.at(-1).body, 'text b');
	assert.match(seen.at(-1).headers['content-type'], /^text\/plain/);
});

// FastMCP CVE-2026-32871: a path parameter that was not encoded led elsewhere.
cases('no value leads to another place', origin => ({
	get: { args: 'id: string', http: { url: `${origin}/a/{id}/b` } },
	two: { args: 'x: string, y: string', http: { url: `${origin}/a/{x}{y}` } },
	head: { args: 'v: string', http: { url: `${origin}/h`, headers: { 'X-V': '{v}' } } }
}), async (session, { seen }) => {
	for (const id of ['..', '.', '', '../../etc', 'a/../../b', '\\..\\', 'a/.']) {
		const result = await session.call('get', { id });
		assert.ok(result.isError, JSON.stringify(id));
		assert.match(text(result), /part of the address/);
	}
	for (const id of ['a/b', 'a\\b', '..a/b..', '%2e%2e', '..%2f..', 'a\r\nHost: evil', '//evil.example', '@evil.example', '?x', '#x', '\u0001']) {
		const result = await session.call('get', { id });
		assert.ok(!result.isError, `${JSON.stringify(id)}: ${text(result)}`);
		assert.match(seen.at(-1).url, /^\/a\/[^/?#]+\/b$/);
		assert.equal(decodeURIComponent(seen.at(-1).url.slice(3, -2)), id);
	}
	assert.ok((await session.call('two', { x: '.', y: '.' })).isError, 'two values make one segment');
	const before = seen.length;
	for (const v of ['a\r\nX-Evil: 1', 'a\nb', 'a\u0000b', '\u0007']) {
		const result = await session.call('head', { v });
		assert.ok(result.isError);
		assert.match(text(result), /line ends or control characters/);
	}
	assert.equal(seen.length, before);
	await session.call('head', { v: 'ok' });
	assert.equal(seen.at(-1).headers['x-v'], 'ok');
	assert.equal(seen.at(-1).headers['x-evil'], undefined);
});

const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
const json = value => (request, response) => response.setHeader('Content-Type', 'application/json; charset=utf-8').end(JSON.stringify(value));
cases('the answer becomes the result', origin => ({
	json: { http: { url: `${origin}/json` } },
	structured: { outputSchema: 'n: integer', http: { url: `${origin}/json`, response: { select: '/data/0' } } },
	wrong: { outputSchema: 'n: string', http: { url: `${origin}/json`, response: { select: '/data/0' } } },
	picked: { http: { url: `${origin}/json`, response: { select: '/data/1/a~1b' } } },
	nothing: { http: { url: `${origin}/json`, response: { select: '/no/where' } } },
	text: { http: { url: `${origin}/text` } },
	image: { http: { url: `${origin}/image` } },
	empty: { http: { method: 'DELETE', url: `${origin}/empty` } },
	missing: { http: { url: `${origin}/missing` } },
	accepted: { http: { url: `${origin}/missing`, response: { ok: [404] } } },
	broken: { http: { url: `${origin}/broken`, response: { as: 'json' } } },
	large: { output_limit: '10KB', http: { url: `${origin}/large` } }
}), async session => {
	assert.deepEqual(JSON.parse(text(await session.call('json'))), { data: [{ n: 1 }, { 'a/b': 'picked' }] });
	assert.deepEqual((await session.call('structured')).structuredContent, { n: 1 });
	const wrong = await session.call('wrong').catch(error => ({ isError: true, content: [{ type: 'text', text: error.message }] }));
	assert.ok(wrong.isError);
	assert.equal(text(await session.call('picked')), 'picked');
	assert.match(text(await session.call('nothing')), /there is no \/no\/where in the answer/);
	assert.equal(text(await session.call('text')), 'hällo');
	const { content } = await session.call('image');
	assert.deepEqual(content, [{ type: 'image', mimeType: 'image/png', data: png.toString('base64') }]);
	assert.match(text(await session.call('empty')), /204/);
	const missing = await session.call('missing');
	assert.ok(missing.isError);
	assert.match(text(missing), /GET http:\/\/127\.0\.0\.1:\d+\/missing answered with HTTP status 404\n\nno such thing/);
	assert.equal(text(await session.call('accepted')), 'no such thing');
	const broken = await session.call('broken');
	assert.ok(broken.isError);
	assert.match(text(broken), /JSON/);
	const large = await session.call('large');
	assert.ok(large.isError);
	assert.match(text(large), /more than 10240 bytes/);
}, { answers: {
	'/json': json({ data: [{ n: 1 }, { 'a/b': 'picked' }] }),
	'/text': (request, response) => response.setHeader('Content-Type', 'text/plain; charset=utf-8').end('hällo'),
	'/image': (request, response) => response.setHeader('Content-Type', 'image/png').end(png),
	'/empty': (request, response) => response.writeHead(204).end(),
	'/missing': (request, response) => response.writeHead(404, { 'Content-Type': 'text/plain' }).end('no such thing'),
	'/broken': (request, response) => response.setHeader('Content-Type', 'application/json').end('{"a":'),
	'/large': (request, response) => response.setHeader('Content-Type', 'text/plain').end('x'.repeat(20_000))
} });

cases('a server that is slow, gone, or leads elsewhere', origin => ({
	slow: { timeout: '300ms', http: { url: `${origin}/slow` } },
	elsewhere: { http: { url: `${origin}/elsewhere`, headers: { Authorization: 'Bearer secret' } } },
	gone: { http: { url: 'http://127.0.0.1:1/x' } },
	fine: { http: { url: `${origin}/fine` } }
}), async (session, { seen }) => {
	const [slow, fine] = await Promise.all([session.call('slow'), session.call('fine')]);
	assert.ok(slow.isError);
	assert.match(text(slow), /no answer within 300 ms/);
	assert.ok(!fine.isError);
	const elsewhere = await session.call('elsewhere');
	assert.ok(elsewhere.isError);
	assert.match(text(elsewhere), /evil\.example/);
	assert.equal(seen.filter(r => r.url === '/elsewhere').length, 1);
	const gone = await session.call('gone');
	assert.ok(gone.isError);
	assert.match(text(gone), /127\.0\.0\.1/);
}, { answers: {
	'/slow': () => {},
	'/elsewhere': (request, response) => response.writeHead(307, { Location: 'http://evil.example/x' }).end()
} });

test('12.0 and 1e3 are integers: every source gets their digits, and 1e400 is refused', async t => {
	const { origin, seen } = await website(t);
	const args = 'n: integer, list: integer[] = [2.0], x: number = 1.0';
	const file = path.join(place({ 'serve.json': JSON.stringify({
		databases: { d: { file: './d.db', write: true } },
		tools: {
			sh: { args, sh: 'echo $((n + 1)) $list $x' },
			cmd: { args, cmd: ['echo', '{n}', '{list}', '{x}'] },
			stdin: { args, cmd: ['cat'], stdin: '{*}' },
			sql: { args, sql: { database: 'd', query: 'SELECT typeof(:n) AS type, :n AS n, :list AS list, :x AS x' } },
			url: { args, http: { url: `${origin}/{n}{?list,x}` } },
			body: { args, http: { url: `${origin}/`, body: { n: '{n}', list: '{list}', x: '{x}', text: '{n}' } } }
		}
	}) }), 'serve.json');
	const call = (name, n, ...more) => run(['call', '--', cleat, 'serve', file, '--', name, `n:=${n}`, ...more]);
	for (const [n, digits] of [['12.0', 12], ['1e3', 1000]]) {
		assert.equal((await call('sh', n)).stdout, `${digits + 1} [2] 1.0\n`);
		assert.equal((await call('cmd', n, 'list:=[3.0,4e0]')).stdout, `${digits} 3 4 1.0\n`);
		assert.equal((await call('stdin', n)).stdout, `{"n":${digits},"list":[2],"x":1.0}\n`);
		assert.equal((await call('sql', n, '--jq', '.structuredContent.rows[0]')).stdout, `{"type":"integer","n":${digits},"list":"[2]","x":1}\n`);
		await call('url', n);
		assert.equal(seen.at(-1).url, `/${digits}?list=2&x=1.0`);
		await call('body', n);
		assert.match(seen.at(-1).body, new RegExp(`^{"n":${digits},"list":\\[2\\],"x":1.0,`));
	}
	for (const name of ['sh', 'cmd', 'stdin', 'sql', 'url', 'body']) {
		const { code, stderr } = await call(name, '1e400');
		assert.notEqual(code, 0);
		assert.match(stderr, /n: expected an integer .*, got 1e400/);
	}
	assert.equal((await call('cmd', '123456789012345678901234567890')).stdout, '123456789012345678901234567890 2 1.0\n');
	assert.match((await call('sql', '9223372036854775808')).stderr, /expected an integer between .*, got 9223372036854775808/);
});

test('secrets reach the server, and nobody else', async t => {
	const { seen, origin } = await website(t, { '/fail': (request, response) => response.writeHead(500).end('oops') });
	const cwd = place({ key: 'file-secret\n', 'serve.json': JSON.stringify({
		secrets: { token: { env: 'TOKEN' }, key: { file: './key' } },
		tools: { fail: { http: { url: `${origin}/fail{?x}`, headers: { Authorization: 'Bearer ${token}' }, query: { key: '${key}' } }, args: 'x?: string' } } }) });
	const args = [path.join(cwd, 'serve.json')];
	const session = await serve(t, v2Modern, args, { env: { TOKEN: 'env-{secret}' } });
	const result = await session.call('fail', { x: '1' });
	assert.equal(seen[0].headers.authorization, 'Bearer env-{secret}');
	assert.equal(seen[0].url, '/fail?x=1&key=file-secret');
	assert.doesNotMatch(JSON.stringify(result), /secret/);
	assert.doesNotMatch(JSON.stringify(await session.client.listTools()), /secret/);
	const missing = await run(['serve', '--check', ...args]);
	assert.equal(missing.code, 7);
	assert.match(missing.stderr + missing.stdout, /TOKEN/);
});

test('a call that is cancelled closes its connection', async t => {
	let closed, came;
	const gone = new Promise(resolve => (closed = resolve)), there = new Promise(resolve => (came = resolve));
	const { origin } = await website(t, { '/slow': (request, response) => { response.on('close', closed); response.write('x'); came(); } });
	const session = await serve(t, v2Modern, config({ slow: { http: { url: `${origin}/slow` } } }));
	const controller = new AbortController();
	const call = session.call('slow', {}, { signal: controller.signal });
	await there;
	controller.abort();
	await assert.rejects(call);
	await gone;
});

test('HEAD has no body to wait for, and the connection is good for more', async t => {
	const { seen, origin } = await website(t, { '/x': (request, response) => { response.setHeader('Content-Length', '3').end('abc'); } });
	const session = await serve(t, v2Modern, config({ head: { timeout: '5s', http: { method: 'HEAD', url: `${origin}/x` } }, get: { http: { url: `${origin}/x` } }, post: { http: { url: `${origin}/x`, body: 'b' } } }));
	for (let i = 0; i < 2; i++) {
		assert.match(text(await session.call('head')), /HTTP status 200, no content/);
		assert.equal(text(await session.call('get')), 'abc');
		assert.equal(text(await session.call('post')), 'abc');
	}
	assert.deepEqual(seen.map(r => r.method), ['HEAD', 'GET', 'POST', 'HEAD', 'GET', 'POST']);
});

// A web server that says what it likes, byte by byte.
test('a hostile web server harms nobody', async t => {
	const answers = {
		status: 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi', low: 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nhi',
		type: 'HTTP/1.1 200 OK\r\nContent-Type: \u0001"}<x>\xff\r\nContent-Length: 3\r\n\r\n\0\x01\x02',
		long: `HTTP/1.1 200 OK\r\nContent-Type: ${'a'.repeat(500)}/b\r\nContent-Length: 3\r\n\r\n\0\x01\x02`,
		image: 'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 0\r\n\r\n',
		cut: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhi', garbage: '\0\0\0\0\0\0\0\0\r\n\r\n', nothing: '',
		zip: 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi',
		headers: `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(10_000)}\r\n`, continues: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(10_000),
		deep: `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n${'['.repeat(200_000)}`
	};
	const server = net.createServer(socket => {
		socket.on('error', () => {}).once('data', data => socket.end(Buffer.from(answers[/^GET \/(\w+)/.exec(data)[1]], 'latin1')));
	});
	await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
	t.use({ end: async () => { await new Promise(resolve => server.close(resolve)); return []; } });
	const origin = `http://127.0.0.1:${server.address().port}`;
	const session = await serve(t, v2Modern, config(Object.fromEntries(Object.keys(answers).map(name => [name, { timeout: '10s', http: { url: `${origin}/${name}`, response: name === 'deep' ? { select: '/0' } : {} } }]))));
	for (const name of Object.keys(answers)) {
		const result = await session.call(name);
		const good = ['type', 'long', 'image'].includes(name);
		assert.equal(Boolean(result.isError), !good, `${name}: ${JSON.stringify(result)}`);
		if (name === 'type') assert.equal(result.content[0].resource.mimeType, 'application/octet-stream');
	}
});

// Who frees what: a call that never ends must not outlive the server, nor leave anything behind.
for (const way of [v2Modern, v1Http])
	test(`${way.name}: the server ends while it waits for an answer`, async t => {
		let came;
		const there = new Promise(resolve => (came = resolve));
		const { origin } = await website(t, { '/slow': (request, response) => { response.write('x'); came(); } });
		const session = await serve(t, way, config({ slow: { concurrency: 1, http: { url: `${origin}/slow` } } }));
		for (let i = 0; i < 3; i++) session.call('slow').catch(() => {}); // one runs, two wait
		await there;
	});

test('a call that runs ends as it began when the configuration is loaded again', async t => {
	const waiting = [];
	const next = async () => { while (!waiting.length) await new Promise(resolve => setTimeout(resolve, 5)); return waiting.shift(); };
	const { origin } = await website(t, { '/old': (request, response) => waiting.push(response), '/new': (request, response) => response.end('the new one') });
	const file = config({ x: { concurrency: 1, http: { url: `${origin}/old` } } })[0];
	const session = await serve(t, v2Modern, ['--watch', '-q', file]);
	const running = [session.call('x'), session.call('x')]; // the second waits at the old gate
	const first = await next();
	rewrite(file, JSON.stringify({ tools: { x: { description: 'new', http: { url: `${origin}/new` } } } }));
	while ((await session.client.listTools(undefined, { cacheMode: 'bypass' })).tools[0].description !== 'new') await new Promise(resolve => setTimeout(resolve, 20));
	assert.equal(text(await session.call('x')), 'the new one');
	first.end('the old one');
	assert.equal(text(await running[0]), 'the old one');
	(await next()).end('the old one');
	assert.equal(text(await running[1]), 'the old one');
});

test('only so many at once, the others wait', async t => {
	let most = 0, waiting = [];
	// Three are kept until they are there together, and a moment longer: a fourth would come.
	const { origin } = await website(t, { '/x': (request, response) => {
		most = Math.max(most, waiting.push(response));
		if (waiting.length === 3) setTimeout(() => waiting.splice(0).forEach(r => r.end('x')), 20);
	} });
	const session = await serve(t, v2Modern, config({ x: { concurrency: 3, http: { url: `${origin}/x` } } }));
	const results = await Promise.all(Array.from({ length: 21 }, () => session.call('x')));
	assert.ok(results.every(r => !r.isError));
	assert.equal(most, 3);
});

test('mistakes are found when the configuration is read', async () => {
	for (const [http, pattern] of [
		[{ url: 'ftp://example.com/' }, /expected an address such as https/],
		[{ url: '/items' }, /expected an address such as https/],
		[{ url: 'https://{host}/x' }, /expected an address/],
		[{ url: 'https://example.com{x}' }, /part of the host/],
		[{ url: 'https://user:pw@example.com/' }, /no user name in an address/],
		[{ url: 'https://example.com/{idd}' }, /\{idd\} is not an argument of the tool; did you mean \{id\}\?/],
		[{ url: 'https://example.com/{' }, /serve\.json:1:\d+: tools\.t\.http\.url/],
		[{ url: 'https://example.com/', headers: { 'Content-Length': '3' } }, /cannot be set as a header/],
		[{ url: 'https://example.com/', headers: { 'X Y': '3' } }, /cannot be set as a header/],
		[{ url: 'https://example.com/', query: { a: '{nobody}' } }, /nobody/],
		[{ url: 'https://example.com/', body: { a: ['{nobody}'] } }, /nobody/],
		[{ url: 'https://example.com/', response: { select: 'data' } }, /JSON Pointer/],
		[{ url: 'https://example.com/', response: { ok: [99] } }, /HTTP status/],
		[{ url: 'https://example.com/', methd: 'GET' }, /methd.*did you mean.*method/]]) {
		const { code, stdout, stderr } = await run(['serve', '--check', ...config({ t: { args: 'id: string, x: string', http } })]);
		assert.equal(code, 7, `${JSON.stringify(http)}: ${stdout}${stderr}`);
		assert.match(stdout + stderr, pattern);
	}
});

test('by hand', async t => {
	const { origin } = await website(t);
	const result = await byHand('call', config({ get: { args: 'id: integer', http: { url: `${origin}/items/{id}` } } }), ['get', 'id=7']);
	assert.equal(result.code, 0, result.stderr);
	assert.equal(JSON.parse(result.stdout).url, '/items/7');
});

await runCases();
