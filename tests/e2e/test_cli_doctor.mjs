// `cleat doctor`: a good server is good over every transport, and each thing that can be wrong is found,
// named by its step, with the exit code of that step and with what to do.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { selfSigned, signed } from './lib/certificate.mjs';
import { fixture, hello, listen, place, run, start } from './lib/cli.mjs';
import { NodeServer, everything, freePort, local, packaged } from './lib/node_server.mjs';
import { eventually, run as runCases, test } from './lib/tap.mjs';

const broken = fault => local('broken_server.mjs', fault);

/** The result of --json, checked: the exit code is told, every failed step but the first of several
 * findings says what to do. */
const doctor = (...args) => doctorIn({}, ...args);
async function doctorIn(env, ...args) {
	const { stdout, stderr, code } = await run(['doctor', '--json', ...args], { env });
	assert.ok(stdout, stderr);
	const said = JSON.parse(stdout);
	assert.equal(said.exit, code, stdout);
	assert.equal(said.ok, code === 0);
	return { ...said, code, step: name => said.steps.filter(s => s.step === name) };
}

function healthy(said, ...names) {
	assert.deepEqual(said.steps.filter(s => s.status === 'failed'), []);
	assert.equal(said.code, 0);
	for (const name of names) assert.equal(said.step(name).at(-1)?.status, 'ok', `${name}: ${JSON.stringify(said.steps)}`);
}

// ---- good ones -------------------------------------------------------------------------------------

for (const [name, command] of Object.entries({
	'ours': [hello],
	'the fixture': [fixture],
	'server-everything': everything('stdio'),
	'TypeScript v2': local('server_v2.mjs', 'stdio'),
	'TypeScript v1': local('server_v1.mjs', 'stdio'),
	'server-filesystem': packaged('@modelcontextprotocol/server-filesystem', 'dist/index.js', place()),
	'server-memory': packaged('@modelcontextprotocol/server-memory', 'dist/index.js')
}))
	test(`good: ${name} over pipes`, async () => {
		healthy(await doctor('--', ...command), 'configuration', 'program', 'start', 'revision', 'capabilities', 'tools', 'latency', 'messages', 'end');
	});

test('good: ours over HTTP, both eras', async t => {
	const url = await listen(t);
	for (const era of ['modern', 'legacy'])
		healthy(await doctor('--era', era, url), 'configuration', 'DNS', 'TCP', 'connection', 'revision', 'tools', 'latency', 'messages');
});

test('good: server-everything over HTTP', async t => {
	const port = await freePort();
	t.use(await NodeServer.start(everything('streamableHttp'), { ready: /listening|running|started/i, port, env: { PORT: String(port) } }));
	healthy(await doctor(`http://127.0.0.1:${port}/mcp`), 'DNS', 'TCP', 'connection', 'resources', 'templates', 'prompts', 'messages');
});

test('good: TypeScript v2 over HTTPS, and how long its certificate lasts', async t => {
	const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'cleat-doctor-'));
	const { cert, key } = selfSigned(directory);
	const server = t.use(await NodeServer.start(local('server_v2.mjs', 'http', '--tls', cert, key)));
	const url = `https://localhost:${server.port}/mcp`;
	const good = await doctor('--ca', cert, url);
	assert.equal(good.code, 0);
	assert.match(good.step('TLS')[0].text, /good for [12] more days/);
	assert.match(good.step('TLS')[0].fix, /renew/);
	const bad = await doctor(url);
	assert.equal(bad.code, 4);
	assert.match(bad.step('TLS')[0].text, /self-signed/);
	assert.match(bad.step('TLS')[0].fix, /--ca/);
	const any = await doctor('--insecure', url);
	assert.equal(any.step('TLS')[0].status, 'warning');
	fs.rmSync(directory, { recursive: true });
});

