// `cleat serve` and its configuration: what is right, what is said about what is not, variables, secrets,
// includes, and loading it again while clients are there.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { cleat, heard, place, rewrite, run, start, terminal } from './lib/cli.mjs';
import { everyWay, serve, text, ways } from './lib/serve.mjs';
import { eventually, run as runCases, test, within } from './lib/tap.mjs';
import { v2Modern } from './lib/v2.mjs';

const echo = (word, more = {}) => ({ cmd: ['echo', word], ...more });
const check = (directory, ...args) => run(['serve', '--check', ...args], { cwd: directory });

/** What --check says about a file, with the directory's own name taken out. */
async function problems(files, options = {}) {
	const directory = place(files);
	const result = await run(['serve', '--check', 'serve.json'], { cwd: directory, ...options });
	assert.equal(result.code, 7, result.stdout + result.stderr);
	assert.equal(result.stdout, '');
	return result.stderr.replaceAll(directory, '.').trimEnd().split('\n').map(line => {
		assert.ok(line.startsWith('cleat serve: '), line);
		return line.slice('cleat serve: '.length);
	});
}

// ---- --check -----------------------------------------------------------------------------------

test('--check says what would be served', async () => {
	const directory = place({
		'serve.json': `{ // with comments
			"name": "demo", "tools": { "a": { "cmd": ["true"] }, "b": { "sh": "true" }, },
			"resources": { "note://x": { "text": "x" }, "note://{y}": { "file": "./{y}" } },
			/* and commas */ "prompts": { "p": { "text": "hi" } },
		}` });
	const { code, stdout, stderr } = await check(directory, 'serve.json');
	assert.equal(stderr, '');
	assert.equal(code, 0);
	assert.equal(stdout, 'demo is in order.\n2 tools: a, b\n1 resource: note://x\n1 resource template: note://{y}\n1 prompt: p\n');
	assert.equal((await check(place({ 'serve.json': '{"prompt_dirs": ["."]}' }), 'serve.json')).stdout, 'cleat is in order.\nIt offers nothing.\n');
});

test('problems are told all at once, each with file, line, column, path and what was expected', async () => {
	assert.deepEqual(await problems({ 'serve.json': `{
  "tols": {},
  "tools": {
    "a": { "cmd": "du", "tmeout": 3 },
    "b": { "cmd": ["du"], "stderr": "lgo", "concurrency": 0 }
  }
}` }), [
		'serve.json:2:3: unknown member "tols" (did you mean "tools"?)',
		'serve.json:4:19: tools.a.cmd: expected array of at least 1 element, got "du" (write a list of words, as in ["rm", "--", "{path}"], or a script as "sh")',
		'serve.json:4:25: tools.a: unknown member "tmeout" (did you mean "timeout"?)',
		'serve.json:5:37: tools.b.stderr: expected one of "on_error", "log", "merge", "drop", got "lgo"',
		'serve.json:5:59: tools.b.concurrency: expected integer between 1 and 10000, got 0'
	]);
	assert.deepEqual(await problems({ 'serve.json': `{
  "tools": {
    "a": { "args": "path: strin", "cmd": ["du"] },
    "b": { "args": "path: string", "cmd": ["du", "{pth}"], "timeout": "soon", "output_limit": "1 mile" },
    "c": { "cmd": ["echo", "\${NOPE}", "\${open"] },
    "d": { "title": "D" },
    "e": { "cmd": ["x"], "sh": "x" },
    "f": { "args": { "type": "array" }, "cmd": ["x"] }
  },
  "vars": { "round": "\${about}", "about": "\${round}" },
  "prompts": { "p": { "text": "\${round}" } }
}` }), [
		'serve.json:3:20: tools.a.args: column 7: unknown type "strin" (did you mean string?)',
		'serve.json:4:50: tools.b.cmd[1]: column 1: there is no argument "pth" (did you mean path?)',
		'serve.json:4:71: tools.b.timeout: expected a time such as "30s", "250ms", "2m" or a number of seconds, got "soon"',
		'serve.json:4:95: tools.b.output_limit: expected a size such as "64KB", "1MB" or a number of bytes, got "1 mile"',
		'serve.json:5:28: tools.c.cmd[1]: ${NOPE} is neither in "vars" nor in "secrets" nor set in the environment',
		'serve.json:5:39: tools.c.cmd[2]: there is no } for this ${ (write $${ for the text itself)',
		'serve.json:6:10: tools.d: a tool needs one of "cmd", "sh", "http" or "sql"',
		'serve.json:7:32: tools.e.sh: a tool has "cmd" or "sh", not both',
		'serve.json:8:30: tools.f.args.type: expected "object": arguments and results have names',
		'serve.json:10:43: vars.about: ${round} needs itself'
	]);
});

