// Tools that are commands and scripts: what arguments can and cannot do, what becomes of the output, how a
// call ends. Through the official client in both eras, over stdio and HTTP, and by `cleat call`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleat, place, run as runCleat } from './lib/cli.mjs';
import { mark, marked, until } from './lib/processes.mjs';
import { byHand, everyWay, serve, text, ways } from './lib/serve.mjs';
import { eventually, run, test } from './lib/tap.mjs';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const config = (tools, more = {}) => () => [path.join(place({ 'c.json': JSON.stringify({ tools, ...more }) }), 'c.json')];
const failed = (result, pattern) => {
	assert.equal(result.isError, true, JSON.stringify(result).slice(0, 500));
	assert.match(text(result), pattern);
};
/** The directory of a session's configuration. */
const home = s => path.dirname(s.way.link === 'stdio' ? s.transport._serverParams.args.at(-1) : s.server.child.spawnargs.at(-1));

// ---- hostile values ------------------------------------------------------------------------------

const hostile = [
	'; touch pwned', '$(touch pwned)', '`touch pwned`', '| touch pwned', '&& touch pwned', '> pwned', '\n touch pwned\n',
	'"; touch pwned; "', "'; touch pwned; '", '"$(touch pwned)"', '${IFS}', '$HOME', '$0 $1 $@', '%s%n%d', '\\', '\\n', '!!',
	'*', '~', '{v}', '{{v}}', '${PATH}', '../../etc/passwd', '/etc/passwd', ' ', '', '\t', 'a\r\nb', 'naïve ☃ \u{1F600}',
	'\u0001\u001b[31m\u007f', '#', '\\\n', '<(touch pwned)', '() { :;}; touch pwned', 'v=1', '-- x', 'a'.repeat(100_000)
];
const echoes = {
	by_argv: { args: 'v: string', cmd: ['printf', '--', '%s.', '{v}'] },
	by_script: { args: 'v: string', sh: 'printf %s. "$v"' },
	by_stdin: { args: 'v: string', cmd: ['cat'], stdin: '{v}.' },
	by_env: { args: 'v: string', sh: 'printf %s. "$GIVEN"', env: { GIVEN: '{v}' } }
};

everyWay('every value comes through as it is, and does nothing', config(echoes), async (s, t) => {
	const cwd = home(s);
	for (const name of Object.keys(echoes))
		for (const v of hostile) {
			const result = await s.call(name, { v });
			assert.ok(!result.isError, `${name} ${v.slice(0, 50)}: ${text(result).slice(0, 200)}`);
			assert.equal(text(result), `${v}.`, `${name} ${JSON.stringify(v.slice(0, 50))}`);
		}
	assert.deepEqual(fs.readdirSync(cwd).sort(), ['.keep', 'c.json']);
});

everyWay('a value never becomes an option, unless the command says so', config({
	plain: { args: 'v: string', cmd: ['printf', '{v}'] },
	after: { args: 'v: string', cmd: ['printf', '%s', '--', '{v}'] },
	meant: { args: 'v: string', cmd: ['uname', '{v:dash}'] },
	part: { args: 'v: string', cmd: ['printf', '--', '%s', '--x={v}'] },
	number: { args: 'n: integer', cmd: ['seq', '{n}'] },
	list: { args: 'v: string[]', cmd: ['printf', '%s,', '{v}'] }
}), async s => {
	for (const v of ['-x', '--help', '-', '--files0-from=/etc/passwd', '-\n'])
		failed(await s.call('plain', { v }), /^v: a value that begins with "-" would be read as an option/);
	failed(await s.call('number', { n: -3 }), /^n: a value that begins with "-"/);
	failed(await s.call('list', { v: ['a', '-x'] }), /^v: a value that begins with "-"/);
	assert.equal(text(await s.call('list', { v: ['a', 'b c', ''] })), 'a,b c,,');
	assert.equal(text(await s.call('after', { v: '-x' })), '---x');
	assert.equal(text(await s.call('meant', { v: '-s' })), 'Linux');
	assert.equal(text(await s.call('part', { v: '-y' })), '--x=-y');
});

everyWay('NUL is refused where a word would end, and goes through standard input', config(echoes), async s => {
	const v = 'a\0b';
	for (const name of ['by_argv', 'by_script']) failed(await s.call(name, { v }), /^v: a NUL character cannot be given to a command/);
	failed(await s.call('by_env', { v }), /NUL character cannot be given/);
	failed(await s.call('by_stdin', { v }), /cat printed 4 bytes of binary data, which cannot be shown as text/);
});

const LONG = 10_000_000;
everyWay('ten megabytes do not fit a command line, and the server says so and lives on', config({
	...echoes,
	count: { args: 'v: string', cmd: ['wc', '-c'], stdin: '{v}' },
	many: { args: 'v: string[]', cmd: ['printf', '%s', '{v}'] }
}), async s => {
	const v = 'x'.repeat(s.way.link === 'stdio' ? LONG : 3_000_000); // an HTTP body is 4 MiB at most
	failed(await s.call('by_argv', { v }), /^v: too long for a command line \(at most 128 KB\)/);
	failed(await s.call('by_script', { v }), /^v: too long for an environment variable \(at most 128 KB\); longer values need "stdin"/);
	failed(await s.call('many', { v: Array(30).fill('y'.repeat(100_000)) }), /too long for a command line; longer values need "stdin"/);
	assert.equal(text(await s.call('count', { v })), String(v.length));
	if (s.way.link !== 'stdio') {
		s.expectErrors = true;
		await assert.rejects(s.call('count', { v: 'x'.repeat(LONG) }));
	}
	assert.equal(text(await s.call('by_argv', { v: 'alive' })), 'alive.');
});

