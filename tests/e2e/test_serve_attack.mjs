// `cleat serve` under attack: by a client that may call everything and wants more, by many calls, changes and
// reloads at once, and by whoever writes a configuration in a hurry. Every attack stands beside the same thing
// done honestly, which has to work.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { cleat, place, run as runCleat } from './lib/cli.mjs';
import { mark, until } from './lib/processes.mjs';
import { serve, text, ways } from './lib/serve.mjs';
import { PATIENCE, eventually, run, test } from './lib/tap.mjs';

EventEmitter.defaultMaxListeners = 1000; // many calls at once wait for one pipe

const [stdio, , , http] = ways;
/** The words for `cleat serve` of a configuration, in a directory with these files. */
const config = (value, files = {}) =>
	[path.join(place({ ...files, 'c.json': typeof value === 'string' ? value : JSON.stringify(value) }), 'c.json')];
const check = (value, options) => runCleat(['serve', '--check', ...config(value)], options);
const fails = async (promise, pattern, what) => {
	const result = await promise;
	assert.equal(result.isError, true, `${what}: ${text(result)}`);
	assert.match(text(result), pattern);
};
const open = s => fs.readdirSync(`/proc/${s.pid}/fd`).length;
const children = s => fs.readFileSync(`/proc/${s.pid}/task/${s.pid}/children`, 'utf8').trim();
/** Forgets what the server said: a session's end complains of it. */
function forget(s) {
	const words = s.server ? s.server.stderr : s.stderr;
	if (s.server) s.server.stderr = '';
	s.stderr = '';
	return words;
}

// ---- a folder -----------------------------------------------------------------------------------

function vault(exclude) {
	const top = place({
		'served/private/keys.txt': 'SECRET key\n', 'served/private/fine.txt': 'fine\n', 'served/.env': 'SECRET env\n',
		'served/.ssh/id': 'SECRET id\n', 'outside.txt': 'SECRET outside\n'
	});
	const dir = path.join(top, 'served');
	for (const [name, target] of Object.entries({
		pub: 'private', self: '.', keys: 'private/keys.txt', env: '.env', ssh: '.ssh', out: '../outside.txt', above: '..',
		root: '/proc/self/root', fds: '/proc/self/fd'
	})) fs.symlinkSync(target, path.join(dir, name));
	const words = config({
		folders: { docs: { path: dir, write: true, exclude } },
		resources: { 'any://{+path}': { file: `${dir}/{path}` }, 'one://{name}': { file: `${dir}/{name}` }, 'all://': { glob: `${dir}/**/*.txt` } }
	});
	return { dir, words };
}

for (const exclude of ['private/keys.txt', 'private/**', './private/k*', 'private/'])
	test(`what ${JSON.stringify(exclude)} excludes is not reached by a link to its directory, nor changed`, async t => {
		const { dir, words } = vault([exclude]);
		const s = await serve(t, stdio, words);
		for (const base of ['private', 'pub', 'self/private', 'self/pub', 'self/self/private/.', 'pub/']) {
			const at = `${base}/keys.txt`;
			for (const [tool, args] of [
				['read_file', { path: at }], ['stat_file', { path: at }], ['edit_file', { path: at, old: 'SECRET', new: 'x' }],
				['move_file', { from: at, to: 'stolen.txt' }], ['write_file', { path: at, content: 'x', overwrite: true }],
				['remove_file', { path: at }], ['search_files', { path: at, pattern: 'SECRET' }]
			]) await fails(s.call(tool, args), /no such file|not part of this folder/, `${tool} ${at}`);
			for (const [tool, args] of [['list_files', { path: base, recursive: true }], ['search_files', { path: base, pattern: 'SECRET' }]])
				assert.doesNotMatch(text(await s.call(tool, args)), /keys\.txt|SECRET/, `${tool} ${base}`);
		}
		for (const tool of ['list_files', 'search_files'])
			assert.doesNotMatch(text(await s.call(tool, tool === 'list_files' ? { recursive: true } : { pattern: 'SECRET' })), /keys\.txt|SECRET/);
		await fails(s.call('move_file', { from: 'private', to: 'open' }), /cannot be moved|not part of this folder/, 'the directory');
		await fails(s.call('write_file', { path: 'pub/keys.txt/new', content: 'x', parents: true }), /./, 'below');
		assert.equal(fs.readFileSync(path.join(dir, 'private/keys.txt'), 'utf8'), 'SECRET key\n');
		assert.ok(!fs.existsSync(path.join(dir, 'stolen.txt')));
	});