test('what is no JSON, and what stands twice, is told with its place', async () => {
	assert.deepEqual(await problems({ 'serve.json': '{\n "é": [1, 2 3]}' }),
		['serve.json:2:13: unexpected character, expected a comma or a closing bracket']);
	assert.deepEqual(await problems({ 'serve.json': '' }), ['serve.json: the JSON text is empty']);
	assert.deepEqual(await problems({ 'serve.json': '[]' }), ['serve.json:1:1: expected object, got []']);
	assert.deepEqual(await problems({ 'serve.json': '{"tools": {\n"a": {"cmd": ["x"]},\n "a": {"cmd": ["y"]}}}' }),
		['serve.json:3:2: tools.a: appears here for the second time']);
	const { code, stderr } = await run(['serve', '--check', 'nowhere.json', '.'], { cwd: place() });
	assert.equal(code, 7);
	assert.equal(stderr, 'cleat serve: nowhere.json: No such file or directory\ncleat serve: .: is a directory: serve a folder with --dir\n');
});

test('something else that is given as a configuration says how it is served', async () => {
	const directory = place({
		'shop.db': 'SQLite format 3\0\u0010', 'api.yaml': 'openapi: 3.0.3\n', 'note.md': '# Hi\n',
		'api.json': '{"openapi": "3.1.0", "info": {}, "paths": {}}', 'mcp.json': '{"mcpServers": {}}'
	});
	for (const [file, how] of [
		['shop.db', 'this is an SQLite database, not a configuration: serve it with --sqlite'],
		['api.yaml', 'a configuration is JSON; an OpenAPI document is served with --openapi'],
		['api.json', 'this is an OpenAPI document, not a configuration: serve it with --openapi, or name it in "openapi"'],
		['mcp.json', 'this is the configuration of a client, which starts servers: cleat install writes into such a file'],
		['note.md', 'a configuration is JSON; a folder is served with --dir, one of prompts with --prompts']
	]) {
		const { code, stderr } = await check(directory, file);
		assert.equal(stderr, `cleat serve: ${file}: ${how}\n`);
		assert.equal(code, 7);
	}
});

test('what people write who know other files says how it is written here', async () => {
	for (const [tool, why] of [
		['{"args": {"path": "string"}, "cmd": ["ls", "{path}"]}', '1:26: tools.a.args: a JSON Schema has "properties": {...} around them; or write a text, as in "path: string, depth: integer = 1"'],
		['{"args": "path: string = .", "cmd": ["ls", "{path}"]}', '1:26: tools.a.args: column 16: expected a JSON value as default (text stands in quotes), got "."'],
		['{"cmd": ["ls"], "sandbox": true}', '1:44: tools.a.sandbox: expected false, got true (write what it may touch, as in {"read": ["./docs"]}; false is no sandbox)'],
		['{"sh": "one\ntwo"}', '1:28: a text ends on its line: write \\n for the end of a line, and close the text with "']
	])
		assert.deepEqual((await problems({ 'serve.json': `{"tools": {"a": ${tool}}}` })).slice(0, 1), [`serve.json:${why}`]);
});

test('a tool whose database is not there does not blame anything else', async () => {
	assert.deepEqual(await problems({ 'serve.json': JSON.stringify({
		databases: { shop: { file: 'nowhere.db' } },
		tools: { a: { sql: { database: 'shop', query: 'SELECT 1' } } }
	}) }), ['serve.json:1:30: databases.shop.file: ./nowhere.db: No such file or directory']);
});

