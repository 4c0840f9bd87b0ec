// The verbs of `cleat` with servers of every kind, over pipes and HTTP: what they print, how they end, and
// that the examples of every help are true.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { selfSigned } from './lib/certificate.mjs';
import { bad, bytes, cleat, example, fixture, hello, listen, place, run } from './lib/cli.mjs';
import { fails, good } from './lib/expect.mjs';
import { everything } from './lib/node_server.mjs';
import { run as runCases, test } from './lib/tap.mjs';

const verbs = (await run(['man', '--list'])).stdout.trim().split('\n').filter(n => n !== 'cleat').map(n => n.slice(6));

// ---- help ------------------------------------------------------------------------------------------

test('--version says what it can do, and nothing else is asked', async () => {
	const text = await good(['--version']);
	assert.match(text, /^cleat \d+\.\d+\.\d+\nProtocol: .*2026-07-28\nTransports: .*stdio.*\nFeatures: /);
	assert.match(await good(['version']), /libjq/);
});

test('help fits 80 columns, for all verbs and topics', async () => {
	const topics = ['server', 'arguments', 'output', 'files', 'environment', 'exit-codes'];
	for (const args of [['help'], ['--help'], ...[...verbs, ...topics].map(v => ['help', v]), ...verbs.map(v => [v, '--help'])]) {
		const text = await good(args);
		for (const line of text.split('\n')) {
			// Commands are not broken.
			if (!/^ +cleat |^ +echo /.test(line)) assert.ok([...line].length <= 80, `${args.join(' ')}: ${line}`);
			assert.ok(!/\s$/.test(line), `${args.join(' ')}: white space at the end: "${line}"`);
		}
		assert.ok(!text.includes('\u001b'));
	}
	await fails(2, /there is no help about "cal", did you mean call\?/, ['help', 'cal']);
});

test('nothing said is a usage error', async () => {
	const { stdout } = await fails(2, /^usage: cleat VERB/, []);
	assert.equal(stdout, '');
});

test('man pages are proper roff', async () => {
	const checker = ['mandoc', 'groff'].find(name => spawnSync('which', [name]).status === 0);
	for (const verb of ['', ...verbs]) {
		const page = await good(['man', ...(verb ? [verb] : [])]);
		assert.match(page, /^\.TH CLEAT/);
		for (const section of ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS']) assert.ok(page.includes(`.SH ${section}\n`));
		if (checker === 'mandoc') {
			const { stdout, status } = spawnSync('mandoc', ['-T', 'lint', '-W', 'error'], { input: page });
			assert.equal(status, 0, String(stdout));
		} else if (checker) {
			const { stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], { input: page });
			assert.equal(String(stderr), '');
		}
	}
});

test('the examples of every help are true', async t => {
	const url = await listen(t);
	let n = 0;
	for (const verb of verbs) {
		const text = await good(['help', verb]);
		const examples = text.slice(text.indexOf('\nExamples:')).split('\n').filter(line => /^  \S/.test(line));
		assert.ok(examples.length >= 2, `${verb} has no examples`);
		for (const line of examples) {
			const command = line.replaceAll('http://localhost:8080/mcp', url);
			if (command === line && !/ \.\/(hello|resources|prompts)\b/.test(line) && !/^ +cleat (ls|help|version|--version|config|completion|man|install|uninstall|serve)\b/.test(line)) continue;
			const cwd = place({ 'mcp.json': JSON.stringify({ mcpServers: { hello: { command: hello } } }) });
			for (const program of ['hello', 'resources', 'prompts']) fs.symlinkSync(path.join(path.dirname(hello), program), path.join(cwd, program));
			const env = { ...process.env, HOME: place(), PATH: `${path.dirname(cleat)}:${process.env.PATH}` };
			const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { env, cwd, input: '', timeout: 60_000 });
			assert.equal(status, 0, `${line}: ${stdout}${stderr}`);
			n++;
		}
	}
	assert.ok(n >= 55, `only ${n} examples`);
});