test('control: a link to a directory works where nothing is excluded', async t => {
	const s = await serve(t, stdio, vault([]).words);
	assert.equal(text(await s.call('read_file', { path: 'pub/keys.txt' })), 'SECRET key\n');
	assert.match(text(await s.call('search_files', { path: 'pub', pattern: 'SECRET' })), /^pub\/keys\.txt:1: SECRET key$/m);
	assert.match(text(await s.call('move_file', { from: 'pub/keys.txt', to: 'moved.txt' })), /^moved/);
});

test('an exclude that would leave out nothing is a mistake', async () => {
	for (const exclude of ['private//keys.txt', '../served/private', 'private/./keys.txt', '.', '/']) {
		const { code, stderr } = await runCleat(['serve', '--check', ...vault([exclude]).words]);
		assert.equal(code, 7, exclude);
		assert.match(stderr, /c\.json:1:\d+: folders\.docs\.exclude\[0\]: would leave out nothing/);
	}
	assert.equal((await runCleat(['serve', '--check', ...vault(['private/keys.txt']).words])).code, 0);
});

for (const way of [stdio, http])
	test(`${way.name}: no URI leads out of a folder, a template or a glob`, async t => {
		const s = await serve(t, way, vault([]).words);
		const read = async uri => (await s.client.readResource({ uri })).contents[0].text;
		for (const uri of ['docs:///private/fine.txt', 'any://private/fine.txt', 'any://pub/fine.txt', 'all://private/fine.txt'])
			assert.equal(await read(uri), 'fine\n', uri);
		for (const start of ['docs:///', 'any://', 'one://', 'all://'])
			for (const rest of ['../outside.txt', '..%2foutside.txt', '%2e%2e/outside.txt', '%2e%2e%2foutside.txt', 'private/../../outside.txt', '/etc/passwd',
				'%2fetc/passwd', '.env', '%2eenv', 'env', 'ssh/id', 'out', 'above/outside.txt', 'root/etc/passwd', 'fds/0', 'private%00', '\\x2eenv', 'private%5c..%5c..'])
				await assert.rejects(read(start + rest), error => !/SECRET|root:/.test(error.message), start + rest);
		await assert.rejects(read('one://private%2ffine.txt'), 'a slash in a segment');
		for (const value of ['..', '../', '/', '/etc/', '.', '.s', 'ssh/', 'above/', 'root/'])
			assert.deepEqual((await s.client.complete({ ref: { type: 'ref/resource', uri: 'docs:///{+path}' }, argument: { name: 'path', value } })).completion.values, [], value);
		assert.deepEqual((await s.client.complete({ ref: { type: 'ref/resource', uri: 'docs:///{+path}' }, argument: { name: 'path', value: 'private/f' } })).completion.values, ['private/fine.txt']);
	});

for (const way of [stdio, http])
	test(`${way.name}: of forty edits of a file at once none is lost, and of forty new files of a name one wins`, async t => {
		const dir = place();
		const s = await serve(t, way, ['--dir', `${dir}:rw`]);
		const all = [...Array(40).keys()].map(i => `<${i}>`);
		fs.writeFileSync(path.join(dir, 'f.txt'), `${all.join('\n')}\n${'x'.repeat(50_000)}\n`);
		const edits = await Promise.all(all.map(old => s.call('edit_file', { path: 'f.txt', old, new: `done${old}` })));
		const done = all.filter((_, i) => !edits[i].isError);
		const now = fs.readFileSync(path.join(dir, 'f.txt'), 'utf8');
		assert.ok(done.length > 0);
		assert.deepEqual(done.filter(old => !now.includes(`done${old}`)), [], 'told as done and lost');
		const made = await Promise.all(all.map(content => s.call('write_file', { path: 'new.txt', content })));
		const winners = all.filter((_, i) => !made[i].isError);
		assert.equal(winners.length, 1);
		assert.equal(fs.readFileSync(path.join(dir, 'new.txt'), 'utf8'), winners[0]);
		assert.deepEqual(fs.readdirSync(dir).filter(n => n.startsWith('.cleat')), [], 'rests');
	});