test('what "http" says is looked at before anybody serves it', async () => {
	const told = async http => problems({ 'serve.json': JSON.stringify({ http, tools: { a: { cmd: ['true'] } } }) });
	assert.deepEqual(await told({ listen: '${NO_SUCH_PORT}' }),
		['serve.json:1:19: http.listen: ${NO_SUCH_PORT} is neither in "vars" nor in "secrets" nor set in the environment']);
	assert.deepEqual(await told({ listen: '1', allow_origin: ['a', '${NO_SUCH}'] }),
		['serve.json:1:43: http.allow_origin[1]: ${NO_SUCH} is neither in "vars" nor in "secrets" nor set in the environment']);
	assert.match((await told({ listen: 'here and there' }))[0], /^serve.json:1:19: http.listen: "here and there" is not an address to listen on; use for example 8080/);
	const { code, stderr } = await check(place({ 'serve.json': JSON.stringify({ http: { listen: '1', tokens: 'nowhere' }, tools: { a: { cmd: ['true'] } } }) }), 'serve.json');
	assert.equal(code, 0);
	assert.match(stderr, /^cleat serve: warning: serve.json:1:32: cannot read .*nowhere: No such file or directory\n$/);
});

test('what is allowed but hardly meant is a warning', async () => {
	const warned = async (...args) => {
		const { code, stderr } = await check(place({ 'api.json': JSON.stringify({ openapi: '3.0.3', info: { title: 'x', version: '1' }, servers: [{ url: 'http://127.0.0.1:1' }],
			paths: { '/a': { get: { operationId: 'getA', responses: {} } } } }), ...args.pop() }), ...args);
		assert.equal(code, 0, stderr);
		return stderr;
	};
	for (const [option, tool, why] of [
		['--cmd', 'x(): ls | wc -l', '"|" is passed to ls as a word, because there is no shell: a script is "sh" (or --sh)'],
		['--cmd', 'x(a: string): echo $a', '"$a" is not a variable here, because there is no shell: write {a}'],
		['--cmd', 'x(a: string): ls', 'argument "a" is used nowhere: write {a} where it belongs'],
		['--sh', 'x(a: string): echo {a}', '{a} is just text in a script, where an argument is a variable: write "$a"'],
		['--sh', 'x(a: string): echo ', 'argument "a" is used nowhere: write "$a", and the tool in single quotes, so that your own shell leaves it alone'],
		['--sh', 'x(path: string): ls $paht', '$paht is not an argument; did you mean $path?']
	])
		assert.equal(await warned(option, tool, {}), `cleat serve: warning: command line: ${option}: ${why}\n`);
	assert.equal(await warned('serve.json', { 'serve.json': JSON.stringify({ openapi: { api: { file: 'api.json', include: ['GET *', 'op:getB'], exclude: ['POST *'] } } }) }),
		['serve.json:1:57: "op:getB"', 'serve.json:1:79: "POST *"'].map(of =>
			`cleat serve: warning: ${of} names no operation of the document (METHOD /path, op:operationId, tag:name; * stands for anything)\n`).join(''));
	assert.equal(await warned('serve.json', { key: 'hush', 'serve.json': JSON.stringify({ secrets: { k: { file: 'key' } },
		tools: { x: { cmd: ['true', 'a ${k}'], env: { KEY: '${k}' }, stdin: '${k}' } } }) }),
	'cleat serve: warning: serve.json:1:61: every user of this machine can see the words of a command, so this is no place for a secret: ' +
		'give it in "env", or as "stdin"\n');
	assert.equal(await warned('--cmd', 'x(a: string): echo {a}', '--sh', 'y(a: string): echo "$a"', {}), '');
});

everyWay('a program gets all arguments as JSON where {*} stands', () => [path.join(place({
	'serve.json': JSON.stringify({ tools: {
		input: { args: 'text: string, n: number = 1, more?: string[]', cmd: ['cat'], stdin: '{*}' },
		word: { args: 'text: string', cmd: ['printf', '%s', '{*}'] },
		script: { args: 'text: string', sh: 'echo "${text-unset}"; cat', stdin: '{*}' },
		none: { cmd: ['cat'], stdin: '{*}' }
	} })
}), 'serve.json')], async session => {
	const said = 'a "quote"\n{n} $HOME';
	assert.deepEqual(JSON.parse(text(await session.call('input', { text: said }))), { text: said, n: 1 });
	assert.deepEqual(JSON.parse(text(await session.call('input', { text: '-', n: 2, more: ['x'] }))), { text: '-', n: 2, more: ['x'] });
	assert.deepEqual(JSON.parse(text(await session.call('word', { text: said }))), { text: said });
	assert.equal(text(await session.call('script', { text: 'x' })), 'unset\n{"text":"x"}');
	assert.equal(text(await session.call('none')), '{}');
});

