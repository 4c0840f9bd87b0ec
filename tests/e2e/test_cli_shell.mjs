// `cleat shell`: scripts on stdin, and a person at a terminal with completion, history, Ctrl-C and Ctrl-D; with
// libedit, with readline and with neither.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { bad, example, fixture, heard, hello, listen, place, run, start, terminal } from './lib/cli.mjs';
import { NodeServer, everything, freePort, local } from './lib/node_server.mjs';
import { run as runCases, test, within } from './lib/tap.mjs';


async function script(server, input, { code = 0, stdout, stderr }, options = []) {
	const args = ['shell', '-q', ...options, ...(typeof server === 'string' ? [server] : ['--', ...server])];
	const result = await run(args, { input });
	assert.equal(result.code, code, `${input}: ${result.code} ${result.stdout} ${result.stderr}`);
	if (typeof stdout === 'string') assert.equal(result.stdout, stdout);
	else if (stdout) assert.match(result.stdout, stdout);
	if (stderr) assert.match(result.stderr, stderr);
	return result;
}

// ---- scripts ---------------------------------------------------------------------------------------

test('a script: tools by name, verbs, quotes, comments, options', async t => {
	const url = await listen(t);
	for (const server of [url, [hello]]) {
		await script(server, 'add a=2 b=40\n# nothing\n\ncall add a=1 b=1\nadd "a=3" b=\'4\'', { stdout: '42\n2\n7\n' });
		await script(server, 'ls --names\nadd a=2 b=40 --json\n', { stdout: /^add\n\{.*"42".*\}\n$/ });
		await script(server, 'info\nhelp\nhelp call\nshow add\nping\nquit\nnonsense\n', { stdout: /name +adder[^]*Tab completes[^]*Examples/ });
	}
	await script([fixture], 'echo text="a  b"\necho text=a\\ b\necho text=\'"\'\n', { stdout: /a {2}b\n.*a b\n.*"\n$/ });
	await script([example('resources')], 'read text://motto\nclick\nread counter://clicks', { stdout: 'Make it fast.\n1\n' });
	await script([example('prompts')], 'prompt describe what=plan\ncomplete describe what=ph', { stdout: /Describe this plan[^]*photo\n$/ });
});

test('the first failure ends a script with its exit code; --keep-going goes on', async () => {
	await script([hello], 'add a=x b=1\nadd a=1 b=1\n', { code: 2, stdout: '', stderr: /must be a number/ });
	await script([hello], 'add a=x b=1\nread x://y\nadd a=1 b=1\n', { code: 2, stdout: '2\n' }, ['--keep-going']);
	await script([hello], 'read x://y\n', { code: 5 });
	await script([hello], 'ad a=1 b=1\n', { code: 2, stderr: /did you mean "add"/ });
	await script([hello], 'add "a=1\n', { code: 2, stderr: /quote is not closed/ });
	await script([hello], 'ls --timeout 3\n', { code: 2, stderr: /--timeout belongs to the start/ });
	await script([fixture], 'ask_confirm\necho text=x\n', { code: 1, stdout: /x/, stderr: /no terminal/ }, ['-K']);
	await script(['/no/such'], 'ls\n', { code: 4 });
	assert.equal((await run(['shell', hello, 'x'])).code, 2);
});

test('one connection for all commands, also with the reference server over HTTP', async t => {
	const port = await freePort();
	const { url } = t.use(await NodeServer.start(everything('streamableHttp'), { env: { PORT: port }, ready: /listening on port/, port }));
	const { stderr } = await run(['shell', '-v', url], { input: 'get-sum a=2 b=40\nget-sum a=1 b=1\nread demo://resource/dynamic/text/1\n' });
	assert.equal(stderr.match(/^> .*"method":"initialize"/gm)?.length, 1, stderr);
});

// ---- at a terminal ---------------------------------------------------------------------------------

/** What is on the screen after `keys`; waits for `until` in what is new. */
async function type(child, keys, until) {
	const before = child.result.stdout.length;
	child.stdin.write(keys);
	await within(new Promise(resolve => {
		const look = result => until.test(result.stdout.slice(before)) && resolve();
		child.heard = look;
		look(child.result);
	}), `${until} after ${JSON.stringify(keys)}`);
	return child.result.stdout.slice(before);
}

function open(t, args, library, home = place()) {
	const child = terminal(['shell', ...args], { home, env: { CLEAT_EDITOR_LIBRARY: library } });
	t.use({ end: async () => { child.kill('SIGKILL'); await child.ended; return []; } });
	return child;
}

const libraries = ['libedit.so.2', 'libreadline.so.8'].filter(name =>
	['/lib', '/usr/lib', '/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/usr/lib64'].some(d => fs.existsSync(path.join(d, name))));

for (const library of libraries) {
	test(`${library}: Tab completes tools, arguments, choices`, async t => {
		const child = open(t, ['--', hello], library);
		await heard(child, /adder> $/);
		await type(child, 'ad\t', /d /);
		await type(child, 'a\t', /=/);
		await type(child, '2 b\t', /=/);
		await type(child, '40\r', /42\r\n[^]*adder> $/);
		await type(child, 'cal\t', /l /);
		await type(child, 'a\t', /dd /);
		await type(child, 'a=1 b=1 --js\t', /on /);
		await type(child, '\r', /"2"[^]*adder> $/);
		// Several: they are shown at once. None: nothing happens. Neither rings, and one that is found does not.
		await type(child, 'c\t', /call +complete\r\n[^]*adder> c$/);
		await type(child, '\x15zz\tx', /zz?.*x/);
		assert.ok(!child.result.stdout.includes('\x07'));
		await type(child, '\x15quit\r', /quit/);
		assert.equal((await within(child.ended, 'the end')).code, 0);
	});

	test(`${library}: Tab completes prompts, resources and what the server suggests`, async t => {
		const prompts = open(t, ['--', example('prompts')], library);
		await heard(prompts, /prompts> $/);
		await type(prompts, 'prompt des\t', /cribe /);
		await type(prompts, 'wh\t', /at=/);
		await type(prompts, 'pl\t', /an /);
		await type(prompts, '\r', /Describe this plan/);
		const resources = open(t, ['--', example('resources')], library);
		await heard(resources, /resources> $/);
		await type(resources, 'read tex\t', /t:\/\/motto /);
		await type(resources, '\r', /Make it fast\.[^]*resources> $/);
		await type(resources, 'read ci\t', /ty:\/\//);
		await type(resources, 'o\t', /slo /);
		await type(resources, '\r', /oslo is a city/);
	});

	test(`${library}: a tool that appears is completed`, async t => {
		const child = open(t, ['--', example('dynamic')], library);
		await heard(child, /> $/);
		await type(child, 'lear\t', /n /);
		await type(child, 'word=zebra meaning=horse\r', /Now there is a tool zebra[^]*> $/);
		// That the list has changed may be told after the answer: a Tab before that finds nothing.
		const again = setInterval(() => child.stdin.write('\t'), 300);
		await type(child, 'zeb\t', /ra /).finally(() => clearInterval(again));
		await type(child, '\r', /horse\r\n/);
	});

	test(`${library}: the history is kept, for the next time as well`, async t => {
		const home = place(), first = open(t, ['--', hello], library, home);
		await heard(first, /adder> $/);
		await type(first, 'add a=2 b=40\r', /42\r\n[^]*adder> $/);
		await type(first, ' add a=5 b=5\r', /10\r\n[^]*adder> $/);
		await type(first, '\x1b[A', /a=2 b=40/);
		await type(first, '\r', /42\r\n[^]*adder> $/);
		first.stdin.write('\x04');
		await within(first.ended, 'the end');
		const file = path.join(home, '.local/state/cleat/history');
		assert.equal(fs.readFileSync(file, 'utf8'), 'add a=2 b=40\nadd a=2 b=40\n');
		assert.equal(fs.statSync(file).mode & 0o777, 0o600);
		const second = open(t, ['--', hello], library, home);
		await heard(second, /adder> $/);
		await type(second, '\x1b[A', /a=2 b=40/);
		await type(second, '\r', /42\r\n/);
	});

	test(`${library}: Ctrl-C gives up a line and a call, and the shell goes on`, async t => {
		const child = open(t, ['-q', '--', ...everything('stdio')], library);
		await heard(child, /> $/);
		await type(child, 'nonsense', /nonsense/);
		await type(child, '\x03', /> $/);
		for (let i = 0; i < 2; i++) {
			await type(child, 'trigger-long-running-operation duration=60 steps=60\r', /1%|steps=60\r\n/);
			await new Promise(resolve => setTimeout(resolve, 300));
			await type(child, '\x03', /interrupted[^]*> $/);
		}
		await type(child, 'get-sum a=2 b=40\r', /42[^]*> $/);
		child.stdin.write('\x04');
		assert.equal((await within(child.ended, 'the end')).code, 0);
	});

	test(`${library}: letters of all kinds are typed, shown and completed, with what else the line says`, async t => {
		const child = open(t, ['-q', '--', ...local('chatty_server.mjs')], library);
		await heard(child, /Größe & Söhne 2> $/);
		await type(child, 'prompt visit city=Köln\r', /"city":"Köln"[^]*> $/);
		await type(child, 'pick what=N\t', /York /);
		await type(child, '\r', /\[New York\]\r\n[^]*> $/);
		await type(child, 'pick "what=Zür\t', /ich /);
		await type(child, '\t', /what=Zürich "West" +what=Zürich Ost\r\n/);
		await type(child, 'O\t', /st" /);
		await type(child, '\r', /\[Zürich Ost\]\r\n[^]*> $/);
		await type(child, 'pick what=Zürich\\ \\"\t', /West\\" /);
		await type(child, '\r', /\[Zürich "West"\]\r\n[^]*> $/);
		await type(child, 'prompt visit country=fr city=\t', /Le\\ Havre /);
		await type(child, '\r', /"country":"fr","city":"Le Havre"[^]*> $/);
	});

	test(`${library}: a log message does not write over the prompt`, async t => {
		const child = open(t, ['-q', '--log', 'debug', '--', ...local('chatty_server.mjs')], library);
		await heard(child, /> $/);
		await type(child, 'later\rpick what="New York"', /done\r\n[^]*\r\x1b\[J\S*\[info\] by the way\S*\r\n[^]*Größe & Söhne 2> pick what="New York"$/);
		await type(child, '\r', /\[New York\]\r\n/);
	});

	test(`${library}: names of a hostile server are not offered`, async t => {
		const child = open(t, ['-q', '--', ...bad('hostile')], library);
		await heard(child, /> $/);
		await type(child, 'evi\t', /l /);
		const said = await type(child, '\t\tx\x15help\r', /Tab completes/);
		assert.ok(!/\x1b\[1m/.test(said), JSON.stringify(said));
	});
}

test('without a library: lines as they are typed', async t => {
	const child = open(t, ['--', hello], 'none');
	await heard(child, /adder> $/);
	await type(child, 'add a=2 b=40\r', /42\r\nadder> $/);
	await type(child, '\x03', /adder> $/);
	await type(child, 'call --save d --force add a=1 b=2\r', /3\r\nadder> $/);
	child.stdin.write('\x04');
	assert.equal((await within(child.ended, 'the end')).code, 0);
});

test('a command has answers of its own, before those of the shell', async () => {
	const cwd = place({ 'a.json': '{"name": "Bob", "mail": "b@example.com", "age": 7}' });
	const lines = ['ask_confirm --accept', 'ask_confirm --decline', 'ask_confirm', 'ask_profile --answers a.json', 'ask_profile --answers nothing.json', 'ask_hint', 'ask_hint --answer sampling=Oslo'];
	const { stdout, stderr, code } = await run(['shell', '--keep-going', '--answer', 'sampling=Rome', '--', fixture], { input: `${lines.join('\n')}\n`, cwd });
	assert.match(stdout, /^deleted\nBob <b@example\.com>, 7.*\n.*Rome.*\n.*Oslo.*\n$/);
	assert.match(stderr, /the tool failed[^]*asks "Delete 3 files\?" and there is no terminal[^]*cannot read nothing\.json/);
	assert.equal(code, 5);
});

test('a child that dies is started again with the next command', async () => {
	const { code, stdout } = await run(['shell', '-q', '--keep-going', '--', ...bad('dies')], { input: 'tool\nls --names\n' });
	assert.equal(code, 4);
	assert.equal(stdout, 'tool\n');
});

test('SIGTERM ends it, and its server', async () => {
	const child = start(['shell', '--', hello], { input: null });
	child.stdin.write('add a=2 b=40\n');
	await heard(child, /42/);
	child.kill('SIGTERM');
	assert.equal((await within(child.ended, 'the end')).code, 143);
});

await runCases();