test('expressions that would take for ever end, and what was not searched is told', async t => {
	const dir = place({ 'a.txt': `${'a'.repeat(50_000)}!\nneedle\n`, 'long.txt': `${'z'.repeat(3_000_000)}needle\nneedle\n` });
	const s = await serve(t, stdio, ['--dir', dir]);
	for (const pattern of ['(a+)+$', '(a|aa)+$', '(a|a?)+b!', '(?R)', '(*LIMIT_MATCH=4000000000)(a+)+$']) {
		const began = performance.now();
		const found = await s.call('search_files', { pattern, glob: 'a.txt' });
		assert.ok(performance.now() - began < PATIENCE, pattern);
		assert.equal(found.structuredContent.truncated, true, pattern);
		assert.match(text(found), /took too long/);
	}
	const found = await s.call('search_files', { pattern: 'needle' });
	assert.deepEqual(found.structuredContent.matches.map(m => `${m.path}:${m.line}`), ['a.txt:2', 'long.txt:2']);
	assert.match(text(found), /1 line is longer than 128 KB: only the beginning was searched/);
	assert.equal(found.structuredContent.truncated, true);
	assert.equal((await s.call('search_files', { pattern: 'needle', glob: 'a.txt' })).structuredContent.truncated, false);
});

// ---- commands -----------------------------------------------------------------------------------

test('"--" ends the options of the program behind it, not those of one that this runs', async t => {
	const tool = cmd => ({ args: 'x: string', cmd });
	const s = await serve(t, stdio, config({ tools: {
		direct: tool(['ls', '--', '{x}']), wrapped: tool(['env', '--', 'ls', '{x}']), twice: tool(['env', '--', 'ls', '--', '{x}']),
		timed: tool(['timeout', '--', '5', 'ls', '{x}']), inner: tool(['timeout', '5', 'ls', '--', '{x}']), deep: tool(['env', '--', 'nice', '--', 'ls', '{x}'])
	} }));
	for (const name of ['wrapped', 'timed', 'deep'])
		for (const x of ['--help', '-la', '--'])
			await fails(s.call(name, { x }), /would be read as an option/, `${name} ${x}`);
	for (const name of ['direct', 'twice', 'inner'])
		await fails(s.call(name, { x: '--help' }), /cannot access '--help'/, name); // a name, not an option
	for (const name of ['direct', 'wrapped', 'twice', 'timed', 'inner', 'deep'])
		assert.equal(text(await s.call(name, { x: 'c.json' })), 'c.json', name);
});

test('an argument becomes no part of a script, no option of an interpreter and no program', async () => {
	const tools = list => Object.fromEntries(list.map((cmd, i) => [`t${i}`, { args: 'x: string', cmd }]));
	const bad = [
		['perl', '-Mfeature=say', '-e', "say '{x}'"], ['python3', '-Xpycache_prefix=/tmp', '-c', "print('{x}')"], ['bash', '--rcfile', '/dev/null', '-c', 'echo {x}'],
		['node', '--require', './x.js', '-e', '{x}'], ['env', 'LD_PRELOAD={x}', 'ls'], ['env', '-i', 'PATH={x}', 'ls'], ['awk', '/{x}/ {{print}}', 'f'],
		['sed', '-n', '-e', 's/{x}/y/p'], ['sh', '-c', '--', '{x}'], ['find', '.', '-exec', 'sh', '-c', '{x}', ';'], ['env', '-S{x}'], ['ssh', 'host', 'ls', '{x}'],
		['nice', '{x}'], ['timeout', '5', '{x}'], ['xargs', '{x}'], ['nohup', '--', '{x}'], ['nice', '-n', '5', '{x}', 'y'], ['{x}'], ['./{x}']
	];
	const good = [
		['perl', '-ne', 'print', '{x}'], ['sh', '-c', 'echo "$1"', 'sh', '{x}'], ['env', 'NAME={x}', 'ls'], ['awk', '-v', 'a={x}', 'BEGIN {{ print a }}'],
		['nice', '-n', '{x}', 'ls'], ['timeout', '{x}', 'ls'], ['ssh', '{x}', 'uptime'], ['find', '{x}', '-name', '*.c']
	];
	const { code, stderr } = await check({ tools: tools(bad) });
	assert.equal(code, 7);
	for (const [i, cmd] of bad.entries())
		assert.match(stderr, new RegExp(`tools\\.t${i}\\.cmd`), JSON.stringify(cmd));
	const fine = await check({ tools: tools(good) });
	assert.equal(fine.code, 0, fine.stderr);
});