test('a name that two files use is told with both places', async () => {
	assert.deepEqual(await problems({
		'serve.json': '{"include": "more.json",\n "tools": {"a": {"cmd": ["true"]}}}',
		'more.json': '{"tools": {\n\n "a": {"cmd": ["false"]}}}'
	}), ['./more.json:3:7: tools.a: tool "a" is registered already (serve.json:2:17)']);
});

test('options of the command line have problems of the same kind', async () => {
	const { code, stderr } = await run(['serve', '--check', '--sh', 'x(a: strin): true', '--cmd', 'y(): echo "', '--cmd', 'z(a: string): echo {b}'], { cwd: place() });
	assert.equal(code, 7);
	assert.match(stderr, /^cleat serve: --sh: column 6: unknown type "strin" \(did you mean string\?\)$/m);
	assert.match(stderr, /^cleat serve: --cmd: column 1?\d: .*$/m);
	const second = await run(['serve', '--check', '--cmd', 'z(a: string): echo {b}'], { cwd: place() });
	assert.equal(second.stderr, 'cleat serve: command line: --cmd: tools.z.cmd[1]: column 1: there is no argument "b"\n');
});

test('a configuration with problems is not served', async () => {
	const directory = place({ 'serve.json': '{"tools": 1}' });
	for (const how of [[], ['--http', '127.0.0.1:0']]) {
		const { code, stdout, stderr } = await run(['serve', 'serve.json', ...how], { cwd: directory });
		assert.equal(code, 7);
		assert.equal(stdout, '');
		assert.equal(stderr, 'cleat serve: serve.json:1:11: tools: expected object, got 1\n');
	}
});

test('what cannot be meant is a usage error', async () => {
	for (const [args, why] of [
		[[], /what is to be served\?/],
		[['--stdio', '--http', '8080', '--sh', 'x(): y'], /choose one of them/],
		[['--http'], /--http/]
	]) {
		const { code, stderr } = await run(['serve', ...args]);
		assert.equal(code, 2, stderr);
		assert.match(stderr, why);
	}
});

// ---- variables, secrets, includes ----------------------------------------------------------------

everyWay('variables, secrets and the environment are expanded, without a shell and once only', () => [path.join(place({
	'serve.json': JSON.stringify({
		vars: { who: '${NAME:-nobody}', greeting: 'hello ${who}', here: '${configDir}', tricky: '$${who} $(date) `id`' },
		secrets: { token: { env: 'E2E_TOKEN' }, key: { file: './key' } },
		tools: {
			greet: { cmd: ['printf', '%s|', '${greeting}', '${tricky}', '$5', '${env:E2E_VALUE}', '${E2E_MISSING:-a:-b}'] },
			secret: { sh: 'printf "%s|" "$A" "$B"', env: { A: '${token}', B: '${key}' } },
			home: { cmd: ['printf', '%s', '${home}'] }
		}
	}),
	key: 'from a file $who\n'
}), 'serve.json')], async session => {
	assert.equal(text(await session.call('greet')), 'hello nobody|${who} $(date) `id`|$5|${greeting}|a:-b|');
	assert.equal(text(await session.call('secret')), 's3cr3t-value|from a file $who|');
	assert.equal(text(await session.call('home')), '/home/e2e');
}, { env: { E2E_TOKEN: 's3cr3t-value', E2E_VALUE: '${greeting}', HOME: '/home/e2e', PATH: process.env.PATH } });

