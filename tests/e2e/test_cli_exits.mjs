// Every exit code of `cleat`, by real means, over a pipe and over HTTP; for people and, with --json, for programs:
// then stderr is one line {"error":{...}} and nothing else, whatever the server writes to its own.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { BadServer } from './lib/bad_http.mjs';
import { bad, fixture, hello, listen, place, run, start } from './lib/cli.mjs';
import { freePort } from './lib/node_server.mjs';
import { Proxy } from './lib/proxy.mjs';
import { eventually, run as runCases, test, within } from './lib/tap.mjs';

const at = (verb, server, ...rest) => Array.isArray(server) ? [verb, '--', ...server, '--', ...rest] : [verb, server, ...rest];
const withJson = args => [args[0], '--json', ...args.slice(1)];

/** The only line of stderr, as JSON. */
function errorOf({ stderr }, what) {
	assert.match(stderr, /^\{.*\}\n$/, `${what}: ${JSON.stringify(stderr)}`);
	const { error, ...rest } = JSON.parse(stderr);
	assert.deepEqual(rest, {});
	assert.equal(typeof error.message, 'string');
	assert.ok(error.message.length > 0);
	return error;
}

/** Runs it for people and for a program. `known`: members of the error that are exactly so. */
async function ends(code, word, args, { known = {}, result = false, ...options } = {}) {
	const what = args.join(' ');
	const plain = await run(args, options);
	assert.equal(plain.code, code, `${what}: ${plain.code} ${plain.stdout} ${plain.stderr}`);
	assert.match(plain.stderr, /^cleat.*: /m, what);
	assert.ok(!plain.stderr.includes('{"error"'), what);
	assert.equal(plain.stdout, '', what);
	const json = await run(withJson(args), options);
	assert.equal(json.code, code, `--json ${what}: ${json.code} ${json.stdout} ${json.stderr}`);
	const error = errorOf(json, what);
	assert.equal(error.code, word, what);
	for (const [name, value] of Object.entries(known)) assert.deepEqual(error[name], value, `${what}: ${JSON.stringify(error)}`);
	if (!result) assert.equal(json.stdout, '', what);
	return { error, stdout: json.stdout };
}

async function badHttp(t) {
	return t.use(await new BadServer().listen());
}

test('0: all is well, and with --json nothing is on stderr', async t => {
	for (const server of [[hello], await listen(t)])
		for (const args of [at('call', server, 'add', 'a=2', 'b=40'), withJson(at('call', server, 'add', 'a=2', 'b=40'))]) {
			const { code, stdout, stderr } = await run(args);
			assert.deepEqual([code, stderr], [0, '']);
			assert.match(stdout, /42/);
		}
});

test('1: files that cannot be written, expressions that fail, questions that nobody answers', async t => {
	const url = await listen(t);
	for (const server of [[hello], url]) {
		await ends(1, 'other', at('call', server, 'add', 'a=2', 'b=40', '-o', '/'));
		await ends(1, 'other', at('call', server, 'add', 'a=2', 'b=40', '-o', '/dev/full'));
	}
	await ends(1, 'other', at('call', [fixture], 'ask_confirm'), { known: { step: "answering the server's question" } });
	if (/libjq.so.1\) found/.test((await run(['version'])).stdout)) {
		await ends(1, 'other', at('call', [hello], 'add', 'a=2', 'b=40', '--jq', '.content.x'));
		await ends(1, 'other', at('call', [hello], 'add', 'a=2', 'b=40', '--jq', '"why" | halt_error'));
		await ends(2, 'usage', at('call', [hello], 'add', 'a=2', 'b=40', '--jq', 'import "x" as x; .'));
	}
});