// ---- SQL ----------------------------------------------------------------------------------------

test('a format with a huge width ends at once, and formats work', async t => {
	const s = await serve(t, stdio, config({ databases: { d: { file: './d.db', init: './d.sql', timeout: '20s' } } }, { 'd.sql': 'CREATE TABLE t (a);' }));
	const query = sql => s.call('query', { sql });
	for (const name of ['printf', 'format'])
		for (const call of [`${name}('%.*c%.*c%.*c', 900000000, 'x', 900000000, 'x', 900000000, 'x')`, `${name}('%.900000000c', 'x')`, `${name}('%-0900000000d', 1)`,
			`${name}(replace(hex(zeroblob(9000)), '0', '%.9999c'), 'x')`])
			await fails(query(`SELECT ${call}`), /width and precision/, call); // and not that it took too long
	const { structuredContent } = await query(`SELECT printf('%5.2f|%-4s|%06d|%,d|%Q|%x|%%', 3.14159, 'ab', 42, 1234567, 'it''s', 255) AS a, format('%s-%d', NULL, 7) AS b, printf(NULL) AS c`);
	assert.deepEqual(structuredContent.rows, [{ a: " 3.14|ab  |000042|1,234,567|'it''s'|ff|%", b: '-7', c: null }]);
});

// ---- much at once -------------------------------------------------------------------------------

for (const way of [stdio, http])
	test(`${way.name}: calls that are cancelled at any moment leave nothing behind`, async t => {
		const setting = mark();
		const s = await serve(t, way, config({
			tools: {
				nap: { sh: `${setting}; export CLEAT_TEST_MARK; (setsid sleep 3600 &) ; sleep 3600`, concurrency: 8, timeout: '60s' },
				say: { args: 'x: string', cmd: ['echo', '{x}'] }, eat: { args: 'x: string', cmd: ['sleep', '3600'], stdin: '{x}' }
			},
			folders: { docs: { path: path.join(import.meta.dirname, '../unit') } }
		}));
		s.expectErrors = true; // an answer may be on its way when its call is given up
		assert.equal(text(await s.call('say', { x: 'before' })), 'before');
		await s.call('search_files', { pattern: 'x', limit: 1 });
		const before = open(s);
		const first = new AbortController();
		const nap = s.call('nap', {}, { signal: first.signal }).catch(() => {});
		await until(setting, 2); // those that are looked for below
		first.abort();
		await nap;
		const calls = [['nap', {}], ['eat', { x: 'y'.repeat(500_000) }], ['search_files', { pattern: '(e|o)+$', limit: 10_000 }], ['list_files', { recursive: true }]];
		const ends = [...Array(120).keys()].map(async i => {
			const abort = new AbortController();
			const [name, args] = calls[i % calls.length];
			const outcome = s.call(name, args, { signal: abort.signal, timeout: 60_000 }).then(() => 'answered', () => 'cancelled');
			await new Promise(resolve => setTimeout(resolve, (i * 37) % 300));
			abort.abort();
			return outcome;
		});
		assert.ok((await Promise.all(ends)).includes('cancelled'));
		await until(setting, 0);
		await eventually(() => children(s) === '', 'children are left');
		assert.equal(text(await s.call('say', { x: 'after' })), 'after');
		// Connections that were cut are the client's to open again.
		await eventually(() => open(s) <= before + (way === http ? 8 : 0), `${open(s)} descriptors, ${before} before`);
	});