test('a secret is never shown in a message', async () => {
	const said = await problems({
		'serve.json': JSON.stringify({
			secrets: { token: { env: 'E2E_TOKEN' }, gone: { env: 'E2E_GONE' }, file: { file: './nowhere' } },
			vars: { indirect: 'x${token}x' },
			tools: {
				a: { cmd: ['x', '{${token}}'] }, b: { cmd: ['x'], timeout: '${token}' }, c: { cmd: ['x'], output: '${indirect}' },
				d: { cmd: ['${gone}'] }, e: { cmd: ['${file}'] }, f: { cmd: ['x'], cwd: '/${indirect}' }
			},
			folders: { f: { path: '/${token}/x' } },
			prompts: { p: { file: './${token}' } }
		})
	}, { env: { E2E_TOKEN: 's3cr3t-value' } });
	assert.ok(said.length >= 6, said.join('\n'));
	assert.ok(said.some(line => /secrets\.gone\.env: the secret is to come from the environment, but E2E_GONE is not set/.test(line)), said.join('\n'));
	assert.ok(said.some(line => /cannot read the secret from \.\/nowhere: No such file/.test(line)), said.join('\n'));
	assert.ok(!said.some(line => line.includes('s3cr3t')), said.join('\n'));
	assert.ok(said.some(line => line.includes('****')), said.join('\n'));
});

everyWay('included files are read once, in order, and know their own directory', () => {
	const directory = place({
		'serve.json': '{"name": "outer", "include": ["tools.d/*.json", "sub/more.json"], "tools": {"one": {"cmd": ["cat", "one.txt"]}}, "vars": {"v": "outer"}}',
		'tools.d/b.json': '{"tools": {"two": {"cmd": ["echo", "${v}"]}}}',
		'tools.d/a.json': '{"include": "../serve.json", "name": "inner"}',
		'sub/more.json': '{"tools": {"three": {"cmd": ["cat", "three.txt"]}}, "vars": {"v": "inner"}, "include": ["./more.json", "none*.json"]}',
		'one.txt': '1', 'sub/three.txt': '3'
	});
	return [path.join(directory, 'serve.json')];
}, async session => {
	const { tools } = await session.client.listTools();
	assert.deepEqual(tools.map(t => t.name), ['one', 'two', 'three']);
	assert.equal(text(await session.call('one')), '1');
	assert.equal(text(await session.call('two')).trim(), 'outer');
	assert.equal(text(await session.call('three')), '3');
	assert.equal(session.client.getServerVersion().name, 'outer');
});

everyWay('options and files may be combined', () => [
	path.join(place({ 'serve.json': '{"name": "mine", "version": "3.2", "title": "T", "instructions": "be kind", "tools": {"a": {"cmd": ["echo", "a"]}}}' }), 'serve.json'),
	'--cmd', 'b(x: string = "dflt" "An x") "Says b": echo b {x}', '--sh', 'c(): echo c', '--name', 'other'
], async session => {
	const { tools } = await session.client.listTools();
	assert.deepEqual(tools.map(t => t.name).sort(), ['a', 'b', 'c']);
	const b = tools.find(t => t.name === 'b');
	assert.equal(b.description, 'Says b');
	assert.equal(b.inputSchema.properties.x.description, 'An x');
	assert.equal(text(await session.call('b')), 'b dflt');
	assert.equal(session.client.getServerVersion().name, 'other');
	assert.equal(session.client.getServerVersion().version, '3.2');
	assert.equal(session.client.getInstructions(), 'be kind');
});

// ---- questions -----------------------------------------------------------------------------------

const asking = { tools: {
	remove: { args: 'path: string', cmd: ['echo', 'removed {path}'], confirm: 'Really remove {path}?' },
	weather: { args: 'unit: string = "C"', cmd: ['echo', '{city} {days} {unit}'], ask: { message: 'Where, in {unit}?', fields: 'city: string, days: integer 1..5 = 1' } }
} };
const asked = [];
const answering = answer => ({ capabilities: { elicitation: { form: {} } }, answers: { 'elicitation/create': answer } });

everyWay('confirm and ask go to the user, and the answers are arguments', () => [path.join(place({ 'serve.json': JSON.stringify(asking) }), 'serve.json')], async session => {
	assert.equal(text(await session.call('remove', { path: 'x' })), 'removed x');
	assert.equal(text(await session.call('weather')), 'Oslo 1 C');
	assert.deepEqual(asked.splice(0), ['Really remove x?', 'Where, in C?']);
	// What cannot be shown does not keep the question from being asked; the tool says what is wrong with it.
	assert.match(text(await session.call('remove', { path: 'a\0b' })), /path: a NUL character cannot be given to a command/);
	assert.deepEqual(asked.splice(0), ['Really remove a\ufffdb?']);
}, answering(params => {
	asked.push(params.message);
	return { action: 'accept', content: /Where/.test(params.message) ? { city: 'Oslo' } : {} };
}));