const traced = spawnSync('strace', ['-o', '/dev/null', 'true']);
test(`strace: no shell is ever started with a value in its words${!traced.error && traced.status !== 0 ? ' # SKIP ptrace is not allowed here' : ''}`, async () => {
	const directory = place({ 'c.json': JSON.stringify({ tools: echoes }) });
	const log = path.join(directory, 'trace');
	const value = 'marker-4711; $(echo x) `id`';
	assert.ok(!traced.error, 'strace is missing: scripts/setup --for test');
	if (traced.status !== 0) return;
	for (const tool of Object.keys(echoes)) {
		const result = spawnSync('strace', ['-f', '-qq', '-s', '1000000', '-e', 'trace=execve,execveat', '-o', log, cleat, 'call', '--',
			cleat, 'serve', path.join(directory, 'c.json'), '--', tool, `v=${value}`], { encoding: 'utf8', env: { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' } });
		assert.equal(result.stdout.trim(), `${value}.`, result.stderr);
		// Not the words of the two programs of this test, of which one was given the value.
		const started = fs.readFileSync(log, 'utf8').split('\n').filter(line => /execve(at)?\(/.test(line) && !line.includes(`"${cleat}"`));
		assert.ok(started.length >= 1, 'nothing was traced');
		const shells = started.filter(line => /execve\("[^"]*\/(ba|da|z|k)?sh"/.test(line));
		assert.equal(shells.length > 0, /script|env/.test(tool), started.join('\n'));
		for (const line of shells) assert.ok(!line.includes('marker-4711'), line);
		assert.equal(started.some(line => line.includes('marker-4711')), tool === 'by_argv', started.join('\n'));
	}
});

// ---- arguments -----------------------------------------------------------------------------------

everyWay('arguments are variables of a script, each in its way; what is not given is not set', config({
	all: {
		args: 's: string, n: number, i?: integer, b: bool = true, list: json[] = [], o?: json, gone?: string, d: string = "dflt"',
		sh: 'printf "%s|" "$s" "$n" "$i" "$b" "$list" "$o" "${gone-unset}" "$d"'
	},
	extra: { args: { properties: { a: { type: 'string' } } }, sh: 'echo "${a-none} ${LD_PRELOAD-none} ${b-none}"' }
}), async s => {
	assert.equal(text(await s.call('all', { s: 'x', n: 1.5, i: 3, b: false, list: [1, 'a'], o: { k: null } })), 'x|1.5|3|false|[1,"a"]|{"k":null}|unset|dflt|');
	assert.equal(text(await s.call('all', { s: '', n: 0 })), '|0||true|[]||unset|dflt|');
	// What the schema lets through but does not name is no variable.
	assert.equal(text(await s.call('extra', { a: '1', LD_PRELOAD: '/evil.so', b: '2' })), '1 none none');
});

test('the environment of a command is small: nothing of the server\'s but the usual', async t => {
	const args = config({ env: { cmd: ['env'] }, named: { cmd: ['env'], env: { LANG: 'C', TOKEN: '${SECRET_TOKEN}' } } })();
	const options = { env: { SECRET_TOKEN: 'hunter2', OTHER: 'x', LD_AUDIT: '' } };
	const names = async tool => (await byHand('call', args, [tool], options)).stdout.trim().split('\n').map(line => line.split('=')[0]);
	for (const name of await names('env')) assert.match(name, /^(HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LC_\w+|TZ|TMPDIR)$/);
	assert.match((await byHand('call', args, ['named'], options)).stdout, /^TOKEN=hunter2$/m);
});

everyWay('a command runs where its file is, or where it is told', () => {
	const directory = place({
		'a{b}/prog/hi.sh': '#!/bin/sh\necho hi from "$(basename "$PWD")" "$@"\n',
		'a{b}/sub/x': '',
		'a{b}/c.json': JSON.stringify({ tools: { here: { cmd: ['pwd'] }, there: { cmd: ['pwd'], cwd: 'sub' }, own: { args: 'a: string', cmd: ['./prog/hi.sh', '{a}'], cwd: 'sub' } } })
	});
	fs.chmodSync(path.join(directory, 'a{b}/prog/hi.sh'), 0o755);
	return [path.join(directory, 'a{b}/c.json')];
}, async s => {
	const here = text(await s.call('here'));
	assert.ok(fs.existsSync(path.join(here, 'c.json')), here);
	assert.equal(text(await s.call('there')), path.join(here, 'sub'));
	assert.equal(text(await s.call('own', { a: 'b' })), 'hi from sub b');
});

// ---- output --------------------------------------------------------------------------------------

everyWay('output is text, JSON, structured or bytes', config({
	text: { sh: 'printf "a\\n\\n"' },
	nothing: { cmd: ['true'] },
	odd: { sh: "printf 'caf\\351 is still readable text\\n'" },
	binary: { sh: "printf 'abc\\000def'" },
	json: { sh: 'echo \' {"n": 1.10} \'', output: 'json' },
	structured: { sh: 'echo \'{"total": 3, "items": [1, "x"]}\'', outputSchema: 'total: integer, items: json[]' },
	array: { sh: 'echo [1, 2]', output: 'structured' },
	loose: { sh: 'echo \'{"any": true}\'', output: 'structured' },
	image: { sh: "printf '\\211PNG\\r\\n'", output: 'image/png' },
	markdown: { sh: 'echo "# hi"', output: 'text/markdown' }
}), async s => {
	assert.equal(text(await s.call('text')), 'a\n');
	assert.deepEqual((await s.call('nothing')).content, [{ type: 'text', text: '' }]);
	assert.equal(text(await s.call('odd')), 'caf\ufffd is still readable text');
	failed(await s.call('binary'), /^the script printed 7 bytes of binary data, which cannot be shown as text$/);
	assert.equal(text(await s.call('json')), '{"n": 1.10}');
	assert.deepEqual((await s.call('structured')).structuredContent, { total: 3, items: [1, 'x'] });
	assert.deepEqual((await s.call('loose')).structuredContent, { any: true });
	// Before 2026-07-28 structured content is an object; everybody gets the text.
	const array = await s.call('array');
	assert.equal(text(array), '[1,2]');
	assert.deepEqual(array.structuredContent, s.way.era === 'modern' ? [1, 2] : undefined);
	const [block] = (await s.call('image')).content;
	assert.deepEqual([block.type, block.mimeType, Buffer.from(block.data, 'base64').toString('latin1')], ['image', 'image/png', '\x89PNG\r\n']);
	assert.equal(text(await s.call('markdown')), '# hi');
	const tool = (await s.client.listTools()).tools.find(x => x.name === 'structured');
	assert.deepEqual(tool.outputSchema.required.sort(), ['items', 'total']);
});

everyWay('output that is not what it should be is an error that says where', config({
	broken: { sh: 'printf \'{"a": 1,\\n "b": nope}\'', output: 'json' },
	empty: { cmd: ['true'], output: 'structured' },
	misfit: { sh: 'echo \'{"total": "three"}\'', outputSchema: 'total: integer' },
	huge: { sh: 'head -c 20000000 /dev/zero | tr "\\0" x', output_limit: '100MB' }
}), async s => {
	failed(await s.call('broken'), /^the script printed something that is not JSON: line 2, column 7: /);
	failed(await s.call('empty'), /^true printed nothing where JSON was expected$/);
	// An answer has a limit of its own.
	await assert.rejects(s.call('huge').then(r => { if (r.isError) throw new Error(text(r)); }), /limit|large|long/);
	failed(await s.call('misfit'), /^the script printed JSON that does not fit its outputSchema: total: expected integer, got "three"$/);
});

everyWay('an exit status means what the configuration says', config({
	usual: { args: 'n: integer', sh: 'echo out; echo why >&2; exit $n' },
	mapped: {
		args: 'n: integer', sh: 'echo out; exit $n',
		exit: { 1: 'ok', 2: { text: 'nothing for {n}' }, 3: { error: 'no match for {n}' }, 0: 'error', '*': 'ok' }
	},
	killed: { sh: 'kill -9 $$' },
	lines: { args: 'n: integer', sh: 'i=0; while [ $i -lt $n ]; do i=$((i+1)); echo line $i >&2; done; exit 1' }
}), async s => {
	assert.equal(text(await s.call('usual', { n: 0 })), 'out');
	failed(await s.call('usual', { n: 4 }), /^the script exited with status 4: why\n\nout$/);
	failed(await s.call('mapped', { n: 0 }), /^the script exited with status 0\n\nout$/);
	assert.equal(text(await s.call('mapped', { n: 1 })), 'out');
	assert.equal(text(await s.call('mapped', { n: 2 })), 'nothing for 2');
	failed(await s.call('mapped', { n: 3 }), /^no match for 3$/);
	assert.equal(text(await s.call('mapped', { n: 77 })), 'out');
	failed(await s.call('killed'), /^the script was killed by signal 9 \(Killed\)$/);
	// The first lines and the last, where there are more.
	const said = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');
	for (const [n, shown] of [[12, said(1, 12)], [14, said(1, 14)], [15, `${said(1, 3)}…\n${said(6, 15)}`], [100, `${said(1, 3)}…\n${said(91, 100)}`]])
		failed(await s.call('lines', { n }), new RegExp(`^the script exited with status 1:\n${shown.trim()}$`));
});

everyWay('standard error goes where it is wanted', config({
	on_error: { sh: 'echo a; echo b >&2' },
	merge: { sh: 'echo a; echo b >&2; echo c', stderr: 'merge' },
	drop: { sh: 'echo b >&2; exit 1', stderr: 'drop' },
	log: { sh: 'echo a; echo b >&2', stderr: 'log' }
}), async s => {
	assert.equal(text(await s.call('on_error')), 'a');
	assert.equal(text(await s.call('merge')), 'a\nb\nc');
	failed(await s.call('drop'), /^the script exited with status 1$/);
	assert.equal(text(await s.call('log')), 'a');
});

// ---- while it runs -------------------------------------------------------------------------------

// One line, then it waits for a file: what the client sees is seen while the command runs.
const steps = 'echo "1/3 one"; while [ ! -e go ]; do sleep 0.02; done; echo "3/3 three"; echo result';

everyWay('lines are progress while it runs, and the rest is the result', () => config({
	by_pattern: { sh: steps, progress: '^(\\d+)/(\\d+) (.*)$' },
	counted: { sh: 'echo a; echo b', stream: 'progress' },
	percent: { sh: 'echo "at 50%"; echo end', progress: '(\\d+)%' }
})(), async s => {
	s.expectErrors = true; // SDKs complain of progress that comes together with the answer
	const go = path.join(home(s), 'go');
	const seen = [];
	const call = s.call('by_pattern', {}, { onprogress: p => seen.push(p) });
	await eventually(() => seen.length === 1, 'the first progress');
	assert.deepEqual(seen, [{ progress: 1, total: 3, message: 'one' }]);
	fs.writeFileSync(go, '');
	assert.equal(text(await call), 'result');
	// What comes right before the answer the SDKs may drop: the wire tells.
	const told = (progress, message, total) => s.received.take(
		({ params: p = {} }) => p.progress === progress && p.message === message && p.total === total, `progress ${progress}`);
	await told(3, 'three', 3);
	assert.equal(text(await s.call('counted', {}, { onprogress() {} })), 'a\nb');
	await told(1, 'a', undefined);
	assert.equal(text(await s.call('percent', {}, { onprogress() {} })), 'end');
	await told(50, undefined, 100);
});

test('a pattern that takes for ever on hostile lines does not hold the server up', async t => {
	const line = 'a'.repeat(30) + '!';
	const s = await serve(t, ways[0], config({
		slow: { args: 'line: string', sh: 'i=0; while [ $i -lt 50 ]; do echo "$line"; i=$((i+1)); done', progress: '^(a+)+$', timeout: 'none' },
		fine: { cmd: ['echo', 'fine'] }
	})());
	const result = await s.call('slow', { line });
	assert.equal(text(result).split('\n').length, 50);
	assert.equal(text(await s.call('fine')), 'fine');
});

everyWay('lines are log messages while it runs', config({
	log: { sh: 'echo first; echo second; echo oops >&2', stream: 'log', stderr: 'log' },
	flood: { sh: 'i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done', stream: 'log' },
	long: { sh: `echo '${'é'.repeat(700)}'`, stream: 'log' }
}), async s => {
	const modern = s.way.era === 'modern';
	const call = name => modern
		? s.client.callTool({ name, arguments: {}, _meta: { [LOG_LEVEL]: 'debug' } })
		: s.call(name);
	if (!modern) await s.client.setLoggingLevel('debug');
	const logs = () => s.notes.items.filter(n => n.method === 'notifications/message').map(n => [n.params.level, n.params.data]);
	assert.equal(text(await call('log')), 'first\nsecond');
	await eventually(() => logs().length === 3, 'three messages');
	assert.deepEqual(logs().sort(), [['info', 'first'], ['info', 'second'], ['warning', 'oops']]);
	s.notes.items.length = 0;
	assert.equal(text(await call('flood')).split('\n').length, 2000);
	await eventually(() => logs().some(([, data]) => /^\(\d+ lines were left out\)$/.test(data)), 'the remark');
	assert.ok(logs().length < 2000);
	s.notes.items.length = 0;
	await call('long'); // cut behind a whole character, visibly
	await eventually(() => logs().length > 0, 'the long one');
	assert.deepEqual(logs(), [['info', `${'é'.repeat(500)}…`]]);
});

everyWay('only so many run at once, the others wait, and one that waits can be cancelled', config({
	one: { args: 'n: integer', sh: 'mkdir lock || exit 9; echo $n >> order; sleep 0.05; rmdir lock; echo $n', concurrency: 1 },
	gate: { sh: 'echo $$ > here; while [ ! -e open ]; do sleep 0.02; done; rm -f here', concurrency: 1 }
}), async s => {
	const cwd = home(s);
	const results = await Promise.all([1, 2, 3, 4, 5, 6].map(n => s.call('one', { n })));
	assert.deepEqual(results.map(text), ['1', '2', '3', '4', '5', '6']);
	const first = s.call('gate');
	await eventually(() => fs.existsSync(path.join(cwd, 'here')), 'the first to run');
	const abort = new AbortController();
	const second = s.call('gate', {}, { signal: abort.signal });
	const third = s.call('gate');
	abort.abort('enough');
	await assert.rejects(second);
	// Over HTTP a session is told by a request of its own, which may come later than the next event.
	if (s.way.link !== 'stdio' && s.way.era !== 'modern') await s.exchanges.take(x => /notifications\/cancelled/.test(x.body), 'the cancellation');
	fs.writeFileSync(path.join(cwd, 'open'), '');
	assert.equal((await first).isError, undefined);
	assert.equal((await third).isError, undefined);
});

// ---- the end -------------------------------------------------------------------------------------

// Everything that a tool starts carries a mark, so that what is left of it can be found.
const endings = setting => {
	const [name, value] = setting.split('=');
	const env = { [name]: value };
	return {
		forks: { sh: 'for i in 1 2 3 4 5; do (sleep 1000 & sleep 1000) & done; echo started', env },
		leaves: { sh: 'setsid sleep 1000 & sleep 1000 & echo left', env },
		hangs: { sh: 'echo before; sleep 1000', timeout: '2s', env },
		stubborn: { sh: "trap '' TERM; while :; do sleep 1; done", timeout: '300ms', env },
		floods: { sh: 'yes 0123456789', output_limit: '64KB', env },
		floods_errors: { sh: 'yes oops >&2', timeout: '2s', env },
		deaf: { args: 'v: string', sh: 'exec 0<&-; sleep 1000', stdin: '{v}', timeout: '500ms', env },
		polite: { sh: 'sleep 1000; echo never', env },
		waits: { sh: "trap '' TERM; sleep 1000 & sleep 1000", env },
		fine: { cmd: ['echo', 'fine'] }
	};
};

for (const way of ways)
	test(`${way.name}: whatever a tool does, nothing of it is left and the server lives on`, async t => {
		const setting = mark();
		const s = await serve(t, way, config(endings(setting))());
		const gone = () => until(setting, 0);
		assert.equal(text(await s.call('fine')), 'fine');
		const open = () => fs.readdirSync(`/proc/${s.pid}/fd`).length;
		const before = open();
		assert.equal(text(await s.call('forks')), 'started');
		await gone();
		assert.equal(text(await s.call('leaves')), 'left');
		await gone();
		failed(await s.call('hangs'), /^the script timed out after 2 s and was ended\n\nbefore$/);
		await gone();
		failed(await s.call('stubborn'), /^the script timed out after 300 ms and was ended$/);
		await gone();
		failed(await s.call('floods'), /^the script printed more than 64 KB and was ended; its output begins:\n\n0123456789\n/);
		await gone();
		failed(await s.call('floods_errors'), /^the script timed out after 2 s and was ended:\n…\n(oops\n){9}oops$/);
		await gone();
		failed(await s.call('deaf', { v: 'x'.repeat(1_000_000) }), /^the script timed out after 500 ms and was ended$/);
		await gone();
		for (let i = 0; i < 20; i++)
			assert.deepEqual((await Promise.all([1, 2, 3, 4, 5].map(() => s.call('fine')))).map(text), Array(5).fill('fine'));
		if (way.link === 'stdio') assert.equal(open(), before);
	});

for (const way of ways)
	test(`${way.name}: a cancelled call ends its command, with all that it started`, async t => {
		const setting = mark();
		const s = await serve(t, way, config(endings(setting))());
		const abort = new AbortController();
		const call = s.call('waits', {}, { signal: abort.signal });
		await until(setting, 3); // the shell and two children
		abort.abort('enough');
		await assert.rejects(call);
		await until(setting, 0);
		assert.equal(text(await s.call('fine')), 'fine');
	});

for (const way of ways)
	test(`${way.name}: calls that are cancelled at any moment leave nothing behind`, async t => {
		const setting = mark();
		const [name, value] = setting.split('=');
		const s = await serve(t, way, config({
			nap: { args: 'n: integer', sh: 'sleep 0.0$((n % 10)); echo $n', concurrency: 3, env: { [name]: value } }
		})());
		s.expectErrors = true; // answers that cross a cancellation
		const calls = Array.from({ length: 150 }, async (_, n) => {
			const abort = new AbortController();
			// A different moment for each; a third is left alone.
			if (n % 3) setTimeout(() => abort.abort('enough'), (n * 7919) % 400);
			return s.call('nap', { n }, { signal: abort.signal }).then(text, () => 'cancelled');
		});
		const results = await Promise.all(calls);
		results.forEach((result, n) => assert.ok(result === String(n) || (n % 3 && result === 'cancelled'), `${n}: ${result}`));
		await until(setting, 0);
		assert.equal(text(await s.call('nap', { n: 7 })), '7');
	});

for (const way of ways)
	test(`${way.name}: calls that run or wait when the configuration is replaced finish as they began`, async t => {
		const write = (directory, word) => fs.writeFileSync(path.join(directory, 'c.json'), JSON.stringify({ tools: {
			slow: { args: 'n: integer', sh: `echo $n >> began; while [ ! -e go ]; do sleep 0.02; done; echo ${word} $n`, concurrency: 1 },
			[word]: { cmd: ['echo', word] }
		} }));
		const directory = place();
		write(directory, 'old');
		const s = await serve(t, way, [path.join(directory, 'c.json')]);
		const tools = async () => (await s.client.listTools({}, { cacheMode: 'refresh' })).tools.map(x => x.name).sort();
		const calls = [1, 2, 3].map(n => s.call('slow', { n }));
		await eventually(() => fs.existsSync(path.join(directory, 'began')), 'the first to run');
		assert.deepEqual(await tools(), ['old', 'slow']);
		write(directory, 'new');
		process.kill(s.pid, 'SIGHUP');
		await eventually(async () => (await tools()).includes('new'), 'the new configuration');
		const later = s.call('slow', { n: 4 });
		fs.writeFileSync(path.join(directory, 'go'), '');
		assert.deepEqual((await Promise.all(calls)).map(text), ['old 1', 'old 2', 'old 3']);
		assert.equal(text(await later), 'new 4');
		assert.equal(text(await s.call('new')), 'new');
		const said = s.server ?? s;
		await eventually(() => /loaded again: 1 added, 1 removed, 1 changed/.test(said.stderr), 'the remark');
		said.stderr = '';
	});

everyWay('a command that is over its limits is ended, and the error says which limit it was', config({
	cpu: { sh: 'while :; do :; done', limits: { cpu: '1s' } },
	below: { sh: 'sh -c "while :; do :; done"; exit $?', limits: { cpu: 1 } },
	file: { sh: 'cd "$(mktemp -d)" && trap "rm -r $PWD" EXIT && dd if=/dev/zero of=x bs=64k count=2 2>/dev/null; exit $?', limits: { file_size: '64KB' } },
	python: { cmd: [process.execPath, '-e', 'console.error("write: File too large"); process.exit(1)'] },
	memory: { cmd: [process.execPath, '-e', 'const a = []; for (;;) a.push(Buffer.alloc(8e6, 1))'], limits: { memory: '400MB' } },
	together: { sh: `for i in 1 2 3 4; do (x=$(head -c 30000000 /dev/zero | tr '\\0' x); sleep 1000; :) & done; wait`, limits: { memory: '100MB' } },
	processes: { sh: 'for i in 1 2 3 4 5 6 7 8; do setsid sleep 1000 & done; wait', limits: { processes: 5 } },
	files: { sh: 'ulimit -n; echo "Too many open files" >&2; exit 1' },
	usual: { sh: 'ulimit -c; ulimit -d; ulimit -f; ulimit -n; ulimit -Hn; ulimit -t' },
	none: { sh: 'ulimit -d; ulimit -f', limits: { memory: 'none', file_size: 'none', open_files: 'none', processes: 'none' } }
}, { defaults: { limits: { open_files: 100 } } }), async s => {
	failed(await s.call('cpu'), /^the script was killed by signal 24 \(CPU time limit exceeded\): it used more than 1 s of processor time/);
	failed(await s.call('below'), /^the script exited with status 152: it used more than 1 s of processor time/);
	failed(await s.call('file'), /^the script exited with status 153: a file would have become larger than 64 KB/);
	failed(await s.call('python'), /exited with status 1 \(a file that it writes may be up to 4 GB\): write: File too large/);
	failed(await s.call('memory'), /^node .*\(it may have 400 MB of memory\)|took more than 400 MB of memory/);
	failed(await s.call('together'), /^the script took more than 100 MB of memory, with all that it had started, and was ended/);
	failed(await s.call('processes'), /^the script had more than 5 processes and was ended/);
	failed(await s.call('files'), /^the script exited with status 1 \(it may have 100 files open\): Too many open files\n\n100$/);
	assert.equal(text(await s.call('usual')), '0\n4194304\n8388608\n100\n100\nunlimited');
	assert.equal(text(await s.call('none')), 'unlimited\nunlimited');
});

test('when the client closes, the commands of its server end', async t => {
	const setting = mark();
	const s = await serve(t, ways[0], config(endings(setting))());
	s.call('polite').catch(() => {});
	await until(setting, 2);
	assert.deepEqual(await s.end(), []);
	await until(setting, 0);
});

// The server waits for a second, a command that is cancelled has two: the server must not end before it is gone, nor
// say that something is wrong.
for (const how of ['the client closes', 'the server gets SIGTERM'])
	test(`when ${how}, a command that ignores SIGTERM is killed in time, and nobody complains`, async t => {
		const setting = mark();
		const s = await serve(t, ways[0], config({ deaf: { cmd: ['env', setting, 'sh', '-c', 'trap "" TERM HUP INT; while :; do sleep 1000; done'] } })());
		s.call('deaf').catch(() => {});
		await until(setting, 2);
		if (how !== 'the client closes') {
			s.expectErrors = true;
			process.kill(s.pid, 'SIGTERM');
			assert.deepEqual(await s.exit, { code: 0, signal: null });
			assert.deepEqual(marked(setting), []);
		}
		assert.deepEqual(await s.end(), []);
		assert.deepEqual(marked(setting), []);
	});

test('when the server is killed, its commands end, also those that ignore everything else', async t => {
	const setting = mark();
	const s = await serve(t, ways[0], config(endings(setting))());
	s.expectErrors = true;
	s.call('waits').catch(() => {});
	await until(setting, 3);
	process.kill(s.pid, 'SIGKILL');
	await until(setting, 0);
	await s.exit;
	s.end = async () => [];
});

// ---- resources -----------------------------------------------------------------------------------

const resources = {
	resources: {
		'note://hello': { text: 'Hello {you}', title: 'A note', mime: 'text/plain' },
		'status://now': { sh: 'echo x >> runs; wc -l < runs', mime: 'text/plain', ttl: '100s' },
		'status://fresh': { sh: 'echo x >> fresh; wc -l < fresh' },
		'log://{service}': {
			cmd: ['printf', '--', 'log of %s', '{service}'], description: 'A log',
			complete: { service: { sh: 'echo ran >> completed; printf "nginx\\napp\\nnats\\n"' } }
		},
		'two://{a}/{b}': {
			cmd: ['printf', '%s %s', '{a}', '{b}'],
			complete: { a: { file: 'a.txt' }, b: { cmd: ['printf', '%s-1\\n%s-2\\n', '{a}', '{a}'] } }
		},
		'deep://{+path}': { cmd: ['printf', '--', '%s', '{path}'] },
		'hi://{name}': { text: 'Hi {name}, {} {other}' },
		'img://x': { sh: "printf '\\211PNG'", mime: 'image/png' },
		'fails://x': { sh: 'echo broken >&2; exit 3' }
	},
	tools: { fine: { cmd: ['echo', 'fine'] } }
};

everyWay('resources and templates by commands', () => {
	const directory = place({ 'a.txt': 'alpha\nbeta\r\n\nalbum\n', 'c.json': JSON.stringify(resources) });
	return [path.join(directory, 'c.json')];
}, async s => {
	const cwd = home(s);
	const read = async uri => (await s.client.readResource({ uri })).contents[0];
	assert.deepEqual(await read('note://hello'), { uri: 'note://hello', mimeType: 'text/plain', text: 'Hello {you}' });
	assert.equal((await read('status://now')).text, '1\n');
	assert.equal((await read('status://fresh')).text, '1\n');
	assert.equal((await read('status://fresh')).text, '2\n');
	await read('status://now'); // this or that client keeps it; it did not run again
	assert.equal(fs.readFileSync(path.join(cwd, 'runs'), 'utf8'), 'x\n');
	assert.equal((await read('log://nginx')).text, 'log of nginx');
	assert.equal((await read('log://a%20b%3B%24(id)')).text, 'log of a b;$(id)');
	assert.equal((await read('two://x/y')).text, 'x y');
	assert.equal((await read('deep://a/../b')).text, 'a/../b');
	assert.equal((await read('hi://Ann')).text, 'Hi Ann, {} {other}');
	assert.equal(Buffer.from((await read('img://x')).blob, 'base64').toString('latin1'), '\x89PNG');
	// A segment that smuggles a path, and one that would be an option.
	for (const uri of ['log://..%2F..%2Fetc', 'log://..', 'log://.', 'log://a%2Fb', 'two://a/..', 'nope://x'])
		await assert.rejects(read(uri), error => [-32002, -32602].includes(error.code), uri);
	await assert.rejects(read('two://-n/x'), /would be read as an option/);
	await assert.rejects(read('fails://x'), /the script exited with status 3: broken/);
	const { resourceTemplates } = await s.client.listResourceTemplates();
	assert.deepEqual(resourceTemplates.map(r => r.uriTemplate).sort(), ['deep://{+path}', 'hi://{name}', 'log://{service}', 'two://{a}/{b}']);
});

everyWay('variables are completed from lists, files and commands', () => {
	const many = Array.from({ length: 60000 }, (_, n) => `w${n}\n`).join('');
	const directory = place({ 'a.txt': `alpha\nbeta\r\n\nalbum\n${many}`, 'c.json': JSON.stringify(resources) });
	return [path.join(directory, 'c.json')];
}, async s => {
	const cwd = home(s);
	const complete = async (uri, name, value, known) => (await s.client.complete({
		ref: { type: 'ref/resource', uri }, argument: { name, value }, ...(known ? { context: { arguments: known } } : {})
	})).completion.values;
	assert.deepEqual(await complete('log://{service}', 'service', 'n'), ['nginx', 'nats']);
	assert.deepEqual(await complete('log://{service}', 'service', 'ng'), ['nginx']);
	assert.equal(fs.readFileSync(path.join(cwd, 'completed'), 'utf8'), 'ran\n'); // kept for a while
	assert.deepEqual(await complete('two://{a}/{b}', 'a', 'al'), ['alpha', 'album']);
	assert.deepEqual(await complete('two://{a}/{b}', 'a', 'w59999'), ['w59999']); // however long the file is
	assert.deepEqual(await complete('two://{a}/{b}', 'b', '', { a: 'Q; id' }), ['Q; id-1', 'Q; id-2']);
	assert.deepEqual(await complete('two://{a}/{b}', 'b', 'x'), []);
	assert.deepEqual(await complete('hi://{name}', 'name', ''), []);
});

test('a command that completes is in the sandbox of its resource, and all are in that of the defaults', async () => {
	if (!/Landlock ABI/.test((await runCleat(['serve', '--probe'])).stdout)) return; // not to be had on this kernel
	const look = 'cat c.json > seen 2> /dev/null && echo open; echo closed';
	const node = { sh: 'echo $a', complete: { a: { sh: look } } };
	const files = more => [path.join(place({ 'c.json': JSON.stringify({
		resources: { 'in://{a}': { ...node, sandbox: {} }, 'out://{a}': node }, tools: { t: { sh: look } }, ...more
	}) }), 'c.json')];
	const said = async (args, verb, ...words) => (await byHand(verb, args, words)).stdout;
	assert.equal(await said(files(), 'complete', 'in://{a}', 'a='), 'closed\n');
	assert.equal(await said(files(), 'complete', 'out://{a}', 'a='), 'open\nclosed\n');
	const all = files({ defaults: { sandbox: {} } });
	assert.equal(await said(all, 'complete', 'out://{a}', 'a='), 'closed\n');
	assert.equal(await said(all, 'call', 't'), 'closed\n');
});

// ---- one line, and what is wrong -----------------------------------------------------------------

test('tools in one line, of both kinds', async () => {
	const args = ['--sh', 'shout(word: string "What") "Louder": printf %s "$word" | tr a-z A-Z', '--cmd', 'say(word: string, n?: integer): printf "%s %s" {word} {n}'];
	assert.equal((await byHand('call', args, ['shout', 'word=a;b $(c)'])).stdout, 'A;B $(C)\n');
	assert.equal((await byHand('call', args, ['say', 'word=a;b $(c)', 'n=3'])).stdout, 'a;b $(c) 3\n');
	const { stdout } = await byHand('ls', args, []);
	assert.match(stdout, /^shout\(word: string\)\s+Louder\nsay\(word: string, n\?: integer\)$/m);
});

test('a mistake in one line is told with its column', async () => {
	const wrong = async (option, value, pattern) => {
		const { code, stderr } = await runCleat(['serve', option, value]);
		assert.notEqual(code, 0);
		assert.match(stderr, pattern);
	};
	await wrong('--sh', 'x(a: strin): y', /column 6: unknown type "strin" \(did you mean string\?\)/);
	await wrong('--sh', 'x(a: string)', /column 13: expected a colon and what to run/);
	await wrong('--cmd', 'x(a: string): du "b', /column 18: " is never closed/);
	await wrong('--cmd', 'x(a: string): du {b}', /there is no argument "b"/);
	await wrong('--sh', 'x(PATH: string): du "$PATH"', /argument "PATH" would change how programs work/);
});

test('what cannot be safe is no configuration', async () => {
	const cases = [
		[{ args: 'x: string', cmd: ['sh', '-c', 'echo {x}'] }, /an argument must not become part of a script/],
		[{ args: 'x: string', cmd: ['/bin/bash', '-e', '-lc', '{x}'] }, /an argument must not become part of a script/],
		[{ args: 'x: string', cmd: ['env', 'A=1', 'dash', '-c', '{x}'] }, /an argument must not become part of a script/],
		[{ args: 'x: string', cmd: ['python3', '-c', 'print("{x}")'] }, /an argument must not become part of a script/],
		[{ args: 'x: string', cmd: ['bash', '-{x}', 'date'] }, /an argument must not become part of a script or choose what is run/],
		[{ args: 'x: string', cmd: ['env', '{x}', 'date'] }, /an argument must not become part of a script or choose what is run/],
		[{ args: 'x: string', cmd: ['{x}', 'y'] }, /expected a program; no argument may choose it/],
		[{ args: 'LD_PRELOAD: string', sh: 'ls' }, /argument "LD_PRELOAD" would change how programs work/],
		[{ args: 'IFS: string', sh: 'ls' }, /argument "IFS" would change how programs work/],
		[{ args: 'BASH_ENV: string', sh: 'ls' }, /argument "BASH_ENV" would change/],
		[{ args: '"content-type": string', sh: 'ls' }, /argument "content-type" is not a variable name/],
		[{ args: 'x: string', cmd: ['ls'], env: { PATH: '{x}' } }, /"PATH" would change how programs work/],
		[{ args: 'x: string', cmd: ['ls'], env: { 'A B': 'x' } }, /"A B" is not a variable name/],
		[{ args: 'x: string', cmd: ['ls'], cwd: 'no-such-directory' }, /there is no directory .*no-such-directory/],
		[{ cmd: ['ls', '{pth}'], args: 'path: string' }, /there is no argument "pth" \(did you mean path\?\)/],
		[{ cmd: ['ls', 'a}b'] }, /column 2: expected }} for a brace, got }/],
		[{ cmd: ['ls'], output: 'jsn' }, /expected "text", "json", "structured" or a MIME type/],
		[{ cmd: ['ls'], output: 'text', outputSchema: 'a: string' }, /expected "structured", because there is an outputSchema/],
		[{ cmd: ['ls'], exit: { x: 'ok' } }, /expected a status from 0 to 255, or "\*"/],
		[{ cmd: ['ls'], outputSchema: 'a: string', exit: { 1: { text: 'x' } } }, /a tool with structured output cannot answer with a text/],
		[{ cmd: ['ls'], progress: '(' }, /offset 1: /],
		[{ cmd: ['ls'], stdin: '{x}' }, /there is no argument "x"/]
	];
	for (const [tool, pattern] of cases) {
		const file = path.join(place({ 'c.json': JSON.stringify({ tools: { t: tool } }, null, 1) }), 'c.json');
		const { code, stderr } = await runCleat(['serve', '--check', file]);
		assert.notEqual(code, 0, JSON.stringify(tool));
		assert.match(stderr, pattern);
		assert.match(stderr, /c\.json:\d+:\d+: tools\.t/, stderr);
	}
});

test('a program that is not there is said when the configuration is read, and when it is called', async () => {
	const args = config({ gone: { cmd: ['no-such-program-here'] }, there: { cmd: ['./no-such-file'] }, fine: { cmd: ['echo', 'fine'] } })();
	const { code, stderr } = await runCleat(['serve', '--check', ...args]);
	assert.equal(code, 0);
	assert.match(stderr, /warning: .*c\.json:1:\d+: cannot start no-such-program-here: there is no such program in PATH/);
	assert.match(stderr, /warning: .*c\.json:1:\d+: cannot start .*no-such-file: No such file or directory/);
	const called = await byHand('call', args, ['gone']);
	assert.equal(called.code, 5);
	assert.match(called.stderr, /cannot start no-such-program-here: there is no such program in PATH/);
	assert.equal((await byHand('call', args, ['fine'])).stdout, 'fine\n');
});

test('a shell that gets a value behind its script is allowed', async () => {
	const args = config({ t: { args: 'x: string', cmd: ['sh', '-c', 'printf "<%s>" "$1"', 'sh', '{x}'] } })();
	assert.equal((await byHand('call', args, ['t', 'x=$(id)'])).stdout, '<$(id)>\n');
});

everyWay('the user is asked first, and what they say counts', config({
	remove: { args: 'path: string', cmd: ['echo', 'removed', '{path}'], confirm: 'Really delete {path}?' },
	weather: { cmd: ['echo', '{city}', '{days}'], ask: { message: 'Which city?', fields: 'city: string, days: integer 1..5 = 1' } }
}), async s => {
	assert.equal(text(await s.call('remove', { path: 'x' })), 'removed x');
	assert.equal(text(await s.call('weather')), 'Oslo 2');
	s.decline = true;
}, () => ({
	capabilities: { elicitation: { form: {} } },
	answers: {
		'elicitation/create': ({ message }) => message === 'Which city?'
			? { action: 'accept', content: { city: 'Oslo', days: 2 } }
			: (assert.equal(message, 'Really delete x?'), { action: 'accept', content: {} })
	}
}));

everyWay('who says no stops it', config({
	remove: { args: 'path: string', sh: 'echo removed > done', confirm: 'Really delete {path}?' }
}), async s => {
	failed(await s.call('remove', { path: 'x' }), /declined/);
	const cwd = home(s);
	assert.ok(!fs.existsSync(path.join(cwd, 'done')));
}, () => ({ capabilities: { elicitation: { form: {} } }, answers: { 'elicitation/create': () => ({ action: 'decline' }) } }));

everyWay('a value that a command cannot be given makes the request for a resource a wrong one (-32602)', config({}, {
	resources: { 'log://{name}': { cmd: ['echo', '{name}'] } }
}), async s => {
	assert.equal((await s.client.readResource({ uri: 'log://a' })).contents[0].text, 'a\n');
	await assert.rejects(s.client.readResource({ uri: 'log://-x' }), error => error.code === -32602 && /begins with "-"/.test(error.message));
});

await run();