test('many reloads under load: every call is answered as configured, nothing leaks, a broken file changes nothing', async t => {
	const value = k => ({
		tools: { say: { args: 'x: string', cmd: ['echo', '{x}'] }, [`t${k % 5}`]: { cmd: ['true'] } },
		folders: { docs: { path: '.' } }, resources: { 'g://': { glob: './*.json' } }, prompts: { [`p${k % 3}`]: { text: 'hi' } }
	});
	const words = config(value(0));
	const s = await serve(t, stdio, words);
	const names = async () => (await s.client.listTools()).tools.map(x => x.name).filter(n => /^t/.test(n));
	let over = false, calls = 0;
	const load = Promise.all([...Array(4)].map(async () => {
		for (; !over; calls++) assert.equal(text(await s.call('say', { x: 'here' })), 'here');
	}));
	const reload = async (content, said) => {
		fs.writeFileSync(`${words[0]}.new`, typeof content === 'string' ? content : JSON.stringify(content));
		fs.renameSync(`${words[0]}.new`, words[0]);
		forget(s);
		process.kill(s.pid, 'SIGHUP');
		await eventually(() => said.test(s.stderr), `${said}: ${s.stderr}`);
	};
	let settled;
	for (let k = 1; k <= 40; k++) {
		await reload(value(k), /loaded again/);
		if (k % 10 === 0) {
			await reload('{"tools": {', /c\.json:1:\d+: .*\n.*stays as it was/);
			assert.deepEqual(await names(), [`t${k % 5}`]);
		}
		settled ??= k === 5 ? open(s) : undefined;
	}
	over = true;
	await load;
	assert.ok(calls > 10, `${calls} calls`);
	// Descriptors: those of calls come and go.
	await eventually(() => open(s) <= settled, `${open(s)} descriptors, ${settled} after five reloads`);
	forget(s);
});

test('a file that is saved a thousand times is told a few times, and at the end', async t => {
	const dir = place({ 'f.txt': 'first' });
	const s = await serve(t, stdio, ['--dir', dir, '--name', 'x']);
	const [uri] = (await s.client.listResources()).resources.map(r => r.uri);
	await s.client.subscribeResource({ uri });
	const began = performance.now();
	for (let i = 0; i < 1000; i++) {
		fs.writeFileSync(path.join(dir, '.new'), `save ${i}`);
		fs.renameSync(path.join(dir, '.new'), path.join(dir, 'f.txt'));
	}
	const told = n => n.method === 'notifications/resources/updated';
	await s.notes.take(told, 'an update');
	fs.writeFileSync(path.join(dir, 'f.txt'), 'last');
	const before = s.notes.count(told), most = 10 + (performance.now() - began) / 50; // it waits for a pause of 50 ms
	assert.ok(before < most, `${before} updates, not ${most} at most`);
	await s.notes.take(told, 'the last update', before + 1);
	assert.equal((await s.client.readResource({ uri })).contents[0].text, 'last');
});

test('with 40 descriptors a hundred calls at once are answered, each with its result or why not', async t => {
	const words = config({ tools: { say: { args: 'x: string', cmd: ['echo', '{x}'], concurrency: 100 } }, folders: { docs: { path: '.' } } });
	const s = await serve(t, stdio, words);
	execFileSync('prlimit', ['--nofile=40', '--pid', String(s.pid)]);
	const results = await Promise.all([...Array(100).keys()].map(i => s.call(i % 2 ? 'say' : 'list_files', i % 2 ? { x: `n${i}` } : {})));
	for (const [i, r] of results.entries())
		assert.match(text(r), r.isError ? /too many open files/i : i % 2 ? new RegExp(`^n${i}$`) : /c\.json/, `call ${i}`);
	assert.ok(results.some(r => r.isError) && results.some(r => !r.isError));
	assert.equal(text(await s.call('say', { x: 'after' })), 'after');
	forget(s);
});