for (const way of ways)
	test(`${way.name}: who says no, or cannot be asked, keeps everything as it is`, async t => {
		const file = path.join(place({ 'serve.json': JSON.stringify(asking) }), 'serve.json');
		const declines = await serve(t, way, [file], answering(() => ({ action: 'decline' })));
		const result = await declines.call('remove', { path: 'x' });
		assert.ok(result.isError);
		assert.doesNotMatch(text(result), /removed/);
		const mute = await serve(t, way, [file]);
		const outcome = await mute.call('remove', { path: 'x' }).catch(error => ({ isError: true, content: [{ type: 'text', text: error.message }] }));
		assert.ok(outcome.isError);
		assert.doesNotMatch(text(outcome), /removed/);
	});

// ---- loading again -------------------------------------------------------------------------------

const changed = s => s.notes.take(n => n.method === 'notifications/tools/list_changed', 'tools/list_changed');
const names = async s => (await s.client.listTools()).tools.map(t => t.name).sort();

/** The server's own words: over stdio they are the session's, over HTTP the server's. */
const words = s => s.server ? s.server.stderr : s.stderr;
const said = (s, pattern) => eventually(() => pattern.test(words(s)), () => `${pattern} of ${words(s)}`);
function forget(s) {
	if (s.server) s.server.stderr = '';
	s.stderr = '';
}

const listens = async s => s.way.era === 'modern' && (await s.client.listen({ toolsListChanged: true }));