test('2: the command line, before anything is sent', async t => {
	const server = await badHttp(t), url = await listen(t);
	let sent = false;
	server.called.then(() => { sent = true; });
	await ends(2, 'usage', ['ping']);
	await ends(2, 'usage', ['nothing-of-this-name']);
	await ends(2, 'usage', ['ls', url, '--no-such-option']);
	await ends(2, 'usage', ['ls', 'nobody']);
	await ends(2, 'usage', ['ls', 'ftp://127.0.0.1/']);
	await ends(2, 'usage', ['ls', url, '--timeout', 'soon']);
	await ends(2, 'usage', ['ls', url, '--era', 'stone']);
	assert.match((await ends(2, 'usage', ['ls', url, '-H', 'x'])).error.message, /--header is 'NAME: VALUE'/);
	// What is for another kind of server would do nothing.
	const file = path.join(place({ 'x.json': JSON.stringify({ mcpServers: { program: { command: hello }, web: { url } } }) }), 'x.json');
	for (const option of [['-H', 'a: b'], ['--bearer', 'x'], ['-k'], ['--ca', file], ['--proxy', '']])
		for (const who of [[hello], ['--config', file, 'program'], ['--', hello], ['tcp://127.0.0.1:1'], [`unix-stream:${file}`]]) {
			const { error: { message } } = await ends(2, 'usage', ['ls', ...option, ...who]);
			assert.match(message, /^--(header|bearer|insecure|ca|proxy) is for a server over HTTP, and (this one|"program" \(.*x\.json\)) is a (command|stream of lines)/);
		}
	for (const option of [['-e', 'A=b'], ['--cwd', '/']])
		for (const who of [[url], ['--config', file, 'web'], ['tcp://127.0.0.1:1'], ['unix:/nothing']]) {
			const { error: { message } } = await ends(2, 'usage', ['ping', ...option, ...who]);
			assert.match(message, /^--(env|cwd) is for a command, and (this one|"web" \(.*x\.json\)) is at an address/);
		}
	assert.match((await ends(2, 'usage', ['ls', '--timeout', '--', hello])).error.message, /^--timeout needs a value: --timeout TIME$/);
	assert.match((await ends(2, 'usage', ['ls', '-H', 'a: b', hello])).error.message, /is a command: --env NAME=VALUE gives it a variable$/);
	assert.match((await ends(2, 'usage', ['ls', '-e', 'a', url])).error.message, /is at an address: --header 'NAME: VALUE' gives it a header$/);
	const outcome = await run(['ls', hello], { env: { CLEAT_BEARER: 'x' } });
	assert.equal(outcome.code, 0, outcome.stderr);
	// What a person may have meant.
	for (const [word, meant] of [['node server.js', /a command goes after --, as in cleat ls -- node server\.js$/], ['./nothing', /^cannot run \.\/nothing: No such file/],
		['/etc/passwd', /^cannot run \/etc\/passwd: Permission denied/], ['localhost:8080', /did you mean "http:\/\/localhost:8080\/mcp"\?/],
		['mcp.example.com/mcp', /did you mean "https:\/\/mcp\.example\.com\/mcp"\?/], ['', /^there is no server "" in the configuration files/]])
		assert.match((await ends(2, 'usage', ['ls', word])).error.message, meant);
	const { error } = await ends(2, 'usage', ['ls', url, '--protocol', '1999-01-01']);
	assert.match(error.message, /--protocol is "1999-01-01"/);
	await ends(2, 'usage', ['call', server.url('fails'), 'tool', 'word']);
	for (const one of [[hello], url]) {
		await ends(2, 'usage', at('call', one));
		assert.match((await ends(2, 'usage', at('call', one, 'add', 'a=2'))).error.message, /missing argument "b" \(number\)/);
		assert.match((await ends(2, 'usage', at('call', one, 'add', 'a=2', 'b=x'))).error.message, /argument "b" must be a number, not "x"/);
		await ends(2, 'usage', at('call', one, 'add', 'a=2', 'b=1', 'c=1'));
		await ends(2, 'usage', at('call', one, 'add', '-'), { input: '[1]' });
	}
	assert.ok(!sent);
});