test('a subscription that cannot be watched is told to the operator', async () => {
	const [file] = config({ folders: { docs: { path: '.' } } });
	const lines = [
		{ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } },
		{ method: 'notifications/initialized' }, { id: 2, method: 'resources/subscribe', params: { uri: 'docs:///c.json' } }
	].map(m => JSON.stringify({ jsonrpc: '2.0', ...m })).join('\n');
	const inside = limit => spawnSync('unshare', ['-U', '-r', 'sh', '-c',
		`echo ${limit} > /proc/sys/user/max_inotify_watches && exec "$0" serve "$1"`, cleat, file], { input: `${lines}\n`, encoding: 'utf8', timeout: 60_000 });
	const plenty = inside(1000);
	if (plenty.status !== 0) return process.stdout.write('# no user namespaces here: not tried\n');
	assert.equal(plenty.stderr, '');
	assert.match(inside(0).stderr, /^cleat serve: warning: cannot watch .*c\.json for a subscription: a limit is reached \(fs\.inotify/m);
});

// ---- whoever writes the configuration -----------------------------------------------------------

test('a secret stands in nothing that clients see, and in no message', async () => {
	const env = { SECRET_K: 'hunter2hunter2' };
	const make = (word, more) => ({ vars: { plain: 'public' }, secrets: { k: { env: 'SECRET_K' } }, ...more(`\${${word}}`) });
	const tool = { cmd: ['true'] };
	for (const more of [
		x => ({ name: x, tools: { t: tool } }), x => ({ instructions: `use ${x}`, tools: { t: tool } }), x => ({ version: x, tools: { t: tool } }),
		x => ({ tools: { t: { ...tool, description: x } } }), x => ({ tools: { t: { ...tool, title: `a ${x}` } } }), x => ({ folders: { f: { path: '.', description: x } } }),
		x => ({ resources: { 'x://y': { text: x } } }), x => ({ resources: { 'x://{y}': { text: `{y} ${x}` } } }), x => ({ resources: { 'x://y': { text: 'a', title: x } } }),
		x => ({ prompts: { p: { text: x } } }), x => ({ prompts: { p: { text: '{a}', args: 'a: string', complete: { a: [x] } } } })
	]) {
		const refused = await check(make('k', more), { env });
		assert.equal(refused.code, 7, JSON.stringify(more('K')));
		assert.match(refused.stderr, /c\.json:1:\d+: .*a secret must not be used here/);
		assert.doesNotMatch(refused.stdout + refused.stderr, /hunter2/);
		const fine = await check(make('plain', more), { env });
		assert.equal(fine.code, 0, fine.stderr);
	}
	for (const value of [
		{ secrets: { k: 'hunter2hunter2' } }, make('k', x => ({ folders: { f: { path: `/nowhere/${x}` } } })),
		make('k', x => ({ tools: { t: { cmd: [x] } } })), make('k', x => ({ tools: { t: { ...tool, cwd: x } } }))
	]) {
		const { stdout, stderr } = await check(value, { env });
		assert.match(stderr, /c\.json:1:\d+: /);
		assert.doesNotMatch(stdout + stderr, /hunter2/, JSON.stringify(value));
	}
});

test('a pipe that nobody writes to does not stop a server; one that somebody writes to is read', async () => {
	const [file] = config({ include: 'pipe*.json', tools: { t: { cmd: ['true'] } } });
	const name = path.join(path.dirname(file), 'pipe.json');
	execFileSync('mkfifo', [name, path.join(path.dirname(file), 'pipe.md')]);
	for (const words of [[file], [name], ['--prompts', path.dirname(file)]])
		assert.notEqual((await runCleat(['serve', '--check', ...words])).code, null, words.join(' '));
	const bash = spawnSync('bash', ['-c', '"$0" serve --check <(sleep 0.3; cat "$1")', cleat, config({ tools: { piped: { cmd: ['true'] } } })[0]], { encoding: 'utf8', timeout: 60_000 });
	assert.match(bash.stdout, /1 tool: piped/);
});