for (const how of ['SIGHUP', '--watch'])
	for (const way of ways)
		test(`${way.name}: ${how} loads again: clients are told, calls go on, a mistake changes nothing`, async t => {
			const marker = path.join(place(), 'go');
			const slow = { sh: `while [ ! -e '${marker}' ]; do sleep 0.05; done; echo old` };
			const directory = place({ 'serve.json': JSON.stringify({ tools: { same: echo('same'), gone: echo('gone'), slow } }) });
			const file = path.join(directory, 'serve.json');
			const write = tools => {
				fs.writeFileSync(`${file}.new`, typeof tools === 'string' ? tools : JSON.stringify({ tools }));
				fs.renameSync(`${file}.new`, file);
				if (how === 'SIGHUP') process.kill(s.pid, 'SIGHUP');
			};
			const s = await serve(t, way, [file, ...(how === '--watch' ? ['--watch'] : [])]);
			s.way = way;
			await listens(s);
			assert.deepEqual(await names(s), ['gone', 'same', 'slow']);

			const running = s.call('slow');
			await s.call('same');
			write({ same: echo('same'), slow: { sh: 'echo new' }, fresh: echo('fresh') });
			await changed(s);
			await said(s, /loaded again: 1 added, 1 removed, 1 changed, 1 as before/);
			assert.deepEqual(await names(s), ['fresh', 'same', 'slow']);
			assert.equal(text(await s.call('slow')), 'new');
			fs.writeFileSync(marker, '');
			assert.equal(text(await running), 'old');
			await assert.rejects(s.call('gone'));

			forget(s);
			write('{"tools": {"same": {"cmd": "x"}}}');
			await said(s, /serve\.json:1:28: tools\.same\.cmd: expected array of at least 1 element, got "x" \(.*\n.*the configuration stays as it was/);
			assert.deepEqual(await names(s), ['fresh', 'same', 'slow']);
			assert.equal(text(await s.call('fresh')), 'fresh');

			forget(s);
			write({ same: echo('other') });
			await said(s, /loaded again: 0 added, 2 removed, 1 changed, 0 as before/);
			assert.equal(text(await s.call('same')), 'other');
			assert.deepEqual(await names(s), ['same']);
			forget(s);
		});

for (const way of ways)
	test(`${way.name}: who subscribed to a resource is told that a new configuration has another`, async t => {
		const config = text => JSON.stringify({ resources: { 'note://x': { text }, 'note://y': { text: 'y' } }, prompts: { p: { text } } });
		const file = path.join(place({ 'serve.json': config('one') }), 'serve.json');
		const s = await serve(t, way, [file]);
		const read = async uri => (await s.client.readResource({ uri })).contents[0].text;
		assert.equal(await read('note://x'), 'one');
		if (way.era === 'modern') await s.client.listen({ resourceSubscriptions: ['note://x', 'note://y'], promptsListChanged: true });
		else for (const uri of ['note://x', 'note://y']) await s.client.subscribeResource({ uri });
		fs.writeFileSync(file, config('two'));
		process.kill(s.pid, 'SIGHUP');
		await s.notes.take(n => n.method === 'notifications/resources/updated' && n.params.uri === 'note://x', 'resources/updated');
		assert.equal(await read('note://x'), 'two');
		assert.equal((await s.client.getPrompt({ name: 'p' })).messages[0].content.text, 'two');
		assert.equal(s.notes.count(n => n.params?.uri === 'note://y'), 0);
		await said(s, /0 added, 0 removed, 2 changed, 1 as before/);
		assert.equal(s.notes.count(n => /list_changed$/.test(n.method)), 0, 'the lists say what they said');
		forget(s);
	});

test('--watch sees files that an include may find, and those that are mended', async t => {
	const directory = place({ 'serve.json': '{"include": "d/*.json"}', 'd/a.json': '{"tools": {"a": {"cmd": ["echo", "a"]}}}' });
	const s = await serve(t, v2Modern, [path.join(directory, 'serve.json'), '--watch']);
	assert.deepEqual(await names(s), ['a']);
	rewrite(path.join(directory, 'd/b.json'), '{"tools": {"b": {"cmd": ["echo", "${v}"]}}}');
	await said(s, /b\.json:1:34: tools\.b\.cmd\[1\]: \$\{v\} is neither.*\n.*stays as it was/);
	forget(s);
	rewrite(path.join(directory, 'd/b.json'), '{"tools": {"b": {"cmd": ["echo", "${v}"]}}, "vars": {"v": "w"}}');
	await said(s, /loaded again: 1 added, 0 removed, 0 changed, 1 as before/);
	assert.equal(text(await s.call('b')), 'w');
	forget(s);
	fs.unlinkSync(path.join(directory, 'd/a.json'));
	await said(s, /loaded again: 0 added, 1 removed, 0 changed, 1 as before/);
	forget(s);
});

test('what cannot change while it runs is said', async t => {
	const file = path.join(place({ 'serve.json': '{"name": "a", "tools": {"a": {"cmd": ["true"]}}}' }), 'serve.json');
	const s = await serve(t, v2Modern, [file]);
	assert.deepEqual(await names(s), ['a']);
	fs.writeFileSync(file, '{"name": "b", "tools": {"a": {"cmd": ["true"]}}}');
	process.kill(s.pid, 'SIGHUP');
	await said(s, /"name" has changed: that counts from the next start on/);
	await said(s, /nothing has changed/);
	forget(s);
});

// ---- HTTP ----------------------------------------------------------------------------------------

test('"http" of the file says where and for whom, and --stdio overrules it', async t => {
	const directory = place({
		'serve.json': JSON.stringify({ http: { listen: '127.0.0.1:0', path: '/here', tokens: './tokens', allow_origin: ['https://app.example'], no_sessions: true, lenient_headers: true }, tools: { a: echo('a') } }),
		tokens: 'ann 0123456789abcdef0123456789abcdef\n'
	});
	const child = start(['serve', 'serve.json'], { cwd: directory });
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const url = /listening on (\S+)/.exec(await heard(child, /listening on \S+\n/, 'stderr'))[1];
	assert.match(url, /:\d+\/here$/);
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
	const ask = (headers, what = body) => fetch(url, { method: 'POST', body: what, headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers } });
	assert.equal((await ask({})).status, 401);
	const token = 'Bearer 0123456789abcdef0123456789abcdef';
	assert.equal((await ask({ Authorization: token, Origin: 'https://app.example' })).status, 200);
	const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
	const modern = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
	assert.equal((await ask({ Authorization: token, 'MCP-Protocol-Version': '2025-11-25' }, modern)).status, 200);
	assert.equal((await ask({ Authorization: token, Origin: 'https://evil.example' })).status, 403);
	const { code, stdout } = await run(['ls', '--', cleat, 'serve', '--stdio', path.join(directory, 'serve.json')]);
	assert.equal(code, 0);
	assert.match(stdout, /^a\(\)/);
});