test('3: authorization is needed', async t => {
	const tokens = place({ tokens: 'ann correct-horse-battery-staple\n' }), file = path.join(tokens, 'tokens');
	fs.chmodSync(file, 0o600);
	const url = await listen(t, hello, ['--token-file', file]), server = await badHttp(t);
	for (const verb of ['ls', 'info', 'ping']) await ends(3, 'auth_required', [verb, url], { known: { status: 401 } });
	await ends(3, 'auth_required', ['call', url, 'add', 'a=2', 'b=40'], { known: { status: 401 } });
	await ends(3, 'auth_required', ['ls', url, '--bearer', 'wrong'], { known: { status: 401 } });
	await ends(3, 'auth_required', ['ls', server.url('closed')], { known: { status: 401 } });
	await ends(3, 'auth_required', ['ls', server.url('forbidden')], { known: { status: 403 } });
	const token = 'correct-horse-battery-staple';
	for (const options of [['--bearer', token], ['-H', `Authorization: Bearer ${token}`]])
		assert.equal((await run(['ls', '--names', ...options, url])).stdout, 'add\n');
	assert.equal((await run(['ls', '--names', url], { env: { CLEAT_BEARER: token } })).stdout, 'add\n');
});

test('4: cannot be started or reached, or was lost', async t => {
	const server = await badHttp(t);
	await ends(4, 'unreachable', at('ls', ['/does/not/exist']), { known: { step: 'starting the program' } });
	await ends(4, 'unreachable', at('ls', ['/']), { known: { step: 'starting the program' } });
	await ends(4, 'unreachable', ['ls', `http://127.0.0.1:${await freePort()}/mcp`], { known: { step: 'connecting' } });
	await ends(4, 'unreachable', ['ls', 'http://nowhere.invalid/mcp'], { known: { step: 'looking up the host' } });
	await ends(4, 'unreachable', ['ls', `unix:${path.join(place(), 'nothing')}`], { known: { step: 'connecting' } });
	await ends(4, 'unreachable', ['ls', server.url('broken')], { known: { status: 500 } });
	await ends(4, 'unreachable', ['ls', server.url('missing')], { known: { status: 404 } });
	assert.match((await ends(4, 'unreachable', at('call', bad('dies'), 'tool'))).error.message, /exited with status 3/);
	await ends(4, 'unreachable', at('call', server.url('cuts'), 'tool'));
	await ends(4, 'unreachable', at('ls', ['true']));
});

test('5: the tool failed, or there is no such thing', async t => {
	const url = await listen(t, fixture), server = await badHttp(t);
	for (const one of [[fixture], url]) {
		await ends(5, 'failed', at('call', one, 'no-such-tool'));
		await ends(5, 'failed', at('show', one, 'no-such-thing'));
		await ends(5, 'failed', at('prompt', one, 'no-such-prompt'));
		await ends(5, 'failed', at('read', one, 'nothing://at/all'));
		const { error, stdout } = await ends(5, 'failed', at('call', one, 'error_after_text'), { result: true });
		assert.match(error.message, /^the tool failed/);
		assert.equal(JSON.parse(stdout).isError, true);
		await ends(5, 'failed', at('call', one, 'reject', 'code=-32050', 'why=because'), { known: { rpc: -32050 } });
	}
	const failed = await ends(5, 'failed', at('call', server.url('fails'), 'tool'), { result: true });
	assert.equal(failed.error.message, 'the tool failed: it is broken');
	// What raw prints is the answer, and an error besides.
	const raw = await run(['raw', '--json', url, 'no/such/method']);
	assert.equal(raw.code, 5);
	assert.equal(JSON.parse(raw.stdout).code, -32601);
	assert.equal(errorOf(raw, 'raw').rpc, -32601);
});