// ---- a server of ours ------------------------------------------------------------------------------

const golden = {
	'ls': 'add(a: number, b: number)  Add two numbers\n',
	'ls --names': 'add\n',
	'call': '42\n',
	'show': 'add(a: number, b: number)\n\nAdd two numbers\n\nArguments:\n  a: number (required)\n  b: number (required)\n',
	'ls --json': { tools: [{ name: 'add', description: 'Add two numbers', inputSchema: { type: 'object',
		properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'], additionalProperties: false } }] },
	'call --json': { content: [{ type: 'text', text: '42' }] }
};

async function ours(server, tail) {
	const at = (verb, ...rest) => [...verb.split(' '), ...server, ...(rest.length ? [...tail, ...rest] : [])];
	assert.equal(await good(at('ls')), golden.ls);
	assert.equal(await good(at('ls --names')), golden['ls --names']);
	assert.equal(await good(at('call', 'add', 'a=2', 'b=40')), golden.call);
	assert.equal(await good(at('show', 'add')), golden.show);
	const { tools } = JSON.parse(await good(at('ls --json')));
	assert.deepEqual({ tools }, golden['ls --json']);
	const { content } = JSON.parse(await good(at('call --json', 'add', 'a=2', 'b=40')));
	assert.deepEqual({ content }, golden['call --json']);
	assert.deepEqual(JSON.parse(await good(at('show --schema', 'add'))), tools[0].inputSchema);
	assert.match(await good(at('ping')), /^adder answers after [\d.]+ ms\n$/);
	assert.match(await good(at('ping -c 3 -i 1ms')), /^(adder answers after [\d.]+ ms\n){3}3 answers: least/);
	assert.equal(JSON.parse(await good(at('ping -c 2 -i 1ms --json'))).count, 2);
	const info = await good(at('info'));
	for (const line of [/^name +adder$/m, /^version +1\.0\.0$/m, /^revision +2026-07-28 \(modern\)$/m, /^ready after +[\d.]+ ms$/m, /^capabilities +tools \(listChanged\)/m, /^tools +1$/m])
		assert.match(info, line);
	assert.ok(JSON.parse(await good(at('info --json'))).capabilities.tools);
	assert.match(await good(at('info --era legacy')), /^revision +2025-11-25 \(legacy\)$/m);
	assert.match(await good(at('info --protocol 2025-03-26')), /^revision +2025-03-26 \(legacy\)$/m);
	assert.equal(JSON.parse(await good(at('info --era legacy --json'))).protocolVersion, '2025-11-25');
	const all = JSON.parse(await good(at('ls --all --json')));
	assert.deepEqual(Object.keys(all), ['tools', 'resources', 'resourceTemplates', 'prompts']);
	assert.deepEqual(all.tools, tools);
	await fails(5, /there is no tool "ad", did you mean "add"\?/, at('call', 'ad'));
	await fails(5, /there is nothing called "ad", did you mean "add"\?/, at('show', 'ad'));
}

// Programs behind -- and addresses of HTTP: lib/matrix.mjs.
test('every verb with a program that is named by its path', () => ours([hello], []));

test('every verb over a Unix socket', async t => {
	const socket = path.join(place(), 's');
	await listen(t, hello, [], `unix:${socket}`);
	await ours([`unix:${socket}`], []);
});

test('certificates: refused, trusted, and taken as they are', async t => {
	const { cert, key } = selfSigned(place());
	const url = (await listen(t, hello, ['--tls-cert', cert, '--tls-key', key])).replace('127.0.0.1', 'localhost');
	const { stderr } = await fails(4, /certificate/i, ['ls', '--json', url]);
	assert.equal(JSON.parse(stderr).error.step, 'TLS');
	assert.equal(await good(['ls', '--names', '--ca', cert, url]), 'add\n');
	assert.equal(await good(['ls', '--names', '-k', url]), 'add\n');
	assert.equal(await good(['ls', '--names', '--insecure', url]), 'add\n');
});

test('a proxy is used when it is named', async t => {
	const url = await listen(t), asked = [];
	const proxy = http.createServer((request, response) => {
		asked.push(request.url);
		const onward = http.request(request.url, { method: request.method, headers: request.headers }, answer => {
			response.writeHead(answer.statusCode, answer.headers);
			answer.pipe(response);
		});
		request.pipe(onward);
	}).listen(0, '127.0.0.1');
	await once(proxy, 'listening');
	t.use({ end: async () => { proxy.closeAllConnections(); proxy.close(); return []; } });
	const address = `http://127.0.0.1:${proxy.address().port}`;
	assert.equal(await good(['ls', '--names', '--proxy', address, url]), 'add\n');
	assert.ok(asked.length >= 2 && asked.every(u => u === url), String(asked));
	assert.equal(await good(['ls', '--names', '--proxy', '', url]), 'add\n');
	await fails(4, /proxy|connect/i, ['ls', '--proxy', 'http://127.0.0.1:1', url]);
});

test('-v shows the exchange on stderr, and stdout stays the result', async t => {
	const url = await listen(t);
	for (const server of [['--', hello, '--'], [url]]) {
		const { stdout, stderr } = await run(['call', '-v', ...server, 'add', 'a=2', 'b=40']);
		assert.equal(stdout, '42\n');
		assert.match(stderr, /^> \{.*"method":"tools\/call".*\}$/m);
		assert.match(stderr, /^< \{.*"result".*\}$/m);
		assert.match(stderr, /^\* adder 1\.0\.0 is ready after/m);
		if (server[0] === url) assert.match(stderr, /^\* Connected to /m);
		assert.ok(!stderr.includes('HTTP/1.1'));
	}
	const { stderr } = await run(['ls', '-vv', '--bearer', 'SECRET-TOKEN', url]);
	assert.match(stderr, /^> POST \/mcp HTTP\/1\.1$[^]*^> Authorization: \.\.\.$[^]*^< HTTP\/1\.1 200 OK$/m);
	assert.ok(!stderr.includes('SECRET-TOKEN'));
});

test('arguments come from stdin, from files and as JSON', async () => {
	const cwd = place({ 'a.json': '2', 'all.json': '{"a": 1, "b": 2}' });
	const server = ['--', hello, '--', 'add'];
	assert.equal(await good(['call', ...server, '-'], { input: '{"a": 2, "b": 40}' }), '42\n');
	assert.equal(await good(['call', ...server, 'a:=@a.json', 'b:=40'], { cwd }), '42\n');
	assert.equal(await good(['call', ...server, '{"a": 2}', 'b=40'], { cwd }), '42\n');
	assert.equal(await good(['call', '--no-check', ...server, 'a:=2', 'b:=40'], { cwd }), '42\n');
	await fails(2, /the arguments on stdin are not a JSON object/, ['call', ...server, '-'], { input: '[1]' });
});

test('--jq filters, and says what is wrong with an expression before anything is sent', async () => {
	const present = /libjq.so.1\) found/.test(await good(['version']));
	if (!present) {
		await fails(1, /--jq needs libjq/, ['ls', '--jq', '.', '--', hello]);
		return;
	}
	assert.equal(await good(['ls', '--jq', '.tools[].name', '--', hello]), 'add\n');
	assert.equal(await good(['ls', '--jq', '.tools[0].inputSchema.required', '--', hello]), '["a","b"]\n');
	assert.equal(await good(['ls', '--jq', 'empty', '--', hello]), '');
	await fails(2, /^cleat: --jq: .*syntax error/, ['ls', '--jq', '.tools[', '--', '/does/not/exist']);
	await fails(1, /^cleat: --jq: Cannot index/, ['ls', '--jq', '.tools.x', '--', hello]);
});

test('-o writes to a file, and says when it cannot', async () => {
	const cwd = place();
	assert.equal(await good(['call', '-o', 'out', '--', hello, '--', 'add', 'a=2', 'b=40'], { cwd }), '');
	assert.equal(fs.readFileSync(path.join(cwd, 'out'), 'utf8'), '42\n');
	await fails(1, /cannot write \/no\/such\/file/, ['ls', '-o', '/no/such/file', '--', hello]);
	await fails(1, /cannot write the result: No space left/, ['ls', '-o', '/dev/full', '--', hello]);
});

// ---- content ---------------------------------------------------------------------------------------

test('ls takes words: what has all of them in its name or description', async t => {
	const url = await listen(t), resources = ['--', example('resources'), '--'];
	for (const words of [['number'], ['ADD', 'two'], ['']]) assert.equal(await good(['ls', url, ...words]), golden.ls);
	assert.equal(await good(['ls', '--all', ...resources, 'motto']), 'Resources:\ntext://motto\n');
	assert.equal(await good(['ls', '--all', '--names', ...resources, 'c']), 'click\ncounter://clicks\ncity://{name}\n');
	assert.deepEqual(Object.entries(JSON.parse(await good(['ls', '--json', url, 'add']))).map(([k, v]) => [k, v.map(x => x.name)]), [['tools', ['add']]]);
	assert.deepEqual(Object.keys(JSON.parse(await good(['ls', '--json', '-r', '--templates', ...resources, 'city']))), ['resources', 'resourceTemplates']);
	await fails(5, /nothing has "add" and the other words in its name or description/, ['ls', url, 'add', 'three']);
});

test('--dry-run checks the arguments and prints what would be sent', async t => {
	for (const server of [[await listen(t)], ['--', hello, '--']]) {
		assert.equal(await good(['call', '--dry-run', ...server, 'add', 'a=2', 'b=40']), '{\n  "name": "add",\n  "arguments": {\n    "a": 2,\n    "b": 40\n  }\n}\n');
		assert.equal(await good(['call', '--dry-run', '--json', ...server, 'add', 'a=2', 'b=40']), '{"name":"add","arguments":{"a":2,"b":40}}\n');
		await fails(2, /missing argument "b" \(number\)/, ['call', '--dry-run', ...server, 'add', 'a=2']);
	}
	assert.match(await good(['prompt', '--dry-run', '--json', '--', example('prompts'), '--', 'review', 'file=x']), /^\{"name":"review","arguments":\{"file":"x"\}\}$/m);
	// It is not done.
	const mark = path.join(place(), 'called');
	await good(['call', '--dry-run', '--', ...bad('picture'), '--', 'tool'], { env: { CALLED: mark } });
	assert.ok(!fs.existsSync(mark));
});

test('--root tells the server of folders', async () => {
	const cwd = place({ 'a b/x': '' }), call = (...args) => ['call', ...args, '--', example('roots'), '--', 'folders'];
	for (const era of ['modern', 'legacy'])
		assert.equal(await good(call('--era', era, '--root', 'a b', '--root', 'git://host/x', '--root', '/'), { cwd }), `file://${fs.realpathSync(cwd)}/a%20b (a b)\ngit://host/x (no name)\nfile:/// (no name)\n`);
	await fails(2, /--root nothing: No such file or directory/, call('--root', 'nothing'), { cwd });
	await fails(5, /needs a client that supports roots/, call());
});

test('content of every kind', async () => {
	const text = await good(['call', '--', fixture, '--', 'all_kinds']);
	assert.match(text, /\[image, image\/png, \d+ bytes; --save DIR writes it to a file\]/);
	assert.match(text, /\[audio, audio\/wav, \d+ bytes/);
	const cwd = place();
	const saved = await good(['call', '--save', 'deep', '--', fixture, '--', 'all_kinds'], { cwd });
	for (const line of saved.split('\n').filter(l => l.startsWith('deep/'))) assert.ok(fs.statSync(path.join(cwd, line)).size > 0);
	assert.ok(fs.readdirSync(path.join(cwd, 'deep')).includes('image-1.png'));
	const structured = await good(['call', '--', fixture, '--', 'structured']);
	// Numbers stay what they are.
	assert.equal(structured, '{\n  "n": 3,\n  "s": "x",\n  "list": [\n    1,\n    2.50\n  ],\n  "none": null\n}\n');
});

test('a single picture goes to a pipe and to a file as it is', async () => {
	const { stdout } = bytes(['call', '--', ...bad('picture'), '--', 'tool']);
	assert.equal(stdout.subarray(1, 4).toString(), 'PNG');
	const cwd = place();
	await good(['call', '-o', 'x.png', '--', ...bad('picture'), '--', 'tool'], { cwd });
	assert.deepEqual(fs.readFileSync(path.join(cwd, 'x.png')), stdout);
});

// ---- endings ---------------------------------------------------------------------------------------

test('an address that is no MCP server: what is there is said once, without the methods that found it out', async t => {
	const answers = {
		'/page': [200, { 'Content-Type': 'text/html' }, '<!doctype html><title>x</title>'],
		'/other': [200, { 'Content-Type': 'application/json' }, '{"hello":"world"}'],
		'/moved': [302, { Location: 'https://login.example/' }, ''],
		'/nothing': [404, { 'Content-Type': 'text/plain' }, 'not here']
	};
	const server = http.createServer((request, response) => {
		const [status, fields, body] = answers[request.url];
		response.writeHead(status, fields).end(body);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.use({ end: async () => { server.closeAllConnections(); server.close(); return []; } });
	const url = `http://127.0.0.1:${server.address().port}`;
	for (const [place, code, pattern] of [['/page', 6, /^cleat: no MCP server that this client understands: \S+\/page answered 200 with the type text\/html/],
		['/other', 6, /: the server's answer is no JSON-RPC response: "jsonrpc" is missing; it must be "2\.0"\n$/],
		['/moved', 6, /answers 302 and leads to https:\/\/login\.example\//], ['/nothing', 4, /^cleat: \S+\/nothing answered 404: "not here"; is this the address of the MCP endpoint\?\n$/]]) {
		const { stderr } = await fails(code, pattern, ['ls', url + place]);
		assert.doesNotMatch(stderr, /initialize|server\/discover|tools\/list|before that/);
	}
	await fails(4, /^cleat: connecting to 127\.0\.0\.1:1: Connection refused: is the server running\?\n$/, ['ls', 'http://127.0.0.1:1/mcp']);
});

test('what the server writes to stderr is shown with a mark, unless -q', async () => {
	const { stderr } = await run(['ls', '--', ...everything('stdio')]);
	assert.match(stderr, /^\[server\] Starting/m);
	assert.equal((await run(['ls', '-q', '--', ...everything('stdio')])).stderr, '');
});

test('the environment: all of it for a command, what was asked for otherwise', async () => {
	const server = ['--', ...everything('stdio'), '--', 'get-env'];
	const env = async (...options) => JSON.parse(await good(['call', '-q', ...options, ...server], { env: { MINE: 'here' } }));
	assert.equal((await env()).MINE, 'here');
	assert.equal((await env('-e', 'MINE=there', '--env', 'OTHER=x')).MINE, 'there');
	const cwd = place({ '.mcp.json': JSON.stringify({ mcpServers: { e: { command: everything('stdio')[0], args: everything('stdio').slice(1), env: { OWN: '1' } } } }) });
	const named = JSON.parse(await good(['call', '-q', 'e', 'get-env'], { cwd, env: { MINE: 'here' } }));
	assert.equal(named.OWN, '1');
	assert.equal(named.MINE, undefined);
	assert.equal(JSON.parse(await good(['call', '-q', 'e', 'get-env', '-e', 'MINE'], { cwd, env: { MINE: 'here' } })).MINE, 'here');
});

await runCases();