test('a port that is taken is an error; with --any-port another is taken and told', async t => {
	const taken = net.createServer().listen(0, '127.0.0.1');
	await within(new Promise(resolve => taken.once('listening', resolve)), 'listening');
	t.use({ end: async () => (taken.close(), []) });
	const address = `127.0.0.1:${taken.address().port}`;
	const fails = await run(['serve', '--sh', 'x(): true', '--http', address]);
	assert.equal(fails.code, 1);
	assert.match(fails.stderr, /in use/);
	const child = start(['serve', '--sh', 'x(): true', '--http', address, '--any-port']);
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const stderr = await heard(child, /listening on \S+\n/, 'stderr');
	const other = Number(/:(\d+)\/mcp/.exec(stderr)[1]);
	assert.notEqual(other, taken.address().port);
	assert.equal(stderr, `cleat serve: warning: port ${taken.address().port} is taken by another program, so this is port ${other}\n` +
		`cleat: listening on http://127.0.0.1:${other}/mcp\n`);
});

test('the banner says where it is, what to try, and what clients need; all of it works', async t => {
	const directory = place({ 'serve.json': JSON.stringify({ name: 'demo', tools: { z: { cmd: ['false'], args: 'a: string' }, y: { cmd: ['false'], ask: { fields: 'a: string' } }, a: echo('a-says-so', { hints: { read_only: true } }) } }) });
	const child = start(['serve', 'serve.json', '--http', '127.0.0.1:0', '--banner'], { cwd: directory });
	t.use({ end: async () => { child.kill(); await child.ended; return []; } });
	const stderr = await heard(child, /loads the configuration again/, 'stderr');
	const tries = [...stderr.matchAll(/^ {2}(\S*cleat) (.*)$/gm)].map(m => [m[1], ...m[2].split(' ')]);
	assert.deepEqual(tries.map(words => words[1]), ['ls', 'call', 'shell']);
	assert.ok(tries.every(([program]) => fs.realpathSync(program) === fs.realpathSync(cleat)));
	assert.match((await run(tries[0].slice(1))).stdout, /^a\(\)/m);
	assert.equal((await run(tries[1].slice(1))).stdout, 'a-says-so\n');
	const blocks = [...stderr.matchAll(/^ {2}\{ "mcpServers"(.|\n)*?\} \} \}$/gm)].map(m => JSON.parse(m[0]).mcpServers.demo);
	assert.equal(blocks.length, 2);
	assert.equal(blocks[0].command, fs.realpathSync(cleat));
	assert.deepEqual(blocks[0].args, ['serve', fs.realpathSync(path.join(directory, 'serve.json'))]);
	assert.match((await run(['ls', '--', blocks[0].command, ...blocks[0].args])).stdout, /^a\(\)/m);
	assert.match((await run(['ls', blocks[1].url])).stdout, /^a\(\)/m);
});

test('in front of a terminal it says what it is and how it is used', async t => {
	const child = terminal(['serve', '--sh', "it's(): echo 'a b'"]);
	t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
	const said = await heard(child, /Ctrl-D ends it/);
	assert.match(said, /cleat \(1 tool\) speaks MCP on standard input and output/);
	assert.ok(said.includes(`${cleat} ls -- ${cleat} serve --sh 'it'\\''s(): echo '\\''a b'\\'''`), said);
	child.stdin.write('\x04');
	assert.equal((await within(child.ended, 'the end')).code, 0);
});

test('--schema prints the schema, and --probe what sandboxes can do', async () => {
	const schema = JSON.parse((await run(['serve', '--schema'])).stdout);
	assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
	assert.ok(schema.$defs.command);
	const probe = await run(['serve', '--probe']);
	assert.equal(probe.code, 0);
	assert.match(probe.stdout, /\S/);
});

await runCases();