test('certificates: of an unknown authority, for another name, expired, none at all', async t => {
	const directory = place();
	const serve = async files => {
		const { port } = t.use(await NodeServer.start(local('server_v2.mjs', 'http', '--tls', files.cert, files.key)));
		return `https://localhost:${port}/mcp`;
	};
	const failed = async (text, fix, ...args) => {
		const said = await doctor(...args), last = said.steps.at(-1);
		assert.deepEqual([said.code, last.step, last.status], [4, 'TLS', 'failed'], JSON.stringify(said.steps));
		assert.match(last.text, text);
		assert.match(last.fix, fix);
	};
	const ours = signed(directory), url = await serve(ours);
	const good = await doctor('--ca', ours.ca, url);
	healthy(good, 'TLS', 'connection');
	assert.match(good.step('TLS')[0].text, /good for (89|90) more days, signed by .*An authority/);
	await failed(/issuer/, /--ca FILE/, url);
	const other = signed(directory, { host: 'mcp.example' });
	await failed(/another name/, /name that the certificate is for/, '--ca', other.ca, await serve(other));
	const old = signed(place(), { days: 0 });
	await failed(/expired/, /renew/, '--ca', old.ca, await serve(old));
	await failed(/TLS/, /http:\/\//, (await listen(t)).replace('http:', 'https:'));
});

test('with -v, too, it is known what the certificate and HTTP said', async t => {
	const server = t.use(await NodeServer.start(local('broken_server.mjs', 'http', '401')));
	const { stdout, stderr } = await run(['doctor', '-v', server.url]);
	assert.match(stdout, /WWW-Authenticate: Bearer resource_metadata/);
	assert.match(stdout, /do this: .*https:\/\/auth\.example/);
	assert.match(stderr, /^\* /m);
});

// ---- proxies ---------------------------------------------------------------------------------------

/** A proxy that knows all names: it takes every request to `url`. `tunnel`: its answer to CONNECT. */
async function forwarder(t, url, tunnel = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n') {
	const { port } = new URL(url), asked = [];
	const server = http.createServer((req, res) => {
		asked.push(req.url);
		const { pathname } = new URL(req.url);
		req.pipe(http.request({ port, host: '127.0.0.1', path: pathname, method: req.method, headers: { ...req.headers, host: `127.0.0.1:${port}` } },
			answer => answer.pipe(res.writeHead(answer.statusCode, answer.headers))));
	}).on('connect', (req, socket) => { asked.push(req.url); socket.end(tunnel); }).listen(0, '127.0.0.1');
	await new Promise(resolve => server.once('listening', resolve));
	t.use({ end: async () => { server.closeAllConnections(); server.close(); return []; } });
	return { url: `http://127.0.0.1:${server.address().port}`, asked };
}

test('through a proxy, which is told by an option or by the environment', async t => {
	const proxy = await forwarder(t, await listen(t)), far = 'http://mcp.invalid/mcp';
	for (const [env, args, name] of [[{}, ['--proxy', proxy.url], '--proxy'], [{ http_proxy: proxy.url }, [], 'http_proxy'],
		[{ all_proxy: proxy.url, http_proxy: '' }, [], 'all_proxy'], [{ http_proxy: proxy.url, no_proxy: 'other.invalid,10.0.0.0/8' }, [], 'http_proxy']]) {
		const said = await doctorIn(env, ...args, far);
		healthy(said, 'proxy', 'connection', 'tools');
		assert.match(said.step('proxy')[0].text, new RegExp(`^${name} .*127\\.0\\.0\\.1 port \\d+`));
		assert.deepEqual(said.step('DNS'), []);
	}
	assert.ok(proxy.asked.every(url => url.startsWith('http://mcp.invalid')));
});

test('a proxy that is not there, or does not want to', async t => {
	const dead = `http://127.0.0.1:${await freePort()}`;
	for (const env of [{ http_proxy: dead }, { ALL_PROXY: dead }]) {
		const said = await doctorIn(env, 'http://mcp.invalid/mcp'), last = said.steps.at(-1);
		assert.deepEqual([said.code, last.step, last.status], [4, 'proxy', 'failed']);
		assert.match(last.fix, /no_proxy/);
	}
	assert.equal((await doctor('--proxy', 'http://', 'http://mcp.invalid/')).steps.at(-1).step, 'proxy');
	const proxy = await forwarder(t, 'http://127.0.0.1:1');
	const refused = await doctorIn({ https_proxy: proxy.url }, 'https://mcp.invalid/mcp');
	assert.notEqual(refused.code, 0);
	assert.match(refused.steps.at(-1).text, /407/);
	assert.deepEqual(proxy.asked.filter(a => a !== 'mcp.invalid:443'), []);
});

test('a proxy that is not for this address is not spoken of', async t => {
	const dead = `http://127.0.0.1:${await freePort()}`, url = await listen(t);
	// libcurl and we agree: each of these is reached, or not, without the proxy.
	healthy(await doctorIn({ http_proxy: dead }, url), 'DNS', 'TCP', 'connection');
	healthy(await doctorIn({ http_proxy: dead }, url.replace('127.0.0.1', 'localhost')), 'DNS', 'connection');
	healthy(await doctorIn({ http_proxy: dead }, '--proxy', '', url), 'DNS', 'TCP', 'connection');
	for (const env of [{ http_proxy: dead, no_proxy: 'invalid' }, { http_proxy: dead, NO_PROXY: '*' }, { HTTP_PROXY: dead }])
		assert.equal((await doctorIn(env, 'http://mcp.invalid/mcp')).steps.at(-1).step, 'DNS', JSON.stringify(env));
	assert.equal((await doctorIn({ http_proxy: dead }, 'https://mcp.invalid/mcp')).steps.at(-1).step, 'DNS');
});

test('the lines for people', async () => {
	const { stdout, code, stderr } = await run(['doctor', '--', hello]);
	assert.equal(code, 0);
	assert.equal(stderr, '');
	assert.match(stdout, /^ok {7}configuration {2}\S+hello\nok {7}program {8}\S+hello\nok {7}start {10}ready after [\d.]+ ms\nok {7}revision {7}2026-07-28 \(modern\): adder 1\.0\.0\n/);
	assert.match(stdout, /\nok {7}end {12}ended by itself after [\d.]+ ms\n$/);
});

// ---- where it is -----------------------------------------------------------------------------------

test('a name of a configuration file, with what it hides', async () => {
	const entry = { mcpServers: { adder: { command: '${BIN}/hello' } } };
	const cwd = place({ '.mcp.json': JSON.stringify(entry) });
	const home = place({ '.cursor/mcp.json': JSON.stringify(entry) });
	const { stdout, code } = await run(['doctor', '--json', 'adder'], { cwd, home, env: { BIN: path.dirname(hello) } });
	assert.equal(code, 0);
	const [first, second] = JSON.parse(stdout).steps;
	assert.match(first.text, /adder of .*\.mcp\.json \(.*\): .*hello/);
	assert.equal(second.status, 'warning');
	assert.match(second.text, /\.cursor\/mcp\.json/);
	const unset = await run(['doctor', 'adder'], { cwd, home: place() });
	assert.equal(unset.code, 2);
	assert.match(unset.stdout, /^failed {3}configuration {2}\.mcp\.json:1:\d+: mcpServers\.adder\.command: .*BIN.*\n +-> do this: +set the variable, .*\$\{NAME:-default\}\n$/);
	const empty = await run(['doctor', '--json', 'x'], { cwd: place({ '.mcp.json': '{"mcpServers":{"x":{}}}' }) });
	assert.deepEqual(JSON.parse(empty.stdout).steps.map(s => [s.step, s.status, s.fix]), [['configuration', 'failed', 'correct the file']]);
});

const places = [
	['a program that there is not', ['--', 'no-such-program'], 4, 'program', /not in PATH/],
	['a path that there is not', ['--', './no/such/program'], 4, 'program', /not there/],
	['a directory', ['--', '/tmp'], 4, 'program', /you may not run it/],
	['a file that is no program', ['--', '/etc/passwd'], 4, 'program', /you may not run it/],
	['a directory to run in that there is not', ['--cwd', '/no/such', '--', hello], 4, 'program', /\/no\/such/],
	['a name that does not resolve', ['http://no-such-host.invalid/mcp'], 4, 'DNS', /no-such-host\.invalid/],
	['nobody listens', ['http://127.0.0.1:1/mcp'], 4, 'TCP', /refused/],
	['nobody listens, IPv6', ['http://[::1]:1/mcp'], 4, 'TCP', /::1/],
	['no socket', ['unix:/no/such.sock'], 4, 'socket', /\/no\/such\.sock/]
];
for (const [name, args, code, step, text] of places)
	test(`not there: ${name}`, async () => {
		const said = await doctor(...args);
		assert.equal(said.code, code);
		const last = said.steps.at(-1);
		assert.deepEqual([last.step, last.status], [step, 'failed']);
		assert.match(last.text, text);
		assert.ok(last.fix);
	});

test('an address of several, of which one answers', async t => {
	// localhost is ::1, too, on many machines; where it is not, there is nothing to warn of.
	const url = (await listen(t)).replace('127.0.0.1', 'localhost');
	const said = await doctor(url);
	assert.equal(said.code, 0);
	assert.equal(said.step('TCP').length, 1);
});

test('a program that dies or is slow: its last words, and the option that waits longer', async () => {
	const dies = lines => doctor('--', 'sh', '-c', `printf '${lines}' >&2; exit 1`);
	for (const [lines, pattern] of [
		['why\\n', /^sh exited with status 1, .*; it said: why$/],
		['Error: why\\n  at a\\n  at b\\n', /^sh exited with status 1, .*; it said: .*\n\| Error: why\n\|   at a\n\|   at b$/]
	])
		assert.match((await dies(lines)).steps.at(-1).text, pattern);
	const whole = (await doctor('--', 'node server.js')).steps.at(-1);
	assert.deepEqual([whole.step, whole.status, whole.fix], ['program', 'failed', 'put the words after the program into "args"']);
	assert.match((await doctor('--timeout', '300ms', '--', 'sleep', '60')).steps.at(-1).text, /\(--timeout\)$/);
});

test('a socket that never says anything', async t => {
	const server = net.createServer(() => {}).listen(0, '127.0.0.1');
	await new Promise(resolve => server.once('listening', resolve));
	t.use({ end: async () => { server.close(); return []; } });
	const said = await doctor('--timeout', '2s', `http://127.0.0.1:${server.address().port}/mcp`);
	assert.equal(said.code, 124);
	assert.equal(said.step('TCP')[0].status, 'ok');
	assert.equal(said.steps.at(-1).step, 'connection');
	assert.match(said.steps.at(-1).fix, /port/);
});

// ---- what it says ----------------------------------------------------------------------------------

const refusals = [
	['401', 3, 'authorization', /resource_metadata="https:\/\/auth\.example/, /--bearer.*https:\/\/auth\.example/],
	['403', 3, 'authorization', /403/, /token/],
	['404', 4, 'HTTP', /404/, /path/],
	['500', 4, 'HTTP', /500/, /log/],
	['hangup', 4, 'connection', /closed/, /log/],
	['html', 6, 'revision', /text\/html/, /MCP server/]
];
for (const [fault, code, step, text, fix] of refusals)
	test(`HTTP: ${fault}`, async t => {
		const server = t.use(await NodeServer.start(local('broken_server.mjs', 'http', fault)));
		const said = await doctor(server.url);
		assert.equal(said.code, code);
		const last = said.steps.at(-1);
		assert.deepEqual([last.step, last.status], [step, 'failed']);
		assert.match(last.text, text);
		assert.match(last.fix, fix);
	});

const faults = [
	['crash', 4, 'start', 'failed', /status 3.*cannot open the database/],
	['deaf', 124, 'start', 'failed', /./],
	['stranger', 6, 'revision', 'failed', /1999-01-01/],
	['unlisted', 5, 'tools', 'failed', /not today/, /the server says what is wrong with it now/],
	['gone', 6, 'tools', 'failed', /not found/, /do not declare the capability/],
	['unheard', 124, 'tools', 'failed', /^tools\/list: the server had no final answer within 4 s \(--timeout\)$/, /--timeout waits longer/],
	['pages', 6, 'tools', 'failed', /circle/],
	['messages', 7, 'messages', 'failed', /\/result\/tools\/0\/inputSchema/],
	['chatter', 7, 'messages', 'failed', /\/params\/level/],
	['noise', 0, 'messages', 'warning', /not JSON/],
	['logs', 124, 'messages', 'warning', /not JSON/],
	['stays', 0, 'end', 'warning', /does not end/],
	['nothing', 0, 'capabilities', 'warning', /nothing/]
];
for (const [fault, code, step, status, text, fix = /./] of faults)
	test(`broken: ${fault}`, async () => {
		const said = await doctor('--timeout', ['deaf', 'logs', 'unheard'].includes(fault) ? '4s' : '50s', '--', ...broken(fault));
		assert.equal(said.code, code, JSON.stringify(said.steps));
		const found = said.step(step).filter(s => s.status === status);
		assert.ok(found.length, JSON.stringify(said.steps));
		assert.match(found[0].text, text);
		assert.match(found.at(-1).fix, fix);
	});

test('what is answered to our own probe is not held against a server', async () => {
	healthy(await doctor('--', ...broken('probe')), 'start', 'messages');
	const said = await run(['check', '--json', '--', ...broken('probe')]);
	assert.deepEqual(JSON.parse(said.stdout).findings.filter(f => f.rule === 'protocol'), []);
});

test('it counts what ls counts, and says which message is wrong', async () => {
	const names = (await run(['ls', '--names', '--', ...everything('stdio')])).stdout.trim().split('\n');
	assert.equal((await doctor('--', ...everything('stdio'))).step('tools')[0].text, String(names.length));
	const wrong = (await doctor('--era', 'legacy', '--', ...broken('nameless'))).step('messages').find(s => s.status === 'failed');
	assert.match(wrong.text, /^message 1 from the server \(\{"jsonrpc":"2\.0","id":null,"error":\{"code":"x".*\.\.\.\): \/error\/code: expected integer/);
});

test('a long error is whole', async () => {
	const said = await doctor('--', ...broken('long'));
	assert.ok(said.step('tools')[0].text.endsWith(`${'x'.repeat(2000)} END`), said.step('tools')[0].text);
});

test('a server that says nothing is waited for, but not in silence', async () => {
	const { stderr } = await run(['ls', '--timeout', '600ms', '--', ...broken('deaf')]);
	assert.match(stderr, /^cleat: no answer from the server yet; still waiting \(Ctrl-C ends, --timeout TIME says how long\)\n/);
});

test('hostile text never reaches the terminal as it is', async t => {
	for (const fault of ['evil', 'evilerror', 'noise', 'crash']) {
		const { stdout, stderr } = await run(['doctor', '--', ...broken(fault)]);
		assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, fault);
	}
	const server = t.use(await NodeServer.start(local('broken_server.mjs', 'http', '500')));
	assert.doesNotMatch((await run(['doctor', server.url])).stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('Ctrl-C ends it', async () => {
	const asked = path.join(place(), 'asked');
	const child = start(['doctor', '--', 'sh', '-c', `read line; : >'${asked}'; exec cat >/dev/null`]);
	await eventually(() => fs.existsSync(asked), 'the question');
	child.kill('SIGINT');
	const { code } = await child.ended;
	assert.equal(code, 130);
});

test('with -v the exchange is shown, too', async () => {
	const { stdout, stderr, code } = await run(['doctor', '-v', '--', hello]);
	assert.equal(code, 0);
	assert.match(stderr, /^> .*server\/discover/m);
	assert.match(stdout, /^ok {7}messages/m);
});

test('wrong command lines', async () => {
	assert.equal((await run(['doctor'])).code, 2);
	assert.equal((await run(['doctor', '--', hello, '--', 'more'])).code, 2);
	assert.equal((await run(['doctor', 'nobody'])).code, 2);
});

await runCases();