test('6: the server broke the protocol', async t => {
	const server = await badHttp(t);
	for (const one of [bad('garbage'), server.url('garbage')]) await ends(6, 'protocol', at('call', one, 'tool'));
	await ends(6, 'protocol', at('ls', server.url('page')));
	await ends(6, 'protocol', at('ls', bad('silent'), '--era', 'modern'));
});

test('7: a check found something', async t => {
	const server = await badHttp(t);
	for (const one of [bad('hostile'), server.url('fails')]) assert.equal((await run(at('check', one, '--strict', '--timeout', '10s'))).code, 7);
	assert.equal((await run(['validate'], { input: '{"jsonrpc":"2.0"}\n' })).code, 7);
	const { code, stdout } = await run(['validate', '--json'], { input: '{"jsonrpc":"2.0"}\n' });
	assert.equal(code, 7);
	JSON.parse(stdout.split('\n')[0]);
});

test('124: it took too long', async t => {
	const server = await badHttp(t);
	for (const one of [bad('silent'), server.url('silent')]) await ends(124, 'timeout', at('call', one, 'tool', '--timeout', '600ms'));
	for (const one of [bad('nothing'), server.url('nothing')]) await ends(124, 'timeout', at('ls', one, '--timeout', '400ms'));
});

/** Starts a call and waits until the server has it: over HTTP it says so, a child writes a file. */
async function underWay(t, how, json, mode = 'silent') {
	const called = path.join(place(), 'called'), server = how === 'http' ? await badHttp(t) : null;
	const args = at('call', server ? server.url(mode) : bad(mode), 'tool');
	const child = start(json ? withJson(args) : args, { env: { CALLED: called } });
	t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
	if (server) await within(server.called, 'the call');
	const read = () => (fs.existsSync(called) ? Number(fs.readFileSync(called, 'utf8')) : 0);
	if (!server) await eventually(read, 'the call');
	return { child, called, pid: server ? null : read() };
}

const alive = pid => { try { process.kill(pid, 0); return true; } catch { return false; } };

async function gone(pid) {
	await eventually(() => !alive(pid), `the end of the server ${pid}, which has outlived us`);
}

for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]])
	for (const how of ['stdio', 'http'])
		test(`${code}: ${signal}, ${how}`, async t => {
			for (const json of [false, true]) {
				const { child, pid } = await underWay(t, how, json);
				child.kill(signal);
				const result = await within(child.ended, 'the end');
				assert.equal(result.code, code);
				assert.equal(result.stdout, '');
				if (json) assert.equal(errorOf(result, signal).code, 'interrupted');
				else assert.equal(result.stderr, 'cleat: interrupted\n');
				if (pid) await gone(pid);
			}
		});

test('130: twice, when a server does not want to end; it ends with us', async t => {
	const { child, called, pid } = await underWay(t, 'stdio', false, 'stubborn');
	child.kill('SIGINT');
	await eventually(() => fs.existsSync(`${called}.closed`), 'the end of its input'); // it is asked to end, and will not
	assert.equal(child.exitCode, null);
	const before = Date.now();
	child.kill('SIGINT');
	assert.equal((await within(child.ended, 'the end')).code, 130);
	assert.ok(Date.now() - before < 3000); // and not after the four seconds that a server is given
	await gone(pid);
});

test('130: interrupted while it waits for something else', async t => {
	const url = new URL(await listen(t)), proxy = t.use(await Proxy.start(Number(url.port)));
	const answers = () => proxy.connections.reduce((n, c) => n + c.response.split('HTTP/1.1 200').length - 1, 0);
	for (const json of [false, true]) {
		const args = ['ping', '-c', '1000', proxy.url(url.pathname)], before = answers(), child = start(json ? withJson(args) : args);
		await eventually(() => answers() >= before + 2, 'the first ping'); // after server/discover
		child.kill('SIGINT');
		const result = await within(child.ended, 'the end');
		assert.equal(result.code, 130);
		if (json) assert.equal(errorOf(result, 'ping').code, 'interrupted');
	}
});

await runCases();