test('every mistake has its place and says what was expected', async () => {
	const tool = more => `{"tools": {"t": ${JSON.stringify(more)}}}`;
	const utf16 = Buffer.from(`\ufeff${tool({ cmd: ['ls'] })}`, 'utf16le');
	for (const [content, wanted] of [
		['', /c\.json: the JSON text is empty/], ['// nothing', /c\.json: the JSON text is empty/], ['[]', /c\.json:1:1: expected object/], ['{"tools": {', /c\.json:1:12: unexpected end/],
		[utf16, /c\.json:1:1: UTF-16/], [Buffer.from('{"name": "\xfc"}', 'latin1'), /c\.json:1:\d+: invalid UTF-8/], ['{"name": "a\\u0000b"}', /c\.json:1:10: name: a NUL/],
		['{"tool": {}}', /c\.json:1:2: unknown member "tool" \(did you mean "tools"\?\)/], [tool({ cmd: 'ls -l' }), /:1:\d+: tools\.t\.cmd: expected array/],
		[tool({ cmd: ['ls'], sh: 'ls' }), /"cmd" or "sh", not both/], [tool({}), /a tool needs one of/], [tool({ cmd: ['ls'], timeout: 'soon' }), /tools\.t\.timeout: expected a time such as/],
		[tool({ cmd: ['ls'], timeout: 1e300 }), /expected a time/], [tool({ cmd: ['ls'], timeout: 0 }), /tools\.t\.timeout: expected more than 0; "none" is no limit/],
		[tool({ cmd: ['ls'], timeout: '0.0001ms' }), /expected more than 0/],
		[tool({ cmd: ['ls'], limits: { memory: 0 } }), /tools\.t\.limits\.memory: expected more than 0; "none" is no limit/],
		[tool({ cmd: ['ls'], limits: { file_size: 'much' } }), /limits\.file_size: expected a size such as/],
		[tool({ cmd: ['ls'], limits: { cpu: 'long' } }), /limits\.cpu: expected a time such as/],
		[tool({ cmd: ['ls'], limits: { processes: 0 } }), /limits\.processes/], [tool({ cmd: ['ls'], limits: { processes: 'all' } }), /limits\.processes/],
		[tool({ cmd: ['ls'], limits: { open_files: 1 } }), /limits\.open_files/], [tool({ cmd: ['ls'], limits: { ram: '1GB' } }), /limits.*ram/], [tool({ cmd: ['ls'], output_limit: '99999999999GB' }), /expected a size/],
		[tool({ cmd: ['ls'], concurrency: 99999999999 }), /expected integer between 1 and 10000/], ['{"tools": {"a": {"cmd": ["ls"]}, "a": {"cmd": ["ls"]}}}', /:1:34: tools\.a: appears here for the second time/],
		[tool({ cmd: ['ls', '${NOT_SET_ANYWHERE}'] }), /tools\.t\.cmd\[1\]: \$\{NOT_SET_ANYWHERE\} is neither/], ['{"vars": {"a": "${b}", "b": "${a}"}, "tools": {"t": {"cmd": ["ls", "${a}"]}}}', /needs itself/],
		[tool({ cmd: ['ls', '{pth}'], args: 'path: string' }), /there is no argument "pth" \(did you mean path\?\)/], ['{"include": "not-there.json"}', /include: cannot read .*not-there\.json/],
		['{"folders": {"d": {"path": "./not-there"}}}', /folders\.d\.path: .*no such file/], [`/*${'x'.repeat(5_000_000)}*/{}`, /c\.json: is larger than 4 MB/], ['['.repeat(100_000), /c\.json:1:\d+: /]
	]) {
		const file = path.join(place(), 'c.json');
		fs.writeFileSync(file, content);
		const { code, stdout, stderr } = await runCleat(['serve', '--check', file]);
		assert.equal(code, 7, String(content).slice(0, 80));
		assert.match(stderr, wanted, String(content).slice(0, 80));
		assert.equal(stdout, '');
	}
	assert.equal((await check(tool({ cmd: ['ls'], timeout: 'none' }))).code, 0);
	assert.equal((await check(tool({ cmd: ['ls'], timeout: '3s', output_limit: '2GB', concurrency: 7 }))).code, 0);
});

await run();
